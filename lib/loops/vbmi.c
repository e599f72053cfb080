/* SPDX-License-Identifier: BSD-2-Clause */
/* vbmi.c - see vbmi.h. Compilers find no permutation of bytes in a look-up, and gcc multiplies 32 by 32
 * bits in lanes of 64 with the instruction for 64 by 64. */
#include "unfortified.h"

#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512VBMI__)
#error "vbmi.c is compiled with -march=x86-64-v4 -mavx512vbmi"
#endif
#include <immintrin.h>

#include "core/round_fast.h"
#include "core/unpack_fast.h"
#include "narrow_vectors.h"
#include "vbmi.h"

/* The bytes of a table of 256 that `codes` name; `upper`: those codes from 128 on. */
FPEMU_FN __m512i look_up(const __m512i table[4], __m512i codes, __mmask64 upper)
{
    const __m512i below = _mm512_permutex2var_epi8(table[0], codes, table[1]);
    return _mm512_mask_blend_epi8(upper, below, _mm512_permutex2var_epi8(table[2], codes, table[3]));
}

void fpemu_vbmi_decode(const uint8_t low[256], const uint8_t high[256], size_t n, const uint8_t *codes, int streaming,
                       void *y)
{
    /* unpacking takes 4 neighbours from each of the 4 lanes: so they come from afar */
    const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    const __m512i zero = _mm512_setzero_si512();
    __m512i lows[4], highs[4];
    for (int k = 0; k < 4; k++) {
        lows[k] = _mm512_loadu_si512(low + 64 * k);
        highs[k] = _mm512_loadu_si512(high + 64 * k);
    }
    char *out = (char *)y;
    for (size_t i = 0; i < n; i += 64) {
        const size_t left = n - i;
        const __mmask64 some = left < 64 ? ~(~(__mmask64)0 << left) : ~(__mmask64)0;
        const __m512i c = _mm512_permutexvar_epi32(order, _mm512_maskz_loadu_epi8(some, codes + i));
        const __mmask64 upper = _mm512_movepi8_mask(c);
        const __m512i l = look_up(lows, c, upper), h = look_up(highs, c, upper);
        const __m512i first = _mm512_unpacklo_epi8(l, h), second = _mm512_unpackhi_epi8(l, h);
        const __m512i floats[4] = {_mm512_unpacklo_epi16(zero, first), _mm512_unpackhi_epi16(zero, first),
                                   _mm512_unpacklo_epi16(zero, second), _mm512_unpackhi_epi16(zero, second)};
        if (left >= 64 && streaming) {
            for (int k = 0; k < 4; k++)
                _mm512_stream_si512((__m512i *)(void *)(out + 4 * i + 64 * (size_t)k), floats[k]);
        } else if (left >= 64) {
            for (int k = 0; k < 4; k++)
                _mm512_storeu_si512(out + 4 * i + 64 * (size_t)k, floats[k]);
        } else {
            for (int k = 0; k < 4; k++)
                _mm512_mask_storeu_epi32(out + 4 * i + 64 * (size_t)k, (__mmask16)(some >> 16 * k), floats[k]);
        }
    }
}

void fpemu_vbmi_decode_words(const uint8_t low[256], const uint8_t high[256], size_t n, const uint8_t *codes,
                             uint16_t *y)
{
    /* unpacking takes 8 neighbours from each of the 4 lanes */
    const __m512i order = _mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0);
    __m512i lows[4], highs[4];
    for (int k = 0; k < 4; k++) {
        lows[k] = _mm512_loadu_si512(low + 64 * k);
        highs[k] = _mm512_loadu_si512(high + 64 * k);
    }
    for (size_t i = 0; i < n; i += 64) {
        const size_t left = n - i;
        const __mmask64 some = left < 64 ? ~(~(__mmask64)0 << left) : ~(__mmask64)0;
        const __m512i c = _mm512_permutexvar_epi64(order, _mm512_maskz_loadu_epi8(some, codes + i));
        const __mmask64 upper = _mm512_movepi8_mask(c);
        const __m512i l = look_up(lows, c, upper), h = look_up(highs, c, upper);
        _mm512_mask_storeu_epi16(y + i, (__mmask32)some, _mm512_unpacklo_epi8(l, h));
        _mm512_mask_storeu_epi16(y + i + 32, (__mmask32)(some >> 32), _mm512_unpackhi_epi8(l, h));
    }
}

/* Eight counters: a word in each lane of 64 bits, whose upper half holds anything. */
typedef struct lanes {
    __m512i c0, c1, c2, c3;
} lanes;

static inline void turn(lanes *s, __m512i k0, __m512i k1)
{
    const __m512i m0 = _mm512_set1_epi64(0xd2511f53), m1 = _mm512_set1_epi64(0xcd9e8d57);
    const __m512i p0 = _mm512_mul_epu32(m0, s->c0), p1 = _mm512_mul_epu32(m1, s->c2);
    s->c0 = _mm512_xor_si512(_mm512_xor_si512(_mm512_srli_epi64(p1, 32), s->c1), k0);
    s->c2 = _mm512_xor_si512(_mm512_xor_si512(_mm512_srli_epi64(p0, 32), s->c3), k1);
    s->c1 = p1;
    s->c3 = p0;
}

void fpemu_vbmi_philox(uint64_t seed, uint64_t stream, uint64_t counter, uint32_t *words)
{
    const __m512i eight = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    lanes s[4];
    for (unsigned v = 0; v < 4; v++) {
        s[v].c0 = _mm512_add_epi64(_mm512_set1_epi64((long long)(counter + 8 * v)), eight);
        s[v].c1 = _mm512_srli_epi64(s[v].c0, 32);
        s[v].c2 = _mm512_set1_epi64((long long)stream);
        s[v].c3 = _mm512_srli_epi64(s[v].c2, 32);
    }
    for (uint32_t round = 0; round < 10; round++) {
        const __m512i k0 = _mm512_set1_epi64((uint32_t)seed + round * 0x9e3779b9u);
        const __m512i k1 = _mm512_set1_epi64((uint32_t)(seed >> 32) + round * 0xbb67ae85u);
        for (int v = 0; v < 4; v++)
            turn(&s[v], k0, k1);
    }
    for (unsigned v = 0; v < 4; v++) {
        _mm256_storeu_si256((__m256i *)(void *)(words + 8 * v), _mm512_cvtepi64_epi32(s[v].c0));
        _mm256_storeu_si256((__m256i *)(void *)(words + 32 + 8 * v), _mm512_cvtepi64_epi32(s[v].c1));
        _mm256_storeu_si256((__m256i *)(void *)(words + 64 + 8 * v), _mm512_cvtepi64_epi32(s[v].c2));
        _mm256_storeu_si256((__m256i *)(void *)(words + 96 + 8 * v), _mm512_cvtepi64_epi32(s[v].c3));
    }
}

#include "unpack.inc.c"
#include "pack.inc.c"
