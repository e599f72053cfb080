/* SPDX-License-Identifier: BSD-2-Clause */
/* narrow_vectors.h - words of 16 bits to binary32 and back in vectors of AVX-512, by the rules of core/narrow.h, for
 * the loops that take or give words themselves. */
#ifndef FPEMU_LOOPS_NARROW_VECTORS_H
#define FPEMU_LOOPS_NARROW_VECTORS_H

#include <immintrin.h>

#include "core/narrow.h"

/* 16 numbers, or 32, rounded to one side. Macros, since clang takes no variable for the side. */
#define narrow_f16_side(a, side) _mm512_cvtps_ph(a, (side) | _MM_FROUND_NO_EXC)
#define narrow_f16_pair(a, b, side)                                                                                    \
    _mm512_inserti64x4(_mm512_castsi256_si512(narrow_f16_side(a, side)), narrow_f16_side(b, side), 1)

/* 32 words. What becomes infinite is the largest number where it was none before, as if rounded toward zero. */
static inline __m512i narrow_f16_words(__m512 a, __m512 b)
{
    const __m512i near = narrow_f16_pair(a, b, _MM_FROUND_TO_NEAREST_INT), infinity = _mm512_set1_epi16(0x7c00);
    const __mmask32 infinite = _mm512_cmpeq_epi16_mask(_mm512_slli_epi16(near, 1), _mm512_slli_epi16(infinity, 1));
    if (__builtin_expect(infinite == 0, 1))
        return near;
    return _mm512_mask_mov_epi16(near, infinite, narrow_f16_pair(a, b, _MM_FROUND_TO_ZERO));
}

/* The upper halves of 32 numbers. */
static inline __m512i narrow_upper(__m512i a, __m512i b)
{
    const __m512i upper = _mm512_set_epi16(63, 61, 59, 57, 55, 53, 51, 49, 47, 45, 43, 41, 39, 37, 35, 33, 31, 29, 27,
                                           25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    return _mm512_permutex2var_epi16(a, upper, b);
}

/* Bits of a number whose upper half is the word, and whether the number is not finite, or its word would not be. */
static inline __m512i narrow_bf16_vector(__m512i u, __mmask16 *past)
{
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
    *past = _mm512_cmpge_epu32_mask(_mm512_slli_epi32(u, 1), _mm512_set1_epi32((int)0xfeff0000u));
    return _mm512_add_epi32(_mm512_add_epi32(u, _mm512_set1_epi32(0x7fff)), odd);
}

/* The same where some are past the largest word. */
static inline __m512i narrow_bf16_past(__m512i u, __m512i y, __mmask16 past)
{
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff), infinity = _mm512_set1_epi32((int)CORE_INF32);
    const __m512i a = _mm512_and_si512(u, magnitude), largest = _mm512_set1_epi32(0x7f7f0000);
    const __m512i ends = _mm512_or_si512(largest, _mm512_andnot_si512(magnitude, u));
    const __m512i nan = _mm512_set1_epi32((int)(CORE_INF32 | CORE_INF32 >> 1));
    y = _mm512_mask_mov_epi32(y, past, ends);
    y = _mm512_mask_mov_epi32(y, _mm512_cmpeq_epi32_mask(a, infinity), u);
    return _mm512_mask_mov_epi32(y, _mm512_cmpgt_epi32_mask(a, infinity), nan);
}

/* Words that are these upper halves, or one more where the lower ones are more than half, or half and the word odd. */
static inline __m512i narrow_bf16_halves(__m512i high, __m512i low)
{
    const __m512i even = _mm512_set1_epi16(0x7ffe), one = _mm512_set1_epi16(1);
    const __m512i rest = _mm512_ternarylogic_epi32(even, high, one, 0xf8); /* one of it carries in the average */
    return _mm512_add_epi16(high, _mm512_srli_epi16(_mm512_avg_epu16(low, rest), 15));
}

static inline __m512i narrow_lower(__m512i a, __m512i b)
{
    const __m512i lower = _mm512_set_epi16(62, 60, 58, 56, 54, 52, 50, 48, 46, 44, 42, 40, 38, 36, 34, 32, 30, 28, 26,
                                           24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    return _mm512_permutex2var_epi16(a, lower, b);
}

static inline __m512i narrow_bf16_words(__m512i u, __m512i v)
{
    const __m512i high = narrow_upper(u, v), last = _mm512_set1_epi16((short)0xfefe); /* twice the largest word */
    if (__builtin_expect(_mm512_cmpge_epu16_mask(_mm512_slli_epi16(high, 1), last) != 0, 0)) {
        __mmask16 past[2];
        const __m512i a = narrow_bf16_vector(u, past), b = narrow_bf16_vector(v, past + 1);
        return narrow_upper(narrow_bf16_past(u, a, past[0]), narrow_bf16_past(v, b, past[1]));
    }
    return narrow_bf16_halves(high, narrow_lower(u, v));
}

/* The same of either type where no number passes the largest word, or all are words. */
static inline __m512i narrow_inside(int bfloat, int exact, __m512 a, __m512 b)
{
    const __m512i u = _mm512_castps_si512(a), v = _mm512_castps_si512(b);
    return !bfloat ? narrow_f16_pair(a, b, _MM_FROUND_TO_NEAREST_INT)
           : exact ? narrow_upper(u, v)
                   : narrow_bf16_halves(narrow_upper(u, v), narrow_lower(u, v));
}

/* 16 words to bits of binary32. */
static inline __m512i widen_sixteen(int bfloat, __m256i words)
{
    return bfloat ? _mm512_slli_epi32(_mm512_cvtepu16_epi32(words), 16) : _mm512_castps_si512(_mm512_cvtph_ps(words));
}

#endif /* FPEMU_LOOPS_NARROW_VECTORS_H */
