/* SPDX-License-Identifier: BSD-2-Clause */
/* unpack_fast.h - the values of all codes of a format of at most 8 bits, and what vectors make them of: found once a
 * call from what core_decode and core_codebook give in binary32. */
#ifndef FPEMU_CORE_UNPACK_FAST_H
#define FPEMU_CORE_UNPACK_FAST_H

#include "narrow.h"

#define CORE_UNPACK_BITS 8

/* What values become: binary32, or words of core/narrow.h. */
enum unpack_type { UNPACK_FLOATS, UNPACK_F16, UNPACK_BF16 };

/* Where they come from: a table; one of at most 16; steps of an integer; words of binary16 times a power of two. */
enum unpack_form { UNPACK_TABLE, UNPACK_FEW, UNPACK_INTEGERS, UNPACK_HALVES, UNPACK_FORMS };

typedef struct core_unpack {
    float values[256];
    uint32_t bits;         /* of a code */
    uint32_t top;          /* the highest of them; integers: 0 where they have no sign */
    float step;            /* the value of code 1 */
    float most;            /* the largest finite magnitude */
    float times;           /* words: that power, */
    uint32_t place;        /* and from a magnitude to where it lies in a word */
    uint8_t form;          /* an unpack_form, but of these codes: */
    uint8_t others, other; /* magnitudes from the first on, and the code that is the second; 0: of none */
    uint8_t infinite;      /* one of the values is */
    uint8_t upper;         /* no value has a bit in its lower half */
} core_unpack;

/* Whether the values of all codes but one are integers times the step. */
FPEMU_FN int core_unpack_integers(core_unpack *u, uint32_t top)
{
    const uint32_t count = UINT32_C(1) << u->bits;
    const float step = u->step;
    uint32_t wrong = 0, other = 0;
#ifdef _OPENMP
#pragma omp simd reduction(+ : wrong, other)
#endif
    for (uint32_t code = 0; code < count; code++) {
        const float value = (float)((int32_t)(code ^ top) - (int32_t)top) * step;
        const uint32_t here = core_bits32(value) != core_bits32(u->values[code]) ? 1 : 0;
        wrong += here;
        other += here ? code : 0;
    }
    u->top = top;
    u->other = (uint8_t)other;
    return wrong == 0 || (wrong == 1 && other);
}

/* Whether the values are those of a sign and a magnitude in binary16, whose subnormal numbers it widens exactly, but
 * for the largest of these and the sign alone. */
FPEMU_FN int core_unpack_halves(core_unpack *u)
{
    const uint32_t half = UINT32_C(1) << (u->bits - 1);
    uint32_t m = 0, others = half;
    while (m + 2 < u->bits && u->step * (float)((2u << m) + 1) == u->values[(2u << m) + 1])
        m++;
    const float times = u->step * core_value32(core_power32(14 + (int)m));
    const int place = 10 - (int)m;
    u->times = times;
    u->place = (uint32_t)place;
    u->top = half;
    if (!(u->step >= 0x1p-60f && u->step <= 0x1p60f) || core_bits32(u->values[0]) != 0)
        return 0;
#ifdef _OPENMP
#pragma omp simd reduction(min : others)
#endif
    for (uint32_t a = 1; a < half; a++) {
        const uint32_t v = core_bits32(core_value32(core_from_f16(a << place & 0x7fffu)) * times);
        const uint32_t wrong = (v ^ core_bits32(u->values[a])) | (v ^ core_bits32(u->values[half + a]) ^ 0x80000000u);
        const uint32_t here = wrong ? a : half;
        others = here < others ? here : others;
    }
    u->others = (uint8_t)(others < half ? others : 0);
    u->other = (uint8_t)(core_bits32(u->values[half]) != 0x80000000u ? half : 0);
    return others > half / 2;
}

/* Of u->values, 2^bits of them; halves: words of binary16 are numbers at once. */
FPEMU_FN void core_unpack_make(core_unpack *u, uint32_t bits, int halves)
{
    const uint32_t count = UINT32_C(1) << bits;
    uint32_t most = 0, infinite = 0, all = 0;
#ifdef _OPENMP
#pragma omp simd reduction(max : most) reduction(| : infinite, all)
#endif
    for (uint32_t code = 0; code < count; code++) {
        const uint32_t a = core_bits32(u->values[code]) & 0x7fffffffu, finite = a < CORE_INF32 ? a : 0;
        infinite |= (uint32_t)(a == CORE_INF32);
        all |= a;
        most = finite > most ? finite : most;
    }
    u->bits = bits;
    u->most = core_value32(most);
    u->step = u->values[1];
    u->infinite = (uint8_t)infinite;
    u->upper = (all & 0xffff) == 0;
    u->others = u->other = 0;
    u->form = UNPACK_TABLE;
    if (bits <= 4)
        u->form = UNPACK_FEW;
    else if (u->values[2] == 2 * u->step && (core_unpack_integers(u, count / 2) || core_unpack_integers(u, 0)))
        u->form = UNPACK_INTEGERS;
    else if (halves && core_unpack_halves(u))
        u->form = UNPACK_HALVES;
}

#endif /* FPEMU_CORE_UNPACK_FAST_H */
