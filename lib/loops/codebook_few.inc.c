/* SPDX-License-Identifier: BSD-2-Clause */
/* codebook_few.inc.c - tables of at most 16 values, which vectors of AVX2 and AVX-512 look up without memory, in
 * binary32 and to nearest even; included by variant.inc.c. core_few says why the bits are those of the rule. */

#if defined(__AVX512F__)
#define FEW_LANES 16
/* What a block needs of its scale: thresholds and values as multiples of it, and by what its elements become places. */
typedef struct few_block {
    __m512 thresholds, values, per_place;
    __m512i even[2];
} few_block;

/* The same of a table whose thresholds are fused products, from what its blocks have in common. */
typedef struct few_common {
    __m512 thresholds, halves, values;
    __m512i even[2];
} few_common;

FPEMU_FN few_common few_common_of(const core_few *f)
{
    const few_common c = {_mm512_loadu_ps(f->thresholds),
                          _mm512_loadu_ps(f->halves),
                          _mm512_loadu_ps(f->values),
                          {_mm512_loadu_si512(f->even), _mm512_loadu_si512(f->even + 16)}};
    return c;
}

FPEMU_FN few_block few_fused(const few_common *c, const float *cuts, float scale, float per_place)
{
    (void)cuts;
    const __m512 s = _mm512_set1_ps(scale);
    const few_block b = {
        _mm512_fmadd_round_ps(c->thresholds, s, _mm512_mul_ps(c->halves, s), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC),
        _mm512_mul_ps(c->values, s),
        _mm512_set1_ps(per_place),
        {c->even[0], c->even[1]}};
    return b;
}

FPEMU_FN void few_cut(const core_few *f, size_t count, const float *scales, float *cuts)
{
    (void)f;
    (void)count;
    (void)scales;
    (void)cuts;
}

FPEMU_FN few_block few_begin(const core_few *f, float scale, float per_place)
{
    if (f->fused) {
        const few_common c = few_common_of(f);
        return few_fused(&c, NULL, scale, per_place);
    }
    const __m512d s = _mm512_set1_pd((double)scale);
    const __m256 low =
        _mm512_cvt_roundpd_ps(_mm512_mul_pd(_mm512_loadu_pd(f->edges), s), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const __m256 high = _mm512_cvt_roundpd_ps(_mm512_mul_pd(_mm512_loadu_pd(f->edges + 8), s),
                                              _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const few_block b = {_mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1),
                         _mm512_mul_ps(_mm512_loadu_ps(f->values), _mm512_set1_ps(scale)),
                         _mm512_set1_ps(per_place),
                         {_mm512_loadu_si512(f->even), _mm512_loadu_si512(f->even + 16)}};
    return b;
}

FPEMU_FN __m512i few_more(__m512i k, __m512 x, __m512 threshold, int by)
{
    return _mm512_mask_add_epi32(k, _mm512_cmp_ps_mask(x, threshold, _CMP_GT_OQ), k, _mm512_set1_epi32(by));
}

typedef __m512i few_place;
typedef __mmask16 few_mask;
#define few_index(place) (place)
typedef __m512 few_table; /* 16 numbers, to be had by place */

/* Where x stands among the thresholds: by its place, or by halves. */
FPEMU_FN few_place few_find(int is_even, const few_block *b, __m512 x)
{
    if (is_even) {
        const __m512 sum = _mm512_fmadd_ps(x, b->per_place, _mm512_set1_ps(0x1.8p23f + 16)); /* 5 bits: the place */
        const __m512i k = _mm512_permutex2var_epi32(b->even[0], _mm512_castps_si512(sum), b->even[1]);
        return few_more(k, x, _mm512_permutexvar_ps(k, b->thresholds), 1);
    }
    const __m512i t = _mm512_castps_si512(b->thresholds);
    const __m512 t3 = _mm512_castsi512_ps(_mm512_alignr_epi32(t, t, 3));
    const __m512 t1 = _mm512_castsi512_ps(_mm512_alignr_epi32(t, t, 1));
    __m512i k = few_more(_mm512_setzero_si512(), x, _mm512_permutexvar_ps(_mm512_set1_epi32(7), b->thresholds), 8);
    k = few_more(k, x, _mm512_permutexvar_ps(k, t3), 4);
    k = few_more(k, x, _mm512_permutexvar_ps(k, t1), 2);
    return few_more(k, x, _mm512_permutexvar_ps(k, b->thresholds), 1);
}

FPEMU_FN few_table few_load(const float *values)
{
    return _mm512_loadu_ps(values);
}

FPEMU_FN few_table few_load_times(const float *values, float scale)
{
    return _mm512_mul_ps(_mm512_loadu_ps(values), _mm512_set1_ps(scale));
}

FPEMU_FN __m512 few_pick(few_table t, few_place k)
{
    return _mm512_permutexvar_ps(k, t);
}

FPEMU_FN __m512 few_value(const few_block *b, few_place k)
{
    return few_pick(b->values, k);
}

/* The value nearest to x. */
FPEMU_FN __m512 few_nearest(int is_even, const few_block *b, __m512 x)
{
    return few_value(b, few_find(is_even, b, x));
}

FPEMU_FN void few_store_codes(few_place k, void *codes)
{
    _mm_storeu_si128((__m128i *)codes, _mm512_cvtepi32_epi8(k));
}

#define FEW_SET _mm512_set1_ps
#define few_times _mm512_mul_ps
#define few_minus _mm512_sub_ps
#define few_by _mm512_div_ps
#define few_at_most _mm512_min_ps
#define few_at_least _mm512_max_ps
#define few_nans(x) _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q)
#define few_nan_of(x, y) _mm512_cmp_ps_mask(x, y, _CMP_UNORD_Q)
#define few_above(x, y) _mm512_cmp_ps_mask(x, y, _CMP_GT_OQ)
#define few_bits(mask) ((uint32_t)(mask))
#define few_choose(mask, yes, no) _mm512_mask_mov_ps(no, mask, yes)
#define few_magnitude(x) _mm512_abs_ps(x)
/* 1 - r / 2^32 of integers, about. */
FPEMU_FN __m512 few_left(__m512 r)
{
    return _mm512_fnmadd_ps(_mm512_cvtepu32_ps(_mm512_castps_si512(r)), _mm512_set1_ps(0x1p-32f), _mm512_set1_ps(1));
}

/* x, or what it has beyond the reach cut off; some number for a NaN. */
FPEMU_FN __m512 few_within(__m512 x, float reach)
{
    const __m512i high = _mm512_castps_si512(_mm512_set1_ps(reach)), low = _mm512_castps_si512(_mm512_set1_ps(-reach));
    return _mm512_castsi512_ps(_mm512_min_epu32(_mm512_min_epi32(_mm512_castps_si512(x), high), low));
}

FPEMU_FN __m512 few_nan(const core_search32 *s, __m512 x, __m512 y)
{
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), below = _mm512_movepi32_mask(_mm512_castps_si512(x));
    y = _mm512_mask_mov_ps(y, nan, _mm512_castsi512_ps(_mm512_set1_epi32((int)s->nan[0])));
    return _mm512_mask_mov_ps(y, nan & below, _mm512_castsi512_ps(_mm512_set1_epi32((int)s->nan[1])));
}
#define FEW_VECTOR __m512
#define few_read(p) _mm512_loadu_ps(p)
#define few_write(p, v) _mm512_storeu_ps(p, v)
#define FEW_ALONE(f)                                                                                                   \
    {                                                                                                                  \
        _mm512_loadu_ps((f)->thresholds), _mm512_loadu_ps((f)->values), _mm512_set1_ps(15 / (f)->reach),               \
        {                                                                                                              \
            _mm512_loadu_si512((f)->even), _mm512_loadu_si512((f)->even + 16)                                          \
        }                                                                                                              \
    }
#else
#define FEW_LANES 8
typedef struct few_block {
    __m256 seventh, third, eleventh; /* thresholds that halve them all, and the halves */
    __m256 fourths, halves;          /* those that halve the fourths, and what is left, by minus the index */
    __m256 low, high;                /* values */
    __m256 evens, odds;              /* the same by the lowest bit of their indices, each by minus the rest */
} few_block;

/* The largest binary32 numbers that are not above four of binary64. */
FPEMU_FN __m128 few_down(__m256d x)
{
    const __m128 near = _mm256_cvtpd_ps(x);
    const __m256d above = _mm256_cmp_pd(_mm256_cvtps_pd(near), x, _CMP_GT_OQ);
    const __m128i is = _mm_castps_si128(_mm_shuffle_ps(_mm_castpd_ps(_mm256_castpd256_pd128(above)),
                                                       _mm_castpd_ps(_mm256_extractf128_pd(above, 1)), 0x88));
    const __m128i u = _mm_castps_si128(near); /* one step down is one more below zero: no number is zero here */
    return _mm_castsi128_ps(
        _mm_add_epi32(u, _mm_and_si128(is, _mm_or_si128(_mm_set1_epi32(1), _mm_cmpgt_epi32(u, _mm_set1_epi32(-1))))));
}

/* 0 14 12 ... 2 of 16 numbers, and 1 15 13 ... 3. */
FPEMU_FN __m256 few_every_second(__m256 low, __m256 high, int odd)
{
    const __m256 mixed = odd ? _mm256_shuffle_ps(low, high, 0xdd) : _mm256_shuffle_ps(low, high, 0x88);
    return _mm256_permutevar8x32_ps(mixed, _mm256_set_epi32(1, 4, 5, 2, 3, 6, 7, 0));
}

FPEMU_FN few_block few_order(__m256 low, __m256 high, const float *values, float scale)
{
    const __m256 s = _mm256_set1_ps(scale);
    const __m256 v0 = _mm256_mul_ps(_mm256_loadu_ps(values), s), v1 = _mm256_mul_ps(_mm256_loadu_ps(values + 8), s);
    const few_block r = {
        _mm256_permutevar8x32_ps(low, _mm256_set1_epi32(7)),
        _mm256_permutevar8x32_ps(low, _mm256_set1_epi32(3)),
        _mm256_permutevar8x32_ps(high, _mm256_set1_epi32(3)),
        _mm256_permutevar8x32_ps(few_every_second(low, high, 1), _mm256_set_epi32(6, 4, 2, 0, 0, 0, 0, 0)),
        few_every_second(low, high, 0),
        v0,
        v1,
        few_every_second(v0, v1, 0),
        few_every_second(v0, v1, 1)};
    return r;
}

FPEMU_FN few_block few_begin(const core_few *f, float scale, float per_place)
{
    const __m256d s = _mm256_set1_pd((double)scale);
    __m128 t[4];
    (void)per_place;
    for (int k = 0; k < 4; k++)
        t[k] = few_down(_mm256_mul_pd(_mm256_loadu_pd(f->edges + 4 * k), s));
    return few_order(_mm256_set_m128(t[1], t[0]), _mm256_set_m128(t[3], t[2]), f->values, scale);
}

/* The thresholds of a table that are fused products, for `count` blocks: 24 numbers each, as in few_block. The
 * processor rounds down meanwhile; in a function of its own, so that none of it can leave the bracket. */
static __attribute__((noinline)) void few_cut_down(const core_few *f, size_t count, const float *scales, float *cuts)
{
    static const uint8_t order[24] = {1, 1, 1, 1, 1, 13, 9, 5, 0, 14, 12, 10, 8, 6, 4, 2, 7, 3, 11, 11, 11, 11, 11, 11};
    float thresholds[24], halves[24];
    for (int k = 0; k < 24; k++) {
        thresholds[k] = f->thresholds[order[k]];
        halves[k] = f->halves[order[k]];
    }
    __m256 t[3], h[3];
    for (int k = 0; k < 3; k++) {
        t[k] = _mm256_loadu_ps(thresholds + 8 * k);
        h[k] = _mm256_loadu_ps(halves + 8 * k);
    }
    for (size_t b = 0; b < count; b++) {
        const __m256 s = _mm256_set1_ps(scales[b]);
        for (int k = 0; k < 3; k++)
            _mm256_storeu_ps(cuts + 24 * b + 8 * k, _mm256_fmadd_ps(t[k], s, _mm256_mul_ps(h[k], s)));
    }
}

FPEMU_FN void few_cut(const core_few *f, size_t count, const float *scales, float *cuts)
{
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | (unsigned)_MM_ROUND_DOWN);
    few_cut_down(f, count, scales, cuts);
    _mm_setcsr(before);
}

typedef struct few_common {
    __m256 evens, odds; /* values */
} few_common;

FPEMU_FN few_common few_common_of(const core_few *f)
{
    const __m256 low = _mm256_loadu_ps(f->values), high = _mm256_loadu_ps(f->values + 8);
    const few_common c = {few_every_second(low, high, 0), few_every_second(low, high, 1)};
    return c;
}

/* For few_nearest alone. */
FPEMU_FN few_block few_fused(const few_common *c, const float *cuts, float scale, float per_place)
{
    (void)per_place;
    const __m256 s = _mm256_set1_ps(scale);
    const few_block b = {.seventh = _mm256_set1_ps(cuts[16]),
                         .third = _mm256_set1_ps(cuts[17]),
                         .eleventh = _mm256_set1_ps(cuts[18]),
                         .fourths = _mm256_loadu_ps(cuts),
                         .halves = _mm256_loadu_ps(cuts + 8),
                         .evens = _mm256_mul_ps(c->evens, s),
                         .odds = _mm256_mul_ps(c->odds, s)};
    return b;
}

typedef __m256 few_mask;
typedef struct few_place {
    __m256i index; /* 3 bits count */
    __m256 upper;  /* whether it is 8 or more, as a mask */
} few_place;
#define few_index(place) (place).index
typedef struct few_table {
    __m256 low, high;
} few_table;

/* Minus the index of x but for its lowest bit, and whether it is 8 or more. */
FPEMU_FN few_place few_find_half(const few_block *b, __m256 x)
{
    const __m256 m1 = _mm256_cmp_ps(x, b->seventh, _CMP_GT_OQ);
    const __m256i k1 = _mm256_castps_si256(m1); /* -1 each */
    const __m256 m2 = _mm256_cmp_ps(x, _mm256_blendv_ps(b->third, b->eleventh, m1), _CMP_GT_OQ);
    const __m256i k = _mm256_add_epi32(_mm256_add_epi32(k1, k1), _mm256_castps_si256(m2));
    const __m256 m3 = _mm256_cmp_ps(x, _mm256_permutevar8x32_ps(b->fourths, k), _CMP_GT_OQ);
    const few_place place = {_mm256_add_epi32(_mm256_add_epi32(k, k), _mm256_castps_si256(m3)), m1};
    return place;
}

/* Whether the lowest bit is set, as a mask. */
FPEMU_FN __m256 few_find_odd(const few_block *b, __m256i half, __m256 x)
{
    return _mm256_cmp_ps(x, _mm256_permutevar8x32_ps(b->halves, half), _CMP_GT_OQ);
}

FPEMU_FN few_place few_find(int is_even, const few_block *b, __m256 x)
{
    (void)is_even;
    few_place k = few_find_half(b, x);
    const __m256i odd = _mm256_castps_si256(few_find_odd(b, k.index, x));
    k.index = _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_add_epi32(_mm256_add_epi32(k.index, k.index), odd));
    return k;
}

/* The value nearest to x. */
FPEMU_FN __m256 few_nearest(int is_even, const few_block *b, __m256 x)
{
    (void)is_even;
    const __m256i half = few_find_half(b, x).index;
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(b->evens, half), _mm256_permutevar8x32_ps(b->odds, half),
                            few_find_odd(b, half, x));
}

/* few_find_half and few_find_odd of four vectors, step by step: processors look ahead no farther than that. */
FPEMU_FN void few_find_four(const few_block *b, const __m256 x[4], __m256i half[4], __m256 odd[4])
{
    __m256 more[4], threshold[4];
    __m256i k[4]; /* minus the index */
    for (int v = 0; v < 4; v++)
        more[v] = _mm256_cmp_ps(x[v], b->seventh, _CMP_GT_OQ);
    for (int v = 0; v < 4; v++)
        threshold[v] = _mm256_blendv_ps(b->third, b->eleventh, more[v]);
    for (int v = 0; v < 4; v++)
        k[v] = _mm256_add_epi32(_mm256_castps_si256(more[v]), _mm256_castps_si256(more[v]));
    for (int step = 0; step < 2; step++) {
        for (int v = 0; v < 4; v++)
            more[v] = _mm256_cmp_ps(x[v], threshold[v], _CMP_GT_OQ);
        for (int v = 0; v < 4; v++)
            k[v] = _mm256_add_epi32(k[v], _mm256_castps_si256(more[v]));
        for (int v = 0; v < 4; v++)
            threshold[v] = _mm256_permutevar8x32_ps(step ? b->halves : b->fourths, k[v]);
        for (int v = 0; v < 4 && !step; v++)
            k[v] = _mm256_add_epi32(k[v], k[v]);
    }
    for (int v = 0; v < 4; v++)
        odd[v] = _mm256_cmp_ps(x[v], threshold[v], _CMP_GT_OQ);
    for (int v = 0; v < 4; v++)
        half[v] = k[v];
}

/* The values nearest to four vectors. */
FPEMU_FN void few_nearest_four(const few_block *b, const __m256 x[4], __m256 y[4])
{
    __m256i half[4];
    __m256 odd[4];
    few_find_four(b, x, half, odd);
    for (int v = 0; v < 4; v++)
        y[v] = _mm256_blendv_ps(_mm256_permutevar8x32_ps(b->evens, half[v]), _mm256_permutevar8x32_ps(b->odds, half[v]),
                                odd[v]);
}

FPEMU_FN few_table few_load(const float *values)
{
    const few_table t = {_mm256_loadu_ps(values), _mm256_loadu_ps(values + 8)};
    return t;
}

FPEMU_FN few_table few_load_times(const float *values, float scale)
{
    const __m256 s = _mm256_set1_ps(scale);
    const few_table t = {_mm256_mul_ps(_mm256_loadu_ps(values), s), _mm256_mul_ps(_mm256_loadu_ps(values + 8), s)};
    return t;
}

FPEMU_FN __m256 few_pick(few_table t, few_place k)
{
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(t.low, k.index), _mm256_permutevar8x32_ps(t.high, k.index),
                            k.upper);
}

FPEMU_FN __m256 few_value(const few_block *b, few_place k)
{
    const few_table t = {b->low, b->high};
    return few_pick(t, k);
}

FPEMU_FN void few_store_codes(few_place k, void *codes)
{
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(k.index), _mm256_extracti128_si256(k.index, 1));
    _mm_storel_epi64((__m128i *)codes, _mm_packus_epi16(words, words));
}

#define FEW_SET _mm256_set1_ps
#define few_times _mm256_mul_ps
#define few_minus _mm256_sub_ps
#define few_by _mm256_div_ps
#define few_at_most _mm256_min_ps
#define few_at_least _mm256_max_ps
#define few_nans(x) _mm256_cmp_ps(x, x, _CMP_UNORD_Q)
#define few_nan_of(x, y) _mm256_cmp_ps(x, y, _CMP_UNORD_Q)
#define few_above(x, y) _mm256_cmp_ps(x, y, _CMP_GT_OQ)
#define few_bits(mask) ((uint32_t)_mm256_movemask_ps(mask))
#define few_choose(mask, yes, no) _mm256_blendv_ps(no, yes, mask)
#define few_magnitude(x) _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x)
/* The same; r - 2^31 is a signed integer. */
FPEMU_FN __m256 few_left(__m256 r)
{
    const __m256i less = _mm256_xor_si256(_mm256_castps_si256(r), _mm256_set1_epi32(INT32_MIN));
    return _mm256_fnmadd_ps(_mm256_cvtepi32_ps(less), _mm256_set1_ps(0x1p-32f), _mm256_set1_ps(0.5f));
}

FPEMU_FN __m256 few_within(__m256 x, float reach)
{
    (void)reach;
    return x;
}

FPEMU_FN __m256 few_nan(const core_search32 *s, __m256 x, __m256 y)
{
    const __m256 nan = _mm256_blendv_ps(_mm256_castsi256_ps(_mm256_set1_epi32((int)s->nan[0])),
                                        _mm256_castsi256_ps(_mm256_set1_epi32((int)s->nan[1])), x);
    return _mm256_blendv_ps(y, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}
#define FEW_VECTOR __m256
#define few_read(p) _mm256_loadu_ps((const float *)(const void *)(p))
#define few_write(p, v) _mm256_storeu_ps((float *)(void *)(p), v)
#define FEW_ALONE(f) few_order(_mm256_loadu_ps((f)->thresholds), _mm256_loadu_ps((f)->thresholds + 8), (f)->values, 1)
#endif

/* One vector of a block; alone: of none, where NaN and any number may come. */
FPEMU_FN void few_step(const core_search32 *s, int is_even, int alone, const few_block *b, const void *x, void *y)
{
    const FEW_VECTOR v = few_read(x);
    const FEW_VECTOR result = few_nearest(is_even, b, alone ? few_within(v, s->few.reach) : v);
    few_write(y, alone ? few_nan(s, v, result) : result);
}

/* Four vectors: a NaN among them is looked for at once. */
FPEMU_FN void few_steps(const core_search32 *s, int is_even, int alone, const few_block *b, const char *x, char *y)
{
    FEW_VECTOR v[4], result[4];
    for (int k = 0; k < 4; k++)
        v[k] = few_read(x + (size_t)k * sizeof v[k]);
#if FEW_LANES == 8
    (void)is_even;
    few_nearest_four(b, v, result); /* which any number has */
#else
    for (int k = 0; k < 4; k++)
        result[k] = few_nearest(is_even, b, alone ? few_within(v[k], s->few.reach) : v[k]);
#endif
    if (alone && (few_bits(few_nan_of(v[0], v[1])) | few_bits(few_nan_of(v[2], v[3]))))
        for (int k = 0; k < 4; k++)
            result[k] = few_nan(s, v[k], result[k]);
    for (int k = 0; k < 4; k++)
        few_write(y + (size_t)k * sizeof v[k], result[k]);
}

FPEMU_FN void few_elements(const core_search32 *s, int is_even, int alone, const few_block *block, size_t n,
                           const char *x, char *y)
{
    const few_block b = *block;
    const size_t whole = n - n % FEW_LANES, fours = n - n % (4 * FEW_LANES);
    for (size_t i = 0; i < fours; i += 4 * FEW_LANES)
        few_steps(s, is_even, alone, &b, x + i * sizeof(float), y + i * sizeof(float));
    for (size_t i = fours; i < whole; i += FEW_LANES)
        few_step(s, is_even, alone, &b, x + i * sizeof(float), y + i * sizeof(float));
    if (whole < n) {
        float rest[FEW_LANES] = {0};
        memcpy(rest, x + whole * sizeof *rest, (n - whole) * sizeof *rest);
        few_step(s, is_even, alone, &b, rest, rest);
        memcpy(y + whole * sizeof *rest, rest, (n - whole) * sizeof *rest);
    }
}

static void few_codebook(const core_search32 *s, size_t n, const void *t, void *y)
{
    if (!s->few.usable) {
        loop_codebook32(s, n, t, y);
        return;
    }
    const few_block alone = FEW_ALONE(&s->few);
    if (s->few.is_even)
        few_elements(s, 1, 1, &alone, n, (const char *)t, (char *)y);
    else
        few_elements(s, 0, 1, &alone, n, (const char *)t, (char *)y);
}

/* Blocks by their quotients. */
static void few_quotient_runs(const core_search32 *s, size_t length, size_t count, const float *down,
                              const float *scales, const char *x, char *y)
{
    _Alignas(LINE) float tile[256];
    for (size_t b = 0; b < count; b++)
        for (size_t done = 0, m; done < length; done += m) {
            const size_t at = (b * length + done) * sizeof *tile;
            m = length - done < 256 ? length - done : 256;
            loop_runs_t32(1, 0, m, 1, down + b, x + at, tile);
            few_codebook(s, m, tile, tile);
            loop_runs_y32(m, 1, scales + b, 1, tile, y + at);
        }
}

/* Blocks whose thresholds are made together. */
#define FEW_BLOCKS 64

/* `length` as a constant leaves no loop. */
FPEMU_FN void few_fused_runs(const core_search32 *s, int is_even, size_t length, size_t count, const float *down,
                             const float *scales, const char *x, char *y)
{
    float per_place[FEW_BLOCKS], cuts[FEW_LANES == 8 ? 24 * FEW_BLOCKS : 1];
    const float unit = 15 / s->few.reach;
    const few_common common = few_common_of(&s->few);
    for (size_t b = 0, n; b < count; b += n) {
        n = count - b < FEW_BLOCKS ? count - b : FEW_BLOCKS;
        if (FEW_LANES == 16) {
            SIMD for (size_t i = 0; i < n; i++)
                per_place[i] = unit / scales[b + i];
        }
        few_cut(&s->few, n, scales + b, cuts);
        for (size_t i = 0; i < n; i++) {
            const size_t at = (b + i) * length * sizeof(float);
            if (!core_few_holds(scales[b + i])) {
                few_quotient_runs(s, length, 1, down + b + i, scales + b + i, x + at, y + at);
                continue;
            }
            const few_block block = few_fused(&common, cuts + (FEW_LANES == 8 ? 24 * i : 0), scales[b + i],
                                              FEW_LANES == 8 ? 0 : per_place[i]);
            few_elements(s, is_even, 0, &block, length, x + at, y + at);
        }
    }
}

static void few_codebook_runs(const core_search32 *s, size_t length, size_t count, const float *down,
                              const float *scales, const void *x, void *y)
{
    const char *in = (const char *)x;
    char *out = (char *)y;
    const size_t size = length * sizeof(float);
    if (!s->few.usable) {
        loop_codebook_runs32(s, length, count, down, scales, x, y);
    } else if (s->few.fused && s->few.is_even && length == 64) {
        few_fused_runs(s, 1, 64, count, down, scales, in, out);
    } else if (s->few.fused && s->few.is_even) {
        few_fused_runs(s, 1, length, count, down, scales, in, out);
    } else if (s->few.fused) {
        few_fused_runs(s, 0, length, count, down, scales, in, out);
    } else {
        for (size_t b = 0; b < count; b++, in += size, out += size) {
            if (!core_few_holds(scales[b])) {
                few_quotient_runs(s, length, 1, down + b, scales + b, in, out);
                continue;
            }
            const few_block block = few_begin(&s->few, scales[b], 15 / s->few.reach / scales[b]);
            if (s->few.is_even)
                few_elements(s, 1, 0, &block, length, in, out);
            else
                few_elements(s, 0, 0, &block, length, in, out);
        }
    }
}

FPEMU_FN void few_codes_step(const core_search32 *s, int is_even, const few_block *b, const void *x, uint8_t *codes)
{
    const FEW_VECTOR v = few_read(x);
    const uint32_t nans = few_bits(few_nans(v));
    few_store_codes(few_find(is_even, b, few_within(v, s->few.reach)), codes);
    for (uint32_t l = 0; nans && l < FEW_LANES; l++) {
        uint32_t u;
        memcpy(&u, (const char *)x + l * sizeof u, sizeof u);
        codes[l] = nans >> l & 1 ? (uint8_t)s->nan_index[u >> 31] : codes[l];
    }
}

FPEMU_FN void few_codes(const core_search32 *s, int is_even, const few_block *block, size_t n, const char *x,
                        uint8_t *codes)
{
    const few_block b = *block;
    const size_t whole = n - n % FEW_LANES;
    for (size_t i = 0; i < whole; i += FEW_LANES)
        few_codes_step(s, is_even, &b, x + i * sizeof(float), codes + i);
    if (whole < n) {
        float rest[FEW_LANES] = {0};
        uint8_t some[FEW_LANES];
        memcpy(rest, x + whole * sizeof *rest, (n - whole) * sizeof *rest);
        few_codes_step(s, is_even, &b, rest, some);
        memcpy(codes + whole, some, n - whole);
    }
}

static void few_codebook_codes(const core_search32 *s, size_t n, const void *t, uint8_t *codes)
{
    if (!s->few.usable) {
        loop_codebook_codes32(s, n, t, codes);
        return;
    }
    const few_block alone = FEW_ALONE(&s->few);
    if (s->few.is_even)
        few_codes(s, 1, &alone, n, (const char *)t, codes);
    else
        few_codes(s, 0, &alone, n, (const char *)t, codes);
}

/* What random bits need besides: values, the next ones, inverses of what lies between; results of both. */
typedef struct few_random {
    few_table values, next, inverses, low, high;
    float inverse, half, band; /* of the scale; see core_search_up, core_few */
} few_random;

/* Elements of a vector whose bits in `open` are set, by binary64. */
FPEMU_SLOW void few_decide(const core_search32 *s, uint32_t open, float scale, FEW_VECTOR x, FEW_VECTOR r,
                           FEW_VECTOR *result)
{
    float from[FEW_LANES], to[FEW_LANES];
    uint32_t words[FEW_LANES];
    memcpy(from, &x, sizeof from);
    memcpy(words, &r, sizeof words);
    memcpy(to, result, sizeof to);
    for (uint32_t l = 0; l < FEW_LANES; l++) {
        if (!(open >> l & 1))
            continue;
        const uint32_t u = core_bits32(from[l] == from[l] ? from[l] / scale : from[l]);
        to[l] = core_value32(core_codebook_value32(&s->table, u, core_codebook_index32(&s->table, u, words[l])));
        to[l] = to[l] == to[l] ? to[l] * scale : to[l];
    }
    memcpy(result, to, sizeof to);
}

/* Where an element stands, whether random bits take it up, and bits of those that binary32 leaves open. */
typedef struct few_drawn {
    few_place place;
    few_mask up;
    uint32_t open;
} few_drawn;

FPEMU_FN few_drawn few_draw(const core_search32 *s, int is_even, int alone, const few_block *b, const few_random *f,
                            FEW_VECTOR v, FEW_VECTOR words)
{
    const FEW_VECTOR within = alone ? few_within(v, s->few.reach) : v;
    const few_place k = few_find(is_even, b, within);
    const FEW_VECTOR t = alone ? within : few_times(within, FEW_SET(f->inverse));
    const FEW_VECTOR more = few_minus(t, few_pick(f->values, k));
    const FEW_VECTOR fraction = few_times(more, few_pick(f->inverses, k));
    const FEW_VECTOR left = few_minus(few_left(words), FEW_SET(f->half)), apart = few_minus(fraction, left);
    const uint32_t open = few_bits(few_above(few_magnitude(apart), FEW_SET(f->band))) ^ ((1u << FEW_LANES) - 1);
    const few_drawn d = {k, few_above(fraction, left), open | (alone ? few_bits(few_nans(v)) : 0)};
    return d;
}

FPEMU_FN FEW_VECTOR few_random_value(const core_search32 *s, int is_even, int alone, const few_block *b,
                                     const few_random *f, float scale, FEW_VECTOR v, FEW_VECTOR words)
{
    const few_drawn d = few_draw(s, is_even, alone, b, f, v, words);
    FEW_VECTOR result = few_choose(d.up, few_pick(f->high, d.place), few_pick(f->low, d.place));
    if (d.open)
        few_decide(s, d.open, scale, v, words, &result);
    return result;
}

FPEMU_FN void few_random_step(const core_search32 *s, int is_even, int alone, const few_block *b, const few_random *f,
                              float scale, const void *x, const void *r, void *y)
{
    few_write(y, few_random_value(s, is_even, alone, b, f, scale, few_read(x), few_read(r)));
}

FPEMU_FN void few_random_elements(const core_search32 *s, int is_even, int alone, const few_block *block,
                                  const few_random *random, float scale, size_t n, const char *x, const uint32_t *r,
                                  char *y)
{
    const few_block b = *block;
    const few_random f = *random;
    const size_t whole = n - n % FEW_LANES;
    for (size_t i = 0; i < whole; i += FEW_LANES)
        few_random_step(s, is_even, alone, &b, &f, scale, x + i * sizeof(float), r + i, y + i * sizeof(float));
    if (whole < n) {
        float rest[FEW_LANES] = {0};
        uint32_t words[FEW_LANES] = {0};
        memcpy(rest, x + whole * sizeof *rest, (n - whole) * sizeof *rest);
        memcpy(words, r + whole, (n - whole) * sizeof *words);
        few_random_step(s, is_even, alone, &b, &f, scale, rest, words, rest);
        memcpy(y + whole * sizeof *rest, rest, (n - whole) * sizeof *rest);
    }
}

/* For the scale 1 it is that of no scale too. */
FPEMU_FN few_random few_random_begin(const core_search32 *s, float scale)
{
    const core_few *c = &s->few;
    const double half = s->table.mode == FPEMU_MODE_SR ? 0 : 0.5 / (double)(UINT64_C(1) << s->table.n);
    const few_random f = {few_load(c->values),
                          few_load(c->values + 1),
                          few_load(c->inverses),
                          few_load_times(c->values, scale),
                          few_load_times(c->values + 1, scale),
                          1 / scale,
                          (float)half,
                          c->band};
    return f;
}

#define FEW_RANDOM(alone, ...)                                                                                         \
    if (s->few.is_even)                                                                                                \
        few_random_elements(s, 1, alone, __VA_ARGS__);                                                                 \
    else                                                                                                               \
        few_random_elements(s, 0, alone, __VA_ARGS__)

static void few_codebook_random(const core_search32 *s, size_t n, const void *t, const uint32_t *r, void *y)
{
    if (!core_few_draws(s)) {
        loop_codebook_random32(s, n, t, r, y);
        return;
    }
    const few_block alone = FEW_ALONE(&s->few);
    const few_random f = few_random_begin(s, 1);
    FEW_RANDOM(1, &alone, &f, 1, n, (const char *)t, r, (char *)y);
}

/* A block by its quotients. */
static void few_quotient_random(const core_search32 *s, size_t length, float down, float scale, const char *x,
                                const uint32_t *r, char *y)
{
    _Alignas(LINE) float tile[256], rounded[256];
    for (size_t done = 0, m; done < length; done += m) {
        m = length - done < 256 ? length - done : 256;
        loop_runs_t32(1, 0, m, 1, &down, x + done * sizeof *tile, tile);
        few_codebook_random(s, m, tile, r + done, rounded);
        loop_runs_y32(m, 1, &scale, 1, rounded, y + done * sizeof *tile);
    }
}

static void few_codebook_random_runs(const core_search32 *s, size_t length, size_t count, const float *down,
                                     const float *scales, const void *x, const uint32_t *r, void *y)
{
    const float unit = s->few.usable ? 15 / s->few.reach : 0;
    for (size_t b = 0; b < count; b++) {
        const char *in = (const char *)x + b * length * sizeof(float);
        char *out = (char *)y + b * length * sizeof(float);
        if (!core_few_draws(s)) {
            loop_codebook_random_runs32(s, length, 1, down + b, scales + b, in, r + b * length, out);
            continue;
        }
        if (!core_few_holds(scales[b])) {
            few_quotient_random(s, length, down[b], scales[b], in, r + b * length, out);
            continue;
        }
        const few_block block = few_begin(&s->few, scales[b], unit / scales[b]);
        const few_random f = few_random_begin(s, scales[b]);
        FEW_RANDOM(0, &block, &f, scales[b], length, in, r + b * length, out);
    }
}
#undef FEW_RANDOM

/* Values and thresholds to nearest, as core_search_thresholds has them; 0 where these do not tell. */
FPEMU_FN int few_middles(const core_codebook *c, float thresholds[16], float values[17])
{
    const int last = (int)c->length - 1;
    int same = 0;
    if (last == 15)
        memcpy(values, c->values, 16 * sizeof *values);
    for (int k = 0; k < 16 && last < 15; k++)
        values[k] = c->values[k < last ? k : last];
    values[16] = values[15];
#pragma omp simd reduction(| : same)
    for (int k = 0; k < 16; k++) {
        const float middle = (float)(((double)values[k] + (double)values[k + 1]) / 2);
        same |= (k < last) & !(middle < values[k + 1]);
        thresholds[k] = k < last ? middle : (float)INFINITY;
    }
    return !same;
}

#ifdef __AVX512F__
/* Up to 256 values, between infinities: sixteen by sixteen they need no look-up. */
typedef struct few_many {
    __m512 pivots; /* the first of each sixteen, the lowest being below every number */
    _Alignas(LINE) float around[16 + 256 + 16];
} few_many;

FPEMU_FN void few_many_begin(few_many *m, const core_codebook *c)
{
    const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i sixteenths = _mm512_slli_epi32(lanes, 4), length = _mm512_set1_epi32((int)c->length);
    const __m512 end = _mm512_set1_ps(INFINITY), start = _mm512_set1_ps(-INFINITY);
    m->pivots = _mm512_mask_i32gather_ps(_mm512_mask_mov_ps(end, 1, start),
                                         _mm512_mask_cmplt_epi32_mask(0xfffe, sixteenths, length), sixteenths,
                                         c->values, sizeof *c->values);
    _mm512_store_ps(m->around, start);
    for (uint32_t k = 0; k < 256 + 16; k += 16) {
        const uint32_t left = c->length > k ? c->length - k : 0;
        const __mmask16 some = (__mmask16)(left < 16 ? (1u << left) - 1 : 0xffff);
        _mm512_store_ps(m->around + 16 + k, _mm512_mask_loadu_ps(end, some, c->values + (left ? k : 0)));
    }
}

FPEMU_FN uint32_t few_count_up_to(__m512 ascending, __m512 t)
{
    return (uint32_t)__builtin_popcount(_mm512_cmp_ps_mask(ascending, t, _CMP_LE_OQ));
}

/* The values, or infinities, between which n numbers lie: below is not above its number. */
FPEMU_FN void few_many_between(const few_many *m, size_t n, const float *t, float *below, float *above)
{
    for (size_t i = 0; i < n; i++) {
        const __m512 x = _mm512_set1_ps(t[i]);
        const float *const sixteen = m->around + 16 * few_count_up_to(m->pivots, x);
        const float *const next = sixteen + few_count_up_to(_mm512_load_ps(sixteen), x);
        below[i] = next[-1];
        above[i] = *next;
    }
}

/* The middles that core_search_thresholds has between two values. */
FPEMU_FN __m256 few_middle(__m256 a, __m256 b)
{
    return _mm512_cvtpd_ps(_mm512_mul_pd(_mm512_add_pd(_mm512_cvtps_pd(a), _mm512_cvtps_pd(b)), _mm512_set1_pd(0.5)));
}

/* few_block_nearest by up to 256 values. */
static int few_block_many(const core_codebook *c, const core_scale32 *scale, size_t n, const float *x, float *y)
{
    const __m512 end = _mm512_set1_ps(FLT_MAX), start = _mm512_set1_ps(-FLT_MAX), infinity = _mm512_set1_ps(INFINITY);
    const __m512 down = _mm512_set1_ps(scale->down), s = _mm512_set1_ps(scale->s), d = _mm512_set1_ps(scale->d);
    _Alignas(LINE) float t[BLOCK_FEW_ELEMENTS], below[BLOCK_FEW_ELEMENTS], above[BLOCK_FEW_ELEMENTS];
    const size_t whole = (n + 15) / 16 * 16;
    few_many m;
    __mmask16 same = 0;
    few_many_begin(&m, c);
    for (size_t i = 0; i < n; i += 16) {
        const __m512 v = _mm512_maskz_loadu_ps((__mmask16)(n - i < 16 ? (1u << (n - i)) - 1 : 0xffff), x + i);
        const __m512 wide = scale->kind == CORE_SCALE_DIVIDE ? _mm512_div_ps(v, down) : _mm512_mul_ps(v, down);
        _mm512_store_ps(t + i, _mm512_max_ps(_mm512_min_ps(wide, end), start));
    }
    few_many_between(&m, whole, t, below, above);
    for (size_t i = 0; i < n; i += 16) {
        const __m512 a = _mm512_load_ps(below + i), b = _mm512_load_ps(above + i);
        const __m512 middle =
            _mm512_insertf32x8(_mm512_castps256_ps512(few_middle(_mm512_castps512_ps256(a), _mm512_castps512_ps256(b))),
                               few_middle(_mm512_extractf32x8_ps(a, 1), _mm512_extractf32x8_ps(b, 1)), 1);
        same |= _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(b, infinity, _CMP_LT_OQ), middle, b, _CMP_NLT_UQ);
        const __m512 nearest = _mm512_mask_mov_ps(a, _mm512_cmp_ps_mask(_mm512_load_ps(t + i), middle, _CMP_GT_OQ), b);
        const __m512 to = _mm512_mul_ps(_mm512_mul_ps(nearest, s), d);
        _mm512_store_ps(below + i, _mm512_max_ps(_mm512_min_ps(to, end), start));
    }
    if (!same)
        memcpy(y, below, n * sizeof *y);
    return !same;
}
#endif

/* A block of finite elements by their quotients: where they are few, they take less time than what few_begin makes. */
static int few_block_nearest(const core_codebook *c, const core_scale32 *scale, size_t n, const float *x, float *y)
{
    float thresholds[16], values[17];
#ifdef __AVX512F__
    if (c->length > 16)
        return few_block_many(c, scale, n, x, y);
#endif
    if (!few_middles(c, thresholds, values))
        return 0;
#ifdef __AVX512F__
    const few_block b = {few_read(thresholds), few_read(values), FEW_SET(1), {_mm512_setzero_si512()}};
#else
    const few_block b = few_order(few_read(thresholds), few_read(thresholds + 8), values, 1);
#endif
    const FEW_VECTOR down = FEW_SET(scale->down), s = FEW_SET(scale->s), d = FEW_SET(scale->d), end = FEW_SET(FLT_MAX);
    for (size_t i = 0; i < n; i += FEW_LANES) {
        float rest[FEW_LANES] = {0};
        const size_t m = n - i < FEW_LANES ? n - i : FEW_LANES;
        if (m < FEW_LANES)
            memcpy(rest, x + i, m * sizeof *x);
        const FEW_VECTOR v = few_read(m < FEW_LANES ? rest : x + i);
        const FEW_VECTOR t = scale->kind == CORE_SCALE_DIVIDE ? few_by(v, down) : few_times(v, down);
        const FEW_VECTOR wide = few_times(few_times(few_nearest(0, &b, t), s), d);
        const FEW_VECTOR to = few_at_most(few_at_least(wide, few_minus(FEW_SET(0), end)), end);
        few_write(m < FEW_LANES ? rest : y + i, to);
        if (m < FEW_LANES)
            memcpy(y + i, rest, m * sizeof *y);
    }
    return 1;
}

/* Without the buckets where no loop above needs them. */
static void few_codebook_begin(core_search32 *s, const core_codebook *c, int only_values)
{
    if (c->length > 16) {
        loop_codebook_begin32(s, c, only_values);
        return;
    }
    core_search_begin32(s, c);
    if (s->usable)
        core_few_make(&s->few, s->table.length, s->thresholds, s->values);
    if (!(s->few.usable && s->steps) && !core_few_draws(s))
        core_search_make32(s);
}
