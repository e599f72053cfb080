/* SPDX-License-Identifier: BSD-2-Clause */
/* byte_order.h - the order of the bytes of a number on this machine, and the other one. */
#ifndef COMMON_BYTE_ORDER_H
#define COMMON_BYTE_ORDER_H

#include <stdbool.h>
#include <stddef.h>

bool byte_order_is_big(void);
/* Reverses the bytes of every element, of 1, 2, 4 or 8 bytes. */
void byte_order_swap(void *elements, unsigned size, size_t count);

#endif
