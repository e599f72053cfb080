/* SPDX-License-Identifier: BSD-2-Clause */
/* blocking.h - the blocks of a format and their scales. */
#ifndef FPEMU_FORMAT_BLOCKING_H
#define FPEMU_FORMAT_BLOCKING_H

#include "parameters.h"

/* Derives the rest of a blocked format whose element is derived; 1 for scalar formats too. */
int fpemu_derive_blocked(fpemu_format *format, fpemu_problem *problem);
/* Whether the fields of a blocked format beside its element's go together; *scale becomes the format of the scales, all
 * zero where they are bare powers of two: a constant, or *own. */
int fpemu_blocks_are_sane(const fpemu_format *f, const fpemu_format **scale, fpemu_format *own);

/* The parameters of blocks and their scales: copies them, sets them all to zero, 1 if they agree. */
void fpemu_copy_blocked(fpemu_format *to, const fpemu_format *from);
void fpemu_clear_blocked(fpemu_format *format);
int fpemu_same_blocking(const fpemu_format *a, const fpemu_format *b);
/* Takes a scale format: a float of at most 32 bits and 23 fraction bits with the default policies. */
int fpemu_set_scale(fpemu_format *format, const fpemu_format *scale, fpemu_problem *problem);
/* The scale format of fields that are not zero, as a scalar format; 0, and all zero, if they make none. */
int fpemu_scale_of(const fpemu_format *format, fpemu_format *scale);
/* Width of the code of a block's scale; 0 where there is none. */
uint32_t fpemu_scale_bits(const fpemu_format *format);

#endif /* FPEMU_FORMAT_BLOCKING_H */
