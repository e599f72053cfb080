/* narrow.inc.c - binary16 and bfloat16 words to binary32 and back; included by variant.inc.c. The rules are those of
 * core/narrow.h; the processor's own conversions give the same bits (tests/against_judges/narrow.c). */

#if defined(__AVX512F__)
#define NARROW_LANES 16
static inline void widen_f16_vector(const uint16_t *x, float *y)
{
    _mm512_storeu_ps(y, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)x)));
}

/* Finite numbers stop at the largest, infinities and NaN pass. */
static inline void narrow_f16_vector(const float *x, uint16_t *y)
{
    const __m512 v = _mm512_loadu_ps(x), most = _mm512_set1_ps(65504.0f);
    const __m512i a = _mm512_and_si512(_mm512_castps_si512(v), _mm512_set1_epi32(0x7fffffff));
    const __mmask16 finite = _mm512_cmplt_epi32_mask(a, _mm512_set1_epi32((int)CORE_INF32));
    const __m512 low = _mm512_mask_min_ps(v, finite, v, most);
    const __m512 t = _mm512_mask_max_ps(low, finite, low, _mm512_set1_ps(-65504.0f));
    _mm256_storeu_si256((__m256i *)(void *)y, _mm512_cvtps_ph(t, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#elif defined(__F16C__) && defined(__AVX2__)
#define NARROW_LANES 8
static inline void widen_f16_vector(const uint16_t *x, float *y)
{
    _mm256_storeu_ps(y, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)x)));
}

static inline void narrow_f16_vector(const float *x, uint16_t *y)
{
    const __m256 v = _mm256_loadu_ps(x), most = _mm256_set1_ps(65504.0f);
    const __m256i a = _mm256_and_si256(_mm256_castps_si256(v), _mm256_set1_epi32(0x7fffffff));
    const __m256i special = _mm256_cmpgt_epi32(a, _mm256_set1_epi32((int)CORE_INF32 - 1));
    const __m256 finite = _mm256_max_ps(_mm256_min_ps(v, most), _mm256_set1_ps(-65504.0f));
    const __m256 t = _mm256_blendv_ps(finite, v, _mm256_castsi256_ps(special));
    _mm_storeu_si128((__m128i *)(void *)y, _mm256_cvtps_ph(t, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#endif

/* Elements from i on, one at a time. */
#define NARROW_REST(from, to, in, out)                                                                                 \
    SIMD for (size_t e = i; e < n; e++)                                                                                \
    {                                                                                                                  \
        in u;                                                                                                          \
        memcpy(&u, x + e, sizeof u);                                                                                   \
        const out v = (out)core_##from##_##to(u);                                                                      \
        memcpy(y + e, &v, sizeof v);                                                                                   \
    }

static void widen_f16(size_t n, const uint16_t *x, float *y)
{
    size_t i = 0;
#ifdef NARROW_LANES
    for (; i + NARROW_LANES <= n; i += NARROW_LANES)
        widen_f16_vector(x + i, y + i);
#endif
    NARROW_REST(from, f16, uint16_t, uint32_t)
}

static void narrow_f16(size_t n, const float *x, uint16_t *y)
{
    size_t i = 0;
#ifdef NARROW_LANES
    for (; i + NARROW_LANES <= n; i += NARROW_LANES)
        narrow_f16_vector(x + i, y + i);
#endif
    NARROW_REST(to, f16, uint32_t, uint16_t)
}

static void widen_bf16(size_t n, const uint16_t *x, float *y)
{
    const size_t i = 0;
    NARROW_REST(from, bf16, uint16_t, uint32_t)
}

static void narrow_bf16(size_t n, const float *x, uint16_t *y)
{
    const size_t i = 0;
    NARROW_REST(to, bf16, uint32_t, uint16_t)
}
#undef NARROW_REST
