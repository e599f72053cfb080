/* SPDX-License-Identifier: BSD-2-Clause */
/* unpack_fast.h - the values of all codes of a format of 4, 6 or 8 bits, as loops look them up in vectors: what
 * core_decode and core_codebook give in binary32, made once a call. */
#ifndef FPEMU_CORE_UNPACK_FAST_H
#define FPEMU_CORE_UNPACK_FAST_H

#include "narrow.h"

#define CORE_UNPACK_BITS 8

/* What values become: binary32, or words of core/narrow.h. */
enum unpack_type { UNPACK_FLOATS, UNPACK_F16, UNPACK_BF16 };

typedef struct core_unpack {
    uint32_t values[16]; /* of codes of 4 bits */
    uint16_t upper[256]; /* of longer codes: the upper halves, the lower ones being 0 */
    uint32_t bits;       /* of a code; 0: no loop has them */
    float most;          /* the largest finite magnitude */
    int32_t quantum;     /* finite ones are multiples of 2^quantum; INT32_MIN: of nothing that is known */
    uint8_t infinite;    /* one of them is infinite */
    /* Where vectors hold too few values to look them up, steps make them: */
    uint8_t integers;  /* codes are integers, of so many steps; else magnitudes of floats with a sign */
    uint8_t odd;       /* the code that is a sign alone has another value */
    uint32_t mantissa; /* bits of floats */
    uint32_t least;    /* bits of the least normal one */
    uint32_t others;   /* magnitudes from this one on have other values */
    float step;
} core_unpack;

/* Whether codes with these values, 2^bits of them as bits of binary32, are looked up so: 4, 6 or 8 bits, every NaN the
 * one that lib/core makes, and longer codes with values of 16 bits. */
FPEMU_FN int core_unpack_make(core_unpack *u, uint32_t bits, const uint32_t *values)
{
    const uint32_t count = UINT32_C(1) << bits;
    uint32_t lower = 0, other_nan = 0, most = 0;
    uint32_t infinite = 0;
    uint16_t *const upper = u->upper;
#ifdef _OPENMP
#pragma omp simd reduction(| : lower, other_nan, infinite) reduction(max : most)
#endif
    for (uint32_t code = 0; code < count; code++) {
        const uint32_t v = values[code], a = v & 0x7fffffffu, finite = a < CORE_INF32 ? a : 0;
        lower |= v & 0xffffu;
        other_nan |= a > CORE_INF32 ? v ^ (CORE_INF32 | CORE_INF32 >> 1) : 0;
        infinite |= (uint32_t)(a == CORE_INF32);
        most = finite > most ? finite : most;
        upper[code] = (uint16_t)(v >> 16);
    }
    if (bits == 4)
        memcpy(u->values, values, sizeof u->values);
    u->quantum = INT32_MIN;
    u->infinite = (uint8_t)infinite;
    u->bits = 0;
    u->most = core_value32(most);
    if (other_nan || (bits != 4 && ((bits != 6 && bits != 8) || lower)))
        return 0;
    u->bits = bits;
    return 1;
}

/* The value of a magnitude of floats with so many bits and the least normal number `least`: what lies below it would be
 * one binade too high, at half its distance, with the hidden bit. */
FPEMU_FN uint32_t core_unpack_float(uint32_t mantissa, uint32_t least, uint32_t magnitude)
{
    const float hidden = core_value32((magnitude << (23 - mantissa)) + (least - 0x800000u)), end = core_value32(least);
    return core_bits32(hidden + ((hidden < end ? hidden : end) - end));
}

/* Whether the values of codes of 6 or 8 bits are those that steps make, but for some; of 6 bits all have to be. */
FPEMU_FN int core_unpack_steps(core_unpack *u, uint32_t bits, const uint32_t *values)
{
    const uint32_t half = UINT32_C(1) << (bits - 1);
    const float one = core_value32(values[1]);
    uint32_t m = 0, others = half, wrong = values[2 * half - 1] != core_bits32(-one);
    while (m + 2 < bits && core_bits32(one * (float)((2u << m) + 1)) == values[(2u << m) + 1])
        m++;
    const uint32_t least = core_bits32(one * (float)(1u << m));
    u->step = one;
    u->mantissa = m;
    u->least = least;
    const uint32_t end = wrong ? 1 : half;
#ifdef _OPENMP
#pragma omp simd reduction(+ : wrong)
#endif
    for (uint32_t a = 1; a < end; a++)
        wrong += (uint32_t)(core_bits32((float)a * one) != values[a]) +
                 (uint32_t)(core_bits32(0 - (float)a * one) != values[2 * half - a]);
    u->integers = wrong == 0;
    if (u->integers) {
        u->others = half;
        u->odd = values[half] != core_bits32(0 - (float)half * one);
        return values[0] == 0 && (bits == 8 || !u->odd);
    }
    if (least & 0x7fffffu || least < 0x1000000u || least >= CORE_INF32)
        return 0;
#ifdef _OPENMP
#pragma omp simd reduction(min : others)
#endif
    for (uint32_t a = 1; a < half; a++) {
        const uint32_t v = core_unpack_float(m, least, a);
        const uint32_t here = v != values[a] || (v | 0x80000000u) != values[half + a] ? a : half;
        others = here < others ? here : others;
    }
    u->others = others;
    u->odd = values[half] != 0x80000000u;
    return values[0] == 0 && (bits == 8 ? others > half / 2 : others == half && !u->odd);
}

/* Whether the magnitudes that core_unpack_steps makes, as floats with a sign, have the exponents and steps of binary16
 * below its infinity, but for a power of two that all are times. */
FPEMU_FN int core_unpack_is_half(const core_unpack *u, uint32_t bits)
{
    const uint32_t half = UINT32_C(1) << (bits - 1), last = (u->others < half ? u->others : half) - 1;
    return !u->integers && u->mantissa >= 2 && last >> u->mantissa < 31 && u->step >= 0x1p-60f && u->step <= 0x1p60f;
}

/* Whether no value times a scale, of magnitude bits up to s, times `second` is infinite, or NaN where the value is not:
 * then there is nothing to mend. */
FPEMU_FN int core_unpack_is_tame(const core_unpack *u, uint32_t s, float second)
{
    const float end = (u->most * core_value32(s)) * (second < 0 ? -second : second);
    return !u->infinite && end <= FLT_MAX;
}

/* Whether values of longer codes, or floats and integers of 4 bits, times powers of two from 2^least up to s, as bits,
 * are all words of a type: they have no more than 8 significant bits. Of scales that are tame. */
FPEMU_FN int core_unpack_fits(const core_unpack *u, enum unpack_type type, int least, uint32_t s)
{
    const int bottom = type == UNPACK_F16 ? -24 : -133;
    return type != UNPACK_FLOATS && u->quantum != INT32_MIN && least >= bottom - u->quantum &&
           (type == UNPACK_BF16 || u->most * core_value32(s) <= 65504.0f);
}

#endif /* FPEMU_CORE_UNPACK_FAST_H */
