/* product.h - one output of a dot product by every model of doc/accumulation.md, one rounding after the other: what
 * devices call, one output a thread. lib/gemm.c takes the same steps for many outputs at a time. */
#ifndef FPEMU_CORE_PRODUCT_H
#define FPEMU_CORE_PRODUCT_H

#include "count.h"
#include "dot.h"

/* A target, prepared. */
typedef struct core_goal {
    core_plan64 plan;
    uint64_t seed, stream, offset;
    uint8_t philox, stochastic;
    uint8_t given;
    uint8_t short_way; /* operands are binary32 numbers, and binary64 has the bits */
    uint8_t native;    /* the short way, and binary64 itself to nearest */
} core_goal;

/* Numbers of a and of b: element k lies at p + k * step, in elements of the carrier. */
typedef struct core_line {
    const void *p;
    int64_t step;
} core_line;

/* What all outputs share. */
typedef struct core_product {
    core_goal product, inner, outer, out;
    core_plan64 start;     /* what c is rounded to where the sum starts from it */
    uint64_t depth, total; /* K, T */
    double alpha, beta;
    double least_a, least_b, scale, floor; /* fused: 2^emin of the operands, 2^f, 2^least exponent */
    uint64_t chunk;
    uint32_t block;
    int32_t quantum_a, quantum_b, width;
    uint8_t model, wrap, start_from_c, wide; /* wide: the carrier is binary64 */
    uint8_t plain;         /* s is the result */
} core_product;

/* What roundings count for. */
typedef struct core_tally {
    core_counts c;
    uint64_t roundings, swamped;
} core_tally;

/* Fills g; checked before. `seen` as core_dot_plan gives it. */
FPEMU_FN void core_goal_make(core_goal *g, const fpemu_target *t, int carrier, int narrow)
{
    fpemu_format seen;
    memset(g, 0, sizeof *g);
    (void)core_dot_plan(&t->format, &t->rounding, carrier, &g->plan, &seen);
    g->seed = t->rounding.seed;
    g->stream = t->rounding.stream;
    g->offset = t->rounding.offset;
    g->philox = t->rounding.generator == FPEMU_PHILOX;
    g->stochastic = g->plan.mode >= FPEMU_SR;
    g->given = 1;
    g->short_way = narrow && core_dot_short(&seen, &g->plan);
    g->native = narrow && seen.kind == FPEMU_KIND_FLOAT && seen.mantissa_bits == 52 && seen.emin == -1022 &&
                seen.emax == 1023 && seen.has_infinity && seen.subnormals == FPEMU_SUBNORMALS_KEEP &&
                seen.has_negative_zero && seen.is_signed && g->plan.mode == FPEMU_RNE &&
                g->plan.infinite[0] == CORE_INF64 && g->plan.overflow[0] == CORE_INF64;
}

FPEMU_FN double core_line_at(const core_product *p, core_line line, uint64_t k)
{
    const int64_t i = (int64_t)k * line.step;
    return p->wide ? ((const double *)line.p)[i] : (double)((const float *)line.p)[i];
}

FPEMU_FN uint32_t core_goal_bits(const core_goal *g, uint64_t t, uint64_t index)
{
    return g->stochastic ? core_random_bits(g->philox, g->seed, core_dot_stream(g->stream, t), g->plan.n,
                                            g->offset + index)
                         : 0;
}

/* v * w + u * f taken to g by 128 bits. tally: NULL, or what counts it. */
FPEMU_SLOW double core_operate_exact(const core_goal *g, double v, double w, int has_u, double u, double f, uint32_t r,
                                     core_tally *tally)
{
    uint64_t grid;
    core_exact x = core_exact_multiply(core_exact_from(core_bits64(v)), core_exact_from(core_bits64(w)));
    int nan_came = v != v || w != w;
    if (has_u) {
        const core_exact other = core_exact_multiply(core_exact_from(core_bits64(u)), core_exact_from(core_bits64(f)));
        nan_came |= u != u || f != f;
        x = core_exact_add(x, other, g->plan.mode);
    }
    const double y = core_value64(core_exact_round(&g->plan, &x, r, &grid));
    if (tally) {
        core_count_exact(&g->plan, &x, y, grid, &tally->c);
        tally->c.invalid += x.kind == CORE_NOT_A_NUMBER && !nan_came;
        tally->roundings++;
    }
    return y;
}

/* g(v * w + u * f), rounding number t of output `index`; sum: additions that change nothing are counted. */
FPEMU_FN double core_operate(const core_goal *g, uint64_t t, uint64_t index, double v, double w, int has_u, double u,
                             double f, int sum, core_tally *tally)
{
    const uint32_t r = core_goal_bits(g, t, index);
    if (tally) {
        const double y = core_operate_exact(g, v, w, has_u, u, f, r, tally);
        if (sum)
            tally->swamped += (uint64_t)core_dot_swamped(core_bits64(v), core_bits64(w), core_bits64(u),
                                                         core_bits64(f), core_bits64(y));
        return y;
    }
    if (!g->short_way && !g->native)
        return core_operate_exact(g, v, w, has_u, u, f, r, NULL);
    /* products of binary32 numbers are exact */
    const double a = v * w, b = u * f, nan = core_value64(CORE_INF64 | CORE_INF64 >> 1);
    if (g->native) {
        const double y = has_u ? a + b : a;
        return y == y ? y : nan;
    }
    const double odd = has_u ? core_sum_odd(a, b, g->plan.mode == FPEMU_RTN ? CORE_SIGN64 : 0) : a;
    const core_plan64 *p = &g->plan;
    const uint64_t x = core_bits64(odd == odd ? odd : nan), sign = x & CORE_SIGN64, magnitude = x ^ sign;
    if (p->rule == CORE_RULE_POSIT)
        return core_value64(core_finish64(p, x, magnitude == 0 || magnitude >= CORE_INF64 ? 0 : core_posit64(p, magnitude)));
    return core_value64(core_finish_any64(p, x, core_grid64(p, p->mode, 1, p->n, magnitude, sign, (uint64_t)r << 32)));
}

/* Product k as it enters the sum: *v * *w. */
FPEMU_FN void core_product_term(const core_product *p, uint64_t t, uint64_t index, double *v, double *w,
                                core_tally *tally)
{
    if (!p->product.given)
        return;
    *v = core_operate(&p->product, t, index, *v, *w, 0, 0, 1, 0, tally);
    *w = 1;
}

/* Whether a chunk ends after product k. */
FPEMU_FN int core_product_chunk_ends(const core_product *p, uint64_t k)
{
    return p->chunk && ((k + 1) % p->chunk == 0 || k + 1 == p->depth);
}

FPEMU_FN double core_product_sequential(const core_product *p, core_line a, core_line b, uint64_t index, double s,
                                        core_tally *tally)
{
    const uint64_t given = p->product.given;
    double sum = p->chunk ? 0 : s;
    for (uint64_t k = 0; k < p->depth; k++) {
        const uint64_t t = k * (given + 1) + (p->chunk ? k / p->chunk : 0);
        double v = core_line_at(p, a, k), w = core_line_at(p, b, k);
        core_product_term(p, t, index, &v, &w, tally);
        sum = core_operate(&p->inner, t + given, index, v, w, 1, sum, 1, 1, tally);
        if (core_product_chunk_ends(p, k)) {
            s = core_operate(&p->outer, t + given + 1, index, sum, 1, 1, s, 1, 1, tally);
            sum = 0;
        }
    }
    return p->chunk ? s : sum;
}

FPEMU_FN double core_product_kahan(const core_product *p, core_line a, core_line b, uint64_t index, double s,
                                   core_tally *tally)
{
    const uint64_t given = p->product.given;
    const core_goal *g = &p->inner;
    double e = 0;
    for (uint64_t k = 0; k < p->depth; k++) {
        const uint64_t t = k * (given + 4);
        double v = core_line_at(p, a, k), w = core_line_at(p, b, k);
        core_product_term(p, t, index, &v, &w, tally);
        const double y = core_operate(g, t + given, index, v, w, 1, -e, 1, 0, tally);
        const double sum = core_operate(g, t + given + 1, index, s, 1, 1, y, 1, 1, tally);
        const double d = core_operate(g, t + given + 2, index, sum, 1, 1, -s, 1, 0, tally);
        e = core_operate(g, t + given + 3, index, d, 1, 1, -y, 1, 0, tally);
        s = sum;
    }
    return s;
}

/* Nodes wait in the stack of levels, as in a binary counter; level 0 is a leaf, v * w. */
#define CORE_LEVELS 64

FPEMU_FN double core_product_pairwise(const core_product *p, core_line a, core_line b, uint64_t index, double c,
                                      core_tally *tally)
{
    const uint64_t given = p->product.given, first = p->start_from_c, leaves = p->depth + first;
    const uint64_t sums = given * p->depth;
    double stack[CORE_LEVELS], leaf = 0, factor = 1, v = 0, w = 1;
    for (uint64_t leaf_number = 0; leaf_number < leaves; leaf_number++) {
        uint64_t k = leaf_number;
        int level = 0;
        v = c;
        w = 1;
        if (k >= first) {
            v = core_line_at(p, a, k - first);
            w = core_line_at(p, b, k - first);
            core_product_term(p, k - first, index, &v, &w, tally);
        }
        for (; k & 1; k >>= 1, level++) {
            v = core_operate(&p->inner, sums + core_dot_level(leaves, level + 1) + (k >> 1), index, v, w, 1,
                             level ? stack[level] : leaf, level ? 1 : factor, 1, tally);
            w = 1;
        }
        if (level) {
            stack[level] = v;
        } else {
            leaf = v;
            factor = w;
        }
    }
    /* what waits is joined from the lowest level up */
    int level = 0, have = 0;
    v = 0;
    w = 1;
    for (uint64_t k = leaves; k; k >>= 1, level++) {
        if (!(k & 1))
            continue;
        if (have) {
            v = core_operate(&p->inner, sums + core_dot_level(leaves, level + 1) + ((k - 1) >> 1), index, v, w, 1,
                             level ? stack[level] : leaf, level ? 1 : factor, 1, tally);
            w = 1;
        } else {
            v = level ? stack[level] : leaf;
            w = level ? 1 : factor;
        }
        have = 1;
    }
    return leaves == 1 ? core_operate(&p->inner, sums, index, v, w, 0, 0, 1, 0, tally) : v;
}

/* One step of a tensor core on products [k, k + n): d anew. */
FPEMU_FN double core_product_step(const core_product *p, core_line a, core_line b, uint64_t k, uint64_t n, double d,
                                  core_tally *tally)
{
    const core_goal *g = &p->inner;
    double top = core_dot_power(d, 1.1754943508222875e-38), plain = d, sum = 0;
    int nan_came = d != d, lost = 0;
    uint64_t grid;
    top = top < p->floor ? p->floor : top;
    for (uint64_t l = k; l < k + n; l++) {
        const double x = core_line_at(p, a, l), y = core_line_at(p, b, l);
        const double e = core_dot_power(x, p->least_a) * core_dot_power(y, p->least_b);
        top = e > top ? e : top;
        plain += x * y;
        nan_came |= x != x || y != y;
    }
    double t = plain;
    if (plain - plain == 0) {
        const double unit = p->scale / top; /* all are powers of two */
        for (uint64_t l = k; l <= k + n; l++) {
            const double term = (l < k + n ? core_line_at(p, a, l) * core_line_at(p, b, l) : d) * unit;
            const double kept = core_dot_cut(term);
            sum += kept;
            lost |= kept < term || kept > term;
            if (tally)
                tally->swamped += kept == 0 && (term < 0 || term > 0);
        }
        t = sum / unit;
    }
    const core_exact x = core_exact_from(core_bits64(t));
    const double y = core_value64(core_exact_round(&g->plan, &x, 0, &grid));
    if (tally) {
        core_count_exact(&g->plan, &x, y, grid, &tally->c);
        tally->c.inexact += lost && core_bits64(t) << 1 == core_bits64(y) << 1 && t - t == 0;
        tally->c.invalid += t != t && !nan_came;
        tally->roundings++;
    }
    return y;
}

FPEMU_FN double core_product_fused(const core_product *p, core_line a, core_line b, uint64_t index, double s,
                                   core_tally *tally)
{
    double d = p->chunk ? 0 : s;
    for (uint64_t k = 0; k < p->depth; k += p->block) {
        const uint64_t n = p->depth - k < p->block ? p->depth - k : p->block;
        d = core_product_step(p, a, b, k, n, d, tally);
        if (core_product_chunk_ends(p, k + n - 1)) {
            s = core_operate(&p->outer, k / p->chunk, index, d, 1, 1, s, 1, 1, tally);
            d = 0;
        }
    }
    return p->chunk ? s : d;
}

/* x * 2^e where that is exact. */
FPEMU_FN double core_shifted(double x, int e)
{
    const int half = e / 2;
    return x * core_value64(core_power64(half)) * core_value64(core_power64(e - half));
}

/* S; *nan: an operand was NaN. */
FPEMU_FN int64_t core_product_integer(const core_product *p, core_line a, core_line b, int *nan, core_tally *tally)
{
    const int exponent = p->quantum_a + p->quantum_b;
    int64_t s = 0;
    *nan = 0;
    for (uint64_t k = 0; k < p->depth; k++) {
        const double x = core_line_at(p, a, k), y = core_line_at(p, b, k);
        int over = 0;
        *nan |= x != x || y != y;
        const int64_t product =
            *nan ? 0 : (int64_t)core_shifted(x, -p->quantum_a) * (int64_t)core_shifted(y, -p->quantum_b);
        const int64_t old = s;
        s = core_dot_integer(old, product, p->width, p->wrap, &over);
        if (!tally)
            continue;
        tally->roundings++;
        if (*nan) {
            tally->c.nan++;
            continue;
        }
        const core_exact sum =
            core_exact_add(core_exact_integer(old, exponent), core_exact_integer(product, exponent), FPEMU_RNE);
        const uint64_t kept = core_exact_binary64(&sum, FPEMU_RNE) & ~CORE_SIGN64;
        core_exact minus = core_exact_integer(s, exponent);
        minus.negative ^= 1;
        const core_exact error = core_exact_add(sum, minus, FPEMU_RNE);
        const double d = core_value64(core_exact_binary64(&error, FPEMU_RNE) & ~CORE_SIGN64);
        core_counts *const c = &tally->c;
        c->overflow += (unsigned)over;
        c->clipped += (unsigned)over;
        c->inexact += (unsigned)over;
        c->underflow += sum.kind != CORE_ZERO && s == 0;
        tally->swamped += (s == old && product) || (s == product && old);
        c->max_abs = kept > c->max_abs ? kept : c->max_abs;
        c->min_abs = kept && (!c->min_abs || kept < c->min_abs) ? kept : c->min_abs;
        c->max_error = d > c->max_error ? d : c->max_error;
    }
    return s;
}

/* Output `index`: from rows a and b, and the old c. */
FPEMU_FN double core_product_output(const core_product *p, core_line a, core_line b, uint64_t index, double c,
                                    core_tally *tally)
{
    const core_goal *g = &p->out;
    const int integer = p->model == FPEMU_INTEGER;
    double s = 0;
    int64_t whole = 0;
    int nan = 0;
    if (p->start_from_c) {
        const core_plan64 *start = &p->start;
        const uint64_t u = core_bits64(c), sign = u & CORE_SIGN64, m = u ^ sign;
        s = core_value64(start->rule == CORE_RULE_POSIT
                             ? core_finish64(start, u, m == 0 || m >= CORE_INF64 ? 0 : core_posit64(start, m))
                             : core_finish_any64(start, u,
                                                 m >= CORE_INF64 ? 0 : core_grid64(start, FPEMU_RNE, 1, 32, m, sign, 0)));
    }
    if (p->alpha != 0 && (p->depth || p->start_from_c))
        switch (p->model) {
        case FPEMU_PAIRWISE: s = core_product_pairwise(p, a, b, index, s, tally); break;
        case FPEMU_KAHAN: s = core_product_kahan(p, a, b, index, s, tally); break;
        case FPEMU_FUSED: s = core_product_fused(p, a, b, index, s, tally); break;
        case FPEMU_INTEGER: whole = core_product_integer(p, a, b, &nan, tally); break;
        default: s = core_product_sequential(p, a, b, index, s, tally);
        }
    if (p->plain && !integer)
        return s == s ? s : core_value64(CORE_INF64 | CORE_INF64 >> 1);
    core_exact x = core_exact_special(CORE_ZERO, 0, 0);
    int nan_came = p->alpha != p->alpha || p->beta != p->beta;
    if (p->alpha != 0) {
        x = core_exact_from(core_bits64(s));
        if (integer)
            x = nan ? core_exact_special(CORE_NOT_A_NUMBER, 0, 0)
                    : core_exact_integer(whole, p->quantum_a + p->quantum_b);
        nan_came |= x.kind == CORE_NOT_A_NUMBER;
        if (!(p->alpha == 1))
            x = core_exact_multiply(core_exact_from(core_bits64(p->alpha)), x);
    }
    if (p->beta != 0 && !p->start_from_c) {
        const core_exact old = core_exact_multiply(core_exact_from(core_bits64(p->beta)),
                                                   core_exact_from(core_bits64(c)));
        nan_came |= c != c;
        x = p->alpha != 0 ? core_exact_add(x, old, g->plan.mode) : old;
    }
    uint64_t grid;
    const double y = core_value64(core_exact_round(&g->plan, &x, core_goal_bits(g, p->total, index), &grid));
    if (tally && g->given) {
        core_count_exact(&g->plan, &x, y, grid, &tally->c);
        tally->c.invalid += x.kind == CORE_NOT_A_NUMBER && !nan_came;
        tally->roundings++;
    }
    return y;
}

#endif /* FPEMU_CORE_PRODUCT_H */
