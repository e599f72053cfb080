/* SPDX-License-Identifier: BSD-2-Clause */
/* warp.h - a warp of 32 lanes, written once for device and host.
 *
 * A kernel body is plain C that says what one warp does: FOR_LANES(l) runs a piece for every lane, a variable of a lane
 * is an array of LANES elements, read as OF(a, l). On the device a thread is one lane (LANES is 1, the loop runs once);
 * on the host one call runs all 32 lanes in turn. So the tests run every index and every rule of the kernels where
 * there is no GPU. Between two FOR_LANES pieces lanes meet only through the functions below. */
#ifndef FPEMU_GPU_WARP_H
#define FPEMU_GPU_WARP_H

#include "core/port.h"

#ifndef __CUDA_ARCH__
#include <assert.h>
#endif

#ifdef __CUDA_ARCH__
#define LANES 1
#define FOR_LANES(l) for (unsigned l = threadIdx.x & 31u, l##_once = 1; l##_once; l##_once = 0)
#define OF(a, l) (a)[(l) * 0]
#else
#define LANES 32
#define FOR_LANES(l) for (unsigned l = 0; l < 32; l++)
#define OF(a, l) (a)[l]
#endif

/* What the bodies call in several places: part of each kernel, but on the processor it need not be compiled more than
 * once. */
#ifdef __CUDACC__
#define GPU_PART FPEMU_FN
#else
#define GPU_PART FPEMU_SLOW
#endif

/* A short loop whose variable picks array elements that have to stay in registers. */
#ifdef __CUDA_ARCH__
#define UNROLLED _Pragma("unroll")
#define NOT_UNROLLED _Pragma("unroll 1")
#else
#define UNROLLED
#define NOT_UNROLLED
#endif

/* A block of threads where it shares memory: FOR_THREADS as FOR_LANES, a variable of a thread an array of HELD, read as
 * OF. What one piece leaves in shared memory the next may read after threads_meet(). */
#define THREADS 256
#ifdef __CUDA_ARCH__
#define HELD 1
#define FOR_THREADS(t) for (unsigned t = threadIdx.x, t##_once = 1; t##_once; t##_once = 0)
#define threads_meet() __syncthreads()
#else
#define HELD THREADS
#define FOR_THREADS(t) for (unsigned t = 0; t < THREADS; t++)
#define threads_meet() ((void)0)
#endif

/* Sum over the lanes; every lane of the device gets it. */
FPEMU_FN uint64_t lanes_sum(const uint32_t *a)
{
#ifdef __CUDA_ARCH__
    uint64_t sum = a[0];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    return sum;
#else
    uint64_t sum = 0;
    FOR_LANES(l)
        sum += OF(a, l);
    return sum;
#endif
}

/* The largest over groups of `group` neighbouring lanes, a power of two; every lane gets its group's, in a. */
FPEMU_FN void lanes_group_max(uint64_t *a, unsigned group)
{
#ifdef __CUDA_ARCH__
    for (unsigned step = group / 2; step > 0; step /= 2) {
        const uint64_t other = __shfl_xor_sync(0xffffffffu, a[0], (int)step);
        a[0] = other > a[0] ? other : a[0];
    }
#else
    for (unsigned first = 0; first < 32; first += group) {
        uint64_t largest = 0;
        for (unsigned l = first; l < first + group; l++)
            largest = a[l] > largest ? a[l] : largest;
        for (unsigned l = first; l < first + group; l++)
            a[l] = largest;
    }
#endif
}

/* Over all lanes. */
FPEMU_FN uint64_t lanes_max(uint64_t *a)
{
    lanes_group_max(a, 32);
    return a[0];
}

FPEMU_FN void lanes_group_max32(uint32_t *a, unsigned group)
{
#ifdef __CUDA_ARCH__
    for (unsigned step = group / 2; step > 0; step /= 2) {
        const uint32_t other = __shfl_xor_sync(0xffffffffu, a[0], (int)step);
        a[0] = other > a[0] ? other : a[0];
    }
#else
    for (unsigned first = 0; first < 32; first += group) {
        uint32_t most = 0;
        for (unsigned l = first; l < first + group; l++)
            most = a[l] > most ? a[l] : most;
        for (unsigned l = first; l < first + group; l++)
            a[l] = most;
    }
#endif
}

/* The same of four numbers a lane, at the same time. */
FPEMU_FN void lanes_group_max_of_four(uint32_t a[4][LANES], unsigned group)
{
#ifdef __CUDA_ARCH__
    for (unsigned step = group / 2; step > 0; step /= 2) UNROLLED
        for (int k = 0; k < 4; k++) {
            const uint32_t other = __shfl_xor_sync(0xffffffffu, a[k][0], (int)step);
            a[k][0] = other > a[k][0] ? other : a[k][0];
        }
#else
    for (int k = 0; k < 4; k++)
        lanes_group_max32(a[k], group);
#endif
}

/* What lane `from` holds; every lane of the device asks. */
FPEMU_FN uint32_t lanes_from(const uint32_t *a, unsigned from)
{
#ifdef __CUDA_ARCH__
    return __shfl_sync(0xffffffffu, a[0], (int)from);
#else
    return a[from];
#endif
}

/* Whether every lane holds something else than 0. */
FPEMU_FN int lanes_all(const uint32_t *a)
{
#ifdef __CUDA_ARCH__
    return __all_sync(0xffffffffu, a[0] != 0);
#else
    int all = 1;
    FOR_LANES(l)
        all &= OF(a, l) != 0;
    return all;
#endif
}

/* What the eight lanes of lane l's octet hold. */
FPEMU_FN void lanes_octet(const uint64_t *a, unsigned l, uint64_t out[8])
{
#ifdef __CUDA_ARCH__
    for (int k = 0; k < 8; k++)
        out[k] = __shfl_sync(0xffffffffu, a[0], (int)(l & 24u) + k);
#else
    for (unsigned k = 0; k < 8; k++)
        out[k] = a[(l & 24u) + k];
#endif
}

/* The lanes of an error sum taken together, in the order that doc/numerics.md fixes: lane l takes in lane l+16, l+8, ...
 * Groups of fewer lanes are blocks of sums whose other lanes hold zero. A group's first lane gets its total, in a. */
FPEMU_FN void lanes_group_fold(double *a, unsigned group)
{
    for (unsigned step = group / 2; step > 0; step /= 2) {
#ifdef __CUDA_ARCH__
        a[0] += __shfl_down_sync(0xffffffffu, a[0], step);
#else
        for (unsigned first = 0; first < 32; first += group)
            for (unsigned l = first; l < first + step; l++)
                a[l] += a[l + step];
#endif
    }
}

/* Of all lanes: lane 0 of the device gets it. */
FPEMU_FN double lanes_fold(double *a)
{
    lanes_group_fold(a, 32);
    return a[0];
}

/* 1 in the one lane of the device that writes for all of them; always 1 on the host. */
FPEMU_FN int lanes_writer(void)
{
#ifdef __CUDA_ARCH__
    return (threadIdx.x & 31u) == 0;
#else
    return 1;
#endif
}

/* Words shared by all warps: order cannot matter, since integers are added or the larger kept. */
FPEMU_FN void shared_add(uint64_t *to, uint64_t v)
{
#ifdef __CUDA_ARCH__
    atomicAdd((unsigned long long *)to, (unsigned long long)v);
#else
    *to += v;
#endif
}

FPEMU_FN void shared_or(uint64_t *to, uint64_t v)
{
#ifdef __CUDA_ARCH__
    atomicOr((unsigned long long *)to, (unsigned long long)v);
#else
    *to |= v;
#endif
}

FPEMU_FN void shared_max(uint64_t *to, uint64_t v)
{
#ifdef __CUDA_ARCH__
    atomicMax((unsigned long long *)to, (unsigned long long)v);
#else
    *to = v > *to ? v : *to;
#endif
}

#endif /* FPEMU_GPU_WARP_H */
