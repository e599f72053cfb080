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
    SIMD for (size_t i = 0; i < n; i++) {                                                                              \
        core_scale one;                                                                                                \
        uintw u, v;                                                                                                    \
        memcpy(&u, in + i * sizeof u, sizeof u);                                                                       \
        one.kind = of_kind;                                                                                            \
        one.down = down;                                                                                               \
        v = core_block_t(&one, keep, u);                                                                               \
        memcpy(out + i * sizeof v, &v, sizeof v);                                                                      \
    }                                                                                                                  \
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

#define LARGER(a, b) ((a) > (b) ? (a) : (b))

#if defined(__AVX512F__) && CARRIER_BITS == 32
/* The larger of neighbours, of a in the even places and of b in the odd ones: by 32 bits; by 64. */
FPEMU_FN __m512i loop_larger_pairs(__m512i a, __m512i b)
{
    return _mm512_max_epu32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
}

FPEMU_FN __m512i loop_larger_fours(__m512i a, __m512i b)
{
    return _mm512_max_epu32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
}

/* The same by lanes of 128 bits: those of a in the lower half. */
FPEMU_FN __m512i loop_larger_lanes(__m512i a, __m512i b)
{
    return _mm512_max_epu32(_mm512_shuffle_i32x4(a, b, 0x88), _mm512_shuffle_i32x4(a, b, 0xdd));
}

/* Largest magnitudes of 16 blocks of n elements, n a multiple of 16; by hand, since compilers go through memory. */
FPEMU_FN void loop_sixteen_amax(size_t n, const char *in, uintw *amax)
{
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    __m512i four[4];
    for (size_t f = 0; f < 4; f++) {
        __m512i w[4];
        for (size_t b = 0; b < 4; b++) {
            const char *const from = in + (4 * f + b) * n * sizeof *amax;
            w[b] = _mm512_and_si512(_mm512_loadu_si512(from), magnitude);
            for (size_t k = 16; k < n; k += 16)
                w[b] = _mm512_max_epu32(w[b], _mm512_and_si512(_mm512_loadu_si512(from + k * sizeof *amax), magnitude));
        }
        four[f] = loop_larger_fours(loop_larger_pairs(w[0], w[1]), loop_larger_pairs(w[2], w[3]));
    }
    const __m512i all = loop_larger_lanes(loop_larger_lanes(four[0], four[1]), loop_larger_lanes(four[2], four[3]));
    _mm512_storeu_si512(amax, all);
}
#elif defined(__AVX2__) && CARRIER_BITS == 32
/* Largest magnitudes of 16 blocks of n elements, n a multiple of 16, as above. */
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
#define RUNS_T(of_kind, keep)                                                                                          \
    for (size_t b = 0; b < count; b++) {                                                                               \
        const realw one_down = down[b];                                                                                \
        SIMD for (size_t i = 0; i < length; i++) {                                                                     \
            core_scale one;                                                                                            \
            uintw u, v;                                                                                                \
            memcpy(&u, in + (b * length + i) * sizeof u, sizeof u);                                                    \
            one.kind = of_kind;                                                                                        \
            one.down = one_down;                                                                                       \
            v = core_block_t(&one, keep, u);                                                                           \
            memcpy(out + (b * length + i) * sizeof v, &v, sizeof v);                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    return

static void loop_runs_t(int divide, int sticky, size_t length, size_t count, const realw *down, const void *x, void *t)
{
    const char *in = (const char *)x;
    char *out = (char *)t;
    if (divide) {
        RUNS_T(CORE_SCALE_DIVIDE, 0);
    }
    if (sticky) {
        RUNS_T(CORE_SCALE_MULTIPLY, 1);
    }
    RUNS_T(CORE_SCALE_MULTIPLY, 0);
}
#undef RUNS_T

static void loop_runs_y(size_t length, size_t count, const realw *scales, realw second, const void *p, void *y)
{
    const char *in = (const char *)p;
    char *out = (char *)y;
    for (size_t b = 0; b < count; b++) {
        const realw scale = scales[b];
        SIMD for (size_t i = 0; i < length; i++) {
            core_scale one;
            uintw u, v;
            memcpy(&u, in + (b * length + i) * sizeof u, sizeof u);
            one.kind = CORE_SCALE_MULTIPLY;
            one.s = scale;
            one.d = second;
            v = core_block_y(&one, u);
            memcpy(out + (b * length + i) * sizeof v, &v, sizeof v);
        }
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

/* What the scale format is to hold for blocks with these magnitudes (absmax, nvfp4); 0 if not all are finite. */
static int loop_runs_scales(const core_block *b, size_t count, const uintw *amax, realw *v)
{
    const realw max = b->max, u = (realw)b->tensor.a * b->inverse, d = (realw)b->tensor.b;
    uintw others = 0;
    switch (b->rule) {
    case FPEMU_SCALING_NVFP4: SIMD for (size_t i = 0; i < count; i++) v[i] = core_value(amax[i]) * u; break;
    case FPEMU_SCALING_NVFP4_AO:
        if (!loop_quotients(1, count, amax, max, d, v)) SIMD
            for (size_t i = 0; i < count; i++)
                v[i] = core_value(amax[i]) / max / d;
        break;
    default:
        if (!loop_quotients(0, count, amax, max, 1, v)) SIMD
            for (size_t i = 0; i < count; i++)
                v[i] = core_value(amax[i]) / max;
    }
#pragma omp simd reduction(+ : others)
    for (size_t i = 0; i < count; i++)
        others += core_bits(v[i]) >= CARRIER_INF;
    return others == 0;
}

/* Scales s as they are used: multipliers, or divisors for absmax, which make zeros of everything where s is 0; for
 * reciprocal, of scales not yet taken to their format. */
static void loop_runs_down(const core_block *b, size_t count, realw *s, realw *down)
{
    const realw u = (realw)b->tensor.a, d = (realw)b->tensor.b, least = b->scale_normal;
    const realw infinity = core_value(CARRIER_INF);
    switch (b->rule) {
    case FPEMU_SCALING_NVFP4:
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
        SIMD for (size_t i = 0; i < count; i++)
        {
            const realw inverse = core_scale_inverse(1 / s[i]);
            down[i] = s[i] > 0 ? inverse : 0;
        }
        break;
    default: SIMD for (size_t i = 0; i < count; i++) down[i] = s[i] > 0 ? s[i] : infinity;
    }
}

/* loop_runs_scales and loop_runs_down at once for nvfp4, and what lies between: scales to nearest by the plan of
 * core_element_stop. */
static int loop_runs_nvfp4(const core_plan *hold, const core_block *b, size_t count, const uintw *amax, realw *s,
                           realw *down)
{
    const core_plan p = *hold;
    const realw u = (realw)b->tensor.a * b->inverse, d = (realw)b->tensor.b;
    uintw most = 0;
#pragma omp simd reduction(max : most)
    for (size_t i = 0; i < count; i++) {
        const uintw v = core_bits(core_value(amax[i]) * u);
        const realw held = core_value(core_element_stop(&p, FPEMU_MODE_RNE, v, 0));
        const realw kept = core_scale_nvfp4(held, d);
        most = v > most ? v : most;
        s[i] = held;
        down[i] = held > 0 ? kept : 0;
    }
    return most < CARRIER_INF;
}

/* All of t, P and y of a finite element, where P is had by core_element_stop or core_element_even. */
FPEMU_FN uintw loop_scaled(const core_plan *p, int even, int divide, int mode, realw down, realw scale, realw second,
                           uintw u, uintw r)
{
    const realw x = core_value(u), t = divide ? x / down : x * down;
    u = core_bits(t);
    u = even ? core_element_even(p, mode, u, r) : core_element_stop(p, mode, u, r);
    u = core_bits((core_value(u) * scale) * second);
    const uintw sign = u >> (CARRIER_BITS - 1) << (CARRIER_BITS - 1);
    return core_at_most(u ^ sign, CARRIER_INF - 1) | sign; /* as core_finite has it, in fewer steps */
}

/* Of `count` blocks of n elements in a row; n = 1: of elements with a scale each. */
#define SCALED_ELEMENT(even, divide, mode, at, b)                                                                      \
    uintw u, v;                                                                                                        \
    memcpy(&u, in + (at) * sizeof u, sizeof u);                                                                        \
    v = loop_scaled(&p, even, divide, mode, down[b], s[b], second, u,                                                  \
                    (mode) == FPEMU_MODE_SR ? (uintw)r[at] << (CARRIER_BITS - 32) : 0);                                \
    memcpy(out + (at) * sizeof v, &v, sizeof v)

#define SCALED_LENGTH(even, divide, mode, n)                                                                           \
    for (size_t b = 0; b < count; b++) {                                                                               \
        SIMD for (size_t i = 0; i < (n); i++) {                                                                        \
            SCALED_ELEMENT(even, divide, mode, b * (n) + i, b);                                                        \
        }                                                                                                              \
    }                                                                                                                  \
    break

#define SCALED_LOOP(name, even, divide, mode)                                                                          \
    static void CARRIER(loop_scaled_##name)(const core_plan *plan, size_t length, size_t count, const realw *down,     \
                                            const realw *s, realw second, const void *x, const uint32_t *r, void *y)   \
    {                                                                                                                  \
        const core_plan p = *plan;                                                                                     \
        const char *in = (const char *)x;                                                                              \
        char *out = (char *)y;                                                                                         \
        (void)r;                                                                                                       \
        switch (length) {                                                                                              \
        case 1: {                                                                                                      \
            SIMD for (size_t b = 0; b < count; b++) {                                                                  \
                SCALED_ELEMENT(even, divide, mode, b, b);                                                              \
            }                                                                                                          \
            break;                                                                                                     \
        }                                                                                                              \
        case 16: SCALED_LENGTH(even, divide, mode, 16);                                                                \
        case 32: SCALED_LENGTH(even, divide, mode, 32);                                                                \
        default: SCALED_LENGTH(even, divide, mode, length);                                                            \
        }                                                                                                              \
    }
SCALED_LOOP(stop_times_nearest, 0, 0, FPEMU_MODE_RNE)
SCALED_LOOP(stop_times_stochastic, 0, 0, FPEMU_MODE_SR)
SCALED_LOOP(stop_by_nearest, 0, 1, FPEMU_MODE_RNE)
SCALED_LOOP(stop_by_stochastic, 0, 1, FPEMU_MODE_SR)
SCALED_LOOP(even_times_nearest, 1, 0, FPEMU_MODE_RNE)
SCALED_LOOP(even_times_stochastic, 1, 0, FPEMU_MODE_SR)
SCALED_LOOP(even_by_nearest, 1, 1, FPEMU_MODE_RNE)
SCALED_LOOP(even_by_stochastic, 1, 1, FPEMU_MODE_SR)
#undef SCALED_LOOP
#undef SCALED_LENGTH
#undef SCALED_ELEMENT

/* What is known of every element from what is known of blocks. */
#define SPREAD(name, type)                                                                                             \
    FPEMU_FN void name(size_t length, size_t count, const type *of_blocks, type *spread)                               \
    {                                                                                                                  \
        if (length == 16) {                                                                                            \
            for (size_t b = 0; b < count; b++) SIMD                                                                    \
                for (size_t i = 0; i < 16; i++)                                                                        \
                    spread[b * 16 + i] = of_blocks[b];                                                                 \
            return;                                                                                                    \
        }                                                                                                              \
        for (size_t b = 0; b < count; b++) {                                                                           \
            const type one = of_blocks[b];                                                                             \
            SIMD for (size_t i = 0; i < length; i++)                                                                   \
                spread[b * length + i] = one;                                                                          \
        }                                                                                                              \
    }
SPREAD(loop_spread_scales, realw)
SPREAD(loop_spread_bits, uintw)
#undef SPREAD

/* y of finite elements as loop_scaled makes it, and their counters: the fast form of loop_count and
 * loop_count_element. To nearest, quotients are those of core_fast_quotient, with `down` as runs_fast gives it.
 * tests/against_judges/blocks_stats.c holds it to their counts. */
FPEMU_FN void loop_count_scaled(const core_plan *plan, int even, int divide, int mode, size_t length, size_t count,
                                const realw *downs, const realw *scales, realw second, const void *x, const uint32_t *r,
                                void *y, tile_counts *c)
{
    const core_plan p = *plan;
    const uintw magnitude = ~(uintw)0 >> 1, high = p.max[0], low = p.max[1], normal = p.min_normal;
    const uintw cap = p.fast_cap, step = p.fast_emin + p.fast_up;
    const size_t n = length * count;
    const char *in = (const char *)x;
    char *out = (char *)y;
    realw spread_down[TILE], spread_s[TILE];
    const realw *const down = length == 1 ? downs : spread_down, *const s = length == 1 ? scales : spread_s;
    uintw zero = 0, made_zero = 0, zero_p = 0, small = 0, inexact = 0, clipped = 0, overflow = 0;
    uintw max_abs = 0, min_less_1 = ~(uintw)0, max_error = 0;
    if (length > 1) {
        loop_spread_scales(length, count, downs, spread_down);
        loop_spread_scales(length, count, scales, spread_s);
    }
#pragma omp simd reduction(+ : zero, made_zero, zero_p, small, inexact, clipped, overflow)                             \
    reduction(max : max_abs, max_error) reduction(min : min_less_1)
    for (size_t i = 0; i < n; i++) {
        uintw u;
        memcpy(&u, in + i * sizeof u, sizeof u);
        const uintw a = u & magnitude, sign = u ^ a, less_1 = a - 1;
        const realw at = core_value(u);
        realw t = at * down[i];
        if (divide)
            t = mode == FPEMU_MODE_RNE ? core_fast_quotient(at, s[i], down[i]) : at / down[i];
        const uintw seen = core_bits(t) & magnitude, near = core_at_most(seen, cap);
        const uintw g = mode == FPEMU_MODE_SR
                            ? core_stochastic(&p, seen, (uintw)r[i] << (CARRIER_BITS - 32))
                            : core_shifter_round(FPEMU_MODE_RNE, near, even ? step : core_shifter_c(&p, near), 0, 0);
        const uintw max = even && u > magnitude ? low : high, kept = core_at_most(g, max);
        const realw made = core_value(kept | sign), rounded = even ? made + 0 : made; /* -0 becomes 0 */
        const uintw w = core_bits(divide ? rounded * s[i] : (rounded * s[i]) * second);
        const uintw b = core_at_most(w & magnitude, CARRIER_INF - 1), v = b | (w & ~magnitude);
        const uintw error = core_bits(at - core_value(v)) & magnitude;
        memcpy(out + i * sizeof v, &v, sizeof v);
        max_abs = a > max_abs ? a : max_abs;
        min_less_1 = less_1 < min_less_1 ? less_1 : min_less_1;
        max_error = error > max_error ? error : max_error;
        ADD_IF(zero, a == 0);
        ADD_IF(made_zero, b == 0);
        ADD_IF(zero_p, !even && kept == 0);
        ADD_IF(small, !even && (intw)kept < (intw)normal);
        ADD_IF(inexact, error != 0);
        ADD_IF(clipped, (intw)seen > (intw)max);
        ADD_IF(overflow, (intw)g > (intw)max);
    }
    c->nan = c->infinite = c->invalid = 0;
    c->clipped = clipped;
    c->overflow = overflow;
    c->underflow = made_zero - zero;
    c->subnormal = normal ? small - zero_p : 0;
    c->inexact = inexact;
    c->min_abs = (uintw)(min_less_1 + 1);
    c->max_abs = max_abs;
    loop_add_error(n, in, out, max_error, 0, c);
}

#define COUNT_SCALED(name, even, divide, mode)                                                                         \
    static void CARRIER(loop_count_scaled_##name)(const core_plan *plan, size_t length, size_t count,                  \
                                                  const realw *down, const realw *s, realw second, const void *x,      \
                                                  const uint32_t *r, void *y, tile_counts *c)                          \
    {                                                                                                                  \
        loop_count_scaled(plan, even, divide, mode, length, count, down, s, second, x, r, y, c);                       \
    }
COUNT_SCALED(stop_times_nearest, 0, 0, FPEMU_MODE_RNE)
COUNT_SCALED(stop_times_stochastic, 0, 0, FPEMU_MODE_SR)
COUNT_SCALED(stop_by_nearest, 0, 1, FPEMU_MODE_RNE)
COUNT_SCALED(stop_by_stochastic, 0, 1, FPEMU_MODE_SR)
COUNT_SCALED(even_times_nearest, 1, 0, FPEMU_MODE_RNE)
COUNT_SCALED(even_times_stochastic, 1, 0, FPEMU_MODE_SR)
COUNT_SCALED(even_by_nearest, 1, 1, FPEMU_MODE_RNE)
COUNT_SCALED(even_by_stochastic, 1, 1, FPEMU_MODE_SR)
#undef COUNT_SCALED

/* How far core_fast_... serves `count` blocks of finite elements: 0 not all of them, 1 it does, 2 nothing comes to lie
 * beyond the ends. For divisors s, `down` is made what it wants, if it does. */
static int loop_runs_fast(const core_plan *p, const core_block *b, int divided, size_t count, const uintw *amax,
                          const realw *s, realw second, realw *down)
{
    realw inverse[FAST_BLOCKS];
    const realw *const by = divided ? inverse : down;
    uintw most_t = 0, most_s = 0, most_down = 0;
    if (divided) SIMD
        for (size_t i = 0; i < count; i++)
            inverse[i] = s[i] > 0 ? 1 / s[i] : 0;
#pragma omp simd reduction(max : most_t, most_s, most_down)
    for (size_t i = 0; i < count; i++) {
        const uintw t = core_bits(core_value(amax[i]) * by[i]), scale = core_bits(s[i]), one = core_bits(by[i]);
        most_t = t > most_t ? t : most_t;
        most_s = scale > most_s ? scale : most_s;
        most_down = one > most_down ? one : most_down;
    }
    const int held = core_fast_holds(p, p->rule == CORE_RULE_EVEN, divided, core_value(most_t), b->max,
                                     core_value(most_s), second, core_value(most_down));
    if (held && divided)
        memcpy(down, inverse, count * sizeof *down);
    return held;
}

/* Of `count` blocks of n elements in a row from b on, `many` of them at a time, and piece by piece: with constants
 * nothing is left of the inner loops. */
#define FAST_ELEMENT(kind, inside, divided, at, one_down, one_s)                                                       \
    uintw u, v;                                                                                                        \
    memcpy(&u, in + (at) * sizeof u, sizeof u);                                                                        \
    v = core_fast_##kind(&p, inside, divided, one_down, one_s, second, u);                                             \
    memcpy(out + (at) * sizeof v, &v, sizeof v)

#define FAST_LENGTH(kind, inside, divided, n, piece, many)                                                             \
    for (; b + (many) <= count; b += (many)) {                                                                         \
        for (size_t next = b; next < b + (many); next++) {                                                             \
            const realw one_down = down[next], one_s = s[next];                                                        \
            for (size_t k = 0; k < (n); k += (piece)) {                                                                \
                SIMD for (size_t i = 0; i < (piece); i++) {                                                            \
                    FAST_ELEMENT(kind, inside, divided, next * (n) + k + i, one_down, one_s);                          \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

#define FAST_LOOP(name, kind, inside, divided)                                                                         \
    static void CARRIER(loop_fast_##name)(const core_plan *plan, size_t length, size_t count, const realw *down,       \
                                          const realw *s, realw second, const void *x, void *y)                        \
    {                                                                                                                  \
        const core_plan p = *plan;                                                                                     \
        const char *in = (const char *)x;                                                                              \
        char *out = (char *)y;                                                                                         \
        size_t b = 0;                                                                                                  \
        if (length == 1) {                                                                                             \
            SIMD for (b = 0; b < count; b++) {                                                                         \
                FAST_ELEMENT(kind, inside, divided, b, down[b], s[b]);                                                 \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        if (length == 16) {                                                                                            \
            FAST_LENGTH(kind, inside, divided, 16, 16, 8);                                                             \
            FAST_LENGTH(kind, inside, divided, 16, 16, 1);                                                             \
            return;                                                                                                    \
        }                                                                                                              \
        if (length == 32) {                                                                                            \
            FAST_LENGTH(kind, inside, divided, 32, 32, 4);                                                             \
            FAST_LENGTH(kind, inside, divided, 32, 32, 1);                                                             \
            return;                                                                                                    \
        }                                                                                                              \
        if (length % 128 == 0) {                                                                                       \
            FAST_LENGTH(kind, inside, divided, length, 128, 1);                                                        \
            return;                                                                                                    \
        }                                                                                                              \
        if (length % 32 == 0) {                                                                                        \
            FAST_LENGTH(kind, inside, divided, length, 32, 1);                                                         \
            return;                                                                                                    \
        }                                                                                                              \
        FAST_LENGTH(kind, inside, divided, length, length, 1);                                                         \
    }
FAST_LOOP(stop_times, stop, 0, 0)
FAST_LOOP(stop_by, stop, 0, 1)
FAST_LOOP(even_times, even, 0, 0)
FAST_LOOP(even_by, even, 0, 1)
FAST_LOOP(stop_times_inside, stop, 1, 0)
FAST_LOOP(stop_by_inside, stop, 1, 1)
FAST_LOOP(even_times_inside, even, 1, 0)
FAST_LOOP(even_by_inside, even, 1, 1)
#undef FAST_LOOP
#undef FAST_LENGTH
#undef FAST_ELEMENT

/* The largest magnitude whose product with `down` is rounded to at most `end`; *bad: it is not had. The quotient of the
 * two is at most two steps from it. */
FPEMU_FN uintw loop_limit(realw end, realw down, uintw *bad)
{
    const realw quotient = end / down;
    const uintw near = core_at_most(core_bits(quotient), CARRIER_INF - 4), first = near - 2;
    uintw limit = first;
    for (uintw k = 1; k <= 4; k++)
        limit += core_value(first + k) * down <= end;
    *bad |= (uintw)((intw)near < (intw)CARRIER_HIDDEN) | (uintw)(core_value(first) * down > end) |
            (uintw)(limit == first + 4 && near != CARRIER_INF - 4);
    return limit;
}

/* For `count` blocks that runs_fast serves: which magnitudes x their element format clips, those above high; which
 * overflow, those above over; and which magnitudes y are of its subnormal values or zero, those below low. 0 where this
 * cannot be said of them. inside: nothing overflows, and over is not made. */
static int loop_runs_limits(const core_plan *p, int inside, int divided, size_t count, const uintw *amax,
                            const realw *s, realw second, const realw *down, uintw *high, uintw *over, uintw *low)
{
    const realw max = core_value(p->max[0]), normal = core_value(p->min_normal), step = core_value(p->low_one);
    uintw bad = 0;
    if (p->max[1] < p->max[0] || (!inside && (divided || p->rule == CORE_RULE_EVEN)))
        return 0;
    if (!inside) {
        const realw last = core_value(core_last_inside(p));
        SIMD for (size_t b = 0; b < count; b++) {
            uintw one_bad = 0;
            const uintw limit = loop_limit(last, down[b], &one_bad);
            const uintw held = core_value(amax[b]) * down[b] <= last;
            over[b] = held ? CARRIER_INF : limit;
            low[b] = held ? 0 : one_bad;
        }
#pragma omp simd reduction(| : bad)
        for (size_t b = 0; b < count; b++)
            bad |= low[b];
    }
    if (divided) {
        for (size_t b = 0; b < count; b++) {
            high[b] = CARRIER_INF;
            if (!(down[b] > 0) || core_value(amax[b]) / s[b] <= max)
                continue;
            high[b] = core_bits(max * s[b]);
            while (core_value(high[b]) / s[b] > max)
                high[b]--;
            while (core_value(high[b] + 1) / s[b] <= max)
                high[b]++;
        }
    } else {
        SIMD for (size_t b = 0; b < count; b++) {
            uintw one_bad = 0;
            const uintw limit = loop_limit(max, down[b], &one_bad);
            const uintw held = core_value(amax[b]) * down[b] <= max;
            high[b] = held ? CARRIER_INF : limit;
            low[b] = held ? 0 : one_bad;
        }
#pragma omp simd reduction(| : bad)
        for (size_t b = 0; b < count; b++)
            bad |= low[b];
    }
    if (p->rule == CORE_RULE_EVEN) { /* what is inside lies nearer than a lower end that is farther */
        SIMD for (size_t b = 0; b < count; b++)
            low[b] = p->max[1] > p->max[0] ? CARRIER_INF : high[b];
        return !bad;
    }
#pragma omp simd reduction(| : bad)
    for (size_t b = 0; b < count; b++) {
        const realw first = (normal * s[b]) * second, before = ((normal - step) * s[b]) * second;
        const realw least = (step * s[b]) * second;
        const uintw some = s[b] > 0;
        low[b] = some ? core_bits(first) : 1;
        bad |= some & ((uintw)(before >= first) | (uintw)(least <= 0));
    }
    return !bad;
}

/* The counters of such blocks from x and y alone, at most TILE elements: the fast form of loop_count and
 * loop_count_element to nearest even, held to their counts by the same test. Where the grid is even, low is that of
 * negative x. max_abs is left out. */
FPEMU_FN void loop_count_limits(int even, int inside, size_t length, size_t count, const void *x, const void *y,
                                const uintw *highs, const uintw *overs, const uintw *lows, tile_counts *c)
{
    const uintw magnitude = ~(uintw)0 >> 1;
    const size_t n = length * count;
    const char *in = (const char *)x, *out = (const char *)y;
    uintw high[TILE], over[TILE], low[TILE];
    uintw made_zero = 0, small = 0, inexact = 0, clipped = 0, overflow = 0, max_error = 0;
    intw nearest = (intw)magnitude;
    loop_spread_bits(length, count, highs, high);
    loop_spread_bits(length, count, lows, low);
    if (!inside)
        loop_spread_bits(length, count, overs, over);
#pragma omp simd reduction(+ : made_zero, small, inexact, clipped, overflow) reduction(max : max_error)                \
    reduction(min : nearest)
    for (size_t i = 0; i < n; i++) {
        uintw u, v;
        memcpy(&u, in + i * sizeof u, sizeof u);
        memcpy(&v, out + i * sizeof v, sizeof v);
        const uintw a = u & magnitude, b = v & magnitude, above = high[i], below = low[i];
        const uintw limit = even && u > magnitude ? below : above;
        const uintw error = core_bits(core_value(u) - core_value(v)) & magnitude;
        nearest = (intw)a < nearest ? (intw)a : nearest;
        max_error = error > max_error ? error : max_error;
        ADD_IF(made_zero, b == 0);
        ADD_IF(small, !even && (intw)b < (intw)below);
        ADD_IF(inexact, error != 0);
        ADD_IF(clipped, (intw)a > (intw)limit);
        if (!inside)
            ADD_IF(overflow, (intw)a > (intw)over[i]);
    }
    uintw zero = 0;
    if (nearest == 0) {
        uintw less_1 = ~(uintw)0;
#pragma omp simd reduction(+ : zero) reduction(min : less_1)
        for (size_t i = 0; i < n; i++) {
            uintw u;
            memcpy(&u, in + i * sizeof u, sizeof u);
            const uintw a = (u & magnitude) - 1;
            zero += a > magnitude;
            less_1 = a < less_1 ? a : less_1;
        }
        nearest = (intw)(less_1 + 1);
    }
    c->nan = c->infinite = c->invalid = 0;
    c->clipped = clipped;
    c->overflow = overflow;
    c->underflow = made_zero - zero;
    c->subnormal = even ? 0 : small - made_zero;
    c->inexact = inexact;
    c->min_abs = (uintw)nearest;
    loop_add_error(n, in, out, max_error, 0, c);
}

#define COUNT_LIMITS(name, even, inside)                                                                               \
    static void CARRIER(loop_count_limits_##name)(size_t length, size_t count, const void *x, const void *y,           \
                                                  const uintw *high, const uintw *over, const uintw *low,              \
                                                  tile_counts *c)                                                      \
    {                                                                                                                  \
        loop_count_limits(even, inside, length, count, x, y, high, over, low, c);                                      \
    }
COUNT_LIMITS(stop, 0, 0)
COUNT_LIMITS(stop_inside, 0, 1)
COUNT_LIMITS(even_inside, 1, 1)
#undef COUNT_LIMITS

/* y of the kinds MULTIPLY and DIVIDE. */
static void loop_scale_y(const core_scale *s, size_t n, const void *p, void *y)
{
    const realw scale = s->s, second = s->d;
    const char *in = (const char *)p;
    char *out = (char *)y;
    SIMD for (size_t i = 0; i < n; i++) {
        core_scale one;
        uintw u, v;
        memcpy(&u, in + i * sizeof u, sizeof u);
        one.kind = CORE_SCALE_MULTIPLY;
        one.s = scale;
        one.d = second;
        v = core_block_y(&one, u);
        memcpy(out + i * sizeof v, &v, sizeof v);
    }
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
        const uintw max = u > magnitude ? max1 : max0;
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
