/* SPDX-License-Identifier: BSD-2-Clause */
/* pool.c - maxima and means over windows, and the mean over a whole channel. */
#include "engine/op.h"
#include "ops/ops.h"

#include <string.h>

/* The window of output (i, j), cut to the input. */
typedef struct window {
    int top, bottom, left, right;
} window;

static window window_of(const pool_spec *s, const value *x, int i, int j)
{
    const int y0 = i * s->stride - s->padding, x0 = j * s->stride - s->padding;
    return (window){y0 < 0 ? 0 : y0, y0 + s->kernel < x->h ? y0 + s->kernel : x->h, x0 < 0 ? 0 : x0,
                    x0 + s->kernel < x->w ? x0 + s->kernel : x->w};
}

/* ---------------------------------------------------------------------------------------------- maximum */

/* Whether b is taken in place of an earlier a: the first maximum counts, and a NaN once met stays. */
static inline bool beats(float b, float a)
{
    return (b > a) | (b != b);
}

/* a or b, as b beats a or not. Two steps, for compilers that make vectors of no other form. */
static inline float choose(float b, float a, float if_b, float if_a)
{
    const float larger = b > a ? if_b : if_a;
    return b != b ? if_b : larger;
}

/* The commonest window by far, 2 x 2 at stride 2, without a test of any border. */
WIDE static void max_2x2(int h, int w, int xw, const float *restrict x, float *restrict y)
{
    for (int i = 0; i < h; i++, x += 2 * xw, y += w) {
        const float *below = x + xw;
#pragma omp simd
        for (int j = 0; j < w; j++) {
            const float p = x[2 * j], q = x[2 * j + 1], r = below[2 * j], s = below[2 * j + 1];
            const float top = choose(q, p, q, p), low = choose(s, r, s, r);
            y[j] = choose(low, top, low, top);
        }
    }
}

WIDE static void max_2x2_back(int h, int w, int xw, const float *restrict x, const float *restrict dy,
                              float *restrict dx)
{
    for (int i = 0; i < h; i++, x += 2 * xw, dx += 2 * xw, dy += w) {
        const float *below = x + xw;
        float *to = dx + xw;
#pragma omp simd
        for (int j = 0; j < w; j++) {
            const float p = x[2 * j], q = x[2 * j + 1], r = below[2 * j], s = below[2 * j + 1], d = dy[j];
            const float top = choose(q, p, q, p), low = choose(s, r, s, r);
            const float up = choose(low, top, 0, d), down = choose(low, top, d, 0);
            dx[2 * j] = choose(q, p, 0, up);
            dx[2 * j + 1] = choose(q, p, up, 0);
            to[2 * j] = choose(s, r, 0, down);
            to[2 * j + 1] = choose(s, r, down, 0);
        }
    }
}

static bool halves(const pool_spec *s)
{
    return s->kernel == 2 && s->stride == 2 && s->padding == 0;
}

/* Where the maximum of a window is in its channel. */
static int place_of_max(const float *x, int width, window a)
{
    int at = a.top * width + a.left;
    for (int r = a.top; r < a.bottom; r++)
        for (int c = a.left; c < a.right; c++)
            if (beats(x[r * width + c], x[at]))
                at = r * width + c;
    return at;
}

static void max_forward(const pass *p)
{
    const pool_spec *s = p->o->state;
    const value *x = op_in(p, 0), *y = op_out(p);
    const int planes = (int)op_rows(p, y) * y->c;
    const size_t in = (size_t)x->h * (size_t)x->w, out = (size_t)y->h * (size_t)y->w;
#pragma omp parallel for num_threads(p->g->threads)
    for (int k = 0; k < planes; k++) {
        const float *from = p->x[0] + (size_t)k * in;
        float *to = p->y + (size_t)k * out;
        if (halves(s))
            max_2x2(y->h, y->w, x->w, from, to);
        for (int i = 0; i < y->h * y->w && !halves(s); i++)
            to[i] = from[place_of_max(from, x->w, window_of(s, x, i / y->w, i % y->w))];
    }
}

static void max_backward(const pass *p)
{
    const pool_spec *s = p->o->state;
    const value *x = op_in(p, 0), *y = op_out(p);
    const int planes = p->dx[0] ? (int)op_rows(p, y) * y->c : 0;
    const size_t in = (size_t)x->h * (size_t)x->w, out = (size_t)y->h * (size_t)y->w;
    const bool covered = halves(s) && x->h % 2 == 0 && x->w % 2 == 0; /* every element is in a window */
#pragma omp parallel for num_threads(p->g->threads)
    for (int k = 0; k < planes; k++) {
        const float *from = p->x[0] + (size_t)k * in, *dy = p->dy + (size_t)k * out;
        float *dx = p->dx[0] + (size_t)k * in;
        if (!covered)
            memset(dx, 0, in * sizeof *dx);
        if (halves(s))
            max_2x2_back(y->h, y->w, x->w, from, dy, dx);
        for (int i = 0; i < y->h * y->w && !halves(s); i++)
            dx[place_of_max(from, x->w, window_of(s, x, i / y->w, i % y->w))] += dy[i];
    }
}

/* ---------------------------------------------------------------------------------------------- mean */

static void mean_forward(const pass *p)
{
    const pool_spec *s = p->o->state;
    const value *x = op_in(p, 0), *y = op_out(p);
    const int planes = (int)op_rows(p, y) * y->c;
    const size_t in = (size_t)x->h * (size_t)x->w, out = (size_t)y->h * (size_t)y->w;
    const float factor = 1.0f / (float)(s->kernel * s->kernel);
#pragma omp parallel for num_threads(p->g->threads)
    for (int k = 0; k < planes; k++) {
        const float *from = p->x[0] + (size_t)k * in;
        float *to = p->y + (size_t)k * out;
        for (int i = 0; i < y->h; i++)
            for (int j = 0; j < y->w; j++) {
                const window a = window_of(s, x, i, j);
                float sum = 0;
                for (int r = a.top; r < a.bottom; r++)
                    for (int c = a.left; c < a.right; c++)
                        sum += from[r * x->w + c];
                *to++ = sum * factor;
            }
    }
}

static void mean_backward(const pass *p)
{
    const pool_spec *s = p->o->state;
    const value *x = op_in(p, 0), *y = op_out(p);
    const int planes = p->dx[0] ? (int)op_rows(p, y) * y->c : 0;
    const size_t in = (size_t)x->h * (size_t)x->w, out = (size_t)y->h * (size_t)y->w;
    const float factor = 1.0f / (float)(s->kernel * s->kernel);
#pragma omp parallel for num_threads(p->g->threads)
    for (int k = 0; k < planes; k++) {
        const float *from = p->dy + (size_t)k * out;
        float *to = p->dx[0] + (size_t)k * in;
        memset(to, 0, in * sizeof *to);
        for (int i = 0; i < y->h; i++)
            for (int j = 0; j < y->w; j++) {
                const window a = window_of(s, x, i, j);
                const float part = *from++ * factor;
                for (int r = a.top; r < a.bottom; r++)
                    for (int c = a.left; c < a.right; c++)
                        to[r * x->w + c] += part;
            }
    }
}

static int add_pool(graph *g, int x, const pool_spec *spec, const op_type *type)
{
    op *o = op_new(g, type, 1, &x, sizeof(pool_spec));
    pool_spec s = *spec;
    s.stride = s.stride ? s.stride : s.kernel;
    const value *v = g->value[x];
    /* Every window then holds an element of the input. */
    if (s.kernel < 1 || s.stride < 1 || s.padding < 0 || 2 * s.padding > s.kernel)
        op_refuse(g, "%s: kernel %d, stride %d, padding %d", o->name, s.kernel, s.stride, s.padding);
    if (v->h + 2 * s.padding < s.kernel || v->w + 2 * s.padding < s.kernel)
        op_refuse(g, "%s: its input, %d x %d, is smaller than the window", o->name, v->h, v->w);
    *(pool_spec *)o->state = s;
    return op_output(g, o, v->c, (v->h + 2 * s.padding - s.kernel) / s.stride + 1,
                     (v->w + 2 * s.padding - s.kernel) / s.stride + 1, v->rows_per_sample);
}

int graph_max_pool(graph *g, int x, const pool_spec *spec)
{
    static const op_type type = {.type = "max_pool", .forward = max_forward, .backward = max_backward};
    return add_pool(g, x, spec, &type);
}

int graph_average_pool(graph *g, int x, const pool_spec *spec)
{
    static const op_type type = {
        .type = "average_pool", .input_unread = true, .forward = mean_forward, .backward = mean_backward};
    return add_pool(g, x, spec, &type);
}

/* ---------------------------------------------------------------------------------------------- whole channels */

/* Eight sums side by side, added up in a fixed order. */
WIDE static float sum_of(size_t n, const float *x)
{
    float lane[8] = {0};
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
#pragma omp simd
        for (int k = 0; k < 8; k++)
            lane[k] += x[i + (size_t)k];
    for (; i < n; i++)
        lane[i % 8] += x[i];
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

static void global_forward(const pass *p)
{
    const value *x = op_in(p, 0);
    const int planes = (int)op_rows(p, x) * x->c;
    const size_t area = (size_t)x->h * (size_t)x->w;
#pragma omp parallel for num_threads(p->g->threads)
    for (int k = 0; k < planes; k++)
        p->y[k] = sum_of(area, p->x[0] + (size_t)k * area) / (float)area;
}

static void global_backward(const pass *p)
{
    const value *x = op_in(p, 0);
    const int planes = p->dx[0] ? (int)op_rows(p, x) * x->c : 0;
    const size_t area = (size_t)x->h * (size_t)x->w;
#pragma omp parallel for num_threads(p->g->threads)
    for (int k = 0; k < planes; k++) {
        const float part = p->dy[k] / (float)area;
        float *dx = p->dx[0] + (size_t)k * area;
        for (size_t i = 0; i < area; i++)
            dx[i] = part;
    }
}

int graph_global_pool(graph *g, int x)
{
    static const op_type type = {
        .type = "global_pool", .input_unread = true, .forward = global_forward, .backward = global_backward};
    op *o = op_new(g, &type, 1, &x, 0);
    return op_output(g, o, g->value[x]->c, 1, 1, g->value[x]->rows_per_sample);
}
