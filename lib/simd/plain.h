/* SPDX-License-Identifier: BSD-2-Clause */
/* plain.h - the words of simd.h in C, by the vector types of gcc and clang (SSE2, NEON, ...); avx512.h says what each
 * is. */
#define SIMD_HAS_SIDES 0
#define SIMD_HAS_F16 0
#define SIMD_HAS_FUSED CORE_HAS_FMA
#define SIMD_HAS_LOOK_UP 0
#define SIMD_HAS_LOOK_UP_32 0
#define SIMD_EACH for (int l = 0; l < SIMD_LANES; l++)

#include "lanes.h"

SIMD_FN simd_real simd_select(simd_mask m, simd_real a, simd_real b)
{
    return (simd_real)((m & (simd_bits)a) | (~m & (simd_bits)b));
}

SIMD_FN simd_real simd_min(simd_real a, simd_real b)
{
    return simd_select(simd_less(a, b), a, b);
}

SIMD_FN simd_real simd_max(simd_real a, simd_real b)
{
    return simd_select(simd_less(b, a), a, b);
}

SIMD_FN simd_real simd_floor(simd_real a)
{
    const simd_real far = simd_all_real((realw)(3 * (CARRIER_HIDDEN >> 1))), near = a + far - far;
    return near - simd_keep(simd_less(a, near), simd_all_real(1));
}

SIMD_FN simd_real simd_cut(simd_real a)
{
    return (simd_real)((simd_bits)simd_floor(simd_magnitude(a)) | ((simd_bits)a & CARRIER_SIGN));
}

SIMD_FN simd_real simd_fused(simd_real a, simd_real b, simd_real c)
{
#if SIMD_HAS_FUSED
    SIMD_EACH a[l] = CARRIER_BITS == 32 ? (realw)__builtin_fmaf((float)a[l], (float)b[l], (float)c[l])
                                        : (realw)__builtin_fma((double)a[l], (double)b[l], (double)c[l]);
    return a;
#else
    return a * b + c;
#endif
}

SIMD_FN int simd_any(simd_mask a)
{
    typedef uint64_t halves __attribute__((vector_size(SIMD_BYTES)));
    return (((halves)a)[0] | ((halves)a)[1]) != 0;
}

SIMD_FN simd_bits simd_shift_right(simd_bits a, simd_bits by)
{
    return (a >> (by & (CARRIER_BITS - 1))) & (simd_bits)(by < CARRIER_BITS);
}

SIMD_FN simd_real simd_load(const void *p)
{
    simd_real a;
    memcpy(&a, p, sizeof a);
    return a;
}

SIMD_FN simd_bits simd_gather(const void *from, simd_bits at)
{
    uintw a[SIMD_LANES];
    SIMD_EACH memcpy(a + l, (const char *)from + (size_t)at[l] * sizeof *a, sizeof *a);
    return (simd_bits)simd_load(a);
}

SIMD_FN void simd_store(void *p, simd_real a)
{
    memcpy(p, &a, sizeof a);
}

SIMD_FN void simd_store_codes(void *p, size_t size, simd_bits a)
{
    uint8_t bytes[SIMD_LANES];
    uint16_t words[SIMD_LANES];
    uint32_t longs[SIMD_LANES];
    SIMD_EACH bytes[l] = (uint8_t)a[l];
    SIMD_EACH words[l] = (uint16_t)a[l];
    SIMD_EACH longs[l] = (uint32_t)a[l];
    memcpy(p, size == 1 ? (void *)bytes : size == 2 ? (void *)words : longs, size * SIMD_LANES);
}

SIMD_FN simd_bits simd_load_random(const uint32_t *r)
{
    simd_bits a;
    SIMD_EACH a[l] = (uintw)r[l] << (CARRIER_BITS - 32);
    return a;
}

SIMD_FN simd_mask simd_carries(simd_real z, simd_bits r)
{
#if CARRIER_BITS == 32
    const simd_bits v = __builtin_convertvector(z, simd_bits);
    return (simd_mask)(v + r < v);
#else
    return (simd_mask)(__builtin_convertvector(z, simd_integers) + (simd_integers)(r >> 32) > 0xffffffff);
#endif
}

#if CARRIER_BITS == 32

SIMD_FN void simd_store_words(void *p, simd_bits a)
{
    uint16_t words[SIMD_LANES];
    SIMD_EACH words[l] = (uint16_t)a[l];
    memcpy(p, words, sizeof words);
}

SIMD_FN void simd_load_bytes(const void *p, simd_bits v[4])
{
    uint32_t wide[4 * SIMD_LANES];
    _Pragma("omp simd") for (int l = 0; l < 4 * SIMD_LANES; l++) wide[l] = ((const uint8_t *)p)[l];
    memcpy(v, wide, sizeof wide);
}

SIMD_FN void simd_store_bytes(void *p, const simd_bits v[4])
{
    uint32_t wide[4 * SIMD_LANES];
    memcpy(wide, v, sizeof wide);
    _Pragma("omp simd") for (int l = 0; l < 4 * SIMD_LANES; l++)((uint8_t *)p)[l] = (uint8_t)wide[l];
}

#endif
#undef SIMD_EACH
