/* SPDX-License-Identifier: BSD-2-Clause */
/* safetensors.c - see safetensors.h. */
#include "common/system.h"

#include "files/safetensors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "files/bytes.h"
#include "files/json_header.h"

/* Bits of the types that are passed over; of a type that is not here any size is believed. */
static const struct {
    const char *name;
    unsigned bits;
} other_types[] = {{"BOOL", 8}, {"F4", 4},   {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},   {"I8", 8},  {"I16", 16},
                   {"U16", 16}, {"I32", 32}, {"U32", 32},    {"C64", 64},    {"I64", 64}, {"U64", 64}};
enum { OTHER_TYPES = sizeof other_types / sizeof *other_types };

static bool read_type(model *m, tensor *t, const json_t *value, unsigned *bits)
{
    const char *name = json_string_value(value);
    if (name == NULL || json_string_length(value) >= MODEL_TYPE_SIZE) {
        return model_refuse(m, "the dtype is missing or no type");
    }
    strcpy(t->type_text, name);
    for (unsigned i = 0; (t->type = dtype_at(i)) != NULL; i++) {
        if (strcmp(t->type->name, name) == 0) {
            *bits = 8 * t->type->size;
            return true;
        }
    }
    for (unsigned i = 0; i < OTHER_TYPES; i++) {
        if (strcmp(other_types[i].name, name) == 0) {
            *bits = other_types[i].bits;
        }
    }
    return true;
}

static bool read_tensor(model *m, tensor *t, const json_t *entry, uint64_t data_size)
{
    uint64_t extent[MODEL_MOST_DIMENSIONS], begin, end;
    unsigned bits = 0;
    if (!json_is_object(entry) || !read_type(m, t, json_object_get(entry, "dtype"), &bits)) {
        return model_refuse(m, "the dtype is missing or no type");
    }
    const json_t *shape = json_object_get(entry, "shape"), *offsets = json_object_get(entry, "data_offsets");
    if (!json_is_array(shape) || !json_is_array(offsets) || json_array_size(offsets) != 2 ||
        !json_header_count(json_array_get(offsets, 0), &begin) ||
        !json_header_count(json_array_get(offsets, 1), &end) || json_object_size(entry) != 3) {
        return model_refuse(m, "expected dtype, shape and data_offsets with two whole numbers");
    }
    const size_t dimensions = json_array_size(shape);
    if (dimensions > MODEL_MOST_DIMENSIONS) {
        return model_refuse(m, "more than %d dimensions", MODEL_MOST_DIMENSIONS);
    }
    if (!json_header_extents(m, shape, extent)) {
        return false;
    }
    if (begin > end || end > data_size) {
        return model_refuse(
            m, "the data_offsets %" PRIu64 " and %" PRIu64 " do not lie in order in the %" PRIu64 " bytes of data",
            begin, end, data_size);
    }
    if (!model_set_shape(m, t, (unsigned)dimensions, extent, bits > 0 ? bits : 8)) {
        return false;
    }
    if (bits == 0) {
        t->bytes = end - begin;
    }
    t->place = begin;
    return end - begin == t->bytes ||
           model_refuse(m, "shape and dtype ask for %" PRIu64 " bytes, the data_offsets for %" PRIu64, t->bytes,
                        end - begin);
}

static int by_place(const void *a, const void *b)
{
    const tensor *s = a, *t = b;
    if (s->place != t->place) {
        return s->place < t->place ? -1 : 1;
    }
    return s->bytes != t->bytes ? (s->bytes < t->bytes ? -1 : 1) : strcmp(s->name, t->name);
}

/* Data end where the next begin, the first at 0, the last at the end. */
static bool check_places(model *m, uint64_t data_size)
{
    uint64_t end = 0;
    for (size_t i = 0; i < m->count; i++) {
        const tensor *t = &m->tensor[i];
        if (t->place != end) {
            return model_refuse(m, "tensor '%.80s': its data begin at %" PRIu64 ", those before it end at %" PRIu64,
                                t->name, t->place, end);
        }
        end += t->bytes;
    }
    return end == data_size ||
           model_refuse(m, "the tensors take %" PRIu64 " bytes of the %" PRIu64 " bytes of data", end, data_size);
}

static bool read_header(model *m, json_t *header, uint64_t data_size)
{
    const char *name;
    json_t *entry;
    if (!json_is_object(header)) {
        return model_refuse(m, "the header is not a JSON object");
    }
    json_object_foreach(header, name, entry)
    {
        if (strcmp(name, "__metadata__") == 0) {
            if (!json_header_metadata(m, entry)) {
                return model_refuse(m, "__metadata__ is not an object of strings");
            }
            continue;
        }
        tensor *t = model_add(m, name);
        if (t == NULL) {
            return false;
        }
        if (!read_tensor(m, t, entry, data_size)) {
            return model_blame(m, "tensor", name);
        }
    }
    if (m->count > 0) {
        qsort(m->tensor, m->count, sizeof *m->tensor, by_place);
    }
    return check_places(m, data_size);
}

bool safetensors_open(model *m)
{
    unsigned char start[8];
    if (fseeko(m->file, 0, SEEK_END) != 0) {
        return model_refuse(m, "safetensors are read from a file, not from a pipe");
    }
    const off_t size = ftello(m->file);
    if (size < 8 || fseeko(m->file, 0, SEEK_SET) != 0 || fread(start, 1, 8, m->file) != 8) {
        return model_refuse(m, "no safetensors: the file is too short");
    }
    const uint64_t length = bytes_load(start, 8);
    if (length > SAFETENSORS_LONGEST_HEADER || length > (uint64_t)size - 8) {
        return model_refuse(m, "no safetensors: a header of %" PRIu64 " bytes in a file of %" PRIu64, length,
                            (uint64_t)size);
    }
    char *text = json_header_read(m, length);
    json_t *header = text != NULL ? json_header_parse(m, text, length) : NULL;
    free(text);
    if (header == NULL) {
        return false;
    }
    const uint64_t data = 8 + length;
    const bool good = read_header(m, header, (uint64_t)size - data);
    json_decref(header);
    for (size_t i = 0; i < m->count; i++) {
        m->tensor[i].place += data;
    }
    return good;
}

/* ------------------------------------------------------------------------------------------------- writing */

static json_t *describe(const tensor *t, const dtype *type, uint64_t *end)
{
    const uint64_t begin = *end;
    *end += type != NULL ? t->count * type->size : t->bytes;
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", type != NULL ? type->name : t->type_text, "shape",
                     json_header_shape(t), "data_offsets", (json_int_t)begin, (json_int_t)*end);
}

unsigned char *safetensors_frame(const json_t *header, size_t *size)
{
    char *text = json_dumps(header, JSON_COMPACT);
    if (text == NULL) {
        return NULL;
    }
    const size_t length = strlen(text), padded = (length + 7) / 8 * 8;
    unsigned char *bytes = malloc(8 + padded);
    if (bytes != NULL) {
        bytes_store(bytes, 8, padded);
        memcpy(bytes + 8, text, length);
        memset(bytes + 8 + length, ' ', padded - length);
        *size = 8 + padded;
    }
    free(text);
    return bytes;
}

unsigned char *safetensors_print(const model *m, size_t first, size_t count, json_t *metadata,
                                 const dtype *const *types, size_t *size)
{
    json_t *header = json_object();
    uint64_t end = 0;
    bool good = header != NULL;
    if (good && metadata != NULL) {
        good = json_object_set(header, "__metadata__", metadata) == 0;
    }
    for (size_t i = first; good && i < first + count; i++) {
        good = json_object_set_new(header, m->tensor[i].name, describe(&m->tensor[i], types[i], &end)) == 0;
    }
    unsigned char *bytes = good ? safetensors_frame(header, size) : NULL;
    json_decref(header);
    return bytes;
}
