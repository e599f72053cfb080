/* SPDX-License-Identifier: BSD-2-Clause */
/* checkpoint.h - named arrays in one file, written to a temporary name, synced and renamed; checked when read.
 *
 * In memory it is a list of (name, bytes). On disk, with all numbers little-endian:
 *
 *     offset 0   8 bytes    89 'F' 'P' 'T' 'R' 'N' 0d 0a
 *            8   4          version, 1
 *           12   4          number of entries
 *           16   8          size of the table in bytes
 *           24   8          size of the file in bytes
 *           32   4          CRC-32 (of zlib) of the table
 *           36   4          CRC-32 of bytes 0 to 35
 *           40              the table: for each entry length of the name (4), CRC-32 of its bytes (4), offset (8),
 *                           length (8), the name (1 to 255 bytes, none of them 0)
 *
 * Then the bytes of the entries in the order of the table, each at the next multiple of 64, zeros between. Reading
 * checks every number against the size of the file before it is used, and lets nothing lie where nothing belongs.
 */
#ifndef FPTRAIN_BASE_CHECKPOINT_H
#define FPTRAIN_BASE_CHECKPOINT_H

#include "base/base.h"

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
checkpoint *checkpoint_parse(const uint8_t *bytes, size_t length, const char *name, trouble *why); /* of a whole file */
/* The entries, in the order in which they were put; NULL past the end. */
const char *checkpoint_name(const checkpoint *c, size_t i);

#endif
