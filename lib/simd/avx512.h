/* SPDX-License-Identifier: BSD-2-Clause */
/* avx512.h - the words of simd.h for AVX-512 (x86-64-v4). */
#include <immintrin.h>

#if CARRIER_BITS == 32
#define SIMD_REAL(op) _mm512_##op##_ps
#define SIMD_INT(op) _mm512_##op##_epi32
#define SIMD_COMPARE(a, b, how) _mm512_cmp_ps_mask(a, b, how)
#define SIMD_SIGNS _mm512_movepi32_mask
typedef __mmask16 simd_mask;
#else
#define SIMD_REAL(op) _mm512_##op##_pd
#define SIMD_INT(op) _mm512_##op##_epi64
#define SIMD_COMPARE(a, b, how) _mm512_cmp_pd_mask(a, b, how)
#define SIMD_SIGNS _mm512_movepi64_mask
typedef __mmask8 simd_mask;
#endif
#define SIMD_HAS_SIDES 1
#define SIMD_HAS_F16 (CARRIER_BITS == 32)
#define SIMD_HAS_FUSED 1
#define SIMD_HAS_LOOK_UP 1
#define SIMD_HAS_LOOK_UP_32 1
#define SIMD_TO(side) (_MM_FROUND_TO_##side | _MM_FROUND_NO_EXC)

/* a * b + c, rounded once where SIMD_HAS_FUSED, else twice. */
SIMD_FN simd_real simd_fused(simd_real a, simd_real b, simd_real c)
{
    return (simd_real)SIMD_REAL(fmadd)(a, b, c);
}

/* To an integer, toward zero, with its sign, and down, where a zero has any sign; |a| < 2^51, in binary32 2^22. */
SIMD_FN simd_real simd_cut(simd_real a)
{
    return (simd_real)SIMD_REAL(roundscale)(a, SIMD_TO(ZERO));
}

SIMD_FN simd_real simd_floor(simd_real a)
{
    return (simd_real)SIMD_REAL(roundscale)(a, SIMD_TO(NEG_INF));
}

/* b where either is a NaN. */
SIMD_FN simd_real simd_min(simd_real a, simd_real b)
{
    return (simd_real)SIMD_REAL(min)(a, b);
}

SIMD_FN simd_real simd_max(simd_real a, simd_real b)
{
    return (simd_real)SIMD_REAL(max)(a, b);
}

/* The smaller magnitude; of a NaN any. */
SIMD_FN simd_real simd_min_magnitude(simd_real a, simd_real b)
{
    return (simd_real)SIMD_REAL(range)(a, b, 10);
}

SIMD_FN simd_real simd_add_toward(enum simd_side side, simd_real a, simd_real b)
{
    return (simd_real)(side == SIMD_UP ? SIMD_REAL(add_round)(a, b, SIMD_TO(POS_INF))
                                       : SIMD_REAL(add_round)(a, b, SIMD_TO(NEG_INF)));
}

SIMD_FN simd_real simd_fused_toward(enum simd_side side, simd_real a, simd_real b, simd_real c)
{
    return (simd_real)(side == SIMD_UP ? SIMD_REAL(fmadd_round)(a, b, c, SIMD_TO(POS_INF))
                                       : SIMD_REAL(fmadd_round)(a, b, c, SIMD_TO(NEG_INF)));
}

/* No for a NaN. */
SIMD_FN simd_mask simd_less(simd_real a, simd_real b)
{
    return SIMD_COMPARE(a, b, _CMP_LT_OQ);
}

SIMD_FN simd_mask simd_at_most(simd_real a, simd_real b)
{
    return SIMD_COMPARE(a, b, _CMP_LE_OQ);
}

/* Yes for a NaN. */
SIMD_FN simd_mask simd_differ(simd_real a, simd_real b)
{
    return SIMD_COMPARE(a, b, _CMP_NEQ_UQ);
}

/* The same: not a < b. */
SIMD_FN simd_mask simd_not_less(simd_real a, simd_real b)
{
    return SIMD_COMPARE(a, b, _CMP_NLT_UQ);
}

/* Of the highest bit. */
SIMD_FN simd_mask simd_negative(simd_bits a)
{
    return SIMD_SIGNS((__m512i)a);
}

SIMD_FN simd_mask simd_both(simd_mask a, simd_mask b)
{
    return (simd_mask)(a & b);
}

SIMD_FN simd_mask simd_either(simd_mask a, simd_mask b)
{
    return (simd_mask)(a | b);
}

SIMD_FN int simd_any(simd_mask a)
{
    return a != 0;
}

/* a where the mask says yes, b elsewhere; the second, a or zero. */
SIMD_FN simd_real simd_select(simd_mask m, simd_real a, simd_real b)
{
    return (simd_real)SIMD_REAL(mask_blend)(m, b, a);
}

SIMD_FN simd_real simd_keep(simd_mask m, simd_real a)
{
    return (simd_real)SIMD_REAL(maskz_mov)(m, a);
}

SIMD_FN simd_bits simd_add_one_if(simd_mask m, simd_bits a)
{
    return (simd_bits)SIMD_INT(mask_add)((__m512i)a, m, (__m512i)a, SIMD_INT(set1)(1));
}

SIMD_FN simd_bits simd_less_one_if(simd_mask m, simd_bits a)
{
    return (simd_bits)SIMD_INT(mask_sub)((__m512i)a, m, (__m512i)a, SIMD_INT(set1)(1));
}

/* 0 from CARRIER_BITS on. */
SIMD_FN simd_bits simd_shift_right(simd_bits a, simd_bits by)
{
    return (simd_bits)SIMD_INT(srlv)((__m512i)a, (__m512i)by);
}

SIMD_FN simd_real simd_load(const void *p)
{
    return (simd_real)_mm512_loadu_si512(p);
}

SIMD_FN void simd_store(void *p, simd_real a)
{
    _mm512_storeu_si512(p, (__m512i)a);
}

/* Each lane as a code of 1, 2 or 4 bytes, of which it has no more bits. */
SIMD_FN void simd_store_codes(void *p, size_t size, simd_bits a)
{
#if CARRIER_BITS == 32
    if (size == 1)
        _mm_storeu_si128((__m128i *)p, _mm512_cvtepi32_epi8((__m512i)a));
    else if (size == 2)
        _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16((__m512i)a));
    else
        _mm512_storeu_si512(p, (__m512i)a);
#else
    if (size == 1)
        _mm_storel_epi64((__m128i *)p, _mm512_cvtepi64_epi8((__m512i)a));
    else if (size == 2)
        _mm_storeu_si128((__m128i *)p, _mm512_cvtepi64_epi16((__m512i)a));
    else
        _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi64_epi32((__m512i)a));
#endif
}

#if CARRIER_BITS == 32

/* The bits that stand in memory at these indices. The source is zero, since some compilers would have one gather wait
 * for another's register. */
SIMD_FN simd_bits simd_gather(const void *from, simd_bits at)
{
    return (simd_bits)_mm512_mask_i32gather_epi32(_mm512_setzero_si512(), 0xffff, (__m512i)at, from, 4);
}

/* By the lowest 4 bits of an index, of 16 numbers in vectors. */
SIMD_FN simd_real simd_look_up_16(const simd_real numbers[16 / SIMD_LANES], simd_bits at)
{
    return (simd_real)_mm512_permutexvar_ps((__m512i)at, (__m512)numbers[0]);
}

/* By the lowest 5 bits, of 32 integers of 32 bits. */
SIMD_FN simd_bits simd_look_up_32(const simd_bits integers[2], simd_bits at)
{
    return (simd_bits)_mm512_permutex2var_epi32((__m512i)integers[0], (__m512i)at, (__m512i)integers[1]);
}

/* For z in [0, 2^32): whether floor(z) + r is 2^32 or more. r: 32 bits, the highest of a lane. */
SIMD_FN simd_mask simd_carries(simd_real z, simd_bits r)
{
    const __m512i v = _mm512_cvttps_epu32((__m512)z);
    return _mm512_cmplt_epu32_mask(_mm512_add_epi32(v, (__m512i)r), v);
}

SIMD_FN simd_real simd_load_f16(const void *p)
{
    return (simd_real)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}

/* Of numbers of the type, as below. */
SIMD_FN void simd_store_f16(void *p, simd_real a)
{
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtps_ph((__m512)a, SIMD_TO(NEAREST_INT)));
}

SIMD_FN simd_real simd_load_bf16(const void *p)
{
    return (simd_real)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p)), 16);
}

/* Of lanes below 2^16. */
SIMD_FN void simd_store_words(void *p, simd_bits a)
{
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16((__m512i)a));
}

/* Bytes to four vectors; and their lowest bytes, one after the other. */
SIMD_FN void simd_load_bytes(const void *p, simd_bits v[4])
{
    UNROLLED for (int k = 0; k < 4; k++)
        v[k] = (simd_bits)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p + k));
}

SIMD_FN void simd_store_bytes(void *p, const simd_bits v[4])
{
    UNROLLED for (int k = 0; k < 4; k++)
        _mm_storeu_si128((__m128i *)p + k, _mm512_cvtepi32_epi8((__m512i)v[k]));
}

/* Twice as many, given as the even elements and the odd ones. */
SIMD_FN void simd_store_bf16_pair(void *p, simd_real even, simd_real odd)
{
    _mm512_storeu_si512(p, _mm512_mask_blend_epi16(0xaaaaaaaa, _mm512_srli_epi32((__m512i)even, 16), (__m512i)odd));
}

/* a rounded to binary16, to nearest even, and back. */
SIMD_FN simd_real simd_through_f16(simd_real a)
{
    return (simd_real)_mm512_cvtph_ps(_mm512_cvtps_ph((__m512)a, SIMD_TO(NEAREST_INT)));
}

/* 32 bits an element as the highest of a lane. */
SIMD_FN simd_bits simd_load_random(const uint32_t *r)
{
    return (simd_bits)_mm512_loadu_si512(r);
}

#else

SIMD_FN simd_bits simd_gather(const void *from, simd_bits at)
{
    return (simd_bits)_mm512_mask_i64gather_epi64(_mm512_setzero_si512(), 0xff, (__m512i)at, from, 8);
}

SIMD_FN simd_real simd_look_up_16(const simd_real numbers[16 / SIMD_LANES], simd_bits at)
{
    return (simd_real)_mm512_permutex2var_pd((__m512d)numbers[0], (__m512i)at, (__m512d)numbers[1]);
}

SIMD_FN simd_bits simd_look_up_32(const simd_bits integers[2], simd_bits at)
{
    return (simd_bits)_mm512_permutex2var_epi32((__m512i)integers[0], (__m512i)at, (__m512i)integers[1]) & 0xffffffff;
}

SIMD_FN simd_mask simd_carries(simd_real z, simd_bits r)
{
    const __m512i sum = _mm512_add_epi64(_mm512_cvttpd_epu64((__m512d)z), (__m512i)(r >> 32));
    return _mm512_cmpgt_epu64_mask(sum, _mm512_set1_epi64(0xffffffff));
}

SIMD_FN simd_bits simd_load_random(const uint32_t *r)
{
    return (simd_bits)_mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)(const void *)r)) << 32;
}

#endif
