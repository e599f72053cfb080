/* SPDX-License-Identifier: BSD-2-Clause */
/* archive.h - the inputs of a corpus, which are members of one file of `ar'. */
#ifndef FPEMU_FUZZ_ARCHIVE_H
#define FPEMU_FUZZ_ARCHIVE_H

#include "../common.h"

typedef void (*archive_taker)(const void *context, const char *name, const uint8_t *bytes, size_t size);

/* Calls `take` for each member of the archive at `path`, or once, by its path, for a file that is no archive. Returns how
 * often; ends the program where the file cannot be read or is damaged. */
int archive_each(const char *path, archive_taker take, const void *context);

#endif
