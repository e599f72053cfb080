/* SPDX-License-Identifier: BSD-2-Clause */
/* operations.inc.c - operations on binary32 numbers in binary32, rounded to odd; included by variant.inc.c. A sum comes
 * with its error, a product, quotient or root with its remainder, as numbers of binary32: where one is not zero, the
 * exact result lies beside the rounded one, on the side of its sign. So much is true away from the ends of the carrier;
 * each loop says whether all its elements are. Such a result, rounded to 22 bits or fewer, is the exact one rounded.
 * Remainders take fused products; sums do without. */

/* Magnitudes, as bits, from which on sums and products may pass the end, and below which remainders may be lost. */
#define ODD_MOST 0x7f000000u  /* 2^127 */
#define ODD_LEAST 0x0d800000u /* 2^-100 */

/* The exact number s + e to odd, e being less than an ulp of s. */
FPEMU_FN uint32_t odd_bits(float s, float e)
{
    const uint32_t u = core_bits32(s), inexact = e != 0, below = (core_bits32(e) ^ u) >> 31;
    return (u - (inexact & below)) | inexact;
}

FPEMU_FN uint32_t odd_magnitude(float x)
{
    return core_bits32(x) & 0x7fffffffu;
}

FPEMU_FN uint32_t odd_larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

#ifdef __FMA__
FPEMU_FN uint32_t odd_smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}
#endif

/* The loops. In each, `most` is the largest magnitude met, `least` the smallest of those that must not be small, and
 * `lost` is not 0 where something is wrong besides. */
#define ODD_LOOP(name, ...)                                                                                            \
    static int odd_##name(size_t n, const float *a, const float *b, const float *c, float *odd)                        \
    {                                                                                                                  \
        uint32_t most = 0, least = UINT32_MAX, lost = 0;                                                               \
        (void)b;                                                                                                       \
        (void)c;                                                                                                       \
        _Pragma("omp simd reduction(max : most) reduction(min : least) reduction(| : lost)") for (size_t i = 0; i < n; \
                                                                                                  i++)                 \
        {                                                                                                              \
            uint32_t u;                                                                                                \
            __VA_ARGS__                                                                                                \
            memcpy(odd + i, &u, sizeof u);                                                                             \
        }                                                                                                              \
        return most < ODD_MOST && least >= ODD_LEAST && lost == 0;                                                     \
    }
#define ODD_SUM(x, y)                                                                                                  \
    const float s = (x) + (y), t = s - (x), e = ((x) - (s - t)) + ((y)-t);                                             \
    u = odd_bits(s, e);                                                                                                \
    most = odd_larger(most, odd_larger(odd_magnitude(s), odd_magnitude(t)));

ODD_LOOP(add, const float x = a[i], y = b[i]; ODD_SUM(x, y))
ODD_LOOP(sub, const float x = a[i], y = -b[i]; ODD_SUM(x, y))
#ifdef __FMA__
ODD_LOOP(mul, const float x = a[i], y = b[i], p = x * y; u = odd_bits(p, __builtin_fmaf(x, y, -p));
         most = odd_larger(most, odd_magnitude(p));
         least = odd_smaller(least, ((x == 0) | (y == 0)) ? UINT32_MAX : odd_magnitude(p));)
ODD_LOOP(fma, const float v = a[i], w = b[i], p = v * w, y = c[i];
         ODD_SUM(p, y) most = odd_larger(most, odd_magnitude(p));
         least = odd_smaller(least, ((v == 0) | (w == 0)) ? UINT32_MAX : odd_magnitude(p));
         lost |= core_bits32(__builtin_fmaf(v, w, -p)) << 1;)
ODD_LOOP(div, const float x = a[i], y = b[i], q = x / y, r = __builtin_fmaf(-q, y, x);
         u = odd_bits(q, core_value32(core_bits32(r) ^ (core_bits32(y) & 0x80000000u)));
         most = odd_larger(most, odd_larger(odd_magnitude(q), odd_magnitude(y)));
         least = odd_smaller(least, x == 0 ? UINT32_MAX : odd_smaller(odd_magnitude(q), odd_magnitude(x)));)
ODD_LOOP(sqrt, const float x = a[i], s = __builtin_sqrtf(x); u = odd_bits(s, __builtin_fmaf(-s, s, x));
         most = odd_larger(most, odd_magnitude(s)); least = odd_smaller(least, x == 0 ? UINT32_MAX : odd_magnitude(x));)
#define ODD_TABLE                                                                                                      \
    {                                                                                                                  \
        [FPEMU_OPERATION_ADD] = odd_add, [FPEMU_OPERATION_SUB] = odd_sub, [FPEMU_OPERATION_MUL] = odd_mul,             \
        [FPEMU_OPERATION_DIV] = odd_div, [FPEMU_OPERATION_SQRT] = odd_sqrt, [FPEMU_OPERATION_FMA] = odd_fma,           \
    }
#else
#define ODD_TABLE                                                                                                      \
    {                                                                                                                  \
        [FPEMU_OPERATION_ADD] = odd_add, [FPEMU_OPERATION_SUB] = odd_sub,                                              \
    }
#endif
#undef ODD_SUM
#undef ODD_LOOP
