/* SPDX-License-Identifier: BSD-2-Clause */
/* binary16.inc.c - binary16 to nearest by the processor's own conversions, there and back; included by variant.inc.c
 * where there are such. The same bits as core_element_pass under the plan that core_is_binary16 knows:
 * tests/against_judges compares all floats. */

#if defined(__AVX512F__)
#define HALF_LANES 16
static inline void half_vector(const float *x, uint32_t nan, float *y)
{
    const __m512 v = _mm512_loadu_ps(x);
    const __m512 rounded = _mm512_cvtph_ps(_mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    const __m512 one = _mm512_castsi512_ps(_mm512_set1_epi32((int)nan));
    _mm512_storeu_ps(y, _mm512_mask_mov_ps(rounded, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), one));
}
#else
#define HALF_LANES 8
static inline void half_vector(const float *x, uint32_t nan, float *y)
{
    const __m256 v = _mm256_loadu_ps(x);
    const __m256 rounded = _mm256_cvtph_ps(_mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    const __m256 one = _mm256_castsi256_ps(_mm256_set1_epi32((int)nan));
    _mm256_storeu_ps(y, _mm256_blendv_ps(rounded, one, _mm256_cmp_ps(v, v, _CMP_UNORD_Q)));
}
#endif

static void half_nearest(const core_plan32 *p, size_t n, const void *x, const uint32_t *r, void *y)
{
    const float *in = (const float *)x;
    float *out = (float *)y, rest[HALF_LANES] = {0};
    const uint32_t nan = p->nan[0];
    const size_t whole = n - n % HALF_LANES;
    (void)r;
    for (size_t i = 0; i < whole; i += HALF_LANES)
        half_vector(in + i, nan, out + i);
    if (whole < n) {
        memcpy(rest, in + whole, (n - whole) * sizeof *rest);
        half_vector(rest, nan, rest);
        memcpy(out + whole, rest, (n - whole) * sizeof *rest);
    }
}
