/* SPDX-License-Identifier: BSD-2-Clause */
/* norm.c - normalisation over the batch, channel by channel, and over the features of a row. All in FP32 with sums
 * in double precision; each sum is made by one thread, in the order of the elements, in fixed lanes. */
#include "engine/op.h"
#include "ops/ops.h"

#include <math.h>
#include <stdlib.h>

enum { LANES = 8 };
static const double epsilon = 1e-5, weight_of_new = 0.1;

/* ---------------------------------------------------------------------------------------------- one channel */

/* A channel is `runs` runs of n neighbouring elements, `stride` apart. */
typedef struct channel {
    size_t runs, n, stride;
} channel;

typedef struct pair {
    double a, b;
} pair;

static double lanes_sum(const double *s)
{
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* Sums of x - about and of its square. */
WIDE static pair moments(channel c, const float *x, float about)
{
    double s[LANES] = {0}, q[LANES] = {0};
    for (size_t r = 0; r < c.runs; r++, x += c.stride) {
        size_t i = 0;
        for (; i + LANES <= c.n; i += LANES)
#pragma omp simd
            for (size_t k = 0; k < LANES; k++) {
                const double v = x[i + k] - about;
                s[k] += v;
                q[k] += v * v;
            }
        for (; i < c.n; i++) {
            const double v = x[i] - about;
            s[i % LANES] += v;
            q[i % LANES] += v * v;
        }
    }
    return (pair){lanes_sum(s), lanes_sum(q)};
}

/* Sums of dy and of dy * (x - mean). */
WIDE static pair products(channel c, const float *x, const float *dy, float mean)
{
    double s[LANES] = {0}, q[LANES] = {0};
    for (size_t r = 0; r < c.runs; r++, x += c.stride, dy += c.stride) {
        size_t i = 0;
        for (; i + LANES <= c.n; i += LANES)
#pragma omp simd
            for (size_t k = 0; k < LANES; k++) {
                const double d = dy[i + k];
                s[k] += d;
                q[k] += d * (double)(x[i + k] - mean);
            }
        for (; i < c.n; i++) {
            const double d = dy[i];
            s[i % LANES] += d;
            q[i % LANES] += d * (double)(x[i] - mean);
        }
    }
    return (pair){lanes_sum(s), lanes_sum(q)};
}

/* y = (x - mean) * factor + shift */
WIDE static void stretch(channel c, const float *restrict x, float mean, float factor, float shift, float *restrict y)
{
    for (size_t r = 0; r < c.runs; r++, x += c.stride, y += c.stride)
#pragma omp simd
        for (size_t i = 0; i < c.n; i++)
            y[i] = (x[i] - mean) * factor + shift;
}

/* dx = (dy - (x - mean) * slope - level) * factor */
WIDE static void stretch_back(channel c, const float *restrict x, const float *restrict dy, float mean, float slope,
                              float level, float factor, float *restrict dx)
{
    for (size_t r = 0; r < c.runs; r++, x += c.stride, dy += c.stride, dx += c.stride)
#pragma omp simd
        for (size_t i = 0; i < c.n; i++)
            dx[i] = (dy[i] - (x[i] - mean) * slope - level) * factor;
}

/* ---------------------------------------------------------------------------------------------- batch */

typedef struct norm {
    float *mean, *inverse; /* of each channel or row: mean and 1 / deviation in the last forward pass */
    float *slope, *level;  /* of each channel in a backward pass: what stretch_back takes */
} norm;

static channel channel_of(const pass *p, const value *v)
{
    return (channel){op_rows(p, v), (size_t)v->h * (size_t)v->w, v->row};
}

/* Mean and variance of a batch; the running ones move towards them. */
static void batch_statistics(channel c, const float *x, float *running_mean, float *running_variance, norm *s, int k)
{
    const double m = (double)(c.runs * c.n);
    const float about = x[0]; /* near the mean, so that little cancels */
    const pair sum = moments(c, x, about);
    const double mean = sum.a / m, square = sum.b / m - mean * mean, variance = square < 0 ? 0 : square;
    s->mean[k] = (float)(mean + about);
    s->inverse[k] = (float)(1 / sqrt(variance + epsilon));
    const double unbiased = m > 1 ? variance * m / (m - 1) : variance;
    *running_mean = (float)((1 - weight_of_new) * *running_mean + weight_of_new * (mean + about));
    *running_variance = (float)((1 - weight_of_new) * *running_variance + weight_of_new * unbiased);
}

/* Each pass measures a channel, then makes what it puts out of it: channel by channel, or part by part. */
static void batch_measure(const pass *p, channel c, int k)
{
    if (p->training)
        batch_statistics(c, p->x[0] + (size_t)k * c.n, &p->g->buffer[p->o->first_buffer]->data[k],
                         &p->g->buffer[p->o->first_buffer + 1]->data[k], p->o->state, k);
}

static void batch_stretch(const pass *p, channel c, int k)
{
    const norm *s = p->o->state;
    const float *mean = p->g->buffer[p->o->first_buffer]->data, *variance = p->g->buffer[p->o->first_buffer + 1]->data;
    const size_t at = (size_t)k * c.n;
    const float centre = p->training ? s->mean[k] : mean[k];
    const float inverse = p->training ? s->inverse[k] : (float)(1 / sqrt((double)variance[k] + epsilon));
    stretch(c, p->x[0] + at, centre, p->w[0][k] * inverse, p->w[1][k], p->y + at);
}

static void batch_measure_back(const pass *p, channel c, int k)
{
    norm *s = p->o->state;
    const size_t at = (size_t)k * c.n;
    const double m = (double)(c.runs * c.n), inverse = s->inverse[k];
    const pair sum = products(c, p->x[0] + at, p->dy + at, s->mean[k]);
    p->dw[0][k] = (float)(sum.b * inverse);
    p->dw[1][k] = (float)sum.a;
    s->slope[k] = (float)(sum.b * inverse * inverse / m);
    s->level[k] = (float)(sum.a / m);
}

static void batch_stretch_back(const pass *p, channel c, int k)
{
    const norm *s = p->o->state;
    const size_t at = (size_t)k * c.n;
    if (p->dx[0])
        stretch_back(c, p->x[0] + at, p->dy + at, s->mean[k], s->slope[k], s->level[k], p->w[0][k] * s->inverse[k],
                     p->dx[0] + at);
}

typedef void channel_work(const pass *p, channel c, int k);

static void each_channel(const pass *p, channel_work *work, channel_work *then)
{
    const channel c = channel_of(p, op_out(p));
#pragma omp parallel for num_threads(p->g->threads)
    for (int k = 0; k < op_out(p)->c; k++) {
        work(p, c, k);
        if (then)
            then(p, c, k);
    }
}

static void batch_forward(const pass *p)
{
    each_channel(p, batch_measure, batch_stretch);
}

static void batch_forward_first(const pass *p)
{
    each_channel(p, batch_measure, NULL);
}

static void batch_forward_part(const pass *p)
{
    each_channel(p, batch_stretch, NULL);
}

static void batch_backward(const pass *p)
{
    each_channel(p, batch_measure_back, batch_stretch_back);
}

static void batch_backward_first(const pass *p)
{
    each_channel(p, batch_measure_back, NULL);
}

static void batch_backward_part(const pass *p)
{
    each_channel(p, batch_stretch_back, NULL);
}

static void norm_memory(op *o, size_t size)
{
    norm *s = o->state;
    s->mean = need(size, sizeof *s->mean);
    s->inverse = need(size, sizeof *s->inverse);
}

static void batch_finish(graph *g, op *o)
{
    norm *s = o->state;
    const size_t channels = (size_t)g->value[o->output]->c;
    norm_memory(o, channels);
    s->slope = need(channels, sizeof *s->slope);
    s->level = need(channels, sizeof *s->level);
}

static void norm_free(op *o)
{
    norm *s = o->state;
    free(s->mean);
    free(s->inverse);
    free(s->slope);
    free(s->level);
}

int graph_batch_norm(graph *g, int x)
{
    static const op_type type = {.type = "batch_norm",
                                 .finish = batch_finish,
                                 .forward = batch_forward,
                                 .backward = batch_backward,
                                 .forward_parts = {batch_forward_first, batch_forward_part, 0},
                                 .backward_parts = {batch_backward_first, batch_backward_part, 0},
                                 .free = norm_free};
    op *o = op_same(g, &type, x, sizeof(norm));
    const int c = g->value[x]->c;
    op_param(g, o, PARAM_SCALE, "scale", 1, &c, 1, 0);
    op_param(g, o, PARAM_SHIFT, "shift", 1, &c, 0, 0);
    op_buffer(g, o, "mean", (size_t)c, 0);
    op_buffer(g, o, "variance", (size_t)c, 1);
    return o->output;
}

/* ---------------------------------------------------------------------------------------------- layer */

static void layer_forward(const pass *p)
{
    norm *s = p->o->state;
    const value *v = op_out(p);
    const int rows = (int)op_rows(p, v);
    const channel c = {1, v->row, 0};
#pragma omp parallel for num_threads(p->g->threads)
    for (int r = 0; r < rows; r++) {
        const float *x = p->x[0] + (size_t)r * v->row;
        float *y = p->y + (size_t)r * v->row;
        const pair sum = moments(c, x, x[0]);
        const double mean = sum.a / (double)c.n, variance = sum.b / (double)c.n - mean * mean;
        s->mean[r] = (float)(mean + x[0]);
        s->inverse[r] = (float)(1 / sqrt((variance < 0 ? 0 : variance) + epsilon));
        for (size_t i = 0; i < c.n; i++)
            y[i] = (x[i] - s->mean[r]) * s->inverse[r] * p->w[0][i] + p->w[1][i];
    }
}

/* dx of one row: as in a batch, with dy * scale for dy. */
static void layer_row(size_t n, const float *x, const float *dy, const float *scale, float mean, float inverse,
                      float *dx)
{
    double sum = 0, moment = 0;
    for (size_t i = 0; i < n; i++) {
        const double d = dy[i] * scale[i];
        sum += d;
        moment += d * (double)(x[i] - mean);
    }
    const float level = (float)(sum / (double)n);
    const float slope = (float)(moment * (double)inverse * (double)inverse / (double)n);
    for (size_t i = 0; i < n; i++)
        dx[i] = (dy[i] * scale[i] - (x[i] - mean) * slope - level) * inverse;
}

/* Gradients of scale and shift: each thread goes through the rows in their order, with a few features at a time. */
static void layer_parameters(const pass *p)
{
    enum { FEATURES = 16 };
    const norm *s = p->o->state;
    const value *v = op_out(p);
    const int rows = (int)op_rows(p, v), features = (int)v->row, count = pieces(features, FEATURES);
#pragma omp parallel for num_threads(p->g->threads)
    for (int i = 0; i < count; i++) {
        const int first = i * FEATURES, here = piece_length(features, FEATURES, i);
        double scale[FEATURES] = {0}, shift[FEATURES] = {0};
        for (int r = 0; r < rows; r++) {
            const size_t at = (size_t)r * v->row + (size_t)first;
            for (int k = 0; k < here; k++) {
                const double d = p->dy[at + (size_t)k];
                scale[k] += d * (double)((p->x[0][at + (size_t)k] - s->mean[r]) * s->inverse[r]);
                shift[k] += d;
            }
        }
        for (int k = 0; k < here; k++) {
            p->dw[0][first + k] = (float)scale[k];
            p->dw[1][first + k] = (float)shift[k];
        }
    }
}

static void layer_backward(const pass *p)
{
    const norm *s = p->o->state;
    const value *v = op_out(p);
    const int rows = p->dx[0] ? (int)op_rows(p, v) : 0;
    layer_parameters(p);
#pragma omp parallel for num_threads(p->g->threads)
    for (int r = 0; r < rows; r++) {
        const size_t at = (size_t)r * v->row;
        layer_row(v->row, p->x[0] + at, p->dy + at, p->w[0], s->mean[r], s->inverse[r], p->dx[0] + at);
    }
}

static void layer_finish(graph *g, op *o)
{
    norm_memory(o, (size_t)g->batch * (size_t)g->value[o->output]->rows_per_sample);
}

int graph_layer_norm(graph *g, int x)
{
    static const op_type type = {.type = "layer_norm",
                                 .finish = layer_finish,
                                 .forward = layer_forward,
                                 .backward = layer_backward,
                                 .free = norm_free};
    op *o = op_same(g, &type, x, sizeof(norm));
    const int features = (int)g->value[x]->row;
    op_param(g, o, PARAM_SCALE, "scale", 1, &features, 1, 0);
    op_param(g, o, PARAM_SHIFT, "shift", 1, &features, 0, 0);
    return o->output;
}
