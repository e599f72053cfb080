/* SPDX-License-Identifier: BSD-2-Clause */
/* bytes.h - whole numbers in bytes, the least significant first. */
#ifndef COMMON_BYTES_H
#define COMMON_BYTES_H

#include <stdint.h>

static inline uint64_t bytes_load(const unsigned char *bytes, int size)
{
    uint64_t value = 0;
    for (int i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

static inline void bytes_store(unsigned char *bytes, int size, uint64_t value)
{
    for (int i = 0; i < size; i++)
        bytes[i] = (unsigned char)(value >> 8 * i & 0xff);
}

#endif
