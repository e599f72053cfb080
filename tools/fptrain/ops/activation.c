/* SPDX-License-Identifier: BSD-2-Clause */
/* activation.c - relu, relu6, sigmoid, tanh: one function of each element. */
#include "engine/op.h"
#include "ops/functions.h"
#include "ops/ops.h"

#include <math.h>
#include <stdlib.h>

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

/* The backward pass asks of an input only whether its slope was 1: a bit each, so that the input need not be kept. */
typedef struct slopes {
    uint32_t *word; /* bit i % 32 of word i / 32: element i of the input */
} slopes;

/* A NaN stays one. */
WIDE static void relu_forward(size_t n, const float *restrict x, float *restrict y)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] <= 0 ? 0.0f : x[i];
}

WIDE static void relu6_forward(size_t n, const float *restrict x, float *restrict y)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] <= 0 ? 0.0f : x[i] >= 6 ? 6.0f : x[i];
}

/* Bits of the elements that are above 0 and at most `most`, 32 to a word. */
WIDE static void note_words(size_t words, float most, const float *restrict x, uint32_t *restrict word)
{
    for (size_t w = 0; w < words; w++, x += 32) {
        uint32_t bits = 0;
#pragma omp simd reduction(| : bits)
        for (uint32_t k = 0; k < 32; k++)
            bits |= (uint32_t)((x[k] > 0) & (x[k] <= most)) << k;
        word[w] = bits;
    }
}

WIDE static void pass_words(size_t words, const uint32_t *restrict word, const float *restrict dy, float *restrict dx)
{
    for (size_t w = 0; w < words; w++, dy += 32, dx += 32) {
        const uint32_t bits = word[w];
#pragma omp simd
        for (uint32_t k = 0; k < 32; k++)
            dx[k] = bits >> k & 1 ? dy[k] : 0.0f;
    }
}

static void note_slope(const slopes *s, float most, size_t i, float x)
{
    const uint32_t bit = UINT32_C(1) << i % 32;
    s->word[i / 32] = (s->word[i / 32] & ~bit) | (x > 0 && x <= most ? bit : 0);
}

static float slope_times(const slopes *s, size_t i, float dy)
{
    return s->word[i / 32] >> i % 32 & 1 ? dy : 0.0f;
}

/* The elements first ... end - 1 of the input; x points to the first of them. */
static void note_slopes(const slopes *s, float most, size_t first, size_t end, const float *x)
{
    for (; first < end && first % 32; first++)
        note_slope(s, most, first, *x++);
    const size_t words = (end - first) / 32;
    note_words(words, most, x, s->word + first / 32);
    for (first += 32 * words, x += 32 * words; first < end; first++)
        note_slope(s, most, first, *x++);
}

static void pass_slopes(const slopes *s, size_t first, size_t end, const float *dy, float *dx)
{
    for (; first < end && first % 32; first++)
        *dx++ = slope_times(s, first, *dy++);
    const size_t words = (end - first) / 32;
    pass_words(words, s->word + first / 32, dy, dx);
    for (first += 32 * words, dy += 32 * words, dx += 32 * words; first < end; first++)
        *dx++ = slope_times(s, first, *dy++);
}

/* A pass through part of the batch, in pieces that end at multiples of ELEMENTS of the whole: threads share no word. */
typedef struct span {
    size_t first, end; /* of the elements of the whole batch */
    int piece, pieces;
} span;

static span span_of(const pass *p)
{
    const size_t first = (size_t)(p->x[0] - op_in(p, 0)->v);
    const size_t end = first + op_rows(p, op_out(p)) * op_out(p)->row;
    const int piece = (int)(first / ELEMENTS);
    return (span){first, end, piece, (int)((end + ELEMENTS - 1) / ELEMENTS) - piece};
}

static span span_piece(const span *s, int i)
{
    const size_t from = (size_t)(s->piece + i) * ELEMENTS, to = from + ELEMENTS;
    return (span){from < s->first ? s->first : from, to > s->end ? s->end : to, 0, 0};
}

static void rectify(const pass *p, float most, forward_loop *loop)
{
    const slopes *s = p->o->state;
    const span all = span_of(p);
#pragma omp parallel for num_threads(p->g->threads)
    for (int i = 0; i < all.pieces; i++) {
        const span q = span_piece(&all, i);
        const size_t at = q.first - all.first;
        loop(q.end - q.first, p->x[0] + at, p->y + at);
        if (p->training)
            note_slopes(s, most, q.first, q.end, p->x[0] + at);
    }
}

static void rectify_back(const pass *p)
{
    const slopes *s = p->o->state;
    const span all = span_of(p);
#pragma omp parallel for num_threads(p->g->threads)
    for (int i = 0; i < (p->dx[0] ? all.pieces : 0); i++) {
        const span q = span_piece(&all, i);
        const size_t at = q.first - all.first;
        pass_slopes(s, q.first, q.end, p->dy + at, p->dx[0] + at);
    }
}

static void relu_pass(const pass *p)
{
    rectify(p, INFINITY, relu_forward);
}

static void relu6_pass(const pass *p)
{
    rectify(p, nextafterf(6, 0), relu6_forward);
}

static op_needs slopes_needs(const graph *g, const op *o, int batch)
{
    const value *v = g->value[o->output];
    return (op_needs){(size_t)batch * (size_t)v->rows_per_sample * v->row / 32 + 1, 0};
}

static void slopes_finish(graph *g, op *o)
{
    ((slopes *)o->state)->word = need(slopes_needs(g, o, g->batch).kept, sizeof(uint32_t));
}

static void slopes_free(op *o)
{
    free(((slopes *)o->state)->word);
}

#define RECTIFIER(name)                                                                                                \
    int graph_##name(graph *g, int x)                                                                                  \
    {                                                                                                                  \
        static const op_type type = {.type = #name,                                                                    \
                                     .input_unread = true,                                                             \
                                     .needs = slopes_needs,                                                            \
                                     .finish = slopes_finish,                                                          \
                                     .forward = name##_pass,                                                           \
                                     .backward = rectify_back,                                                         \
                                     .forward_parts = {NULL, name##_pass, 0},                                          \
                                     .backward_parts = {NULL, rectify_back, 0},                                        \
                                     .free = slopes_free};                                                             \
        return op_same(g, &type, x, sizeof(slopes))->output;                                                           \
    }

RECTIFIER(relu)
RECTIFIER(relu6)

/* ---------------------------------------------------------------------------------------------- sigmoid, tanh */

/* From the outputs, which dx holds before. */
WIDE static void sigmoid_slope(size_t n, const float *restrict dy, float *restrict dx)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        dx[i] = dy[i] * (dx[i] * (1 - dx[i]));
}

WIDE static void tanh_slope(size_t n, const float *restrict dy, float *restrict dx)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        dx[i] = dy[i] * (1 - dx[i] * dx[i]);
}

static void sigmoid_backward(size_t n, const float *restrict x, const float *restrict dy, float *restrict dx)
{
    sigmoid_of(n, x, dx);
    sigmoid_slope(n, dy, dx);
}

static void tanh_backward(size_t n, const float *restrict x, const float *restrict dy, float *restrict dx)
{
    tanh_of(n, x, dx);
    tanh_slope(n, dy, dx);
}

#define ACTIVATION(name)                                                                                               \
    static void name##_pass(const pass *p)                                                                             \
    {                                                                                                                  \
        forward(p, name##_of);                                                                                         \
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

ACTIVATION(sigmoid)
ACTIVATION(tanh)
