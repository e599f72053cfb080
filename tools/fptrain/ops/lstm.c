/* SPDX-License-Identifier: BSD-2-Clause */
/* lstm.c - a long short-term memory: h and c of every step from the input and h and c of the step before.
 *
 *     (i, f, g, o) = W x + R h' + b;  c = s(f) c' + s(i) tanh(g);  h = s(o) tanh(c)
 *
 * The gates are rows of W (4 hidden, inputs) and R (4 hidden, hidden) in this order. Inside, nothing is rounded: the
 * next step sees the h that was computed, and only the output as a whole is rounded. */
#include "engine/op.h"
#include "ops/functions.h"
#include "ops/ops.h"
#include "ops/products.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct lstm {
    float *gates;    /* (rows, 4 hidden) after their functions; the backward pass puts its gradients there */
    float *cell;     /* (rows, hidden) */
    float *previous; /* (rows, hidden): h of the step before, 0 at the first */
} lstm;

/* Samples that one thread takes through all steps. */
enum { LSTM_SAMPLES = 8 };

/* c = s(f) c' + s(i) tanh(g), with the functions done. */
WIDE static void cell_sum(int hidden, const float *restrict gate, const float *restrict before, float *restrict cell)
{
    const float *in = gate, *forget = gate + hidden, *new = gate + 2 * hidden;
#pragma omp simd
    for (int k = 0; k < hidden; k++)
        cell[k] = forget[k] * before[k] + in[k] * new[k];
}

WIDE static void first_cell(int hidden, const float *restrict gate, float *restrict cell)
{
#pragma omp simd
    for (int k = 0; k < hidden; k++)
        cell[k] = 0 + gate[k] * gate[2 * hidden + k];
}

WIDE static void times(int n, const float *restrict x, float *restrict y)
{
#pragma omp simd
    for (int k = 0; k < n; k++)
        y[k] = x[k] * y[k];
}

/* One step of one sample: functions of the gates, cell and output. */
static void cell_forward(int hidden, float *gate, const float *cell_before, float *cell, float *h)
{
    const size_t n = (size_t)hidden;
    sigmoid_of(2 * n, gate, gate);
    tanh_of(n, gate + 2 * n, gate + 2 * n);
    sigmoid_of(n, gate + 3 * n, gate + 3 * n);
    if (cell_before)
        cell_sum(hidden, gate, cell_before, cell);
    else
        first_cell(hidden, gate, cell);
    tanh_of(n, cell, h);
    times(hidden, gate + 3 * n, h);
}

static void samples_forward(const pass *p, int first, int count)
{
    const lstm *s = p->o->state;
    const backend *b = p->g->backend;
    const value *y = op_out(p);
    const int steps = y->rows_per_sample, hidden = y->c;
    for (int t = 0; t < steps; t++) {
        const size_t row = (size_t)first * (size_t)steps + (size_t)t;
        float *gates = s->gates + row * (size_t)hidden * 4;
        if (t > 0)
            b->gemm(b, false, true, count, 4 * hidden, hidden, s->previous + row * (size_t)hidden, steps * hidden,
                    p->w[1], hidden, true, gates, steps * 4 * hidden);
        for (int n = 0; n < count; n++) {
            const size_t at = (row + (size_t)n * (size_t)steps) * (size_t)hidden;
            cell_forward(hidden, s->gates + 4 * at, t ? s->cell + at - hidden : NULL, s->cell + at, p->y + at);
            if (t + 1 < steps)
                memcpy(s->previous + at + hidden, p->y + at, (size_t)hidden * sizeof *p->y);
        }
    }
}

static void lstm_forward(const pass *p)
{
    const lstm *s = p->o->state;
    const value *x = op_in(p, 0), *y = op_out(p);
    const int rows = (int)op_rows(p, y), in = (int)x->row, wide = 4 * y->c;
    op_gemm(p->g, false, true, rows, wide, in, p->x[0], in, p->w[0], in, false, s->gates, wide);
    op_add_bias(p->g, (size_t)rows, wide, p->w[2], s->gates);
    const int count = pieces(p->samples, LSTM_SAMPLES);
#pragma omp parallel for num_threads(p->g->threads) schedule(dynamic)
    for (int i = 0; i < count; i++)
        samples_forward(p, i * LSTM_SAMPLES, piece_length(p->samples, LSTM_SAMPLES, i));
}

/* Gradients of the gates in place of them; dcell: of the cell, from the step after and for the step before; squashed:
 * tanh of the cell. */
WIDE static void cell_backward(int hidden, float *restrict gate, const float *restrict before,
                               const float *restrict squashed, const float *restrict dh, float *restrict dcell)
{
    float *in = gate, *forget = gate + hidden, *new = gate + 2 * hidden, *out = gate + 3 * hidden;
#pragma omp simd
    for (int k = 0; k < hidden; k++) {
        const float i = in[k], f = forget[k], g = new[k], o = out[k], q = squashed[k];
        const float d = dcell[k] + dh[k] * o * (1 - q * q);
        in[k] = d * g * (i * (1 - i));
        forget[k] = d * before[k] * (f * (1 - f));
        new[k] = d * i * (1 - g * g);
        out[k] = dh[k] * q * (o * (1 - o));
        dcell[k] = d * f;
    }
}

WIDE static void add_to(int n, const float *restrict x, float *restrict y)
{
#pragma omp simd
    for (int k = 0; k < n; k++)
        y[k] += x[k];
}

static void samples_backward(const pass *p, int first, int count)
{
    const lstm *s = p->o->state;
    const backend *b = p->g->backend;
    const value *y = op_out(p);
    const int steps = y->rows_per_sample, hidden = y->c;
    const size_t wide = (size_t)hidden, samples = (size_t)p->samples;
    float *dh = p->g->scratch + (size_t)first * wide, *dcell = dh + samples * wide, *squashed = dcell + samples * wide;
    memset(dh, 0, (size_t)count * wide * sizeof *dh);
    memset(dcell, 0, (size_t)count * wide * sizeof *dcell);
    for (int t = steps - 1; t >= 0; t--) {
        const size_t row = (size_t)first * (size_t)steps + (size_t)t;
        for (int n = 0; n < count; n++) {
            const size_t at = (row + (size_t)n * (size_t)steps) * wide;
            const float *cell = s->cell + at;
            float *gate = s->gates + 4 * at;
            add_to(hidden, p->dy + at, dh + (size_t)n * wide);
            tanh_of(wide, cell, squashed);
            cell_backward(hidden, gate, t ? cell - wide : cell, squashed, dh + (size_t)n * wide,
                          dcell + (size_t)n * wide);
            if (t == 0) /* there was no cell to forget */
                memset(gate + hidden, 0, wide * sizeof *gate);
        }
        if (t > 0)
            b->gemm(b, false, false, count, hidden, 4 * hidden, s->gates + row * wide * 4, steps * 4 * hidden, p->w[1],
                    hidden, false, dh, hidden);
    }
}

static void lstm_backward(const pass *p)
{
    const lstm *s = p->o->state;
    const value *x = op_in(p, 0), *y = op_out(p);
    const int rows = (int)op_rows(p, y), in = (int)x->row, hidden = y->c, wide = 4 * hidden;
    const int count = pieces(p->samples, LSTM_SAMPLES);
#pragma omp parallel for num_threads(p->g->threads) schedule(dynamic)
    for (int i = 0; i < count; i++)
        samples_backward(p, i * LSTM_SAMPLES, piece_length(p->samples, LSTM_SAMPLES, i));
    op_gemm(p->g, true, false, wide, in, rows, s->gates, wide, p->x[0], in, false, p->dw[0], in);
    op_gemm(p->g, true, false, wide, hidden, rows, s->gates, wide, s->previous, hidden, false, p->dw[1], hidden);
    op_sum_rows(p->g, (size_t)rows, wide, s->gates, p->dw[2]);
    if (p->dx[0])
        op_gemm(p->g, false, false, rows, in, wide, s->gates, wide, p->w[0], in, false, p->dx[0], in);
}

static size_t outputs_of(const graph *g, const op *o, int batch)
{
    const value *y = g->value[o->output];
    return (size_t)batch * (size_t)y->rows_per_sample * y->row;
}

static op_needs lstm_needs(const graph *g, const op *o, int batch)
{
    return (op_needs){6 * outputs_of(g, o, batch), 3 * (size_t)batch * g->value[o->output]->row};
}

static void lstm_finish(graph *g, op *o)
{
    lstm *s = o->state;
    const size_t n = outputs_of(g, o, g->batch);
    s->gates = need(4 * n, sizeof(float));
    s->cell = need(n, sizeof(float));
    s->previous = need(n, sizeof(float));
}

static void lstm_free(op *o)
{
    lstm *s = o->state;
    free(s->gates);
    free(s->cell);
    free(s->previous);
}

int graph_lstm(graph *g, int x, int hidden)
{
    static const op_type type = {.type = "lstm",
                                 .gemm = true,
                                 .needs = lstm_needs,
                                 .finish = lstm_finish,
                                 .forward = lstm_forward,
                                 .backward = lstm_backward,
                                 .free = lstm_free};
    op *o = op_new(g, &type, 1, &x, sizeof(lstm));
    const value *v = g->value[x];
    const int in = (int)v->row, wide = 4 * hidden;
    const int y = op_output(g, o, hidden, 1, 1, v->rows_per_sample);
    const double deviation = sqrt(1.0 / (3.0 * hidden));
    op_param(g, o, PARAM_WEIGHT, "weight", 2, (int[2]){wide, in}, 0, deviation);
    op_param(g, o, PARAM_WEIGHT, "recurrent", 2, (int[2]){wide, hidden}, 0, deviation);
    op_param(g, o, PARAM_BIAS, "bias", 1, &wide, 0, 0);
    o->fan = wide;
    o->macs = (double)wide * (in + hidden) * v->rows_per_sample;
    return y;
}
