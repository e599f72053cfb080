/* SPDX-License-Identifier: BSD-2-Clause */
/* floats.inc.c - floats in binary32 to odd, in vectors of AVX-512; included by variant.inc.c. The form of
 * core_shifter_by_side for FPEMU_MODE_RTO; tests/against_judges/quantize_exhaustive.c compares it.
 *
 * A sum that is rounded down and up has its last bit odd in one of them if the number is no value, and then the lower
 * one with the last bit of the upper one is that: the mode to odd. */

FPEMU_FN __m512 to_odd(__m512 down, __m512 up)
{
    return _mm512_castsi512_ps(
        _mm512_ternarylogic_epi32(_mm512_castps_si512(down), _mm512_castps_si512(up), _mm512_set1_epi32(1), 0xf8));
}

/* The finished result; infinity becomes the largest value, or what the plan says if `infinite`: itself or the NaN. */
FPEMU_FN __m512 floats_odd(const core_plan32 *p, int infinite, __m512 x)
{
    const __m512i u = _mm512_castps_si512(x), sign = _mm512_set1_epi32((int)0x80000000u);
    const __m512i end = _mm512_set1_epi32(0x7f800000), nan = _mm512_set1_epi32((int)p->nan[0]);
    const __m512i a = _mm512_andnot_si512(sign, u), m = _mm512_min_epi32(a, _mm512_set1_epi32((int)p->max[0]));
    const __m512i e = _mm512_max_epi32(_mm512_and_si512(m, end), _mm512_set1_epi32((int)p->fast_emin));
    const __m512 c = _mm512_castsi512_ps(_mm512_add_epi32(e, _mm512_set1_epi32((int)p->fast_up)));
    const __m512 t = _mm512_castsi512_ps(m);
    const __m512 down = _mm512_add_round_ps(t, c, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const __m512 up = _mm512_add_round_ps(t, c, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    const __m512i g = _mm512_castps_si512(_mm512_sub_ps(to_odd(down, up), c));
    const __m512i y = _mm512_ternarylogic_epi32(g, u, sign, 0xf8);
    const __mmask16 other = infinite ? _mm512_cmpge_epi32_mask(a, end) : _mm512_cmpgt_epi32_mask(a, end);
    if (!infinite)
        return _mm512_castsi512_ps(_mm512_mask_mov_epi32(y, other, nan));
    /* a NaN becomes that NaN, and infinity either itself or that too */
    const int kinds = p->infinite[0] == 0x7f800000u ? 0x00110000 : 0;
    return _mm512_mask_mov_ps(_mm512_castsi512_ps(y), other,
                              _mm512_fixupimm_ps(_mm512_castsi512_ps(nan), x, _mm512_set1_epi32(kinds), 0));
}

#define FLOATS_ODD(rule, infinite)                                                                                     \
    static void loop_round_##rule##_FPEMU_MODE_RTO32(const core_plan32 *plan, size_t n, const void *x,                 \
                                                     const uint32_t *r, void *y)                                       \
    {                                                                                                                  \
        const core_plan32 p = *plan;                                                                                   \
        const float *const in = (const float *)x;                                                                      \
        float *const out = (float *)y;                                                                                 \
        size_t i = 0;                                                                                                  \
        (void)r;                                                                                                       \
        for (; n - i >= 16; i += 16)                                                                                   \
            _mm512_storeu_ps(out + i, floats_odd(&p, infinite, _mm512_loadu_ps(in + i)));                              \
        const __mmask16 rest = (__mmask16)((1u << (n - i)) - 1);                                                       \
        if (rest)                                                                                                      \
            _mm512_mask_storeu_ps(out + i, rest, floats_odd(&p, infinite, _mm512_maskz_loadu_ps(rest, in + i)));       \
    }
FLOATS_ODD(stop, 0)
FLOATS_ODD(stop_inf, 1)
#undef FLOATS_ODD
