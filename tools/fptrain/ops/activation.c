/* SPDX-License-Identifier: BSD-2-Clause */
/* activation.c - relu, relu6, sigmoid, tanh: one function of each element. */
#include "engine/op.h"
#include "ops/ops.h"

#include <math.h>

typedef void forward_loop(size_t n, const float *x, float *y);
typedef void backward_loop(size_t n, const float *x, const float *dy, float *dx);

static void forward(const pass *p, forward_loop *loop)
{
    const size_t n = op_rows(p, op_out(p)) * op_out(p)->row;
    const float *x = p->x[0];
    float *y = p->y;
    const int count = element_pieces(n);
#pragma omp parallel for num_threads(p->g->threads)
    for (int i = 0; i < count; i++)
        loop(element_count(n, i), x + (size_t)i * ELEMENTS, y + (size_t)i * ELEMENTS);
}

/* The derivative is taken at the rounded input. */
static void backward(const pass *p, backward_loop *loop)
{
    const size_t n = op_rows(p, op_out(p)) * op_out(p)->row;
    const float *x = p->x[0], *dy = p->dy;
    float *dx = p->dx[0];
    const int count = dx ? element_pieces(n) : 0;
#pragma omp parallel for num_threads(p->g->threads)
    for (int i = 0; i < count; i++) {
        const size_t at = (size_t)i * ELEMENTS;
        loop(element_count(n, i), x + at, dy + at, dx + at);
    }
}

/* ---------------------------------------------------------------------------------------------- relu */

/* A NaN stays one. */
WIDE static void relu_forward(size_t n, const float *restrict x, float *restrict y)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] <= 0 ? 0.0f : x[i];
}

WIDE static void relu_backward(size_t n, const float *restrict x, const float *restrict dy, float *restrict dx)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        dx[i] = x[i] > 0 ? dy[i] : 0.0f;
}

WIDE static void relu6_forward(size_t n, const float *restrict x, float *restrict y)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] <= 0 ? 0.0f : x[i] >= 6 ? 6.0f : x[i];
}

WIDE static void relu6_backward(size_t n, const float *restrict x, const float *restrict dy, float *restrict dx)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        dx[i] = ((x[i] > 0) & (x[i] < 6)) ? dy[i] : 0.0f;
}

/* ---------------------------------------------------------------------------------------------- sigmoid, tanh */

static void sigmoid_forward(size_t n, const float *restrict x, float *restrict y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = 1 / (1 + expf(-x[i]));
}

static void sigmoid_backward(size_t n, const float *restrict x, const float *restrict dy, float *restrict dx)
{
    for (size_t i = 0; i < n; i++) {
        const float y = 1 / (1 + expf(-x[i]));
        dx[i] = dy[i] * (y * (1 - y));
    }
}

static void tanh_forward(size_t n, const float *restrict x, float *restrict y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = tanhf(x[i]);
}

static void tanh_backward(size_t n, const float *restrict x, const float *restrict dy, float *restrict dx)
{
    for (size_t i = 0; i < n; i++) {
        const float y = tanhf(x[i]);
        dx[i] = dy[i] * (1 - y * y);
    }
}

#define ACTIVATION(name)                                                                                               \
    static void name##_pass(const pass *p)                                                                             \
    {                                                                                                                  \
        forward(p, name##_forward);                                                                                    \
    }                                                                                                                  \
    static void name##_pass_back(const pass *p)                                                                        \
    {                                                                                                                  \
        backward(p, name##_backward);                                                                                  \
    }                                                                                                                  \
    int graph_##name(graph *g, int x)                                                                                  \
    {                                                                                                                  \
        static const op_type type = {.type = #name,                                                                    \
                                     .forward = name##_pass,                                                           \
                                     .backward = name##_pass_back,                                                     \
                                     .forward_parts = {NULL, name##_pass, 0},                                          \
                                     .backward_parts = {NULL, name##_pass_back, 0}};                                   \
        return op_same(g, &type, x, 0)->output;                                                                        \
    }

ACTIVATION(relu)
ACTIVATION(relu6)
ACTIVATION(sigmoid)
ACTIVATION(tanh)
