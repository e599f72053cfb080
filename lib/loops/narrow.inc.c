/* SPDX-License-Identifier: BSD-2-Clause */
/* narrow.inc.c - arrays of binary16 and bfloat16 words: to binary32 and back, and measured as they are; included by
 * variant.inc.c in the part of binary32. The rules are those of core/narrow.h; the processor's own conversions give the
 * same bits (tests/against_judges/narrow.c). */

/* Numbers that are no larger than those of bfloat16 to the nearest of them, as words_store takes them. */
SIMD_FN simd_real words_inside(simd_real v)
{
    return (simd_real)((simd_bits)v + 0x7fff + ((simd_bits)v >> 16 & 1));
}

/* The same of any numbers, of either type. */
SIMD_FN simd_real words_near(int bfloat, simd_real v)
{
    const simd_real most = simd_all_real(core_value32(bfloat ? 0x7f7f0000u : 0x477fe000u));
    const simd_real kept = simd_max(simd_min(v, most), -most);
    const simd_real near = bfloat ? words_inside(kept) : kept;
    const simd_real nan = simd_select(simd_differ(v, v), simd_all_real(core_value32(CARRIER_NAN)), v);
    return simd_select(simd_at_most(simd_magnitude(v), simd_all_real(FLT_MAX)), near, nan);
}

#if SIMD_HAS_F16
SIMD_FN void words_store(int bfloat, void *words, simd_real v)
{
    if (bfloat)
        simd_store_bf16(words, v);
    else
        simd_store_f16(words, v);
}
#endif

FPEMU_FN void words_widen(int bfloat, size_t n, const uint16_t *x, float *y)
{
    size_t i = 0;
#if SIMD_HAS_F16
    for (; i + SIMD_LANES <= n; i += SIMD_LANES)
        simd_store(y + i, bfloat ? simd_load_bf16(x + i) : simd_load_f16(x + i));
#endif
    SIMD for (size_t e = i; e < n; e++)
        y[e] = core_value32(core_from_narrow(bfloat, x[e]));
}

/* exact: of numbers of the type. */
FPEMU_FN void words_narrow(int bfloat, int exact, size_t n, const float *x, uint16_t *y)
{
    size_t i = 0;
#if SIMD_HAS_F16
    for (; i + SIMD_LANES <= n; i += SIMD_LANES) {
        const simd_real v = simd_load(x + i);
        words_store(bfloat, y + i, exact ? v : words_near(bfloat, v));
    }
#endif
    SIMD for (size_t e = i; e < n; e++)
        y[e] = (uint16_t)(exact && bfloat ? core_bits32(x[e]) >> 16 : core_to_narrow(bfloat, core_bits32(x[e])));
}

/* As loop_extremes, of at most 65535 words; magnitudes are the type's bits until the end. */
FPEMU_FN void words_extremes(int bfloat, size_t n, const uint16_t *x, block_extremes *e)
{
    const uint16_t infinity = bfloat ? 0x7f80 : 0x7c00;
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
    e->amax = core_from_narrow(bfloat, amax);
    e->high = core_from_narrow(bfloat, high);
    e->low = core_from_narrow(bfloat, low);
    e->zeros = zeros;
    e->nonfinite = nonfinite;
}

#define WORDS_LOOPS(type, bfloat)                                                                                      \
    static void widen_##type(size_t n, const uint16_t *x, float *y)                                                    \
    {                                                                                                                  \
        words_widen(bfloat, n, x, y);                                                                                  \
    }                                                                                                                  \
    static void narrow_##type(size_t n, const float *x, uint16_t *y)                                                   \
    {                                                                                                                  \
        words_narrow(bfloat, 0, n, x, y);                                                                              \
    }                                                                                                                  \
    static void exact_##type(size_t n, const float *x, uint16_t *y)                                                    \
    {                                                                                                                  \
        words_narrow(bfloat, 1, n, x, y);                                                                              \
    }                                                                                                                  \
    static void extremes_##type(size_t n, const uint16_t *x, block_extremes *e)                                        \
    {                                                                                                                  \
        words_extremes(bfloat, n, x, e);                                                                               \
    }
WORDS_LOOPS(f16, 0)
WORDS_LOOPS(bf16, 1)
#undef WORDS_LOOPS
