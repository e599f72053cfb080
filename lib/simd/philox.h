/* SPDX-License-Identifier: BSD-2-Clause */
/* philox.h - Philox by AVX-512, included by loops/variant.inc.c. By hand, since gcc multiplies 32 by 32 bits in lanes of
 * 64 with the instruction for 64 by 64. */
#include <immintrin.h>

/* Eight counters: a word in each lane of 64 bits, whose upper half holds anything. */
typedef struct philox_lanes {
    __m512i c0, c1, c2, c3;
} philox_lanes;

static inline void philox_turn(philox_lanes *s, __m512i k0, __m512i k1)
{
    const __m512i m0 = _mm512_set1_epi64(0xd2511f53), m1 = _mm512_set1_epi64(0xcd9e8d57);
    const __m512i p0 = _mm512_mul_epu32(m0, s->c0), p1 = _mm512_mul_epu32(m1, s->c2);
    s->c0 = _mm512_xor_si512(_mm512_xor_si512(_mm512_srli_epi64(p1, 32), s->c1), k0);
    s->c2 = _mm512_xor_si512(_mm512_xor_si512(_mm512_srli_epi64(p0, 32), s->c3), k1);
    s->c1 = p1;
    s->c3 = p0;
}

/* The words of 32 counters from `counter` on: first the first of each. */
static void philox_words(uint64_t seed, uint64_t stream, uint64_t counter, uint32_t *words)
{
    const __m512i eight = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    philox_lanes s[4];
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
            philox_turn(&s[v], k0, k1);
    }
    for (unsigned v = 0; v < 4; v++) {
        _mm256_storeu_si256((__m256i *)(void *)(words + 8 * v), _mm512_cvtepi64_epi32(s[v].c0));
        _mm256_storeu_si256((__m256i *)(void *)(words + 32 + 8 * v), _mm512_cvtepi64_epi32(s[v].c1));
        _mm256_storeu_si256((__m256i *)(void *)(words + 64 + 8 * v), _mm512_cvtepi64_epi32(s[v].c2));
        _mm256_storeu_si256((__m256i *)(void *)(words + 96 + 8 * v), _mm512_cvtepi64_epi32(s[v].c3));
    }
}
