/* SPDX-License-Identifier: BSD-2-Clause */
/* simulate.inc.c - the kernels of one carrier, run on this processor; included twice by simulate.c. */

fpemu_cuda_status fpemu_gpu_quantize(const gpu_quantize_job *job, fpemu_cuda_stream stream)
{
    const int counted = job->call.counts != NULL;
    const int histogram = counted && job->call.counts->want & FPEMU_STATS_HISTOGRAM;
    static _Thread_local uint32_t bins[GPU_BINS];
    (void)stream;
    const gpu_case c = of_kernel(gpu_case_of(job, gpu_counts_of(&job->call)), job->call.n, CARRIER_BITS == 64);
    EACH_WARP(warp)
        gpu_quantize(job, c, histogram ? bins : NULL, warp, WARPS);
    if (histogram)
        gpu_bins_flush(bins, job->call.counts, 0, 1);
    if (counted)
        job->call.counts->count += job->call.n;
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_decode(const gpu_quantize_job *job, fpemu_cuda_stream stream)
{
    (void)stream;
    EACH_WARP(warp)
        gpu_decode(job, gpu_case_of_decode(job), warp, WARPS);
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_blocks(const gpu_blocks_job *job, uint64_t elements, fpemu_cuda_stream stream)
{
    const int counted = job->call.counts != NULL;
    (void)stream;
#if CARRIER_BITS == 32
    if (gpu_is_counted(&job->call))
        return FPEMU_CUDA_OK;
#endif
    EACH_WARP(warp)
        gpu_blocks(job, gpu_blocks_form(job), job->rule.plan.mode, counted, gpu_width(&job->call), warp, WARPS);
    if (counted)
        job->call.counts->count += elements;
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_unpack(const gpu_blocks_job *job, fpemu_cuda_stream stream)
{
    (void)stream;
    EACH_WARP(warp) {
#if CARRIER_BITS == 32
        if (job->call.run) {
            gpu_unpack_runs(job, job->call.table ? job->call.table : job->table, gpu_run_codes(job), (uint32_t)warp,
                            WARPS);
            continue;
        }
#endif
        gpu_unpack(job, gpu_width(&job->call), warp, WARPS);
    }
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_extremes(const gpu_blocks_job *job, fpemu_cuda_stream stream)
{
    (void)stream;
    EACH_WARP(warp)
        gpu_blocks_extremes(job, gpu_width(&job->call), warp, WARPS);
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_measure(const gpu_blocks_job *job, uint64_t elements, fpemu_cuda_stream stream)
{
    (void)stream;
    EACH_WARP(warp) {
#if CARRIER_BITS == 32
        if (job->call.run) {
            gpu_measure_runs(job, job->call.x_type, warp, WARPS);
            continue;
        }
#endif
        gpu_measure(job, gpu_width(&job->call), warp, WARPS);
    }
    job->call.range->count += elements;
    return FPEMU_CUDA_OK;
}
