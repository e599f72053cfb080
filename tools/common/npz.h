/* SPDX-License-Identifier: BSD-2-Clause */
/* npz.h - zip archives of .npy files, read by libzip one member after the other. */
#ifndef COMMON_NPZ_H
#define COMMON_NPZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/npy.h"
#include "common/trouble.h"

typedef struct npz npz;

/* The archive in an open file, which stays the caller's. NULL and a sentence on failure; an empty one is refused. */
npz *npz_open(FILE *file, trouble *why);
void npz_close(npz *z); /* NULL: nothing */
uint64_t npz_count(const npz *z);
/* Name and size of a member as the archive says them; the name is good until the archive is closed. */
bool npz_look(npz *z, uint64_t i, const char **name, uint64_t *size, trouble *why);
/* The name of a member: whether it is that of an array. */
bool npz_is_array(const char *name);
/* The header of such a member, and how many bytes come before its data. */
bool npz_header(npz *z, uint64_t i, npy_header *header, uint64_t *skip, trouble *why);
/* A member from its byte `skip` on; where it is stored or deflated, and not encrypted. */
bool npz_begin(npz *z, uint64_t i, uint64_t skip, trouble *why);
/* Up to `size` of its bytes, fewer only at its end, where its checksum is looked at; false after an error. */
bool npz_read(npz *z, void *bytes, size_t size, size_t *got, trouble *why);
/* For who copies members as they are. */
struct zip *npz_archive(npz *z);
/* A new archive that zip_close writes to an open file, new and empty; errors of the file stay with it, too. NULL and a
 * sentence on failure. */
struct zip *npz_create(FILE *to, trouble *why);

#endif
