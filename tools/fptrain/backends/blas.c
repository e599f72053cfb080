/* SPDX-License-Identifier: BSD-2-Clause */
/* blas.c - products of matrices by CBLAS. */
#include "backends/backends.h"
#include "backends/lowered.h"

#include <cblas.h>
#include <stdlib.h>

typedef struct blas_state {
    int threads; /* of OpenBLAS before */
} blas_state;

static void blas_gemm(const backend *b, bool ta, bool tb, int m, int n, int k, const float *A, int lda, const float *B,
                      int ldb, bool add, float *C, int ldc)
{
    (void)b;
    cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, m, n, k, 1, A, lda, B,
                ldb, add ? 1.0f : 0.0f, C, ldc);
}

static void blas_free(backend *b)
{
#ifdef OPENBLAS_VERSION
    openblas_set_num_threads(((const blas_state *)b->state)->threads);
#endif
    backend_lower_free(b);
    free(b->state);
    free(b);
}

backend *backend_blas(trouble *why)
{
    (void)why;
    backend *b = need(1, sizeof *b);
    blas_state *s = need(1, sizeof *s);
    *b = (backend){.name = "blas", .state = s, .free = blas_free, .gemm = blas_gemm};
    backend_lower(b);
#ifdef OPENBLAS_VERSION
    /* The pieces are cut by us: a BLAS that cut them again by its number of threads would change bits. */
    s->threads = openblas_get_num_threads();
    openblas_set_num_threads(1);
#endif
    return b;
}
