/* SPDX-License-Identifier: BSD-2-Clause */
/* fpemu/stats.h - what happened to the elements of a call: counters, extrema, sums of errors, histograms. */
#ifndef FPEMU_API_STATS_H
#define FPEMU_API_STATS_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What may be asked for beyond the counters and extrema, which always come: bits of fpemu_stats_request.want. */
#define FPEMU_STATS_SUMS 1u      /* the three sums */
#define FPEMU_STATS_HISTOGRAM 2u /* exponents of the input */
#define FPEMU_STATS_SCALES 4u    /* exponents of the scales of blocks */

/* What the caller asks for. All zero: counters and extrema. A histogram is an array of the caller's, of `length` (at
 * least 3) counts, which calls add to: bin 0 counts exponents below `first`, bin 1 those equal to it, bin 2 the next,
 * and so on; the last bin counts all that are larger. */
typedef struct fpemu_stats_request {
    uint32_t want;      /* FPEMU_STATS_SUMS | FPEMU_STATS_HISTOGRAM | FPEMU_STATS_SCALES */
    uint32_t reserved0; /* 0 */
    int32_t histogram_first;
    uint32_t histogram_length;
    int32_t scale_first;
    uint32_t scale_length;
    union {
        uint64_t *histogram; /* of floor(log2 |x|), x finite and not zero */
        uint64_t histogram_word;
    };
    union {
        uint64_t *scale_histogram; /* blocked formats: of floor(log2 s), a count a block whose scale s is finite and not
                                      zero. Not for s2fp8 */
        uint64_t scale_histogram_word;
    };
} fpemu_stats_request;
FPEMU_STATIC_ASSERT(sizeof(fpemu_stats_request) == 40, "fpemu_stats_request has no unnamed padding");

/* An exact sum of binary64 numbers that are not negative, as a fixed-point integer. fpemu_stats_sum_... reads it. */
typedef struct fpemu_exact_sum {
    uint64_t word[34]; /* the least significant first; bit 0 weighs 2^-1074 */
    uint64_t infinite; /* how many terms were infinite */
} fpemu_exact_sum;
FPEMU_STATIC_ASSERT(sizeof(fpemu_exact_sum) == 280, "fpemu_exact_sum has no unnamed padding");

/* A request, and what one call or several found. Set all of it to zero, fill in `request`, and pass it to as many calls
 * as you like: they add to it. x is the input (in arithmetic the exact result before rounding), y what it became (value
 * to code: the value of the code). An element may count in several counters. doc/numerics.md, 6; of blocks
 * doc/blocks.md, 7. */
typedef struct fpemu_stats {
    fpemu_stats_request request;
    uint64_t count;       /* elements */
    uint64_t nan;         /* x is NaN */
    uint64_t infinite;    /* x is an infinity */
    uint64_t clipped;     /* x finite, outside [lowest, max] (e8m0: above max) */
    uint64_t overflow;    /* x finite; rounded as if the format had no ends, it lies outside [lowest, max] */
    uint64_t invalid;     /* x not NaN, y NaN, other than by overflow */
    uint64_t div_by_zero; /* arithmetic only: a division of a finite number by zero, or a function at a pole */
    uint64_t underflow;   /* x finite and not zero, y zero */
    uint64_t subnormal;   /* y not zero, |y| below the smallest normal value */
    uint64_t inexact;     /* x finite, y not x, NaN too (-0 and +0 are the same) */
    double min_abs;       /* smallest |x|, of finite x other than zero; 0 when there is none */
    double max_abs;       /* largest |x|, of finite x */
    double max_error;     /* largest |x - y| of finite x and y, x - y rounded once to binary64, which may be infinite */
    /* Sums over the elements with x and y finite. Each term is rounded once to binary64; doc/numerics.md fixes the
     * order in which they are added, so that neither threads nor the device change a bit. */
    fpemu_exact_sum sum_error;  /* |x - y| */
    fpemu_exact_sum sum_error2; /* (x - y)^2 */
    fpemu_exact_sum sum_square; /* x^2 */
    uint64_t swamped;           /* dot products only: additions of two numbers where one, not zero, changed nothing */
    uint64_t reserved1[3];      /* 0 */
    /* Blocked formats only */
    uint64_t blocks;           /* blocks seen */
    uint64_t zero_blocks;      /* blocks whose elements are all zero; by fpemu_shape.whole, where it gives the scale */
    uint64_t nan_blocks;       /* blocks that became NaN, since an element was NaN or infinite */
    uint64_t saturated_scales; /* scales that their format could not hold: cut to its largest, raised to its smallest */
} fpemu_stats;
FPEMU_STATIC_ASSERT(sizeof(fpemu_stats) == 1048, "fpemu_stats has no unnamed padding");

/* Adds what `from` found to `to`. Both must ask for the same, histograms of the same shape in arrays of their own;
 * FPEMU_ERROR_STATS otherwise, also where an array of `to` has bytes in common with one of `from`. */
fpemu_status fpemu_stats_merge(fpemu_stats *to, const fpemu_stats *from);

/* The sums, each rounded once (RNE) to binary64; infinity if a term was infinite; 0 for NULL. */
double fpemu_stats_sum_error(const fpemu_stats *stats);
double fpemu_stats_sum_error2(const fpemu_stats *stats);
double fpemu_stats_sum_square(const fpemu_stats *stats);
/* Signal to quantisation noise in dB, 10 log10(sum x^2 / sum (x-y)^2); +infinity without error, NaN without signal, or
 * where there is an error and the sum of x^2 is infinite. */
double fpemu_stats_sqnr(const fpemu_stats *stats);

#ifdef __cplusplus
}
#endif

#endif /* FPEMU_API_STATS_H */
