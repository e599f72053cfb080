/* SPDX-License-Identifier: BSD-2-Clause */
/* products.c - see products.h */
#include "ops/products.h"

/* Pieces are as long as the shape says, never as the number of threads does: about sixteen, of at least 32. */
static int gemm_piece(int length)
{
    const int piece = (length + 15) / 16;
    return piece < 32 ? 32 : (piece + 15) / 16 * 16;
}

void op_gemm(const graph *g, bool ta, bool tb, int m, int n, int k, const float *A, int lda, const float *B, int ldb,
             bool add, float *C, int ldc)
{
    const backend *b = g->backend;
    const bool by_rows = m > n;
    const int length = by_rows ? m : n, size = gemm_piece(length), count = pieces(length, size);
#pragma omp parallel for num_threads(g->threads) schedule(dynamic)
    for (int i = 0; i < count; i++) {
        const size_t at = (size_t)i * (size_t)size;
        const int here = piece_length(length, size, i);
        if (by_rows)
            b->gemm(b, ta, tb, here, n, k, A + (ta ? at : at * (size_t)lda), lda, B, ldb, add, C + at * (size_t)ldc,
                    ldc);
        else
            b->gemm(b, ta, tb, m, here, k, A, lda, B + (tb ? at * (size_t)ldb : at), ldb, add, C + at, ldc);
    }
}

WIDE static void add_row(int n, const float *restrict b, float *restrict y)
{
#pragma omp simd
    for (int i = 0; i < n; i++)
        y[i] += b[i];
}

void op_add_bias(const graph *g, size_t rows, int n, const float *b, float *y)
{
    (void)g; /* without OpenMP */
    const int count = (int)rows;
#pragma omp parallel for num_threads(g->threads)
    for (int r = 0; r < count; r++)
        add_row(n, b, y + (size_t)r * (size_t)n);
}

/* Sums of a few neighbouring columns, each from the first row to the last. */
enum { COLUMNS = 16 };

WIDE static void sum_columns(size_t rows, size_t stride, const float *restrict from, float *restrict to)
{
    double sum[COLUMNS] = {0};
    for (size_t r = 0; r < rows; r++, from += stride)
#pragma omp simd
        for (int i = 0; i < COLUMNS; i++)
            sum[i] += (double)from[i];
    for (int i = 0; i < COLUMNS; i++)
        to[i] = (float)sum[i];
}

void op_sum_rows(const graph *g, size_t rows, int n, const float *dy, float *db)
{
    (void)g;
    const int count = pieces(n, COLUMNS);
#pragma omp parallel for num_threads(g->threads)
    for (int p = 0; p < count; p++) {
        const int here = piece_length(n, COLUMNS, p);
        if (here == COLUMNS) {
            sum_columns(rows, (size_t)n, dy + p * COLUMNS, db + p * COLUMNS);
            continue;
        }
        double sum[COLUMNS] = {0};
        const float *from = dy + p * COLUMNS;
        for (size_t r = 0; r < rows; r++, from += n)
            for (int i = 0; i < here; i++)
                sum[i] += (double)from[i];
        for (int i = 0; i < here; i++)
            db[p * COLUMNS + i] = (float)sum[i];
    }
}
