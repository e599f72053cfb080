/* SPDX-License-Identifier: BSD-2-Clause */
/* affine_fast.h - affine integers of at most 22 bits, in a form that vectorises: the rule of affine.inc.h by binary64
 * arithmetic. The quotient is turned into the round-to-odd one, so the bits are the same; only the last conversion, or
 * the last product in binary64, rounds. With 22 bits the value beyond an end still differs from the end, which shows an
 * overflow. Callers see to the default floating-point environment.
 * tests/against_judges/quantize.c compares the two. */
#ifndef FPEMU_CORE_AFFINE_FAST_H
#define FPEMU_CORE_AFFINE_FAST_H

#include "plan.h"

/* x / s as binary64 bits, rounded to odd; x >= 0 and s > 0 are binary32 numbers. */
FPEMU_FN uint64_t core_quotient_odd(double x, double s)
{
    const double q = x / s;
    const uint64_t u = core_bits64(q);
    /* q = high + low, 26 and 27 bits: both products with s are exact, and so is the remainder x - q*s */
    const double high = core_value64(u >> 27 << 27), low = q - high;
    const double rest = (x - high * s) - low * s;
    const uint64_t odd = (u - (uint64_t)(rest < 0)) | 1;
    return rest < 0 || rest > 0 ? odd : u; /* not a number where q is 0 or infinite */
}

/* x less its nearest number of 26 bits, which goes to *high. */
FPEMU_FN double core_split(double x, double *high)
{
    *high = core_value64((core_bits64(x) + (UINT64_C(1) << 26)) >> 27 << 27);
    return x - *high;
}

/* As core_quotient_odd for binary64 numbers, s within 2^-900 and 2^900: Dekker's product has q*s exactly. Where it
 * overflows or loses bits, x/s is far beyond 2^22, or so far below a half that only its being above zero counts. */
FPEMU_FN uint64_t core_quotient_odd64(double x, double s)
{
    const double q = x / s, p = q * s;
    const uint64_t u = core_bits64(q);
    double q1, s1;
    const double q2 = core_split(q, &q1), s2 = core_split(s, &s1);
    const double error = ((q1 * s1 - p) + q1 * s2 + q2 * s1) + q2 * s2;
    const double rest = (x - p) - error;
    const uint64_t odd = (u - (uint64_t)(rest < 0)) | 1;
    return rest < 0 || rest > 0 ? odd : u;
}

/* Whether core_affine_fast_grid (element.inc.h) does what the plan's rule for affine integers asks. */
FPEMU_FN int core_affine_is_fast64(const core_plan64 *p)
{
    return p->rule == CORE_RULE_AFFINE && p->bits <= 22 && !p->compat && !p->wrap && p->scale_value >= 0x1p-900 &&
           p->scale_value <= 0x1p900;
}

/* k * s rounded once to binary32, k >= 0 a binary64 number and s a binary32 one. */
FPEMU_FN uint32_t core_affine_product32(double k, double s)
{
    double high;
    const double product = k * s, low = core_split(k, &high);
    const double error = (high * s - product) + low * s; /* exact, term by term; NaN beyond the end */
    const uint64_t u = core_bits64(product), odd = (u - (uint64_t)(error < 0)) | 1;
    return core_bits32((float)core_value64(error < 0 || error > 0 ? odd : u));
}

/* Whether core_element_affine_wide32 does what the plan's rule for affine integers asks. */
FPEMU_FN int core_affine_is_wide(const core_plan32 *p)
{
    const int64_t far = INT64_C(1) << 40;
    return p->rule == CORE_RULE_AFFINE && !p->compat && p->bits <= 32 && p->zero_point <= far && p->zero_point >= -far;
}

/* y for bits u of x: integers of up to 32 bits, which may wrap. A number of binary64 less its nearest multiple of 2^bits
 * is exact, and adding 2^(52 + bits) finds that. */
FPEMU_FN uint32_t core_element_affine_wide32(const core_plan32 *p, int mode, uint32_t u, uint32_t r)
{
    const uint32_t sign = u & 0x80000000u, a = u ^ sign, x = a < 0x7f800000u ? a : 0;
    const double scale = p->scale_value, zero = (double)p->zero_point;
    const uint32_t nan = sign ? p->nan[1] : p->nan[0], infinite = sign ? p->infinite[1] : p->infinite[0];
    const double size = core_value64((uint64_t)(1023 + p->bits) << 52), unit = size * 4503599627370496.0; /* 2^52 */
    core_plan64 integers = core_integers();
    integers.one = p->one;
    integers.mode = p->mode;
    const uint64_t t = core_quotient_odd((double)core_value32(x), scale), s = (uint64_t)sign << 32;
    const uint64_t nearest = core_grid64(&integers, FPEMU_MODE_RNE, 0, 32, t, s, 0);
    const uint64_t rounded = core_grid64(&integers, mode, 0, p->n, t, s, (uint64_t)r << 32);
    const int stays = nearest < core_bits64(9007199254740992.0) &&
                      core_affine_product32(core_value64(nearest), scale) == x; /* a value: a fixed point */
    const double k = core_value64(stays ? nearest : rounded);
    const double turns = (k + unit) - unit, rest = k < unit ? k - turns : 0, code = (sign ? -rest : rest) + zero;
    const double half = size / 2, more = unit + unit / 2, left = code - ((code + more) - more);
    const double least = p->is_signed ? -half : 0, high = left < least ? left + size : left;
    const double wrapped = (high >= least + size ? high - size : high) - zero;
    const double end = sign ? zero - (double)p->q_min : (double)p->q_max - zero, most = k > end ? end : k;
    const int at_end = a == (sign ? p->max[1] : p->max[0]);
    const double kept = p->wrap && !(at_end && k > end) ? wrapped : sign ? -most : most;
    const uint32_t y = core_affine_product32(kept < 0 ? -kept : kept + 0, scale);
    const uint32_t finite = y ? y | (kept < 0 ? 0x80000000u : 0) : 0;
    return a < 0x7f800000u ? finite : a > 0x7f800000u ? nan : infinite;
}

#endif /* FPEMU_CORE_AFFINE_FAST_H */
