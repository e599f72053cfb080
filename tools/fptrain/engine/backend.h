/* SPDX-License-Identifier: BSD-2-Clause */
/* backend.h - who computes the products: float by oneDNN or by CBLAS, or emulated by libfpemu, step by step.
 *
 * A network asks for three products: matrices, convolutions, and the two backward passes of convolutions. They compute
 * in FP32 and round nothing, except the emulated backend, whose accumulator is what it is there for. Every call is made
 * by one thread on one piece of the batch, and pieces do not depend on the number of threads; so results do not either.
 */
#ifndef FPTRAIN_ENGINE_BACKEND_H
#define FPTRAIN_ENGINE_BACKEND_H

#include "base/base.h"

typedef struct conv_shape { /* x (n, c, h, w), weights (k, c / groups, r, r), y (n, k, oh, ow) */
    int n, c, h, w, k, r, stride, padding, groups, oh, ow;
} conv_shape;

/* Roundings of products and sums, and what they did: additions of two numbers of which one, not zero, changed nothing
 * (swamped), and sums beyond the accumulator's range. */
typedef struct sum_counts {
    uint64_t roundings, inexact, swamped, overflow, underflow;
} sum_counts;

typedef struct backend backend;
typedef struct conv conv; /* a convolution prepared for one shape; calls from several threads are allowed */

struct backend {
    const char *name; /* "onednn", "blas", "emulated", "exact" */
    void *state;
    struct pool *scratch; /* what threads borrow while they compute, if the backend has such */
    void (*free)(backend *b);
    bool whole; /* sums over the batch must not be cut: gradients of weights are asked for in one call */
    /* C (m, n) = A (m, k) B (k, n) [+ C], row-major with leading dimensions; transposed operands as stored. */
    void (*gemm)(const backend *b, bool ta, bool tb, int m, int n, int k, const float *A, int lda, const float *B,
                 int ldb, bool add, float *C, int ldc);
    conv *(*conv_new)(const backend *b, const conv_shape *shape);
    void (*conv_free)(const backend *b, conv *c);
    void (*conv_forward)(const backend *b, conv *c, int n, const float *x, const float *w, float *y);
    void (*conv_backward_data)(const backend *b, conv *c, int n, const float *dy, const float *w, float *dx);
    void (*conv_backward_weights)(const backend *b, conv *c, int n, const float *x, const float *dy, float *dw);
    /* May be NULL: takes the step of the products that follow (operands are whole numbers of steps; 0: they are not),
     * and tells how many sums so far were outside 32 bits. */
    void (*step)(const backend *b, double step);
    uint64_t (*outside)(const backend *b);
    /* May be NULL: counts from now on, or no more, which costs time and changes no result; what was counted so far. */
    void (*count)(const backend *b, bool on);
    sum_counts (*counted)(const backend *b);
};

#endif
