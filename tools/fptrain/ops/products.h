/* SPDX-License-Identifier: BSD-2-Clause */
/* products.h - products of matrices in pieces that threads share, and the bias beside them. */
#ifndef FPTRAIN_OPS_PRODUCTS_H
#define FPTRAIN_OPS_PRODUCTS_H

#include "engine/op.h"

/* C (m, n) = A B [+ C] as backend.gemm, cut along the longer side of C and shared among the threads. */
void op_gemm(const graph *g, bool ta, bool tb, int m, int n, int k, const float *A, int lda, const float *B, int ldb,
             bool add, float *C, int ldc);
/* y[r][i] += b[i]; db[i] = sum of dy[r][i] over the rows, in their order. */
void op_add_bias(const graph *g, size_t rows, int n, const float *b, float *y);
void op_sum_rows(const graph *g, size_t rows, int n, const float *dy, float *db);

#endif
