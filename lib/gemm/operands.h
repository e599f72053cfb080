/* SPDX-License-Identifier: BSD-2-Clause */
/* operands.h - operands of dot products on their way in: gathered, rounded, kept slab by slab. */
#ifndef FPEMU_GEMM_OPERANDS_H
#define FPEMU_GEMM_OPERANDS_H

#include "call.h"

/* Chooses the loop that rounds an operand to its target. */
void fpemu_operand_prepare(gemm_operand *o, const fpemu_target *t, int carrier);

/* Elements [first, first + count) of an operand, k = k0 .. k0+nk, rounded: (o, l) at out[o * out_o + l * out_l];
 * in binary32 where sums are. room: of as many numbers of the carrier. A NaN that may not be is noted. */
void fpemu_operand_read(gemm_tile *w, const gemm_operand *s, size_t first, size_t count, size_t k0, size_t nk,
                        size_t out_o, size_t out_l, void *out, void *room);

/* The least e with |x| < 2^e for the finite numbers of element o, a row of op(A) or a column of op(B), rounded; 0 if
 * all are 0. */
int fpemu_operand_exponent(gemm_tile *w, const gemm_operand *s, size_t o);

/* n numbers of a vector from p on, `step` apart, rounded: as numbers of the carrier. Not where random bits are drawn, or
 * the operand has no loop for its target. */
void fpemu_operand_line(const gemm_call *c, const gemm_operand *s, const void *p, ptrdiff_t step, size_t n, void *out);

#endif /* FPEMU_GEMM_OPERANDS_H */
