/* SPDX-License-Identifier: BSD-2-Clause */
/* exact.c - products of integers, summed exactly: what hardware with wide integer accumulators computes.
 *
 * Operands are whole numbers of steps, by powers of two (MuPPET's formats). A product of matrices in binary64 has no
 * rounding as long as every sum stays below 2^53 steps, which word lengths up to 16 bits reach only past 2^22 terms.
 * The gradient of the input, which a product of matrices followed by additions would round, is computed as the forward
 * pass of a convolution of the gradient with the turned weights. Results are rounded to FP32 once.
 *
 * A sum outside 32 bits is counted and kept, or (exact:saturate) counted and cut.
 */
#include "backends/backends.h"
#include "backends/lowered.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

typedef struct exact_state {
    backend inner; /* convolutions from products of matrices, by exact_gemm */
    bool saturate;
    double step; /* of a product; 0: no integers, nothing is counted */
    uint64_t outside;
} exact_state;

typedef struct exact_conv {
    conv_shape shape, turned;
    conv *forward, *backward; /* of the shape; of the turned one */
} exact_conv;

WIDE static double *widened(size_t rows, size_t columns, const float *x, size_t stride)
{
    double *wide = need_room(rows * columns, sizeof *wide);
    for (size_t i = 0; i < rows; i++) {
        double *to = wide + i * columns;
        const float *from = x + i * stride;
#pragma omp simd
        for (size_t j = 0; j < columns; j++)
            to[j] = (double)from[j];
    }
    return wide;
}

/* The number of sums outside [-2^31, 2^31 - 1] steps, which saturation cuts. */
static uint64_t settle_sums(const exact_state *s, size_t n, double *sum)
{
    const double low = -0x1p31 * s->step, high = (0x1p31 - 1) * s->step;
    uint64_t outside = 0;
    for (size_t i = 0; i < n && s->step > 0; i++) {
        outside += sum[i] < low || sum[i] > high;
        if (s->saturate)
            sum[i] = sum[i] < low ? low : sum[i] > high ? high : sum[i];
    }
    return outside;
}

static void exact_gemm(const backend *b, bool ta, bool tb, int m, int n, int k, const float *A, int lda, const float *B,
                       int ldb, bool add, float *C, int ldc)
{
    exact_state *s = b->state;
    const size_t rows = (size_t)m, columns = (size_t)n, depth = (size_t)k;
    double *a = ta ? widened(depth, rows, A, (size_t)lda) : widened(rows, depth, A, (size_t)lda);
    double *x = tb ? widened(columns, depth, B, (size_t)ldb) : widened(depth, columns, B, (size_t)ldb);
    double *sum = need_room(rows * columns, sizeof *sum);
    cblas_dgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, m, n, k, 1, a,
                ta ? m : k, x, tb ? k : n, 0, sum, n);
    const uint64_t outside = settle_sums(s, rows * columns, sum);
    if (outside) {
#pragma omp atomic
        s->outside += outside;
    }
    for (size_t i = 0; i < rows; i++) {
        float *to = C + i * (size_t)ldc;
        const double *from = sum + i * columns;
#pragma omp simd
        for (size_t j = 0; j < columns; j++)
            to[j] = (float)(add ? (double)to[j] + from[j] : from[j]);
    }
    free(a);
    free(x);
    free(sum);
}

/* ---------------------------------------------------------------------------------------- convolutions */

/* Height or width of the gradient with stride - 1 zeros between its elements, and those that the windows left over. */
static int spread(int out, int in, const conv_shape *s)
{
    return (out - 1) * s->stride + 1 + (in + 2 * s->padding - s->r) % s->stride;
}

static conv *exact_conv_new(const backend *b, const conv_shape *shape)
{
    const exact_state *s = b->state;
    if (shape->padding >= shape->r)
        die("train.backend = exact: a padding of %d with a kernel of %d is not supported, it has to be smaller",
            shape->padding, shape->r);
    exact_conv *c = need(1, sizeof *c);
    c->shape = *shape;
    c->turned = *shape;
    c->turned.c = shape->k;
    c->turned.k = shape->c;
    c->turned.h = spread(shape->oh, shape->h, shape);
    c->turned.w = spread(shape->ow, shape->w, shape);
    c->turned.oh = shape->h;
    c->turned.ow = shape->w;
    c->turned.stride = 1;
    c->turned.padding = shape->r - 1 - shape->padding;
    c->forward = s->inner.conv_new(b, &c->shape);
    c->backward = s->inner.conv_new(b, &c->turned);
    return (conv *)c;
}

static void exact_conv_free(const backend *b, conv *prepared)
{
    const exact_state *s = b->state;
    exact_conv *c = (exact_conv *)prepared;
    s->inner.conv_free(b, c->forward);
    s->inner.conv_free(b, c->backward);
    free(c);
}

static void exact_forward(const backend *b, conv *prepared, int n, const float *x, const float *w, float *y)
{
    const exact_state *s = b->state;
    s->inner.conv_forward(b, ((exact_conv *)prepared)->forward, n, x, w, y);
}

static void exact_backward_weights(const backend *b, conv *prepared, int n, const float *x, const float *dy, float *dw)
{
    const exact_state *s = b->state;
    s->inner.conv_backward_weights(b, ((exact_conv *)prepared)->forward, n, x, dy, dw);
}

/* (k, c/groups, r, r) to (c, k/groups, r, r), each kernel turned by half a turn. */
static float *turn(const conv_shape *s, const float *w)
{
    const int in = s->c / s->groups, out = s->k / s->groups, area = s->r * s->r;
    float *turned = need((size_t)s->k * (size_t)in * (size_t)area, sizeof *turned);
    for (int g = 0; g < s->groups; g++)
        for (int o = 0; o < out; o++)
            for (int i = 0; i < in; i++)
                for (int a = 0; a < area; a++) {
                    const size_t from = ((size_t)(g * out + o) * (size_t)in + (size_t)i) * (size_t)area + (size_t)a;
                    const size_t to = ((size_t)(g * in + i) * (size_t)out + (size_t)o) * (size_t)area;
                    turned[to + (size_t)(area - 1 - a)] = w[from];
                }
    return turned;
}

static void exact_backward_data(const backend *b, conv *prepared, int n, const float *dy, const float *w, float *dx)
{
    const exact_state *s = b->state;
    const exact_conv *c = (const exact_conv *)prepared;
    const conv_shape *f = &c->shape, *t = &c->turned;
    float *turned = turn(f, w);
    float *wide = need((size_t)n * (size_t)t->c * (size_t)t->h * (size_t)t->w, sizeof *wide);
    for (size_t plane = 0; plane < (size_t)n * (size_t)t->c; plane++)
        for (int i = 0; i < f->oh; i++)
            for (int j = 0; j < f->ow; j++)
                wide[(plane * (size_t)t->h + (size_t)(i * f->stride)) * (size_t)t->w + (size_t)(j * f->stride)] =
                    dy[(plane * (size_t)f->oh + (size_t)i) * (size_t)f->ow + (size_t)j];
    s->inner.conv_forward(b, c->backward, n, wide, turned, dx);
    free(wide);
    free(turned);
}

/* ---------------------------------------------------------------------------------------- the backend */

static void exact_step(const backend *b, double step)
{
    ((exact_state *)b->state)->step = step;
}

static uint64_t exact_outside(const backend *b)
{
    return ((const exact_state *)b->state)->outside;
}

static void exact_free(backend *b)
{
    backend_lower_free(b);
    free(b->state);
    free(b);
}

backend *backend_exact(const char *option, trouble *why)
{
    if (*option && strcmp(option, "saturate") != 0) {
        fail(why, "backend 'exact:%s': there are exact and exact:saturate", option);
        return NULL;
    }
    backend *b = need(1, sizeof *b);
    exact_state *s = need(1, sizeof *s);
    *b = (backend){.name = "exact",
                   .whole = true,
                   .state = s,
                   .free = exact_free,
                   .gemm = exact_gemm,
                   .step = exact_step,
                   .outside = exact_outside};
    s->saturate = *option;
    backend_lower(b);
    s->inner = *b;
    b->conv_new = exact_conv_new;
    b->conv_free = exact_conv_free;
    b->conv_forward = exact_forward;
    b->conv_backward_data = exact_backward_data;
    b->conv_backward_weights = exact_backward_weights;
#ifdef OPENBLAS_VERSION
    openblas_set_num_threads(1);
#endif
    return b;
}
