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

/* Whether there are such steps of tensor cores, and as many of them to a chunk. */
static inline int core_dot_steps_exist(const fpemu_accumulator *s)
{
    const int aligns = s->least_exponent == FPEMU_NO_FLOOR ||
                       (s->least_exponent >= -CORE_DOT_LEAST_EXPONENT && s->least_exponent <= CORE_DOT_LEAST_EXPONENT);
    return s->block >= 1 && s->block <= 64 && s->chunk % s->block == 0 && s->fraction_bits <= 40 && aligns;
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
    fpemu_format f = sum->chunk ? sum->outer.format : sum->inner.format;
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    if (!sum->chunk && sum->model == FPEMU_MODEL_FUSED)
        (void)fpemu_format_named(FPEMU_NAME_BINARY32, &f);
    core_plan_make64(&d->start, &f, &nearest, 0);
}

/* What the spec tells beside its targets product, inner, outer and out, which are made already where they are given. */
static inline void core_dot_make(core_dot *d, const fpemu_gemm_spec *spec, int carrier)
{
    const fpemu_accumulator *const sum = &spec->sum;
    if (!d->out.given) { /* the carrier, to nearest even */
        fpemu_target own;
        memset(&own, 0, sizeof own);
        (void)fpemu_format_named(carrier == 32 ? FPEMU_NAME_BINARY32 : FPEMU_NAME_BINARY64, &own.format);
        (void)core_target_make(&d->out, &own, carrier, 0);
        d->out.given = 0;
    }
    d->model = (uint8_t)sum->model;
    d->wrap = sum->wrap;
    d->width = (int32_t)sum->width;
    d->chunk = sum->chunk;
    d->block = sum->block;
    d->start_from_c = spec->start_from_c;
    d->wide = carrier == 64;
    if (sum->model == FPEMU_MODEL_INTEGER) {
        d->quantum_a = core_dot_quantum(&spec->a.format);
        d->quantum_b = core_dot_quantum(&spec->b.format);
    }
    if (sum->model == FPEMU_MODEL_FUSED) {
        const int least = sum->least_exponent < -300 ? -300 : sum->least_exponent; /* no exponent is below */
        d->least_a = core_value64(core_power64(spec->a.format.emin));
        d->least_b = core_value64(core_power64(spec->b.format.emin));
        d->least_d = core_value64(core_power64(sum->inner.format.emin));
        d->scale = core_value64((uint64_t)(1023 + sum->fraction_bits) << 52);
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
    d->plain = alpha == 1 && (beta == 0 || spec->start_from_c) && !d->out.given;
}

#endif /* FPEMU_CORE_DOT_MAKE_H */
