/* SPDX-License-Identifier: BSD-2-Clause */
/* simulate.c - the kernels run on this processor, warp by warp: launch.h for the tests, where no GPU is needed. */
#include "launch.h"

/* More than one warp, and a number that divides nothing. */
#define WARPS 5
#define EACH_WARP(warp) for (uint64_t warp = 0; warp < WARPS; warp++)

fpemu_cuda_status fpemu_gpu_quantize32(const gpu_quantize_job32 *job, fpemu_cuda_stream stream)
{
    const int counted = job->call.counts != NULL;
    (void)stream;
    EACH_WARP(warp)
    gpu_quantize32(job, gpu_form32(&job->plan), job->plan.rule, job->plan.mode, counted, warp, WARPS);
    if (counted)
        job->call.counts->count += job->call.n;
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_decode32(const gpu_quantize_job32 *job, fpemu_cuda_stream stream)
{
    (void)stream;
    EACH_WARP(warp) gpu_decode32(job, warp, WARPS);
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_blocks32(const gpu_blocks_job32 *job, uint64_t elements, fpemu_cuda_stream stream)
{
    const int counted = job->call.counts != NULL;
    (void)stream;
    EACH_WARP(warp)
    gpu_blocks32(job, gpu_blocks_form32(job), job->rule.plan.mode, counted, gpu_width(&job->call), warp, WARPS);
    if (counted)
        job->call.counts->count += elements;
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_unpack32(const gpu_blocks_job32 *job, fpemu_cuda_stream stream)
{
    (void)stream;
    EACH_WARP(warp) gpu_unpack32(job, gpu_width(&job->call), warp, WARPS);
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_extremes32(const gpu_blocks_job32 *job, fpemu_cuda_stream stream)
{
    (void)stream;
    EACH_WARP(warp) gpu_blocks_extremes32(job, gpu_width(&job->call), warp, WARPS);
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_measure32(const gpu_blocks_job32 *job, uint64_t elements, fpemu_cuda_stream stream)
{
    (void)stream;
    EACH_WARP(warp) gpu_measure32(job, gpu_width(&job->call), warp, WARPS);
    job->call.range->count += elements;
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_quantize64(const gpu_quantize_job64 *job, fpemu_cuda_stream stream)
{
    const int counted = job->call.counts != NULL;
    (void)stream;
    EACH_WARP(warp)
    gpu_quantize64(job, gpu_form64(&job->plan), job->plan.rule, job->plan.mode, counted, warp, WARPS);
    if (counted)
        job->call.counts->count += job->call.n;
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_decode64(const gpu_quantize_job64 *job, fpemu_cuda_stream stream)
{
    (void)stream;
    EACH_WARP(warp) gpu_decode64(job, warp, WARPS);
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_blocks64(const gpu_blocks_job64 *job, uint64_t elements, fpemu_cuda_stream stream)
{
    const int counted = job->call.counts != NULL;
    (void)stream;
    EACH_WARP(warp)
    gpu_blocks64(job, gpu_blocks_form64(job), job->rule.plan.mode, counted, gpu_width(&job->call), warp, WARPS);
    if (counted)
        job->call.counts->count += elements;
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_unpack64(const gpu_blocks_job64 *job, fpemu_cuda_stream stream)
{
    (void)stream;
    EACH_WARP(warp) gpu_unpack64(job, gpu_width(&job->call), warp, WARPS);
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_extremes64(const gpu_blocks_job64 *job, fpemu_cuda_stream stream)
{
    (void)stream;
    EACH_WARP(warp) gpu_blocks_extremes64(job, gpu_width(&job->call), warp, WARPS);
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_measure64(const gpu_blocks_job64 *job, uint64_t elements, fpemu_cuda_stream stream)
{
    (void)stream;
    EACH_WARP(warp) gpu_measure64(job, gpu_width(&job->call), warp, WARPS);
    job->call.range->count += elements;
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_block_runs32(const gpu_blocks_job32 *job, fpemu_cuda_stream stream)
{
    (void)stream;
    EACH_WARP(warp)
    gpu_block_runs(job, job->rule.plan.rule, job->rule.is_table ? job->rule.table.mode : job->rule.plan.mode, warp,
                   WARPS);
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_range_finish(gpu_range *range, gpu_range_rule rule, const fpemu_range *given,
                                         unsigned char *bytes, fpemu_cuda_stream stream)
{
    (void)stream;
    gpu_range_finish(range, rule, given);
    if (bytes)
        gpu_store_tensor_scales(bytes, range->tensor);
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_pack_tensor_scales(const gpu_range *range, gpu_range_rule rule, const fpemu_range *given,
                                               unsigned char *bytes, fpemu_cuda_stream stream)
{
    (void)stream;
    gpu_pack_tensor_scales(range, rule, given, bytes);
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_put_table(float *to, const float *from, uint32_t n, fpemu_cuda_stream stream)
{
    (void)stream;
    memcpy(to, from, n * sizeof *to);
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_swizzle(uint64_t rows, uint64_t columns, const uint8_t *from, uint8_t *to, int back,
                                    fpemu_cuda_stream stream)
{
    (void)stream;
    for (uint64_t i = 0; i < gpu_swizzle_steps(rows, columns, back); i++)
        gpu_swizzle(rows, columns, from, to, back, i);
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_zero(uint64_t *words, uint64_t n, fpemu_cuda_stream stream)
{
    (void)stream;
    memset(words, 0, (size_t)n * sizeof *words);
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_arith(const gpu_arith_job *job, fpemu_cuda_stream stream)
{
    (void)stream;
    EACH_WARP(warp)
    if (!job->counts && job->carrier == 32)
        gpu_arith_fast32(job, &job->fast.in32, gpu_arith_kernel(job), gpu_arith_is_any(job), warp, WARPS);
    else if (!job->counts && job->carrier)
        gpu_arith_fast64(job, &job->fast.in64, gpu_arith_kernel(job), gpu_arith_is_any(job), warp, WARPS);
    else
        gpu_arith(job, 0, job->counts != NULL, job->carrier != 0, warp, WARPS);
    if (job->counts)
        job->counts->count += job->n;
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_apply(const gpu_arith_job *job, fpemu_cuda_stream stream)
{
    (void)stream;
    EACH_WARP(warp)
    gpu_arith(job, 1, job->counts != NULL, 0, warp, WARPS);
    if (job->counts)
        job->counts->count += job->n;
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_compare(const gpu_arith_job *job, fpemu_cuda_stream stream)
{
    (void)stream;
    EACH_WARP(warp)
    if (job->scaled)
        gpu_compare_scaled(job, warp, WARPS);
    else
        gpu_compare(job, warp, WARPS);
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_gemm(const gpu_gemm_job *job, fpemu_cuda_stream stream)
{
    (void)stream;
    if (job->carrier && job->rule.model == FPEMU_MODEL_INTEGER) {
        gpu_whole_tile tile;
        EACH_WARP(block)
        gpu_whole(job, job->ends, &tile, block, WARPS);
        return FPEMU_CUDA_OK;
    }
    if (job->carrier && job->rule.model == FPEMU_MODEL_FUSED) {
        gpu_fused_tile tile;
        EACH_WARP(block)
        gpu_fused(job, gpu_fused_is_long(job), job->rule.chunk != 0, &tile, block, WARPS);
        return FPEMU_CUDA_OK;
    }
    if (job->carrier == 32) {
        gpu_mac_tile32 tile;
        EACH_WARP(block)
        gpu_macs32(job, gpu_macs_form(job), job->rule.model, &job->fast.in32, &tile, block, WARPS);
        return FPEMU_CUDA_OK;
    }
    if (job->carrier) {
        gpu_mac_tile64 tile;
        EACH_WARP(block)
        gpu_macs64(job, gpu_macs_form(job), job->rule.model, &job->fast.in64, &tile, block, WARPS);
        return FPEMU_CUDA_OK;
    }
    if (job->slab) {
        gpu_tile tile;
        EACH_WARP(block)
        gpu_gemm_tiles(job, &tile, block, WARPS);
        return FPEMU_CUDA_OK;
    }
    EACH_WARP(warp)
    gpu_gemm(job, job->counts != NULL, warp, WARPS);
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_clear(gpu_counts *counts, uint32_t want, fpemu_cuda_stream stream)
{
    (void)stream;
    memset(counts, 0, sizeof *counts);
    counts->want = want;
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_copy_back(void *to, const void *from, size_t bytes, fpemu_cuda_stream stream)
{
    (void)stream;
    memcpy(to, from, bytes);
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_reachable(const void *p)
{
    (void)p;
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_wait(fpemu_cuda_stream stream, const char **text)
{
    (void)stream;
    if (text)
        *text = "no error";
    return FPEMU_CUDA_OK;
}
