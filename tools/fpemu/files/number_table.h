/* SPDX-License-Identifier: BSD-2-Clause */
/* number_table.h - the values of a table or codebook from a text. */
#ifndef FPEMU_TOOL_NUMBER_TABLE_H
#define FPEMU_TOOL_NUMBER_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/trouble.h"

/* Numbers with white space between them, ascending as binary32 and finite, 2 to `most` of them; from a # on a line is a
 * comment. -0 is 0. `name` is for messages. `values` has room for `most`; where false comes back it holds nothing. */
bool number_table_read(FILE *file, const char *name, bool codes, uint32_t most, float *values, uint32_t *count,
                       trouble *why);

#endif
