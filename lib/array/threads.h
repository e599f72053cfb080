/* SPDX-License-Identifier: BSD-2-Clause */
/* threads.h - what every call on arrays does around its loop: overlaps are refused, work is cut into parts, and what
 * the parts counted is joined. */
#ifndef FPEMU_ARRAY_THREADS_H
#define FPEMU_ARRAY_THREADS_H

#include "array.h"
#include "core/reach.h"

/* Arrays are split between threads from this many elements a thread on: starting one costs some microseconds, in which
 * one thread does about as many. */
#define ELEMENTS_PER_THREAD 65536

/* n elements of size a at x against n of size b at y: apart, or the very same. */
static inline fpemu_status check_overlap(const void *x, size_t a, const void *y, size_t b, size_t n)
{
    core_reach from, to;
    if (!core_reach_array(&from, x, n, a) || !core_reach_array(&to, y, n, b))
        return FPEMU_ERROR_ARGUMENT;
    return (x != y || a != b) && core_reaches_meet(&from, &to) ? FPEMU_ERROR_OVERLAP : FPEMU_OK;
}

/* How many threads a call may use. */
int fpemu_threads(void);

/* How many parts to split n elements into. */
static inline int thread_count(size_t n)
{
    if (n < 2 * ELEMENTS_PER_THREAD)
        return 1;
    const size_t most = n / ELEMENTS_PER_THREAD, threads = (size_t)fpemu_threads();
    return (int)(threads < most ? threads : most);
}

/* Adds what one of so many parts gathered to the caller's stats. */
void fpemu_gather_join(gathering *g, int carrier, int parts, fpemu_stats *to);

/* First element of part k of `parts`: a cut lies on a block of sums, so that no cut changes a bit. */
static inline size_t part_begin(int k, int parts, size_t n, uint64_t offset)
{
    if (k == 0)
        return 0;
    if (k == parts)
        return n;
    const size_t even = n / (size_t)parts * (size_t)k;
    return even - (size_t)((offset + even) & (SUM_BLOCK - 1));
}

#endif /* FPEMU_ARRAY_THREADS_H */
