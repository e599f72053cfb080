/* SPDX-License-Identifier: BSD-2-Clause */
/* integers.inc.c - fixed point and integers with a scale, in binary32, in vectors of AVX-512: the modes that look at a
 * side, and random bits made in the same loop. Included by variant.inc.c. The forms of core_element_even and
 * core_affine_quick_element; tests/against_judges/affine.c compares them, and quantize_exhaustive.
 *
 * Which of its two neighbours x goes to may be asked of the values, since rounding k*s to a value keeps the order: where x
 * is none of them it lies above k*s if above its value. A sum that is rounded down and up instead has its last bit odd
 * in one of them if x is no value, which is the mode to odd. */

typedef struct integers {
    __m512 low, high, nan;
    __m512 scale, inverse;
    __m512 shift, sided; /* 1.5 * 2^23 and 2^23, in steps where the grid is even */
} integers;

#define INTEGERS_TO(side) (_MM_FROUND_TO_##side | _MM_FROUND_NO_EXC)
#define INTEGERS_SIGN _mm512_set1_epi32((int)0x80000000u)

/* a with the sign of b. */
FPEMU_FN __m512 integers_signed(__m512 a, __m512 b)
{
    return _mm512_castsi512_ps(
        _mm512_ternarylogic_epi32(_mm512_castps_si512(a), _mm512_castps_si512(b), INTEGERS_SIGN, 0xf8));
}

/* x within the ends; the second operand is kept where it is a NaN. */
FPEMU_FN __m512 integers_within(const integers *g, __m512 x)
{
    return _mm512_min_ps(g->high, _mm512_max_ps(g->low, x));
}

/* y, but the NaN for a NaN, and 0 for -0. */
FPEMU_FN __m512 integers_finished(const integers *g, __m512 y)
{
    return _mm512_fixupimm_ps(g->nan, y, _mm512_set1_epi32(0x11111800), 0);
}

FPEMU_FN __mmask16 integers_odd(__m512 sum)
{
    return _mm512_test_epi32_mask(_mm512_castps_si512(sum), _mm512_set1_epi32(1));
}

FPEMU_FN __mmask16 integers_is_even(__m512 sum)
{
    return _mm512_testn_epi32_mask(_mm512_castps_si512(sum), _mm512_set1_epi32(1));
}

FPEMU_FN __m512 integers_even(const integers *g, int mode, __m512 x)
{
    const __m512 t = integers_within(g, x);
    if (mode == FPEMU_MODE_RTZ) {
        const __m512 c = integers_signed(g->sided, t);
        return integers_finished(g, _mm512_sub_ps(_mm512_add_round_ps(t, c, INTEGERS_TO(ZERO)), c));
    }
    const __m512 up = _mm512_add_round_ps(t, g->shift, INTEGERS_TO(POS_INF));
    if (mode == FPEMU_MODE_RAZ) {
        const __mmask16 below = _mm512_movepi32_mask(_mm512_castps_si512(t));
        const __m512 sum = _mm512_mask_add_round_ps(up, below, t, g->shift, INTEGERS_TO(NEG_INF));
        return integers_finished(g, _mm512_sub_ps(sum, g->shift));
    }
    const __m512 down = _mm512_add_round_ps(t, g->shift, INTEGERS_TO(NEG_INF)); /* FPEMU_MODE_RTO */
    return integers_finished(g, _mm512_sub_ps(_mm512_mask_mov_ps(up, integers_odd(down), down), g->shift));
}

FPEMU_FN __m512 integers_affine(const integers *g, int mode, __m512 x)
{
    const int by_magnitude = mode == FPEMU_MODE_RTZ || mode == FPEMU_MODE_RAZ;
    const __m512 within = integers_within(g, x), t = by_magnitude ? _mm512_abs_ps(within) : within;
    const __m512 one = _mm512_set1_ps(1), sum = _mm512_fmadd_ps(t, g->inverse, g->shift);
    const __m512 n = _mm512_sub_ps(sum, g->shift), value = _mm512_mul_ps(n, g->scale);
    const __mmask16 some = mode == FPEMU_MODE_RTO ? integers_is_even(sum) : (__mmask16)0xffff;
    const int up = mode != FPEMU_MODE_RTN && mode != FPEMU_MODE_RTZ, down = mode == FPEMU_MODE_RTO || !up;
    const __mmask16 above = _mm512_mask_cmp_ps_mask(some, t, value, _CMP_GT_OQ);
    const __mmask16 below = _mm512_mask_cmp_ps_mask(some, t, value, _CMP_LT_OQ);
    const __m512 more = up ? _mm512_mask_add_ps(n, above, n, one) : n;
    const __m512 k = down ? _mm512_mask_sub_ps(more, below, more, one) : more;
    return integers_finished(g, _mm512_mul_ps(k, by_magnitude ? integers_signed(g->scale, within) : g->scale));
}

FPEMU_FN void integers_begin_even(integers *g, const core_plan32 *p)
{
    const uint32_t c = p->fast_emin + p->fast_up;
    g->low = _mm512_set1_ps(core_value32(p->overflow[1]));
    g->high = _mm512_set1_ps(core_value32(p->overflow[0]));
    g->nan = _mm512_set1_ps(core_value32(p->nan[0]));
    g->scale = _mm512_set1_ps(core_value32(p->low_one));
    g->inverse = _mm512_set1_ps(1 / core_value32(p->low_one));
    g->shift = _mm512_set1_ps(core_value32(c | CARRIER_HIDDEN >> 1));
    g->sided = _mm512_set1_ps(core_value32(c));
}

/* Whether the forms hold for affine integers, by what core_affine_quick_make made. */
FPEMU_FN int integers_begin_affine(integers *g, const core_affine_quick32 *q)
{
    g->low = _mm512_set1_ps(q->low);
    g->high = _mm512_set1_ps(q->high);
    g->nan = _mm512_set1_ps(core_value32(q->nan[0]));
    g->scale = _mm512_set1_ps(q->scale);
    g->inverse = _mm512_set1_ps(q->inverse);
    g->shift = g->sided = _mm512_set1_ps(q->shift);
    return q->nan[0] == q->nan[1];
}

/* Arrays, by a form of one vector. */
#define INTEGERS_ARRAYS(form, mode)                                                                                    \
    do {                                                                                                               \
        size_t i = 0;                                                                                                  \
        for (; n - i >= 16; i += 16)                                                                                   \
            _mm512_storeu_ps(out + i, form(&g, mode, _mm512_loadu_ps(in + i)));                                        \
        const __mmask16 rest = (__mmask16)((1u << (n - i)) - 1);                                                       \
        if (rest)                                                                                                      \
            _mm512_mask_storeu_ps(out + i, rest, form(&g, mode, _mm512_maskz_loadu_ps(rest, in + i)));                 \
    } while (0)
#define INTEGERS_EVEN(mode)                                                                                            \
    static void loop_round_even_##mode##32(const core_plan32 *p, size_t n, const void *x, const uint32_t *r, void *y)  \
    {                                                                                                                  \
        const float *const in = (const float *)x;                                                                      \
        float *const out = (float *)y;                                                                                 \
        integers g;                                                                                                    \
        (void)r;                                                                                                       \
        integers_begin_even(&g, p);                                                                                    \
        INTEGERS_ARRAYS(integers_even, mode);                                                                          \
    }
INTEGERS_EVEN(FPEMU_MODE_RTZ)
INTEGERS_EVEN(FPEMU_MODE_RAZ)
INTEGERS_EVEN(FPEMU_MODE_RTO)
#undef INTEGERS_EVEN

#define INTEGERS_AFFINE(mode)                                                                                          \
    static void loop_round_affine_##mode##32(const core_plan32 *p, size_t n, const void *x, const uint32_t *r,         \
                                             void *y)                                                                  \
    {                                                                                                                  \
        const float *const in = (const float *)x;                                                                      \
        float *const out = (float *)y;                                                                                 \
        core_affine_quick32 q;                                                                                         \
        integers g;                                                                                                    \
        if (!core_affine_quick_make32(&q, p) || !integers_begin_affine(&g, &q)) {                                      \
            loop_round_affine_fast_##mode##32(p, n, x, r, y);                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        INTEGERS_ARRAYS(integers_affine, mode);                                                                        \
    }
INTEGERS_AFFINE(FPEMU_MODE_RTZ)
INTEGERS_AFFINE(FPEMU_MODE_RAZ)
INTEGERS_AFFINE(FPEMU_MODE_RTP)
INTEGERS_AFFINE(FPEMU_MODE_RTN)
INTEGERS_AFFINE(FPEMU_MODE_RTO)
#undef INTEGERS_AFFINE
#undef INTEGERS_ARRAYS

/* The 32 random bits of 16 elements, whose words `at` says; `key`: that of core_hash_rest. */
FPEMU_FN __m512i integers_random(uint32_t key, uint32_t lead, __m512i at)
{
    __m512i x = _mm512_xor_si512(at, _mm512_set1_epi32((int)lead));
    x = _mm512_mullo_epi32(x, _mm512_set1_epi32((int)0xed5ad4bbu));
    x = _mm512_ternarylogic_epi32(x, _mm512_srli_epi32(x, 11), _mm512_set1_epi32((int)key), 0x96);
    x = _mm512_mullo_epi32(x, _mm512_set1_epi32((int)0xac4c1b51u));
    x = _mm512_xor_si512(x, _mm512_srli_epi32(x, 15));
    x = _mm512_mullo_epi32(x, _mm512_set1_epi32((int)0x31848babu));
    return _mm512_xor_si512(x, _mm512_srli_epi32(x, 14));
}

/* With x = (k + f) steps, k one more if floor(2^32 f) + r passes 2^32; below 2^-126 steps floor(2^32 f) is 0 even if a
 * bit of f is lost. */
FPEMU_FN __m512 integers_even_drawn(const integers *g, __m512 x, __m512i r)
{
    const __m512 t = _mm512_mul_ps(integers_within(g, x), g->inverse);
    const __m512 k = _mm512_roundscale_ps(t, INTEGERS_TO(ZERO)), two32 = _mm512_set1_ps(4294967296.0f);
    const __m512 f = _mm512_mul_ps(_mm512_sub_ps(t, k), integers_signed(two32, t));
    const __m512i inverted = _mm512_xor_si512(r, _mm512_set1_epi32(-1));
    const __mmask16 up = _mm512_cmpgt_epu32_mask(_mm512_cvttps_epu32(f), inverted);
    const __m512 to = _mm512_mask_add_ps(k, up, k, integers_signed(_mm512_set1_ps(1), t));
    return integers_finished(g, _mm512_mul_ps(to, g->scale));
}

/* As core_affine_quick_random; *distance, a magnitude's bits, as there. */
FPEMU_FN __m512 integers_affine_drawn(const integers *g, __m512 x, __m512i r, __m512i *distance)
{
    const __m512 t = integers_within(g, x), random = _mm512_cvtepi32_ps(_mm512_srli_epi32(r, 8));
    const __m512 inward = _mm512_castsi512_ps(_mm512_ternarylogic_epi32(_mm512_castps_si512(_mm512_set1_ps(-0.5f)),
                                                                        _mm512_castps_si512(t), INTEGERS_SIGN, 0x78));
    const __m512 outward = integers_signed(_mm512_set1_ps(0x1p-24f), t);
    const __m512 z = _mm512_fmadd_ps(random, outward, _mm512_fmadd_ps(t, g->inverse, inward));
    const __m512 k = _mm512_roundscale_ps(z, INTEGERS_TO(NEAREST_INT));
    *distance = _mm512_castps_si512(_mm512_abs_ps(_mm512_sub_ps(z, k)));
    return _mm512_fmadd_ps(k, g->scale, _mm512_setzero_ps()); /* no -0 */
}

/* Vectors that are made at once, so that they need not wait for one another. */
#define INTEGERS_VECTORS 4
#define INTEGERS_GROUP (INTEGERS_VECTORS * 16)

/* At most a group of affine integers, by word `low` and following, where the form above does not decide. */
static __attribute__((noinline)) void integers_affine_some(const core_plan32 *p, core_hash_key key, uint32_t low,
                                                           size_t n, const float *x, float *y)
{
    uint32_t r[INTEGERS_GROUP];
    for (size_t l = 0; l < n; l++)
        r[l] = core_hash_word(key, low + (uint32_t)l);
    loop_round_affine_FPEMU_MODE_SR32(p, n, x, r, y);
}

/* A group by word `low` and following; quick: NULL where the grid is even, else 0 where it does not decide. */
FPEMU_FN int integers_drawn_group(const integers *g, const core_affine_quick32 *quick, core_hash_key key, uint32_t lead,
                                  uint32_t low, const float *x, __m512 to[INTEGERS_VECTORS])
{
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i at = _mm512_add_epi32(lanes, _mm512_set1_epi32((int)low)), far = _mm512_setzero_si512();
#pragma GCC unroll 4
    for (unsigned v = 0; v < INTEGERS_VECTORS; v++) {
        const __m512i r = integers_random(key.k1, lead, at);
        const __m512 from = _mm512_loadu_ps(x + 16 * v);
        __m512i distance;
        at = _mm512_add_epi32(at, _mm512_set1_epi32(16));
        if (quick) {
            to[v] = integers_affine_drawn(g, from, r, &distance);
            far = _mm512_max_epi32(far, distance);
        } else {
            to[v] = integers_even_drawn(g, from, r);
        }
    }
    return !quick || !_mm512_cmpgt_epi32_mask(far, _mm512_set1_epi32((int)quick->random));
}

/* Groups, up to one that is not decided: how many elements. `left`: these and what follows. */
FPEMU_FN size_t integers_drawn_groups(const integers *g, const core_affine_quick32 *quick, core_hash_key key,
                                      uint32_t lead, uint32_t low, size_t n, size_t left, int past, const float *x,
                                      float *y)
{
    size_t i = 0;
    for (__m512 to[INTEGERS_VECTORS]; i < n; i += INTEGERS_GROUP) {
        if (past && left - i >= INTEGERS_GROUP + STREAM_AHEAD / sizeof *x)
            stream_ask((const char *)(x + i) + STREAM_AHEAD, INTEGERS_GROUP * sizeof *x);
        if (!integers_drawn_group(g, quick, key, lead, low + (uint32_t)i, x + i, to))
            break;
        for (unsigned v = 0; v < INTEGERS_VECTORS; v++)
            if (past)
                _mm512_stream_ps(y + i + 16 * v, to[v]);
            else
                _mm512_storeu_ps(y + i + 16 * v, to[v]);
    }
    return i;
}

/* Elements `index` and following, by 32 random bits each. */
FPEMU_FN void integers_drawn(const core_plan32 *plan, const integers *g, const core_affine_quick32 *quick,
                             core_hash_key key, uint64_t index, size_t n, int streaming, const float *x, float *y)
{
    for (size_t m; n > 0; index += m, n -= m, x += m, y += m) {
        const uint32_t low = (uint32_t)index, lead = core_hash_lead(key, low);
        const size_t words = CORE_LEAD_WORDS - (low & (CORE_LEAD_WORDS - 1)), most = n < words ? n : words;
        const size_t whole = most / INTEGERS_GROUP * INTEGERS_GROUP;
        const int past = streaming && (uintptr_t)y % LINE == 0;
        m = integers_drawn_groups(g, quick, key, lead, low, whole, n, past, x, y);
        if (m > 0)
            continue;
        m = most < INTEGERS_GROUP ? most : INTEGERS_GROUP;
        if (quick) {
            integers_affine_some(plan, key, low, m, x, y);
        } else {
            float from[INTEGERS_GROUP] = {0};
            __m512 to[INTEGERS_VECTORS];
            memcpy(from, x, m * sizeof *x);
            (void)integers_drawn_group(g, NULL, key, lead, low, from, to);
            for (unsigned v = 0; v < INTEGERS_VECTORS; v++)
                _mm512_storeu_ps(from + 16 * v, to[v]);
            memcpy(y, from, m * sizeof *y);
        }
    }
}

static void integers_drawn_even(const core_plan32 *p, core_hash_key k, uint64_t index, size_t n, int streaming,
                                const void *x, void *y)
{
    integers g;
    integers_begin_even(&g, p);
    integers_drawn(p, &g, NULL, k, index, n, streaming, (const float *)x, (float *)y);
}

static void integers_drawn_affine(const core_plan32 *p, core_hash_key k, uint64_t index, size_t n, int streaming,
                                  const void *x, void *y)
{
    integers g;
    core_affine_quick32 q;
    if (p->n == 32 && core_affine_quick_make32(&q, p) && q.is_near && integers_begin_affine(&g, &q)) {
        integers_drawn(p, &g, &q, k, index, n, streaming, (const float *)x, (float *)y);
        return;
    }
    for (size_t i = 0, m; i < n; i += m) {
        uint32_t r[TILE];
        m = n - i < TILE ? n - i : TILE;
        fill_hash(k, core_per_word(p->n), p->n, index + i, m, r);
        loop_round_affine_FPEMU_MODE_SR32(p, m, (const float *)x + i, r, (float *)y + i);
    }
}
#undef INTEGERS_VECTORS
#undef INTEGERS_GROUP
#undef INTEGERS_TO
#undef INTEGERS_SIGN
