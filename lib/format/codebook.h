/* SPDX-License-Identifier: BSD-2-Clause */
/* codebook.h - formats that are a sorted table of values. */
#ifndef FPEMU_FORMAT_CODEBOOK_H
#define FPEMU_FORMAT_CODEBOOK_H

#include "parameters.h"

/* What follows from a table; 0 where there is none such. */
int fpemu_derive_codebook(fpemu_format *format, fpemu_problem *problem);

/* Whether a codebook format's table is the caller's. */
int fpemu_has_own_table(const fpemu_format *format);
/* Fills the memory of fpemu_format_codes, in the default environment; 0 where these are no values of codes. */
int fpemu_sort_codes(uint32_t length, const float *values, float *memory);
/* The values of a codebook format's codes, codebook_length of them; NULL if the format is damaged. */
const float *fpemu_table_values(const fpemu_format *format);
/* How many values there are; value i of them, ascending, and its code; and how many codes stand for none. */
uint64_t fpemu_table_count(const fpemu_format *format);
double fpemu_table_value(const fpemu_format *format, uint64_t i);
uint64_t fpemu_table_code(const fpemu_format *format, uint64_t i);
uint64_t fpemu_table_nan_count(const fpemu_format *format);
/* 1 if both are the same built-in table, or tables of equal values, or no codebooks. */
int fpemu_same_table(const fpemu_format *a, const fpemu_format *b);

#endif /* FPEMU_FORMAT_CODEBOOK_H */
