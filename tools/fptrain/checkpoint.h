/* checkpoint.h - named arrays in one file, written to a temporary name, synced and renamed; checked when read.
 *
 * In memory it is a list of (name, bytes); on disk a magic word, a version, a table (name, offset, length, CRC-32 of
 * zlib) and the bytes, little-endian. Reading checks every number against the size of the file before it is used.
 */
#ifndef FPTRAIN_CHECKPOINT_H
#define FPTRAIN_CHECKPOINT_H

#include "base.h"

typedef struct checkpoint checkpoint;

checkpoint *checkpoint_new(void);
void checkpoint_free(checkpoint *c);
void checkpoint_put(checkpoint *c, const char *name, const void *bytes, size_t length); /* copies; a name twice: dies */
/* NULL where there is no such entry; else its bytes, and how many. */
const void *checkpoint_get(const checkpoint *c, const char *name, size_t *length);
/* Copies exactly `length` bytes, or says which entry is missing or has another length. */
bool checkpoint_take(const checkpoint *c, const char *name, void *bytes, size_t length, trouble *why);
bool checkpoint_write(const checkpoint *c, const char *path, trouble *why);
checkpoint *checkpoint_read(const char *path, trouble *why); /* NULL and a sentence on any defect */

#endif
