/* linear.c - y = W x + b on every row; and the pieces of matrix products that other operators share. */
#include "engine/op.h"

#include <math.h>

/* ---------------------------------------------------------------------------------------------- shared loops */

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

void op_add_bias(const graph *g, size_t rows, int n, const float *b, float *y)
{
    (void)g; /* without OpenMP */
    const int count = (int)rows;
#pragma omp parallel for num_threads(g->threads)
    for (int r = 0; r < count; r++)
        for (int i = 0; i < n; i++)
            y[(size_t)r * (size_t)n + (size_t)i] += b[i];
}

void op_sum_rows(const graph *g, size_t rows, int n, const float *dy, float *db)
{
    (void)g;
    enum { COLUMNS = 16 };
    const int count = pieces(n, COLUMNS);
#pragma omp parallel for num_threads(g->threads)
    for (int p = 0; p < count; p++) {
        const int here = piece_length(n, COLUMNS, p);
        double sum[COLUMNS] = {0};
        const float *from = dy + p * COLUMNS;
        for (size_t r = 0; r < rows; r++, from += n)
            for (int i = 0; i < here; i++)
                sum[i] += (double)from[i];
        for (int i = 0; i < here; i++)
            db[p * COLUMNS + i] = (float)sum[i];
    }
}

/* ---------------------------------------------------------------------------------------------- linear */

static void linear_forward(const pass *p)
{
    const value *x = op_in(p, 0), *y = op_out(p);
    const int rows = (int)op_rows(p, y), in = (int)x->row, out = (int)y->row;
    op_products(p, op_step(p, ROLE_V, p->o->input[0]), op_step(p, ROLE_W, p->o->first_param));
    op_gemm(p->g, false, true, rows, out, in, p->x[0], in, p->w[0], in, false, p->y, out);
    if (p->o->params > 1)
        op_add_bias(p->g, (size_t)rows, out, p->w[1], p->y);
}

static void linear_backward(const pass *p)
{
    const value *x = op_in(p, 0), *y = op_out(p);
    const int rows = (int)op_rows(p, y), in = (int)x->row, out = (int)y->row;
    op_products(p, op_step(p, ROLE_V, p->o->input[0]), op_step(p, ROLE_DV, p->o->output));
    op_gemm(p->g, true, false, out, in, rows, p->dy, out, p->x[0], in, false, p->dw[0], in);
    if (p->o->params > 1)
        op_sum_rows(p->g, (size_t)rows, out, p->dy, p->dw[1]);
    op_products(p, op_step(p, ROLE_DV, p->o->output), op_step(p, ROLE_W, p->o->first_param));
    if (p->dx[0])
        op_gemm(p->g, false, false, rows, in, out, p->passed, out, p->w[0], in, false, p->dx[0], in);
}

int graph_linear(graph *g, int x, int outputs, bool bias)
{
    static const op_type type = {
        .type = "linear", .gemm = true, .weighs = true, .forward = linear_forward, .backward = linear_backward};
    op *o = op_new(g, &type, 1, &x, 0);
    const value *v = g->value[x];
    const int y = op_output(g, o, outputs, 1, 1, v->rows_per_sample), dim[2] = {outputs, (int)v->row};
    op_param(g, o, PARAM_WEIGHT, "weight", 2, dim, 0, sqrt(2.0 / (double)v->row));
    if (bias)
        op_param(g, o, PARAM_BIAS, "bias", 1, &outputs, 0, 0);
    o->fan = outputs;
    o->macs = (double)outputs * (double)v->row * v->rows_per_sample;
    return y;
}
