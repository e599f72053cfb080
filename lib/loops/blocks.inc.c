/* SPDX-License-Identifier: BSD-2-Clause */
/* blocks.inc.c - the loops of blocked formats for one carrier; included by variant.inc.c for each. */

/* Magnitude bits of the largest element (NaN and infinities included), of the largest above zero and of the smallest
 * below; how many are zero, and not finite. n below 2^31. */
static void loop_extremes(size_t n, const void *x, block_extremes *e)
{
    const char *in = (const char *)x;
    uintw amax = 0, high = 0, low = 0;
    uint32_t zeros = 0, nonfinite = 0;
#pragma omp simd reduction(max : amax, high, low) reduction(+ : zeros, nonfinite)
    for (size_t i = 0; i < n; i++) {
        uintw u;
        memcpy(&u, in + i * sizeof u, sizeof u);
        const uintw a = u << 1 >> 1, up = u == a ? a : 0, down = u == a ? 0 : a;
        amax = a > amax ? a : amax;
        high = up > high ? up : high;
        low = down > low ? down : low;
        zeros += a == 0;
        nonfinite += a >= CARRIER_INF;
    }
    e->amax = amax;
    e->high = high;
    e->low = low;
    e->zeros = zeros;
    e->nonfinite = nonfinite;
}

/* Sum and largest of log2 of the finite elements other than zero, in steps of 2^-32; n below 2^16. */
static void loop_logarithms(size_t n, const void *x, int64_t *sum, int64_t *largest)
{
    const char *in = (const char *)x;
    int64_t total = 0, most = INT64_MIN;
#pragma omp simd reduction(+ : total) reduction(max : most)
    for (size_t i = 0; i < n; i++) {
        uintw u;
        memcpy(&u, in + i * sizeof u, sizeof u);
        const uintw a = u << 1 >> 1, some = (a != 0) & (a < CARRIER_INF);
        const int64_t steps = core_log2_steps(some ? (double)core_value(a) : 1);
        total += steps; /* of 1: 0 */
        const int64_t counted = some ? steps : INT64_MIN;
        most = counted > most ? counted : most;
    }
    *sum = total;
    *largest = most;
}

/* t of the kinds ZERO, MULTIPLY and DIVIDE. */
#define SCALE_T(of_kind, keep)                                                                                         \
    EACH_ELEMENT(core_block_t(&(core_scale){.kind = of_kind, .down = down}, keep, u))                                  \
    return

static void loop_scale_t(const core_scale *s, int sticky, size_t n, const void *x, void *t)
{
    const realw down = s->down;
    const char *in = (const char *)x;
    char *out = (char *)t;
    switch (s->kind) {
    case CORE_SCALE_ZERO: SCALE_T(CORE_SCALE_ZERO, 0);
    case CORE_SCALE_DIVIDE: SCALE_T(CORE_SCALE_DIVIDE, 0);
    default: break;
    }
    if (sticky) {
        SCALE_T(CORE_SCALE_MULTIPLY, 1);
    }
    SCALE_T(CORE_SCALE_MULTIPLY, 0);
}
#undef SCALE_T

/* y of the kinds MULTIPLY and DIVIDE. */
static void loop_scale_y(const core_scale *s, size_t n, const void *p, void *y)
{
    const realw scale = s->s, second = s->d;
    const char *in = (const char *)p;
    char *out = (char *)y;
    EACH_ELEMENT(core_block_y(&(core_scale){.kind = CORE_SCALE_MULTIPLY, .s = scale, .d = second}, u))
}

/* The least and the largest of `length` finite elements each of `count` blocks in a row; zeros of either sign. */
static void loop_runs_ends(size_t length, size_t count, const realw *x, realw *least, realw *most)
{
    for (size_t b = 0; b < count; b++, x += length) {
        realw low = x[0], high = x[0];
#pragma omp simd reduction(min : low) reduction(max : high)
        for (size_t i = 0; i < length; i++) {
            low = x[i] < low ? x[i] : low;
            high = x[i] > high ? x[i] : high;
        }
        least[b] = low;
        most[b] = high;
    }
}

/* The sum of at most 4096 magnitudes below 64, in steps of 2^-46, as core_steps_add has them. */
static uint64_t loop_steps(size_t n, const realw *x)
{
    const double middle = 64; /* whose last bit is a step */
    uint64_t sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++) {
        const double a = core_value64(core_bits64((double)x[i]) << 1 >> 1), moved = a + middle;
        sum += core_bits64(moved) - core_bits64(middle) - (uint64_t)(moved - middle > a);
    }
    return sum;
}

/* y of integers in blocks with zero points after the rounding, from t of finite elements and from the grid. */
static void loop_runs_zero_y(const core_block *b, size_t length, size_t count, const realw *s, const realw *zero,
                             const realw *t, const uintw *grid, realw *y)
{
    const core_block ends = {.lowest = b->lowest, .largest = b->largest};
    for (size_t k = 0; k < count; k++) {
        const core_scale one = {.s = s[k], .zero = zero[k], .order = FPEMU_ZERO_AFTER};
#pragma omp simd
        for (size_t i = k * length; i < k * length + length; i++)
            y[i] = core_value(core_zero_y(&one, core_zero_q(&ends, &one, 0, core_bits(t[i]), grid[i])));
    }
}

/* t of integers with a zero point, from their quotients t; nan: P of a NaN, by sign. */
static void loop_zero_t(const core_scale *s, const uintw *nan, size_t n, realw *t)
{
    const core_scale one = {.zero = s->zero, .order = s->order};
    const uintw either = nan[0] | nan[1];
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        t[i] = core_value(core_zero_t(&one, either, core_bits(t[i])));
}

/* Their q and y; of *c, how many finite x had a t, or an integer, past the ends. */
static void loop_zero_q(const core_block *b, const core_scale *s, const uintw *nan, size_t n, const realw *x,
                        const realw *t, const uintw *grid, realw *q, realw *y, tile_counts *c)
{
    const core_scale one = {.s = s->s, .zero = s->zero, .order = s->order};
    const core_block ends = {.lowest = b->lowest, .largest = b->largest};
    const uintw nans[2] = {nan[0], nan[1]};
    uintw clipped = 0, overflow = 0;
#pragma omp simd reduction(+ : clipped, overflow)
    for (size_t i = 0; i < n; i++) {
        const uintw u = core_bits(x[i]), finite = (u & ~CARRIER_SIGN) < CARRIER_INF;
        const uintw own = core_bits(t[i]), v = core_zero_q(&ends, &one, CORE_BY_SIGN(u, nans), own, grid[i]);
        q[i] = core_value(v);
        y[i] = core_value(core_zero_y(&one, v));
        clipped += core_zero_outside(&ends, core_zero_sum(&one, own, own & ~CARRIER_SIGN)) & finite;
        overflow += core_zero_outside(&ends, core_zero_sum(&one, own, grid[i])) & finite;
    }
    c->clipped = clipped;
    c->overflow = overflow;
}

/* Of blocks of n elements each. */
static void loop_choice_errors(const core_block *b, size_t n, size_t count, const realw *down, const realw *scale,
                               const realw *x, realw *error)
{
    for (size_t k = 0; k < count; k++)
#pragma omp simd
        for (size_t i = k * n; i < k * n + n; i++)
            error[i] = core_choice_error(b, down[k], scale[k], core_bits(x[i]));
}

static void loop_search_errors(uint32_t error, size_t n, const realw *x, const realw *y, realw *errors)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        errors[i] = core_search_error(error, core_bits(x[i]), core_bits(y[i]));
}

#define LARGER(a, b) ((a) > (b) ? (a) : (b))

#if defined(__AVX2__) && !defined(__AVX512F__) && CARRIER_BITS == 32
/* Largest magnitudes of 16 blocks of n elements, n a multiple of 16; by hand, since compilers go through memory. */
FPEMU_FN void loop_sixteen_amax(size_t n, const char *in, uintw *amax)
{
    const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
    for (size_t half = 0; half < 2; half++) {
        __m256i w[8];
        for (size_t b = 0; b < 8; b++) {
            const char *const from = in + (8 * half + b) * n * sizeof *amax;
            w[b] = _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(const void *)from), magnitude);
            for (size_t k = 8; k < n; k += 8)
                w[b] = _mm256_max_epu32(
                    w[b], _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(const void *)(from + k * sizeof *amax)),
                                           magnitude));
        }
        for (size_t b = 0; b < 4; b++) /* neighbours, of two blocks in turn */
            w[b] = _mm256_max_epu32(_mm256_unpacklo_epi32(w[2 * b], w[2 * b + 1]),
                                    _mm256_unpackhi_epi32(w[2 * b], w[2 * b + 1]));
        for (size_t b = 0; b < 2; b++)
            w[b] = _mm256_max_epu32(_mm256_unpacklo_epi64(w[2 * b], w[2 * b + 1]),
                                    _mm256_unpackhi_epi64(w[2 * b], w[2 * b + 1]));
        const __m256i all =
            _mm256_max_epu32(_mm256_permute2x128_si256(w[0], w[1], 0x20), _mm256_permute2x128_si256(w[0], w[1], 0x31));
        _mm256_storeu_si256((__m256i *)(void *)(amax + 8 * half), all);
    }
}
#else
/* Largest magnitudes of 16 blocks of n elements, n a multiple of 16: columns first, then neighbours pair by pair, so
 * that every step is one of whole vectors. */
FPEMU_FN void loop_sixteen_amax(size_t n, const char *in, uintw *amax)
{
    uintw w[256];
    for (size_t b = 0; b < 16; b++) {
        SIMD for (size_t i = 0; i < 16; i++) {
            uintw largest = 0;
            for (size_t k = 0; k < n; k += 16) {
                uintw u;
                memcpy(&u, in + (b * n + k + i) * sizeof u, sizeof u);
                u = u << 1 >> 1;
                largest = LARGER(largest, u);
            }
            w[b * 16 + i] = largest;
        }
    }
    SIMD for (size_t i = 0; i < 128; i++)
        w[i] = LARGER(w[2 * i], w[2 * i + 1]);
    SIMD for (size_t i = 0; i < 64; i++)
        w[i] = LARGER(w[2 * i], w[2 * i + 1]);
    SIMD for (size_t i = 0; i < 32; i++)
        w[i] = LARGER(w[2 * i], w[2 * i + 1]);
    SIMD for (size_t i = 0; i < 16; i++)
        amax[i] = LARGER(w[2 * i], w[2 * i + 1]);
}
#endif

/* Of n elements in a row. */
FPEMU_FN uintw loop_row_amax(size_t n, const char *in)
{
    uintw largest = 0;
#pragma omp simd reduction(max : largest)
    for (size_t i = 0; i < n; i++) {
        uintw u;
        memcpy(&u, in + i * sizeof u, sizeof u);
        u = u << 1 >> 1;
        largest = LARGER(u, largest);
    }
    return largest;
}

#define ROWS_AMAX(n)                                                                                                   \
    for (; b < count; b++)                                                                                             \
    amax[b] = loop_row_amax(n, in + b * (n) * sizeof *amax)

#define SIXTEEN_AMAX(n)                                                                                                \
    case n:                                                                                                            \
        for (; b + 16 <= count; b += 16)                                                                               \
            loop_sixteen_amax(n, in + b * (n) * sizeof *amax, amax + b);                                               \
        ROWS_AMAX(n);                                                                                                  \
        return

/* Largest magnitudes of `count` blocks of `length` elements in a row. */
static void loop_runs_amax(size_t length, size_t count, const void *x, uintw *amax)
{
    const char *in = (const char *)x;
    size_t b = 0;
    switch (length) { /* the usual lengths as constants: nothing is left of the inner loop */
        SIXTEEN_AMAX(16);
        SIXTEEN_AMAX(32);
        SIXTEEN_AMAX(64);
        SIXTEEN_AMAX(128);
    default: ROWS_AMAX(length);
    }
}
#undef SIXTEEN_AMAX
#undef ROWS_AMAX
#undef LARGER

/* t of such blocks, each with its own divisor or multiplier; and y. */
static void loop_runs_t(int divide, int sticky, size_t length, size_t count, const realw *down, const void *x, void *t)
{
    for (size_t b = 0; b < count; b++) {
        const core_scale one = {.kind = divide ? CORE_SCALE_DIVIDE : CORE_SCALE_MULTIPLY, .down = down[b]};
        const size_t at = b * length * sizeof(realw);
        loop_scale_t(&one, sticky, length, (const char *)x + at, (char *)t + at);
    }
}

static void loop_runs_y(size_t length, size_t count, const realw *scales, realw second, const void *p, void *y)
{
    for (size_t b = 0; b < count; b++) {
        const core_scale one = {.kind = CORE_SCALE_MULTIPLY, .s = scales[b], .d = second};
        const size_t at = b * length * sizeof(realw);
        loop_scale_y(&one, length, (const char *)p + at, (char *)y + at);
    }
}

/* Powers of two of codes that are exponents, in two's complement up to `mask`; the least and the largest. */
static void loop_runs_powers(uint32_t mask, size_t count, const uint8_t *codes, realw *s, int32_t *least, int32_t *most)
{
    const uint32_t top = (mask >> 1) + 1;
    int32_t low = INT32_MAX, high = INT32_MIN;
#pragma omp simd reduction(min : low) reduction(max : high)
    for (size_t i = 0; i < count; i++) {
        const int32_t c = (int32_t)(((codes[i] & mask) ^ top) - top);
        low = c < low ? c : low;
        high = c > high ? c : high;
        s[i] = core_value((uintw)(c + CARRIER_BIAS) << CARRIER_MANTISSA);
    }
    *least = low;
    *most = high;
}

/* v = [a/s], or [[a/s]/d], for magnitudes a by the inverses of s and d; 0 where these might not give it. */
#define QUOTIENTS(twice)                                                                                               \
    _Pragma("omp simd reduction(max : most) reduction(min : least_less_1)") for (size_t i = 0; i < count; i++)         \
    {                                                                                                                  \
        const realw q = core_fast_quotient(core_value(amax[i]), s, by_s);                                              \
        const uintw a = amax[i], u = twice ? core_bits(q) : a, a_less_1 = a - 1, u_less_1 = u - 1;                     \
        const uintw high = a > u ? a : u, low_less_1 = a_less_1 < u_less_1 ? a_less_1 : u_less_1;                      \
        most = high > most ? high : most;                                                                              \
        least_less_1 = low_less_1 < least_less_1 ? low_less_1 : least_less_1;                                          \
        v[i] = twice ? core_fast_quotient(q, d, by_d) : q;                                                             \
    }                                                                                                                  \
    break

static int loop_quotients(int twice, size_t count, const uintw *amax, realw s, realw d, realw *v)
{
    const realw by_s = 1 / s, by_d = 1 / d;
    uintw most = 0, least_less_1 = ~(uintw)0; /* of numbers that are divided, other than 0 */
    if (!core_fast_middle(core_bits(s)) || !core_fast_middle(core_bits(d)))
        return 0;
    switch (twice) {
    case 0: QUOTIENTS(0);
    default: QUOTIENTS(1);
    }
    return (most == 0 || core_fast_middle(most)) && (least_less_1 == ~(uintw)0 || core_fast_middle(least_less_1 + 1));
}
#undef QUOTIENTS

/* What the scale format is to hold for blocks with these magnitudes, as candidate 0 of 4over6 rules; 0 if not all are
 * finite. */
static int loop_runs_scales(const core_block *b, size_t count, const uintw *amax, realw *v)
{
    const realw max = b->max, u = (realw)b->tensor.a * b->inverse, d = (realw)b->tensor.b;
    uintw others = 0;
    switch (b->rule) {
    case FPEMU_SCALING_NVFP4: SIMD for (size_t i = 0; i < count; i++) v[i] = core_value(amax[i]) * u; break;
    case FPEMU_SCALING_EDEN:
    case FPEMU_SCALING_NVFP4_AO:
        if (!loop_quotients(1, count, amax, max, d, v)) SIMD
            for (size_t i = 0; i < count; i++)
                v[i] = core_value(amax[i]) / max / d;
        break;
    default:
        if (!loop_quotients(0, count, amax, max, 1, v)) SIMD
            for (size_t i = 0; i < count; i++)
                v[i] = core_value(amax[i]) / max;
        if (core_rule_chooses(b->rule)) SIMD
            for (size_t i = 0; i < count; i++)
                v[i] *= (realw)b->tensor.a;
    }
#pragma omp simd reduction(+ : others)
    for (size_t i = 0; i < count; i++)
        others += core_bits(v[i]) >= CARRIER_INF;
    return others == 0;
}

/* Scales s as they are used: multipliers, or divisors for absmax and eden, which make zeros of everything where s is 0;
 * for reciprocal and absmean, those of v, which they are of. */
static void loop_runs_down(const core_block *b, size_t count, const realw *v, realw *s, realw *down)
{
    const realw u = (realw)b->tensor.a, d = (realw)b->tensor.b, least = b->scale_normal;
    const realw infinity = core_value(CARRIER_INF), times = b->rule == FPEMU_SCALING_EDEN ? d : 1;
    switch (b->rule) {
    case FPEMU_SCALING_NVFP4:
    case FPEMU_SCALING_4OVER6:
    case FPEMU_SCALING_4OVER6_MSE:
        SIMD for (size_t i = 0; i < count; i++)
        {
            const realw kept = core_scale_nvfp4(s[i], d);
            down[i] = s[i] > 0 ? kept : 0;
        }
        break;
    case FPEMU_SCALING_NVFP4_AO:
        SIMD for (size_t i = 0; i < count; i++)
        {
            const realw one = s[i] < least ? least : s[i], kept = core_scale_inverse(u / one);
            s[i] = one;
            down[i] = one > 0 ? kept : 0;
        }
        break;
    case FPEMU_SCALING_RECIPROCAL:
    case FPEMU_SCALING_ABSMEAN:
        SIMD for (size_t i = 0; i < count; i++)
        {
            const realw inverse = v[i] > 0 ? core_scale_inverse(1 / v[i]) : 0;
            down[i] = s[i] > 0 ? inverse : 0;
        }
        break;
    default:
        SIMD for (size_t i = 0; i < count; i++)
        {
            const realw divisor = core_finite(s[i] * times);
            down[i] = divisor > 0 ? divisor : infinity;
        }
    }
}

/* Largest magnitudes of `lanes` columns of n elements, rows being `step` apart. */
static void loop_columns_amax(size_t n, ptrdiff_t step, size_t lanes, const void *x, uintw *amax)
{
    SIMD for (size_t l = 0; l < lanes; l++)
        amax[l] = 0;
    for (size_t k = 0; k < n; k++) {
        const char *in = (const char *)x + (ptrdiff_t)k * step * (ptrdiff_t)sizeof *amax;
        SIMD for (size_t l = 0; l < lanes; l++) {
            uintw u;
            memcpy(&u, in + l * sizeof u, sizeof u);
            u = u << 1 >> 1;
            amax[l] = u > amax[l] ? u : amax[l];
        }
    }
}

/* Blocks from the first on that the fast form serves, at most `count`; powers: their scales. */
#define POW2_POWERS(rule)                                                                                              \
    case rule: SIMD for (size_t b = 0; b < count; b++) powers[b] = core_pow2_power(&q, rule, amax[b]); break

static size_t loop_pow2_powers(const core_pow2_block *how, size_t count, const uintw *amax, uintw *powers)
{
    const core_pow2_block q = *how;
    uintw others = 0;
    switch (q.rule) {
        POW2_POWERS(FPEMU_SCALING_CEIL);
        POW2_POWERS(FPEMU_SCALING_EVEN);
        POW2_POWERS(FPEMU_SCALING_RCEIL);
        POW2_POWERS(FPEMU_SCALING_HBFP);
    default: POW2_POWERS(FPEMU_SCALING_FLOOR);
    }
#pragma omp simd reduction(+ : others)
    for (size_t b = 0; b < count; b++)
        others += core_pow2_holds(&q, amax[b]) ^ 1;
    size_t held = others ? 0 : count;
    while (others && core_pow2_holds(&q, amax[held]))
        held++;
    return held;
}
#undef POW2_POWERS

/* Multipliers that undo such scales, and their exponents plus `bias` within `mask`; how many blocks are all zero. */
static size_t loop_pow2_codes(uint32_t bias, uint32_t mask, size_t count, const uintw *amax, const uintw *powers,
                              realw *down, uint8_t *codes)
{
    const uintw one = (uintw)CARRIER_BIAS << CARRIER_MANTISSA;
    uintw zeros = 0;
#pragma omp simd reduction(+ : zeros)
    for (size_t b = 0; b < count; b++) {
        const uintw power = powers[b];
        down[b] = core_value(one - power);
        codes[b] = (uint8_t)(((uint32_t)(power >> CARRIER_MANTISSA) + bias) & mask);
        zeros += amax[b] == 0;
    }
    return (size_t)zeros;
}

/* The same as scales. */
static size_t loop_pow2_scales(const core_pow2_block *q, size_t count, const uintw *amax, realw *s)
{
    const uintw one = (uintw)CARRIER_BIAS << CARRIER_MANTISSA;
    uintw powers[RUN_BLOCKS];
    const size_t held = loop_pow2_powers(q, count, amax, powers);
    SIMD for (size_t b = 0; b < held; b++)
        s[b] = core_value(one + powers[b]);
    return held;
}

/* What is known of every element from what is known of blocks. */
FPEMU_FN void loop_spread(size_t length, size_t count, const realw *of_blocks, realw *spread)
{
    for (size_t b = 0; b < count; b++) {
        const realw one = of_blocks[b];
        SIMD for (size_t i = 0; i < length; i++)
            spread[b * length + i] = one;
    }
}

/* y of at most TILE finite elements x, and their counters, g being their values on the grid without ends; kind, down, s
 * and second: as kernel_scaled has them, which makes g. The form of loop_count and loop_count_element for blocks whose
 * scales multiply or divide; tests/against_judges/blocks_stats.c holds it to their counts. */
FPEMU_FN void loop_count_blocks(const core_plan *plan, int kind, size_t length, size_t count, const realw *downs,
                                const realw *scales, realw times, const void *x, const uintw *g, void *y,
                                tile_counts *c)
{
    const uintw magnitude = ~(uintw)0 >> 1, normal = plan->min_normal;
    const realw high = core_value(plan->max[0]), low = core_value(plan->max[1]), least = core_value(normal);
    const realw zero_of_even = plan->rule == CORE_RULE_EVEN ? 0 : (realw)-0.0; /* a sum with it keeps -0, or does not */
    const int powers = kind == SCALED_POWERS;
    const size_t n = length * count;
    const char *in = (const char *)x;
    char *out = (char *)y;
    realw spread_down[TILE], spread_s[TILE];
    const realw *const down = length == 1 ? downs : spread_down, *const s = length == 1 ? scales : spread_s;
    uintw zero = 0, made_zero = 0, zero_p = 0, small = 0, inexact = 0, clipped = 0, overflow = 0;
    uintw max_abs = 0, min_less_1 = ~(uintw)0, max_error = 0;
    if (length > 1) {
        loop_spread(length, count, scales, spread_s);
        if (!powers)
            loop_spread(length, count, downs, spread_down);
    }
#pragma omp simd reduction(+ : zero, made_zero, zero_p, small, inexact, clipped, overflow)                             \
    reduction(max : max_abs, max_error) reduction(min : min_less_1)
    for (size_t i = 0; i < n; i++) {
        uintw u;
        memcpy(&u, in + i * sizeof u, sizeof u);
        const uintw a = u & magnitude, sign = u ^ a, less_1 = a - 1, grid = g[i] & magnitude;
        const realw at = core_value(u), unit = powers ? s[i] : 1, of_sign = u > magnitude ? low : high;
        const realw t = powers                    ? at
                        : kind == SCALED_QUOTIENT ? core_fast_quotient(at, s[i], down[i])
                        : kind == SCALED_BY       ? at / down[i]
                                                  : at * down[i];
        const uintw seen = core_bits(t) & magnitude, max = core_bits(of_sign * unit), kept = core_at_most(grid, max);
        const realw element = core_value(kept | sign) + zero_of_even, scaled = powers ? element : element * s[i];
        const uintw v = core_bits(kind == SCALED_TIMES ? scaled * times : scaled), b = v & magnitude;
        const uintw error = core_bits(at - core_value(v)) & magnitude;
        memcpy(out + i * sizeof v, &v, sizeof v);
        max_abs = a > max_abs ? a : max_abs;
        min_less_1 = less_1 < min_less_1 ? less_1 : min_less_1;
        max_error = error > max_error ? error : max_error;
        ADD_IF(zero, a == 0);
        ADD_IF(made_zero, b == 0);
        if (!powers)
            ADD_IF(zero_p, kept == 0);
        ADD_IF(small, (intw)kept < (intw)core_bits(least * unit));
        ADD_IF(inexact, error != 0);
        ADD_IF(clipped, (intw)seen > (intw)max);
        ADD_IF(overflow, (intw)grid > (intw)max);
    }
    zero_p = powers ? made_zero : zero_p;
    c->nan = c->infinite = c->invalid = 0;
    c->clipped = clipped;
    c->overflow = overflow;
    c->underflow = made_zero - zero;
    c->subnormal = normal ? small - zero_p : 0;
    c->inexact = inexact;
    c->min_abs = (uintw)(min_less_1 + 1);
    c->max_abs = max_abs;
    loop_add_error(n, in, out, max_error,
                   powers && (core_to_nearest(plan->mode) || plan->mode == FPEMU_MODE_RTZ) && !clipped, c);
}

static void CARRIER(loop_count_scaled)(const core_plan *p, int kind, size_t length, size_t count, const realw *down,
                                       const realw *s, realw second, const void *x, const uintw *g, void *y,
                                       tile_counts *c)
{
    switch (kind) {
    case SCALED_BY: loop_count_blocks(p, SCALED_BY, length, count, down, s, second, x, g, y, c); break;
    case SCALED_QUOTIENT: loop_count_blocks(p, SCALED_QUOTIENT, length, count, down, s, second, x, g, y, c); break;
    case SCALED_TIMES: loop_count_blocks(p, SCALED_TIMES, length, count, down, s, second, x, g, y, c); break;
    default: loop_count_blocks(p, SCALED_POWERS, length, count, down, s, second, x, g, y, c);
    }
}

/* Whether core_fast_quotient gives [x/s] of the finite elements of `count` blocks: then *inverse are those of s, else as
 * they were. */
static int loop_runs_inverses(size_t count, const uintw *amax, const realw *s, realw *inverse)
{
    const realw end = core_value(core_power((CARRIER_BIAS + 1) / 2));
    realw most = 0, by[RUN_BLOCKS];
    if (!CORE_HAS_FMA)
        return 0;
#pragma omp simd reduction(max : most)
    for (size_t i = 0; i < count; i++) {
        const realw one = s[i] > 0 ? 1 / s[i] : 0, t = core_value(amax[i]) * one;
        const realw larger = one > s[i] ? one : s[i], largest = t > larger ? t : larger;
        by[i] = one;
        most = largest > most ? largest : most;
    }
    if (most <= end)
        memcpy(inverse, by, count * sizeof *by);
    return most <= end;
}

/* The events that depend on what the element format saw: t, its value g on the grid without ends, and the element made
 * of it. The others are those of x and y. */
static void loop_count_element(const core_plan *p, size_t n, const void *x, const void *t, const void *rounded,
                               const uintw *g, tile_counts *c)
{
    const uintw max0 = p->max[0], max1 = p->max[1], normal = p->min_normal, magnitude = ~(uintw)0 >> 1;
    const char *in = (const char *)x, *seen = (const char *)t, *out = (const char *)rounded;
    const uintw positive = p->negative != 0;
    uintw clipped = 0, overflow = 0, subnormal = 0;
#pragma omp simd reduction(+ : clipped, overflow, subnormal)
    for (size_t i = 0; i < n; i++) {
        uintw u, w, v;
        memcpy(&u, in + i * sizeof u, sizeof u);
        memcpy(&w, seen + i * sizeof w, sizeof w);
        memcpy(&v, out + i * sizeof v, sizeof v);
        const uintw max = w > magnitude ? max1 : max0;
        const uintw over = (uintw)((g[i] & magnitude) > max) | core_block_t_over(positive, w);
        const core_seen judged = {normal, u, 0, v, v, (w & magnitude) > max, over};
        clipped += core_event(CORE_EVENT_CLIPPED, judged);
        overflow += core_event(CORE_EVENT_OVERFLOW, judged);
        subnormal += core_event(CORE_EVENT_SUBNORMAL, judged);
    }
    c->clipped = clipped;
    c->overflow = overflow;
    c->subnormal = subnormal;
}
