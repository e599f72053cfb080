/* op_pool.c - maxima and means over windows, and the mean over a whole channel. */
#include "op.h"

#include <stdlib.h>
#include <string.h>

typedef struct pool {
    pool_spec spec;
    uint16_t *where; /* of every maximum: its place in its window */
} pool;

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

/* The commonest window by far, 2 x 2 at stride 2, without a test of any border. The first maximum counts. */
WIDE static void max_2x2(int h, int w, int xw, const float *restrict x, float *restrict y, uint16_t *restrict where)
{
    for (int i = 0; i < h; i++) {
        const float *a = x + 2 * i * xw, *b = a + xw;
#pragma omp simd
        for (int j = 0; j < w; j++) {
            const float p = a[2 * j], q = a[2 * j + 1], r = b[2 * j], s = b[2 * j + 1];
            const int over = (q > p) | (q != q), under = (s > r) | (s != s);
            const float top = over ? q : p, low = under ? s : r;
            const int down = (low > top) | (low != low);
            y[i * w + j] = down ? low : top;
            where[i * w + j] = (uint16_t)(down ? 2 + under : over);
        }
    }
}

static void max_channel(const pool_spec *s, const value *x, const value *y, const float *from, float *to,
                        uint16_t *where)
{
    if (s->kernel == 2 && s->stride == 2 && s->padding == 0) {
        max_2x2(y->h, y->w, x->w, from, to, where);
        return;
    }
    for (int i = 0; i < y->h; i++)
        for (int j = 0; j < y->w; j++) {
            const window a = window_of(s, x, i, j);
            float best = from[a.top * x->w + a.left];
            int at = 0;
            for (int r = a.top; r < a.bottom; r++)
                for (int c = a.left; c < a.right; c++) {
                    const float v = from[r * x->w + c];
                    if (v > best || v != v) {
                        best = v;
                        at = (r - a.top) * s->kernel + c - a.left;
                    }
                }
            *to++ = best;
            *where++ = (uint16_t)at;
        }
}

static void max_forward(const pass *p)
{
    const pool *s = p->o->state;
    const value *x = op_in(p, 0), *y = op_out(p);
    const int rows = (int)op_rows(p, y);
    const size_t in = (size_t)x->h * (size_t)x->w, out = (size_t)y->h * (size_t)y->w;
#pragma omp parallel for num_threads(p->g->threads)
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < y->c; c++) {
            const size_t at = (size_t)r * (size_t)y->c + (size_t)c;
            max_channel(&s->spec, x, y, p->x[0] + at * in, p->y + at * out, s->where + at * out);
        }
}

static void max_backward(const pass *p)
{
    const pool *s = p->o->state;
    const value *x = op_in(p, 0), *y = op_out(p);
    const int rows = p->dx[0] ? (int)op_rows(p, y) : 0;
    const size_t in = (size_t)x->h * (size_t)x->w, out = (size_t)y->h * (size_t)y->w;
#pragma omp parallel for num_threads(p->g->threads)
    for (int r = 0; r < rows; r++) {
        memset(p->dx[0] + (size_t)r * x->row, 0, x->row * sizeof(float));
        for (int c = 0; c < y->c; c++) {
            const size_t plane = (size_t)r * (size_t)y->c + (size_t)c;
            float *dx = p->dx[0] + plane * in;
            const float *dy = p->dy + plane * out;
            const uint16_t *where = s->where + plane * out;
            for (int i = 0; i < y->h; i++)
                for (int j = 0; j < y->w; j++) {
                    const window a = window_of(&s->spec, x, i, j);
                    const int at = *where++;
                    dx[(a.top + at / s->spec.kernel) * x->w + a.left + at % s->spec.kernel] += *dy++;
                }
        }
    }
}

static void max_finish(graph *g, op *o)
{
    pool *s = o->state;
    const value *y = g->value[o->output];
    s->where = need((size_t)g->batch * (size_t)y->rows_per_sample * y->row, sizeof *s->where);
}

static void max_free(op *o)
{
    free(((pool *)o->state)->where);
}

/* ---------------------------------------------------------------------------------------------- mean */

static void mean_forward(const pass *p)
{
    const pool_spec *s = &((const pool *)p->o->state)->spec;
    const value *x = op_in(p, 0), *y = op_out(p);
    const int planes = (int)op_rows(p, y) * y->c;
    const size_t in = (size_t)x->h * (size_t)x->w, out = (size_t)y->h * (size_t)y->w;
    const float share = 1.0f / (float)(s->kernel * s->kernel);
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
                *to++ = sum * share;
            }
    }
}

static void mean_backward(const pass *p)
{
    const pool_spec *s = &((const pool *)p->o->state)->spec;
    const value *x = op_in(p, 0), *y = op_out(p);
    const int planes = p->dx[0] ? (int)op_rows(p, y) * y->c : 0;
    const size_t in = (size_t)x->h * (size_t)x->w, out = (size_t)y->h * (size_t)y->w;
    const float share = 1.0f / (float)(s->kernel * s->kernel);
#pragma omp parallel for num_threads(p->g->threads)
    for (int k = 0; k < planes; k++) {
        const float *from = p->dy + (size_t)k * out;
        float *to = p->dx[0] + (size_t)k * in;
        memset(to, 0, in * sizeof *to);
        for (int i = 0; i < y->h; i++)
            for (int j = 0; j < y->w; j++) {
                const window a = window_of(s, x, i, j);
                const float part = *from++ * share;
                for (int r = a.top; r < a.bottom; r++)
                    for (int c = a.left; c < a.right; c++)
                        to[r * x->w + c] += part;
            }
    }
}

static int add_pool(graph *g, int x, const pool_spec *spec, const op_type *type)
{
    op *o = op_new(g, type, 1, &x, sizeof(pool));
    pool_spec s = *spec;
    s.stride = s.stride ? s.stride : s.kernel;
    const value *v = g->value[x];
    /* Every window then holds an element of the input. */
    if (s.kernel < 1 || s.kernel > 255 || s.stride < 1 || s.padding < 0 || 2 * s.padding > s.kernel)
        die("%s: kernel %d, stride %d, padding %d", o->name, s.kernel, s.stride, s.padding);
    if (v->h + 2 * s.padding < s.kernel || v->w + 2 * s.padding < s.kernel)
        die("%s: its input, %d x %d, is smaller than the window", o->name, v->h, v->w);
    ((pool *)o->state)->spec = s;
    return op_output(g, o, v->c, (v->h + 2 * s.padding - s.kernel) / s.stride + 1,
                     (v->w + 2 * s.padding - s.kernel) / s.stride + 1, v->rows_per_sample);
}

int graph_max_pool(graph *g, int x, const pool_spec *spec)
{
    static const op_type type = {
        .type = "max_pool", .finish = max_finish, .forward = max_forward, .backward = max_backward, .free = max_free};
    return add_pool(g, x, spec, &type);
}

int graph_average_pool(graph *g, int x, const pool_spec *spec)
{
    static const op_type type = {.type = "average_pool", .forward = mean_forward, .backward = mean_backward};
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
    static const op_type type = {.type = "global_pool", .forward = global_forward, .backward = global_backward};
    op *o = op_new(g, &type, 1, &x, 0);
    return op_output(g, o, g->value[x]->c, 1, 1, g->value[x]->rows_per_sample);
}
