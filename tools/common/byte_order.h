/* SPDX-License-Identifier: BSD-2-Clause */
/* byte_order.h - the order of the bytes of a number: this machine's, the other one, the least significant first. */
#ifndef COMMON_BYTE_ORDER_H
#define COMMON_BYTE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool byte_order_is_big(void);
/* Reverses the bytes of every element, of 1, 2, 4 or 8 bytes. */
void byte_order_swap(void *elements, unsigned size, size_t count);

/* Whole numbers in bytes, the least significant first. */
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
