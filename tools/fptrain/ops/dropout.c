/* SPDX-License-Identifier: BSD-2-Clause */
/* dropout.c - leaves elements out at random while training. Which ones is a function of (seed, step, operator,
 * element), so the backward pass asks again and nothing is kept. */
#include "engine/op.h"
#include "ops/ops.h"

#include <string.h>

typedef struct dropout {
    double rate;
    uint64_t stream;
} dropout;

static void drop(const pass *p, const float *from, float *to)
{
    const dropout *s = p->o->state;
    const size_t n = op_rows(p, op_out(p)) * op_out(p)->row;
    const int count = element_pieces(n);
    const uint64_t stream = (p->step << 16) + s->stream;
    const float factor = (float)(1 / (1 - s->rate));
#pragma omp parallel for num_threads(p->g->threads)
    for (int i = 0; i < count; i++) {
        const size_t first = (size_t)i * ELEMENTS, end = first + element_count(n, i);
        for (size_t k = first; k < end; k++)
            to[k] = random_unit(p->g->seed, FOR_DROPOUT, stream, k) < s->rate ? 0.0f : from[k] * factor;
    }
}

static void dropout_forward(const pass *p)
{
    if (p->training)
        drop(p, p->x[0], p->y);
    else
        memcpy(p->y, p->x[0], op_rows(p, op_out(p)) * op_out(p)->row * sizeof *p->y);
}

static void dropout_backward(const pass *p)
{
    if (p->dx[0])
        drop(p, p->dy, p->dx[0]);
}

int graph_dropout(graph *g, int x, double rate)
{
    static const op_type type = {
        .type = "dropout", .input_unread = true, .forward = dropout_forward, .backward = dropout_backward};
    op *o = op_same(g, &type, x, sizeof(dropout));
    if (!(rate >= 0 && rate < 1))
        op_refuse(g, "%s: a rate of %g", o->name, rate);
    *(dropout *)o->state = (dropout){rate, (uint64_t)graph_ops(g)};
    return o->output;
}
