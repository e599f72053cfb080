/* SPDX-License-Identifier: BSD-2-Clause */
/* integers.inc.c - integers with a scale in binary32, their codes and those of even grids, in vectors of AVX-512: the
 * modes that look at a side, and random bits made in the same loop. Included by variant.inc.c. The forms of
 * core_affine_quick_element, and of codes; tests/against_judges/affine.c compares them, and quantize_exhaustive.
 *
 * Which of its two neighbours x goes to may be asked of the values, since rounding k*s to a value keeps the order: where x
 * is none of them it lies above k*s if above its value. */

/* Vectors that are made at once, so that they need not wait for one another. */
#define INTEGERS_VECTORS 4
#define INTEGERS_GROUP (INTEGERS_VECTORS * 16)

typedef struct integers {
    __m512 low, high, nan;
    __m512 scale, inverse;
    __m512 shift; /* 1.5 * 2^23, in steps where the grid is even */
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

/* Of two sums, one rounded down and one up, the odd one. */
FPEMU_FN __m512 integers_neighbour(__m512 down, __m512 up)
{
    return _mm512_castsi512_ps(
        _mm512_ternarylogic_epi32(_mm512_castps_si512(down), _mm512_castps_si512(up), _mm512_set1_epi32(1), 0xf8));
}

/* y, but the NaN for a NaN, and 0 for -0. */
FPEMU_FN __m512 integers_finished(const integers *g, __m512 y)
{
    return _mm512_fixupimm_ps(g->nan, y, _mm512_set1_epi32(0x11111800), 0);
}

/* The sums' integers n to odd: to the one beside an even n on the side where t is from its value. */
FPEMU_FN __m512 integers_odd(__m512 sum, __m512 n, __m512 t, __m512 value)
{
    const __mmask16 even = _mm512_testn_epi32_mask(_mm512_castps_si512(sum), _mm512_set1_epi32(1));
    const __m512 rest = _mm512_sub_ps(t, value); /* 0 becomes 0, a negative number -1, a positive one 1 */
    return _mm512_mask_add_ps(n, even, n, _mm512_fixupimm_ps(rest, rest, _mm512_set1_epi32((int)0xa9a9a811u), 0));
}

/* Whether integers_affine_steps are those of a magnitude. */
FPEMU_FN int integers_by_magnitude(int mode)
{
    return mode == FPEMU_MODE_RTZ || mode == FPEMU_MODE_RAZ;
}

FPEMU_FN __m512 integers_affine_steps(const integers *g, int mode, __m512 within)
{
    const __m512 t = integers_by_magnitude(mode) ? _mm512_abs_ps(within) : within;
    const __m512 one = _mm512_set1_ps(1), sum = _mm512_fmadd_ps(t, g->inverse, g->shift);
    const __m512 n = _mm512_sub_ps(sum, g->shift), value = _mm512_mul_ps(n, g->scale);
    const int up = mode == FPEMU_MODE_RTP || mode == FPEMU_MODE_RAZ;
    return mode == FPEMU_MODE_RTO ? integers_odd(sum, n, t, value)
           : up                   ? _mm512_mask_add_ps(n, _mm512_cmp_ps_mask(t, value, _CMP_GT_OQ), n, one)
                                  : _mm512_mask_sub_ps(n, _mm512_cmp_ps_mask(t, value, _CMP_LT_OQ), n, one);
}

FPEMU_FN __m512 integers_affine(const integers *g, int mode, __m512 x)
{
    const __m512 t = integers_within(g, x), k = integers_affine_steps(g, mode, t);
    return integers_finished(g,
                             _mm512_mul_ps(k, integers_by_magnitude(mode) ? integers_signed(g->scale, t) : g->scale));
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
}

/* Whether the forms hold for affine integers, by what core_affine_quick_make made. */
FPEMU_FN int integers_begin_affine(integers *g, const core_affine_quick32 *q)
{
    g->low = _mm512_set1_ps(q->low);
    g->high = _mm512_set1_ps(q->high);
    g->nan = _mm512_set1_ps(core_value32(q->nan[0]));
    g->scale = _mm512_set1_ps(q->scale);
    g->inverse = _mm512_set1_ps(q->inverse);
    g->shift = _mm512_set1_ps(q->shift);
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

/* Codes, as of core_integer_codes: the integer, counted from that of the code 0, in the last bits of a sum. */
typedef struct integers_codes {
    __m512 steps; /* 1.5 * 2^23 and that integer */
    __m512i zero, mask, nan;
} integers_codes;

FPEMU_FN integers_codes integers_codes_of(const core_integer_codes32 *k)
{
    const integers_codes c = {_mm512_set1_ps(0x1.8p23f + (float)(int32_t)k->zero), _mm512_set1_epi32((int)k->zero),
                              _mm512_set1_epi32((int)k->mask), _mm512_set1_epi32((int)k->nan)};
    return c;
}

/* 16 codes of so many bytes; whole: with as many bits. */
FPEMU_FN void integers_store_codes(size_t size, int whole, const integers_codes *c, __m512i codes, char *to)
{
    const __m512i part = whole ? codes : _mm512_and_si512(codes, c->mask);
    if (size == 1)
        _mm_storeu_si128((__m128i *)(void *)to, _mm512_cvtepi32_epi8(part));
    else if (size == 2)
        _mm256_storeu_si256((__m256i *)(void *)to, _mm512_cvtepi32_epi16(part));
    else
        _mm512_storeu_si512(to, part);
}

/* x within the ends; some number for a NaN. */
FPEMU_FN __m512 integers_number(const integers *g, __m512 x)
{
    return _mm512_min_ps(_mm512_max_ps(x, g->low), g->high);
}

/* Those of numbers in a mode that looks at a side, perhaps with other bits; of an even grid to odd. */
FPEMU_FN __m512i integers_code(const integers *g, const integers_codes *c, int affine, int mode, __m512 x)
{
    const __m512 t = integers_number(g, x), one = _mm512_set1_ps(1);
    if (!affine) {
        const __m512 down = _mm512_add_round_ps(t, g->shift, INTEGERS_TO(NEG_INF));
        const __m512 up = _mm512_add_round_ps(t, g->shift, INTEGERS_TO(POS_INF));
        return _mm512_add_epi32(_mm512_castps_si512(integers_neighbour(down, up)), c->zero);
    }
    if (integers_by_magnitude(mode))
        return _mm512_castps_si512(_mm512_add_ps(integers_signed(integers_affine_steps(g, mode, t), t), c->steps));
    const __m512 from = mode == FPEMU_MODE_RTO ? g->shift : c->steps, sum = _mm512_fmadd_ps(t, g->inverse, from);
    const __m512 value = _mm512_mul_ps(_mm512_sub_ps(sum, from), g->scale);
    const __mmask16 above = _mm512_cmp_ps_mask(t, value, _CMP_GT_OQ), below = _mm512_cmp_ps_mask(t, value, _CMP_LT_OQ);
    if (mode == FPEMU_MODE_RTP)
        return _mm512_castps_si512(_mm512_mask_add_ps(sum, above, sum, one));
    if (mode == FPEMU_MODE_RTN)
        return _mm512_castps_si512(_mm512_mask_sub_ps(sum, below, sum, one));
    const __mmask16 other = _mm512_cmp_ps_mask(t, value, _CMP_NEQ_OQ);
    const __m512i bits = _mm512_castps_si512(sum), bit = _mm512_set1_epi32(1);
    const __m512i less = _mm512_mask_sub_epi32(bits, below, bits, bit);
    return _mm512_add_epi32(_mm512_mask_or_epi32(less, other, less, bit), c->zero);
}

/* The code of a NaN where there is one among 16 elements. */
FPEMU_FN __m512i integers_code_nan(const integers_codes *c, __m512 x, __m512i code)
{
    return _mm512_mask_mov_epi32(code, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), c->nan);
}

FPEMU_FN int integers_have_nan(const __m512 x[INTEGERS_VECTORS])
{
    __mmask16 nan = 0;
    for (unsigned v = 0; v < INTEGERS_VECTORS; v += 2)
        nan |= _mm512_cmp_ps_mask(x[v], x[v + 1], _CMP_UNORD_Q);
    return nan != 0;
}

FPEMU_FN void integers_encode(int affine, int mode, size_t size, int whole, const core_integer_codes32 *k, size_t n,
                              const float *x, char *codes)
{
    const integers_codes c = integers_codes_of(k);
    integers g = {.low = _mm512_set1_ps(k->q.low), .high = _mm512_set1_ps(k->q.high)};
    size_t i = 0;
    g.shift = _mm512_set1_ps(k->count);
    if (affine)
        integers_begin_affine(&g, &k->q);
    for (; n - i >= INTEGERS_GROUP; i += INTEGERS_GROUP) {
        __m512 from[INTEGERS_VECTORS];
        for (unsigned v = 0; v < INTEGERS_VECTORS; v++)
            from[v] = _mm512_loadu_ps(x + i + 16 * v);
        if (integers_have_nan(from)) {
            for (unsigned v = 0; v < INTEGERS_VECTORS; v++)
                integers_store_codes(size, whole, &c,
                                     integers_code_nan(&c, from[v], integers_code(&g, &c, affine, mode, from[v])),
                                     codes + (i + 16 * v) * size);
            continue;
        }
#pragma GCC unroll 4
        for (unsigned v = 0; v < INTEGERS_VECTORS; v++)
            integers_store_codes(size, whole, &c, integers_code(&g, &c, affine, mode, from[v]),
                                 codes + (i + 16 * v) * size);
    }
    for (size_t m; i < n; i += m) {
        char rest[16 * sizeof(uint32_t)];
        m = n - i < 16 ? n - i : 16;
        const __m512 from = _mm512_maskz_loadu_ps((__mmask16)((1u << m) - 1), x + i);
        integers_store_codes(size, whole, &c, integers_code_nan(&c, from, integers_code(&g, &c, affine, mode, from)),
                             rest);
        memcpy(codes + i * size, rest, m * size);
    }
}

#define INTEGERS_CODES(name, affine, mode)                                                                             \
    static void loop_codes_##name##_##mode##32(const core_integer_codes32 *k, size_t n, const void *x, size_t size,    \
                                               void *codes)                                                            \
    {                                                                                                                  \
        const float *const in = (const float *)x;                                                                      \
        char *const out = (char *)codes;                                                                               \
        if (size == 1 && k->mask == UINT8_MAX)                                                                         \
            integers_encode(affine, mode, 1, 1, k, n, in, out);                                                        \
        else if (size == 1)                                                                                            \
            integers_encode(affine, mode, 1, 0, k, n, in, out);                                                        \
        else if (size == 2)                                                                                            \
            integers_encode(affine, mode, 2, 0, k, n, in, out);                                                        \
        else                                                                                                           \
            integers_encode(affine, mode, 4, 0, k, n, in, out);                                                        \
    }
INTEGERS_CODES(affine, 1, FPEMU_MODE_RTZ)
INTEGERS_CODES(affine, 1, FPEMU_MODE_RAZ)
INTEGERS_CODES(affine, 1, FPEMU_MODE_RTP)
INTEGERS_CODES(affine, 1, FPEMU_MODE_RTN)
INTEGERS_CODES(affine, 1, FPEMU_MODE_RTO)
INTEGERS_CODES(even, 0, FPEMU_MODE_RTO)
#undef INTEGERS_CODES

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
FPEMU_FN __m512 integers_even_steps(const integers *g, __m512 within, __m512i r)
{
    const __m512 t = _mm512_mul_ps(within, g->inverse);
    const __m512 k = _mm512_roundscale_ps(t, INTEGERS_TO(ZERO)), two32 = _mm512_set1_ps(4294967296.0f);
    const __m512 f = _mm512_mul_ps(_mm512_sub_ps(t, k), integers_signed(two32, t));
    const __m512i inverted = _mm512_xor_si512(r, _mm512_set1_epi32(-1));
    const __mmask16 up = _mm512_cmpgt_epu32_mask(_mm512_cvttps_epu32(f), inverted);
    return _mm512_mask_add_ps(k, up, k, integers_signed(_mm512_set1_ps(1), t));
}

/* The sum of core_affine_quick_random, whose nearest integer it is. */
FPEMU_FN __m512 integers_affine_sum(const integers *g, __m512 x, __m512i r)
{
    const __m512 t = integers_within(g, x), random = _mm512_cvtepi32_ps(_mm512_srli_epi32(r, 8));
    const __m512 inward = _mm512_castsi512_ps(_mm512_ternarylogic_epi32(_mm512_castps_si512(_mm512_set1_ps(-0.5f)),
                                                                        _mm512_castps_si512(t), INTEGERS_SIGN, 0x78));
    const __m512 outward = integers_signed(_mm512_set1_ps(0x1p-24f), t);
    return _mm512_fmadd_ps(random, outward, _mm512_fmadd_ps(t, g->inverse, inward));
}

/* As core_affine_quick_random; *distance, a magnitude's bits, as there. */
FPEMU_FN __m512 integers_affine_drawn(const integers *g, __m512 x, __m512i r, __m512i *distance)
{
    const __m512 z = integers_affine_sum(g, x, r), k = _mm512_roundscale_ps(z, INTEGERS_TO(NEAREST_INT));
    *distance = _mm512_castps_si512(_mm512_abs_ps(_mm512_sub_ps(z, k)));
    return _mm512_fmadd_ps(k, g->scale, _mm512_setzero_ps()); /* no -0 */
}

/* At most a group of affine integers, by word `low` and following, where the form above does not decide. */
static __attribute__((noinline)) void integers_affine_some(const core_plan32 *p, core_hash_key key, uint32_t low,
                                                           size_t n, const float *x, float *y)
{
    uint32_t r[INTEGERS_GROUP];
    for (size_t l = 0; l < n; l++)
        r[l] = core_hash_word(key, low + (uint32_t)l);
    loop_round_affine_FPEMU_MODE_SR32(p, n, x, r, y);
}

/* A group by word `low` and following; 0 where the quick form does not decide. */
FPEMU_FN int integers_drawn_group(const integers *g, const core_affine_quick32 *quick, core_hash_key key, uint32_t lead,
                                  uint32_t low, const float *x, __m512 to[INTEGERS_VECTORS])
{
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i at = _mm512_add_epi32(lanes, _mm512_set1_epi32((int)low)), far = _mm512_setzero_si512();
#pragma GCC unroll 4
    for (unsigned v = 0; v < INTEGERS_VECTORS; v++) {
        __m512i distance;
        to[v] = integers_affine_drawn(g, _mm512_loadu_ps(x + 16 * v), integers_random(key.k1, lead, at), &distance);
        at = _mm512_add_epi32(at, _mm512_set1_epi32(16));
        far = _mm512_max_epi32(far, distance);
    }
    return !_mm512_cmpgt_epi32_mask(far, _mm512_set1_epi32((int)quick->random));
}

/* Elements `index` and following, by 32 random bits each. */
static void integers_drawn_affine(const core_plan32 *p, core_hash_key key, uint64_t index, size_t n, const void *from,
                                  void *to)
{
    const float *x = (const float *)from;
    float *y = (float *)to;
    integers g = {0};
    core_affine_quick32 q = {0};
    const int quick = core_affine_quick_make32(&q, p) && q.is_near && integers_begin_affine(&g, &q);
    for (size_t m; n > 0; index += m, n -= m, x += m, y += m) {
        const uint32_t low = (uint32_t)index;
        const size_t words = CORE_LEAD_WORDS - (low & (CORE_LEAD_WORDS - 1)), most = n < words ? n : words;
        __m512 group[INTEGERS_VECTORS];
        m = most < INTEGERS_GROUP ? most : INTEGERS_GROUP;
        if (quick && m == INTEGERS_GROUP && integers_drawn_group(&g, &q, key, core_hash_lead(key, low), low, x, group))
            for (unsigned v = 0; v < INTEGERS_VECTORS; v++)
                _mm512_storeu_ps(y + 16 * v, group[v]);
        else
            integers_affine_some(p, key, low, m, x, y);
    }
}

/* As integers_drawn_group, codes; quick: NULL where the grid is even. */
FPEMU_FN int integers_drawn_codes(const integers *g, const integers_codes *c, const core_affine_quick32 *quick,
                                  core_hash_key key, uint32_t lead, uint32_t low, const float *x,
                                  __m512i to[INTEGERS_VECTORS])
{
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i at = _mm512_add_epi32(lanes, _mm512_set1_epi32((int)low)), far = _mm512_setzero_si512();
    __m512 from[INTEGERS_VECTORS];
#pragma GCC unroll 4
    for (unsigned v = 0; v < INTEGERS_VECTORS; v++) {
        const __m512i r = integers_random(key.k1, lead, at);
        from[v] = _mm512_loadu_ps(x + 16 * v);
        const __m512 z =
            quick ? integers_affine_sum(g, from[v], r) : integers_even_steps(g, integers_number(g, from[v]), r);
        const __m512 sum = _mm512_add_ps(z, c->steps);
        to[v] = _mm512_castps_si512(sum);
        at = _mm512_add_epi32(at, _mm512_set1_epi32(16));
        if (quick) /* of a NaN it is one */
            far = _mm512_max_epi32(far,
                                   _mm512_castps_si512(_mm512_abs_ps(_mm512_reduce_ps(z, INTEGERS_TO(NEAREST_INT)))));
    }
    if (quick)
        return !_mm512_cmpgt_epi32_mask(far, _mm512_set1_epi32((int)quick->random));
    if (integers_have_nan(from))
        for (unsigned v = 0; v < INTEGERS_VECTORS; v++)
            to[v] = integers_code_nan(c, from[v], to[v]);
    return 1;
}

/* At most a group of affine integers where the form above does not decide: by their values. */
static __attribute__((noinline)) void integers_codes_some(const core_plan32 *p, const core_integer_codes32 *k,
                                                          core_hash_key key, uint32_t low, size_t n, const float *x,
                                                          uint32_t *codes)
{
    float y[INTEGERS_GROUP];
    integers_affine_some(p, key, low, n, x, y);
    for (size_t l = 0; l < n; l++)
        codes[l] = core_integer_code32(k, core_bits32(x[l]), core_bits32(y[l] * k->q.inverse + k->steps));
}

/* Codes of elements `index` and following, by 32 random bits each. */
FPEMU_FN void integers_encode_drawn(const core_plan32 *plan, const core_integer_codes32 *k, int affine, size_t size,
                                    int whole, core_hash_key key, uint64_t index, size_t n, const float *x, char *codes)
{
    const integers_codes c = integers_codes_of(k);
    const core_affine_quick32 *const quick = affine ? &k->q : NULL;
    integers g;
    if (affine)
        integers_begin_affine(&g, &k->q);
    else
        integers_begin_even(&g, plan);
    for (size_t m; n > 0; index += m, n -= m, x += m, codes += m * size) {
        const uint32_t low = (uint32_t)index, lead = core_hash_lead(key, low);
        const size_t words = CORE_LEAD_WORDS - (low & (CORE_LEAD_WORDS - 1)), most = n < words ? n : words;
        const size_t groups = most / INTEGERS_GROUP * INTEGERS_GROUP;
        __m512i to[INTEGERS_VECTORS];
        for (m = 0; m < groups && integers_drawn_codes(&g, &c, quick, key, lead, low + (uint32_t)m, x + m, to);
             m += INTEGERS_GROUP)
            for (unsigned v = 0; v < INTEGERS_VECTORS; v++)
                integers_store_codes(size, whole, &c, to[v], codes + (m + 16 * v) * size);
        if (m > 0)
            continue;
        float from[INTEGERS_GROUP] = {0};
        uint32_t wide[INTEGERS_GROUP] = {0};
        char part[INTEGERS_GROUP * sizeof *wide];
        m = most < INTEGERS_GROUP ? most : INTEGERS_GROUP;
        memcpy(from, x, m * sizeof *x);
        if (affine)
            integers_codes_some(plan, k, key, low, m, from, wide);
        else
            (void)integers_drawn_codes(&g, &c, NULL, key, lead, low, from, to);
        for (unsigned v = 0; v < INTEGERS_VECTORS; v++)
            integers_store_codes(size, whole, &c, affine ? _mm512_loadu_si512(wide + 16 * v) : to[v],
                                 part + 16 * v * size);
        memcpy(codes, part, m * size);
    }
}

#define INTEGERS_ENCODE(name, affine)                                                                                  \
    static void integers_encode_##name(const core_plan32 *p, const core_integer_codes32 *k, core_hash_key key,         \
                                       uint64_t index, size_t n, const void *x, size_t size, void *codes)              \
    {                                                                                                                  \
        const float *const in = (const float *)x;                                                                      \
        char *const out = (char *)codes;                                                                               \
        if (size == 1 && k->mask == UINT8_MAX)                                                                         \
            integers_encode_drawn(p, k, affine, 1, 1, key, index, n, in, out);                                         \
        else if (size == 1)                                                                                            \
            integers_encode_drawn(p, k, affine, 1, 0, key, index, n, in, out);                                         \
        else if (size == 2)                                                                                            \
            integers_encode_drawn(p, k, affine, 2, 0, key, index, n, in, out);                                         \
        else                                                                                                           \
            integers_encode_drawn(p, k, affine, 4, 0, key, index, n, in, out);                                         \
    }
INTEGERS_ENCODE(even, 0)
INTEGERS_ENCODE(affine, 1)
#undef INTEGERS_ENCODE
#undef INTEGERS_VECTORS
#undef INTEGERS_GROUP
#undef INTEGERS_TO
#undef INTEGERS_SIGN
