/* SPDX-License-Identifier: BSD-2-Clause */
/* dot_make.h - from a spec of dot products, checked before, to what the models of dot_models.h need; on the host. */
#ifndef FPEMU_CORE_DOT_MAKE_H
#define FPEMU_CORE_DOT_MAKE_H

#include "dot_models.h"

static inline int core_target_is_none(const fpemu_target *t)
{
    static const fpemu_target none;
    /* NOLINTNEXTLINE(*-memory-comparison,cert-exp42-c,cert-flp37-c): it has no unnamed padding, and -0 is not "none" */
    return memcmp(t, &none, sizeof none) == 0;
}

/* Whether `inner` rounds sums of binary32 numbers, or of their products, where operands are such numbers (narrow): the
 * first sums of a tree are of two numbers of `product`, which may be larger; others are of one at most. */
static inline int core_dot_sums_are_narrow(const fpemu_gemm_spec *s, int narrow)
{
    return narrow &&
           (s->sum.model != FPEMU_MODEL_PAIRWISE || core_target_is_none(&s->product) || s->product.format.fits_f32);
}

/* Whether chunks, or the elements of a scale, go with a step. */
static inline int core_dot_chunks_fit(const fpemu_accumulator *s)
{
    if (!s->group)
        return s->chunk % (s->order == FPEMU_PRODUCTS_BY_FOURS ? 2 * s->block : s->block) == 0;
    return s->chunk && s->block % s->group == 0 && s->chunk % s->group == 0 &&
           (s->chunk % s->block == 0 || s->block % s->chunk == 0);
}

/* Whether there are such steps of matrix units, and as many of them to a chunk. */
static inline int core_dot_steps_exist(const fpemu_accumulator *s)
{
    const int chained = s->fraction_bits == FPEMU_SUM_CHAINED, whole = s->fraction_bits == FPEMU_SUM_EXACT;
    const int plain = !chained && !whole && !s->late, least = s->least_exponent;
    const int aligns =
        least == FPEMU_NO_FLOOR || (plain && least >= -CORE_DOT_LEAST_EXPONENT && least <= CORE_DOT_LEAST_EXPONENT);
    const int ways =
        s->ways == 0 || (s->ways == 2 && s->late) || ((s->ways == 4 || s->ways == 8) && chained && s->late);
    const int late = s->late == 0 || (chained ? s->late == 1 : !whole && s->late >= s->fraction_bits && s->late <= 40);
    const int ordered = s->order == FPEMU_PRODUCTS_IN_ORDER ||
                        (s->order <= FPEMU_PRODUCTS_BY_FOURS && s->block % 2 == 0 && s->block <= 32 && !s->group);
    return s->block >= 1 && s->block <= 64 && (chained || whole || s->fraction_bits <= 40) && aligns && ways && late &&
           ordered && (plain || !s->group) && s->flush <= chained && core_dot_chunks_fit(s);
}

/* Whether sums of chunks are added up apart. */
static inline int core_dot_has_outer(const fpemu_accumulator *s)
{
    return s->chunk && !s->group;
}

/* The power of two of an integer operand's grid. */
static inline int core_dot_quantum(const fpemu_format *f)
{
    int quantum = f->quantum;
    if (f->kind == FPEMU_KIND_INT)
        (void)core_is_power(f->scale, &quantum);
    return quantum;
}

/* What c is rounded to where the sum starts from it. */
static inline void core_dot_make_start(core_dot *d, const fpemu_accumulator *sum)
{
    fpemu_format f = core_dot_has_outer(sum) ? sum->outer.format : sum->inner.format;
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    if (!core_dot_has_outer(sum) && sum->model == FPEMU_MODEL_FUSED)
        (void)fpemu_format_named(FPEMU_NAME_BINARY32, &f);
    core_plan_make64(&d->start, &f, &nearest, 0);
}

/* Where no `out` is given the result is the carrier's, to nearest even; a sum of floats may be that already. */
static inline void core_dot_make_out(core_dot *d)
{
    fpemu_target own;
    memset(&own, 0, sizeof own);
    (void)fpemu_format_named(d->wide ? FPEMU_NAME_BINARY64 : FPEMU_NAME_BINARY32, &own.format);
    (void)core_target_make(&d->out, &own, d->wide ? 64 : 32, 0);
    d->out.given = 0;
}

/* What the spec tells beside its targets product, inner, outer and out, which are made already where they are given. */
static inline void core_dot_make(core_dot *d, const fpemu_gemm_spec *spec, int carrier)
{
    const fpemu_accumulator *const sum = &spec->sum;
    d->model = (uint8_t)sum->model;
    d->wrap = sum->wrap;
    d->width = (int32_t)sum->width;
    d->chunk = core_dot_has_outer(sum) ? sum->chunk : 0;
    d->scaled = sum->chunk;
    d->block = sum->block;
    d->start_from_c = spec->start_from_c;
    d->wide = carrier == 64;
    if (sum->model == FPEMU_MODEL_INTEGER) {
        if (!d->out.given)
            core_dot_make_out(d);
        d->quantum_a = core_dot_quantum(&spec->a.format);
        d->quantum_b = core_dot_quantum(&spec->b.format);
    }
    if (sum->model == FPEMU_MODEL_FUSED) {
        const int least = sum->least_exponent < -600 ? -600 : sum->least_exponent; /* no exponent is below */
        d->least_a = core_value64(core_power64(spec->a.format.emin));
        d->least_b = core_value64(core_power64(spec->b.format.emin));
        d->least_d = core_value64(core_power64(sum->inner.format.emin));
        d->exact = sum->fraction_bits == FPEMU_SUM_EXACT;
        d->chained = sum->fraction_bits == FPEMU_SUM_CHAINED;
        d->scale = core_value64((uint64_t)(1023 + (d->exact || d->chained ? 0 : sum->fraction_bits)) << 52);
        d->ways = sum->ways;
        d->late = sum->late;
        d->group = sum->group;
        d->order = sum->order;
        d->flush = sum->flush;
        if (sum->group)
            d->least_scale = core_value64(core_power64(sum->outer.format.emin));
        if (sum->flush) { /* to nearest, with as many bits, 2^emin is reached from a quarter of a step below */
            const double reach = core_value64(core_power64(-(int)sum->inner.format.mantissa_bits - 2));
            d->inner.flushed = d->least_d * (1 - (d->inner.plan.mode == FPEMU_MODE_RNE ? reach : 0));
        }
        d->floor = core_value64((uint64_t)(1023 + least) << 52);
        for (int sign = 0; sign < 2; sign++) /* past the end lies infinity, in rtz too */
            d->inner.plan.overflow[sign] = CORE_INF64 | (sign ? CORE_SIGN64 : 0);
    }
    if (spec->start_from_c)
        core_dot_make_start(d, sum);
}

/* What a call tells: alpha, beta and K. */
static inline void core_dot_make_call(core_dot *d, const fpemu_gemm_spec *spec, double alpha, double beta,
                                      uint64_t depth)
{
    d->alpha = alpha;
    d->beta = beta;
    d->depth = depth;
    d->total = core_dot_roundings(&spec->sum, depth, d->product.given, spec->start_from_c);
    d->plain = alpha == 1 && (beta == 0 || spec->start_from_c) && !d->out.given && spec->splits != FPEMU_SPLITS_INT8;
    if (!d->plain && !d->out.given && d->model != FPEMU_MODEL_INTEGER)
        core_dot_make_out(d);
}

#endif /* FPEMU_CORE_DOT_MAKE_H */
