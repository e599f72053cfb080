/* SPDX-License-Identifier: BSD-2-Clause */
/* join.c - adding values, and rearranging channels: concatenation, slices, shuffles, zero-padded shortcuts. */
#include "engine/op.h"
#include "ops/ops.h"

#include <string.h>

/* ---------------------------------------------------------------------------------------------- add */

WIDE static void add_loop(size_t n, const float *restrict a, const float *restrict b, float *restrict y)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = a[i] + b[i];
}

static void add_forward(const pass *p)
{
    const size_t n = op_rows(p, op_out(p)) * op_out(p)->row;
    const int count = element_pieces(n);
#pragma omp parallel for num_threads(p->g->threads)
    for (int i = 0; i < count; i++) {
        const size_t at = (size_t)i * ELEMENTS;
        add_loop(element_count(n, i), p->x[0] + at, p->x[1] + at, p->y + at);
    }
}

static void add_backward(const pass *p)
{
    const size_t n = op_rows(p, op_out(p)) * op_out(p)->row;
    const int count = element_pieces(n);
#pragma omp parallel for num_threads(p->g->threads)
    for (int i = 0; i < count; i++) {
        const size_t at = (size_t)i * ELEMENTS, bytes = element_count(n, i) * sizeof(float);
        for (int k = 0; k < 2; k++)
            if (p->dx[k])
                memcpy(p->dx[k] + at, p->dy + at, bytes);
    }
}

int graph_add(graph *g, int a, int b)
{
    static const op_type type = {.type = "add",
                                 .input_unread = true,
                                 .forward = add_forward,
                                 .backward = add_backward,
                                 .forward_parts = {NULL, add_forward, 0},
                                 .backward_parts = {NULL, add_backward, 0}};
    op *o = op_new(g, &type, 2, (int[2]){a, b}, 0);
    const value *x = g->value[a], *y = g->value[b];
    if (x->c != y->c || x->h != y->h || x->w != y->w || x->rows_per_sample != y->rows_per_sample)
        op_refuse(g, "%s: %d x %d x %d and %d x %d x %d do not add", o->name, x->c, x->h, x->w, y->c, y->h, y->w);
    return op_output(g, o, x->c, x->h, x->w, x->rows_per_sample);
}

/* ---------------------------------------------------------------------------------------------- concat */

static void concat_forward(const pass *p)
{
    const value *y = op_out(p);
    const int rows = (int)op_rows(p, y);
#pragma omp parallel for num_threads(p->g->threads)
    for (int r = 0; r < rows; r++) {
        float *to = p->y + (size_t)r * y->row;
        for (int i = 0; i < p->o->inputs; i++) {
            const size_t n = op_in(p, i)->row;
            memcpy(to, p->x[i] + (size_t)r * n, n * sizeof *to);
            to += n;
        }
    }
}

static void concat_backward(const pass *p)
{
    const value *y = op_out(p);
    const int rows = (int)op_rows(p, y);
#pragma omp parallel for num_threads(p->g->threads)
    for (int r = 0; r < rows; r++) {
        const float *from = p->dy + (size_t)r * y->row;
        for (int i = 0; i < p->o->inputs; i++) {
            const size_t n = op_in(p, i)->row;
            if (p->dx[i])
                memcpy(p->dx[i] + (size_t)r * n, from, n * sizeof *from);
            from += n;
        }
    }
}

int graph_concat(graph *g, int count, const int *x)
{
    static const op_type type = {
        .type = "concat", .input_unread = true, .forward = concat_forward, .backward = concat_backward};
    op *o = op_new(g, &type, count, x, 0);
    if (count < 1)
        op_refuse(g, "%s: of nothing", o->name);
    const value *first = g->value[x[0]];
    int c = 0;
    for (int i = 0; i < count; i++) {
        const value *v = g->value[x[i]];
        if (v->h != first->h || v->w != first->w || v->rows_per_sample != first->rows_per_sample)
            op_refuse(g, "%s: %d x %d beside %d x %d", o->name, v->h, v->w, first->h, first->w);
        c += v->c;
    }
    return op_output(g, o, c, first->h, first->w, first->rows_per_sample);
}

/* ---------------------------------------------------------------------------------------------- slice */

/* The state: the first element of a row. */
static void slice_forward(const pass *p)
{
    const size_t first = *(const size_t *)p->o->state;
    const value *x = op_in(p, 0), *y = op_out(p);
    const int rows = (int)op_rows(p, y);
#pragma omp parallel for num_threads(p->g->threads)
    for (int r = 0; r < rows; r++)
        memcpy(p->y + (size_t)r * y->row, p->x[0] + (size_t)r * x->row + first, y->row * sizeof *p->y);
}

/* What it passes on is as large as its input: zero outside the slice. */
static void slice_backward(const pass *p)
{
    const size_t first = *(const size_t *)p->o->state;
    const value *x = op_in(p, 0), *y = op_out(p);
    const int rows = p->dx[0] ? (int)op_rows(p, y) : 0;
#pragma omp parallel for num_threads(p->g->threads)
    for (int r = 0; r < rows; r++) {
        float *dx = p->dx[0] + (size_t)r * x->row;
        memset(dx, 0, first * sizeof *dx);
        memcpy(dx + first, p->dy + (size_t)r * y->row, y->row * sizeof *dx);
        memset(dx + first + y->row, 0, (x->row - y->row - first) * sizeof *dx);
    }
}

int graph_slice(graph *g, int x, int first, int channels)
{
    static const op_type type = {
        .type = "slice", .input_unread = true, .forward = slice_forward, .backward = slice_backward};
    op *o = op_new(g, &type, 1, &x, sizeof(size_t));
    const value *v = g->value[x];
    if (first < 0 || channels < 1 || first > v->c - channels)
        op_refuse(g, "%s: channels %d to %d of %d", o->name, first, first + channels - 1, v->c);
    *(size_t *)o->state = (size_t)first * (size_t)v->h * (size_t)v->w;
    return op_output(g, o, channels, v->h, v->w, v->rows_per_sample);
}

/* ---------------------------------------------------------------------------------------------- shuffle */

/* The state: the number of groups. Channel (group, i) of x is channel (i, group) of y; `back`: the other way. */
static void shuffle_move(const pass *p, const float *from, float *to, bool back)
{
    const value *v = op_out(p);
    const int groups = *(const int *)p->o->state, rows = (int)op_rows(p, v), each = v->c / groups;
    const size_t area = (size_t)v->h * (size_t)v->w;
#pragma omp parallel for num_threads(p->g->threads)
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < groups; k++)
            for (int i = 0; i < each; i++) {
                const size_t x = (size_t)r * v->row + (size_t)(k * each + i) * area;
                const size_t y = (size_t)r * v->row + (size_t)(i * groups + k) * area;
                memcpy(to + (back ? x : y), from + (back ? y : x), area * sizeof *to);
            }
}

static void shuffle_forward(const pass *p)
{
    shuffle_move(p, p->x[0], p->y, false);
}

static void shuffle_backward(const pass *p)
{
    if (p->dx[0])
        shuffle_move(p, p->dy, p->dx[0], true);
}

int graph_shuffle(graph *g, int x, int groups)
{
    static const op_type type = {
        .type = "shuffle", .input_unread = true, .forward = shuffle_forward, .backward = shuffle_backward};
    op *o = op_same(g, &type, x, sizeof(int));
    if (groups < 1 || g->value[x]->c % groups)
        op_refuse(g, "%s: %d channels in %d groups", o->name, g->value[x]->c, groups);
    *(int *)o->state = groups;
    g->value[o->output]->is_tensor = false;
    return o->output;
}

/* ---------------------------------------------------------------------------------------------- shortcut */

/* The state: the stride. */
static void shortcut_forward(const pass *p)
{
    const int stride = *(const int *)p->o->state;
    const value *x = op_in(p, 0), *y = op_out(p);
    const int rows = (int)op_rows(p, y);
#pragma omp parallel for num_threads(p->g->threads)
    for (int r = 0; r < rows; r++) {
        float *to = p->y + (size_t)r * y->row;
        const float *from = p->x[0] + (size_t)r * x->row;
        for (int i = 0; i < x->c * y->h; i++) {
            const float *line = from + ((size_t)(i / y->h) * (size_t)x->h + (size_t)(i % y->h * stride)) * (size_t)x->w;
            for (int j = 0; j < y->w; j++)
                *to++ = line[j * stride];
        }
        memset(to, 0, (size_t)(y->c - x->c) * (size_t)y->h * (size_t)y->w * sizeof *to);
    }
}

static void shortcut_backward(const pass *p)
{
    const int stride = *(const int *)p->o->state;
    const value *x = op_in(p, 0), *y = op_out(p);
    const int rows = p->dx[0] ? (int)op_rows(p, y) : 0;
#pragma omp parallel for num_threads(p->g->threads)
    for (int r = 0; r < rows; r++) {
        const float *from = p->dy + (size_t)r * y->row;
        float *to = p->dx[0] + (size_t)r * x->row;
        memset(to, 0, x->row * sizeof *to);
        for (int i = 0; i < x->c * y->h; i++) {
            float *line = to + ((size_t)(i / y->h) * (size_t)x->h + (size_t)(i % y->h * stride)) * (size_t)x->w;
            for (int j = 0; j < y->w; j++)
                line[j * stride] = *from++;
        }
    }
}

int graph_shortcut(graph *g, int x, int channels, int stride)
{
    static const op_type type = {
        .type = "shortcut", .input_unread = true, .forward = shortcut_forward, .backward = shortcut_backward};
    op *o = op_new(g, &type, 1, &x, sizeof(int));
    const value *v = g->value[x];
    if (stride < 1 || channels < v->c)
        op_refuse(g, "%s: from %d to %d channels at stride %d", o->name, v->c, channels, stride);
    *(int *)o->state = stride;
    return op_output(g, o, channels, (v->h - 1) / stride + 1, (v->w - 1) / stride + 1, v->rows_per_sample);
}
