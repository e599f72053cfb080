/* SPDX-License-Identifier: BSD-2-Clause */
/* simd.h - vectors of numbers, in the same words for each instruction set. Read once in a file, after core/carrier32.h
 * or core/carrier64.h, whose type the lanes have. Sums, differences, products, bits and shifts by one number are the
 * compiler's own operators on these types; here is what it has no operator for.
 *
 *   simd_real, simd_bits    SIMD_LANES numbers of the carrier, or their bits; a cast takes one to the other
 *   simd_mask               a yes or no for each lane
 *   SIMD_HAS_SIDES          1 where simd_add_toward rounds one sum to a side, at no cost
 *   SIMD_HAS_FUSED          1 where simd_fused rounds once
 *   SIMD_HAS_F16            1 where lanes of binary32 have words for 16 bits: the processor converts to binary16
 *   SIMD_HAS_LOOK_UP        1 where vectors are tables: simd_look_up_16, with simd_look_up_32 or else simd_look_up_8
 *
 * tests/unit/check_simd.c compares every word with plain C, lane by lane. */
#ifndef FPEMU_SIMD_SIMD_H
#define FPEMU_SIMD_SIMD_H

#include "core/narrow.h"

#define UNROLLED _Pragma("GCC unroll 8")
#define SIMD_FN static inline __attribute__((always_inline, unused))

#if defined(__AVX512F__)
#define SIMD_BYTES 64
#elif defined(__AVX2__)
#define SIMD_BYTES 32
#else
#define SIMD_BYTES 16
#endif
#define SIMD_LANES ((int)(SIMD_BYTES / sizeof(realw)))

/* vectors are passed to inlined functions alone, so no interface depends on the instruction set */
#pragma GCC diagnostic ignored "-Wpsabi"

typedef realw simd_real __attribute__((vector_size(SIMD_BYTES)));
typedef uintw simd_bits __attribute__((vector_size(SIMD_BYTES)));
typedef intw simd_integers __attribute__((vector_size(SIMD_BYTES)));

/* Where a sum is rounded to. */
enum simd_side { SIMD_UP, SIMD_DOWN };

/* One number in every lane. */
SIMD_FN simd_bits simd_all(uintw u)
{
    return u - (simd_bits){0};
}

SIMD_FN simd_real simd_all_real(realw x)
{
    return (simd_real)simd_all(core_bits(x));
}

SIMD_FN simd_real simd_magnitude(simd_real a)
{
    return (simd_real)((simd_bits)a & ~CARRIER_SIGN);
}

#if defined(__AVX512F__)
#include "avx512.h"
#elif defined(__AVX2__)
#include "avx2.h"
#else
#include "plain.h"
#endif

#if !defined(__AVX512F__)
SIMD_FN simd_real simd_min_magnitude(simd_real a, simd_real b)
{
    return simd_min(simd_magnitude(a), simd_magnitude(b));
}
#endif
/* of[1] in the lanes where x has a sign. */
SIMD_FN simd_real simd_by_sign(simd_real x, const simd_real of[2])
{
    return simd_select(simd_negative((simd_bits)x), of[1], of[0]);
}

/* The highest bits of those of simd_load_random as an integer: as many as binary32 has room for, or all 32. */
#define SIMD_RANDOM_BITS (CARRIER_BITS == 32 ? 24 : 32)
SIMD_FN simd_real simd_random(simd_bits r)
{
#if CARRIER_BITS == 32
    return __builtin_convertvector((simd_integers)(r >> 8), simd_real);
#else
    const simd_real two = simd_all_real(0x1p52); /* whose last bit is 1 */
    return (simd_real)((simd_bits)two | r >> 32) - two;
#endif
}

#if SIMD_HAS_F16
SIMD_FN void simd_store_bf16(void *p, simd_real a)
{
    simd_store_words(p, (simd_bits)a >> 16);
}

/* Twice as many elements, the even ones and the odd ones. */
SIMD_FN void simd_load_bf16_pair(const void *p, simd_real *even, simd_real *odd)
{
    const simd_bits both = (simd_bits)simd_load(p);
    *even = (simd_real)(both << 16);
    *odd = (simd_real)(both & 0xffff0000u);
}
#endif

#endif /* FPEMU_SIMD_SIMD_H */
