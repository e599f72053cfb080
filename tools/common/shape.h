/* SPDX-License-Identifier: BSD-2-Clause */
/* shape.h - how many elements and bytes a shape that a file states asks for, without overflow. */
#ifndef COMMON_SHAPE_H
#define COMMON_SHAPE_H

#include <stdint.h>

#include "common/trouble.h"

/* The product of the extents, and the bytes of so many elements of `bits` bits; false and a sentence if they make more
 * than 2^63 bits, or no whole number of bytes. As in NumPy, the extents other than 0 have to stay below that even in
 * an empty array. */
bool shape_measure(unsigned dimensions, const uint64_t *extent, unsigned bits, uint64_t *count, uint64_t *bytes,
                   trouble *why);

#endif
