/* SPDX-License-Identifier: BSD-2-Clause */
/* blocks_drawn.inc.c - elements of blocks in binary32 scaled, and rounded by random words of the same loop, in vectors
 * of AVX-512; included by variant.inc.c. The fast form of core_pow2_float, core_pow2_fixed and loop_scaled for sr, the
 * same below the smallest step, where blocks have many elements, as above it. tests/against_judges/blocks.c compares the
 * bits.
 *
 * With s the step of its binade, |x| / s is k + f, both had exactly. P is k steps, and one more just if
 * floor(2^32 f) + r passes 2^32, r being the random bits, left-aligned. That is core_up() for sr: of f what lies below
 * 2^-32 is cut off, and of r what lies below the last bit of f cannot carry. Where |x| / s is below 2^-126, k and
 * floor(2^32 f) are zero even if a bit of it is lost. */


/* The random bits of 16 elements, all of them inverted; `at` has the numbers of their words. */
FPEMU_FN __m512i drawn_bits(const core_draw *d, __m512i at)
{
    __m512i x = _mm512_xor_si512(at, _mm512_set1_epi32((int)d->lead));
    x = _mm512_mullo_epi32(x, _mm512_set1_epi32((int)0xed5ad4bbu));
    x = _mm512_ternarylogic_epi32(x, _mm512_srli_epi32(x, 11), _mm512_set1_epi32((int)d->key.k1), 0x96);
    x = _mm512_mullo_epi32(x, _mm512_set1_epi32((int)0xac4c1b51u));
    x = _mm512_xor_si512(x, _mm512_srli_epi32(x, 15));
    x = _mm512_mullo_epi32(x, _mm512_set1_epi32((int)0x31848babu));
    return _mm512_ternarylogic_epi32(x, _mm512_srli_epi32(x, 14), _mm512_set1_epi32((int)~d->mask), 0xeb);
}

/* Vectors that are made at once, step by step: processors look ahead no farther than one of them takes. */
#define DRAWN_VECTORS 4

/* The same by fewer steps, where words begin at a multiple of 16: but for its lowest 4 bits a word's number, the lead
 * taken in, is the same for 16 words, and that times the first factor is had for all that come. */
typedef struct drawn_words {
    _Alignas(LINE) uint32_t products[32];
    __m512i lowest; /* the products of the lowest bits */
    size_t end;     /* from this word on the products are others */
} drawn_words;

FPEMU_FN __m512i drawn_lanes(void)
{
    return _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
}

FPEMU_FN __m512i drawn_product(__m512i x)
{
    return _mm512_mullo_epi32(x, _mm512_set1_epi32((int)0xed5ad4bbu));
}

FPEMU_FN void drawn_words_begin(drawn_words *w, const core_draw *d)
{
    w->lowest = drawn_product(_mm512_xor_si512(drawn_lanes(), _mm512_set1_epi32((int)(d->lead & 15))));
    w->end = 0;
}

/* For 64 words from number `at` of the draw on, and those that follow up to a multiple of 256. */
FPEMU_FN void drawn_words_next(drawn_words *w, const core_draw *d, size_t at)
{
    const uint32_t first = d->low + (uint32_t)(at & ~(size_t)255);
    const __m512i lead = _mm512_set1_epi32((int)(d->lead & ~UINT32_C(15)));
    for (int k = 0; k < 2; k++) {
        const __m512i index =
            _mm512_add_epi32(_mm512_slli_epi32(drawn_lanes(), 4), _mm512_set1_epi32((int)(first + 256 * (uint32_t)k)));
        _mm512_store_si512(w->products + 16 * k, drawn_product(_mm512_xor_si512(index, lead)));
    }
    w->end = (at & ~(size_t)255) + 256;
}

FPEMU_FN void drawn_bits_of(const drawn_words *w, const core_draw *d, int n, size_t at, __m512i *inverted)
{
    const uint32_t *const products = w->products + at / 16 % 16;
    const __m512i key = _mm512_set1_epi32((int)d->key.k1), cut = _mm512_set1_epi32((int)~d->mask);
    __m512i x[DRAWN_VECTORS];
    for (int v = 0; v < n; v++)
        x[v] = _mm512_add_epi32(w->lowest, _mm512_set1_epi32((int)products[v]));
    for (int v = 0; v < n; v++)
        x[v] = _mm512_ternarylogic_epi32(x[v], _mm512_srli_epi32(x[v], 11), key, 0x96);
    for (int v = 0; v < n; v++)
        x[v] = _mm512_mullo_epi32(x[v], _mm512_set1_epi32((int)0xac4c1b51u));
    for (int v = 0; v < n; v++)
        x[v] = _mm512_xor_si512(x[v], _mm512_srli_epi32(x[v], 15));
    for (int v = 0; v < n; v++)
        x[v] = _mm512_mullo_epi32(x[v], _mm512_set1_epi32((int)0x31848babu));
    for (int v = 0; v < n; v++)
        inverted[v] = _mm512_ternarylogic_epi32(x[v], _mm512_srli_epi32(x[v], 14), cut, 0xeb);
}

/* 2^32 f, rounded down, of f below 1: one that is no normal number, or 0, becomes some number below 1. */
FPEMU_FN __m512i drawn_fraction(__m512 f)
{
    return _mm512_cvttps_epu32(
        _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(f), _mm512_set1_epi32(32 << 23))));
}

/* n vectors of magnitudes a on grids of steps 2^-m power, powers of two with these bits, and m in an exponent's place;
 * steps and their inverses are normal numbers, and a is below 2^24 of them. A step is made of its power by adding
 * `unit`, -m or what drawn_units has: then the result is that multiple of it. small: no step is below 2^-90, and none
 * that is left where a is below its power is above 1. Then a is divided as f is multiplied above. */
FPEMU_FN void drawn_grid(int n, int small, const __m512 *a, const __m512i *power, __m512i m, const __m512i *unit,
                         const __m512i *inverted, __m512 *to)
{
    const __m512i inverse = _mm512_add_epi32(_mm512_set1_epi32((small ? 127 : 254) << 23), m);
    __m512 t[DRAWN_VECTORS], k[DRAWN_VECTORS];
    __mmask16 up[DRAWN_VECTORS];
    for (int v = 0; v < n; v++) {
        const __m512i down = _mm512_sub_epi32(inverse, power[v]);
        t[v] = small ? _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(a[v]), down))
                     : _mm512_mul_ps(a[v], _mm512_castsi512_ps(down));
    }
    for (int v = 0; v < n; v++)
        k[v] = _mm512_roundscale_ps(t[v], _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    for (int v = 0; v < n; v++)
        t[v] = _mm512_sub_ps(t[v], k[v]);
    for (int v = 0; v < n; v++)
        up[v] = _mm512_cmpgt_epu32_mask(drawn_fraction(t[v]), inverted[v]);
    for (int v = 0; v < n; v++)
        to[v] = _mm512_mul_ps(_mm512_mask_add_ps(k[v], up[v], k[v], _mm512_set1_ps(1)),
                              _mm512_castsi512_ps(_mm512_add_epi32(power[v], unit[v])));
}

/* The same of even grids, whose steps are at least 2^-95 (core_choose_fast, core_pow2_block_make): the inverse of one is
 * had times 2^32 at once, and steps are left out by adding a power of two and cutting off. */
FPEMU_FN void drawn_even(int n, const __m512 *a, const __m512i *power, __m512i m, const __m512i *inverted, __m512 *to)
{
    const __m512i inverse = _mm512_add_epi32(_mm512_set1_epi32((int)(286u << 23)), m);
    const __m512i count = _mm512_sub_epi32(_mm512_set1_epi32(23 << 23), m);
    __m512 cut[DRAWN_VECTORS], f[DRAWN_VECTORS];
    __mmask16 up[DRAWN_VECTORS];
    for (int v = 0; v < n; v++) {
        const __m512 c = _mm512_castsi512_ps(_mm512_add_epi32(power[v], count));
        cut[v] = _mm512_sub_ps(_mm512_add_round_ps(a[v], c, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC), c);
    }
    for (int v = 0; v < n; v++)
        f[v] = _mm512_mul_ps(_mm512_sub_ps(a[v], cut[v]), _mm512_castsi512_ps(_mm512_sub_epi32(inverse, power[v])));
    for (int v = 0; v < n; v++)
        up[v] = _mm512_cmpgt_epu32_mask(_mm512_cvttps_epu32(f[v]), inverted[v]);
    for (int v = 0; v < n; v++)
        to[v] = _mm512_mask_add_ps(cut[v], up[v], cut[v], _mm512_castsi512_ps(_mm512_sub_epi32(power[v], m)));
}

FPEMU_FN __m512i drawn_magnitude(__m512i u)
{
    return _mm512_and_si512(u, _mm512_set1_epi32(0x7fffffff));
}

/* With the sign of u. */
FPEMU_FN __m512i drawn_signed(__m512i a, __m512i u)
{
    return _mm512_ternarylogic_epi32(a, u, _mm512_set1_epi32((int)0x80000000u), 0xf8);
}

/* A number with these bits, no NaN, cut to the ends by integers, which processors compare faster. */
FPEMU_FN __m512i drawn_within(__m512i u, __m512i high, __m512i low)
{
    return _mm512_min_epu32(_mm512_min_epi32(u, high), low);
}

/* The power of two of the binade of magnitudes a, at least emin. */
FPEMU_FN __m512i drawn_binade(__m512i a, __m512i emin)
{
    return _mm512_max_epi32(_mm512_and_si512(a, _mm512_set1_epi32(0x7f800000)), emin);
}

FPEMU_FN void drawn_pow2_of(const core_pow2_block32 *q, int fixed, int n, const __m512i *u, const __m512i *power,
                            const __m512i *inverted, __m512i *to)
{
    const __m512i m = _mm512_set1_epi32((23 << 23) - (int)q->up), first = _mm512_set1_epi32((int)q->emin);
    const __m512i end = _mm512_set1_epi32((int)q->max), unit = _mm512_set1_epi32((int)q->up - (23 << 23));
    const __m512i units[DRAWN_VECTORS] = {unit, unit, unit, unit};
    __m512 a[DRAWN_VECTORS], g[DRAWN_VECTORS];
    __m512i binades[DRAWN_VECTORS];
    for (int v = 0; v < n; v++) {
        const __m512i magnitude = drawn_magnitude(u[v]), emin = _mm512_add_epi32(first, power[v]);
        a[v] = _mm512_castsi512_ps(magnitude);
        binades[v] = fixed ? emin : drawn_binade(magnitude, emin);
    }
    if (fixed)
        drawn_even(n, a, binades, m, inverted, g);
    else
        drawn_grid(n, 0, a, binades, m, units, inverted, g);
    for (int v = 0; v < n; v++) {
        const __m512i max = _mm512_add_epi32(end, power[v]);
        if (!fixed) {
            to[v] = drawn_signed(_mm512_min_epi32(_mm512_castps_si512(g[v]), max), u[v]);
            continue;
        }
        const __m512i lowest = _mm512_add_epi32(_mm512_set1_epi32((int)(q->lowest | 0x80000000u)), power[v]);
        const __m512i y = drawn_within(drawn_signed(_mm512_castps_si512(g[v]), u[v]), max, lowest);
        to[v] = _mm512_castps_si512(_mm512_add_ps(_mm512_castsi512_ps(y), _mm512_setzero_ps())); /* -0 becomes 0 */
    }
}

/* One vector. */
FPEMU_FN __m512i drawn_pow2(const core_pow2_block32 *q, int fixed, __m512i u, __m512i power, __m512i inverted)
{
    __m512i to;
    drawn_pow2_of(q, fixed, 1, &u, &power, &inverted, &to);
    return to;
}

/* y of finite x; even: 2 if the ends of the grid are alike. inside: no y comes to be infinite, and if the grid is not
 * even, `scale` has the bits that drawn_units made, and drawn_grid's `small` holds. one: `second` is 1. */
FPEMU_FN void drawn_scaled(const core_plan32 *p, int even, int divide, int inside, int one, int n, const __m512 *x,
                           const __m512 *down, const __m512 *scale, __m512 second, const __m512i *inverted, __m512i *to)
{
    const __m512i m = _mm512_set1_epi32((23 << 23) - (int)p->fast_up), emin = _mm512_set1_epi32((int)p->fast_emin);
    const __m512i ends = _mm512_set1_epi32((int)p->max[0]), low = _mm512_set1_epi32((int)(p->max[1] | 0x80000000u));
    const int folded = inside && !even;
    __m512 a[DRAWN_VECTORS], g[DRAWN_VECTORS];
    __m512i u[DRAWN_VECTORS], power[DRAWN_VECTORS], unit[DRAWN_VECTORS];
    for (int v = 0; v < n; v++) {
        const __m512 t = divide ? _mm512_div_ps(x[v], down[v]) : _mm512_mul_ps(x[v], down[v]);
        u[v] = _mm512_castps_si512(t);
        if (even == 1)
            u[v] = drawn_within(u[v], ends, low);
        if (even)
            a[v] =
                _mm512_castsi512_ps(even == 1 ? drawn_magnitude(u[v]) : _mm512_min_epi32(drawn_magnitude(u[v]), ends));
        else
            a[v] = _mm512_range_ps(t, _mm512_castsi512_ps(ends), 2 | 2 << 2); /* the smaller */
        power[v] = even ? emin : drawn_binade(_mm512_castps_si512(a[v]), emin);
        unit[v] = folded ? _mm512_castps_si512(scale[v]) : _mm512_set1_epi32((int)p->fast_up - (23 << 23));
    }
    if (even)
        drawn_even(n, a, power, m, inverted, g);
    else
        drawn_grid(n, inside, a, power, m, unit, inverted, g);
    for (int v = 0; v < n; v++) {
        __m512 y = _mm512_castsi512_ps(drawn_signed(_mm512_castps_si512(g[v]), u[v]));
        if (even)
            y = _mm512_fmadd_ps(y, scale[v], _mm512_setzero_ps()); /* -0 becomes 0 */
        else if (!folded)
            y = _mm512_mul_ps(y, scale[v]);
        const __m512i w = _mm512_castps_si512(divide || one ? y : _mm512_mul_ps(y, second)); /* of a divisor it is 1 */
        to[v] = inside ? w : drawn_signed(_mm512_min_epi32(drawn_magnitude(w), _mm512_set1_epi32(0x7f7fffff)), w);
    }
}

/* n vectors at a time, of `count` blocks of `length` elements in a row: `to` of `u`, with the bits `inverted`, by what
 * `settle` makes of block b for vector v. What likely comes next is asked for, since the largest of it is looked for at
 * once. */
#define DRAWN_SOME(n, apart, bits, settle, make)                                                                       \
    {                                                                                                                  \
        __m512i u[DRAWN_VECTORS], inverted[DRAWN_VECTORS], to[DRAWN_VECTORS];                                          \
        bits;                                                                                                          \
        for (int v = 0; v < (n); v++) {                                                                                \
            const size_t one = b + (size_t)v * (apart) / 4;                                                            \
            const size_t from = (at + 16 * (size_t)v) * sizeof(float);                                                 \
            u[v] = _mm512_loadu_si512(in + from);                                                                      \
            _mm_prefetch((const char *)((uintptr_t)in + from + ahead), _MM_HINT_T0);                                   \
            settle;                                                                                                    \
        }                                                                                                              \
        make(n);                                                                                                       \
        for (int v = 0; v < (n); v++)                                                                                  \
            _mm512_storeu_si512(out + (at + 16 * (size_t)v) * sizeof(float), to[v]);                                   \
        at += 16 * (n);                                                                                                \
    }
#define DRAWN_PRODUCTS(n)                                                                                              \
    if (at >= words.end)                                                                                               \
        drawn_words_next(&words, &d, at);                                                                              \
    drawn_bits_of(&words, &d, n, at, inverted)

#define DRAWN_BEGIN                                                                                                    \
    const char *in = (const char *)x;                                                                                  \
    char *out = (char *)y;                                                                                             \
    const size_t ahead = length * count * sizeof(float);                                                               \
    size_t at = 0, b = 0

/* apart: how many blocks there are in 64 elements, at least 1. */
#define DRAWN_BLOCKS(apart, settle, make)                                                                              \
    DRAWN_BEGIN;                                                                                                       \
    drawn_words words;                                                                                                 \
    drawn_words_begin(&words, &d);                                                                                     \
    for (; b + (apart) <= count; b += (apart)) {                                                                       \
        const size_t end = at + length * (apart);                                                                      \
        while (end - at >= 64)                                                                                         \
            DRAWN_SOME(4, (apart) == 1 ? 0 : (apart), DRAWN_PRODUCTS(4), settle, make)                                 \
        while ((apart) == 1 && at < end)                                                                               \
            DRAWN_SOME(1, 0, DRAWN_PRODUCTS(1), settle, make)                                                          \
    }                                                                                                                  \
    for (; b < count; b++)                                                                                             \
        for (const size_t end = at + length; at < end;)                                                                \
    DRAWN_SOME(1, 0, DRAWN_PRODUCTS(1), settle, make)

/* The same whatever the length and the first word. */
#define DRAWN_SINGLY(settle, make)                                                                                     \
    DRAWN_BEGIN;                                                                                                       \
    const __m512i first = _mm512_add_epi32(_mm512_set1_epi32((int)d.low), drawn_lanes());                              \
    for (; b < count; b++)                                                                                             \
        for (const size_t end = at + length; at < end;)                                                                \
    DRAWN_SOME(1, 0, inverted[0] = drawn_bits(&d, _mm512_add_epi32(first, _mm512_set1_epi32((int)(uint32_t)at))),      \
               settle, make)

#define DRAWN_POWER(n) drawn_pow2_of(&q, q_fixed, n, u, power, inverted, to)
#define DRAWN_EACH power[v] = _mm512_loadu_si512(powers + 16 * one)
#define DRAWN_ALL power[v] = _mm512_set1_epi32((int)powers[one])
#define DRAWN_POW2(kind, fixed)                                                                                        \
    static void drawn_pow2_##kind(const core_pow2_block32 *how, const core_draw *draw, size_t length, size_t count,    \
                                  const void *x, const uint32_t *powers, void *y)                                      \
    {                                                                                                                  \
        const core_pow2_block32 q = *how;                                                                              \
        const core_draw d = *draw;                                                                                     \
        enum { q_fixed = fixed };                                                                                      \
        __m512i power[DRAWN_VECTORS];                                                                                  \
        if (length == 1) { /* a power each */                                                                          \
            length = 16;                                                                                               \
            count /= 16;                                                                                               \
            DRAWN_SINGLY(DRAWN_EACH, DRAWN_POWER)                                                                      \
        } else if (d.low % 16) {                                                                                       \
            DRAWN_SINGLY(DRAWN_ALL, DRAWN_POWER)                                                                       \
        } else if (length == 16) {                                                                                     \
            length = 16;                                                                                               \
            DRAWN_BLOCKS(4, DRAWN_ALL, DRAWN_POWER)                                                                    \
        } else if (length == 32) {                                                                                     \
            length = 32;                                                                                               \
            DRAWN_BLOCKS(2, DRAWN_ALL, DRAWN_POWER)                                                                    \
        } else {                                                                                                       \
            DRAWN_BLOCKS(1, DRAWN_ALL, DRAWN_POWER)                                                                    \
        }                                                                                                              \
    }
DRAWN_POW2(float, 0)
DRAWN_POW2(fixed, 1)
#undef DRAWN_POW2
#undef DRAWN_ALL
#undef DRAWN_EACH
#undef DRAWN_POWER

/* Whether no element of the plan times one of these scales and `second` is near the largest number; *least: the least
 * scale. */
FPEMU_FN int drawn_inside(const core_plan32 *p, size_t count, const float *s, float second, float *least)
{
    const float max = core_value32(p->max[0] > p->max[1] ? p->max[0] : p->max[1]);
    float most = 0, low = FLT_MAX;
#pragma omp simd reduction(max : most) reduction(min : low)
    for (size_t b = 0; b < count; b++) {
        most = s[b] > most ? s[b] : most;
        low = s[b] < low ? s[b] : low;
    }
    *least = low;
    return 2 * (max * most) * second < 0x1p127f;
}

/* What makes of the power of a binade, by addition of bits, its step times a scale: k such products are k steps times
 * the scale, rounded as often, since steps are powers of two and all of these products are normal numbers. 0 if one is
 * none, the smallest step and the least scale being the worst. */
FPEMU_FN int drawn_units(const core_plan32 *p, size_t count, const float *s, float least, float *units)
{
    const uint32_t by = (127u << 23) + (23u << 23) - p->fast_up, lowest = core_bits32(least);
    if (lowest < 1u << 23 || lowest + p->fast_emin < by + (1u << 23))
        return 0;
    SIMD for (size_t b = 0; b < count; b++)
        units[b] = core_value32(core_bits32(s[b]) - by);
    return 1;
}

/* drawn_grid's `small`. */
FPEMU_FN int drawn_is_small(const core_plan32 *p)
{
    const int32_t step = (int32_t)(p->fast_emin + p->fast_up) - (23 << 23);
    return step >= 37 << 23 && step <= 127 << 23;
}

#define DRAWN_SCALES(by) (downs[v] = _mm512_set1_ps(down[one]), scales[v] = _mm512_set1_ps((by)[one]))
#define DRAWN_Y(kind, inside, is_one, n)                                                                               \
    for (int v = 0; v < (n); v++)                                                                                      \
        from[v] = _mm512_castsi512_ps(u[v]);                                                                           \
    drawn_scaled(&p, kind, divides, inside, is_one, n, from, downs, scales, second, inverted, to)
#define DRAWN_ANY(n) DRAWN_Y(is_even, 0, 0, n)
#define DRAWN_UNLIKE(n) DRAWN_Y(is_even, 1, 0, n)
#define DRAWN_INSIDE(n) DRAWN_Y(2 * is_even, 1, 0, n)
#define DRAWN_ONE(n) DRAWN_Y(2 * is_even, 1, 1, n)
#define DRAWN_SCALED(name, even, divide)                                                                               \
    static void drawn_##name(const core_plan32 *plan, const core_draw *draw, size_t length, size_t count,              \
                             const float *down, const float *s, float times, const void *x, void *y)                   \
    {                                                                                                                  \
        const core_plan32 p = *plan;                                                                                   \
        const core_draw d = *draw;                                                                                     \
        enum { is_even = even, divides = divide };                                                                     \
        const __m512 second = _mm512_set1_ps(times);                                                                   \
        float units[FAST_BLOCKS], least;                                                                               \
        const float *const by = is_even ? s : units;                                                                   \
        __m512 from[DRAWN_VECTORS], downs[DRAWN_VECTORS], scales[DRAWN_VECTORS];                                       \
        const int inside = drawn_inside(&p, count, s, times, &least);                                                  \
        if (d.low % 16 || !inside || !(is_even || (drawn_is_small(&p) && drawn_units(&p, count, s, least, units)))) {  \
            DRAWN_SINGLY(DRAWN_SCALES(s), DRAWN_ANY)                                                                   \
        } else if (is_even && p.max[0] != p.max[1]) {                                                                  \
            DRAWN_BLOCKS(1, DRAWN_SCALES(by), DRAWN_UNLIKE)                                                            \
        } else if (length == 16) {                                                                                     \
            length = 16;                                                                                               \
            DRAWN_BLOCKS(4, DRAWN_SCALES(by), DRAWN_INSIDE)                                                            \
        } else if (length == 32) {                                                                                     \
            length = 32;                                                                                               \
            DRAWN_BLOCKS(2, DRAWN_SCALES(by), DRAWN_INSIDE)                                                            \
        } else if (times == 1) {                                                                                       \
            DRAWN_BLOCKS(1, DRAWN_SCALES(by), DRAWN_ONE)                                                               \
        } else {                                                                                                       \
            DRAWN_BLOCKS(1, DRAWN_SCALES(by), DRAWN_INSIDE)                                                            \
        }                                                                                                              \
    }
DRAWN_SCALED(stop_times, 0, 0)
DRAWN_SCALED(stop_by, 0, 1)
DRAWN_SCALED(even_times, 1, 0)
DRAWN_SCALED(even_by, 1, 1)
#undef DRAWN_SCALED
#undef DRAWN_ONE
#undef DRAWN_INSIDE
#undef DRAWN_UNLIKE
#undef DRAWN_ANY
#undef DRAWN_Y
#undef DRAWN_SCALES
#undef DRAWN_SINGLY
#undef DRAWN_BLOCKS
#undef DRAWN_BEGIN
#undef DRAWN_PRODUCTS
#undef DRAWN_SOME

#define DRAWN_POW2_TABLE {drawn_pow2_float, drawn_pow2_fixed}
#define DRAWN_SCALED_TABLE                                                                                             \
    {                                                                                                                  \
        {drawn_stop_times, drawn_stop_by},                                                                             \
        {                                                                                                              \
            drawn_even_times, drawn_even_by                                                                            \
        }                                                                                                              \
    }
