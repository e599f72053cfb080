/* SPDX-License-Identifier: BSD-2-Clause */
/* simulate.c - the kernels run on this processor, warp by warp: launch.h for the tests, where no GPU is needed. */
#include "launch.h"

/* More than one warp, and a number that divides nothing. */
#define WARPS 5
#define EACH_WARP(warp) for (uint64_t warp = 0; warp < WARPS; warp++)

/* A case as a kernel has it that was made for it, for elements apart, or for its form alone: quantize.cu has all three,
 * and takes what there is; here they take turns. */
static gpu_case of_kernel(gpu_case c, uint64_t n, int words)
{
    switch (n % 3) {
    case 1:
        c.quads = 0;
        c.random = words ? c.random : GPU_RANDOM_ANY;
        break;
    case 2:
        c.known = c.quads = 0;
        c.form =
            c.form == GPU_FORM_FAST || c.form == GPU_FORM_FLOAT || c.form == GPU_FORM_ANY ? c.form : GPU_FORM_GENERAL;
        break;
    }
    return c;
}

#include "core/carrier32.h"
#include "simulate.inc.c"
#include "core/carrier_end.h"

#include "core/carrier64.h"
#include "simulate.inc.c"
#include "core/carrier_end.h"

fpemu_cuda_status fpemu_gpu_block_runs32(const gpu_blocks_job32 *job, fpemu_cuda_stream stream)
{
    const core_blocked32 *const b = &job->rule;
    const gpu_blocks_call *const call = &job->call;
    const gpu_run_table fast = {call->table ? call->table : job->table, job->fast.thresholds};
    (void)stream;
    EACH_WARP(warp)
        gpu_block_runs(job, &fast, gpu_run_way(job), b->plan.rule, b->is_table ? b->table.mode : b->plan.mode, 1,
                       call->bytes != NULL, call->counts != NULL, (uint32_t)warp, WARPS);
    if (call->counts)
        call->counts->count += gpu_run_elements(call);
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
    for (uint64_t i = 0; i < gpu_swizzle_steps(rows, columns); i++)
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
    return p ? FPEMU_CUDA_OK : FPEMU_CUDA_ERROR_POINTER;
}

fpemu_cuda_status fpemu_gpu_wait(fpemu_cuda_stream stream, const char **text)
{
    (void)stream;
    if (text)
        *text = "no error";
    return FPEMU_CUDA_OK;
}
