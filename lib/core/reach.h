/* SPDX-License-Identifier: BSD-2-Clause */
/* reach.h - the bytes of an array: whether memory has them, and whether two arrays have one in common. What passes an
 * end of memory must be refused before anything is compared: addresses past it begin at 0 again. */
#ifndef FPEMU_CORE_REACH_H
#define FPEMU_CORE_REACH_H

#include <stddef.h>
#include <stdint.h>

#include "port.h"

/* From `from` on and before `to`. */
typedef struct core_reach {
    uintptr_t from, to;
} core_reach;

/* The bytes [first, last) relative to p, first <= 0 <= last; 0 where memory does not have them. */
FPEMU_FN int core_reach_around(core_reach *r, const void *p, int64_t first, int64_t last)
{
    const uintptr_t at = (uintptr_t)p;
    const uint64_t down = 0 - (uint64_t)first, up = (uint64_t)last;
    if (down > at || up > UINTPTR_MAX - at)
        return 0;
    r->from = at - (uintptr_t)down;
    r->to = at + (uintptr_t)up;
    return 1;
}

/* `count` elements of `size` bytes from p on, likewise. */
FPEMU_FN int core_reach_array(core_reach *r, const void *p, uint64_t count, size_t size)
{
    return count <= PTRDIFF_MAX / size && core_reach_around(r, p, 0, (int64_t)(count * size));
}

FPEMU_FN int core_reaches_meet(const core_reach *a, const core_reach *b)
{
    return a->from < b->to && b->from < a->to;
}

#endif /* FPEMU_CORE_REACH_H */
