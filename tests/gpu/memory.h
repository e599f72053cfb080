/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.h - memory that the device can reach, for tests that run on a device and on the processor that simulates one;
 * types of arrays; and what both libraries count. */
#ifndef TEST_MEMORY_H
#define TEST_MEMORY_H

#include "../common.h"
#include <fpemu_cuda.h>

/* Ends the program with 77 (skipped) where there is no device. */
void device_begin(void);
/* Buffer `which` (0..7) of at least `bytes` bytes; the same one as long as it is large enough. */
void *device_memory(int which, size_t bytes);
void to_device(void *d, const void *h, size_t bytes);
void from_device(void *h, const void *d, size_t bytes);

/* Types of arrays. */
enum { F32, F64, BF16, F16 };
__attribute__((unused)) static const fpemu_type types[] = {FPEMU_TYPE_F32, FPEMU_TYPE_F64, FPEMU_TYPE_BF16,
                                                           FPEMU_TYPE_F16};

__attribute__((unused)) static const size_t element[] = {[F32] = 4, [F64] = 8, [BF16] = 2, [F16] = 2};

/* r, or, for the device alone, the same with its seed and most of its stream in buffer 7. */
static inline fpemu_rounding for_device(fpemu_rounding r, int in_memory)
{
    const uint64_t state[] = {r.seed, r.stream - 5};
    if (!in_memory)
        return r;
    r.seed = (uintptr_t)device_memory(7, sizeof state);
    to_device((void *)(uintptr_t)r.seed, state, sizeof state);
    r.stream = 5;
    r.generator |= FPEMU_CUDA_STATE;
    return r;
}

/* Empty counters, of which everything is asked for, or the least; the histogram begins at 2^-20. */
static inline fpemu_stats empty_stats(int everything, uint64_t *bins, uint32_t length)
{
    fpemu_stats s = {0};
    s.request.want = everything ? FPEMU_STATS_SUMS | FPEMU_STATS_HISTOGRAM : 0;
    s.request.histogram = bins;
    s.request.histogram_first = -20;
    s.request.histogram_length = length;
    return s;
}

/* Whether both have counted the same, whatever was asked for. */
static inline int same_stats(const fpemu_stats *a, const fpemu_stats *b)
{
    return memcmp(&a->request + 1, &b->request + 1, sizeof *a - sizeof a->request) == 0;
}

/* A call that is refused, or not, and what it says: SAYS(ERROR_NULL, "no array", call). */
typedef struct refusal {
    const char *what;
    fpemu_cuda_status got, expected;
} refusal;
#define SAYS(status, what, ...) {what, __VA_ARGS__, FPEMU_CUDA_##status}

static inline unsigned differs(const refusal *r)
{
    if (r->got != r->expected)
        printf("FAIL %s: status %d, not %d\n", r->what, r->got, r->expected);
    return r->got != r->expected;
}

#endif
