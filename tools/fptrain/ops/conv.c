/* SPDX-License-Identifier: BSD-2-Clause */
/* conv.c - convolutions: the batch in pieces, each computed by one thread through the backend. */
#include "engine/op.h"
#include "ops/ops.h"

#include <limits.h>
#include <math.h>
#include <string.h>

typedef struct conv_state {
    conv_shape shape;
    conv *prepared;
    const backend *backend;
    int most; /* pieces whose gradients of weights are kept apart at a time */
} conv_state;

/* Samples that one thread takes at a time. */
enum { CONV_SAMPLES = 8 };

/* Pieces of the sum over the batch: more of them keep more threads busy, but each needs room for all weights. */
static int weight_piece(const conv_state *s, int samples)
{
    const int size = (samples + s->most - 1) / s->most;
    return size < CONV_SAMPLES && s->most > 1 ? CONV_SAMPLES : size;
}

static size_t weight_count(const conv_shape *c)
{
    return (size_t)c->k * (size_t)(c->c / c->groups) * (size_t)c->r * (size_t)c->r;
}

WIDE static void raise(size_t n, float by, float *y)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] += by;
}

static void conv_pass_forward(const pass *p)
{
    const conv_state *s = p->o->state;
    const backend *b = p->g->backend;
    const value *x = op_in(p, 0), *y = op_out(p);
    const int rows = (int)op_rows(p, y), count = pieces(rows, CONV_SAMPLES);
    const size_t area = (size_t)y->h * (size_t)y->w;
    op_products(p, op_step(p, ROLE_V, p->o->input[0]), op_step(p, ROLE_W, p->o->first_param));
#pragma omp parallel for num_threads(p->g->threads) schedule(dynamic)
    for (int i = 0; i < count; i++) {
        const size_t at = (size_t)i * CONV_SAMPLES;
        const int here = piece_length(rows, CONV_SAMPLES, i);
        float *to = p->y + at * y->row;
        b->conv_forward(b, s->prepared, here, p->x[0] + at * x->row, p->w[0], to);
        if (p->o->params > 1)
            for (int k = 0; k < here * y->c; k++)
                raise(area, p->w[1][k % y->c], to + (size_t)k * area);
    }
}

WIDE static double plain_sum(size_t n, const float *x)
{
    double s[8] = {0};
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
#pragma omp simd
        for (size_t k = 0; k < 8; k++)
            s[k] += (double)x[i + k];
    for (; i < n; i++)
        s[i % 8] += (double)x[i];
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

static void bias_gradient(const pass *p)
{
    const value *y = op_out(p);
    const size_t rows = op_rows(p, y), area = (size_t)y->h * (size_t)y->w;
#pragma omp parallel for num_threads(p->g->threads)
    for (int k = 0; k < y->c; k++) {
        double sum = 0;
        for (size_t r = 0; r < rows; r++)
            sum += plain_sum(area, p->dy + r * y->row + (size_t)k * area);
        p->dw[1][k] = (float)sum;
    }
}

WIDE static void add_to(size_t n, const float *restrict x, float *restrict y)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] += x[i];
}

/* Adds up the pieces in their order; the first one is already in dw. */
static void add_pieces(const pass *p, int count, size_t n)
{
    const int parts = count > 1 ? element_pieces(n) : 0;
#pragma omp parallel for num_threads(p->g->threads)
    for (int i = 0; i < parts; i++)
        for (int k = 0; k + 1 < count; k++) {
            const size_t at = (size_t)i * ELEMENTS;
            add_to(element_count(n, i), p->g->scratch + (size_t)k * n + at, p->dw[0] + at);
        }
}

static void weight_gradient(const pass *p)
{
    const conv_state *s = p->o->state;
    const backend *b = p->g->backend;
    const value *x = op_in(p, 0), *y = op_out(p);
    const int rows = (int)op_rows(p, y), size = weight_piece(s, rows), count = pieces(rows, size);
    const size_t n = weight_count(&s->shape);
    op_products(p, op_step(p, ROLE_V, p->o->input[0]), op_step(p, ROLE_DV, p->o->output));
#pragma omp parallel for num_threads(p->g->threads) schedule(dynamic)
    for (int i = 0; i < count; i++) {
        const size_t at = (size_t)i * (size_t)size;
        float *to = i ? p->g->scratch + (size_t)(i - 1) * n : p->dw[0];
        b->conv_backward_weights(b, s->prepared, piece_length(rows, size, i), p->x[0] + at * x->row,
                                 p->dy + at * y->row, to);
    }
    add_pieces(p, count, n);
}

static void conv_parameters(const pass *p)
{
    weight_gradient(p);
    if (p->o->params > 1)
        bias_gradient(p);
}

static void conv_input(const pass *p)
{
    const conv_state *s = p->o->state;
    const backend *b = p->g->backend;
    const value *x = op_in(p, 0), *y = op_out(p);
    const int rows = (int)op_rows(p, y), count = p->dx[0] ? pieces(rows, CONV_SAMPLES) : 0;
    op_products(p, op_step(p, ROLE_DV, p->o->output), op_step(p, ROLE_W, p->o->first_param));
#pragma omp parallel for num_threads(p->g->threads) schedule(dynamic)
    for (int i = 0; i < count; i++) {
        const size_t at = (size_t)i * CONV_SAMPLES;
        b->conv_backward_data(b, s->prepared, piece_length(rows, CONV_SAMPLES, i), p->passed + at * y->row, p->w[0],
                              p->dx[0] + at * x->row);
    }
}

static void conv_pass_backward(const pass *p)
{
    conv_parameters(p);
    conv_input(p);
}

static int most_pieces(const graph *g, const conv_state *s)
{
    const size_t n = weight_count(&s->shape), room = (size_t)1 << 22;
    return g->backend && g->backend->whole ? 1 : n * 16 <= room ? 16 : n * 4 >= room ? 4 : (int)(room / n);
}

static op_needs conv_needs(const graph *g, const op *o, int batch)
{
    const conv_state *s = o->state;
    (void)batch;
    return (op_needs){0, (size_t)(most_pieces(g, s) - 1) * weight_count(&s->shape)};
}

static void conv_finish(graph *g, op *o)
{
    conv_state *s = o->state;
    s->most = most_pieces(g, s);
    s->shape.n = CONV_SAMPLES;
    s->backend = g->backend;
    s->prepared = g->backend->conv_new(g->backend, &s->shape);
}

static void conv_state_free(op *o)
{
    conv_state *s = o->state;
    if (s->prepared)
        s->backend->conv_free(s->backend, s->prepared);
}

int graph_conv(graph *g, int x, const conv_spec *spec)
{
    static const op_type type = {.type = "conv",
                                 .gemm = true,
                                 .weighs = true,
                                 .needs = conv_needs,
                                 .finish = conv_finish,
                                 .forward = conv_pass_forward,
                                 .backward = conv_pass_backward,
                                 .forward_parts = {NULL, conv_pass_forward, CONV_SAMPLES},
                                 .backward_parts = {conv_parameters, conv_input, CONV_SAMPLES},
                                 .free = conv_state_free};
    op *o = op_new(g, &type, 1, &x, sizeof(conv_state));
    const value *v = g->value[x];
    const int stride = spec->stride ? spec->stride : 1, groups = spec->groups ? spec->groups : 1;
    if (spec->channels < 1 || spec->kernel < 1 || stride < 1 || spec->padding < 0 || groups < 1)
        op_refuse(g, "%s: %d channels, kernel %d, stride %d, padding %d", o->name, spec->channels, spec->kernel, stride,
                  spec->padding);
    if (v->c % groups || spec->channels % groups)
        op_refuse(g, "%s: %d and %d channels in %d groups", o->name, v->c, spec->channels, groups);
    if (v->h + 2 * spec->padding < spec->kernel || v->w + 2 * spec->padding < spec->kernel)
        op_refuse(g, "%s: its input, %d x %d, is smaller than the kernel", o->name, v->h, v->w);
    const int oh = (v->h + 2 * spec->padding - spec->kernel) / stride + 1;
    const int ow = (v->w + 2 * spec->padding - spec->kernel) / stride + 1;
    const int y = op_output(g, o, spec->channels, oh, ow, v->rows_per_sample);
    const int dim[4] = {spec->channels, v->c / groups, spec->kernel, spec->kernel};
    const double area = (double)spec->kernel * spec->kernel;
    const int widest = dim[1] > spec->channels / groups ? dim[1] : spec->channels / groups;
    if (widest * area > INT_MAX) /* the rows of a matrix of windows, forward or backward */
        op_refuse(g, "%s: a kernel of %d x %d over %d channels is too large", o->name, spec->kernel, spec->kernel,
                  widest);
    op_param(g, o, PARAM_WEIGHT, "weight", 4, dim, 0, sqrt(2 / (spec->channels / groups * area)));
    if (spec->bias)
        op_param(g, o, PARAM_BIAS, "bias", 1, dim, 0, 0);
    ((conv_state *)o->state)->shape = (conv_shape){.c = v->c,
                                                   .h = v->h,
                                                   .w = v->w,
                                                   .k = spec->channels,
                                                   .r = spec->kernel,
                                                   .stride = stride,
                                                   .padding = spec->padding,
                                                   .groups = groups,
                                                   .oh = oh,
                                                   .ow = ow};
    o->fan = spec->channels * area;
    o->macs = (double)oh * ow * spec->channels * dim[1] * area * v->rows_per_sample;
    return y;
}
