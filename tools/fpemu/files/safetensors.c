/* SPDX-License-Identifier: BSD-2-Clause */
/* safetensors.c - see safetensors.h. */
#include "files/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "common/safetensors.h"
#include "files/json_header.h"

const dtype *safetensors_type(const char *name)
{
    const dtype *type;
    for (unsigned i = 0; (type = dtype_at(i)) != NULL && strcmp(type->name, name) != 0; i++) {
    }
    return type;
}

static bool take_entry(model *m, const safetensors_entry *e, uint64_t data)
{
    const unsigned bits = safetensors_bits(e->type);
    tensor *t = model_add(m, e->name);
    if (t == NULL)
        return false;
    t->type = safetensors_type(e->type);
    strcpy(t->type_text, e->type);
    if (!model_set_shape(m, t, e->dimensions, e->extent, bits > 0 ? bits : 8))
        return model_blame(m, "tensor", e->name);
    t->bytes = e->bytes;
    t->place = data + e->place;
    return true;
}

bool safetensors_open(model *m)
{
    unsigned char start[8];
    uint64_t length;
    trouble why;
    if (fseeko(m->file, 0, SEEK_END) != 0)
        return model_refuse(m, "safetensors are read from a file, not from a pipe");
    const off_t size = ftello(m->file);
    if (size < 8 || fseeko(m->file, 0, SEEK_SET) != 0 || fread(start, 1, 8, m->file) != 8)
        return model_refuse(m, "no safetensors: the file is too short");
    if (!safetensors_length(start, (uint64_t)size, &length, &why))
        return model_refuse(m, "%.200s", why.text);
    char *text = json_header_read(m, length);
    if (text == NULL)
        return false;
    safetensors s;
    const uint64_t data = 8 + length;
    bool good = safetensors_parse(&s, text, (size_t)length, (uint64_t)size - data, &why);
    free(text);
    if (!good)
        model_refuse(m, "%.250s", why.text);
    m->metadata = json_incref(s.metadata);
    for (size_t i = 0; good && i < s.count; i++)
        good = take_entry(m, &s.entry[i], data);
    safetensors_free(&s);
    return good;
}

bool safetensors_takes_names(const model *m)
{
    size_t i = 0;
    while (i < m->count && strcmp(m->tensor[i].name, "__metadata__") != 0)
        i++;
    return i == m->count;
}

unsigned char *safetensors_print(const model *m, size_t first, size_t count, json_t *metadata,
                                 const dtype *const *types, size_t *size)
{
    json_t *header = json_object();
    uint64_t end = 0;
    bool good = header != NULL;
    if (good && metadata != NULL)
        good = json_object_set(header, "__metadata__", metadata) == 0;
    for (size_t i = first; good && i < first + count; i++) {
        const tensor *t = &m->tensor[i];
        const uint64_t begin = end;
        end += types[i] != NULL ? t->count * types[i]->size : t->bytes;
        good = json_object_set_new(header, t->name,
                                   safetensors_describe(types[i] != NULL ? types[i]->name : t->type_text,
                                                        json_header_shape(t), begin, end)) == 0;
    }
    unsigned char *bytes = good ? safetensors_frame(header, size) : NULL;
    json_decref(header);
    return bytes;
}
