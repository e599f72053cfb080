/* SPDX-License-Identifier: BSD-2-Clause */
/* codebook.h - formats that are a sorted table of values. */
#ifndef FPEMU_FORMAT_CODEBOOK_H
#define FPEMU_FORMAT_CODEBOOK_H

#include "parameters.h"

/* What follows from a table; 0 where there is none such. */
int fpemu_derive_codebook(fpemu_format *format, fpemu_problem *problem);

/* The values of a codebook format, codebook_length of them; NULL if the format is damaged. */
const float *fpemu_table_values(const fpemu_format *format);
/* Value i, in the order of codes. */
double fpemu_table_value(const fpemu_format *format, uint64_t i);
/* 1 if both are the same built-in table, or tables of equal values, or no codebooks. */
int fpemu_same_table(const fpemu_format *a, const fpemu_format *b);

#endif /* FPEMU_FORMAT_CODEBOOK_H */
