/* SPDX-License-Identifier: BSD-2-Clause */
/* dot.h - what dot products need beyond one operation: the numbers of their roundings, the alignment of a tensor core,
 * integer accumulators. doc/accumulation.md states each rule. */
#ifndef FPEMU_CORE_DOT_H
#define FPEMU_CORE_DOT_H

#include "exact.h"
#include "random.h"
#include "reason.h"

/* Of fused models the largest least exponent, and the smallest, negative: the smallest product of operands that are
 * numbers of binary32, 2^-298, in its units is a number of binary64, so that what is lost of it is seen. */
enum { CORE_DOT_LEAST_EXPONENT = 700 };

/* The stream of rounding number t. */
FPEMU_FN uint64_t core_dot_stream(uint64_t stream, uint64_t t)
{
    return core_mix(stream + (t + 1) * CORE_GOLDEN);
}

/* 2^floor(log2 |x|), at least 2^least as given by its value; 0 for 0. x is a binary32 number: no subnormal here. */
FPEMU_FN double core_dot_power(double x, double least)
{
    const double power = core_value64(core_bits64(x) & CORE_INF64);
    const double p = power < least ? least : power;
    return x == 0 ? 0 : p;
}

/* x cut to an integer, |x| < 2^51, by addition: it has a vector form everywhere. The sign of a zero may change. */
FPEMU_FN double core_dot_cut(double x)
{
    const double a = core_value64(core_bits64(x) & ~CORE_SIGN64), shift = 4503599627370496.0;
    const double sum = a + shift, near = sum - shift, cut = near > a ? near - 1 : near;
    return core_value64(core_bits64(cut) | (core_bits64(x) & CORE_SIGN64));
}

/* s + p in `width` bits of two's complement; *over: it leaves them. |p| < 2^62. */
FPEMU_FN int64_t core_dot_integer_sum(int64_t s, int64_t p, int width, int wrap, int *over)
{
    const uint64_t sum = (uint64_t)s + (uint64_t)p, top = UINT64_C(1) << (width - 1);
    const uint64_t past64 = (((uint64_t)s ^ sum) & ((uint64_t)p ^ sum)) >> 63; /* both of the sign that sum lost */
    const uint64_t negative = past64 ? (uint64_t)s >> 63 : sum >> 63;
    const uint64_t low = sum & (top | (top - 1)), back = low & top ? low | ~(top | (top - 1)) : low;
    *over = past64 || back != sum;
    const uint64_t end = negative ? 0 - top : top - 1;
    const uint64_t result = !*over || wrap ? back : end;
    int64_t y;
    memcpy(&y, &result, sizeof y);
    return y;
}

/* An integer times 2^exponent. */
FPEMU_FN core_exact core_exact_integer(int64_t i, int exponent)
{
    const uint64_t a = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    core_exact x = core_exact_special(a ? CORE_FINITE : CORE_ZERO, i < 0, 0);
    if (a) {
        x.high = a;
        x.top = exponent + 63;
        core_exact_normalise(&x);
    }
    return x;
}

/* 1 if a and b are the same number; neither is NaN. */
FPEMU_FN int core_exact_equal(const core_exact *a, const core_exact *b)
{
    if (a->kind != b->kind || a->kind == CORE_ZERO)
        return a->kind == b->kind;
    return a->negative == b->negative &&
           (a->kind == CORE_INFINITE || (a->top == b->top && a->high == b->high && a->low == b->low));
}

/* Whether sums and products can be rounded to a format: a number by itself, not with others of its block. */
FPEMU_FN int core_takes_sums(const fpemu_format *f)
{
    return !f->scaling && f->kind != FPEMU_KIND_CODEBOOK;
}

/* The plan of what sums and products are rounded to, in binary64, and the format as the carrier sees it; or why
 * arithmetic does not go with it. */
FPEMU_FN core_reason core_dot_plan(const fpemu_format *f, const fpemu_rounding *r, int carrier, core_plan64 *p,
                                   fpemu_format *seen)
{
    int quantum;
    *seen = *f;
    if (r->compat)
        return REASON_RESULT_COMPAT;
    if (!core_takes_sums(f))
        return REASON_RESULT_BLOCKS;
    if (f->kind == FPEMU_KIND_INT && carrier == 32) {
        seen->scale = (double)core_value32(core_narrow(f->scale));
        if (!core_int_is_grid32(f, &quantum))
            return core_is_power(seen->scale, &quantum) ? REASON_RESULT_WIDE : REASON_RESULT_SCALE;
    }
    core_plan_make64(p, seen, r, 0);
    return p->rule == CORE_RULE_AFFINE ? REASON_RESULT_SCALE : p->wrap ? REASON_RESULT_WRAP : REASON_NONE;
}

/* The same for operations and functions on arrays, or why they do not go with format and rounding, which go together
 * (fpemu_check). */
FPEMU_FN core_reason core_arith_plan(const fpemu_format *f, const fpemu_rounding *r, int carrier, int is_function,
                                     core_plan64 *p, fpemu_format *seen)
{
    const core_reason reason = core_dot_plan(f, r, carrier, p, seen);
    return !reason && is_function && !f->fits_f32 ? REASON_WIDE_FUNCTION : reason;
}

/* Whether binary64, rounded to odd, has the bits for a sum of binary32 numbers on its way to a format. */
FPEMU_FN uint8_t core_dot_short(const fpemu_format *f, const core_plan64 *p)
{
    const int precision = f->kind == FPEMU_KIND_FLOAT ? (int)f->mantissa_bits + 1 : (int)f->bits;
    return f->fits_f32 && precision + (CORE_DRAWS(p->mode) ? p->n : 0) + 2 <= 53;
}

/* Number of the first addition of level `level` >= 1 of a tree of `leaves`, additions counted level by level. */
FPEMU_FN uint64_t core_dot_level(uint64_t leaves, int level)
{
    uint64_t begin = 0;
    for (int i = 1; i < level; i++) {
        begin += leaves / 2;
        leaves -= leaves / 2;
    }
    return begin;
}

/* T: how many roundings come before that of the result; K = k, product: 1 where products are rounded. */
FPEMU_FN uint64_t core_dot_roundings(const fpemu_accumulator *s, uint64_t k, uint64_t product, uint64_t start_from_c)
{
    const uint64_t chunks = s->chunk ? (k + s->chunk - 1) / s->chunk : 0, leaves = k + start_from_c;
    switch (s->model) {
    case FPEMU_MODEL_PAIRWISE: return product * k + (leaves > 1 ? leaves - 1 : leaves);
    case FPEMU_MODEL_KAHAN: return k * (product + 4);
    case FPEMU_MODEL_FUSED: return s->group ? 0 : chunks;
    case FPEMU_MODEL_INTEGER: return 0;
    default: return k * (product + 1) + chunks;
    }
}

/* Whether in a + b, rounded to y, one of the two, not zero, changed nothing. */
FPEMU_FN int core_dot_swamped(const core_exact *a, const core_exact *b, double y)
{
    const core_exact sum = core_exact_from(core_bits64(y));
    if (a->kind > CORE_FINITE || b->kind > CORE_FINITE)
        return 0;
    return (core_exact_equal(&sum, a) && b->kind != CORE_ZERO) || (core_exact_equal(&sum, b) && a->kind != CORE_ZERO);
}

#endif /* FPEMU_CORE_DOT_H */
