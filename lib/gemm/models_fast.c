/* SPDX-License-Identifier: BSD-2-Clause */
/* models_fast.c - the models of core/dot_models.h for all lanes of a row at a time: each model as a sequence of one
 * operation, round(v * w + u), on arrays, and what it counts for. tests/gpu/gemm.c holds results and counters
 * against the reference, tests/unit/check_gemm.c and tests/against_judges/gemm.c against the definition. */
#include <math.h>

#include "models.h"

/* -------------------------------------------------------------------------------------------- one operation */

/* By the reference's operation, lane by lane. sum: an addition that changes nothing is counted. */
static void operate_slowly(const core_target *g, size_t n, const gemm_terms *a, const uint32_t *r, int sum,
                           core_dot_tally *tally, double *y)
{
    for (size_t i = 0; i < n; i++) {
        const double factor = a->w ? a->w[i] : 1, u = a->u ? a->u[i] : 0, u_factor = a->f ? a->f[i] : 1;
        const uint32_t bits = g->stochastic ? r[i] : 0;
        y[i] = a->wide ? core_dot_operate_exact(g, a->v[i], factor, a->u != NULL, u, u_factor, bits, sum, tally)
                       : core_dot_operate_with(g, bits, a->v[i], factor, a->u != NULL, u, u_factor, sum, tally);
    }
}

/* Exact results to odd. wide: products need not be numbers of binary64. */
static void operate_exactly(const kernels *k, size_t n, fpemu_operation work, int wide, int downward, const double *v,
                            const double *w, const double *u, double *odd)
{
    double nearest[DOT_LANES];
    if (wide || k->has_sides) /* a product's zero has a sign of its own */
        k->loops64->odd[downward && work != FPEMU_OPERATION_MUL][work](n, v, w, u, odd);
    else
        k->exact[work](n, v, w, u, downward ? CORE_SIGN64 : 0, nearest, odd);
}

/* binary64 rounded to odd, taken to g. */
static void round_odd(const kernels *k, const gemm_target *g, size_t n, double *odd, const uint32_t *r, double *y)
{
    const core_plan64 *p = &g->rule->plan;
    for (size_t i = 0; i < n && p->nan[0] != p->nan[1]; i++) /* which sign a processor's NaN has */
        odd[i] = isnan(odd[i]) ? core_value64(CORE_INF64 | CORE_INF64 >> 1) : odd[i];
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

/* Counts results y of a's terms, a->v * w + u, as core_dot_count does. */
static void count_results(const kernels *k, const gemm_target *g, size_t n, int wide, const gemm_terms *a,
                          const double *w, const double *u, const double *odd, const uint32_t *r, const double *y,
                          int sum, core_dot_tally *tally)
{
    const core_plan64 *p = &g->rule->plan;
    tile_counts counts = {.max_error = 0}, extremes = {.max_error = 0};
    uint64_t swamped = 0;
    if (!g->within || !k->count_sums(p, n, a->v, w, u, odd, y, &counts, &swamped)) {
        core_plan64 unbounded = core_plan_unbounded64(p);
        unbounded.rule = p->any ? CORE_RULE_ANY : p->rule == CORE_RULE_POSIT ? p->rule : CORE_RULE_FLOAT;
        uint64_t grid[DOT_LANES];
        double nearest[DOT_LANES], product[DOT_LANES], unused[DOT_LANES];
        k->exact[FPEMU_OPERATION_FMA](n, a->v, w, u, 0, nearest, unused);
        operate_exactly(k, n, FPEMU_OPERATION_MUL, wide, 0, a->v, w, u, product);
        k->loops64->round[unbounded.rule][p->mode](&unbounded, n, odd, r, grid);
        k->loops64->count(p, n, odd, y, grid, &counts);
        k->loops64->count(p, n, nearest, y, grid, &extremes);
        counts.min_abs = extremes.min_abs;
        counts.max_abs = extremes.max_abs;
        counts.max_error = extremes.max_error;
        for (size_t i = 0; i < n; i++) {
            const double left = product[i], right = u[i];
            swamped += left - left == 0 && right - right == 0 &&
                       ((y[i] == left && right != 0) || (y[i] == right && left != 0));
            counts.invalid += isnan(odd[i]) && !isnan(a->v[i]) && !isnan(w[i]) && !(a->u && isnan(a->u[i])) &&
                              !(a->f && isnan(a->f[i]));
        }
    }
    add_counts(&tally->c, &counts);
    tally->swamped += sum ? swamped : 0;
    tally->roundings += n;
}

/* By binary64 arithmetic, where it has the bits. */
static void operate_fast(const kernels *k, const gemm_target *g, size_t n, const gemm_terms *a, int wide,
                         const uint32_t *r, int sum, core_dot_tally *tally, double *y)
{
    const fpemu_operation work = !a->u ? FPEMU_OPERATION_MUL : a->w ? FPEMU_OPERATION_FMA : FPEMU_OPERATION_ADD;
    double right[DOT_LANES], odd[DOT_LANES], ones[DOT_LANES], result[DOT_LANES];
    const double *u = a->u, *w = a->w;
    if (u && a->f) { /* products of binary32 numbers */
        k->exact[FPEMU_OPERATION_MUL](n, u, a->f, u, 0, right, odd);
        u = right;
    }
    operate_exactly(k, n, work, wide, g->rule->plan.mode == FPEMU_MODE_RTN, a->v, w ? w : u, u ? u : w, odd);
    if (!tally) {
        round_odd(k, g, n, odd, r, y);
        return;
    }
    if (!u || !w)
        k->spread(n, u ? 1 : 0, ones);
    round_odd(k, g, n, odd, r, result); /* y may be an operand */
    count_results(k, g, n, wide, a, w ? w : ones, u ? u : ones, odd, r, result, sum, tally);
    memcpy(y, result, n * sizeof *y);
}

/* s + *error = a + b (Knuth). */
static inline double two_sum(double a, double b, double *error)
{
    const double s = a + b, t = s - a;
    *error = (a - (s - t)) + (b - t);
    return s;
}

/* Counts v * w + u rounded to nearest in binary64, y; e: what v * w loses by itself. 0 where that is not surely all. */
static int count_native(size_t n, const double *v, const double *w, const double *u, const double *e, const double *y,
                        int sum, core_dot_tally *tally)
{
    tile_counts counts = {.max_error = 0};
    double most = 0, least = INFINITY;
    uint64_t unsure = 0, inexact = 0, subnormal = 0, swamped = 0;
#pragma omp simd reduction(max : most) reduction(min : least) reduction(+ : unsure, inexact, subnormal, swamped)
    for (size_t i = 0; i < n; i++) {
        double r, q_rest, z_rest;
        const double p = v[i] * w[i], size = fabs(p), a = fabs(y[i]);
        const double s = two_sum(u[i], p, &r), q = two_sum(r, e[i], &q_rest), z = two_sum(s, q, &z_rest);
        const double rest = z_rest + q_rest; /* of the exact result beside z */
        unsure += (uint64_t)!(z == y[i] && size < 0x1p1000 && a < 0x1p1000 && fabs(u[i]) < 0x1p1000);
        unsure += (uint64_t)((v[i] != 0) & (w[i] != 0) & (size < 0x1p-900)); /* e may be no number of binary64 */
        inexact += (uint64_t)(rest != 0);
        subnormal += (uint64_t)((a != 0) & (a < 0x1p-1022));
        swamped += (uint64_t)(((y[i] == u[i]) & (p != 0)) | ((e[i] == 0) & (y[i] == p) & (u[i] != 0)));
        most = a > most ? a : most;
        const double some = a == 0 ? INFINITY : a;
        least = some < least ? some : least;
    }
    if (unsure)
        return 0;
    counts.inexact = inexact;
    counts.subnormal = subnormal;
    counts.max_abs = core_bits64(most);
    counts.min_abs = least < INFINITY ? core_bits64(least) : 0;
    add_counts(&tally->c, &counts);
    tally->swamped += sum ? swamped : 0;
    tally->roundings += n;
    return 1;
}

/* By binary64 itself; 0 where its counters need more. */
static int operate_natively(const kernels *k, size_t n, const gemm_terms *a, int sum, core_dot_tally *tally, double *y)
{
    double right[DOT_LANES], ones[DOT_LANES], result[DOT_LANES], minus[DOT_LANES], e[DOT_LANES], odd[DOT_LANES];
    const double *u = a->u, *w = a->w;
    if (!w) {
        k->spread(n, 1, ones);
        w = ones;
    }
    if (!u)
        k->spread(n, -0.0, right);
    else if (a->f)
        k->exact[FPEMU_OPERATION_MUL](n, u, a->f, u, 0, right, odd);
    u = !u || a->f ? right : u;
    k->exact[FPEMU_OPERATION_FMA](n, a->v, w, u, 0, result, odd);
    if (tally) {
        for (size_t i = 0; i < n; i++)
            minus[i] = -(a->v[i] * w[i]);
        k->exact[FPEMU_OPERATION_FMA](n, a->v, w, minus, 0, e, odd);
        if (!count_native(n, a->v, w, u, e, result, sum, tally))
            return 0;
    }
    for (size_t i = 0; i < n; i++)
        y[i] = isnan(result[i]) ? core_value64(CORE_INF64 | CORE_INF64 >> 1) : result[i];
    return 1;
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
    const int wide = a->wide || !g->rule->by_binary64;
    if (g->rule->native && k->has_fma && FLT_EVAL_METHOD == 0 && (!a->f || g->rule->narrow) &&
        operate_natively(k, w->lanes, a, sum, tally, y))
        return;
    if (g->is_short &&
        (!wide || (!a->f && FLT_EVAL_METHOD == 0 && k->has_fma && k->loops64->odd[0][FPEMU_OPERATION_FMA])))
        operate_fast(k, g, w->lanes, a, wide, bits, sum, tally, y);
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

/* From one product of a slab of op(A) to the next. */
static size_t step_of_x(const gemm_tile *w)
{
    return w->call->paired ? w->ld : 1;
}

/* The product as it enters the sum: x * y on the lanes, rounded into `room` where the spec says so, which has x else. */
static gemm_terms product_terms(gemm_tile *w, size_t r, uint64_t t, const double *x, const double *y, double *room)
{
    gemm_terms p = {x, y, NULL, NULL, 0};
    if (!w->call->paired) {
        w->call->k->spread(w->lanes, *x, room);
        p.v = room;
    }
    if (w->call->targets.dot.product.given) {
        operate(w, &w->call->targets.product, r, t, &p, 0, room);
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
    const size_t chunks = (size_t)((d->depth - 1) / d->scaled + 1), size = carrier == 32 ? 4 : 8;
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
    gemm_terms both = {inner, NULL, s, NULL, 0};
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
    for (uint64_t k = k0; k < k0 + nk; k++, x += step_of_x(w), y += w->ld) {
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
    for (uint64_t k = k0; k < k0 + nk; k++, x += step_of_x(w), y += w->ld) {
        const uint64_t number = k * (given + 4);
        gemm_terms p = product_terms(w, r, number, x, y, room);
        for (size_t i = 0; i < n; i++)
            minus_e[i] = -minus_e[i];
        p.u = minus_e;
        operate(w, g, r, number + given, &p, 0, room);
        const gemm_terms sum = {s, NULL, room, NULL, 0};
        operate(w, g, r, number + given + 1, &sum, 1, t);
        for (size_t i = 0; i < n; i++)
            s[i] = -s[i];
        const gemm_terms change = {t, NULL, s, NULL, 0};
        operate(w, g, r, number + given + 2, &change, 0, d);
        for (size_t i = 0; i < n; i++)
            room[i] = -room[i];
        const gemm_terms rest = {d, NULL, room, NULL, 0};
        operate(w, g, r, number + given + 3, &rest, 0, minus_e);
        memcpy(s, t, n * sizeof *s);
    }
}

/* Nodes of the tree of row r that wait at a level; level 0 is a leaf, to be multiplied by what lies at level -1. */
static double *nodes_at(gemm_tile *w, size_t r, int level)
{
    return sums_of(w, r) + (size_t)(level + 1) * LANES_FEW;
}

/* Joins the node that waits at `level` with the node `right` (v * w), node `number` of the next level; into `to`. */
static void join_nodes(gemm_tile *w, size_t r, int level, uint64_t number, gemm_terms right, double *to)
{
    const core_dot *d = &w->call->targets.dot;
    const uint64_t products = d->product.given * d->depth, leaves = d->depth + d->start_from_c;
    gemm_terms both = right;
    both.u = nodes_at(w, r, level);
    both.f = level || d->product.given ? NULL : nodes_at(w, r, -1);
    operate(w, &w->call->targets.inner, r, products + core_dot_level(leaves, level + 1) + number, &both, 1, to);
}

void fpemu_fast_leaf(gemm_tile *w, size_t r, uint64_t k, gemm_terms node)
{
    double room[LANES_FEW];
    int level = 0;
    for (; k & 1; k >>= 1, level++) {
        join_nodes(w, r, level, k >> 1, node, room);
        node.v = room;
        node.w = NULL;
    }
    memcpy(nodes_at(w, r, level), node.v, w->lanes * sizeof(double));
    if (level == 0 && node.w)
        memcpy(nodes_at(w, r, -1), node.w, w->lanes * sizeof(double));
    else if (level == 0)
        w->call->k->spread(w->lanes, 1, nodes_at(w, r, -1));
}

void fpemu_fast_pairwise(gemm_tile *w, size_t r, size_t k0, size_t nk, const double *x, const double *y)
{
    double room[LANES_FEW];
    for (uint64_t k = k0; k < k0 + nk; k++, x += step_of_x(w), y += w->ld)
        fpemu_fast_leaf(w, r, k + w->call->targets.dot.start_from_c, product_terms(w, r, k, x, y, room));
}

void fpemu_fast_root(gemm_tile *w, size_t r, double *to)
{
    const core_dot *d = &w->call->targets.dot;
    const uint64_t leaves = d->depth + d->start_from_c;
    double room[LANES_FEW] = {0};
    gemm_terms node = {room, NULL, NULL, NULL, 0};
    int level = 0, have = 0;
    for (uint64_t k = leaves; k; k >>= 1, level++) {
        if (!(k & 1))
            continue;
        if (have) {
            join_nodes(w, r, level, (k - 1) >> 1, node, room);
            node.v = room;
            node.w = NULL;
        } else {
            node.v = nodes_at(w, r, level);
            node.w = level ? NULL : nodes_at(w, r, -1);
        }
        have = 1;
    }
    if (leaves == 1)
        operate(w, &w->call->targets.inner, r, d->product.given * d->depth, &node, 0, room);
    else if (leaves)
        memcpy(room, node.v, w->lanes * sizeof *room);
    memcpy(to, room, w->lanes * sizeof *to);
}

void fpemu_fast_steps(gemm_call *c)
{
    const core_dot *const d = &c->targets.dot;
    dot_step *const s = &c->step;
    const size_t period = (size_t)core_dot_period(d);
    memset(s, 0, sizeof *s);
    for (size_t k = 0; k < SLAB_FEW; k++)
        c->place[k] =
            (uint8_t)(k / period * period + core_dot_place(d, k % period / d->block * d->block, k % d->block));
    s->size = d->group > 1 ? d->group : 1;
    s->terms = d->block / s->size;
    s->ways = d->ways ? d->ways : 1;
    s->least = d->chained && !d->flush ? -1 : d->least_d;
    s->flushed = d->inner.flushed;
    s->scale = d->scale;
    s->floor = d->floor;
    s->late = d->late ? core_value64((uint64_t)(1023 + d->late) << 52) : 0;
    s->reach = d->late ? 0x1p896 : 1;
    s->exact = d->exact;
    const fpemu_format *const f = &c->targets.spec->sum.inner.format;
    if (c->counted || f->emin != -126 || f->emax != 127 || f->mantissa_bits < 1)
        return;
    s->rounding = d->inner.plan.mode == FPEMU_MODE_RTZ ? STEP_CUT : f->mantissa_bits == 23 ? STEP_NEAREST : STEP_APART;
    s->grid = core_value64(core_power64(-126 - (int)f->mantissa_bits));
    s->keep = ~UINT64_C(0) << (52 - f->mantissa_bits);
}

double fpemu_fast_powers(const gemm_tile *w, const gemm_operand *s, int along_k, size_t lines, size_t first, size_t k0,
                         size_t nk, double *x, double *powers)
{
    const gemm_call *c = w->call;
    const core_dot *d = &c->targets.dot;
    const size_t n = along_k ? nk : w->lanes, ld = along_k ? SLAB_FEW : w->ld;
    const int scaled = d->group && (c->rows.scales || c->lanes.scales);
    double scales[SLAB_FEW], most = 0;
    for (size_t line = 0; line < lines; line++) {
        for (size_t i = 0, run; i < n && scaled; i += run) {
            const size_t k = k0 + (along_k ? i : line), chunk = k / (size_t)d->scaled;
            const size_t left = (size_t)d->scaled * (chunk + 1) - k, rest = n - i;
            run = !along_k ? 1 : left < rest ? left : rest;
            if (!along_k && line && k % d->scaled)
                break; /* those of the line before */
            c->k->spread(run, scale_of(w, s, first + (along_k ? line : i), chunk), scales + i);
        }
        double *const at = x + line * ld, *const to = powers + line * ld;
        const double largest =
            c->k->take_powers(n, s->least, scaled ? scales : NULL, d->least_scale, d->group > 1, at, to);
        most = largest > most || largest != largest ? largest : most;
        for (size_t i = n; i < ld && !along_k; i++) /* lanes that are none */
            at[i] = to[i] = 0;
    }
    return most;
}

/* The step at product k of a slab in lane i, by the reference. */
static double step_slowly(gemm_tile *w, size_t i, size_t k, size_t nk, const double *x, const double *y, double d)
{
    core_dot wide = w->call->targets.dot;
    const core_dot_line row = {w->call->paired ? x + i : x, (int64_t)step_of_x(w), NULL};
    const core_dot_line lane = {y + i, (int64_t)w->ld, NULL};
    wide.wide = 1;
    return wide.exact ? core_dot_exact_step(&wide, row, lane, k, nk, d, NULL)
                      : core_dot_fused_step(&wide, row, lane, 0, k, nk, d, &w->tally);
}

/* The same step's results y of its sums t, counted: 0 where they are not within the ends. */
static int count_step(gemm_tile *w, const double *t, const double *y, const uint64_t *lost, uint64_t swamped)
{
    const kernels *k = w->call->k;
    tile_counts counts = {.max_error = 0};
    double ones[LANES_FEW], zeros[LANES_FEW];
    uint64_t none;
    k->spread(w->lanes, 1, ones);
    k->spread(w->lanes, 0, zeros);
    if (!k->count_sums(&w->call->targets.dot.inner.plan, w->lanes, t, ones, zeros, t, y, &counts, &none))
        return 0;
    for (size_t i = 0; i < w->lanes; i++)
        counts.inexact += lost[i] && t[i] == y[i];
    add_counts(&w->tally.c, &counts);
    w->tally.swamped += swamped;
    w->tally.roundings += w->lanes;
    return 1;
}

void fpemu_fast_fused(gemm_tile *w, size_t r, size_t k0, size_t nk, const double *x, const double *y, const double *px,
                      const double *py, double most)
{
    const gemm_call *const c = w->call;
    const core_dot *dot = &c->targets.dot;
    const core_plan64 *p = &dot->inner.plan;
    const size_t period = (size_t)core_dot_period(dot), end = (nk + period - 1) / period * period, n = w->lanes;
    const double plus = dot->late || dot->exact ? -0.0 : 0; /* a zero is +0 */
    double *s = sums_of(w, r), *d = dot->chunk ? second_of(w, r) : s, t[LANES_FEW], result[LANES_FEW];
    uint64_t lost[LANES_FEW], swamped;
    dot_step step = c->step;
    step.x = x;
    step.y = y;
    step.powers_x = px;
    step.powers_y = py;
    step.ld = w->ld;
    step.have = nk;
    step.special = (uint8_t)!(most < (dot->late ? 0x1p128 : (double)INFINITY));
    for (size_t k = 0; k < end; k += dot->block) {
        step.place = c->place + k;
        c->k->loops64->step[c->paired][c->counted](&step, n, d, t, lost, &swamped);
        if (step.rounding == STEP_APART)
            c->k->loops64->round[p->rule][p->mode](p, n, t, NULL, result);
        const double *const rounded = step.rounding == STEP_APART ? result : t;
        const int slowly = c->counted && !count_step(w, t, result, lost, swamped);
        if (slowly || (dot->exact && swamped))
            for (size_t i = 0; i < n; i++)
                d[i] = slowly || lost[i] ? step_slowly(w, i, k, nk, x, y, d[i]) : rounded[i];
        else if (step.rounding == STEP_APART)
            for (size_t i = 0; i < n; i++)
                d[i] = plus + result[i];
        else
            memcpy(d, t, n * sizeof *d);
        if (dot->chunk && ((k0 + k + dot->block) % dot->chunk == 0 || (k + dot->block == end && k0 + nk == dot->depth)))
            fpemu_fast_chunk(w, r, k0 + k, (k0 + k) / dot->chunk, d, s);
    }
}

void fpemu_fast_chained(gemm_tile *w, size_t nk, const float *x, float *sums)
{
    const gemm_call *const c = w->call;
    const size_t period = (size_t)core_dot_period(&c->targets.dot), end = (nk + period - 1) / period * period;
    float to[LANES_FEW];
    dot_step step = c->step;
    step.place = c->place;
    step.ld = w->ld;
    step.have = nk;
    if (!c->k->loops32->chains(&step, end, w->lanes, x, w->y.f, sums, to)) {
        core_dot narrow = c->targets.dot;
        narrow.wide = 0;
        for (size_t i = 0; i < w->lanes; i++) {
            core_dot_sum sum = {.s = (double)sums[i]};
            const core_dot_line row = {x, 1, NULL}, lane = {w->y.f + i, (int64_t)w->ld, NULL};
            core_dot_fused(&narrow, row, lane, 0, nk, 0, &sum, NULL);
            to[i] = (float)sum.s;
        }
    }
    memcpy(sums, to, w->lanes * sizeof *sums);
}
