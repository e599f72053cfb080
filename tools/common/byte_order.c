/* SPDX-License-Identifier: BSD-2-Clause */
/* byte_order.c - see byte_order.h */
#include "common/byte_order.h"

#include <stdint.h>
#include <string.h>

bool byte_order_is_big(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 0;
}

/* x86 compilers make byte swaps of these loops. */
void byte_order_swap(void *elements, unsigned size, size_t count)
{
    unsigned char *b = elements;
    if (size == 2) {
        for (size_t i = 0; i < count; i++, b += 2) {
            const unsigned char t[2] = {b[1], b[0]};
            memcpy(b, t, 2);
        }
    } else if (size == 4) {
        for (size_t i = 0; i < count; i++, b += 4) {
            const unsigned char t[4] = {b[3], b[2], b[1], b[0]};
            memcpy(b, t, 4);
        }
    } else if (size == 8) {
        for (size_t i = 0; i < count; i++, b += 8) {
            const unsigned char t[8] = {b[7], b[6], b[5], b[4], b[3], b[2], b[1], b[0]};
            memcpy(b, t, 8);
        }
    }
}
