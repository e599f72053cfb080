/* SPDX-License-Identifier: BSD-2-Clause */
/* members.c - see members.h */
#include "files/members.h"

#include <inttypes.h>
#include <string.h>

#include "common/npz.h"
#include "files/foreign.h"

static bool refuse(model *m, const trouble *why)
{
    return model_refuse(m, "%s", why->text);
}

/* What a member holds, from its header; a member of another kind is a tensor without a type. */
static bool read_tensor(model *m, uint64_t number)
{
    trouble why;
    const char *name;
    uint64_t size;
    npy_header header;
    if (!npz_look(m->npz, number, &name, &size, &why))
        return refuse(m, &why);
    tensor *t = model_add(m, name);
    if (t == NULL)
        return false;
    t->place = number;
    const char *foreign = foreign_member(name);
    if (foreign != NULL)
        return model_refuse(m, "%s", foreign);
    if (!npz_is_array(name)) {
        strcpy(t->type_text, "no array");
        return model_set_shape(m, t, 1, &size, 8);
    }
    t->name[strlen(name) - 4] = '\0';
    if (!npz_header(m->npz, number, &header, &t->skip, &why))
        return refuse(m, &why);
    t->type = dtype_coded(header.code);
    if (!model_set_shape(m, t, header.dimensions, header.extent, t->type != NULL ? 8 * t->type->size : 8))
        return false;
    memcpy(t->type_text, header.type_text, sizeof t->type_text);
    t->big_endian = header.big_endian;
    t->fortran_order = header.fortran_order;
    if (t->type == NULL)
        t->bytes = size - (t->skip < size ? t->skip : size);
    return t->skip + t->bytes == size ||
           model_refuse(m, "its header asks for %" PRIu64 " bytes of data, it has %" PRIu64, t->bytes,
                        size > t->skip ? size - t->skip : 0);
}

static bool check_names(model *m)
{
    const char *twice;
    return model_names_differ(m, &twice) ||
           (twice == NULL ? model_refuse(m, "out of memory")
                          : model_refuse(m, "zip archive: two members have the name '%.80s'", twice));
}

bool members_open(model *m)
{
    trouble why;
    m->npz = npz_open(m->file, &why);
    if (m->npz == NULL)
        return refuse(m, &why);
    for (uint64_t i = 0; i < npz_count(m->npz); i++) {
        if (!read_tensor(m, i)) {
            const char *name = "";
            uint64_t size;
            if (npz_look(m->npz, i, &name, &size, NULL) && foreign_member(name) != NULL)
                return false;
            return model_blame(m, "member", name);
        }
    }
    return check_names(m);
}

bool members_begin(model *m, const tensor *t)
{
    trouble why;
    return npz_begin(m->npz, t->place, t->skip, &why) || model_refuse(m, "member '%.80s': %s", t->name, why.text);
}

bool members_read(model *m, void *bytes, size_t size, size_t *got)
{
    trouble why;
    return npz_read(m->npz, bytes, size, got, &why) || refuse(m, &why);
}

void members_close(model *m)
{
    npz_close(m->npz);
    m->npz = NULL;
}
