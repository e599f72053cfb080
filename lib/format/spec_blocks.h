/* SPDX-License-Identifier: BSD-2-Clause */
/* spec_blocks.h - the calls of blocked formats in specs. */
#ifndef FPEMU_FORMAT_SPEC_BLOCKS_H
#define FPEMU_FORMAT_SPEC_BLOCKS_H

#include "spec_reader.h"

/* The call of a blocked format, NULL if there is none of that name. */
const call *fpemu_find_block_call(const char *word, size_t length);
int fpemu_take_block_value(reader *r, enum argument_type type, value *v);
int fpemu_build_blocked(const call *c, const reader *r, const value *v, fpemu_format *f, fpemu_problem *problem);
/* Writes the call of a blocked format; in *said, a copy of it, the modifiers are set to what the text says so far. */
void fpemu_write_blocked(writer *w, const fpemu_format *f, fpemu_format *said);
/* Writes the name of a built-in table. */
void fpemu_write_table(writer *w, const fpemu_format *f);

#endif /* FPEMU_FORMAT_SPEC_BLOCKS_H */
