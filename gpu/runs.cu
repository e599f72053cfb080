/* runs.cu - values of tensors without gaps: gpu_tensor_runs of tensor.h as kernels. */
#include "launch.cuh"

#define RUNS(name, mode)                                                                                               \
    static __global__ void __launch_bounds__(THREADS) name(const __grid_constant__ gpu_tensor_job32 job)               \
    {                                                                                                                  \
        if (job.rule.plan.rule == CORE_RULE_EVEN)                                                                      \
            gpu_tensor_runs(&job, CORE_RULE_EVEN, mode, this_warp(), all_warps());                                     \
        else                                                                                                           \
            gpu_tensor_runs(&job, CORE_RULE_SHIFTER_STOP, mode, this_warp(), all_warps());                             \
    }

RUNS(nearest, FPEMU_MODE_RNE)
RUNS(stochastic, FPEMU_MODE_SR)

static __global__ void __launch_bounds__(THREADS) tables(const __grid_constant__ gpu_tensor_job32 job)
{
    gpu_tensor_runs(&job, CORE_RULE_FLOAT, job.rule.table.mode, this_warp(), all_warps());
}

extern "C" int fpemu_gpu_runs32(const gpu_tensor_job32 *job, fpemu_cuda_stream stream)
{
    unsigned blocks;
    const int status = fpemu_gpu_grid(job->job.walk.total / 128 + 1, &blocks);
    if (status)
        return status;
    return fpemu_gpu_status(enqueue(job->rule.is_table                 ? tables
                                    : job->rule.plan.mode == FPEMU_MODE_RNE ? nearest
                                                                       : stochastic,
                                    blocks, THREADS, stream, *job));
}
