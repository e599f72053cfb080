/* SPDX-License-Identifier: BSD-2-Clause */
/* narrow.h - the narrow carriers: arrays of binary16 and of bfloat16 words. Each word is a binary32 number and is
 * rounded as one; the result is taken to the nearest number of the type, ties to even, a finite one to a finite one
 * (doc/numerics.md, 1). A format that fits the type has no other results. Here are words to binary32 bits and back. */
#ifndef FPEMU_CORE_NARROW_H
#define FPEMU_CORE_NARROW_H

#include "port.h"

#define CORE_INF32 0x7f800000u

/* A binary16 word. Subnormals count units of 2^-24, as do the last bits of numbers from 1/2 to 1. */
FPEMU_FN uint32_t core_from_f16(uint32_t word)
{
    const uint32_t sign = (word & 0x8000u) << 16, a = word & 0x7fffu;
    const uint32_t low = core_bits32(core_value32(0x3f000000u | (a & 0x3ffu)) - 0.5f);
    const uint32_t high = (a << 13) + (a < 0x7c00u ? 112u << 23 : 224u << 23); /* all ones stay all ones */
    return sign | (a < 0x400u ? low : high);
}

FPEMU_FN uint32_t core_to_f16(uint32_t y)
{
    const uint32_t sign = (y >> 16) & 0x8000u, a = y & 0x7fffffffu;
    const uint32_t low = core_bits32(core_value32(a) + 0.5f) - 0x3f000000u;
    const uint32_t high = (a - (112u << 23) + 0xfffu + ((a >> 13) & 1)) >> 13;
    const uint32_t w = a < 113u << 23 ? low : high, finite = w > 0x7bffu ? 0x7bffu : w;
    return a > CORE_INF32 ? 0x7e00u : sign | (a == CORE_INF32 ? 0x7c00u : finite);
}

/* A bfloat16 word: the upper half of a binary32 number. */
FPEMU_FN uint32_t core_from_bf16(uint32_t word)
{
    return word << 16;
}

FPEMU_FN uint32_t core_to_bf16(uint32_t y)
{
    const uint32_t sign = (y >> 16) & 0x8000u, a = y & 0x7fffffffu;
    const uint32_t w = (a + 0x7fffu + ((a >> 16) & 1)) >> 16, finite = w > 0x7f7fu ? 0x7f7fu : w;
    return a > CORE_INF32 ? 0x7fc0u : sign | (a == CORE_INF32 ? 0x7f80u : finite);
}

/* Of either type. */
FPEMU_FN uint32_t core_from_narrow(int bfloat, uint32_t word)
{
    return bfloat ? core_from_bf16(word) : core_from_f16(word);
}

FPEMU_FN uint32_t core_to_narrow(int bfloat, uint32_t y)
{
    return bfloat ? core_to_bf16(y) : core_to_f16(y);
}

#endif /* FPEMU_CORE_NARROW_H */
