/* SPDX-License-Identifier: BSD-2-Clause */
/* dot.inc.c - the loops of dot products, lanes being independent outputs; included by variant.inc.c. */

static void spread(size_t n, double x, double *to)
{
    SIMD for (size_t i = 0; i < n; i++)
        to[i] = x;
}

/* x rounded to nearest even, sign and all, by adding and subtracting 1.5 * 2^23 steps of the grid: `inf` with infinity
 * past the end, `sat` with the largest value. |x| is far enough from the carrier's end (lib/gemm/gemm.c, fast_plan);
 * NaN stays some NaN; what becomes zero gets its sign back last. */
FPEMU_FN float dot_nearest(const core_plan32 *p, float x)
{
    uint32_t e = core_bits32(x) & 0x7f800000u;
    e = e < p->fast_emin ? p->fast_emin : e;
    const float c = core_value32(e + p->fast_up);
    const float sum = x + c;
    return sum - c;
}

FPEMU_FN float dot_signed(float y, float x)
{
    return core_value32(core_bits32(y) | (core_bits32(x) & 0x80000000u));
}

FPEMU_FN float dot_round_inf(const core_plan32 *p, float x)
{
    const float y = dot_nearest(p, x), a = core_value32(core_bits32(y) & 0x7fffffffu);
    return dot_signed(a > core_value32(p->max[0]) ? core_value32(0x7f800000u) : y, x);
}

FPEMU_FN float dot_round_sat(const core_plan32 *p, float x)
{
    const float max = core_value32(p->max[0]), y = dot_nearest(p, x), z = max < y ? max : y;
    return dot_signed(-max > z ? -max : z, x);
}

/* Where nothing goes past the end. */
FPEMU_FN float dot_round_inside(const core_plan32 *p, float x)
{
    return dot_signed(dot_nearest(p, x), x);
}

FPEMU_FN float dot_round_full_range(const core_plan32 *p, float x)
{
    return core_value32(core_element_full_range32(p, FPEMU_MODE_RNE, core_bits32(x), 0));
}

FPEMU_FN float dot_round_ends(const core_plan32 *p, float x)
{
    const uint32_t u = core_bits32(x);
    return core_value32(core_finish32(p, u, core_element_shifter_grid32(p, FPEMU_MODE_RNE, u, 0)));
}

/* s + product(x * y); `none` are products that binary32 holds. */
#define DOT_ADD(product)                                                                                               \
    FPEMU_FN float dot_add_##product(const core_plan32 *p, float x, float y, float s)                                  \
    {                                                                                                                  \
        const float t = dot_round_##product(p, x * y);                                                                 \
        return s + t;                                                                                                  \
    }
DOT_ADD(full_range)
DOT_ADD(ends)
DOT_ADD(inf)
DOT_ADD(sat)
DOT_ADD(inside)
#undef DOT_ADD

FPEMU_FN float dot_add_none(const core_plan32 *p, float x, float y, float s)
{
    (void)p;
#if DOT_FMA
    return __builtin_fmaf(x, y, s);
#else
    const float t = x * y;
    return s + t;
#endif
}

/* Bits of the largest magnitude. */
static uint32_t largest(size_t n, const float *x)
{
    int32_t most = 0; /* which every vector instruction set compares */
#pragma omp simd reduction(max : most)
    for (size_t i = 0; i < n; i++) {
        const int32_t a = (int32_t)(core_bits32(x[i]) & 0x7fffffffu);
        most = a > most ? a : most;
    }
    return (uint32_t)most;
}

/* s = sum(s + product(x * y)) for nk steps, y[l * ld + i]: what is exact enough in binary32
 * (lib/gemm/gemm.c, choose_path). */
#define MAC_LOOP(product, sum)                                                                                         \
    static void mac_##product##_##sum(const core_plan32 *product_plan, const core_plan32 *sum_plan, size_t nk,         \
                                      size_t n, const float *x, const float *y, size_t ld, float *s)                   \
    {                                                                                                                  \
        const core_plan32 p = *product_plan, q = *sum_plan;                                                            \
        size_t l = 0;                                                                                                  \
        for (; l + 2 <= nk; l += 2) { /* two at a time, the sum in a register */                                       \
            const float *row = y + l * ld, *next = row + ld;                                                           \
            const float factor = x[l], factor2 = x[l + 1];                                                             \
            SIMD for (size_t i = 0; i < n; i++) {                                                                      \
                const float t = dot_round_##sum(&q, dot_add_##product(&p, factor, row[i], s[i]));                      \
                s[i] = dot_round_##sum(&q, dot_add_##product(&p, factor2, next[i], t));                                \
            }                                                                                                          \
        }                                                                                                              \
        for (; l < nk; l++) {                                                                                          \
            const float *row = y + l * ld;                                                                             \
            const float factor = x[l];                                                                                 \
            SIMD for (size_t i = 0; i < n; i++)                                                                        \
                s[i] = dot_round_##sum(&q, dot_add_##product(&p, factor, row[i], s[i]));                               \
        }                                                                                                              \
    }
#define MAC_LOOPS(sum)                                                                                                 \
    MAC_LOOP(none, sum)                                                                                                \
    MAC_LOOP(full_range, sum)                                                                                          \
    MAC_LOOP(ends, sum)                                                                                                \
    MAC_LOOP(inf, sum)                                                                                                 \
    MAC_LOOP(sat, sum)

MAC_LOOPS(full_range)
MAC_LOOPS(ends)
MAC_LOOPS(inf)
MAC_LOOPS(sat)
MAC_LOOP(none, inside)
MAC_LOOP(inside, inside)
#undef MAC_LOOP
#undef MAC_LOOPS

/* binary32 itself, products exact. */
FPEMU_FN float dot_binary32(float x, float y, float s)
{
#if DOT_FMA
    return __builtin_fmaf(x, y, s);
#else
    return (float)core_sum_odd((double)x * (double)y, (double)s, 0);
#endif
}

static void mac_binary32(size_t nk, size_t n, const float *x, int each, const float *y, size_t ld, float *s)
{
    for (size_t l = 0; l < nk && n == 1; l++) /* without what vectors begin and end with */
        *s = dot_binary32(x[each ? l * ld : l], y[l * ld], *s);
    if (n == 1)
        return;
    for (size_t l = 0; l < nk; l++, y += ld, x += each ? ld : 1) {
        const float factor = *x;
        if (each) {
            SIMD for (size_t i = 0; i < n; i++)
                s[i] = dot_binary32(x[i], y[i], s[i]);
        } else {
            SIMD for (size_t i = 0; i < n; i++)
                s[i] = dot_binary32(factor, y[i], s[i]);
        }
    }
}

/* binary64; without an operation that rounds once for numbers of binary32 alone, whose products are exact. */
static void mac_binary64(size_t nk, size_t n, const double *x, const double *y, size_t ld, double *s)
{
    for (size_t l = 0; l < nk; l++) {
        const double *row = y + l * ld;
        const double factor = x[l];
        SIMD for (size_t i = 0; i < n; i++)
            s[i] = DOT_FUSED(factor, row[i], s[i]);
    }
}

/* The same of integers times one power of two, each sum ending at low and high; NaN stays. */
static void mac_saturated(size_t nk, size_t n, const double *x, const double *y, size_t ld, double low, double high,
                          double *s)
{
    for (size_t l = 0; l < nk; l++) {
        const double *row = y + l * ld;
        const double factor = x[l];
        SIMD for (size_t i = 0; i < n; i++) {
            const double sum = DOT_FUSED(factor, row[i], s[i]), t = sum < low ? low : sum;
            s[i] = t > high ? high : t;
        }
    }
}

/* Such sums less a multiple of 2 * -low, a power of two: from low on, below -low. */
static void wrap(size_t n, double low, double *s)
{
    const double half = 0.5 / low;
    SIMD for (size_t i = 0; i < n; i++) {
        const double turns = (low - s[i]) * half, cut = DOT_CUT(turns);
        s[i] += (cut > turns ? cut - 1 : cut) * (2 * low);
    }
}

static double take_powers(size_t n, double least, const double *scales, double least_scale, int whole, double *x,
                          double *powers)
{
    int64_t most = 0;
#pragma omp simd reduction(max : most)
    for (size_t i = 0; i < n; i++) {
        const double scale = scales ? scales[i] : 1, power = core_dot_power(x[i], least);
        const double second = scales ? core_dot_power(scale, least_scale) : 1, y = x[i] * scale;
        const int64_t a = (int64_t)(core_bits64(y) & ~CORE_SIGN64);
        x[i] = y;
        powers[i] = whole ? (power == 0 ? 0 : second) : power * second;
        most = a > most ? a : most;
    }
    return core_value64((uint64_t)most);
}
