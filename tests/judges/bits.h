/* SPDX-License-Identifier: BSD-2-Clause */
/* bits.h - numbers as bits and back, codes out of arrays: what every judge and every test needs. */
#ifndef JUDGES_BITS_H
#define JUDGES_BITS_H

#include "../common.h"

static inline uint32_t lh_float_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline uint64_t lh_double_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float lh_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline double lh_double(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Bits of the carrier (32 or 64) as binary64 and back (exact values only; every NaN gives the canonical one). */
static inline double carrier_value(unsigned carrier, uint64_t bits)
{
    return carrier == 32 ? (double)lh_float((uint32_t)bits) : lh_double(bits);
}

static inline uint64_t carrier_bits(unsigned carrier, double value)
{
    if (isnan(value))
        return carrier == 32 ? 0x7fc00000 : 0x7ff8000000000000;
    return carrier == 32 ? lh_float_bits((float)value) : lh_double_bits(value);
}

/* Code number i of an array of codes of 1, 2, 4 or 8 bytes. */
static inline uint64_t code_at(const void *codes, size_t size, size_t i)
{
    switch (size) {
    case 1: return ((const uint8_t *)codes)[i];
    case 2: return ((const uint16_t *)codes)[i];
    case 4: return ((const uint32_t *)codes)[i];
    default: return ((const uint64_t *)codes)[i];
    }
}

#endif
