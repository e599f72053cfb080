/* SPDX-License-Identifier: BSD-2-Clause */
/* container.c - see container.h. Checksums are those of zlib. */
#include "files/container.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/byte_order.h"
#include "common/json.h"
#include "common/safetensors.h"
#include "files/json_header.h"
#include "files/safetensors.h"

const unsigned char container_magic[CONTAINER_MAGIC_SIZE] = {0x89, 'F', 'P', 'E', 'M', 'U', '\r', '\n'};
enum { CONTAINER_VERSION = 1, START = 24, ALIGNMENT = 64, LONGEST_HEADER = 100000000 };

uint32_t container_crc(uint32_t crc, const void *bytes, size_t size)
{
    return (uint32_t)crc32_z(crc, bytes, size);
}

/* ------------------------------------------------------------------------------------------------- reading */

bool container_format(const tensor *t, fpemu_format *format, fpemu_shape *shape)
{
    if (fpemu_format_parse(t->spec, format, NULL) != FPEMU_OK)
        return false;
    *shape = fpemu_shape_vector(1);
    return t->dimensions == 0 || fpemu_shape_of(t->dimensions, t->extent, t->axis, shape) == FPEMU_OK;
}

/* Scalar formats have their lines along the last axis; one number alone has but axis 0. */
static bool axis_fits(const tensor *t, const fpemu_format *format)
{
    const int last = t->dimensions > 0 ? (int)t->dimensions - 1 : 0;
    return t->axis == last || (t->axis < last && format->scaling != FPEMU_SCALING_NONE);
}

/* Of a packed tensor the size of the data follows from shape and spec, of another from shape and type. */
static bool read_packing(model *m, tensor *t, const json_t *entry, uint64_t size)
{
    const json_t *spec = json_object_get(entry, "spec"), *axis = json_object_get(entry, "axis");
    fpemu_format format;
    fpemu_shape shape;
    fpemu_layout layout;
    if (spec == NULL && axis == NULL) {
        const bool good = safetensors_bits(t->type_text) == 0 || size == t->bytes;
        t->bytes = size;
        return good || model_refuse(m, "shape and dtype do not give the size %" PRIu64, size);
    }
    if (!json_is_string(spec) || !json_is_integer(axis) || t->type == NULL)
        return model_refuse(m, "expected a spec, the number of an axis, and a floating-point dtype");
    const json_int_t number = json_integer_value(axis);
    t->axis = number >= 0 && number < MODEL_MOST_DIMENSIONS ? (int)number : -1;
    t->spec = strdup(json_string_value(spec));
    if (t->spec == NULL)
        return model_refuse(m, "out of memory");
    if (t->axis < 0 || !container_format(t, &format, &shape) ||
        fpemu_packed_layout(&format, &shape, &layout) != FPEMU_OK || layout.bytes != size) {
        return model_refuse(m, "shape, spec and axis do not give the size %" PRIu64, size);
    }
    t->bytes = size;
    return axis_fits(t, &format) || model_refuse(m, "its spec and shape do not go with axis %d", t->axis);
}

static bool read_tensor(model *m, tensor *t, const json_t *entry, uint64_t *place, uint64_t end)
{
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    const json_t *shape = json_object_get(entry, "shape");
    uint64_t extent[MODEL_MOST_DIMENSIONS], offset, size;
    const size_t dimensions = json_array_size(shape);
    if (dtype == NULL || strlen(dtype) >= MODEL_TYPE_SIZE || !json_is_array(shape) ||
        dimensions > MODEL_MOST_DIMENSIONS || !json_to_count(json_object_get(entry, "offset"), &offset) ||
        !json_to_count(json_object_get(entry, "size"), &size)) {
        return model_refuse(m, "expected dtype, shape, offset and size");
    }
    if (!json_header_extents(m, shape, extent))
        return false;
    const unsigned bits = safetensors_bits(dtype);
    strcpy(t->type_text, dtype);
    t->type = safetensors_type(dtype);
    if (!model_set_shape(m, t, (unsigned)dimensions, extent, bits > 0 ? bits : 8) || !read_packing(m, t, entry, size))
        return false;
    if (offset != *place || offset > end || size > end - offset || end - offset - size < 4)
        return model_refuse(m, "its data do not lie where those before end, in the file");
    t->place = offset;
    *place = (offset + size + 4 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return true;
}

static bool check_names(model *m)
{
    const char *twice;
    return model_names_differ(m, &twice) || model_refuse(m, "two tensors have the same name");
}

static bool read_header(model *m, json_t *header, uint64_t place, uint64_t end)
{
    const json_t *list = json_object_get(header, "tensors");
    if (!json_is_array(list))
        return model_refuse(m, "the header has no list of tensors");
    if (!json_header_metadata(m, json_object_get(header, "metadata")))
        return model_refuse(m, "the metadata are not an object of strings");
    uint64_t last = place;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(entry, "name"));
        tensor *t = name != NULL ? model_add(m, name) : NULL;
        if (t == NULL)
            return name != NULL ? false : model_refuse(m, "a tensor without a name");
        if (!read_tensor(m, t, entry, &place, end))
            return model_blame(m, "tensor", name);
        last = t->place + t->bytes + 4;
    }
    return check_names(m) && (last == end || model_refuse(m, "more follows after the last tensor"));
}

/* Up to where the next data begin there are zeros, so that nothing hides between checksums. */
static bool check_padding(model *m)
{
    for (size_t i = 1; i < m->count; i++) {
        unsigned char bytes[ALIGNMENT] = {0};
        const uint64_t begin = m->tensor[i - 1].place + m->tensor[i - 1].bytes + 4;
        const size_t size = (size_t)(m->tensor[i].place - begin);
        if (fseeko(m->file, (off_t)begin, SEEK_SET) != 0 || fread(bytes, 1, size, m->file) != size)
            return model_refuse(m, "the bytes before tensor '%.80s' cannot be read", m->tensor[i].name);
        for (size_t k = 0; k < size; k++)
            if (bytes[k] != 0)
                return model_refuse(m, "tensor '%.80s': the bytes before its data are not zero", m->tensor[i].name);
    }
    return true;
}

/* The header fills its place up with spaces, and nothing else that JSON would let pass. */
static bool check_filling(const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == ' ')
        length--;
    return length > 0 && text[length - 1] == '}';
}

static json_t *parse_header(model *m, const char *text, uint64_t length, uint32_t crc)
{
    if (container_crc(0, text, (size_t)length) != crc) {
        model_refuse(m, "the header is damaged: its checksum differs");
        return NULL;
    }
    if (!check_filling(text, (size_t)length)) {
        model_refuse(m, "the header is no JSON object, filled up with spaces");
        return NULL;
    }
    return json_header_parse(m, text, length);
}

bool container_open(model *m)
{
    unsigned char start[START];
    if (fseeko(m->file, 0, SEEK_END) != 0)
        return model_refuse(m, "packed tensors are read from a file, not from a pipe");
    const off_t size = ftello(m->file);
    if (size < START || fseeko(m->file, 0, SEEK_SET) != 0 || fread(start, 1, START, m->file) != START ||
        memcmp(start, container_magic, sizeof container_magic) != 0) {
        return model_refuse(m, "no file of packed tensors");
    }
    const uint64_t version = bytes_load(start + 8, 4), length = bytes_load(start + 16, 8);
    if (version != CONTAINER_VERSION)
        return model_refuse(m, "version %" PRIu64 " of files of packed tensors is unknown", version);
    if (length > LONGEST_HEADER || length > (uint64_t)size - START || (START + length) % ALIGNMENT != 0)
        return model_refuse(m, "a header of %" PRIu64 " bytes in a file of %" PRIu64, length, (uint64_t)size);
    char *text = json_header_read(m, length);
    json_t *header = text != NULL ? parse_header(m, text, length, (uint32_t)bytes_load(start + 12, 4)) : NULL;
    free(text);
    if (header == NULL)
        return false;
    const bool good = read_header(m, header, START + length, (uint64_t)size);
    json_decref(header);
    return good && check_padding(m);
}

bool container_check(model *m)
{
    unsigned char bytes[4];
    return (fread(bytes, 1, sizeof bytes, m->file) == sizeof bytes && bytes_load(bytes, 4) == m->crc) ||
           model_refuse(m, "the data are damaged: their checksum differs");
}

/* ------------------------------------------------------------------------------------------------- writing */

static json_t *describe(const tensor *t, const container_entry *entry, uint64_t offset)
{
    json_t *object =
        json_pack("{s:s, s:s, s:o}", "name", t->name, "dtype", entry->dtype, "shape", json_header_shape(t));
    if (object != NULL && entry->spec != NULL) {
        json_object_set_new(object, "spec", json_string(entry->spec));
        json_object_set_new(object, "axis", json_integer(entry->axis));
    }
    json_object_set_new(object, "offset", json_integer((json_int_t)offset));
    json_object_set_new(object, "size", json_integer((json_int_t)entry->bytes));
    return object;
}

static char *print_header(const tensor *t, size_t count, json_t *metadata, const container_entry *entries,
                          uint64_t data)
{
    json_t *header = json_object(), *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, describe(&t[i], &entries[i], data));
        data = (data + entries[i].bytes + 4 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    if (metadata != NULL)
        json_object_set(header, "metadata", metadata);
    json_object_set_new(header, "tensors", list);
    char *text = json_array_size(list) == count ? json_dumps(header, JSON_COMPACT) : NULL;
    json_decref(header);
    return text;
}

/* The header names the places of the data, which depend on its length: printed until there is room for it. */
unsigned char *container_print(const model *m, size_t first, size_t count, json_t *metadata,
                               const container_entry *entries, size_t *size)
{
    size_t total = 0, length = 0;
    char *text = NULL;
    do {
        free(text);
        total = (START + length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        text = print_header(m->tensor + first, count, metadata, entries + first, total);
        length = text != NULL ? strlen(text) : 0;
    } while (text != NULL && START + length > total);
    unsigned char *bytes = text != NULL ? malloc(total) : NULL;
    if (bytes != NULL) {
        memcpy(bytes, container_magic, sizeof container_magic);
        memcpy(bytes + START, text, length);
        memset(bytes + START + length, ' ', total - START - length);
        bytes_store(bytes + 8, 4, CONTAINER_VERSION);
        bytes_store(bytes + 12, 4, container_crc(0, bytes + START, total - START));
        bytes_store(bytes + 16, 8, total - START);
        *size = total;
    }
    free(text);
    return bytes;
}

size_t container_tail(unsigned char tail[CONTAINER_TAIL_SIZE], uint32_t crc, uint64_t bytes, bool last)
{
    memset(tail, 0, CONTAINER_TAIL_SIZE);
    bytes_store(tail, 4, crc);
    return last ? 4 : 4 + (size_t)((ALIGNMENT - (bytes + 4) % ALIGNMENT) % ALIGNMENT);
}
