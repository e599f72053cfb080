/* SPDX-License-Identifier: BSD-2-Clause */
/* shape.c - see shape.h */
#include "common/shape.h"

#include <inttypes.h>

bool shape_measure(unsigned dimensions, const uint64_t *extent, unsigned bits, uint64_t *count, uint64_t *bytes,
                   trouble *why)
{
    uint64_t product = 1;
    bool empty = false;
    for (unsigned i = 0; i < dimensions; i++)
        if (extent[i] == 0)
            empty = true;
        else if (product > (uint64_t)INT64_MAX / bits / extent[i])
            return fail(why, "the shape asks for more than 2^%s", bits == 1 ? "63 elements" : "63 bits");
        else
            product *= extent[i];
    *count = empty ? 0 : product;
    if (*count * bits % 8 != 0)
        return fail(why, "%" PRIu64 " elements of %u bits make no whole number of bytes", *count, bits);
    *bytes = *count * bits / 8;
    return true;
}
