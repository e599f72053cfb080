/* SPDX-License-Identifier: BSD-2-Clause */
/* lowered.c - convolutions as products of matrices: each sample's windows are laid out as columns, (c r r) x
 * (oh ow), and meet the weights, k x (c r r). */
#include "backends/lowered.h"
#include "backends/depthwise.h"
#include "backends/free_list.h"

#include <stdlib.h>
#include <string.h>

struct conv {
    conv_shape s;
    bool direct; /* depthwise */
    bool plain;  /* 1 x 1 at stride 1: the columns are the input itself */
    size_t size; /* floats of scratch memory */
};

typedef struct sizes {
    int in, out;       /* channels of a group */
    int rows, columns; /* of the matrix of windows of a group */
    size_t x, y, w;    /* elements of a group */
} sizes;

static sizes sizes_of(const conv_shape *s)
{
    sizes z = {.in = s->c / s->groups, .out = s->k / s->groups, .columns = s->oh * s->ow};
    z.rows = z.in * s->r * s->r;
    z.x = (size_t)z.in * (size_t)s->h * (size_t)s->w;
    z.y = (size_t)z.out * (size_t)z.columns;
    z.w = (size_t)z.out * (size_t)z.rows;
    return z;
}

/* One row of the matrix: element (ky, kx) of every window of a channel. */
static void window_row(const conv_shape *s, const float *x, int ky, int kx, float *to)
{
    const int before = s->padding - kx; /* columns j < before / stride lie left of the input */
    int first = before <= 0 ? 0 : (before + s->stride - 1) / s->stride;
    int end = s->w + before <= 0 ? 0 : (s->w + before - 1) / s->stride + 1;
    first = first > s->ow ? s->ow : first;
    end = end > s->ow ? s->ow : end < first ? first : end;
    for (int i = 0; i < s->oh; i++, to += s->ow) {
        const int line = i * s->stride + ky - s->padding;
        if (line < 0 || line >= s->h) {
            memset(to, 0, (size_t)s->ow * sizeof *to);
            continue;
        }
        const float *from = x + line * s->w;
        for (int j = 0; j < first; j++)
            to[j] = 0;
        if (s->stride == 1)
            memcpy(to + first, from + (first - before), (size_t)(end - first) * sizeof *to);
        else
            for (int j = first; j < end; j++)
                to[j] = from[j * s->stride - before];
        for (int j = end; j < s->ow; j++)
            to[j] = 0;
    }
}

static void windows(const conv_shape *s, const sizes *z, const float *x, size_t stride, float *columns)
{
    for (int row = 0; row < z->rows; row++) {
        const int channel = row / (s->r * s->r), place = row % (s->r * s->r);
        float *to = columns + (size_t)row * stride;
        window_row(s, x + (size_t)channel * (size_t)s->h * (size_t)s->w, place / s->r, place % s->r, to);
    }
}

/* Back: adds every element of the matrix to where it came from. */
static void windows_back(const conv_shape *s, const sizes *z, const float *columns, float *x)
{
    memset(x, 0, z->x * sizeof *x);
    for (int row = 0; row < z->rows; row++) {
        const int channel = row / (s->r * s->r), place = row % (s->r * s->r);
        const int ky = place / s->r - s->padding, kx = place % s->r - s->padding;
        float *to = x + (size_t)channel * (size_t)s->h * (size_t)s->w;
        for (int i = 0; i < s->oh; i++, columns += s->ow) {
            const int line = i * s->stride + ky;
            if (line < 0 || line >= s->h)
                continue;
            for (int j = 0; j < s->ow; j++) {
                const int column = j * s->stride + kx;
                if (column >= 0 && column < s->w)
                    to[line * s->w + column] += columns[j];
            }
        }
    }
}

/* All convolutions of a backend share it. */
static float *take_room(const backend *b, const conv *c)
{
    return scratch_take(b->scratch, c->size * sizeof(float));
}

static conv *lowered_new(const backend *b, const conv_shape *shape)
{
    conv *c = need(1, sizeof *c);
    c->s = *shape;
    c->direct = !b->whole && depthwise(shape);
    c->plain = shape->r == 1 && shape->stride == 1 && shape->padding == 0;
    const sizes z = sizes_of(shape);
    c->size = c->direct ? depthwise_room(shape) : c->plain ? 0 : (size_t)z.rows * (size_t)z.columns;
    return c;
}

static void lowered_free(const backend *b, conv *c)
{
    (void)b;
    free(c);
}

static void lowered_forward(const backend *b, conv *c, int n, const float *x, const float *w, float *y)
{
    const conv_shape *s = &c->s;
    const sizes z = sizes_of(s);
    float *room = take_room(b, c);
    if (c->direct)
        depthwise_forward(s, n, x, w, y, room);
    for (int i = 0; i < n * s->groups && !c->direct; i++) {
        const float *from = x + (size_t)i * z.x, *weights = w + (size_t)(i % s->groups) * z.w;
        if (!c->plain)
            windows(s, &z, from, (size_t)z.columns, room);
        b->gemm(b, false, false, z.out, z.columns, z.rows, weights, z.rows, c->plain ? from : room, z.columns, false,
                y + (size_t)i * z.y, z.columns);
    }
    scratch_give(b->scratch, room);
}

static void lowered_backward_data(const backend *b, conv *c, int n, const float *dy, const float *w, float *dx)
{
    const conv_shape *s = &c->s;
    const sizes z = sizes_of(s);
    float *room = take_room(b, c);
    if (c->direct)
        depthwise_backward_data(s, n, dy, w, dx, room);
    for (int i = 0; i < n * s->groups && !c->direct; i++) {
        const float *weights = w + (size_t)(i % s->groups) * z.w;
        float *to = dx + (size_t)i * z.x;
        b->gemm(b, true, false, z.rows, z.columns, z.out, weights, z.rows, dy + (size_t)i * z.y, z.columns, false,
                c->plain ? to : room, z.columns);
        if (!c->plain)
            windows_back(s, &z, room, to);
    }
    scratch_give(b->scratch, room);
}

/* The sum over all samples as one product, for backends that must not cut it. */
static void weights_whole(const backend *b, const conv_shape *s, int n, const float *x, const float *dy, float *dw)
{
    const sizes z = sizes_of(s);
    const size_t length = (size_t)n * (size_t)z.columns, line = (size_t)z.columns;
    float *columns = need_room((size_t)z.rows * length, sizeof *columns);
    float *d = need_room((size_t)z.out * length, sizeof *d);
    for (int g = 0; g < s->groups; g++) {
        for (int i = 0; i < n; i++) {
            const size_t at = (size_t)i * (size_t)s->groups + (size_t)g;
            windows(s, &z, x + at * z.x, length, columns + (size_t)i * line);
            for (int k = 0; k < z.out; k++)
                memcpy(d + (size_t)k * length + (size_t)i * line, dy + at * z.y + (size_t)k * line, line * sizeof *d);
        }
        b->gemm(b, false, true, z.out, z.rows, (int)length, d, (int)length, columns, (int)length, false,
                dw + (size_t)g * z.w, z.rows);
    }
    free(columns);
    free(d);
}

static void lowered_backward_weights(const backend *b, conv *c, int n, const float *x, const float *dy, float *dw)
{
    const conv_shape *s = &c->s;
    const sizes z = sizes_of(s);
    if (b->whole) {
        weights_whole(b, s, n, x, dy, dw);
        return;
    }
    float *room = take_room(b, c);
    if (c->direct)
        depthwise_backward_weights(s, n, x, dy, dw, room);
    for (int i = 0; i < n * s->groups && !c->direct; i++) {
        const float *from = x + (size_t)i * z.x;
        if (!c->plain)
            windows(s, &z, from, (size_t)z.columns, room);
        b->gemm(b, false, true, z.out, z.rows, z.columns, dy + (size_t)i * z.y, z.columns, c->plain ? from : room,
                z.columns, i >= s->groups, dw + (size_t)(i % s->groups) * z.w, z.rows);
    }
    scratch_give(b->scratch, room);
}

void backend_lower(backend *b)
{
    b->scratch = need(1, sizeof *b->scratch);
    b->conv_new = lowered_new;
    b->conv_free = lowered_free;
    b->conv_forward = lowered_forward;
    b->conv_backward_data = lowered_backward_data;
    b->conv_backward_weights = lowered_backward_weights;
}

void backend_lower_free(backend *b)
{
    scratch_clear(b->scratch);
    free(b->scratch);
}
