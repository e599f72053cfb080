/* SPDX-License-Identifier: BSD-2-Clause */
/* models_fast.c - the models of core/dot_models.h for all lanes of a row at a time: each model as a sequence of one
 * operation, round(v * w + u), on arrays, and what it counts for. tests/gpu/gemm.c holds results and counters
 * against the reference, tests/unit/check_gemm.c and tests/against_judges/gemm.c against the definition. */
#include <math.h>

#include "models.h"

/* -------------------------------------------------------------------------------------------- one operation */

static double first_of(const gemm_terms *a, size_t i)
{
    return a->x ? *a->x : a->v[i];
}

/* By the reference's operation, lane by lane. sum: an addition that changes nothing is counted. */
static void operate_slowly(const core_target *g, size_t n, const gemm_terms *a, const uint32_t *r, int sum,
                           core_dot_tally *tally, double *y)
{
    for (size_t i = 0; i < n; i++) {
        const double v = first_of(a, i), factor = a->w ? a->w[i] : 1, u = a->u ? a->u[i] : 0;
        const double u_factor = a->u_factor ? *a->u_factor : 1;
        const uint32_t bits = g->stochastic ? r[i] : 0;
        y[i] = a->wide ? core_dot_operate_exact(g, v, factor, a->u != NULL, u, u_factor, bits, sum, tally)
                       : core_dot_operate_with(g, bits, v, factor, a->u != NULL, u, u_factor, sum, tally);
    }
}

/* binary64 rounded to odd, taken to g. */
static void round_odd(const kernels *k, const gemm_target *g, size_t n, const double *odd, const uint32_t *r, double *y)
{
    const core_plan64 *p = &g->rule->plan;
    if (g->has_fast)
        (p->mode == FPEMU_MODE_SR ? k->round_stochastic : k->round_nearest)(p, n, odd, r, y);
    else
        k->loops64->round[p->rule][p->mode](p, n, odd, r, y);
}

static void add_counts(core_counts *to, const core_counts *c)
{
    to->nan += c->nan;
    to->infinite += c->infinite;
    to->clipped += c->clipped;
    to->overflow += c->overflow;
    to->invalid += c->invalid;
    to->underflow += c->underflow;
    to->subnormal += c->subnormal;
    to->inexact += c->inexact;
    to->max_abs = c->max_abs > to->max_abs ? c->max_abs : to->max_abs;
    to->min_abs = c->min_abs && (!to->min_abs || c->min_abs < to->min_abs) ? c->min_abs : to->min_abs;
    to->max_error = c->max_error > to->max_error ? c->max_error : to->max_error;
}

/* The exact results left + right, given rounded to odd, taken to g and counted, as core_dot_count does; right: NULL, or
 * the sum's old value. */
static void round_counted(const kernels *k, const gemm_target *g, size_t n, const double *left, const double *right,
                          const double *odd, const uint32_t *r, int sum, core_dot_tally *tally, double *y)
{
    const core_plan64 *p = &g->rule->plan;
    const core_plan64 unbounded = core_plan_unbounded64(p);
    tile_counts counts = {.max_error = 0}, extremes = {.max_error = 0};
    double nearest[DOT_LANES], result[DOT_LANES];
    uint64_t grid[DOT_LANES], swamped = 0;
    k->loops64->round[p->rule][p->mode](&unbounded, n, odd, r, grid);
    k->loops64->finish(p, n, odd, grid, result);
    for (size_t i = 0; i < n; i++)
        nearest[i] = right ? left[i] + right[i] : left[i];
    k->loops64->count(p, n, odd, result, grid, &counts);
    k->loops64->count(p, n, nearest, result, grid, &extremes);
    counts.min_abs = extremes.min_abs;
    counts.max_abs = extremes.max_abs;
    counts.max_error = extremes.max_error;
    add_counts(&tally->c, &counts);
    for (size_t i = 0; i < n && sum; i++) {
        const double a = left[i], b = right[i], s = result[i];
        swamped += a - a == 0 && b - b == 0 && ((s == a && b != 0) || (s == b && a != 0));
    }
    tally->swamped += swamped;
    tally->roundings += n;
    memcpy(y, result, n * sizeof *y); /* y may be an operand */
}

/* NaN results of operands of which none is NaN. */
static uint64_t count_invalid(size_t n, const gemm_terms *a, const double *odd)
{
    uint64_t invalid = 0;
    for (size_t i = 0; i < n; i++)
        invalid += isnan(odd[i]) && !isnan(first_of(a, i)) && !(a->w && isnan(a->w[i])) && !(a->u && isnan(a->u[i])) &&
                   !(a->u_factor && isnan(*a->u_factor));
    return invalid;
}

/* By binary64 arithmetic, where it has the bits. */
static void operate_fast(const kernels *k, const gemm_target *g, size_t n, const gemm_terms *a, const uint32_t *r,
                         int sum, core_dot_tally *tally, double *y)
{
    const core_plan64 *p = &g->rule->plan;
    const uint64_t zero_sign = p->mode == FPEMU_MODE_RTN ? CORE_SIGN64 : 0;
    double product[DOT_LANES], right[DOT_LANES], odd[DOT_LANES];
    if (a->u && a->x && a->w && !a->u_factor && !tally) {
        if (g->has_fast && p->mode == FPEMU_MODE_RNE) {
            k->fma_nearest(p, n, *a->x, a->w, a->u, y);
            return;
        }
        k->fma_odd(n, *a->x, a->w, a->u, zero_sign, odd);
        round_odd(k, g, n, odd, r, y);
        return;
    }
    const double *left = product, *other = a->u_factor ? right : a->u;
    if (!a->w && !a->x)
        left = a->v;
    else
        for (size_t i = 0; i < n; i++) /* exact, u_factor too: products of binary32 numbers */
            product[i] = a->w ? first_of(a, i) * a->w[i] : first_of(a, i);
    if (a->u_factor)
        for (size_t i = 0; i < n; i++)
            right[i] = a->u[i] * *a->u_factor;
    if (a->u)
        k->fma_odd(n, 1, left, other, zero_sign, odd);
    else
        for (size_t i = 0; i < n; i++)
            odd[i] = isnan(left[i]) ? core_value64(CORE_INF64 | CORE_INF64 >> 1) : left[i];
    if (!tally) {
        round_odd(k, g, n, odd, r, y);
        return;
    }
    tally->c.invalid += count_invalid(n, a, odd);
    round_counted(k, g, n, left, a->u ? other : NULL, odd, r, sum, tally, y);
}

/* y = g(v * w + u) on the lanes of row r of the tile, rounding number t; y may be an operand. sum: an addition that
 * changes nothing is counted. */
static void operate(gemm_tile *w, const gemm_target *g, size_t r, uint64_t t, const gemm_terms *a, int sum, double *y)
{
    const kernels *k = w->call->k;
    core_dot_tally *const tally = w->call->counted ? &w->tally : NULL;
    uint32_t bits[DOT_LANES];
    if (g->rule->stochastic) {
        fpemu_rounding numbered = *g->rounding;
        numbered.stream = core_dot_stream(numbered.stream, t);
        fpemu_random_fill(k, &numbered, numbered.offset + tile_index(w, r), w->lanes, bits);
    }
    if (g->rule->by_binary64 && !a->wide)
        operate_fast(k, g, w->lanes, a, bits, sum, tally, y);
    else
        operate_slowly(g->rule, w->lanes, a, bits, sum, tally, y);
}

/* --------------------------------------------------------------------------------------------------- models */

static double *sums_of(gemm_tile *w, size_t r)
{
    return w->state.d + r * w->call->row_states;
}

static double *second_of(gemm_tile *w, size_t r)
{
    return sums_of(w, r) + w->call->tile_lanes;
}

/* p = the product as it enters the sum: terms of v * w, rounded into `room` where the spec says so. */
static gemm_terms product_terms(gemm_tile *w, size_t r, uint64_t t, const double *x, const double *y, double *room)
{
    gemm_terms p = {NULL, x, y, NULL, NULL, 0};
    if (w->call->targets.dot.product.given) {
        operate(w, &w->call->targets.product, r, t, &p, 0, room);
        p.x = NULL;
        p.v = room;
        p.w = NULL;
    }
    return p;
}

/* The scale of chunk number `chunk` of element o of an operand. */
static double scale_of(const gemm_tile *w, const gemm_operand *s, size_t o, size_t chunk)
{
    const core_dot *d = &w->call->targets.dot;
    const int carrier = w->call->targets.carrier;
    const size_t chunks = (size_t)((d->depth - 1) / d->chunk + 1), size = carrier == 32 ? 4 : 8;
    const size_t at = s->scales_batch * w->batch + o * chunks + chunk;
    return s->scales ? load(carrier, (const char *)s->scales + at * size) : 1;
}

/* Whether v * scale, itself a product of two binary32 numbers, is surely one of binary64: powers of two, 0, inf. */
static int shifts_exactly(double v, double scale)
{
    const double magnitude = fabs(v);
    return (core_bits64(scale) & ((UINT64_C(1) << 52) - 1)) == 0 &&
           (v == 0 || (magnitude > 0x1p-500 && magnitude < 0x1p500));
}

void fpemu_fast_chunk(gemm_tile *w, size_t r, size_t k, uint64_t t, double *inner, double *s)
{
    const gemm_call *c = w->call;
    gemm_terms both = {inner, NULL, NULL, s, NULL, 0};
    double scale[DOT_LANES];
    if (c->rows.scales || c->lanes.scales) {
        const size_t chunk = k / (size_t)c->targets.dot.chunk;
        const double row = scale_of(w, &c->rows, w->row + r, chunk);
        for (size_t i = 0; i < w->lanes; i++) {
            scale[i] = row * scale_of(w, &c->lanes, w->lane + i, chunk);
            both.wide |= !shifts_exactly(inner[i], scale[i]);
        }
        both.w = scale;
    }
    operate(w, &c->targets.outer, r, t, &both, 1, s);
    for (size_t i = 0; i < w->lanes; i++)
        inner[i] = 0;
}

void fpemu_fast_sequential(gemm_tile *w, size_t r, size_t k0, size_t nk, const double *x, const double *y)
{
    const gemm_targets *targets = &w->call->targets;
    const core_dot *d = &targets->dot;
    const unsigned given = d->product.given;
    double *s = sums_of(w, r), *sum = d->chunk ? second_of(w, r) : s, room[DOT_LANES];
    for (uint64_t k = k0; k < k0 + nk; k++, x++, y += w->ld) {
        const uint64_t t = k * (given + 1) + (d->chunk ? k / d->chunk : 0);
        gemm_terms p = product_terms(w, r, t, x, y, room);
        p.u = sum;
        operate(w, &targets->inner, r, t + given, &p, 1, sum);
        if (core_dot_chunk_ends(d, k))
            fpemu_fast_chunk(w, r, (size_t)k, t + given + 1, sum, s);
    }
}

void fpemu_fast_kahan(gemm_tile *w, size_t r, size_t k0, size_t nk, const double *x, const double *y)
{
    const gemm_target *g = &w->call->targets.inner;
    const unsigned given = w->call->targets.dot.product.given;
    const size_t n = w->lanes;
    double *s = sums_of(w, r), *minus_e = second_of(w, r);
    double room[DOT_LANES], d[DOT_LANES], t[DOT_LANES];
    for (uint64_t k = k0; k < k0 + nk; k++, x++, y += w->ld) {
        const uint64_t number = k * (given + 4);
        gemm_terms p = product_terms(w, r, number, x, y, room);
        for (size_t i = 0; i < n; i++)
            minus_e[i] = -minus_e[i];
        p.u = minus_e;
        operate(w, g, r, number + given, &p, 0, room);
        const gemm_terms sum = {s, NULL, NULL, room, NULL, 0};
        operate(w, g, r, number + given + 1, &sum, 1, t);
        for (size_t i = 0; i < n; i++)
            s[i] = -s[i];
        const gemm_terms change = {t, NULL, NULL, s, NULL, 0};
        operate(w, g, r, number + given + 2, &change, 0, d);
        for (size_t i = 0; i < n; i++)
            room[i] = -room[i];
        const gemm_terms rest = {d, NULL, NULL, room, NULL, 0};
        operate(w, g, r, number + given + 3, &rest, 0, minus_e);
        memcpy(s, t, n * sizeof *s);
    }
}

/* Nodes of the tree of row r that wait at a level; level 0 is a leaf, and is multiplied by the row's leaf factor. */
static double *nodes_at(gemm_tile *w, size_t r, int level)
{
    return sums_of(w, r) + (size_t)level * LANES_FEW;
}

/* Joins the node that waits at `level` with the node `right` (v * w), node `number` of the next level; into `to`. */
static void join_nodes(gemm_tile *w, size_t r, int level, uint64_t number, gemm_terms right, double *to)
{
    const core_dot *d = &w->call->targets.dot;
    const uint64_t products = d->product.given * d->depth, leaves = d->depth + d->start_from_c;
    gemm_terms both = right;
    both.u = nodes_at(w, r, level);
    both.u_factor = level ? NULL : w->leaf_factors + r;
    operate(w, &w->call->targets.inner, r, products + core_dot_level(leaves, level + 1) + number, &both, 1, to);
}

void fpemu_fast_leaf(gemm_tile *w, size_t r, uint64_t k, gemm_terms node)
{
    double room[LANES_FEW];
    int level = 0;
    for (; k & 1; k >>= 1, level++) {
        join_nodes(w, r, level, k >> 1, node, room);
        node.v = room;
        node.x = node.w = NULL;
    }
    if (level == 0)
        w->leaf_factors[r] = node.x ? *node.x : 1;
    memcpy(nodes_at(w, r, level), node.x ? node.w : node.v, w->lanes * sizeof(double));
}

void fpemu_fast_pairwise(gemm_tile *w, size_t r, size_t k0, size_t nk, const double *x, const double *y)
{
    double room[LANES_FEW];
    for (uint64_t k = k0; k < k0 + nk; k++, x++, y += w->ld)
        fpemu_fast_leaf(w, r, k + w->call->targets.dot.start_from_c, product_terms(w, r, k, x, y, room));
}

void fpemu_fast_root(gemm_tile *w, size_t r, double *to)
{
    const core_dot *d = &w->call->targets.dot;
    const uint64_t leaves = d->depth + d->start_from_c;
    double room[LANES_FEW] = {0};
    gemm_terms node = {room, NULL, NULL, NULL, NULL, 0};
    int level = 0, have = 0;
    for (uint64_t k = leaves; k; k >>= 1, level++) {
        if (!(k & 1))
            continue;
        if (have) {
            join_nodes(w, r, level, (k - 1) >> 1, node, room);
            node.v = room;
            node.x = node.w = NULL;
        } else if (level) {
            node.v = nodes_at(w, r, level);
        } else {
            node.x = w->leaf_factors + r;
            node.w = nodes_at(w, r, 0);
        }
        have = 1;
    }
    if (leaves == 1)
        operate(w, &w->call->targets.inner, r, d->product.given * d->depth, &node, 0, room);
    else if (leaves)
        memcpy(room, node.v, w->lanes * sizeof *room);
    memcpy(to, room, w->lanes * sizeof *to);
}

void fpemu_fast_fused(gemm_tile *w, size_t r, size_t k0, size_t nk, const double *x, const double *y, const double *px,
                      const double *py)
{
    const core_dot *dot = &w->call->targets.dot;
    const core_plan64 *p = &dot->inner.plan;
    const kernels *k = w->call->k;
    double *s = sums_of(w, r), *d = dot->chunk ? second_of(w, r) : s, t[LANES_FEW];
    for (size_t l = 0; l < nk; l += dot->block) {
        const size_t m = nk - l < dot->block ? nk - l : dot->block;
        k->fused_sum(m, w->lanes, w->ld, x + l, px + l, y + l * w->ld, py + l * w->ld, dot->least_d, dot->scale,
                     dot->floor, d, t);
        k->loops64->round[p->rule][p->mode](p, w->lanes, t, NULL, d);
        for (size_t i = 0; i < w->lanes; i++)
            d[i] = 0 + d[i]; /* a zero is +0 */
        if (core_dot_chunk_ends(dot, k0 + l + m - 1))
            fpemu_fast_chunk(w, r, k0 + l, (k0 + l) / dot->chunk, d, s);
    }
}

/* ------------------------------------------------------------------------------------------------- integers */

/* Element `place` of numbers of a slab. */
static double number_at(const gemm_tile *w, const float *f, const double *d, size_t place)
{
    return is_narrow(w->call) ? (double)f[place] : d[place];
}

void fpemu_fast_integer(gemm_tile *w, size_t row, size_t rows, size_t nk)
{
    const core_dot *d = &w->call->targets.dot;
    const core_dot_unit unit_x = core_dot_unit_of(d->quantum_a), unit_y = core_dot_unit_of(d->quantum_b);
    int64_t units[OPERANDS];
    uint8_t nan[OPERANDS];
    for (size_t k = 0; k < nk; k++)
        for (size_t place = k * w->ld; place < k * w->ld + w->lanes; place++) {
            const double y = number_at(w, w->y.f, w->y.d, place);
            nan[place] = y != y;
            units[place] = nan[place] ? 0 : core_dot_units(y, unit_y);
        }
    for (size_t r = 0; r < rows; r++) {
        core_dot_sum *const sums = w->state.sums + (row + r) * w->call->tile_lanes;
        for (size_t k = 0; k < nk; k++) {
            const double x = number_at(w, w->x.f, w->x.d, r * SLAB_FEW + k);
            const int64_t factor = x != x ? 0 : core_dot_units(x, unit_x);
            for (size_t i = 0; i < w->lanes; i++) {
                int over;
                /* cppcheck-suppress uninitvar ; set above as far as it is read */
                sums[i].nan |= x != x || nan[k * w->ld + i];
                sums[i].whole = core_dot_integer_sum(sums[i].whole, sums[i].nan ? 0 : factor * units[k * w->ld + i],
                                                     d->width, d->wrap, &over);
            }
        }
    }
}
