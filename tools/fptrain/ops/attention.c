/* SPDX-License-Identifier: BSD-2-Clause */
/* attention.c - causal attention: of every head, Y = softmax(Q K' / sqrt(d)) V, where a step looks at itself and the
 * steps before. A row of x holds queries, keys and values side by side, each with its heads side by side. */
#include "engine/op.h"
#include "ops/functions.h"
#include "ops/ops.h"

#include <math.h>
#include <stdlib.h>

typedef struct attention {
    int heads;
    float *probability; /* (sample, head, step, step): the softmax of the last forward pass */
} attention;

typedef struct head { /* where one head of one sample lies */
    size_t x, y, probability;
} head;

static head head_of(const pass *p, int i)
{
    const attention *s = p->o->state;
    const value *x = op_in(p, 0), *y = op_out(p);
    const size_t steps = (size_t)y->rows_per_sample, sample = (size_t)(i / s->heads), k = (size_t)(i % s->heads);
    const size_t column = k * (y->row / (size_t)s->heads);
    return (head){sample * steps * x->row + column, sample * steps * y->row + column, (size_t)i * steps * steps};
}

/* Rows of scores become probabilities; what lies after the step gets none. */
static void softmax_causal(int steps, float factor, float *a)
{
    for (int t = 0; t < steps; t++, a += steps) {
        float largest = a[0], sum = 0;
        for (int i = 1; i <= t; i++)
            largest = a[i] > largest ? a[i] : largest;
        for (int i = 0; i <= t; i++)
            a[i] = (a[i] - largest) * factor;
        exp_of((size_t)t + 1, a, a);
        for (int i = 0; i <= t; i++)
            sum += a[i];
        for (int i = 0; i < steps; i++)
            a[i] = i <= t ? a[i] / sum : 0;
    }
}

static void attention_forward(const pass *p)
{
    const attention *s = p->o->state;
    const backend *b = p->g->backend;
    const value *x = op_in(p, 0), *y = op_out(p);
    const int steps = y->rows_per_sample, in = (int)x->row, out = (int)y->row, d = out / s->heads;
    const float factor = (float)(1 / sqrt((double)d));
    const int count = p->samples * s->heads;
#pragma omp parallel for num_threads(p->g->threads)
    for (int i = 0; i < count; i++) {
        const head h = head_of(p, i);
        const float *q = p->x[0] + h.x, *k = q + out, *v = k + out;
        float *probability = s->probability + h.probability;
        b->gemm(b, false, true, steps, steps, d, q, in, k, in, false, probability, steps);
        softmax_causal(steps, factor, probability);
        b->gemm(b, false, false, steps, d, steps, probability, steps, v, in, false, p->y + h.y, out);
    }
}

/* Gradients of probabilities become those of scores. */
static void softmax_back(int steps, float factor, const float *probability, float *d)
{
    for (int t = 0; t < steps; t++, probability += steps, d += steps) {
        float sum = 0;
        for (int i = 0; i <= t; i++)
            sum += probability[i] * d[i];
        for (int i = 0; i < steps; i++)
            d[i] = probability[i] * (d[i] - sum) * factor;
    }
}

static void attention_backward(const pass *p)
{
    const attention *s = p->o->state;
    const backend *b = p->g->backend;
    const value *x = op_in(p, 0), *y = op_out(p);
    const int steps = y->rows_per_sample, in = (int)x->row, out = (int)y->row, width = out / s->heads;
    const float factor = (float)(1 / sqrt((double)width));
    const int count = p->dx[0] ? p->samples * s->heads : 0;
#pragma omp parallel for num_threads(p->g->threads)
    for (int i = 0; i < count; i++) {
        const head h = head_of(p, i);
        const float *q = p->x[0] + h.x, *k = q + out, *v = k + out, *dy = p->dy + h.y;
        const float *probability = s->probability + h.probability;
        float *dq = p->dx[0] + h.x, *dk = dq + out, *dv = dk + out, *d = p->g->scratch + h.probability;
        b->gemm(b, true, false, steps, width, steps, probability, steps, dy, out, false, dv, in);
        b->gemm(b, false, true, steps, steps, width, dy, out, v, in, false, d, steps);
        softmax_back(steps, factor, probability, d);
        b->gemm(b, false, false, steps, width, steps, d, steps, k, in, false, dq, in);
        b->gemm(b, true, false, steps, width, steps, d, steps, q, in, false, dk, in);
    }
}

static op_needs attention_needs(const graph *g, const op *o, int batch)
{
    const size_t steps = (size_t)g->value[o->output]->rows_per_sample;
    const size_t n = (size_t)batch * (size_t)((const attention *)o->state)->heads * steps * steps;
    return (op_needs){n, n};
}

static void attention_finish(graph *g, op *o)
{
    ((attention *)o->state)->probability = need(attention_needs(g, o, g->batch).kept, sizeof(float));
}

static void attention_free(op *o)
{
    free(((attention *)o->state)->probability);
}

int graph_attention(graph *g, int x, int heads)
{
    static const op_type type = {.type = "attention",
                                 .gemm = true,
                                 .needs = attention_needs,
                                 .finish = attention_finish,
                                 .forward = attention_forward,
                                 .backward = attention_backward,
                                 .free = attention_free};
    op *o = op_new(g, &type, 1, &x, sizeof(attention));
    const value *v = g->value[x];
    if (heads < 1 || v->c % (3 * heads) || v->h != 1 || v->w != 1)
        op_refuse(g, "%s: queries, keys and values of %d heads in %d x %d x %d", o->name, heads, v->c, v->h, v->w);
    ((attention *)o->state)->heads = heads;
    o->fan = v->rows_per_sample;
    o->macs = 2.0 * v->c / 3 * v->rows_per_sample * v->rows_per_sample;
    return op_output(g, o, v->c / 3, 1, 1, v->rows_per_sample);
}
