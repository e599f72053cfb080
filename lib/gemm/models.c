/* SPDX-License-Identifier: BSD-2-Clause */
/* models.c - tiles by the reference, core/dot_models.h, output by output: targets that call a NaN an error, a dot
 * product alone, integers past binary64, chains that steps.inc.c has not, and what is counted of integers, of sums that
 * binary64 arithmetic has not the bits for, and of steps that are none of a tensor core's plain ones. */
#include "models.h"

static int is_pairwise(const gemm_tile *w)
{
    return w->call->targets.dot.model == FPEMU_MODEL_PAIRWISE;
}

static core_dot_tally *counts_of(gemm_tile *w)
{
    return w->call->counted || w->call->targets.nan_is_error ? &w->tally : NULL;
}

static size_t place_of(const gemm_tile *w, size_t row, size_t lane)
{
    return row * w->call->tile_lanes + lane;
}

void fpemu_reference_begin(gemm_tile *w, size_t row, size_t lane, double c)
{
    const core_dot *d = &w->call->targets.dot;
    core_dot_sum sum;
    core_dot_begin(d, c, &sum);
    if (!is_pairwise(w)) {
        w->state.sums[place_of(w, row, lane)] = sum;
        return;
    }
    core_dot_tree *tree = w->state.trees + place_of(w, row, lane);
    tree->leaf = 0;
    tree->factor = 1;
    if (d->start_from_c)
        core_dot_leaf(d, tree, 0, tile_index(w, row) + lane, sum.s, 1, counts_of(w));
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
            const size_t place = place_of(w, row + r, i);
            const uint64_t index = tile_index(w, row + r) + i;
            const core_dot_line x = {number_at(w, w->x.f, w->x.d, r * SLAB_FEW), 1,
                                     scales_at(w, &c->rows, w->row + row + r)};
            const core_dot_line y = {number_at(w, w->y.f, w->y.d, i), (int64_t)w->ld,
                                     scales_at(w, &c->lanes, w->lane + i)};
            if (is_pairwise(w))
                core_dot_leaves(d, x, y, k0, k0 + nk, index, w->state.trees + place, counts_of(w));
            else
                core_dot_advance(d, x, y, k0, k0 + nk, index, w->state.sums + place, counts_of(w));
        }
}

double fpemu_reference_end(gemm_tile *w, size_t row, size_t lane, double c)
{
    const core_dot *d = &w->call->targets.dot;
    const size_t place = place_of(w, row, lane);
    const uint64_t index = tile_index(w, row) + lane;
    core_dot_sum sum;
    memset(&sum, 0, sizeof sum);
    if (!is_pairwise(w))
        sum = w->state.sums[place];
    else if (d->depth + d->start_from_c)
        sum.s = core_dot_root(d, w->state.trees + place, index, counts_of(w));
    sum.exponent = tile_exponent(w, row, lane);
    return core_dot_end(d, index, c, &sum, counts_of(w));
}
