/* SPDX-License-Identifier: BSD-2-Clause */
/* source.h - the bytes of a file, unpacked on the way: plain, .gz (zlib) or .xz (liblzma), told by the first bytes.
 *
 * Nothing is reserved on the word of a file: memory grows as bytes arrive.
 */
#ifndef FPTRAIN_BASE_SOURCE_H
#define FPTRAIN_BASE_SOURCE_H

#include <stdio.h>

#include "base/base.h"

typedef struct source source;

/* 2^POWER bytes, or half of what this machine can address. */
#define SOURCE_MOST(power) (SIZE_MAX / 2 < UINT64_C(1) << (power) ? SIZE_MAX / 2 : (size_t)(UINT64_C(1) << (power)))

/* Takes the file over; name is for messages. NULL and a sentence on failure. */
source *source_open(const char *path, trouble *why);
source *source_from(FILE *file, const char *name, trouble *why);
/* Of bytes that come by calls of read: up to `size` of them, fewer only at the end. */
typedef bool source_reader(void *from, void *bytes, size_t size, size_t *got, trouble *why);
source *source_of(source_reader *read, void *from, const char *name);
void source_close(source *s);
/* Up to `size` bytes; fewer only at the end or where the file is damaged, which returns false. */
bool source_read(source *s, void *bytes, size_t size, size_t *got, trouble *why);
/* Exactly `length` bytes in memory for free(), also where that is 0; or NULL: damaged, or shorter ("truncated"). */
uint8_t *source_take(source *s, size_t length, trouble *why);
/* Goes on with bytes for free(), of which there are *length (NULL and 0: none yet), until there are `most`; fewer only
 * at the end. False: damaged, or no memory; they stay the caller's. */
bool source_more(source *s, uint8_t **bytes, size_t *length, size_t most, trouble *why);
/* All that is left, at most `most` bytes. */
uint8_t *source_rest(source *s, size_t most, size_t *length, trouble *why);
/* Whether the end has been reached; else "has bytes after its data". */
bool source_end(source *s, trouble *why);
const char *source_name(const source *s);
/* The file DIRECTORY/NAME or with one of the endings of packed files; false: none is there. */
bool source_find(char *path, size_t capacity, const char *directory, const char *name);

#endif
