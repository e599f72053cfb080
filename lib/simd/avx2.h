/* SPDX-License-Identifier: BSD-2-Clause */
/* avx2.h - the words of simd.h for AVX2 with F16C (x86-64-v3); avx512.h says what each is. */
#include <immintrin.h>

#if CARRIER_BITS == 32
#define SIMD_REAL(op) _mm256_##op##_ps
#define SIMD_INT(op) _mm256_##op##_epi32
#else
#define SIMD_REAL(op) _mm256_##op##_pd
#define SIMD_INT(op) _mm256_##op##_epi64
#endif
#define SIMD_HAS_SIDES 0
#define SIMD_HAS_F16 (CARRIER_BITS == 32)
#define SIMD_HAS_FUSED 1
#define SIMD_HAS_LOOK_UP (CARRIER_BITS == 32)
#define SIMD_HAS_LOOK_UP_32 0

#include "lanes.h"

SIMD_FN simd_real simd_fused(simd_real a, simd_real b, simd_real c)
{
    return (simd_real)SIMD_REAL(fmadd)(a, b, c);
}

SIMD_FN simd_real simd_cut(simd_real a)
{
    return (simd_real)SIMD_REAL(round)(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}

SIMD_FN simd_real simd_floor(simd_real a)
{
    return (simd_real)SIMD_REAL(round)(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}

SIMD_FN simd_real simd_min(simd_real a, simd_real b)
{
    return (simd_real)SIMD_REAL(min)(a, b);
}

SIMD_FN simd_real simd_max(simd_real a, simd_real b)
{
    return (simd_real)SIMD_REAL(max)(a, b);
}

SIMD_FN int simd_any(simd_mask a)
{
    return !_mm256_testz_si256((__m256i)a, (__m256i)a);
}

SIMD_FN simd_real simd_select(simd_mask m, simd_real a, simd_real b)
{
    return (simd_real)SIMD_REAL(blendv)(b, a, (simd_real)m);
}

SIMD_FN simd_bits simd_shift_right(simd_bits a, simd_bits by)
{
    return (simd_bits)SIMD_INT(srlv)((__m256i)a, (__m256i)by);
}

SIMD_FN simd_real simd_load(const void *p)
{
    return (simd_real)_mm256_loadu_si256((const __m256i *)p);
}

SIMD_FN void simd_store(void *p, simd_real a)
{
    _mm256_storeu_si256((__m256i *)p, (__m256i)a);
}

SIMD_FN void simd_store_codes(void *p, size_t size, simd_bits a)
{
#if CARRIER_BITS == 32
    if (size == 4) {
        simd_store(p, (simd_real)a);
        return;
    }
    const __m256i twice = _mm256_permute4x64_epi64(_mm256_packus_epi32((__m256i)a, (__m256i)a), 8);
    const __m128i words = _mm256_castsi256_si128(twice);
    if (size == 2)
        _mm_storeu_si128((__m128i *)p, words);
    else
        _mm_storel_epi64((__m128i *)p, _mm_packus_epi16(words, words));
#else
    const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    const __m128i longs = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32((__m256i)a, order));
    const __m128i words = _mm_packus_epi32(longs, longs);
    const int bytes = _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
    if (size == 4)
        _mm_storeu_si128((__m128i *)p, longs);
    else if (size == 2)
        _mm_storel_epi64((__m128i *)p, words);
    else
        memcpy(p, &bytes, sizeof bytes);
#endif
}

#if CARRIER_BITS == 32

SIMD_FN simd_bits simd_gather(const void *from, simd_bits at)
{
    return (simd_bits)_mm256_i32gather_epi32((const int *)from, (__m256i)at, 4);
}

/* By the lowest 3 bits of an index, of 8 numbers. */
SIMD_FN simd_real simd_look_up_8(simd_real numbers, simd_bits at)
{
    return (simd_real)_mm256_permutevar8x32_ps((__m256)numbers, (__m256i)at);
}

SIMD_FN simd_real simd_look_up_16(const simd_real numbers[2], simd_bits at)
{
    const simd_real low = simd_look_up_8(numbers[0], at), high = simd_look_up_8(numbers[1], at);
    return simd_select(at << 28, high, low); /* by the highest bit */
}

SIMD_FN simd_mask simd_carries(simd_real z, simd_bits r)
{
    const simd_mask far = (simd_mask)(z >= 0x1p31f); /* no conversion to unsigned: the highest bit is set by hand */
    const __m256i low = _mm256_cvttps_epi32((__m256)(z - simd_keep(far, simd_all_real(0x1p31f))));
    const simd_bits v = (simd_bits)low ^ (far & CARRIER_SIGN), sum = v + r;
    return ~(simd_mask)_mm256_cmpeq_epi32(_mm256_max_epu32((__m256i)sum, (__m256i)v), (__m256i)sum);
}

SIMD_FN simd_real simd_load_f16(const void *p)
{
    return (simd_real)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
}

SIMD_FN void simd_store_f16(void *p, simd_real a)
{
    _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph((__m256)a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

SIMD_FN simd_real simd_load_bf16(const void *p)
{
    return (simd_real)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)), 16);
}

SIMD_FN void simd_store_words(void *p, simd_bits a)
{
    const __m256i twice = _mm256_packus_epi32((__m256i)a, (__m256i)a);
    _mm_storeu_si128((__m128i *)p, _mm256_castsi256_si128(_mm256_permute4x64_epi64(twice, 8)));
}

SIMD_FN void simd_load_bytes(const void *p, simd_bits v[4])
{
    UNROLLED for (int k = 0; k < 4; k++)
        v[k] = (simd_bits)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)((const char *)p + 8 * k)));
}

SIMD_FN void simd_store_bytes(void *p, const simd_bits v[4])
{
    const __m256i low = _mm256_set1_epi32(255);
    const __m256i a = _mm256_packus_epi32((__m256i)v[0] & low, (__m256i)v[1] & low);
    const __m256i b = _mm256_packus_epi32((__m256i)v[2] & low, (__m256i)v[3] & low);
    const __m256i order = _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0);
    _mm256_storeu_si256((__m256i *)p, _mm256_permutevar8x32_epi32(_mm256_packus_epi16(a, b), order));
}

SIMD_FN void simd_store_bf16_pair(void *p, simd_real even, simd_real odd)
{
    _mm256_storeu_si256((__m256i *)p, _mm256_blend_epi16(_mm256_srli_epi32((__m256i)even, 16), (__m256i)odd, 0xaa));
}

SIMD_FN simd_real simd_through_f16(simd_real a)
{
    return (simd_real)_mm256_cvtph_ps(_mm256_cvtps_ph((__m256)a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

SIMD_FN simd_bits simd_load_random(const uint32_t *r)
{
    return (simd_bits)_mm256_loadu_si256((const __m256i *)(const void *)r);
}

#else

SIMD_FN simd_bits simd_gather(const void *from, simd_bits at)
{
    return (simd_bits)_mm256_i64gather_epi64((const long long *)from, (__m256i)at, 8);
}

SIMD_FN simd_mask simd_carries(simd_real z, simd_bits r)
{
    const simd_real two52 = simd_all_real(0x1p52), random = (simd_real)((simd_bits)two52 | r >> 32) - two52;
    return (simd_mask)((simd_real)_mm256_round_pd((__m256d)z, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC) + random >=
                       0x1p32);
}

SIMD_FN simd_bits simd_load_random(const uint32_t *r)
{
    return (simd_bits)_mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)(const void *)r)) << 32;
}

#endif
