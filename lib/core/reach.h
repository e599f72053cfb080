/* SPDX-License-Identifier: BSD-2-Clause */
/* reach.h - the bytes of an array: whether memory has them, and whether two arrays, or two elements of one, have one in
 * common. What passes an end of memory must be refused before anything is compared: addresses past it begin at 0
 * again. */
#ifndef FPEMU_CORE_REACH_H
#define FPEMU_CORE_REACH_H

#include <stddef.h>
#include <stdint.h>

#include "port.h"

/* Most axes of an array. */
#ifndef CORE_REACH_AXES
#define CORE_REACH_AXES 4
#endif
/* So many steps are tried, at most; arrays about which they do not decide count as meeting. */
#define CORE_REACH_TRIES 65536

/* Bytes from `from` on and before `to`: of elements of `size` bytes each, those at `from` plus up to most[k] times
 * step[k]. Without axes the array is a single element. */
typedef struct core_reach {
    uintptr_t from, to;
    uint64_t size;
    int axes;
    uint64_t most[CORE_REACH_AXES], step[CORE_REACH_AXES];
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
    r->size = down + up;
    r->axes = 0;
    return 1;
}

/* `count` elements of `size` bytes from p on, likewise. */
FPEMU_FN int core_reach_array(core_reach *r, const void *p, uint64_t count, size_t size)
{
    return count <= PTRDIFF_MAX / size && core_reach_around(r, p, 0, (int64_t)(count * size));
}

/* Elements of `size` bytes, count[k] > 0 of them along axis k and stride[k] elements apart, the first at p,
 * likewise. */
FPEMU_FN int core_reach_strided(core_reach *r, const void *p, size_t size, int axes, const uint64_t *count,
                                const int64_t *stride)
{
    const uint64_t most = PTRDIFF_MAX / size;
    uint64_t up = 0, down = 0;
    for (int k = 0; k < axes; k++) {
        const uint64_t step = stride[k] < 0 ? 0 - (uint64_t)stride[k] : (uint64_t)stride[k];
        const core_wide far = core_multiply(step, count[k] - 1);
        if (far.high || far.low >= most || up + down + far.low >= most)
            return 0;
        *(stride[k] < 0 ? &down : &up) += far.low;
        r->most[k] = count[k] - 1;
        r->step[k] = step * size;
    }
    if (!core_reach_around(r, p, -(int64_t)(down * size), (int64_t)((up + 1) * size)))
        return 0;
    r->size = size;
    r->axes = axes;
    return 1;
}

FPEMU_FN uint64_t core_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Whether arrays have a byte in common; their reaches do. A byte of a lies a sum of multiples of a's steps and less
 * than a's size past its first; one of b as much before b's last, for seen from its end an array has the same
 * places. So they meet where the way from a's first byte to b's last is a sum of multiples of all steps and at most
 * `rest`. Steps that `rest` leaves no gaps between go into it; of the others the largest multiples are tried first.
 * Nested axes, as those of arrays with the same leading dimension, take one or two tries each. */
FPEMU_SLOW int core_reaches_share(const core_reach *a, const core_reach *b)
{
    const core_reach *const both[] = {a, b};
    uint64_t step[2 * CORE_REACH_AXES], most[2 * CORE_REACH_AXES], times[2 * CORE_REACH_AXES];
    uint64_t left[2 * CORE_REACH_AXES + 1]; /* of the way, when the multiples of the first k steps are taken */
    uint64_t reach[2 * CORE_REACH_AXES + 1], divisor[2 * CORE_REACH_AXES + 1]; /* of sums of the steps from k on */
    uint64_t rest = (a->size - 1) + (b->size - 1);
    int n = 0;
    for (int i = 0; i < 2 * CORE_REACH_AXES; i++) {
        const core_reach *const r = both[i / CORE_REACH_AXES];
        const int axis = i % CORE_REACH_AXES;
        int at = 0;
        if (axis >= r->axes || r->most[axis] == 0)
            continue;
        while (at < n && step[at] > r->step[axis])
            at++;
        if (at < n && step[at] == r->step[axis]) {
            most[at] += r->most[axis];
            continue;
        }
        for (int m = n++; m > at; m--) {
            step[m] = step[m - 1];
            most[m] = most[m - 1];
        }
        step[at] = r->step[axis];
        most[at] = r->most[axis];
    }
    for (; n > 0 && step[n - 1] <= rest + 1; n--)
        rest += step[n - 1] * most[n - 1];
    reach[n] = rest;
    divisor[n] = 0;
    for (int k = n; k > 0; k--) {
        reach[k - 1] = reach[k] + step[k - 1] * most[k - 1];
        divisor[k - 1] = core_divisor(step[k - 1], divisor[k]);
    }
    int k = 0;
    left[0] = (uint64_t)(b->to - 1 - a->from);
    for (int tries = 0; tries < CORE_REACH_TRIES; tries++) {
        const int within = left[k] <= reach[k];
        if (within && k == n)
            return 1;
        if (within && left[k] % divisor[k] <= rest) {
            times[k] = left[k] / step[k] < most[k] ? left[k] / step[k] : most[k];
            left[k + 1] = left[k] - times[k] * step[k];
            k++;
            continue;
        }
        if (!within && k > 0) /* smaller multiples of the last step leave still more */
            k--;
        while (k > 0 && times[k - 1] == 0)
            k--;
        if (k == 0)
            return 0;
        times[k - 1]--;
        left[k] += step[k - 1];
    }
    return 1;
}

/* Whether two arrays have a byte in common. */
FPEMU_FN int core_reaches_meet(const core_reach *a, const core_reach *b)
{
    return a->from < b->to && b->from < a->to && ((a->axes | b->axes) == 0 || core_reaches_share(a, b));
}

/* Whether no two elements of an array do: with those that differ first along axis k, those whose index there is 0 meet
 * none of the others. */
FPEMU_SLOW int core_reach_is_apart(const core_reach *r)
{
    core_reach first = *r, others;
    for (int k = 0; k < r->axes; k++) {
        if (r->most[k] == 0)
            continue;
        first.to -= (uintptr_t)(r->step[k] * r->most[k]);
        first.most[k] = 0;
        others = first;
        others.from += (uintptr_t)r->step[k];
        others.to += (uintptr_t)(r->step[k] * r->most[k]);
        others.most[k] = r->most[k] - 1;
        if (core_reaches_meet(&first, &others))
            return 0;
    }
    return 1;
}

#endif /* FPEMU_CORE_REACH_H */
