/* SPDX-License-Identifier: BSD-2-Clause */
/* checkpoint.h - named arrays and texts in one file, written to a temporary name, synced, renamed; checked when read.
 *
 * In memory it is a list of (name, type, shape, bytes) and one of (key, text). On disk it is a .safetensors file, which
 * any reader of these opens: the arrays are its tensors, those of 8 bytes an element first, those of one byte last;
 * the texts stand in __metadata__. What makes it a checkpoint is the first text, at the very beginning of the header:
 *
 *     {"__metadata__":{"checksum":"crc32 89abcdef of 00000000000000012345 bytes",
 *
 * the CRC-32 (of zlib) of the whole file with eight zeros in the place of its digits, and the size of the file. Reading
 * takes no more bytes than the file says that it has, checks every number against what has come before it is used, and
 * lets nothing lie where nothing belongs.
 */
#ifndef FPTRAIN_BASE_CHECKPOINT_H
#define FPTRAIN_BASE_CHECKPOINT_H

#include "base/source.h"

typedef struct checkpoint checkpoint;

typedef struct checkpoint_array {
    const char *name, *type; /* "F32", "F64", "U64", "I64", "U8"; of files of others what they say */
    unsigned dims;
    const uint64_t *dim;
    const void *bytes; /* elements in the order of the last dimension first, as this machine has them */
    size_t length;     /* bytes */
} checkpoint_array;

checkpoint *checkpoint_new(void);
void checkpoint_free(checkpoint *c);

/* These copy; a name twice, or none of 1 to 255 bytes of UTF-8, ends the program. */
void checkpoint_put(checkpoint *c, const char *name, const void *bytes, size_t length); /* as U8 */
void checkpoint_put_floats(checkpoint *c, const char *name, int dims, const int *dim, const float *x);
void checkpoint_put_counts(checkpoint *c, const char *name, size_t n, const uint64_t *x);
void checkpoint_put_reals(checkpoint *c, const char *name, size_t n, const double *x);
void checkpoint_put_array(checkpoint *c, const checkpoint_array *a);
void checkpoint_put_text(checkpoint *c, const char *key, const char *text); /* both UTF-8 */

/* NULL where there is no such array; else its bytes, and how many. */
const void *checkpoint_get(const checkpoint *c, const char *name, size_t *length);
bool checkpoint_find(const checkpoint *c, const char *name, checkpoint_array *a);
const char *checkpoint_text(const checkpoint *c, const char *key); /* NULL: none */
/* Copies exactly `length` bytes of an array of that type, or says which array is missing or is another one. */
bool checkpoint_take(const checkpoint *c, const char *name, void *bytes, size_t length, trouble *why); /* U8 */
bool checkpoint_take_floats(const checkpoint *c, const char *name, int dims, const int *dim, float *x, trouble *why);
bool checkpoint_take_counts(const checkpoint *c, const char *name, size_t n, uint64_t *x, trouble *why);
bool checkpoint_take_reals(const checkpoint *c, const char *name, size_t n, double *x, trouble *why);

bool checkpoint_write(const checkpoint *c, const char *path, trouble *why);
/* The same as a .safetensors file that is no checkpoint: without the checksum. */
bool checkpoint_export(const checkpoint *c, const char *path, trouble *why);
checkpoint *checkpoint_read(const char *path, trouble *why); /* NULL and a sentence on any defect */
checkpoint *checkpoint_parse(const uint8_t *bytes, size_t length, const char *name, trouble *why); /* of a whole file */
/* The same of any .safetensors file; one that begins like a checkpoint is checked as such, and *whole says so. */
checkpoint *checkpoint_import(const char *path, bool *whole, trouble *why);
/* The same of a source; whole: NULL, it has to be a checkpoint. */
checkpoint *checkpoint_import_from(source *s, bool *whole, trouble *why);

/* The arrays in the order in which they were put, or lie in the file; false past the end. */
bool checkpoint_at(const checkpoint *c, size_t i, checkpoint_array *a);

#endif
