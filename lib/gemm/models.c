/* SPDX-License-Identifier: BSD-2-Clause */
/* models.c - tiles by the reference, core/dot_models.h, output by output: targets that call a NaN an error, a dot
 * product alone, integers past binary64, and what is counted of integers and of sums that binary64 arithmetic has not
 * the bits for. */
#include "models.h"
#include "operands.h"

/* From c on. */
static void begin(const core_dot *d, uint64_t index, double c, core_dot_tally *tally, reference_state *t)
{
    core_dot_begin(d, c, &t->sum);
    if (d->model != FPEMU_MODEL_PAIRWISE)
        return;
    t->tree.leaf = 0;
    t->tree.factor = 1;
    if (d->start_from_c)
        core_dot_leaf(d, &t->tree, 0, index, t->sum.s, 1, tally);
}

/* Products [from, to). */
static APART void advance(const core_dot *d, core_dot_line x, core_dot_line y, uint64_t from, uint64_t to,
                          uint64_t index, core_dot_tally *tally, reference_state *t)
{
    if (d->model == FPEMU_MODEL_PAIRWISE)
        core_dot_leaves(d, x, y, from, to, index, &t->tree, tally);
    else
        core_dot_advance(d, x, y, from, to, index, &t->sum, tally);
}

/* The result. */
static double end(const core_dot *d, uint64_t index, double c, core_dot_tally *tally, reference_state *t)
{
    if (d->model == FPEMU_MODEL_PAIRWISE && d->depth + d->start_from_c)
        t->sum.s = core_dot_root(d, &t->tree, index, tally);
    return core_dot_end(d, index, c, &t->sum, tally);
}

static core_dot_tally *counts_of(gemm_tile *w)
{
    return w->call->counted || w->call->targets.nan_is_error ? &w->tally : NULL;
}

static reference_state *state_of(gemm_tile *w, size_t row, size_t lane)
{
    return (reference_state *)(void *)(w->state.d + row * w->call->row_states + lane * reference_size(w->call));
}

void fpemu_reference_begin(gemm_tile *w, size_t row, size_t lane, double c)
{
    begin(&w->call->targets.dot, tile_index(w, row) + lane, c, counts_of(w), state_of(w, row, lane));
}

/* Element `place` of numbers of a slab. */
static const void *number_at(const gemm_tile *w, const float *f, const double *d, size_t place)
{
    return is_narrow(w->call) ? (const void *)(f + place) : (const void *)(d + place);
}

/* The scales of element o of an operand. */
static const void *scales_at(const gemm_tile *w, const gemm_operand *s, size_t o)
{
    const core_dot *d = &w->call->targets.dot;
    const size_t size = w->call->targets.carrier == 32 ? sizeof(float) : sizeof(double);
    if (!s->scales)
        return NULL;
    return (const char *)s->scales + (s->scales_batch * w->batch + o * ((d->depth - 1) / d->scaled + 1)) * size;
}

void fpemu_reference_advance(gemm_tile *w, size_t row, size_t rows, size_t k0, size_t nk)
{
    const gemm_call *c = w->call;
    const core_dot *d = &c->targets.dot;
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < w->lanes; i++) {
            const uint64_t index = tile_index(w, row + r) + i;
            const core_dot_line x = {number_at(w, w->x.f, w->x.d, r * SLAB_FEW), 1,
                                     scales_at(w, &c->rows, w->row + row + r)};
            const core_dot_line y = {number_at(w, w->y.f, w->y.d, i), (int64_t)w->ld,
                                     scales_at(w, &c->lanes, w->lane + i)};
            advance(d, x, y, k0, k0 + nk, index, counts_of(w), state_of(w, row + r, i));
        }
}

double fpemu_reference_end(gemm_tile *w, size_t row, size_t lane, double c)
{
    reference_state *const t = state_of(w, row, lane);
    t->sum.exponent = tile_exponent(w, row, lane);
    return end(&w->call->targets.dot, tile_index(w, row) + lane, c, counts_of(w), t);
}

void fpemu_reference_alone(const gemm_call *call, const core_dot *d, const core_operand *x, const core_operand *y,
                           void *result)
{
    union {
        float f[SLAB_FEW];
        double d[SLAB_FEW];
    } a, b;
    const kernels *const k = call->k;
    const int carrier = call->targets.carrier;
    const enum gemm_path path = is_narrow(call) == (carrier == 32) ? call->path : PATH_REFERENCE;
    const ptrdiff_t size = carrier == 32 ? sizeof(float) : sizeof(double);
    const core_dot_line row = {&a, 1, NULL}, column = {&b, 1, NULL};
    const size_t whole = d->model == FPEMU_MODEL_FUSED ? SLAB_FEW / core_dot_period(d) * core_dot_period(d) : SLAB_FEW;
    const int at_once = path <= PATH_FAST && d->model == FPEMU_MODEL_SEQUENTIAL && !d->product.given &&
                        d->inner.by_binary64 && call->targets.inner.form == SUM_NEAREST;
    double wide[2][SLAB_FEW];
    const double *const left = carrier == 32 ? wide[0] : a.d, *const right = carrier == 32 ? wide[1] : b.d;
    reference_state t;
    begin(d, 0, d->start_from_c ? load(carrier, result) : 0, NULL, &t);
    float s = (float)t.sum.s;
    for (uint64_t at = 0; at < d->depth; at += whole) {
        const size_t n = d->depth - at < whole ? (size_t)(d->depth - at) : whole;
        const char *const from_x = (const char *)x->p + (ptrdiff_t)at * x->step_column * size;
        const char *const from_y = (const char *)y->p + (ptrdiff_t)at * y->step_row * size;
        fpemu_operand_line(call, &call->rows, from_x, x->step_column, n, &a);
        fpemu_operand_line(call, &call->lanes, from_y, y->step_row, n, &b);
        if (at_once && carrier == 32) {
            k->widen(n, a.f, wide[0]);
            k->widen(n, b.f, wide[1]);
        }
        if (path == PATH_NATIVE32)
            k->mac_binary32(n, 1, a.f, 0, b.f, 1, &s);
        else if (path == PATH_BINARY32)
            k->mac32[call->product_form][call->inner_form](&call->product32, &call->inner32, n, 1, a.f, b.f, 1, &s);
        else if (path == PATH_NATIVE64)
            k->mac_binary64(n, 1, a.d, b.d, 1, &t.sum.s);
        else if (!at_once || !k->loops64->sum_alone(&d->inner.plan, n, left, right, &t.sum.s))
            advance(d, row, column, at, at + n, 0, NULL, &t);
    }
    if (path == PATH_NATIVE32 || path == PATH_BINARY32)
        t.sum.s = (double)s;
    store(carrier, result, end(d, 0, 0, NULL, &t));
}
