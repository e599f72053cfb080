/* SPDX-License-Identifier: BSD-2-Clause */
/* dot.inc.c - the loops of dot products, lanes being independent outputs; included by variant.inc.c. */

#if defined(__FMA__) || defined(__aarch64__)
#define DOT_FMA 1
#else
#define DOT_FMA 0
#endif

/* odd[i] = x * y[i] + s[i] rounded to odd; numbers of binary32. */
static void fma_odd(size_t n, double x, const double *y, const double *s, uint64_t zero_sign, double *odd)
{
    const uint64_t zero = zero_sign;
    SIMD for (size_t i = 0; i < n; i++) {
        const double t = core_sum_odd(x * y[i], s[i], zero);
        odd[i] = t != t ? core_value64(CORE_INF64 | CORE_INF64 >> 1) : t;
    }
}

/* binary64, rounded to odd and far from its end, taken to a format of binary32's range or less (lib/gemm/targets.c,
 * fast_target): adding and subtracting a multiple of 2^52 steps of its grid rounds to nearest even. NaN stays some
 * NaN. */
FPEMU_FN double dot_finish_wide(const core_plan64 *p, double magnitude, double x)
{
    const double y = magnitude > core_value64(p->max[0]) ? core_value64(p->overflow[0]) : magnitude;
    return core_value64(core_bits64(y) | (core_bits64(x) & CORE_SIGN64));
}

/* Bits of the power of two of x, no less than the smallest normal one. */
FPEMU_FN uint64_t dot_binade(const core_plan64 *p, double x)
{
    const uint64_t e = core_bits64(x) & CORE_INF64;
    return e < p->emin_bits ? p->emin_bits : e;
}

FPEMU_FN double dot_nearest_wide(const core_plan64 *p, double x)
{
    const double a = core_value64(core_bits64(x) & ~CORE_SIGN64);
    const double c = core_value64(dot_binade(p, x) + ((uint64_t)p->d_norm << 52)), sum = a + c;
    return dot_finish_wide(p, sum - c, x);
}

/* Variant A: up iff the fraction's top 32 bits plus r carry. */
FPEMU_FN double dot_stochastic_wide(const core_plan64 *p, double x, uint32_t r)
{
    const uint64_t e = dot_binade(p, x);
    const double a = core_value64(core_bits64(x) & ~CORE_SIGN64);
    const double step = core_value64(e - ((uint64_t)(52 - p->d_norm) << 52));
    const double c = core_value64(e + ((uint64_t)p->d_norm << 52)), sum = a + c, nearest = sum - c;
    const double below = nearest > a ? nearest - step : nearest;
    /* 2^32 / step; step is no subnormal */
    const double scale = core_value64(((UINT64_C(2046) + 32) << 52) - core_bits64(step));
    const double field = core_value64(UINT64_C(0x4330000000000000) | r) - 4503599627370496.0;
    const double up = core_dot_cut((a - below) * scale) + field >= 4294967296.0 ? step : 0;
    const double y = a <= core_value64(CORE_INF64 - 1) ? below + up : a;
    return dot_finish_wide(p, y, x);
}

static void fma_nearest(const core_plan64 *plan, size_t n, double x, const double *y, const double *s, double *out)
{
    const core_plan64 p = *plan;
    SIMD for (size_t i = 0; i < n; i++)
        out[i] = dot_nearest_wide(&p, core_sum_odd(x * y[i], s[i], 0));
}

static void round_nearest(const core_plan64 *plan, size_t n, const double *x, const uint32_t *r, double *y)
{
    const core_plan64 p = *plan;
    (void)r;
    SIMD for (size_t i = 0; i < n; i++)
        y[i] = dot_nearest_wide(&p, x[i]);
}

static void round_stochastic(const core_plan64 *plan, size_t n, const double *x, const uint32_t *r, double *y)
{
    const core_plan64 p = *plan;
    SIMD for (size_t i = 0; i < n; i++)
        y[i] = dot_stochastic_wide(&p, x[i], r[i]);
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
static void mac_binary32(size_t nk, size_t n, const float *x, const float *y, size_t ld, float *s)
{
    for (size_t l = 0; l < nk; l++) {
        const float *row = y + l * ld;
        const float factor = x[l];
#if DOT_FMA
        SIMD for (size_t i = 0; i < n; i++)
            s[i] = __builtin_fmaf(factor, row[i], s[i]);
#else
        SIMD for (size_t i = 0; i < n; i++)
            s[i] = (float)core_sum_odd((double)factor * (double)row[i], (double)s[i], 0);
#endif
    }
}

/* binary64; without an operation that rounds once for numbers of binary32 alone, whose products are exact. */
static void mac_binary64(size_t nk, size_t n, const double *x, const double *y, size_t ld, double *s)
{
    for (size_t l = 0; l < nk; l++) {
        const double *row = y + l * ld;
        const double factor = x[l];
#if DOT_FMA
        SIMD for (size_t i = 0; i < n; i++)
            s[i] = __builtin_fma(factor, row[i], s[i]);
#else
        SIMD for (size_t i = 0; i < n; i++)
            s[i] = s[i] + factor * row[i];
#endif
    }
}

/* The sum of one step of a tensor core, before its rounding; n <= DOT_LANES lanes, nk products each. px, py: the powers
 * of two that core_dot_power gives for x and y; least: 2^emin of d; scale: 2^f; floor: 2^least exponent. What is not
 * finite passes. */
static void fused_sum(size_t nk, size_t n, size_t ld, const double *x, const double *px, const double *y,
                      const double *py, double least, double scale, double floor, const double *d, double *t)
{
    double top[DOT_LANES], sum[DOT_LANES], plain[DOT_LANES];
    SIMD for (size_t i = 0; i < n; i++) {
        const double power = core_dot_power(d[i], least);
        top[i] = power < floor ? floor : power;
        plain[i] = d[i];
    }
    for (size_t l = 0; l < nk; l++) {
        const double factor = x[l], power = px[l];
        const double *row = y + l * ld, *powers = py + l * ld;
        SIMD for (size_t i = 0; i < n; i++) {
            const double e = power * powers[i];
            top[i] = e > top[i] ? e : top[i];
            plain[i] += factor * row[i];
        }
    }
    SIMD for (size_t i = 0; i < n; i++) {
        top[i] = scale / top[i]; /* all are powers of two */
        sum[i] = 0 + core_dot_cut(d[i] * top[i]);
    }
    for (size_t l = 0; l < nk; l++) {
        const double factor = x[l];
        const double *row = y + l * ld;
        SIMD for (size_t i = 0; i < n; i++)
            sum[i] += core_dot_cut(factor * row[i] * top[i]);
    }
    SIMD for (size_t i = 0; i < n; i++) {
        const double value = sum[i] / top[i];
        t[i] = plain[i] - plain[i] == 0 ? value : plain[i]; /* infinite or NaN only by a term that is */
    }
}
