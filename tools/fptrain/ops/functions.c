/* SPDX-License-Identifier: BSD-2-Clause */
/* functions.c - see functions.h
 *
 * exp goes by a table of 2^(i/32) and a polynomial of degree 3 in double precision (W. Dijkstra and S. Nagy, Arm
 * Optimized Routines, 2017); tanh by expm1 in single precision (fdlibm, Sun Microsystems 1993). Both without branches,
 * so that compilers make vectors of them. */
#include "ops/functions.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/base.h"

/* A call in a loop keeps it from becoming one of vectors. */
#ifdef __GNUC__
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

/* ---------------------------------------------------------------------------------------------- exp */

/* The bits of 2^(i/32) less i 2^47, so that adding k 2^47 for k = 32 n + i gives those of 2^(k/32). */
static const uint64_t root[32] = {
    0x3ff0000000000000, 0x3fefd9b0d3158574, 0x3fefb5586cf9890f, 0x3fef9301d0125b51, 0x3fef72b83c7d517b,
    0x3fef54873168b9aa, 0x3fef387a6e756238, 0x3fef1e9df51fdee1, 0x3fef06fe0a31b715, 0x3feef1a7373aa9cb,
    0x3feedea64c123422, 0x3feece086061892d, 0x3feebfdad5362a27, 0x3feeb42b569d4f82, 0x3feeab07dd485429,
    0x3feea47eb03a5585, 0x3feea09e667f3bcd, 0x3fee9f75e8ec5f74, 0x3feea11473eb0187, 0x3feea589994cce13,
    0x3feeace5422aa0db, 0x3feeb737b0cdc5e5, 0x3feec49182a3f090, 0x3feed503b23e255d, 0x3feee89f995ad3ad,
    0x3feeff76f2fb5e47, 0x3fef199bdd85529c, 0x3fef3720dcef9069, 0x3fef5818dcfba487, 0x3fef7c97337b9b5f,
    0x3fefa4afa2a490da, 0x3fefd0765b6e4540,
};

static inline double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE float exp_one(float from)
{
    /* x = k ln(2) / 32 + r; 1.5 2^52 rounds to whole numbers. Beyond these bounds all is infinite or zero. */
    const double x = (double)(from > 89 ? 89 : from < -104 ? -104 : from);
    const double per = 0x1.71547652b82fep+5, whole = 0x1.8p52;
    const double raised = __builtin_fma(per, x, whole);
    const uint64_t k = bits_of(raised);
    const double r = __builtin_fma(per, x, -(raised - whole));
    const double scale = from_bits(root[k & 31] + (k << 47));
    const double high = __builtin_fma(0x1.c6af84b912394p-20, r, 0x1.ebfce50fac4f3p-13);
    const double low = __builtin_fma(0x1.62e42ff0c52d6p-6, r, 1.0);
    return (float)(__builtin_fma(high, r * r, low) * scale);
}

WIDE void exp_of(size_t n, const float *x, float *y)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = exp_one(x[i]);
}

WIDE void sigmoid_of(size_t n, const float *x, float *y)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = 1 / (1 + exp_one(-x[i]));
}

/* ---------------------------------------------------------------------------------------------- tanh */

static inline float float_from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t float_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* A choice that compilers leave in vectors, where they make branches of chains of the usual form. */
static inline float choose(bool first, float a, float b)
{
    const uint32_t mask = -(uint32_t)first;
    return float_from_bits((float_bits(a) & mask) | (float_bits(b) & ~mask));
}

/* y 2^k by its exponent; y is no subnormal and does not leave the range. */
static inline float times_power(float y, int k)
{
    return float_from_bits(float_bits(y) + ((uint32_t)k << 23));
}

/* exp(x) - 1 for x in (-2, 0] or [2, 44]. */
INLINE float expm1_one(float x)
{
    const float ln2_high = 0x1.62e3p-1f, ln2_low = 0x1.2fefa2p-17f;
    const float size = fabsf(x);
    const bool near = size < 0x1.0a2b24p+0f, reduced = size > 0x1.62e43p-2f; /* of 1.5 ln 2, of ln(2) / 2 */
    const float nearest = choose(near, -1, 0x1.715476p+0f * x + copysignf(0.5f, x));
    const int k = (int)choose(reduced, nearest, 0);
    const float times = (float)k;
    const float high = x - times * ln2_high, low = times * ln2_low;
    const float r = high - low, lost = (high - r) - low;

    const float half = 0.5f * r, square = r * half;
    const float q =
        1 + square * (-0x1.111112p-5f +
                      square * (0x1.a01a02p-10f +
                                square * (-0x1.4ce19ap-14f + square * (0x1.0cfca8p-18f + square * -0x1.afdb76p-23f))));
    const float t = 3 - q * half;
    const float e = square * ((q - t) / (6 - r * t));
    const float at_0 = r - (r * e - square);
    const float f = (r * (e - lost) - lost) - square;

    const float at_minus_1 = 0.5f * (r - f) - 0.5f;
    const float far = times_power(1 - (f - r), k) - 1;
    const float small = float_from_bits((uint32_t)(127 - k) << 23); /* 2^-k */
    const float middle = times_power((1 - small) - (f - r), k);
    const float large = times_power(r - (f + small) + 1, k);
    const float above = choose(k < 23, middle, choose(k > 56, far, large));
    return choose(k == 0, at_0, choose(k == -1, at_minus_1, choose(k < 0, far, above)));
}

INLINE float tanh_one(float x)
{
    const float size = fabsf(x), most = choose(size < 22, size, 22);
    const bool small = most < 1;
    const float t = expm1_one(most * choose(small, -2, 2));
    const float quotient = choose(small, -t, 2) / (t + 2);
    const float y = choose(small, quotient, 1 - quotient);
    /* 22 and above give 1; x itself where it is tiny, zero or NaN. */
    return choose(size >= 0x1p-55f, copysignf(choose(size < 22, y, 1), x), x);
}

WIDE void tanh_of(size_t n, const float *x, float *y)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = tanh_one(x[i]);
}
