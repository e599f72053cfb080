/* SPDX-License-Identifier: BSD-2-Clause */
/* codebook_few_f64.inc.c - codebook_few.inc.c for numbers of binary64: rounded to binary32 they are looked up among
 * rounded thresholds, and the one threshold that this leaves open is held against the number itself. Included by
 * variant.inc.c. */

FPEMU_SLOW void few_wide_alone(const core_search64 *s, uint32_t n, const char *x, char *y)
{
    for (uint32_t i = 0; i < n; i++) {
        double t;
        memcpy(&t, x + i * sizeof t, sizeof t);
        const double v = t != t ? core_value64(s->nan[core_bits64(t) >> 63]) : s->values[core_search_count64(s, t)];
        memcpy(y + i * sizeof v, &v, sizeof v);
    }
}

#ifdef __AVX512F__
typedef struct few_wide {
    __m512d low, high; /* thresholds */
} few_wide;

FPEMU_FN few_wide few_wide_begin(const core_search64 *s)
{
    const few_wide w = {_mm512_loadu_pd(s->thresholds), _mm512_loadu_pd(s->thresholds + 8)};
    return w;
}

/* 16 numbers; whether one of them is a NaN. */
FPEMU_FN int few_wide_step(const core_search64 *s, int is_even, const few_block *b, const few_wide *w, const char *x,
                           char *y)
{
    const __m512d x0 = _mm512_loadu_pd(x), x1 = _mm512_loadu_pd(x + 64);
    const __m512 near = _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(x0)), _mm512_cvtpd_ps(x1), 1);
    __m512i k = few_find(is_even, b, few_within(near, s->few.reach));
    const __m512i k0 = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(k));
    const __m512i k1 = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(k, 1));
    const __mmask8 m0 = _mm512_cmp_pd_mask(x0, _mm512_permutex2var_pd(w->low, k0, w->high), _CMP_GT_OQ);
    const __mmask8 m1 = _mm512_cmp_pd_mask(x1, _mm512_permutex2var_pd(w->low, k1, w->high), _CMP_GT_OQ);
    k = _mm512_mask_add_epi32(k, (__mmask16)(m0 | m1 << 8), k, _mm512_set1_epi32(1));
    const __m512 v = few_value(b, k);
    _mm512_storeu_pd(y, _mm512_cvtps_pd(_mm512_castps512_ps256(v)));
    _mm512_storeu_pd(y + 64, _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)));
    return few_nans(near) != 0;
}
#else
typedef struct few_wide {
    few_table thresholds;
} few_wide;

FPEMU_FN few_wide few_wide_begin(const core_search64 *s)
{
    const few_wide w = {few_load(s->few.thresholds)};
    return w;
}

/* 8 numbers; whether one of them is a NaN or at a threshold. */
FPEMU_FN int few_wide_step(const core_search64 *s, int is_even, const few_block *b, const few_wide *w, const char *x,
                           char *y)
{
    (void)s;
    __m256d x0, x1;
    memcpy(&x0, x, sizeof x0);
    memcpy(&x1, x + 32, sizeof x1);
    const __m256 near = _mm256_set_m128(_mm256_cvtpd_ps(x1), _mm256_cvtpd_ps(x0));
    const few_place k = few_find(is_even, b, near);
    const __m256 v = few_value(b, k), at = _mm256_cmp_ps(near, few_pick(w->thresholds, k), _CMP_EQ_UQ);
    const __m256d y0 = _mm256_cvtps_pd(_mm256_castps256_ps128(v)), y1 = _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1));
    memcpy(y, &y0, sizeof y0);
    memcpy(y + 32, &y1, sizeof y1);
    return _mm256_movemask_ps(at) != 0;
}
#endif

FPEMU_FN void few_wide_elements(const core_search64 *s, int is_even, const few_block *block, size_t n, const char *x,
                                char *y)
{
    const few_block b = *block;
    const few_wide w = few_wide_begin(s);
    const size_t whole = n - n % FEW_LANES;
    for (size_t i = 0; i < whole; i += FEW_LANES) {
        double beside[FEW_LANES]; /* y may be x */
        const char *const in = x + i * sizeof(double);
        if (few_wide_step(s, is_even, &b, &w, in, (char *)beside))
            few_wide_alone(s, FEW_LANES, in, (char *)beside);
        memcpy(y + i * sizeof(double), beside, sizeof beside);
    }
    if (whole < n)
        few_wide_alone(s, (uint32_t)(n - whole), x + whole * sizeof(double), y + whole * sizeof(double));
}

static void few_wide_codebook(const core_search64 *s, size_t n, const void *t, void *y)
{
    if (!s->few.usable) {
        loop_codebook64(s, n, t, y);
        return;
    }
    const few_block alone = FEW_ALONE(&s->few);
    if (s->few.is_even)
        few_wide_elements(s, 1, &alone, n, (const char *)t, (char *)y);
    else
        few_wide_elements(s, 0, &alone, n, (const char *)t, (char *)y);
}

static void few_wide_codebook_runs(const core_search64 *s, size_t length, size_t count, const double *down,
                                   const double *scales, const void *x, void *y)
{
    _Alignas(LINE) double tile[256];
    if (!s->few.usable) {
        loop_codebook_runs64(s, length, count, down, scales, x, y);
        return;
    }
    for (size_t b = 0; b < count; b++) {
        for (size_t done = 0, m; done < length; done += m) {
            const size_t at = (b * length + done) * sizeof(double);
            m = length - done < 256 ? length - done : 256;
            loop_runs_t64(1, 0, m, 1, down + b, (const char *)x + at, tile);
            few_wide_codebook(s, m, tile, tile);
            loop_runs_y64(m, 1, scales + b, 1, tile, (char *)y + at);
        }
    }
}

static void few_wide_codebook_begin(core_search64 *s, const core_codebook *c, int only_values)
{
    loop_codebook_begin64(s, c, only_values);
    if (s->usable && c->length <= 16)
        core_few_make_wide(&s->few, s);
}
