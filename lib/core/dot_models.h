/* product.h - one output of a dot product by every model of doc/accumulation.md, one rounding after the other: what
 * devices call, one output a thread. lib/gemm/gemm.c takes the same steps for many outputs at a time. */
#ifndef FPEMU_CORE_PRODUCT_H
#define FPEMU_CORE_PRODUCT_H

#include "events.h"
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
    const void *scales; /* of its chunks, one after the other; NULL: all 1 */
} core_line;

/* A sum on its way, as much of it as every model but the pairwise one needs. */
typedef struct core_running {
    double s, chunk; /* chunk: the sum of the chunk; Kahan's e; the tensor core's d */
    int64_t whole;
    int nan;
} core_running;

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
    uint8_t plain;                           /* s is the result */
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
    g->philox = t->rounding.generator == FPEMU_GENERATOR_PHILOX;
    g->stochastic = g->plan.mode >= FPEMU_MODE_SR;
    g->given = 1;
    g->short_way = narrow && core_dot_short(&seen, &g->plan);
    g->native = narrow && seen.kind == FPEMU_KIND_FLOAT && seen.mantissa_bits == 52 && seen.emin == -1022 &&
                seen.emax == 1023 && seen.has_infinity && seen.subnormals == FPEMU_SUBNORMALS_KEEP &&
                seen.has_negative_zero && seen.is_signed && g->plan.mode == FPEMU_MODE_RNE &&
                g->plan.infinite[0] == CORE_INF64 && g->plan.overflow[0] == CORE_INF64;
}

FPEMU_FN double core_line_at(const core_product *p, core_line line, uint64_t k)
{
    const int64_t i = (int64_t)k * line.step;
    return p->wide ? ((const double *)line.p)[i] : (double)((const float *)line.p)[i];
}

/* The scale of the chunk with product k; what is no binary32 number becomes NaN, so that products of two are exact. */
FPEMU_FN double core_line_scale(const core_product *p, core_line line, uint64_t k)
{
    if (!line.scales)
        return 1;
    const uint64_t i = k / p->chunk;
    if (!p->wide)
        return (double)((const float *)line.scales)[i];
    const double x = ((const double *)line.scales)[i], back = (double)(float)x;
    return core_bits64(back) == core_bits64(x) ? x : core_value64(CORE_INF64 | CORE_INF64 >> 1);
}

FPEMU_FN uint32_t core_goal_bits(const core_goal *g, uint64_t t, uint64_t index)
{
    return g->stochastic
               ? core_random_bits(g->philox, g->seed, core_dot_stream(g->stream, t), g->plan.n, g->offset + index)
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
            tally->swamped += (uint64_t)core_dot_swamped(core_bits64(v), core_bits64(w), core_bits64(u), core_bits64(f),
                                                         core_bits64(y));
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
    const double odd = has_u ? core_sum_odd(a, b, g->plan.mode == FPEMU_MODE_RTN ? CORE_SIGN64 : 0) : a;
    const core_plan64 *p = &g->plan;
    const uint64_t x = core_bits64(odd == odd ? odd : nan), sign = x & CORE_SIGN64, magnitude = x ^ sign;
    if (p->rule == CORE_RULE_POSIT)
        return core_value64(
            core_finish64(p, x, magnitude == 0 || magnitude >= CORE_INF64 ? 0 : core_posit64(p, magnitude)));
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

/* The chunk's sum, times its scales, goes into s, by rounding number t; it ends with product k. */
FPEMU_FN double core_product_join(const core_product *p, core_line a, core_line b, uint64_t t, uint64_t index,
                                  uint64_t k, double sum, double s, core_tally *tally)
{
    if (!a.scales && !b.scales)
        return core_operate(&p->outer, t, index, sum, 1, 1, s, 1, 1, tally);
    const double scale = core_line_scale(p, a, k) * core_line_scale(p, b, k);
    const double y = core_operate_exact(&p->outer, sum, scale, 1, s, 1, core_goal_bits(&p->outer, t, index), tally);
    if (tally)
        tally->swamped += (uint64_t)core_dot_swamped(core_bits64(sum), core_bits64(scale), core_bits64(s),
                                                     core_bits64(1), core_bits64(y));
    return y;
}

/* Products [from, to), whose numbers a and b have from their beginning on. */
FPEMU_FN void core_product_sequential(const core_product *p, core_line a, core_line b, uint64_t from, uint64_t to,
                                      uint64_t index, core_running *w, core_tally *tally)
{
    const uint64_t given = p->product.given;
    double *const sum = p->chunk ? &w->chunk : &w->s;
    for (uint64_t k = from; k < to; k++) {
        const uint64_t t = k * (given + 1) + (p->chunk ? k / p->chunk : 0);
        double x = core_line_at(p, a, k - from), y = core_line_at(p, b, k - from);
        core_product_term(p, t, index, &x, &y, tally);
        *sum = core_operate(&p->inner, t + given, index, x, y, 1, *sum, 1, 1, tally);
        if (core_product_chunk_ends(p, k)) {
            w->s = core_product_join(p, a, b, t + given + 1, index, k, w->chunk, w->s, tally);
            w->chunk = 0;
        }
    }
}

FPEMU_FN void core_product_kahan(const core_product *p, core_line a, core_line b, uint64_t from, uint64_t to,
                                 uint64_t index, core_running *w, core_tally *tally)
{
    const uint64_t given = p->product.given;
    const core_goal *g = &p->inner;
    for (uint64_t k = from; k < to; k++) {
        const uint64_t t = k * (given + 4);
        double x = core_line_at(p, a, k - from), y = core_line_at(p, b, k - from);
        core_product_term(p, t, index, &x, &y, tally);
        const double d = core_operate(g, t + given, index, x, y, 1, -w->chunk, 1, 0, tally);
        const double sum = core_operate(g, t + given + 1, index, w->s, 1, 1, d, 1, 1, tally);
        const double e = core_operate(g, t + given + 2, index, sum, 1, 1, -w->s, 1, 0, tally);
        w->chunk = core_operate(g, t + given + 3, index, e, 1, 1, -d, 1, 0, tally);
        w->s = sum;
    }
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

/* `from` is a multiple of the products that a step takes; so is `to`, or it is the last. */
FPEMU_FN void core_product_fused(const core_product *p, core_line a, core_line b, uint64_t from, uint64_t to,
                                 uint64_t index, core_running *w, core_tally *tally)
{
    double *const d = p->chunk ? &w->chunk : &w->s;
    for (uint64_t k = from; k < to; k += p->block) {
        const uint64_t n = to - k < p->block ? to - k : p->block;
        *d = core_product_step(p, a, b, k - from, n, *d, tally);
        if (core_product_chunk_ends(p, k + n - 1)) {
            w->s = core_product_join(p, a, b, k / p->chunk, index, k, w->chunk, w->s, tally);
            w->chunk = 0;
        }
    }
}

/* x * 2^e where that is exact. */
FPEMU_FN double core_shifted(double x, int e)
{
    const int half = e / 2;
    return x * core_value64(core_power64(half)) * core_value64(core_power64(e - half));
}

FPEMU_FN void core_product_integer(const core_product *p, core_line a, core_line b, uint64_t from, uint64_t to,
                                   core_running *w, core_tally *tally)
{
    const int exponent = p->quantum_a + p->quantum_b;
    int64_t s = w->whole;
    for (uint64_t k = from; k < to; k++, w->whole = s) {
        const double x = core_line_at(p, a, k - from), y = core_line_at(p, b, k - from);
        int over = 0;
        w->nan |= x != x || y != y;
        const int64_t product =
            w->nan ? 0 : (int64_t)core_shifted(x, -p->quantum_a) * (int64_t)core_shifted(y, -p->quantum_b);
        const int64_t old = s;
        s = core_dot_integer(old, product, p->width, p->wrap, &over);
        if (!tally)
            continue;
        tally->roundings++;
        if (w->nan) {
            tally->c.nan++;
            continue;
        }
        const core_exact sum =
            core_exact_add(core_exact_integer(old, exponent), core_exact_integer(product, exponent), FPEMU_MODE_RNE);
        const uint64_t kept = core_exact_binary64(&sum, FPEMU_MODE_RNE) & ~CORE_SIGN64;
        core_exact minus = core_exact_integer(s, exponent);
        minus.negative ^= 1;
        const core_exact error = core_exact_add(sum, minus, FPEMU_MODE_RNE);
        const double d = core_value64(core_exact_binary64(&error, FPEMU_MODE_RNE) & ~CORE_SIGN64);
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
}

/* Whether a sum can be made piece by piece. */
FPEMU_FN int core_product_runs(const core_product *p)
{
    return p->model != FPEMU_MODEL_PAIRWISE;
}

/* Before the first product: from the old c. */
FPEMU_FN void core_product_begin(const core_product *p, double c, core_running *w)
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
}

/* Adds products [from, to), whose numbers a and b have from their beginning on; scales count from product 0. */
FPEMU_FN void core_product_advance(const core_product *p, core_line a, core_line b, uint64_t from, uint64_t to,
                                   uint64_t index, core_running *w, core_tally *tally)
{
    switch (p->model) {
    case FPEMU_MODEL_KAHAN: core_product_kahan(p, a, b, from, to, index, w, tally); break;
    case FPEMU_MODEL_FUSED: core_product_fused(p, a, b, from, to, index, w, tally); break;
    case FPEMU_MODEL_INTEGER: core_product_integer(p, a, b, from, to, w, tally); break;
    default: core_product_sequential(p, a, b, from, to, index, w, tally);
    }
}

/* What the sum becomes. */
FPEMU_FN double core_product_end(const core_product *p, uint64_t index, double c, const core_running *w,
                                 core_tally *tally)
{
    const core_goal *g = &p->out;
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
    const double y = core_value64(core_exact_round(&g->plan, &x, core_goal_bits(g, p->total, index), &grid));
    if (tally && g->given) {
        core_count_exact(&g->plan, &x, y, grid, &tally->c);
        tally->c.invalid += x.kind == CORE_NOT_A_NUMBER && !nan_came;
        tally->roundings++;
    }
    return y;
}

/* Output `index`: from rows a and b, and the old c. */
FPEMU_FN double core_product_output(const core_product *p, core_line a, core_line b, uint64_t index, double c,
                                    core_tally *tally)
{
    core_running w;
    core_product_begin(p, c, &w);
    if (p->alpha != 0 && (p->depth || p->start_from_c)) {
        if (core_product_runs(p))
            core_product_advance(p, a, b, 0, p->depth, index, &w, tally);
        else
            w.s = core_product_pairwise(p, a, b, index, w.s, tally);
    }
    return core_product_end(p, index, c, &w, tally);
}

#endif /* FPEMU_CORE_PRODUCT_H */
