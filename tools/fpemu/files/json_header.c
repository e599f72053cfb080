/* SPDX-License-Identifier: BSD-2-Clause */
/* json_header.c - see json_header.h. The JSON is read by jansson. */
#include "files/json_header.h"

#include <stdlib.h>

#include "common/json.h"

char *json_header_read(model *m, uint64_t length)
{
    char *text = malloc((size_t)length + 1);
    if (text == NULL || fread(text, 1, (size_t)length, m->file) != length) {
        model_refuse(m, text == NULL ? "out of memory" : "the header cannot be read");
        free(text);
        return NULL;
    }
    return text;
}

json_t *json_header_parse(model *m, const char *text, uint64_t length)
{
    json_error_t error;
    json_t *header = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &error);
    if (header == NULL)
        model_refuse(m, "the header is no JSON: %s, at byte %d", error.text, error.position);
    return header;
}

bool json_header_metadata(model *m, json_t *entry)
{
    const char *key;
    json_t *value;
    bool good = entry == NULL || json_is_object(entry);
    json_object_foreach(entry, key, value)
    {
        good = good && json_is_string(value);
    }
    m->metadata = good ? json_incref(entry) : NULL;
    return good;
}

bool json_header_extents(model *m, const json_t *shape, uint64_t extent[MODEL_MOST_DIMENSIONS])
{
    return json_to_counts(shape, extent) || model_refuse(m, "the shape is not a list of whole numbers");
}

json_t *json_header_shape(const tensor *t)
{
    json_t *shape = json_array();
    for (unsigned i = 0; i < t->dimensions; i++)
        json_array_append_new(shape, json_integer((json_int_t)t->extent[i]));
    return shape;
}
