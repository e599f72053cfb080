/* SPDX-License-Identifier: BSD-2-Clause */
/* blocks_drawn.inc.c - elements of blocks in binary32 scaled, and rounded by random words of the same loop, in vectors
 * of AVX-512; included by variant.inc.c. The fast form of core_pow2_float, core_pow2_fixed and loop_scaled for sr, the
 * same below the smallest step, where blocks have many elements, as above it. tests/against_judges/blocks.c compares
 * the bits.
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

/* Magnitudes a on grids of steps 2^-m power, powers of two with these bits, and m in an exponent's place; steps and
 * their inverses are normal numbers, and a is below 2^24 of them. A step is made of its power by adding `unit`, -m or
 * what drawn_units has: then the result is that multiple of it. */
FPEMU_FN __m512 drawn_grid(__m512 a, __m512i power, __m512i m, __m512i unit, __m512i inverted)
{
    const __m512i down = _mm512_sub_epi32(_mm512_add_epi32(_mm512_set1_epi32(254 << 23), m), power);
    const __m512 step = _mm512_castsi512_ps(_mm512_add_epi32(power, unit)),
                 t = _mm512_mul_ps(a, _mm512_castsi512_ps(down));
    const __m512 k = _mm512_roundscale_ps(t, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    const __m512 f = _mm512_mul_ps(_mm512_sub_ps(t, k), _mm512_set1_ps(4294967296.0f));
    const __mmask16 up = _mm512_cmpgt_epu32_mask(_mm512_cvttps_epu32(f), inverted);
    return _mm512_mul_ps(_mm512_mask_add_ps(k, up, k, _mm512_set1_ps(1)), step);
}

/* The same of even grids, whose steps are at least 2^-95 (core_choose_fast, core_pow2_block_make): the inverse of one is
 * had times 2^32 at once, and steps are left out by adding a power of two and cutting off. */
FPEMU_FN __m512 drawn_even(__m512 a, __m512i power, __m512i m, __m512i inverted)
{
    const __m512i times = _mm512_sub_epi32(_mm512_add_epi32(_mm512_set1_epi32((int)(286u << 23)), m), power);
    const __m512 step = _mm512_castsi512_ps(_mm512_sub_epi32(power, m));
    const __m512 c = _mm512_castsi512_ps(_mm512_add_epi32(power, _mm512_sub_epi32(_mm512_set1_epi32(23 << 23), m)));
    const __m512 cut = _mm512_sub_ps(_mm512_add_round_ps(a, c, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC), c);
    const __m512 f = _mm512_mul_ps(_mm512_sub_ps(a, cut), _mm512_castsi512_ps(times));
    const __mmask16 more = _mm512_cmpgt_epu32_mask(_mm512_cvttps_epu32(f), inverted);
    return _mm512_mask_add_ps(cut, more, cut, step);
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

/* The power of two of the binade of magnitudes a, at least emin. */
FPEMU_FN __m512i drawn_binade(__m512i a, __m512i emin)
{
    return _mm512_max_epi32(_mm512_and_si512(a, _mm512_set1_epi32(0x7f800000)), emin);
}

FPEMU_FN __m512i drawn_pow2(const core_pow2_block32 *q, int fixed, __m512i u, __m512i power, __m512i inverted)
{
    const __m512i m = _mm512_set1_epi32((23 << 23) - (int)q->up), a = drawn_magnitude(u);
    const __m512i emin = _mm512_add_epi32(_mm512_set1_epi32((int)q->emin), power);
    const __m512i max = _mm512_add_epi32(_mm512_set1_epi32((int)q->max), power);
    const __m512 g = fixed ? drawn_even(_mm512_castsi512_ps(a), emin, m, inverted)
                           : drawn_grid(_mm512_castsi512_ps(a), drawn_binade(a, emin), m,
                                        _mm512_set1_epi32((int)q->up - (23 << 23)), inverted);
    if (!fixed)
        return drawn_signed(_mm512_min_epi32(_mm512_castps_si512(g), max), u);
    const __m512i lowest = _mm512_add_epi32(_mm512_set1_epi32((int)(q->lowest | 0x80000000u)), power);
    const __m512 y = _mm512_add_ps(_mm512_castsi512_ps(drawn_signed(_mm512_castps_si512(g), u)), _mm512_setzero_ps());
    return _mm512_castps_si512(
        _mm512_max_ps(_mm512_min_ps(y, _mm512_castsi512_ps(max)), _mm512_castsi512_ps(lowest))); /* and no -0 */
}

/* y of finite x; the ends of an even grid may differ. inside: no y comes to be infinite, and unless the grid is even,
 * `scale` has the bits that drawn_units made. one: `second` is 1. */
FPEMU_FN __m512i drawn_scaled(const core_plan32 *p, int even, int divide, int inside, int one, __m512 x, __m512 down,
                              __m512 scale, __m512 second, __m512i inverted)
{
    const __m512i m = _mm512_set1_epi32((23 << 23) - (int)p->fast_up), emin = _mm512_set1_epi32((int)p->fast_emin);
    const __m512 t = divide ? _mm512_div_ps(x, down) : _mm512_mul_ps(x, down);
    const __m512 high = _mm512_castsi512_ps(_mm512_set1_epi32((int)p->max[0]));
    const __m512 low = _mm512_castsi512_ps(_mm512_set1_epi32((int)(p->max[1] | 0x80000000u)));
    const __m512i u = _mm512_castps_si512(even ? _mm512_max_ps(low, _mm512_min_ps(high, t)) : t);
    const __m512i a =
        even ? drawn_magnitude(u) : _mm512_castps_si512(_mm512_range_ps(t, high, 2 | 2 << 2)); /* smaller */
    const int folded = inside && !even;
    const __m512i unit = folded ? _mm512_castps_si512(scale) : _mm512_set1_epi32((int)p->fast_up - (23 << 23));
    const __m512 g = even ? drawn_even(_mm512_castsi512_ps(a), emin, m, inverted)
                          : drawn_grid(_mm512_castsi512_ps(a), drawn_binade(a, emin), m, unit, inverted);
    __m512 y = _mm512_castsi512_ps(drawn_signed(_mm512_castps_si512(g), u));
    if (even)
        y = _mm512_fmadd_ps(y, scale, _mm512_setzero_ps()); /* -0 becomes 0 */
    else if (!folded)
        y = _mm512_mul_ps(y, scale);
    const __m512i v = _mm512_castps_si512(divide || one ? y : _mm512_mul_ps(y, second)); /* of a divisor it is 1 */
    return inside ? v : drawn_signed(_mm512_min_epi32(drawn_magnitude(v), _mm512_set1_epi32(0x7f7fffff)), v);
}

/* Sixteen elements at a time of blocks of `length` in a row: `v` of `u`, with the bits `inverted`, by what `settle`
 * makes of block b. What likely comes next is asked for, since the largest of it is looked for at once. */
#define DRAWN_BLOCKS(settle, make)                                                                                     \
    const __m512i sixteen = _mm512_set1_epi32(16);                                                                     \
    const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);                      \
    __m512i at = _mm512_add_epi32(_mm512_set1_epi32((int)d.low), lanes);                                               \
    const char *in = (const char *)x;                                                                                  \
    char *out = (char *)y;                                                                                             \
    const size_t ahead = length * count * sizeof(float);                                                               \
    for (size_t b = 0; b < count; b++) {                                                                               \
        settle;                                                                                                        \
        for (size_t i = 0; i < length; i += 16, in += 64, out += 64) {                                                 \
            const __m512i u = _mm512_loadu_si512(in), inverted = drawn_bits(&d, at);                                   \
            _mm_prefetch((const char *)((uintptr_t)in + ahead), _MM_HINT_T0);                                          \
            _mm512_storeu_si512(out, make);                                                                            \
            at = _mm512_add_epi32(at, sixteen);                                                                        \
        }                                                                                                              \
    }

#define DRAWN_POW2(kind, fixed)                                                                                        \
    static void drawn_pow2_##kind(const core_pow2_block32 *how, const core_draw *draw, size_t length, size_t count,    \
                                  const void *x, const uint32_t *powers, void *y)                                      \
    {                                                                                                                  \
        const core_pow2_block32 q = *how;                                                                              \
        const core_draw d = *draw;                                                                                     \
        if (length == 1) { /* a power each */                                                                          \
            length = 16;                                                                                               \
            count /= 16;                                                                                               \
            DRAWN_BLOCKS(const __m512i power = _mm512_loadu_si512(powers + 16 * b),                                    \
                         drawn_pow2(&q, fixed, u, power, inverted))                                                    \
        } else if (length == 16) {                                                                                     \
            length = 16;                                                                                               \
            DRAWN_BLOCKS(const __m512i power = _mm512_set1_epi32((int)powers[b]),                                      \
                         drawn_pow2(&q, fixed, u, power, inverted))                                                    \
        } else {                                                                                                       \
            DRAWN_BLOCKS(const __m512i power = _mm512_set1_epi32((int)powers[b]),                                      \
                         drawn_pow2(&q, fixed, u, power, inverted))                                                    \
        }                                                                                                              \
    }
DRAWN_POW2(float, 0)
DRAWN_POW2(fixed, 1)
#undef DRAWN_POW2

/* Whether no element of the plan times one of these scales and `second` is far from the largest number; *least: the
 * least scale. */
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
    SIMD for (size_t b = 0; b < count; b++) units[b] = core_value32(core_bits32(s[b]) - by);
    return 1;
}

#define DRAWN_SCALES(by) const __m512 one_down = _mm512_set1_ps(down[b]), scale = _mm512_set1_ps((by)[b])
#define DRAWN_Y(even, divide, inside, one)                                                                             \
    drawn_scaled(&p, even, divide, inside, one, _mm512_castsi512_ps(u), one_down, scale, second, inverted)
#define DRAWN_SCALED(name, even, divide)                                                                               \
    static void drawn_##name(const core_plan32 *plan, const core_draw *draw, size_t length, size_t count,              \
                             const float *down, const float *s, float times, const void *x, void *y)                   \
    {                                                                                                                  \
        const core_plan32 p = *plan;                                                                                   \
        const core_draw d = *draw;                                                                                     \
        const __m512 second = _mm512_set1_ps(times);                                                                   \
        float units[FAST_BLOCKS], least;                                                                               \
        const float *const by = (even) ? s : units;                                                                    \
        if (!drawn_inside(&p, count, s, times, &least) || !((even) || drawn_units(&p, count, s, least, units))) {      \
            DRAWN_BLOCKS(DRAWN_SCALES(s), DRAWN_Y(even, divide, 0, 0))                                                 \
        } else if (length == 16) {                                                                                     \
            length = 16;                                                                                               \
            DRAWN_BLOCKS(DRAWN_SCALES(by), DRAWN_Y(even, divide, 1, 0))                                                \
        } else if (times == 1) {                                                                                       \
            DRAWN_BLOCKS(DRAWN_SCALES(by), DRAWN_Y(even, divide, 1, 1))                                                \
        } else {                                                                                                       \
            DRAWN_BLOCKS(DRAWN_SCALES(by), DRAWN_Y(even, divide, 1, 0))                                                \
        }                                                                                                              \
    }
DRAWN_SCALED(stop_times, 0, 0)
DRAWN_SCALED(stop_by, 0, 1)
DRAWN_SCALED(even_times, 1, 0)
DRAWN_SCALED(even_by, 1, 1)
#undef DRAWN_SCALED
#undef DRAWN_Y
#undef DRAWN_SCALES
#undef DRAWN_BLOCKS

#define DRAWN_POW2_TABLE                                                                                               \
    {                                                                                                                  \
        drawn_pow2_float, drawn_pow2_fixed                                                                             \
    }
#define DRAWN_SCALED_TABLE                                                                                             \
    {                                                                                                                  \
        {drawn_stop_times, drawn_stop_by},                                                                             \
        {                                                                                                              \
            drawn_even_times, drawn_even_by                                                                            \
        }                                                                                                              \
    }
