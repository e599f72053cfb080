/* SPDX-License-Identifier: BSD-2-Clause */
/* models.h - rows of a tile through the products of a slab, by each model: the reference, the fast form beside it. */
#ifndef FPEMU_GEMM_MODELS_H
#define FPEMU_GEMM_MODELS_H

#include "call.h"
#include "core/gemm_shape.h"

/* The reference, core/dot_models.h, output by output; rows from `row` on, `rows` of them, whose numbers x has.
 * What c held before, the sum, what is stored. */
void fpemu_reference_begin(gemm_tile *w, size_t row, size_t lane, double c);
void fpemu_reference_advance(gemm_tile *w, size_t row, size_t rows, size_t k0, size_t nk);
double fpemu_reference_end(gemm_tile *w, size_t row, size_t lane, double c);
/* A dot product alone, uncounted: of x, a row, and y, a column; `call` need not point into itself. */
void fpemu_reference_alone(const gemm_call *call, const core_dot *d, const core_operand *x, const core_operand *y,
                           void *result);

/* The fast models, all lanes of row r at a time, from product k0 on; x: nk numbers, or in paired calls as y: nk rows of
 * lanes. */
void fpemu_fast_sequential(gemm_tile *w, size_t r, size_t k0, size_t nk, const double *x, const double *y);
void fpemu_fast_kahan(gemm_tile *w, size_t r, size_t k0, size_t nk, const double *x, const double *y);
void fpemu_fast_pairwise(gemm_tile *w, size_t r, size_t k0, size_t nk, const double *x, const double *y);
/* Fused: what all steps of a call share; numbers of a slab, x, times their scales, and their powers of two, each line
 * being an element's (along_k) or having all lanes. The largest magnitude. */
void fpemu_fast_steps(gemm_call *c);
double fpemu_fast_powers(const gemm_tile *w, const gemm_operand *s, int along_k, size_t lines, size_t first, size_t k0,
                         size_t nk, double *x, double *powers);
/* px, py: those powers; most: the largest product is no more. */
void fpemu_fast_fused(gemm_tile *w, size_t r, size_t k0, size_t nk, const double *x, const double *y, const double *px,
                      const double *py, double most);
/* Steps of chains in binary32. */
void fpemu_fast_chained(gemm_tile *w, size_t nk, const float *x, float *sums);
/* The sum in `inner` of the chunk with product k, times the scales of its blocks, goes into `s`; it begins anew. */
void fpemu_fast_chunk(gemm_tile *w, size_t r, size_t k, uint64_t t, double *inner, double *s);
/* Pairwise: leaf number k of the tree; and what waits at the end, joined, into `to`. */
void fpemu_fast_leaf(gemm_tile *w, size_t r, uint64_t k, dot_terms node);
void fpemu_fast_root(gemm_tile *w, size_t r, double *to);

#endif /* FPEMU_GEMM_MODELS_H */
