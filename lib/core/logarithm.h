/* SPDX-License-Identifier: BSD-2-Clause */
/* logarithm.h - log2 and exp2 in binary64 for S2FP8: additions, multiplications and one division in a fixed order, so
 * that every machine gives the same bits. Relative error below 2^-48. Callers see to the floating-point environment. */
#ifndef FPEMU_CORE_LOGARITHM_H
#define FPEMU_CORE_LOGARITHM_H

#include "port.h"

/* Close to log2 x; x finite, above 0. */
FPEMU_FN double core_log2(double x)
{
    const int deep = x < 2.2250738585072014e-308; /* subnormal: times 2^54. No branches, so that loops vectorise */
    uint64_t u = core_bits64(deep ? x * 18014398509481984.0 : x);
    int64_t e = (int64_t)(u >> 52) - (deep ? 1077 : 1023);
    u = (u & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52;
    const uint64_t high = u > UINT64_C(0x3ff6a09e667f3bcd); /* beyond the root of 2: m in [0.7071, 1.4143) */
    u -= high << 52;
    e += (int64_t)high;
    const double m = core_value64(u), z = (m - 1) / (m + 1), w = z * z; /* log m = 2 (z + z^3/3 + z^5/5 + ...) */
    double sum = 1.0 / 25;
    for (int k = 23; k > 0; k -= 2)
        sum = sum * w + 1.0 / k;
    return (double)e + 2.8853900817779268147 * (z * sum); /* 2 / log 2 */
}

/* Close to 2^x; 0 and infinity far out. */
FPEMU_FN double core_exp2(double x)
{
    if (!(x > -1100))
        return 0;
    if (x > 1100)
        return core_value64(UINT64_C(2047) << 52);
    const double shift = 6755399441055744.0; /* 1.5 * 2^52: adding it leaves the nearest integer */
    const double n = (x + shift) - shift, f = (x - n) * 0.69314718055994530942;
    double sum = 1;
    for (int k = 16; k > 0; k--)
        sum = 1 + sum * (f / k);
    /* 2^n in two factors: the last product rounds once, below the smallest normal number too */
    const int whole = (int)n, half = whole / 2;
    const double a = core_value64((uint64_t)(half + 1023) << 52);
    return sum * a * core_value64((uint64_t)(whole - half + 1023) << 52);
}

/* log2 x to the nearest multiple of 2^-32, in such steps. */
FPEMU_FN int64_t core_log2_steps(double x)
{
    const double shift = 6755399441055744.0, steps = core_log2(x) * 4294967296.0;
    return (int64_t)(core_bits64(steps + shift) - core_bits64(shift)); /* they have one exponent */
}

#endif /* FPEMU_CORE_LOGARITHM_H */
