/* SPDX-License-Identifier: BSD-2-Clause */
/* difference.h - the differences that a search finds, and the classes they belong to. */
#ifndef FPEMU_TOOL_DIFFERENCE_H
#define FPEMU_TOOL_DIFFERENCE_H

#include "testing/search.h"

extern const char *const difference_names[DIFFERENCES];

/* The bits of an element of a type, as a number; codes are of `format`. */
number difference_number(external_type type, const fpemu_format *format, uint64_t code);
/* Element i of an array of floats or doubles becomes x. */
void difference_store(external_type type, void *array, size_t i, double x);
/* Operand k of element i of the batch. */
number difference_operand(const search *s, int k, size_t i);
/* Both results say the same. */
bool difference_same(const search *s, number expected, number got);
/* A code with bits above the width of the format. */
bool difference_stray_bits(const search *s, uint64_t code);
/* Puts a difference into its class. */
void difference_take(search *s, const number operand[OPERATION_MOST], number expected, number got);

/* The smaller by its operands: the first that differs decides. */
bool difference_is_smaller(const search *s, const number *a, const number *b);

/* How many there were. */
uint64_t difference_count(const search *s);

#endif
