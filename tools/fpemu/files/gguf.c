/* SPDX-License-Identifier: BSD-2-Clause */
/* gguf.c - see gguf.h. As strict as ggml's own reader: what that refuses is refused here. */
#include "files/gguf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/byte_order.h"
#include "files/ggml.h"

enum { MOST_EXTENTS = 4, LONGEST_NAME = 65535, DEFAULT_ALIGNMENT = 32 };

/* Types of values. */
enum { VALUE_U32 = 4, VALUE_STRING = 8, VALUE_ARRAY = 9, VALUES = 13 };
static const unsigned char value_size[VALUES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

/* A walk over the header. */
typedef struct header {
    model *m;
    uint64_t left; /* bytes of the file that come after it */
    uint64_t alignment;
    bool has_alignment;
} header;

static bool take_bytes(header *h, void *bytes, uint64_t size)
{
    if (size > h->left)
        return model_refuse(h->m, "truncated: the header goes on past the end of the file");
    h->left -= size;
    return fread(bytes, 1, (size_t)size, h->m->file) == size || model_refuse(h->m, "the header cannot be read");
}

static bool take_number(header *h, int size, uint64_t *number)
{
    unsigned char bytes[8];
    if (!take_bytes(h, bytes, (uint64_t)size))
        return false;
    *number = bytes_load(bytes, size);
    return true;
}

/* Small steps stay in the buffer of the file, where fseeko would read it anew. */
static bool skip(header *h, uint64_t size)
{
    unsigned char bytes[512];
    if (size <= sizeof bytes)
        return take_bytes(h, bytes, size);
    if (size > h->left)
        return model_refuse(h->m, "truncated: the header goes on past the end of the file");
    h->left -= size;
    return fseeko(h->m->file, (off_t)size, SEEK_CUR) == 0 || model_refuse(h->m, "the header cannot be read");
}

static bool skip_string(header *h)
{
    uint64_t length;
    return take_number(h, 8, &length) && skip(h, length);
}

/* To be freed; NULL, with the error set, where it is no name. */
static char *take_name(header *h, const char *what)
{
    uint64_t length;
    if (!take_number(h, 8, &length))
        return NULL;
    if (length > LONGEST_NAME) {
        model_refuse(h->m, "the name of a %s has %" PRIu64 " bytes, more than %d", what, length, LONGEST_NAME);
        return NULL;
    }
    char *name = calloc((size_t)length + 1, 1);
    if (name == NULL || !take_bytes(h, name, length)) {
        if (name == NULL)
            model_refuse(h->m, "out of memory");
        free(name);
        return NULL;
    }
    json_t *text = strlen(name) == length ? json_stringn(name, (size_t)length) : NULL;
    if (text == NULL) {
        model_refuse(h->m, "the name of a %s is no UTF-8 text", what);
        free(name);
        return NULL;
    }
    json_decref(text);
    return name;
}

static bool skip_array(header *h)
{
    uint64_t type, count;
    if (!take_number(h, 4, &type) || !take_number(h, 8, &count))
        return false;
    if (type >= VALUES || type == VALUE_ARRAY)
        return model_refuse(h->m, "an array of values of type %" PRIu64, type);
    const uint64_t least = type == VALUE_STRING ? 8 : value_size[type];
    if (count > h->left / least) {
        return model_refuse(h->m, "an array of %" PRIu64 " values in a file with %" PRIu64 " bytes left", count,
                            h->left);
    }
    if (type != VALUE_STRING)
        return skip(h, count * least);
    for (uint64_t i = 0; i < count; i++)
        if (!skip_string(h))
            return false;
    return true;
}

static bool take_alignment(header *h, uint64_t type)
{
    if (type != VALUE_U32 || h->has_alignment)
        return model_refuse(h->m, h->has_alignment ? "it comes twice" : "it is no uint32");
    h->has_alignment = true;
    if (!take_number(h, 4, &h->alignment))
        return false;
    return (h->alignment != 0 && (h->alignment & (h->alignment - 1)) == 0) ||
           model_refuse(h->m, "%" PRIu64 " is no power of two", h->alignment);
}

static bool read_value(header *h, const char *key)
{
    uint64_t type;
    if (!take_number(h, 4, &type))
        return false;
    if (strcmp(key, "general.alignment") == 0)
        return take_alignment(h, type);
    if (type >= VALUES)
        return model_refuse(h->m, "a value of the unknown type %" PRIu64, type);
    return type == VALUE_ARRAY ? skip_array(h) : type == VALUE_STRING ? skip_string(h) : skip(h, value_size[type]);
}

static bool read_key(header *h)
{
    char *key = take_name(h, "key");
    const bool good = key != NULL && (read_value(h, key) || model_blame(h->m, "key", key));
    free(key);
    return good;
}

/* Shape and type; blocks lie along the fastest axis. */
static bool set_type(model *m, tensor *t, const ggml_type *type, unsigned dimensions, const uint64_t *extent)
{
    const uint64_t fastest = dimensions > 0 ? extent[dimensions - 1] : 1;
    if (type->count == 0)
        return model_refuse(m, "type %s is not read; see fpemu(1) for those that are", type->name);
    if (fastest % type->count != 0) {
        return model_refuse(m, "%" PRIu64 " elements a row make no whole blocks of %u, as %s has them", fastest,
                            type->count, type->name);
    }
    const char *dtype = type->dtype != NULL ? type->dtype : "F32";
    strcpy(t->type_text, dtype);
    t->type = dtype_named(dtype);
    if (!model_set_shape(m, t, dimensions, extent, type->dtype != NULL ? 8 * type->size : 32))
        return false;
    if (type->dtype == NULL) {
        t->stored = (tensor_stored){.name = type->name,
                                    .ggml = type,
                                    .count = type->count,
                                    .size = type->size,
                                    .bytes = t->count / type->count * type->size};
    }
    return true;
}

static bool read_info(header *h, tensor *t)
{
    uint64_t dimensions, reversed[MOST_EXTENTS], extent[MOST_EXTENTS] = {0}, type;
    if (!take_number(h, 4, &dimensions))
        return false;
    if (dimensions > MOST_EXTENTS)
        return model_refuse(h->m, "%" PRIu64 " dimensions, more than %d", dimensions, MOST_EXTENTS);
    for (unsigned i = 0; i < dimensions; i++)
        if (!take_number(h, 8, &reversed[i]))
            return false;
    for (unsigned i = 0; i < dimensions; i++)
        extent[i] = reversed[dimensions - 1 - i];
    if (!take_number(h, 4, &type) || !take_number(h, 8, &t->place))
        return false;
    const ggml_type *known = type <= UINT32_MAX ? ggml_type_numbered((uint32_t)type) : NULL;
    if (known == NULL)
        return model_refuse(h->m, "its type %" PRIu64 " is unknown", type);
    return set_type(h->m, t, known, (unsigned)dimensions, extent);
}

static bool read_tensor(header *h)
{
    char *name = take_name(h, "tensor");
    tensor *t = name != NULL ? model_add(h->m, name) : NULL;
    const bool good = t != NULL && (read_info(h, t) || model_blame(h->m, "tensor", name));
    free(name);
    return good;
}

static int by_place(const void *a, const void *b)
{
    const tensor *s = a, *t = b;
    if (s->place != t->place)
        return s->place < t->place ? -1 : 1;
    return (s->bytes > 0) != (t->bytes > 0) ? (s->bytes > 0 ? 1 : -1) : strcmp(s->name, t->name);
}

/* Data begin where those before end, at the next multiple of the alignment. */
static bool check_places(model *m, const header *h, uint64_t data, uint64_t size)
{
    uint64_t end = 0;
    if (m->count > 0)
        qsort(m->tensor, m->count, sizeof *m->tensor, by_place);
    for (size_t i = 0; i < m->count; i++) {
        tensor *t = &m->tensor[i];
        const uint64_t begin = end + (h->alignment - end % h->alignment) % h->alignment;
        if (t->place != begin) {
            return model_refuse(m, "tensor '%.80s': its data begin at %" PRIu64 ", expected %" PRIu64, t->name,
                                t->place, begin);
        }
        if (begin > size - data || model_bytes(t) > size - data - begin) {
            return model_refuse(m, "truncated: tensor '%.80s' takes bytes %" PRIu64 " to %" PRIu64 " of %" PRIu64,
                                t->name, data + begin, data + begin + model_bytes(t), size);
        }
        end = begin + model_bytes(t);
        t->place += data;
    }
    return size - data - end < h->alignment ||
           model_refuse(m, "%" PRIu64 " bytes follow the last tensor", size - data - end);
}

bool gguf_open(model *m)
{
    unsigned char start[8];
    uint64_t tensors, keys;
    const char *twice;
    header h = {.m = m, .alignment = DEFAULT_ALIGNMENT};
    if (fseeko(m->file, 0, SEEK_END) != 0)
        return model_refuse(m, "GGUF is read from a file, not from a pipe");
    const uint64_t size = h.left = (uint64_t)ftello(m->file);
    if (fseeko(m->file, 0, SEEK_SET) != 0 || !take_bytes(&h, start, sizeof start) || memcmp(start, "GGUF", 4) != 0)
        return model_refuse(m, "no GGUF file");
    const uint64_t version = bytes_load(start + 4, 4);
    if (version != 2 && version != 3) {
        return (version & 0xffff) == 0 ? model_refuse(m, "a big-endian GGUF file; little-endian ones are read")
                                       : model_refuse(m, "version %" PRIu64 " of GGUF; 2 and 3 are read", version);
    }
    if (!take_number(&h, 8, &tensors) || !take_number(&h, 8, &keys))
        return false;
    if (tensors > h.left / 24 || keys > h.left / 13) { /* as many bytes as the smallest takes */
        return model_refuse(m, "%" PRIu64 " tensors and %" PRIu64 " keys in a file of %" PRIu64 " bytes", tensors, keys,
                            size);
    }
    for (uint64_t i = 0; i < keys; i++)
        if (!read_key(&h))
            return false;
    for (uint64_t i = 0; i < tensors; i++)
        if (!read_tensor(&h))
            return false;
    if (!model_names_differ(m, &twice)) {
        return twice == NULL ? model_refuse(m, "out of memory")
                             : model_refuse(m, "two tensors have the name '%.80s'", twice);
    }
    const uint64_t header_size = size - h.left, gap = (h.alignment - header_size % h.alignment) % h.alignment;
    if (gap > h.left)
        return m->count == 0 || model_refuse(m, "truncated: the file ends before the data");
    return check_places(m, &h, header_size + gap, size);
}
