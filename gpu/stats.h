/* SPDX-License-Identifier: BSD-2-Clause */
/* stats.h - the device's counters: what kernels add to, and how they become an fpemu_stats. */
#ifndef FPEMU_GPU_STATS_H
#define FPEMU_GPU_STATS_H

#include "fpemu.h"
#include "warp.h"

/* Which counter is which. GPU_ROUNDINGS adds to `count`. */
enum gpu_counter {
    GPU_NAN,
    GPU_INFINITE,
    GPU_CLIPPED,
    GPU_OVERFLOW,
    GPU_INVALID,
    GPU_DIV_BY_ZERO,
    GPU_UNDERFLOW,
    GPU_SUBNORMAL,
    GPU_INEXACT,
    GPU_ROUNDINGS,
    GPU_SWAMPED,
    GPU_BLOCKS,
    GPU_ZERO_BLOCKS,
    GPU_NAN_BLOCKS,
    GPU_SATURATED_SCALES,
    GPU_COUNTERS
};

/* An exact sum in 32-bit pieces, each with 32 bits to spare for carries: additions in any order, no carry between
 * threads. Piece i weighs 2^(32i - 1074). 2^32 terms fit between two clearings. */
#define GPU_PIECES 68

/* Exponents of binary64, -1074..1023, one bin each; binary32 data uses a part of them. */
#define GPU_BINS 2098

/* Exponents of scales, -2048..2047, likewise. */
#define GPU_SCALE_BINS 4096

/* One call's or several calls' counters, in device memory. All zero bits = nothing yet, but for `want`. */
typedef struct gpu_counts {
    uint32_t want; /* FPEMU_STATS_SUMS | FPEMU_STATS_HISTOGRAM | FPEMU_STATS_SCALES */
    uint32_t reserved0;
    uint64_t count;
    uint64_t counter[GPU_COUNTERS];
    uint64_t max_abs, not_min_abs, max_error; /* bits of binary64; not_min_abs = ~bits of the smallest, 0 = none */
    uint64_t infinite[3];                     /* infinite terms of the sums below */
    uint64_t sum[3][GPU_PIECES];              /* |x-y|, (x-y)^2, x^2 */
    uint64_t bins[GPU_BINS];
    uint64_t scale_bins[GPU_SCALE_BINS];
} gpu_counts;

/* Adds one total v >= 0, or infinite, of a block of sums. */
FPEMU_FN void gpu_add_exact(gpu_counts *c, int k, double v)
{
    const uint64_t u = core_bits64(v), field = u >> 52, fraction = u & ((UINT64_C(1) << 52) - 1);
    if (field >= 2047) {
        shared_add(&c->infinite[k], 1);
        return;
    }
    const uint64_t sig = field ? fraction | (UINT64_C(1) << 52) : fraction;
    const unsigned bit = field ? (unsigned)field - 1 : 0, shift = bit % 32;
    uint64_t *const to = c->sum[k] + bit / 32;
    const uint64_t low = sig << shift, high = shift ? sig >> (64 - shift) : 0;
    const uint64_t piece[3] = {low & 0xffffffffu, low >> 32, high};
    for (int i = 0; i < 3; i++)
        if (piece[i])
            shared_add(to + i, piece[i]);
}

/* Bin of floor(log2 |x|), a = |x| as binary64 bits or as those of binary32, finite and not zero. */
FPEMU_FN unsigned gpu_bin(uint64_t a)
{
    return a >> 52 ? (unsigned)(a >> 52) + 51 : (unsigned)core_log2_64(a);
}

FPEMU_FN unsigned gpu_bin32(uint32_t a)
{
    return a >> 23 ? (a >> 23) + 947 : (unsigned)core_log2_32(a) + 925;
}

/* One more in a bin that warps share until it is added to the call's. */
FPEMU_FN void shared_count(uint32_t *bin)
{
#ifdef __CUDA_ARCH__
    atomicAdd(bin, 1);
#else
    ++*bin;
#endif
}

/* Adds bins of a histogram to the call's, from `first` on every `step`th, and clears them. */
FPEMU_FN void gpu_bins_flush(uint32_t *bins, gpu_counts *to, unsigned first, unsigned step)
{
    for (unsigned i = first; i < GPU_BINS; i += step) {
        if (bins[i])
            shared_add(&to->bins[i], bins[i]);
        bins[i] = 0;
    }
}

#endif /* FPEMU_GPU_STATS_H */
