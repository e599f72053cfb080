/* SPDX-License-Identifier: BSD-2-Clause */
/* block_runs.cu - values of tensors without gaps: gpu_block_runs of block_runs.h as kernels. */
#include "launch.cuh"

template <int mode> static __global__ void __launch_bounds__(THREADS) runs(const __grid_constant__ gpu_blocks_job32 job)
{
    if (job.rule.plan.rule == CORE_RULE_EVEN)
        gpu_block_runs(&job, CORE_RULE_EVEN, mode, this_warp(), all_warps());
    else
        gpu_block_runs(&job, CORE_RULE_SHIFTER_STOP, mode, this_warp(), all_warps());
}

static __global__ void __launch_bounds__(THREADS) runs_of_codebook(const __grid_constant__ gpu_blocks_job32 job)
{
    gpu_block_runs(&job, CORE_RULE_FLOAT, job.rule.table.mode, this_warp(), all_warps());
}

extern "C" fpemu_cuda_status fpemu_gpu_block_runs32(const gpu_blocks_job32 *job, fpemu_cuda_stream stream)
{
    unsigned blocks;
    const fpemu_cuda_status status = fpemu_gpu_grid(job->call.walk.total / 128 + 1, &blocks);
    if (status)
        return status;
    return fpemu_gpu_status(enqueue(job->rule.is_table                      ? runs_of_codebook
                                    : job->rule.plan.mode == FPEMU_MODE_RNE ? runs<FPEMU_MODE_RNE>
                                                                            : runs<FPEMU_MODE_SR>,
                                    blocks, THREADS, stream, *job));
}
