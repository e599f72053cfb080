/* SPDX-License-Identifier: BSD-2-Clause */
/* embedding.c - a learned vector for each token, and one for each place in a sequence. */
#include "engine/op.h"
#include "ops/ops.h"
#include "ops/products.h"

#include <string.h>

/* ---------------------------------------------------------------------------------------------- tokens */

static int token(const pass *p, size_t row)
{
    const float t = p->x[0][row];
    if (!(t >= 0 && t < (float)p->g->vocabulary))
        die("token %g of a vocabulary of %d", (double)t, p->g->vocabulary);
    return (int)t;
}

static void embedding_forward(const pass *p)
{
    const value *y = op_out(p);
    const int rows = (int)op_rows(p, y);
#pragma omp parallel for num_threads(p->g->threads)
    for (int r = 0; r < rows; r++)
        memcpy(p->y + (size_t)r * y->row, p->w[0] + (size_t)token(p, (size_t)r) * y->row, y->row * sizeof *p->y);
}

/* Threads share the features; each goes through the rows in their order. */
static void embedding_backward(const pass *p)
{
    enum { FEATURES = 16 };
    const value *y = op_out(p);
    const size_t rows = op_rows(p, y);
    const int features = (int)y->row, count = pieces(features, FEATURES);
    memset(p->dw[0], 0, (size_t)p->g->vocabulary * y->row * sizeof(float));
#pragma omp parallel for num_threads(p->g->threads)
    for (int i = 0; i < count; i++) {
        const size_t at = (size_t)i * FEATURES, here = (size_t)piece_length(features, FEATURES, i);
        for (size_t r = 0; r < rows; r++) {
            const float *from = p->dy + r * y->row + at;
            float *to = p->dw[0] + (size_t)token(p, r) * y->row + at;
            for (size_t k = 0; k < here; k++)
                to[k] += from[k];
        }
    }
}

int graph_embedding(graph *g, int x, int features)
{
    static const op_type type = {.type = "embedding", .forward = embedding_forward, .backward = embedding_backward};
    op *o = op_new(g, &type, 1, &x, 0);
    if (x != g->tokens)
        op_refuse(g, "%s: its input is no batch of tokens", o->name);
    const int y = op_output(g, o, features, 1, 1, g->value[x]->rows_per_sample), dim[2] = {g->vocabulary, features};
    op_param(g, o, PARAM_WEIGHT, "weight", 2, dim, 0, 0.02);
    return y;
}

/* ---------------------------------------------------------------------------------------------- positions */

static void positions_forward(const pass *p)
{
    const value *y = op_out(p);
    const int rows = (int)op_rows(p, y);
#pragma omp parallel for num_threads(p->g->threads)
    for (int r = 0; r < rows; r++) {
        const size_t at = (size_t)r * y->row, place = (size_t)(r % y->rows_per_sample) * y->row;
        for (size_t k = 0; k < y->row; k++)
            p->y[at + k] = p->x[0][at + k] + p->w[0][place + k];
    }
}

static void positions_backward(const pass *p)
{
    const value *y = op_out(p);
    const size_t size = (size_t)y->rows_per_sample * y->row; /* of a sample */
    op_sum_rows(p->g, (size_t)p->samples, (int)size, p->dy, p->dw[0]);
    if (p->dx[0])
        memcpy(p->dx[0], p->dy, (size_t)p->samples * size * sizeof *p->dy);
}

int graph_positions(graph *g, int x)
{
    static const op_type type = {
        .type = "positions", .input_unread = true, .forward = positions_forward, .backward = positions_backward};
    op *o = op_same(g, &type, x, 0);
    const int dim[2] = {g->value[x]->rows_per_sample, (int)g->value[x]->row};
    op_param(g, o, PARAM_WEIGHT, "weight", 2, dim, 0, 0.02);
    return o->output;
}
