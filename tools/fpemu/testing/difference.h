/* SPDX-License-Identifier: BSD-2-Clause */
/* difference.h - the differences that a search finds, and the classes they belong to. */
#ifndef FPEMU_TOOL_DIFFERENCE_H
#define FPEMU_TOOL_DIFFERENCE_H

#include "testing/search.h"

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
/* outcome_take of element i of the batch, the smaller the simpler, the first operand before the second. */
outcome *difference_outcome(search *s, int order, const char *name, size_t i);
/* Puts a difference of that element into its class. */
void difference_take(search *s, size_t i, number expected, number got);

#endif
