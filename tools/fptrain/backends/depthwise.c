/* SPDX-License-Identifier: BSD-2-Clause */
/* depthwise.c - convolutions with one channel a group: no product of matrices, but loops over lines. Every
 * plane is copied into one with its padding, so that no line needs a test of its borders. */
#include "backends/depthwise.h"

#include <string.h>

bool depthwise(const conv_shape *s)
{
    return s->groups == s->c && s->groups == s->k;
}

static int high(const conv_shape *s)
{
    return s->h + 2 * s->padding;
}

static int wide(const conv_shape *s)
{
    return s->w + 2 * s->padding;
}

/* Weights of a channel: those of all channels can be more than an int counts. */
static size_t area(const conv_shape *s)
{
    return (size_t)s->r * (size_t)s->r;
}

size_t depthwise_room(const conv_shape *s)
{
    return (size_t)high(s) * (size_t)wide(s);
}

static void pad(const conv_shape *s, const float *x, float *room)
{
    for (int i = 0; i < s->h; i++)
        memcpy(room + (i + s->padding) * wide(s) + s->padding, x + i * s->w, (size_t)s->w * sizeof *x);
}

WIDE static void line_forward(int n, int stride, float w, const float *restrict x, float *restrict y)
{
    if (stride == 1)
#pragma omp simd
        for (int j = 0; j < n; j++)
            y[j] += w * x[j];
    else
#pragma omp simd
        for (int j = 0; j < n; j++)
            y[j] += w * x[j * stride];
}

WIDE static void line_backward(int n, int stride, float w, const float *restrict dy, float *restrict dx)
{
    if (stride == 1)
#pragma omp simd
        for (int j = 0; j < n; j++)
            dx[j] += w * dy[j];
    else
        for (int j = 0; j < n; j++)
            dx[j * stride] += w * dy[j];
}

/* Sums in eight lanes, which the caller adds up in a fixed order. */
WIDE static void line_product(int n, int stride, const float *restrict x, const float *restrict dy,
                              float *restrict lane)
{
    int j = 0;
    for (; j + 8 <= n; j += 8)
#pragma omp simd
        for (int k = 0; k < 8; k++)
            lane[k] += x[(j + k) * stride] * dy[j + k];
    for (; j < n; j++)
        lane[j % 8] += x[j * stride] * dy[j];
}

void depthwise_forward(const conv_shape *s, int n, const float *x, const float *w, float *y, float *room)
{
    const size_t in = (size_t)s->h * (size_t)s->w, out = (size_t)s->oh * (size_t)s->ow;
    memset(room, 0, depthwise_room(s) * sizeof *room);
    for (int i = 0; i < n * s->c; i++) {
        const float *weights = w + (size_t)(i % s->c) * area(s);
        float *to = y + (size_t)i * out;
        pad(s, x + (size_t)i * in, room);
        memset(to, 0, out * sizeof *to);
        for (int line = 0; line < s->oh; line++, to += s->ow)
            for (int k = 0; k < s->r * s->r; k++)
                line_forward(s->ow, s->stride, weights[k], room + (line * s->stride + k / s->r) * wide(s) + k % s->r,
                             to);
    }
}

void depthwise_backward_data(const conv_shape *s, int n, const float *dy, const float *w, float *dx, float *room)
{
    const size_t in = (size_t)s->h * (size_t)s->w, out = (size_t)s->oh * (size_t)s->ow;
    for (int i = 0; i < n * s->c; i++) {
        const float *weights = w + (size_t)(i % s->c) * area(s), *from = dy + (size_t)i * out;
        float *to = dx + (size_t)i * in;
        memset(room, 0, depthwise_room(s) * sizeof *room);
        for (int line = 0; line < s->oh; line++, from += s->ow)
            for (int k = 0; k < s->r * s->r; k++)
                line_backward(s->ow, s->stride, weights[k], from,
                              room + (line * s->stride + k / s->r) * wide(s) + k % s->r);
        for (int line = 0; line < s->h; line++)
            memcpy(to + line * s->w, room + (line + s->padding) * wide(s) + s->padding, (size_t)s->w * sizeof *to);
    }
}

void depthwise_backward_weights(const conv_shape *s, int n, const float *x, const float *dy, float *dw, float *room)
{
    const size_t in = (size_t)s->h * (size_t)s->w, out = (size_t)s->oh * (size_t)s->ow;
    memset(room, 0, depthwise_room(s) * sizeof *room);
    memset(dw, 0, (size_t)s->c * area(s) * sizeof *dw);
    for (int i = 0; i < n * s->c; i++) {
        float *to = dw + (size_t)(i % s->c) * area(s);
        pad(s, x + (size_t)i * in, room);
        for (int k = 0; k < s->r * s->r; k++) {
            float lane[8] = {0};
            for (int line = 0; line < s->oh; line++)
                line_product(s->ow, s->stride, room + (line * s->stride + k / s->r) * wide(s) + k % s->r,
                             dy + (size_t)i * out + line * s->ow, lane);
            to[k] += ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
        }
    }
}
