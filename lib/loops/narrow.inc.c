/* SPDX-License-Identifier: BSD-2-Clause */
/* narrow.inc.c - arrays of binary16 and bfloat16 words: to binary32 and back, and measured as they are; included by
 * variant.inc.c. The rules are those of core/narrow.h; the processor's own conversions give the same bits
 * (tests/against_judges/narrow.c). */

#if defined(__AVX512F__)
#include "narrow_vectors.h"
#define NARROW_LANES 16
#define NARROW_VECTOR __m512
static inline __m512 widen_f16_vector(const uint16_t *x)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)x));
}
#elif defined(__F16C__) && defined(__AVX2__)
#define NARROW_LANES 8
#define NARROW_VECTOR __m256
static inline __m256 widen_f16_vector(const uint16_t *x)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)x));
}

static inline void narrow_f16_vector(__m256 v, uint16_t *y)
{
    _mm_storeu_si128((__m128i *)(void *)y, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

static inline __m256 stop_f16_vector(__m256 v)
{
    const __m256i a = _mm256_and_si256(_mm256_castps_si256(v), _mm256_set1_epi32(0x7fffffff));
    const __m256i special = _mm256_cmpgt_epi32(a, _mm256_set1_epi32((int)CORE_INF32 - 1));
    const __m256 low = _mm256_min_ps(v, _mm256_set1_ps(65504.0f));
    return _mm256_blendv_ps(_mm256_max_ps(low, _mm256_set1_ps(-65504.0f)), v, _mm256_castsi256_ps(special));
}
#endif

/* Elements from i on, one at a time. */
#define NARROW_REST(rule, in, out)                                                                                     \
    SIMD for (size_t e = i; e < n; e++) {                                                                              \
        in u;                                                                                                          \
        memcpy(&u, x + e, sizeof u);                                                                                   \
        const out v = (out)core_##rule(u);                                                                             \
        memcpy(y + e, &v, sizeof v);                                                                                   \
    }

/* As loop_extremes, of at most 65535 words of a type whose infinity is this; magnitudes are the type's bits. */
FPEMU_FN void narrow_extremes(uint16_t infinity, size_t n, const uint16_t *x, block_extremes *e)
{
    uint16_t amax = 0, high = 0, low = 0, zeros = 0, nonfinite = 0;
#pragma omp simd reduction(max : amax, high, low) reduction(+ : zeros, nonfinite)
    for (size_t i = 0; i < n; i++) {
        const uint16_t u = x[i], a = (uint16_t)(u & 0x7fff), up = u == a ? a : 0, down = u == a ? 0 : a;
        amax = a > amax ? a : amax;
        high = up > high ? up : high;
        low = down > low ? down : low;
        zeros = (uint16_t)(zeros + (a == 0));
        nonfinite = (uint16_t)(nonfinite + (a >= infinity));
    }
    e->amax = amax;
    e->high = high;
    e->low = low;
    e->zeros = zeros;
    e->nonfinite = nonfinite;
}

static void extremes_f16(size_t n, const uint16_t *x, block_extremes *e)
{
    narrow_extremes(0x7c00, n, x, e);
    e->amax = core_from_f16((uint16_t)e->amax);
    e->high = core_from_f16((uint16_t)e->high);
    e->low = core_from_f16((uint16_t)e->low);
}

static void extremes_bf16(size_t n, const uint16_t *x, block_extremes *e)
{
    narrow_extremes(0x7f80, n, x, e);
    e->amax = core_from_bf16((uint16_t)e->amax);
    e->high = core_from_bf16((uint16_t)e->high);
    e->low = core_from_bf16((uint16_t)e->low);
}

static void widen_f16(size_t n, const uint16_t *x, float *y)
{
    size_t i = 0;
#ifdef NARROW_LANES
    for (; i + NARROW_LANES <= n; i += NARROW_LANES) {
        const NARROW_VECTOR v = widen_f16_vector(x + i);
        memcpy(y + i, &v, sizeof v);
    }
#endif
    NARROW_REST(from_f16, uint16_t, uint32_t)
}

static void narrow_f16(size_t n, const float *x, uint16_t *y)
{
    size_t i = 0;
#if defined(__AVX512F__)
    for (; i + 32 <= n; i += 32)
        _mm512_storeu_si512(y + i, narrow_f16_words(_mm512_loadu_ps(x + i), _mm512_loadu_ps(x + i + 16)));
    if (i + 16 <= n) {
        const __m512i words = narrow_f16_words(_mm512_loadu_ps(x + i), _mm512_setzero_ps());
        _mm256_storeu_si256((__m256i *)(void *)(y + i), _mm512_castsi512_si256(words));
        i += 16;
    }
#elif defined(NARROW_LANES)
    for (; i + NARROW_LANES <= n; i += NARROW_LANES) {
        NARROW_VECTOR v;
        memcpy(&v, x + i, sizeof v);
        narrow_f16_vector(stop_f16_vector(v), y + i);
    }
#endif
    NARROW_REST(to_f16, uint32_t, uint16_t)
}

static void widen_bf16(size_t n, const uint16_t *x, float *y)
{
    const size_t i = 0;
    NARROW_REST(from_bf16, uint16_t, uint32_t)
}

static void narrow_bf16(size_t n, const float *x, uint16_t *y)
{
    size_t i = 0;
#ifdef __AVX512F__
    for (; i + 32 <= n; i += 32)
        _mm512_storeu_si512(y + i, narrow_bf16_words(_mm512_loadu_si512(x + i), _mm512_loadu_si512(x + i + 16)));
#endif
    NARROW_REST(to_bf16, uint32_t, uint16_t)
}

/* The same of numbers of the type. */
static void exact_f16(size_t n, const float *x, uint16_t *y)
{
    size_t i = 0;
#if defined(__AVX512F__)
    for (; i + 32 <= n; i += 32)
        _mm512_storeu_si512(
            y + i, narrow_f16_pair(_mm512_loadu_ps(x + i), _mm512_loadu_ps(x + i + 16), _MM_FROUND_TO_NEAREST_INT));
    for (; i + 16 <= n; i += 16)
        _mm256_storeu_si256((__m256i *)(void *)(y + i),
                            narrow_f16_side(_mm512_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
#elif defined(NARROW_LANES)
    for (; i + NARROW_LANES <= n; i += NARROW_LANES) {
        NARROW_VECTOR v;
        memcpy(&v, x + i, sizeof v);
        narrow_f16_vector(v, y + i);
    }
#endif
    NARROW_REST(to_f16, uint32_t, uint16_t)
}

static void exact_bf16(size_t n, const float *x, uint16_t *y)
{
    size_t i = 0;
#ifdef __AVX512F__
    for (; i + 32 <= n; i += 32)
        _mm512_storeu_si512(y + i, narrow_upper(_mm512_loadu_si512(x + i), _mm512_loadu_si512(x + i + 16)));
#endif
    SIMD for (size_t e = i; e < n; e++) {
        uint32_t u;
        memcpy(&u, x + e, sizeof u);
        y[e] = (uint16_t)(u >> 16);
    }
}
#undef NARROW_REST
