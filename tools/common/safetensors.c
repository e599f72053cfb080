/* SPDX-License-Identifier: BSD-2-Clause */
/* safetensors.c - see safetensors.h. The JSON is read by jansson. */
#include "common/safetensors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/byte_order.h"
#include "common/json.h"
#include "common/shape.h"

static const struct {
    const char *name;
    unsigned bits;
} types[] = {{"F64", 64},    {"F32", 32}, {"BF16", 16},       {"F16", 16},        {"F8_E4M3", 8}, {"F8_E5M2", 8},
             {"F8_E8M0", 8}, {"BOOL", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"F4", 4},      {"F6_E2M3", 6},
             {"F6_E3M2", 6}, {"U8", 8},   {"I8", 8},          {"I16", 16},        {"U16", 16},    {"I32", 32},
             {"U32", 32},    {"C64", 64}, {"I64", 64},        {"U64", 64}};
enum { TYPES = sizeof types / sizeof *types };

unsigned safetensors_bits(const char *type)
{
    for (unsigned i = 0; i < TYPES; i++)
        if (strcmp(types[i].name, type) == 0)
            return types[i].bits;
    return 0;
}

bool safetensors_length(const unsigned char start[8], uint64_t size, uint64_t *length, trouble *why)
{
    *length = size >= 8 ? bytes_load(start, 8) : 0;
    if (size < 8)
        return fail(why, "no safetensors: the file is too short");
    return (*length <= SAFETENSORS_LONGEST_HEADER && *length <= size - 8) ||
           fail(why, "no safetensors: a header of %" PRIu64 " bytes in a file of %" PRIu64, *length, size);
}

static bool read_shape(safetensors_entry *e, const json_t *shape, uint64_t *bytes, trouble *why)
{
    uint64_t extent[SAFETENSORS_MOST_DIMENSIONS], count;
    const size_t dimensions = json_array_size(shape);
    const unsigned bits = safetensors_bits(e->type);
    if (dimensions > SAFETENSORS_MOST_DIMENSIONS)
        return fail(why, "more than %d dimensions", SAFETENSORS_MOST_DIMENSIONS);
    if (!json_to_counts(shape, extent))
        return fail(why, "the shape is not a list of whole numbers");
    e->dimensions = (unsigned)dimensions;
    e->extent = calloc(dimensions > 0 ? dimensions : 1, sizeof *e->extent);
    if (e->extent == NULL)
        return fail(why, "out of memory");
    memcpy(e->extent, extent, dimensions * sizeof *extent);
    return shape_measure(e->dimensions, extent, bits > 0 ? bits : 8, &count, bytes, why);
}

static bool read_entry(safetensors_entry *e, const json_t *entry, uint64_t data_size, trouble *why)
{
    uint64_t begin, end, bytes;
    const json_t *type = json_object_get(entry, "dtype");
    if (!json_is_string(type) || json_string_length(type) >= SAFETENSORS_TYPE_SIZE)
        return fail(why, "the dtype is missing or no type");
    strcpy(e->type, json_string_value(type));
    const json_t *shape = json_object_get(entry, "shape"), *offsets = json_object_get(entry, "data_offsets");
    if (!json_is_array(shape) || !json_is_array(offsets) || json_array_size(offsets) != 2 ||
        !json_to_count(json_array_get(offsets, 0), &begin) || !json_to_count(json_array_get(offsets, 1), &end) ||
        json_object_size(entry) != 3) {
        return fail(why, "expected dtype, shape and data_offsets with two whole numbers");
    }
    if (begin > end || end > data_size) {
        return fail(why,
                    "the data_offsets %" PRIu64 " and %" PRIu64 " do not lie in order in the %" PRIu64 " bytes of data",
                    begin, end, data_size);
    }
    if (!read_shape(e, shape, &bytes, why))
        return false;
    e->place = begin;
    e->bytes = end - begin;
    return safetensors_bits(e->type) == 0 || e->bytes == bytes ||
           fail(why, "shape and dtype ask for %" PRIu64 " bytes, the data_offsets for %" PRIu64, bytes, e->bytes);
}

static int by_place(const void *a, const void *b)
{
    const safetensors_entry *s = a, *t = b;
    if (s->place != t->place)
        return s->place < t->place ? -1 : 1;
    return s->bytes != t->bytes ? (s->bytes < t->bytes ? -1 : 1) : strcmp(s->name, t->name);
}

/* Data end where the next begin, the first at 0, the last at the end. */
static bool check_places(safetensors *s, uint64_t data_size, trouble *why)
{
    uint64_t end = 0;
    for (size_t i = 0; i < s->count; i++) {
        const safetensors_entry *e = &s->entry[i];
        if (e->place != end) {
            return fail(why, "tensor '%.80s': its data begin at %" PRIu64 ", those before it end at %" PRIu64, e->name,
                        e->place, end);
        }
        end += e->bytes;
    }
    s->data = end;
    return end == data_size || data_size == SAFETENSORS_NOT_KNOWN ||
           fail(why, "the tensors take %" PRIu64 " bytes of the %" PRIu64 " bytes of data", end, data_size);
}

static bool read_metadata(safetensors *s, json_t *metadata, trouble *why)
{
    const char *key;
    json_t *value;
    bool good = json_is_object(metadata);
    json_object_foreach(metadata, key, value)
    {
        good = good && json_is_string(value);
    }
    s->metadata = good ? json_incref(metadata) : NULL;
    return good || fail(why, "__metadata__ is not an object of strings");
}

static bool read_entries(safetensors *s, json_t *header, uint64_t data_size, trouble *why)
{
    const char *name;
    json_t *value;
    s->entry = calloc(json_object_size(header) + 1, sizeof *s->entry);
    if (s->entry == NULL)
        return fail(why, "out of memory");
    json_object_foreach(header, name, value)
    {
        trouble inner;
        if (strcmp(name, "__metadata__") == 0) {
            if (!read_metadata(s, value, why))
                return false;
            continue;
        }
        safetensors_entry *e = &s->entry[s->count];
        e->name = strdup(name);
        if (e->name == NULL)
            return fail(why, "out of memory");
        s->count++;
        if (!read_entry(e, value, data_size, &inner))
            return fail(why, "tensor '%.80s': %.150s", name, inner.text);
    }
    if (s->count > 0)
        qsort(s->entry, s->count, sizeof *s->entry, by_place);
    return check_places(s, data_size, why);
}

bool safetensors_parse(safetensors *s, const char *header, size_t length, uint64_t data_size, trouble *why)
{
    json_error_t error;
    *s = (safetensors){.count = 0};
    json_t *root = json_loadb(header, length, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL)
        return fail(why, "the header is no JSON: %s, at byte %d", error.text, error.position);
    const bool good =
        json_is_object(root) ? read_entries(s, root, data_size, why) : fail(why, "the header is not a JSON object");
    json_decref(root);
    return good;
}

void safetensors_free(safetensors *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free(s->entry[i].name);
        free(s->entry[i].extent);
    }
    free(s->entry);
    json_decref(s->metadata);
    *s = (safetensors){.count = 0};
}

/* ------------------------------------------------------------------------------------------------- writing */

json_t *safetensors_describe(const char *type, json_t *shape, uint64_t begin, uint64_t end)
{
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", type, "shape", shape, "data_offsets", (json_int_t)begin,
                     (json_int_t)end);
}

unsigned char *safetensors_frame(const json_t *header, size_t *size)
{
    char *text = json_dumps(header, JSON_COMPACT);
    if (text == NULL)
        return NULL;
    const size_t length = strlen(text), padded = (length + 7) / 8 * 8;
    unsigned char *bytes = malloc(8 + padded);
    if (bytes != NULL) {
        bytes_store(bytes, 8, padded);
        memcpy(bytes + 8, text, length); /* NOLINT(bugprone-not-null-terminated-result): spaces come behind it */
        memset(bytes + 8 + length, ' ', padded - length);
        *size = 8 + padded;
    }
    free(text);
    return bytes;
}
