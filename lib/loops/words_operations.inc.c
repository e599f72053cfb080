/* SPDX-License-Identifier: BSD-2-Clause */
/* words_operations.inc.c - sums, products and quotients of binary16 and bfloat16 words in the type itself, to nearest
 * even, for AVX-512; included by variant.inc.c. The result in binary32 is rounded once more: twice the type's digits and
 * two more are 24 or fewer, so that the second rounding sees on which side of a middle the exact one lies [Figueroa
 * 1995]. The same of results below the least normal number: a product is exact there or less than half of the least
 * one, sums are exact, and a quotient differs from a middle by more than the last bits of binary32.
 * tests/against_judges/words.c compares them. */

/* Processors divide slowly by subnormal numbers, which many of bfloat16 are in binary32: so numbers from 1 to 2 are
 * divided, and the quotient is moved to its binade. Infinities, zeros and NaN come of the exponents. */
FPEMU_FN __m512 words_quotient(__m512 a, __m512 b)
{
    const __m512 over = _mm512_getmant_ps(a, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src);
    const __m512 under = _mm512_getmant_ps(b, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src);
    return _mm512_scalef_ps(_mm512_div_ps(over, under), _mm512_sub_ps(_mm512_getexp_ps(a), _mm512_getexp_ps(b)));
}

FPEMU_FN __m512 words_reals(int bfloat, int work, __m512 a, __m512 b)
{
    return work == FPEMU_OPERATION_ADD   ? _mm512_add_ps(a, b)
           : work == FPEMU_OPERATION_SUB ? _mm512_sub_ps(a, b)
           : work == FPEMU_OPERATION_MUL ? _mm512_mul_ps(a, b)
           : bfloat                      ? words_quotient(a, b)
                                         : _mm512_div_ps(a, b);
}

/* As a number of the type in its upper bits; what goes past the largest becomes infinite. */
FPEMU_FN __m512 words_rounded(int bfloat, uint32_t nan, __m512 v)
{
    const __mmask16 unordered = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    const __m512i u = _mm512_mask_mov_epi32(_mm512_castps_si512(v), unordered, _mm512_set1_epi32((int)nan));
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
    const __m512i up = _mm512_add_epi32(_mm512_add_epi32(u, _mm512_set1_epi32(0x7fff)), odd);
    return _mm512_castsi512_ps(bfloat ? up : u);
}

FPEMU_FN words words_result(int bfloat, int work, uint32_t nan, words a, words b)
{
    const __m512 first = words_reals(bfloat, work, word_first(a, bfloat), word_first(b, bfloat));
    const __m512 second = words_reals(bfloat, work, word_second(a, bfloat), word_second(b, bfloat));
    return word_joined(words_rounded(bfloat, nan, first), words_rounded(bfloat, nan, second), bfloat);
}

FPEMU_FN void words_operate(int bfloat, int work, uint32_t nan, size_t n, const uint16_t *a, const uint16_t *b,
                            uint16_t *y)
{
    const size_t whole = n - n % 32;
    for (size_t i = 0; i < whole; i += 32)
        word_store(y + i, words_result(bfloat, work, nan, word_load(a + i), word_load(b + i)));
    if (whole < n) {
        uint16_t rest[2][32] = {{0}};
        memcpy(rest[0], a + whole, (n - whole) * sizeof *a);
        memcpy(rest[1], b + whole, (n - whole) * sizeof *b);
        word_store(rest[0], words_result(bfloat, work, nan, word_load(rest[0]), word_load(rest[1])));
        memcpy(y + whole, rest[0], (n - whole) * sizeof *y);
    }
}

#define WORDS_OPERATION(type, bfloat, name, work)                                                                      \
    static void words_##name##_##type(uint32_t nan, size_t n, const uint16_t *a, const uint16_t *b, uint16_t *y)       \
    {                                                                                                                  \
        words_operate(bfloat, work, nan, n, a, b, y);                                                                  \
    }
WORDS_OPERATION(f16, 0, add, FPEMU_OPERATION_ADD)
WORDS_OPERATION(f16, 0, sub, FPEMU_OPERATION_SUB)
WORDS_OPERATION(f16, 0, mul, FPEMU_OPERATION_MUL)
WORDS_OPERATION(f16, 0, div, FPEMU_OPERATION_DIV)
WORDS_OPERATION(bf16, 1, add, FPEMU_OPERATION_ADD)
WORDS_OPERATION(bf16, 1, sub, FPEMU_OPERATION_SUB)
WORDS_OPERATION(bf16, 1, mul, FPEMU_OPERATION_MUL)
WORDS_OPERATION(bf16, 1, div, FPEMU_OPERATION_DIV)
#undef WORDS_OPERATION

#define WORDS_OPERATE                                                                                                  \
    {                                                                                                                  \
        {words_add_f16, words_sub_f16, words_mul_f16, words_div_f16},                                                  \
        {                                                                                                              \
            words_add_bf16, words_sub_bf16, words_mul_bf16, words_div_bf16                                             \
        }                                                                                                              \
    }
