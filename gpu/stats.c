/* SPDX-License-Identifier: BSD-2-Clause */
/* stats.c - the calls of counters: cleared on the device, read into an fpemu_stats. */
#include "call.h"

FPEMU_STATIC_ASSERT(offsetof(gpu_counts, counter[GPU_OVERFLOW]) == FPEMU_CUDA_STATS_OVERFLOW, "it is told to callers");

size_t fpemu_cuda_stats_size(void)
{
    return sizeof(gpu_counts);
}

fpemu_cuda_status fpemu_cuda_stats_clear(fpemu_cuda_stats *d_stats, uint32_t want, fpemu_cuda_stream stream)
{
    if (!d_stats)
        return FPEMU_CUDA_ERROR_NULL;
    if (want & ~(FPEMU_STATS_SUMS | FPEMU_STATS_HISTOGRAM | FPEMU_STATS_SCALES))
        return FPEMU_CUDA_ERROR_STATS;
    const fpemu_cuda_status status = fpemu_gpu_check_words(d_stats);
    return status ? status : fpemu_gpu_clear((gpu_counts *)(void *)d_stats, want, stream);
}

static void read_sum(const gpu_counts *from, int k, fpemu_exact_sum *to)
{
    uint64_t carry = 0;
    for (size_t i = 0; i < sizeof to->word / sizeof to->word[0]; i++) {
        uint64_t word = 0;
        for (int half = 0; half < 2; half++) {
            const uint64_t piece = from->sum[k][2 * i + (size_t)half] + carry; /* below 2^64: half of it is room */
            word |= (piece & 0xffffffffu) << (32 * half);
            carry = piece >> 32;
        }
        to->word[i] = word;
    }
    to->infinite = from->infinite[k];
}

/* Bins of exponents from `first` on into a caller's histogram. */
static void add_bins(int n, const uint64_t *bins, int64_t first, uint64_t *to, int64_t to_first, uint32_t length)
{
    for (int k = 0; k < n; k++) {
        const int64_t bin = first + k - to_first + 1, last = (int64_t)length - 1;
        to[bin < 0 ? 0 : bin > last ? last : bin] += bins[k];
    }
}

fpemu_cuda_status fpemu_cuda_stats_read(const fpemu_cuda_stats *d_stats, void *scratch, fpemu_stats *stats,
                                        fpemu_cuda_stream stream)
{
    if (!d_stats || !scratch || !stats)
        return FPEMU_CUDA_ERROR_NULL;
    fpemu_cuda_status status = fpemu_gpu_check_words(d_stats);
    if (!status)
        status = fpemu_gpu_copy_back(scratch, d_stats, sizeof(gpu_counts), stream);
    if (status)
        return status;
    const gpu_counts *c = (const gpu_counts *)scratch;
    fpemu_stats s;
    memset(&s, 0, sizeof s);
    if (c->want != stats->request.want)
        return FPEMU_CUDA_ERROR_STATS;
    s.count = c->count + c->counter[GPU_ROUNDINGS];
    s.nan = c->counter[GPU_NAN];
    s.infinite = c->counter[GPU_INFINITE];
    s.clipped = c->counter[GPU_CLIPPED];
    s.overflow = c->counter[GPU_OVERFLOW];
    s.invalid = c->counter[GPU_INVALID];
    s.div_by_zero = c->counter[GPU_DIV_BY_ZERO];
    s.underflow = c->counter[GPU_UNDERFLOW];
    s.subnormal = c->counter[GPU_SUBNORMAL];
    s.inexact = c->counter[GPU_INEXACT];
    s.swamped = c->counter[GPU_SWAMPED];
    s.blocks = c->counter[GPU_BLOCKS];
    s.zero_blocks = c->counter[GPU_ZERO_BLOCKS];
    s.nan_blocks = c->counter[GPU_NAN_BLOCKS];
    s.saturated_scales = c->counter[GPU_SATURATED_SCALES];
    s.max_abs = core_value64(c->max_abs);
    s.min_abs = c->not_min_abs ? core_value64(~c->not_min_abs) : 0;
    s.max_error = core_value64(c->max_error);
    read_sum(c, 0, &s.sum_error);
    read_sum(c, 1, &s.sum_error2);
    read_sum(c, 2, &s.sum_square);
    const uint32_t want = stats->request.want;
    if (((want & FPEMU_STATS_HISTOGRAM) && (!stats->request.histogram || stats->request.histogram_length < 3)) ||
        ((want & FPEMU_STATS_SCALES) && (!stats->request.scale_histogram || stats->request.scale_length < 3)))
        return FPEMU_CUDA_ERROR_STATS;
    s.request.want = stats->request.want = want & FPEMU_STATS_SUMS;
    status = gpu_status(fpemu_stats_merge(stats, &s));
    stats->request.want = want;
    if (!status && (want & FPEMU_STATS_HISTOGRAM))
        add_bins(GPU_BINS, c->bins, -1074, stats->request.histogram, stats->request.histogram_first,
                 stats->request.histogram_length);
    if (!status && (want & FPEMU_STATS_SCALES))
        add_bins(GPU_SCALE_BINS, c->scale_bins, -(GPU_SCALE_BINS / 2), stats->request.scale_histogram,
                 stats->request.scale_first, stats->request.scale_length);
    return status;
}
