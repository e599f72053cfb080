/* SPDX-License-Identifier: BSD-2-Clause */
/* dot.inc.c - the loops of dot products, lanes being independent outputs; included by variant.inc.c. */

static void spread(size_t n, double x, double *to)
{
    SIMD for (size_t i = 0; i < n; i++)
        to[i] = x;
}

/* Counts of finite v * w + u within the ends, which are given to odd and as results y: as core_dot_count has them. What is
 * inexact is swamped where y is one of the two terms. 0 where something may be no such sum. */
static int count_sums(const core_plan64 *p, size_t n, const double *v, const double *w, const double *u,
                      const double *odd, const double *y, tile_counts *c, uint64_t *swamped)
{
    const uint64_t normal = p->min_normal, max = p->max[0] < CORE_INF64 ? p->max[0] : CORE_INF64;
    int64_t most = 0, error = 0;
    uint64_t less_1 = ~UINT64_C(0), underflow = 0, subnormal = 0, inexact = 0, stays = 0;
    if (p->negative || p->max[1] < p->max[0])
        return 0;
#pragma omp simd reduction(+ : underflow, subnormal, inexact, stays) reduction(max : most, error)                      \
    reduction(min : less_1)
    for (size_t i = 0; i < n; i++) {
        const double near = DOT_FUSED(v[i], w[i], u[i]), rest = DOT_FUSED(v[i], w[i], -y[i]);
        const uint64_t a = core_bits64(near) & ~CORE_SIGN64, b = core_bits64(y[i]) & ~CORE_SIGN64;
        const int64_t e = (int64_t)(core_bits64(near - y[i]) & ~CORE_SIGN64);
        most = (int64_t)a > most ? (int64_t)a : most;
        less_1 = a - 1 < less_1 ? a - 1 : less_1;
        error = e > error ? e : error;
        const uint64_t lost = odd[i] != y[i];
        inexact += lost;
        underflow += lost & (uint64_t)(b == 0);
        subnormal += (uint64_t)(b - 1 < normal - 1);
        /* beside y = 0, products that binary64 lacks leave a rest of 0 too */
        const uint64_t whole = (uint64_t)(b != 0) | (uint64_t)(v[i] == 0) | (uint64_t)(w[i] == 0);
        stays += lost & ((whole & (uint64_t)(rest == 0)) | (uint64_t)(u[i] == y[i]));
    }
    if ((uint64_t)most >= max)
        return 0;
    memset(c, 0, sizeof *c);
    c->underflow = underflow;
    c->subnormal = normal ? subnormal : 0;
    c->inexact = inexact;
    c->max_abs = (uint64_t)most;
    c->min_abs = less_1 + 1;
    c->max_error = core_value64((uint64_t)error);
    *swamped = stays;
    return 1;
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
