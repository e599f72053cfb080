/* dot.inc.c - the loops of dot products, lanes being independent outputs; included by kernels.inc.c. */

/* odd[i] = x * y[i] + s[i] rounded to odd; numbers of binary32. */
static void fma_odd(size_t n, double x, const double *y, const double *s, uint64_t zero_sign, double *odd)
{
    const uint64_t zero = zero_sign;
    SIMD for (size_t i = 0; i < n; i++)
    {
        const double t = core_sum_odd(x * y[i], s[i], zero);
        odd[i] = t != t ? core_value64(CORE_INF64 | CORE_INF64 >> 1) : t;
    }
}

/* x rounded to nearest even, sign and all: adding and subtracting 1.5 * 2^23 steps of the grid. |x| is far enough from
 * the carrier's end (gemm.c, is_lean), NaN stays some NaN. inf: past the end lies infinity; sat: the largest value. */
FPEMU_FN float dot_round_lean(const core_plan32 *p, float x)
{
    const uint32_t u = core_bits32(x);
    uint32_t e = u & 0x7f800000u;
    e = e < p->quick_emin ? p->quick_emin : e;
    const float c = core_value32(e + p->quick_up);
    const float sum = x + c, nearest = sum - c;
    return core_value32(core_bits32(nearest) | (u & 0x80000000u)); /* what became zero keeps its sign */
}

FPEMU_FN float dot_round_inf(const core_plan32 *p, float x)
{
    const float y = dot_round_lean(p, x), a = core_value32(core_bits32(y) & 0x7fffffffu);
    const float past = core_value32(0x7f800000u | (core_bits32(y) & 0x80000000u));
    return a > core_value32(p->max[0]) ? past : y;
}

FPEMU_FN float dot_round_sat(const core_plan32 *p, float x)
{
    const float max = core_value32(p->max[0]), y = dot_round_lean(p, x), z = max < y ? max : y;
    return -max > z ? -max : z;
}

FPEMU_FN float dot_round_none(const core_plan32 *p, float x)
{
    (void)p;
    return x;
}

FPEMU_FN float dot_round_flat(const core_plan32 *p, float x)
{
    return core_value32(element_flat_32(p, FPEMU_RNE, core_bits32(x), 0));
}

FPEMU_FN float dot_round_ends(const core_plan32 *p, float x)
{
    return core_value32(element_magic_ends_32(p, FPEMU_RNE, core_bits32(x), 0));
}

/* s = sum(s + product(x * y)) for nk steps, y[l * ld + i]: what is exact enough in binary32 (gemm.c, choose_way). */
#define MAC_LOOP(product, sum)                                                                                         \
    static void mac_##product##_##sum(const core_plan32 *product_plan, const core_plan32 *sum_plan, size_t nk,         \
                                      size_t n, const float *x, const float *y, size_t ld, float *s)                   \
    {                                                                                                                  \
        const core_plan32 p = *product_plan, q = *sum_plan;                                                            \
        for (size_t l = 0; l < nk; l++) {                                                                              \
            const float *row = y + l * ld;                                                                             \
            const float factor = x[l];                                                                                 \
            SIMD for (size_t i = 0; i < n; i++)                                                                        \
            {                                                                                                          \
                const float t = dot_round_##product(&p, factor * row[i]);                                              \
                s[i] = dot_round_##sum(&q, s[i] + t);                                                                  \
            }                                                                                                          \
        }                                                                                                              \
    }
#define MAC_LOOPS(sum)                                                                                                 \
    MAC_LOOP(none, sum)                                                                                                \
    MAC_LOOP(flat, sum)                                                                                                \
    MAC_LOOP(ends, sum)                                                                                                \
    MAC_LOOP(inf, sum)                                                                                                 \
    MAC_LOOP(sat, sum)

MAC_LOOPS(flat)
MAC_LOOPS(ends)
MAC_LOOPS(inf)
MAC_LOOPS(sat)
#undef MAC_LOOP
#undef MAC_LOOPS

/* binary32 itself, products exact. */
static void mac_binary32(size_t nk, size_t n, const float *x, const float *y, size_t ld, float *s)
{
    for (size_t l = 0; l < nk; l++) {
        const float *row = y + l * ld;
        const float factor = x[l];
#if defined(__FMA__) || defined(__aarch64__)
        SIMD for (size_t i = 0; i < n; i++) s[i] = __builtin_fmaf(factor, row[i], s[i]);
#else
        SIMD for (size_t i = 0; i < n; i++)
            s[i] = (float)core_sum_odd((double)factor * (double)row[i], (double)s[i], 0);
#endif
    }
}

/* binary64, for numbers of binary32: their products are exact. */
static void mac_binary64(size_t nk, size_t n, const double *x, const double *y, size_t ld, double *s)
{
    for (size_t l = 0; l < nk; l++) {
        const double *row = y + l * ld;
        const double factor = x[l];
        SIMD for (size_t i = 0; i < n; i++) s[i] = s[i] + factor * row[i];
    }
}

/* The sum of one step of a tensor core, before its rounding; n <= DOT_LANES lanes, nk products each. px, py: the powers
 * of two that core_dot_power gives for x and y; scale: 2^f; floor: 2^least exponent. What is not finite goes through. */
static void fused_sum(size_t nk, size_t n, size_t ld, const double *x, const double *px, const double *y,
                      const double *py, double scale, double floor, const double *d, double *t)
{
    double top[DOT_LANES], sum[DOT_LANES], plain[DOT_LANES];
    const double least = 1.1754943508222875e-38; /* 2^-126 */
    SIMD for (size_t i = 0; i < n; i++)
    {
        const double power = core_dot_power(d[i], least);
        top[i] = power < floor ? floor : power;
        plain[i] = d[i];
    }
    for (size_t l = 0; l < nk; l++) {
        const double factor = x[l], power = px[l];
        const double *row = y + l * ld, *powers = py + l * ld;
        SIMD for (size_t i = 0; i < n; i++)
        {
            const double e = power * powers[i];
            top[i] = e > top[i] ? e : top[i];
            plain[i] += factor * row[i];
        }
    }
    SIMD for (size_t i = 0; i < n; i++)
    {
        top[i] = scale / top[i]; /* all are powers of two */
        sum[i] = 0 + core_dot_cut(d[i] * top[i]);
    }
    for (size_t l = 0; l < nk; l++) {
        const double factor = x[l];
        const double *row = y + l * ld;
        SIMD for (size_t i = 0; i < n; i++) sum[i] += core_dot_cut(factor * row[i] * top[i]);
    }
    SIMD for (size_t i = 0; i < n; i++)
    {
        const double value = sum[i] / top[i];
        t[i] = plain[i] - plain[i] == 0 ? value : plain[i]; /* infinite or NaN only by a term that is */
    }
}
