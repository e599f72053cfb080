/* SPDX-License-Identifier: BSD-2-Clause */
/* functions.h - elementary functions of arrays, in vectors of whatever width the processor has.
 *
 * Each result has the bits of glibc 2.36 for the same number (x86-64 with FMA), whatever the C library and processor:
 * within 0.51 (exp) and 2.2 (tanh) units in the last place. tests/fptrain/functions.c holds them to that. */
#ifndef FPTRAIN_OPS_FUNCTIONS_H
#define FPTRAIN_OPS_FUNCTIONS_H

#include <stddef.h>

/* y may be x. */
void exp_of(size_t n, const float *x, float *y);
void tanh_of(size_t n, const float *x, float *y);
void sigmoid_of(size_t n, const float *x, float *y); /* 1 / (1 + exp(-x)), each step rounded to float */

#endif
