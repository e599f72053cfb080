/* dot.h - what dot products need beyond one operation: the numbers of their roundings, the alignment of a tensor core,
 * integer accumulators. doc/accumulation.md states each rule. */
#ifndef FPEMU_CORE_DOT_H
#define FPEMU_CORE_DOT_H

#include "arith.h"
#include "random.h"

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
FPEMU_FN int64_t core_dot_integer(int64_t s, int64_t p, int width, int wrap, int *over)
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

#endif /* FPEMU_CORE_DOT_H */
