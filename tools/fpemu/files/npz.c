/* SPDX-License-Identifier: BSD-2-Clause */
/* npz.c - see npz.h */
#include "common/system.h"

#include "files/npz.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#include "files/foreign.h"
#include "files/npy.h"

static bool zip_refuse(model *m, zip_error_t *error)
{
    model_refuse(m, "zip archive: %s", zip_error_strerror(error));
    zip_error_fini(error);
    return false;
}

bool npz_read(model *m, void *bytes, size_t size, size_t *got)
{
    *got = 0;
    while (*got < size) {
        const zip_int64_t more = zip_fread(m->member, (char *)bytes + *got, size - *got);
        if (more < 0) {
            return model_refuse(m, "zip archive: %s", zip_file_strerror(m->member));
        }
        if (more == 0) {
            break;
        }
        *got += (size_t)more;
    }
    return true;
}

static void close_member(model *m)
{
    if (m->member != NULL) {
        zip_fclose(m->member);
        m->member = NULL;
    }
}

static bool open_member(model *m, zip_uint64_t number)
{
    close_member(m);
    m->member = zip_fopen_index(m->zip, number, 0);
    return m->member != NULL || model_refuse(m, "zip archive: %s", zip_strerror(m->zip));
}

static size_t read_member(void *from, void *bytes, size_t size)
{
    size_t got;
    npz_read(from, bytes, size, &got);
    return got;
}

/* What a member holds, from its header; a member of another kind is a tensor without a type. */
static bool read_tensor(model *m, zip_uint64_t number)
{
    zip_stat_t status;
    if (zip_stat_index(m->zip, number, 0, &status) != 0 || (status.valid & ZIP_STAT_NAME) == 0 ||
        (status.valid & ZIP_STAT_SIZE) == 0 || status.size > INT64_MAX) {
        return model_refuse(m, "zip archive: a member without a name or a size");
    }
    const size_t length = strlen(status.name);
    const bool is_array = length > 4 && strcmp(status.name + length - 4, ".npy") == 0;
    tensor *t = model_add(m, status.name);
    if (t == NULL) {
        return false;
    }
    t->place = number;
    const char *foreign = foreign_member(status.name);
    if (foreign != NULL) {
        return model_refuse(m, "%s", foreign);
    }
    if (!is_array) {
        strcpy(t->type_text, "no array");
        const uint64_t size = status.size;
        return model_set_shape(m, t, 1, &size, 8);
    }
    t->name[length - 4] = '\0';
    if ((status.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && status.encryption_method != ZIP_EM_NONE) {
        return model_refuse(m, "it is encrypted");
    }
    if ((status.valid & ZIP_STAT_COMP_METHOD) == 0 ||
        (status.comp_method != ZIP_CM_STORE && status.comp_method != ZIP_CM_DEFLATE)) {
        return model_refuse(m, "it is neither stored nor deflated");
    }
    npy_header header;
    char error[NPY_ERROR_SIZE];
    if (!open_member(m, number)) {
        return false;
    }
    if (!npy_read_header(read_member, m, &header, &t->skip, error)) {
        return model_refuse(m, "%s", m->error[0] != '\0' ? m->error : error);
    }
    if (!model_set_shape(m, t, header.dimensions, header.extent, header.type != NULL ? 8 * header.type->size : 8)) {
        return false;
    }
    memcpy(t->type_text, header.type_text, sizeof t->type_text);
    t->type = header.type;
    t->big_endian = header.big_endian;
    t->fortran_order = header.fortran_order;
    if (t->type == NULL) {
        t->bytes = status.size - (t->skip < status.size ? t->skip : status.size);
    }
    return t->skip + t->bytes == status.size ||
           model_refuse(m, "its header asks for %" PRIu64 " bytes of data, it has %" PRIu64, t->bytes,
                        status.size > t->skip ? status.size - t->skip : 0);
}

static bool check_names(model *m)
{
    const char *twice;
    return model_names_differ(m, &twice) ||
           (twice == NULL ? model_refuse(m, "out of memory")
                          : model_refuse(m, "zip archive: two members have the name '%.80s'", twice));
}

bool npz_open(model *m)
{
    zip_error_t error;
    zip_error_init(&error);
    const int descriptor = dup(fileno(m->file)); /* libzip closes what it is given */
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
    zip_source_t *source = file != NULL ? zip_source_filep_create(file, 0, -1, &error) : NULL;
    if (source == NULL) {
        return file == NULL ? model_refuse(m, "out of file descriptors") : (fclose(file), zip_refuse(m, &error));
    }
    m->zip = zip_open_from_source(source, ZIP_RDONLY, &error);
    if (m->zip == NULL) {
        zip_source_free(source);
        return zip_refuse(m, &error);
    }
    zip_error_fini(&error);
    const zip_int64_t members = zip_get_num_entries(m->zip, 0);
    if (members <= 0) {
        return model_refuse(m, "zip archive: it is empty");
    }
    for (zip_uint64_t i = 0; i < (zip_uint64_t)members; i++) {
        if (!read_tensor(m, i)) {
            const char *name = zip_get_name(m->zip, i, 0);
            if (name != NULL && foreign_member(name) != NULL) {
                return false;
            }
            return model_blame(m, "member", name != NULL ? name : "");
        }
    }
    close_member(m);
    return check_names(m);
}

bool npz_begin(model *m, const tensor *t)
{
    unsigned char bytes[1024];
    if (!open_member(m, t->place)) {
        return false;
    }
    for (uint64_t left = t->skip; left > 0;) {
        size_t got;
        if (!npz_read(m, bytes, left < sizeof bytes ? (size_t)left : sizeof bytes, &got)) {
            return false;
        }
        if (got == 0) {
            return model_refuse(m, "member '%.80s': truncated", t->name);
        }
        left -= got;
    }
    return true;
}

void npz_close(model *m)
{
    close_member(m);
    if (m->zip != NULL) {
        zip_discard(m->zip);
        m->zip = NULL;
    }
}
