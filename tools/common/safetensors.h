/* SPDX-License-Identifier: BSD-2-Clause */
/* safetensors.h - the header of .safetensors files.
 *
 *   length   8 bytes, little-endian
 *   header   JSON, padded with spaces: {"__metadata__": {"key": "text"},
 *            "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
 *   data     elements little-endian, in the order of the last axis first; offsets count from here
 *
 * As the format demands, names are unique, data neither overlap nor leave gaps, and the file ends with them. Types that
 * are not known are taken as they are: of those any size is believed.
 */
#ifndef COMMON_SAFETENSORS_H
#define COMMON_SAFETENSORS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/trouble.h"

enum {
    SAFETENSORS_LONGEST_HEADER = 100000000, /* as the format's own library */
    SAFETENSORS_MOST_DIMENSIONS = 64,       /* as NumPy 2 */
    SAFETENSORS_TYPE_SIZE = 33
};

typedef struct safetensors_entry {
    char *name;
    char type[SAFETENSORS_TYPE_SIZE]; /* as the file says it: "F32" */
    unsigned dimensions;
    uint64_t *extent;
    uint64_t place, bytes; /* from the first byte of the data on */
} safetensors_entry;

typedef struct safetensors {
    size_t count;
    safetensors_entry *entry; /* in the order of the data */
    uint64_t data;            /* bytes of the data of all */
    json_t *metadata;         /* an object of strings, or NULL */
} safetensors;

/* For data_size of what is still to be read: the data end with those of the last tensor. */
#define SAFETENSORS_NOT_KNOWN UINT64_MAX

/* The length of the header out of the first 8 bytes of a file of `size` bytes; false and a sentence if none fits. */
bool safetensors_length(const unsigned char start[8], uint64_t size, uint64_t *length, trouble *why);
/* The header, `length` bytes, of a file with data_size bytes behind it. To be freed, also after false and a sentence.
 * metadata: where __metadata__ is no object of strings, the sentence says so. */
bool safetensors_parse(safetensors *s, const char *header, size_t length, uint64_t data_size, trouble *why);
void safetensors_free(safetensors *s);

/* Bits of an element; 0: the type is not known. */
unsigned safetensors_bits(const char *type);

/* The entry of a header: shape is taken over. NULL when memory runs out. */
json_t *safetensors_describe(const char *type, json_t *shape, uint64_t begin, uint64_t end);
/* The length and the header of a file, to be freed; NULL when memory runs out. */
unsigned char *safetensors_frame(const json_t *header, size_t *size);

#endif
