/* SPDX-License-Identifier: BSD-2-Clause */
/* scratch.h - a file without a name, for data that have to be read twice or come in another order. It lies in the
 * directory that TMPDIR names, else in /tmp, and goes away with the program. */
#ifndef FPEMU_TOOL_SCRATCH_H
#define FPEMU_TOOL_SCRATCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* All of these end the program with an error when they fail. */
FILE *scratch_open(void);
void scratch_write_at(FILE *scratch, uint64_t from, const void *bytes, size_t size);
/* Fewer bytes than asked for where the file ends. */
size_t scratch_read_at(FILE *scratch, uint64_t from, void *bytes, size_t size);

#endif
