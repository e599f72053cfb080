/* SPDX-License-Identifier: BSD-2-Clause */
/* dot_models.h - one output of a dot product by every model of doc/accumulation.md, one rounding after the other: the
 * definition. Devices call it, one output a thread; so does lib/gemm/models.c, where speed does not matter. What
 * lib/gemm/models_fast.c does for many outputs at a time gives the same bits and counters: tests/gpu/gemm.c
 * compares both, and tests/against_judges/gemm.c each with a judge. */
#ifndef FPEMU_CORE_DOT_MODELS_H
#define FPEMU_CORE_DOT_MODELS_H

#include "dot.h"
#include "events.h"

/* A target, prepared. */
typedef struct core_target {
    core_plan64 plan;
    uint64_t seed, stream, offset;
    uint8_t philox, stochastic;
    uint8_t given;
    uint8_t by_binary64;  /* operands are binary32 numbers, and binary64 has the bits */
    uint8_t native;       /* the target is binary64 itself, to nearest */
    uint8_t nan_is_error; /* a NaN has no place in the result, and is reported */
    uint8_t by_addition;  /* by_binary64, to nearest, and adding a number and taking it away again rounds to the grid */
    uint8_t narrow;       /* operands are binary32 numbers */
    double flushed;       /* by_binary64: results of less become zero; 0: none */
} core_target;

/* Numbers of a and of b: element k lies at p + k * step, in elements of the carrier. */
typedef struct core_dot_line {
    const void *p;
    int64_t step;
    const void *scales; /* of its chunks, one after the other; NULL: all 1 */
} core_dot_line;

/* A sum not yet done, for every model but the pairwise one. */
typedef struct core_dot_sum {
    double s, chunk; /* chunk: the sum of the chunk; Kahan's e; the tensor core's d */
    int64_t whole;
    int nan, exponent; /* exponent: the result is to be taken times 2^exponent */
} core_dot_sum;

/* Most levels of the tree of a pairwise sum. */
#define CORE_DOT_LEVELS 64

/* A pairwise sum not yet done: nodes wait in a stack of levels, as in a binary counter. */
typedef struct core_dot_tree {
    double stack[CORE_DOT_LEVELS];
    double leaf, factor; /* level 0: a leaf, leaf * factor */
} core_dot_tree;

/* What all outputs share. */
typedef struct core_dot {
    core_target product, inner, outer, out;
    core_plan64 start;     /* what c is rounded to where the sum starts from it */
    uint64_t depth, total; /* K, T */
    double alpha, beta;
    double least_a, least_b, least_d; /* fused: 2^emin of the operands and of d */
    double scale, floor;              /* fused: 2^f, 2^least exponent */
    double least_scale;               /* fused, scales inside: 2^emin of theirs */
    uint64_t chunk, scaled;           /* products of a chunk that has an outer sum; of a scale */
    uint32_t block;
    uint8_t exact, chained, ways, late, group, order, flush; /* fused */
    int32_t quantum_a, quantum_b, width;
    uint8_t model, wrap, start_from_c, wide; /* wide: the carrier is binary64 */
    uint8_t plain;                           /* s is the result */
} core_dot;

/* What roundings count for. */
typedef struct core_dot_tally {
    core_counts c;
    uint64_t roundings, swamped;
    uint8_t found_nan; /* a NaN met a target that has none and calls it an error */
} core_dot_tally;

/* Fills g, or says why arithmetic does not go with the target. narrow: operands are binary32 numbers. */
FPEMU_FN core_reason core_target_make(core_target *g, const fpemu_target *t, int carrier, int narrow)
{
    fpemu_format seen;
    memset(g, 0, sizeof *g);
    const core_reason reason = core_dot_plan(&t->format, &t->rounding, carrier, &g->plan, &seen);
    if (reason)
        return reason;
    g->seed = t->rounding.seed;
    g->stream = t->rounding.stream;
    g->offset = t->rounding.offset;
    g->philox = t->rounding.generator == FPEMU_GENERATOR_PHILOX;
    g->stochastic = CORE_DRAWS(g->plan.mode);
    g->given = 1;
    g->nan_is_error = core_nan_policy(&seen, &t->rounding) == FPEMU_NAN_ERROR && !seen.has_nan;
    g->narrow = (uint8_t)narrow;
    g->by_binary64 = narrow && !g->nan_is_error && core_dot_short(&seen, &g->plan);
    g->native = seen.kind == FPEMU_KIND_FLOAT && seen.mantissa_bits == 52 && seen.emin == -1022 && seen.emax == 1023 &&
                seen.has_infinity && seen.subnormals == FPEMU_SUBNORMALS_KEEP && seen.has_negative_zero &&
                seen.is_signed && g->plan.mode == FPEMU_MODE_RNE && g->plan.infinite[0] == CORE_INF64 &&
                g->plan.overflow[0] == CORE_INF64;
    return REASON_NONE;
}

FPEMU_FN double core_dot_line_at(const core_dot *p, core_dot_line line, uint64_t k)
{
    const int64_t i = (int64_t)k * line.step;
    return p->wide ? ((const double *)line.p)[i] : (double)((const float *)line.p)[i];
}

FPEMU_FN uint32_t core_target_bits(const core_target *g, uint64_t t, uint64_t index)
{
    return g->stochastic
               ? core_random_bits(g->philox, g->seed, core_dot_stream(g->stream, t), g->plan.n, g->offset + index)
               : 0;
}

/* v * w + u * f taken to g by 128 bits. sum: an addition that changes nothing is counted. tally: NULL, or what counts
 * it. */
FPEMU_SLOW double core_dot_operate_exact(const core_target *g, double v, double w, int has_u, double u, double f,
                                         uint32_t r, int sum, core_dot_tally *tally)
{
    uint64_t grid;
    const core_exact left = core_exact_multiply(core_exact_from(core_bits64(v)), core_exact_from(core_bits64(w)));
    core_exact x = left, right = core_exact_special(CORE_ZERO, 0, 0);
    int nan_came = v != v || w != w;
    if (has_u) {
        right = core_exact_multiply(core_exact_from(core_bits64(u)), core_exact_from(core_bits64(f)));
        nan_came |= u != u || f != f;
        x = core_exact_add(left, right, g->plan.mode);
    }
    const double y = core_value64(core_exact_round(&g->plan, &x, r, &grid));
    if (tally) {
        core_count_exact(&g->plan, &x, y, grid, &tally->c);
        tally->c.invalid += x.kind == CORE_NOT_A_NUMBER && !nan_came;
        tally->found_nan |= g->nan_is_error && x.kind == CORE_NOT_A_NUMBER;
        tally->swamped += (uint64_t)(sum && core_dot_swamped(&left, &right, y));
        tally->roundings++;
    }
    return y;
}

/* x taken to g, x being the exact result or binary64's to odd; *grid: its magnitude on the grid without ends. */
FPEMU_FN double core_dot_round(const core_target *g, double x, uint32_t r, uint64_t *grid)
{
    const core_plan64 *p = &g->plan;
    const uint64_t u = core_bits64(x), sign = u & CORE_SIGN64, magnitude = u ^ sign;
    if (p->rule == CORE_RULE_POSIT) {
        *grid = magnitude == 0 || magnitude >= CORE_INF64 ? 0 : core_posit64(p, magnitude);
        return core_value64(core_finish64(p, u, *grid));
    }
    *grid = core_grid64(p, p->mode, 1, p->n, magnitude, sign, (uint64_t)r << 32);
    return core_value64(core_finish_any64(p, u, *grid));
}

/* Whether scales can be x: a number of binary32, so that products of two are exact, and of the format of scales that
 * are inside. */
FPEMU_FN int core_dot_is_scale(const core_dot *p, double x)
{
    uint64_t grid;
    const double back = p->group ? core_dot_round(&p->outer, x, 0, &grid) : (double)(float)x;
    return core_bits64(back) == core_bits64(x);
}

/* The scale of the chunk with product k; what can be none becomes NaN. */
FPEMU_FN double core_dot_line_scale(const core_dot *p, core_dot_line line, uint64_t k)
{
    if (!line.scales)
        return 1;
    const uint64_t i = k / p->scaled;
    const double x = p->wide ? ((const double *)line.scales)[i] : (double)((const float *)line.scales)[i];
    return core_dot_is_scale(p, x) ? x : core_value64(CORE_INF64 | CORE_INF64 >> 1);
}

/* As core_count_exact, the exact result being given by binary64's to odd and to nearest. */
FPEMU_FN void core_dot_count(const core_target *g, double odd, double nearest, double y, uint64_t grid, int nan_came,
                             core_dot_tally *tally)
{
    const uint64_t u = core_bits64(odd), v = core_bits64(y), max = g->plan.max[u >> 63];
    const core_events64 e = core_events_of64(g->plan.min_normal, u, 0, v, v, (u & ~CORE_SIGN64) > max, grid > max);
    tally->roundings++;
    core_counts_add(&tally->c, e);
    tally->c.invalid += e.nan && !nan_came; /* made by the operation */
    core_counts_extend(&tally->c, core_extent_of64(core_bits64(nearest), v));
}

/* a + b taken to g by addition; 0 where that may not be the result: past the ends, and where binary64's sum, halfway
 * between two results, may not be the exact one. */
FPEMU_FN int core_dot_add(const core_target *g, double a, double b, double *y)
{
    const core_plan64 *const p = &g->plan;
    const double sum = a + b, max = core_value64(p->max[0]);
    const uint64_t u = core_bits64(sum), sign = u & CORE_SIGN64, e = u & CORE_INF64;
    const uint64_t binade = e < p->emin_bits ? p->emin_bits : e, shift = (uint64_t)p->d_norm;
    /* 1.5 * 2^52 steps, and half a step */
    const double C = core_value64(binade + (shift << 52) + (UINT64_C(1) << 51)), moved = sum + C, near = moved - C;
    const double half = core_value64(binade - ((53 - shift) << 52)), rest = sum - near;
    const double kept = core_value64(core_bits64(near) & ~CORE_SIGN64);
    *y = core_value64(core_bits64(kept) | sign);
    return kept <= max && rest != half && rest != -half;
}

/* g(v * w + u * f) with random bits r; sum: an addition that changes nothing is counted. */
FPEMU_FN double core_dot_operate_with(const core_target *g, uint32_t r, double v, double w, int has_u, double u,
                                      double f, int sum, core_dot_tally *tally)
{
    if (!g->by_binary64 && (tally || !g->native || !g->narrow))
        return core_dot_operate_exact(g, v, w, has_u, u, f, r, sum, tally);
    /* products of binary32 numbers are exact */
    const double a = v * w, b = u * f, nan = core_value64(CORE_INF64 | CORE_INF64 >> 1);
    double quick;
    if (g->by_addition && !tally && core_dot_add(g, a, has_u ? b : core_value64(CORE_SIGN64), &quick))
        return quick;
    if (!g->by_binary64) {
        const double y = has_u ? a + b : a;
        return y == y ? y : nan;
    }
    const double some = has_u ? core_sum_odd(a, b, g->plan.mode == FPEMU_MODE_RTN ? CORE_SIGN64 : 0) : a;
    const double odd = some == some ? some : nan;
    uint64_t grid;
    const double rounded = core_dot_round(g, odd, r, &grid);
    const uint64_t bits = core_bits64(odd), sign = bits & CORE_SIGN64;
    const double y = core_value64(bits ^ sign) < g->flushed ? core_value64(sign) : rounded;
    if (tally) {
        core_dot_count(g, odd, has_u ? a + b : a, y, grid, v != v || w != w || u != u || f != f, tally);
        if (sum && a - a == 0 && b - b == 0)
            tally->swamped += (uint64_t)((y == a && b != 0) || (y == b && a != 0));
    }
    return y;
}

/* Rounding number t of output `index`: g(v * w + u * f). */
FPEMU_FN double core_dot_operate(const core_target *g, uint64_t t, uint64_t index, double v, double w, int has_u,
                                 double u, double f, int sum, core_dot_tally *tally)
{
    return core_dot_operate_with(g, core_target_bits(g, t, index), v, w, has_u, u, f, sum, tally);
}

/* Product k as it enters the sum: *v * *w. */
FPEMU_FN void core_dot_term(const core_dot *p, uint64_t t, uint64_t index, double *v, double *w, core_dot_tally *tally)
{
    if (!p->product.given)
        return;
    *v = core_dot_operate(&p->product, t, index, *v, *w, 0, 0, 1, 0, tally);
    *w = 1;
}

/* Whether a chunk ends after product k. */
FPEMU_FN int core_dot_chunk_ends(const core_dot *p, uint64_t k)
{
    return p->chunk && ((k + 1) % p->chunk == 0 || k + 1 == p->depth);
}

/* The chunk's sum, times its scales, goes into s, by rounding number t; it ends with product k. */
FPEMU_FN double core_dot_join(const core_dot *p, core_dot_line a, core_dot_line b, uint64_t t, uint64_t index,
                              uint64_t k, double sum, double s, core_dot_tally *tally)
{
    if (!a.scales && !b.scales)
        return core_dot_operate(&p->outer, t, index, sum, 1, 1, s, 1, 1, tally);
    const double scale = core_dot_line_scale(p, a, k) * core_dot_line_scale(p, b, k);
    return core_dot_operate_exact(&p->outer, sum, scale, 1, s, 1, core_target_bits(&p->outer, t, index), 1, tally);
}

/* Products [from, to), whose numbers a and b have from their beginning on. */
FPEMU_FN void core_dot_sequential(const core_dot *p, core_dot_line a, core_dot_line b, uint64_t from, uint64_t to,
                                  uint64_t index, core_dot_sum *w, core_dot_tally *tally)
{
    const uint64_t given = p->product.given;
    double *const sum = p->chunk ? &w->chunk : &w->s;
    for (uint64_t k = from; k < to; k++) {
        const uint64_t t = k * (given + 1) + (p->chunk ? k / p->chunk : 0);
        double x = core_dot_line_at(p, a, k - from), y = core_dot_line_at(p, b, k - from);
        core_dot_term(p, t, index, &x, &y, tally);
        *sum = core_dot_operate(&p->inner, t + given, index, x, y, 1, *sum, 1, 1, tally);
        if (core_dot_chunk_ends(p, k)) {
            w->s = core_dot_join(p, a, b, t + given + 1, index, k, w->chunk, w->s, tally);
            w->chunk = 0;
        }
    }
}

FPEMU_FN void core_dot_kahan(const core_dot *p, core_dot_line a, core_dot_line b, uint64_t from, uint64_t to,
                             uint64_t index, core_dot_sum *w, core_dot_tally *tally)
{
    const uint64_t given = p->product.given;
    const core_target *g = &p->inner;
    for (uint64_t k = from; k < to; k++) {
        const uint64_t t = k * (given + 4);
        double x = core_dot_line_at(p, a, k - from), y = core_dot_line_at(p, b, k - from);
        core_dot_term(p, t, index, &x, &y, tally);
        const double d = core_dot_operate(g, t + given, index, x, y, 1, -w->chunk, 1, 0, tally);
        const double sum = core_dot_operate(g, t + given + 1, index, w->s, 1, 1, d, 1, 1, tally);
        const double e = core_dot_operate(g, t + given + 2, index, sum, 1, 1, -w->s, 1, 0, tally);
        w->chunk = core_dot_operate(g, t + given + 3, index, e, 1, 1, -d, 1, 0, tally);
        w->s = sum;
    }
}

/* Joins the node that waits at `level` with the node v * w, into node `number` of the next level. Only the sign of zero
 * sees the order of the two, and it does not depend on it. */
FPEMU_FN double core_dot_join_nodes(const core_dot *p, const core_dot_tree *tree, int level, uint64_t number,
                                    uint64_t index, double v, double w, core_dot_tally *tally)
{
    const uint64_t products = p->product.given * p->depth, leaves = p->depth + p->start_from_c;
    return core_dot_operate(&p->inner, products + core_dot_level(leaves, level + 1) + number, index, v, w, 1,
                            level ? tree->stack[level] : tree->leaf, level ? 1 : tree->factor, 1, tally);
}

/* Leaf number k of the tree: v * w. */
FPEMU_FN void core_dot_leaf(const core_dot *p, core_dot_tree *tree, uint64_t k, uint64_t index, double v, double w,
                            core_dot_tally *tally)
{
    int level = 0;
    for (; k & 1; k >>= 1, level++) {
        v = core_dot_join_nodes(p, tree, level, k >> 1, index, v, w, tally);
        w = 1;
    }
    if (level) {
        tree->stack[level] = v;
    } else {
        tree->leaf = v;
        tree->factor = w;
    }
}

/* What waits, joined from the lowest level up. */
FPEMU_FN double core_dot_root(const core_dot *p, const core_dot_tree *tree, uint64_t index, core_dot_tally *tally)
{
    const uint64_t leaves = p->depth + p->start_from_c;
    double v = 0, w = 1;
    int level = 0, have = 0;
    for (uint64_t k = leaves; k; k >>= 1, level++) {
        if (!(k & 1))
            continue;
        if (have) {
            v = core_dot_join_nodes(p, tree, level, (k - 1) >> 1, index, v, w, tally);
            w = 1;
        } else {
            v = level ? tree->stack[level] : tree->leaf;
            w = level ? 1 : tree->factor;
        }
        have = 1;
    }
    return leaves == 1 ? core_dot_operate(&p->inner, p->product.given * p->depth, index, v, w, 0, 0, 1, 0, tally) : v;
}

/* Products [from, to), whose numbers a and b have from their beginning on, as leaves; where the sum starts from c, c is
 * leaf 0. */
FPEMU_FN void core_dot_leaves(const core_dot *p, core_dot_line a, core_dot_line b, uint64_t from, uint64_t to,
                              uint64_t index, core_dot_tree *tree, core_dot_tally *tally)
{
    for (uint64_t k = from; k < to; k++) {
        double x = core_dot_line_at(p, a, k - from), y = core_dot_line_at(p, b, k - from);
        core_dot_term(p, k, index, &x, &y, tally);
        core_dot_leaf(p, tree, k + p->start_from_c, index, x, y, tally);
    }
}

FPEMU_FN double core_dot_pairwise(const core_dot *p, core_dot_line a, core_dot_line b, uint64_t index, double c,
                                  core_dot_tally *tally)
{
    core_dot_tree tree;
    tree.leaf = 0;
    tree.factor = 1;
    if (p->start_from_c)
        core_dot_leaf(p, &tree, 0, index, c, 1, tally);
    core_dot_leaves(p, a, b, 0, p->depth, index, &tree, tally);
    return core_dot_root(p, &tree, index, tally);
}

/* Whether a model is what every fast path knows of it: not one of the other steps of matrix units. */
FPEMU_FN int core_dot_is_plain(const core_dot *p)
{
    return !(p->exact | p->chained | p->late | p->group | p->order);
}

/* How many products steps take in turn, until the next begins where the last ended. */
FPEMU_FN uint64_t core_dot_period(const core_dot *p)
{
    return p->order == FPEMU_PRODUCTS_BY_FOURS ? 2 * p->block : p->block;
}

/* The place of product i of the step that begins at product k. */
FPEMU_FN uint64_t core_dot_place(const core_dot *p, uint64_t k, uint64_t i)
{
    const uint64_t second = k / p->block & 1;
    return p->order == FPEMU_PRODUCTS_IN_ORDER    ? k + i
           : p->order == FPEMU_PRODUCTS_ODD_FIRST ? k + (i ^ 1)
                                                  : k - second * p->block + 4 * (i / 2) + (i & 1) + 2 * second;
}

/* What a step adds up: a product or the exact sum of a group, scaled; and 2 to the power of its exponent, or 0. */
typedef struct core_dot_summand {
    double x, power;
    int nan_came;
} core_dot_summand;

/* Term i of the step at k, of numbers that a and b have from product `from` on, `have` in all. */
FPEMU_FN core_dot_summand core_dot_summand_at(const core_dot *p, core_dot_line a, core_dot_line b, uint64_t from,
                                              uint64_t k, uint64_t i, uint64_t have)
{
    core_dot_summand t = {0, 0, 0};
    const uint64_t size = p->group ? p->group : 1, first = core_dot_place(p, k, i * size);
    if (first >= have)
        return t;
    if (!p->group) {
        const double x = core_dot_line_at(p, a, first), y = core_dot_line_at(p, b, first);
        t.x = x * y;
        t.power = core_dot_power(x, p->least_a) * core_dot_power(y, p->least_b);
        t.nan_came = x != x || y != y;
        return t;
    }
    for (uint64_t l = first; l < first + size && l < have; l++) {
        const double x = core_dot_line_at(p, a, l), y = core_dot_line_at(p, b, l);
        const double power = core_dot_power(x, p->least_a) * core_dot_power(y, p->least_b);
        t.power = power > t.power ? power : t.power;
        t.x += x * y;
        t.nan_came |= x != x || y != y;
    }
    const double v = core_dot_line_scale(p, a, from + first), w = core_dot_line_scale(p, b, from + first);
    const double scale = core_dot_power(v, p->least_scale) * core_dot_power(w, p->least_scale);
    t.power = p->group == 1 || t.power == 0 ? t.power * scale : scale;
    t.x *= v * w;
    t.nan_came |= v != v || w != w;
    return t;
}

/* The largest integer up to x, |x| < 2^51. */
FPEMU_FN double core_dot_floor(double x)
{
    const double cut = core_dot_cut(x);
    return cut > x ? cut - 1 : cut;
}

/* One rounding of a step's sum x to d, to be counted: lost: bits were cut before; nearest: x where x is to odd. */
FPEMU_FN double core_dot_step_result(const core_dot *p, double x, double nearest, int nan_came, int lost,
                                     core_dot_tally *tally)
{
    const core_target *const g = &p->inner;
    uint64_t grid;
    const double y = core_dot_round(g, x == x ? x : core_value64(CORE_INF64 | CORE_INF64 >> 1), 0, &grid);
    if (tally) {
        core_dot_count(g, x, nearest, y, grid, nan_came, tally);
        tally->c.inexact += lost && core_bits64(x) << 1 == core_bits64(y) << 1 && x - x == 0;
    }
    return y;
}

/* One step of a tensor core, at product k of numbers that a and b have from product `from` on, `have` in all: the new
 * d. */
FPEMU_FN double core_dot_fused_step(const core_dot *p, core_dot_line a, core_dot_line b, uint64_t from, uint64_t k,
                                    uint64_t have, double d, core_dot_tally *tally)
{
    const uint64_t n = p->group > 1 ? p->block / p->group : p->block;
    double top = core_dot_power(d, p->least_d), plain = d, sum = 0;
    int nan_came = d != d, lost = 0;
    top = top < p->floor ? p->floor : top;
    for (uint64_t i = 0; i < n; i++) {
        const core_dot_summand t = core_dot_summand_at(p, a, b, from, k, i, have);
        top = t.power > top ? t.power : top;
        plain += t.x;
        nan_came |= t.nan_came;
    }
    double t = plain;
    if (plain - plain == 0) {
        const double unit = p->scale / top; /* all are powers of two */
        for (uint64_t i = 0; i <= n; i++) {
            const double term = (i < n ? core_dot_summand_at(p, a, b, from, k, i, have).x : d) * unit;
            const double kept = core_dot_cut(term);
            sum += kept;
            lost |= kept < term || kept > term;
            if (tally)
                tally->swamped += kept == 0 && (term < 0 || term > 0);
        }
        t = sum / unit;
    }
    return 0 + core_dot_step_result(p, t, t, nan_came, lost, tally); /* a zero is +0 */
}

/* The same where d joins late: sums of products by p->ways, each aligned to its own largest exponent; they, then d, are
 * taken down to their places, and the sum is cut to p->late bits. */
FPEMU_SLOW double core_dot_late_step(const core_dot *p, core_dot_line a, core_dot_line b, uint64_t k, uint64_t have,
                                     double d, core_dot_tally *tally)
{
    const uint32_t ways = p->ways ? p->ways : 1;
    const double fine = core_value64((uint64_t)(1023 + p->late) << 52), more = 2 * fine / p->scale;
    double top[2] = {0, 0}, sum[2] = {0, 0}, plain = d, all = 0;
    int nan_came = d != d, lost = 0;
    for (uint64_t i = 0; i < p->block; i++) {
        const core_dot_summand t = core_dot_summand_at(p, a, b, 0, k, i, have);
        const uint64_t sign = core_bits64(t.x) & CORE_SIGN64;
        plain += t.x >= 0x1p128 || t.x <= -0x1p128 ? core_value64(CORE_INF64 | sign) : t.x;
        top[i % ways] = t.power > top[i % ways] ? t.power : top[i % ways];
        nan_came |= t.nan_came;
    }
    double t = plain;
    if (plain - plain == 0) {
        for (uint64_t i = 0; i < p->block; i++) {
            const double x = core_dot_summand_at(p, a, b, 0, k, i, have).x;
            const double term = x == 0 ? 0 : x * (p->scale / top[i % ways]), kept = core_dot_cut(term);
            sum[i % ways] += kept;
            lost |= kept < term || kept > term;
            if (tally)
                tally->swamped += kept == 0 && x != 0;
        }
        const double dot = top[0] > top[1] ? top[0] : top[1], power = core_dot_power(d, p->least_d);
        double last = dot > power ? dot : power;
        last = last > p->least_d ? last : p->least_d;
        for (uint32_t i = 0; i < ways && dot > 0; i++) {
            const double part = sum[i] * (top[i] / dot), kept = core_dot_floor(part);
            all += kept;
            lost |= kept < part;
        }
        const double products = all * (dot / last) * more, old = d * (p->scale / last);
        const double kept = core_dot_floor(products);
        const double kept_old = ways > 1 && power * 2 * p->scale < last ? 0 : core_dot_floor(old);
        const double whole = 0 + (kept + kept_old * more) * (last / fine / 2);
        const double unit = core_dot_power(whole, p->least_d) / fine;
        t = whole == 0 ? whole : core_dot_floor(whole / unit) * unit;
        lost |= kept < products || kept_old < old || kept_old > old || t < whole;
        if (tally)
            tally->swamped += kept_old == 0 && d != 0;
    }
    return core_dot_step_result(p, t, t, nan_came, lost, tally);
}

/* Limbs of 32 bits of an exact sum, and the power of two of the first: products of two numbers of binary32 that have
 * up to 12 bits, as binary64 has them. */
#define CORE_DOT_LIMBS 22
#define CORE_DOT_LOWEST (-384)

/* A number that limbs hold, added to them. */
FPEMU_FN void core_dot_limbs_add(int64_t *limb, double x)
{
    const uint64_t u = core_bits64(x), m = (u & ((UINT64_C(1) << 52) - 1)) | (UINT64_C(1) << 52);
    if (x == 0)
        return;
    const int place = (int)(u >> 52 & 2047) - 1075 - CORE_DOT_LOWEST, bit = place % 32;
    const int64_t sign = x < 0 ? -1 : 1;
    const uint64_t low = (m & 0xffffffffu) << bit, high = (m >> 32) << bit;
    limb[place / 32] += sign * (int64_t)(low & 0xffffffffu);
    limb[place / 32 + 1] += sign * (int64_t)((low >> 32) + (high & 0xffffffffu));
    limb[place / 32 + 2] += sign * (int64_t)(high >> 32);
}

/* Their sum; zero is +0. They become digits of its magnitude. */
FPEMU_FN core_exact core_dot_limbs_sum(int64_t *limb)
{
    core_exact x = core_exact_special(CORE_ZERO, 0, 0);
    int64_t carry;
    int last;
    for (int pass = 0; pass < 2; pass++) {
        carry = 0;
        last = -1;
        for (int i = 0; i < CORE_DOT_LIMBS; i++) {
            const int64_t v = (x.negative ? -limb[i] : limb[i]) + carry, digit = (int64_t)((uint64_t)v & 0xffffffffu);
            limb[i] = digit;
            carry = (v - digit) / INT64_C(0x100000000);
            last = digit ? i : last;
        }
        if (carry == 0)
            break;
        x.negative = 1; /* the digits less 2^(32 * limbs): so the magnitude is what is missing */
    }
    if (last < 0)
        return x;
    uint64_t digit[4];
    for (int i = 0; i < 4; i++)
        digit[i] = last >= i ? (uint64_t)limb[last - i] : 0;
    x.kind = CORE_FINITE;
    x.high = digit[0] << 32 | digit[1];
    x.low = digit[2] << 32 | digit[3];
    for (int i = 0; i <= last - 4; i++)
        x.low |= limb[i] != 0;
    x.top = 32 * (last + 1) - 1 + CORE_DOT_LOWEST;
    core_exact_normalise(&x);
    return x;
}

/* The exact sum of d and a step's products, rounded once. */
FPEMU_SLOW double core_dot_exact_step(const core_dot *p, core_dot_line a, core_dot_line b, uint64_t k, uint64_t have,
                                      double d, core_dot_tally *tally)
{
    int64_t limb[CORE_DOT_LIMBS];
    double plain = d;
    int nan_came = d != d;
    uint64_t grid;
    memset(limb, 0, sizeof limb);
    for (uint64_t i = 0; i <= p->block; i++) {
        core_dot_summand t = {d, 0, 0};
        if (i < p->block)
            t = core_dot_summand_at(p, a, b, 0, k, i, have);
        plain += t.x;
        nan_came |= t.nan_came;
        if (t.x - t.x == 0)
            core_dot_limbs_add(limb, t.x);
    }
    const core_exact x = plain - plain == 0 ? core_dot_limbs_sum(limb) : core_exact_from(core_bits64(plain));
    const double y = core_value64(core_exact_round(&p->inner.plan, &x, 0, &grid));
    if (tally) {
        core_count_exact(&p->inner.plan, &x, y, grid, &tally->c);
        tally->c.invalid += x.kind == CORE_NOT_A_NUMBER && !nan_came;
        tally->roundings++;
    }
    return y;
}

/* Fused multiply-adds in chains, product after product to the next of them; chains join in pairs, then with d. One
 * chain without more begins with d. */
FPEMU_SLOW double core_dot_chained_step(const core_dot *p, core_dot_line a, core_dot_line b, uint64_t k, uint64_t have,
                                        double d, core_dot_tally *tally)
{
    const uint32_t ways = p->ways ? p->ways : 1;
    double chain[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    chain[0] = p->late ? 0 : d;
    for (uint64_t i = 0; i < p->block; i++) {
        const uint64_t l = core_dot_place(p, k, i);
        if (l < have)
            chain[i % ways] = core_dot_operate_with(&p->inner, 0, core_dot_line_at(p, a, l), core_dot_line_at(p, b, l),
                                                    1, chain[i % ways], 1, 1, tally);
    }
    for (uint32_t gap = 1; gap < ways; gap *= 2)
        for (uint32_t i = 0; i < ways; i += 2 * gap)
            chain[i] = core_dot_operate_with(&p->inner, 0, chain[i], 1, 1, chain[i + gap], 1, 1, tally);
    return p->late ? core_dot_operate_with(&p->inner, 0, chain[0], 1, 1, d, 1, 1, tally) : chain[0];
}

/* `from` is a multiple of the products that steps take in turn; so is `to`, or it is the last. */
FPEMU_FN void core_dot_fused(const core_dot *p, core_dot_line a, core_dot_line b, uint64_t from, uint64_t to,
                             uint64_t index, core_dot_sum *w, core_dot_tally *tally)
{
    double *const d = p->chunk ? &w->chunk : &w->s;
    const uint64_t have = to - from, period = core_dot_period(p), end = (have + period - 1) / period * period;
    for (uint64_t k = 0; k < end; k += p->block) {
        const uint64_t at = from + k, past = at + p->block;
        *d = p->chained ? core_dot_chained_step(p, a, b, k, have, *d, tally)
             : p->exact ? core_dot_exact_step(p, a, b, k, have, *d, tally)
             : p->late  ? core_dot_late_step(p, a, b, k, have, *d, tally)
                        : core_dot_fused_step(p, a, b, from, k, have, *d, tally);
        if (p->chunk && (past % p->chunk == 0 || (k + p->block == end && to == p->depth))) {
            w->s = core_dot_join(p, a, b, at / p->chunk, index, at, w->chunk, w->s, tally);
            w->chunk = 0;
        }
    }
}

/* 2^-quantum in two steps, each a power of two that binary64 has. */
typedef struct core_dot_unit {
    double low, high;
} core_dot_unit;

FPEMU_FN core_dot_unit core_dot_unit_of(int quantum)
{
    const core_dot_unit u = {core_value64(core_power64(-(quantum / 2))),
                             core_value64(core_power64(quantum / 2 - quantum))};
    return u;
}

/* An operand as an integer: how many units it has. */
FPEMU_FN int64_t core_dot_units(double x, core_dot_unit u)
{
    return (int64_t)(x * u.low * u.high);
}

FPEMU_FN void core_dot_integer(const core_dot *p, core_dot_line a, core_dot_line b, uint64_t from, uint64_t to,
                               core_dot_sum *w, core_dot_tally *tally)
{
    const int exponent = p->quantum_a + p->quantum_b;
    const core_dot_unit unit_a = core_dot_unit_of(p->quantum_a), unit_b = core_dot_unit_of(p->quantum_b);
    int64_t s = w->whole;
    int nan = w->nan;
    for (uint64_t k = from; k < to; k++) {
        const double x = core_dot_line_at(p, a, k - from), y = core_dot_line_at(p, b, k - from);
        int over = 0;
        nan |= x != x || y != y;
        const int64_t product = nan ? 0 : core_dot_units(x, unit_a) * core_dot_units(y, unit_b);
        const int64_t old = s;
        s = core_dot_integer_sum(old, product, p->width, p->wrap, &over);
        if (!tally)
            continue;
        tally->roundings++;
        if (nan) {
            tally->c.nan++;
            continue;
        }
        const core_exact sum =
            core_exact_add(core_exact_integer(old, exponent), core_exact_integer(product, exponent), FPEMU_MODE_RNE);
        const uint64_t x64 = core_exact_binary64(&sum, FPEMU_MODE_RNE), kept = x64 & ~CORE_SIGN64;
        core_exact minus = core_exact_integer(s, exponent);
        minus.negative ^= 1;
        const core_exact error = core_exact_add(core_exact_from(x64), minus, FPEMU_MODE_RNE);
        const double d = core_value64(core_exact_binary64(&error, FPEMU_MODE_RNE) & ~CORE_SIGN64);
        core_counts *const c = &tally->c;
        c->overflow += (unsigned)over;
        c->clipped += (unsigned)over;
        c->inexact += (unsigned)over;
        c->underflow += sum.kind != CORE_ZERO && s == 0;
        tally->swamped += (s == old && product) || (s == product && old);
        if (kept >= CORE_INF64)
            continue; /* as an infinite x elsewhere */
        c->max_abs = kept > c->max_abs ? kept : c->max_abs;
        c->min_abs = kept && (!c->min_abs || kept < c->min_abs) ? kept : c->min_abs;
        c->max_error = d > c->max_error && core_bits64(d) < CORE_INF64 ? d : c->max_error;
    }
    w->whole = s;
    w->nan = nan;
}

/* Whether a sum can be made piece by piece. */
FPEMU_FN int core_dot_in_pieces(const core_dot *p)
{
    return p->model != FPEMU_MODEL_PAIRWISE;
}

/* Before the first product: from the old c. */
FPEMU_FN void core_dot_begin(const core_dot *p, double c, core_dot_sum *w)
{
    memset(w, 0, sizeof *w);
    if (!p->start_from_c)
        return;
    const core_plan64 *start = &p->start;
    const uint64_t u = core_bits64(c), sign = u & CORE_SIGN64, m = u ^ sign;
    w->s = core_value64(
        start->rule == CORE_RULE_POSIT
            ? core_finish64(start, u, m == 0 || m >= CORE_INF64 ? 0 : core_posit64(start, m))
            : core_finish_any64(start, u, m >= CORE_INF64 ? 0 : core_grid64(start, FPEMU_MODE_RNE, 1, 32, m, sign, 0)));
    if (p->flush && w->s < p->least_d && w->s > -p->least_d)
        w->s = core_value64(sign);
}

/* Adds products [from, to), whose numbers a and b have from their beginning on; scales count from product 0. */
FPEMU_FN void core_dot_advance(const core_dot *p, core_dot_line a, core_dot_line b, uint64_t from, uint64_t to,
                               uint64_t index, core_dot_sum *w, core_dot_tally *tally)
{
    switch (p->model) {
    case FPEMU_MODEL_KAHAN: core_dot_kahan(p, a, b, from, to, index, w, tally); break;
    case FPEMU_MODEL_FUSED: core_dot_fused(p, a, b, from, to, index, w, tally); break;
    case FPEMU_MODEL_INTEGER: core_dot_integer(p, a, b, from, to, w, tally); break;
    default: core_dot_sequential(p, a, b, from, to, index, w, tally);
    }
}

/* What the sum becomes. */
FPEMU_FN double core_dot_end(const core_dot *p, uint64_t index, double c, const core_dot_sum *w, core_dot_tally *tally)
{
    const core_target *g = &p->out;
    const int integer = p->model == FPEMU_MODEL_INTEGER;
    const double s = w->s;
    if (p->plain && !integer)
        return s == s ? s : core_value64(CORE_INF64 | CORE_INF64 >> 1);
    core_exact x = core_exact_special(CORE_ZERO, 0, 0);
    int nan_came = p->alpha != p->alpha || p->beta != p->beta;
    if (p->alpha != 0) {
        x = core_exact_from(core_bits64(s));
        if (integer)
            x = w->nan ? core_exact_special(CORE_NOT_A_NUMBER, 0, 0)
                       : core_exact_integer(w->whole, p->quantum_a + p->quantum_b);
        nan_came |= x.kind == CORE_NOT_A_NUMBER;
        x.top += w->exponent;
        if (!(p->alpha == 1))
            x = core_exact_multiply(core_exact_from(core_bits64(p->alpha)), x);
    }
    if (p->beta != 0 && !p->start_from_c) {
        const core_exact old =
            core_exact_multiply(core_exact_from(core_bits64(p->beta)), core_exact_from(core_bits64(c)));
        nan_came |= c != c;
        x = p->alpha != 0 ? core_exact_add(x, old, g->plan.mode) : old;
    }
    uint64_t grid;
    const double y = core_value64(core_exact_round(&g->plan, &x, core_target_bits(g, p->total, index), &grid));
    if (tally && g->given) {
        core_count_exact(&g->plan, &x, y, grid, &tally->c);
        tally->c.invalid += x.kind == CORE_NOT_A_NUMBER && !nan_came;
        tally->found_nan |= g->nan_is_error && x.kind == CORE_NOT_A_NUMBER;
        tally->roundings++;
    }
    return y;
}

/* Output `index`: from rows a and b, and the old c. */
FPEMU_FN double core_dot_output(const core_dot *p, core_dot_line a, core_dot_line b, uint64_t index, double c,
                                core_dot_tally *tally)
{
    core_dot_sum w;
    core_dot_begin(p, c, &w);
    if (p->alpha != 0 && (p->depth || p->start_from_c)) {
        if (core_dot_in_pieces(p))
            core_dot_advance(p, a, b, 0, p->depth, index, &w, tally);
        else
            w.s = core_dot_pairwise(p, a, b, index, w.s, tally);
    }
    return core_dot_end(p, index, c, &w, tally);
}

#endif /* FPEMU_CORE_DOT_MODELS_H */
