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

FPEMU_FN few_block few_begin(const core_few *f, float scale, float per_place)
{
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

/* Where x stands among the thresholds: by its place, or by halves. */
FPEMU_FN __m512 few_vector(int is_even, const few_block *b, __m512 x)
{
    if (is_even) {
        const __m512 sum = _mm512_fmadd_ps(x, b->per_place, _mm512_set1_ps(0x1.8p23f + 16)); /* 5 bits: the place */
        __m512i k = _mm512_permutex2var_epi32(b->even[0], _mm512_castps_si512(sum), b->even[1]);
        k = few_more(k, x, _mm512_permutexvar_ps(k, b->thresholds), 1);
        return _mm512_permutexvar_ps(k, b->values);
    }
    const __m512i t = _mm512_castps_si512(b->thresholds);
    const __m512 t3 = _mm512_castsi512_ps(_mm512_alignr_epi32(t, t, 3));
    const __m512 t1 = _mm512_castsi512_ps(_mm512_alignr_epi32(t, t, 1));
    __m512i k = few_more(_mm512_setzero_si512(), x, _mm512_permutexvar_ps(_mm512_set1_epi32(7), b->thresholds), 8);
    k = few_more(k, x, _mm512_permutexvar_ps(k, t3), 4);
    k = few_more(k, x, _mm512_permutexvar_ps(k, t1), 2);
    k = few_more(k, x, _mm512_permutexvar_ps(k, b->thresholds), 1);
    return _mm512_permutexvar_ps(k, b->values);
}

FPEMU_FN __m512 few_within(__m512 x, float reach)
{
    return _mm512_min_ps(_mm512_max_ps(x, _mm512_set1_ps(-reach)), _mm512_set1_ps(reach));
}

FPEMU_FN __m512 few_nan(const core_search32 *s, __m512 x, __m512 y)
{
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), below = _mm512_movepi32_mask(_mm512_castps_si512(x));
    y = _mm512_mask_mov_ps(y, nan, _mm512_castsi512_ps(_mm512_set1_epi32((int)s->nan[0])));
    return _mm512_mask_mov_ps(y, nan & below, _mm512_castsi512_ps(_mm512_set1_epi32((int)s->nan[1])));
}
#define FEW_VECTOR __m512
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
    __m256 fourths, halves;          /* those that halve the fourths, and what is left, in the order of indices */
    __m256 low, high;                /* values */
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

FPEMU_FN few_block few_order(__m256 low, __m256 high, const float *values, float scale)
{
    const __m256i first = _mm256_set_epi32(7, 5, 3, 1, 6, 4, 2, 0);
    const __m256 a = _mm256_permutevar8x32_ps(low, first); /* 0 2 4 6 1 3 5 7 */
    const __m256 b = _mm256_permutevar8x32_ps(high, first);
    const __m256 odd = _mm256_permute2f128_ps(a, b, 0x31); /* 1 3 5 7 9 11 13 15 */
    const __m256 s = _mm256_set1_ps(scale);
    const few_block r = {_mm256_permutevar8x32_ps(low, _mm256_set1_epi32(7)),
                         _mm256_permutevar8x32_ps(low, _mm256_set1_epi32(3)),
                         _mm256_permutevar8x32_ps(high, _mm256_set1_epi32(3)),
                         _mm256_permutevar8x32_ps(odd, _mm256_set_epi32(6, 4, 2, 0, 6, 4, 2, 0)),
                         _mm256_permute2f128_ps(a, b, 0x20),
                         _mm256_mul_ps(_mm256_loadu_ps(values), s),
                         _mm256_mul_ps(_mm256_loadu_ps(values + 8), s)};
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

FPEMU_FN __m256 few_vector(int is_even, const few_block *b, __m256 x)
{
    (void)is_even;
    const __m256 m1 = _mm256_cmp_ps(x, b->seventh, _CMP_GT_OQ);
    const __m256i k1 = _mm256_castps_si256(m1); /* -1 each */
    const __m256 m2 = _mm256_cmp_ps(x, _mm256_blendv_ps(b->third, b->eleventh, m1), _CMP_GT_OQ);
    const __m256i k2 = _mm256_add_epi32(_mm256_add_epi32(k1, k1), _mm256_castps_si256(m2)); /* -index */
    const __m256i i2 = _mm256_sub_epi32(_mm256_setzero_si256(), k2);
    const __m256 m3 = _mm256_cmp_ps(x, _mm256_permutevar8x32_ps(b->fourths, i2), _CMP_GT_OQ);
    const __m256i i3 = _mm256_sub_epi32(_mm256_add_epi32(i2, i2), _mm256_castps_si256(m3));
    const __m256 m4 = _mm256_cmp_ps(x, _mm256_permutevar8x32_ps(b->halves, i3), _CMP_GT_OQ);
    const __m256i i4 = _mm256_sub_epi32(_mm256_add_epi32(i3, i3), _mm256_castps_si256(m4));
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(b->low, i4), _mm256_permutevar8x32_ps(b->high, i4), m1);
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
#define FEW_ALONE(f) few_order(_mm256_loadu_ps((f)->thresholds), _mm256_loadu_ps((f)->thresholds + 8), (f)->values, 1)
#endif

/* One vector of a block; alone: of none, where NaN and any number may come. */
FPEMU_FN void few_step(const core_search32 *s, int is_even, int alone, const few_block *b, const void *x, void *y)
{
    FEW_VECTOR v, result;
    memcpy(&v, x, sizeof v);
    result = few_vector(is_even, b, alone ? few_within(v, s->few.reach) : v);
    result = alone ? few_nan(s, v, result) : result;
    memcpy(y, &result, sizeof result);
}

FPEMU_FN void few_elements(const core_search32 *s, int is_even, int alone, const few_block *block, size_t n,
                           const char *x, char *y)
{
    const few_block b = *block;
    const size_t whole = n - n % FEW_LANES;
    for (size_t i = 0; i < whole; i += FEW_LANES)
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

static void few_codebook_runs(const core_search32 *s, size_t length, size_t count, const float *down,
                              const float *scales, const void *x, void *y)
{
    float per_place[FAST_BLOCKS];
    const float unit = s->few.usable ? 15 / s->few.reach : 0;
    for (size_t b = 0; b < count; b++) {
        if (b % FAST_BLOCKS == 0) { /* of as many as follow, by vectors */
            const size_t next = count - b < FAST_BLOCKS ? count - b : FAST_BLOCKS;
            SIMD for (size_t i = 0; i < next; i++) per_place[i] = unit / scales[b + i];
        }
        const char *in = (const char *)x + b * length * sizeof(float);
        char *out = (char *)y + b * length * sizeof(float);
        if (!s->few.usable || !core_few_holds(scales[b])) {
            loop_codebook_runs32(s, length, 1, down + b, scales + b, in, out);
            continue;
        }
        const few_block block = few_begin(&s->few, scales[b], per_place[b % FAST_BLOCKS]);
        if (s->few.is_even)
            few_elements(s, 1, 0, &block, length, in, out);
        else
            few_elements(s, 0, 0, &block, length, in, out);
    }
}

static void few_codebook_begin(core_search32 *s, const core_codebook *c, int only_values)
{
    loop_codebook_begin32(s, c, only_values);
    if (s->usable && c->mode == FPEMU_MODE_RNE)
        core_few_make(&s->few, s);
}
