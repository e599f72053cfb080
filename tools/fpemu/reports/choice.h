/* SPDX-License-Identifier: BSD-2-Clause */
/* choice.h - of what `fpemu compare` has measured, the format that each tensor should take: the cheapest that keeps a
 * signal to noise ratio, or those that are best together within a number of bits. */
#ifndef FPEMU_TOOL_CHOICE_H
#define FPEMU_TOOL_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "reports/comparison.h"

/* Whether the decibels reach the threshold, whatever they leave out. */
bool choice_keeps(const comparison *j, const comparison_cell *c);

/* The format with the fewest bits that keeps the threshold, of several the one that keeps more; NULL if none does. Over
 * the cells of one tensor, or, for NULL, over all. */
const comparison_format *choice_cheapest(const comparison *j, const comparison_cell *first);

/* A choice for every tensor. */
typedef struct choice {
    const comparison_format **of; /* NULL: the tensor stays as it is, for want of one that keeps its numbers */
    size_t none;                  /* such tensors */
    double bits;                  /* an element, over all chosen tensors */
    double sqnr;                  /* dB, over all */
    bool proven;                  /* within a limit: no choice is better */
    double gap;                   /* dB by which another might be better at most */
} choice;

/* Every tensor its cheapest. */
choice choice_by_threshold(const comparison *j);
/* The least error of all tensors together within so many bits an element. Ends the program where there is none. */
choice choice_within_bits(const comparison *j, double most_bits);
void choice_free(choice *c);

/* What `quantize` and `pack` follow with --plan. */
void choice_write_plan(const comparison *j, const choice *c, const char *path);

/* Bits an element and dB, from the fewest bits on: no choice lies above the line through them, and its corners are
 * choices. It ends before the one that has no error. To be freed. */
typedef struct choice_point {
    double bits, sqnr;
} choice_point;
choice_point *choice_curve(const comparison *j, size_t *count);

#endif
