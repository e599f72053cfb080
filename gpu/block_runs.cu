/* SPDX-License-Identifier: BSD-2-Clause */
/* block_runs.cu - tensors without gaps: gpu_block_runs of block_runs.h as kernels, which know way, rule, type and,
 * where it is one of the commonest, mode at compile time. */
#include "launch.cuh"

typedef void run_kernel(gpu_blocks_job32);

/* Stands for a mode known at run time. */
#define OF_PLAN (-1)

static __device__ __forceinline__ void by_codes(const gpu_blocks_job32 *job, const float *values, int way, int rule,
                                                int mode, int counted)
{
    const uint32_t warp = (uint32_t)this_warp(), warps = (uint32_t)all_warps();
    if (way != GPU_RUN_POWERS && job->call.bytes)
        gpu_block_runs(job, values, way, rule, mode, 1, counted, warp, warps);
    else
        gpu_block_runs(job, values, way, rule, mode, 0, counted, warp, warps);
}

template <int way, int mode, int counted>
static __global__ void __launch_bounds__(THREADS, 3) runs(const __grid_constant__ gpu_blocks_job32 job)
{
    const int m = mode == OF_PLAN ? job.rule.plan.mode : mode;
    if (job.rule.plan.rule == CORE_RULE_EVEN)
        by_codes(&job, NULL, way, CORE_RULE_EVEN, m, counted);
    else
        by_codes(&job, NULL, way, CORE_RULE_SHIFTER_STOP, m, counted);
}

/* Tables that come with the job are looked up in shared memory. */
template <int way, int counted>
static __global__ void __launch_bounds__(THREADS, 3) runs_of_table(const __grid_constant__ gpu_blocks_job32 job)
{
    __shared__ float values[GPU_TABLE];
    for (unsigned i = threadIdx.x; i < GPU_TABLE; i += THREADS)
        values[i] = job.table[i];
    threads_meet();
    by_codes(&job, job.call.table ? job.call.table : values, way, CORE_RULE_FLOAT, job.rule.table.mode, counted);
}

template <int way, int counted> static run_kernel *by_mode(const gpu_blocks_job32 *job)
{
    switch (job->rule.plan.mode) {
    case FPEMU_MODE_RNE: return runs<way, FPEMU_MODE_RNE, counted>;
    case FPEMU_MODE_SR: return runs<way, FPEMU_MODE_SR, counted>;
    default: return runs<way, OF_PLAN, counted>;
    }
}

template <int counted> static run_kernel *by_way(const gpu_blocks_job32 *job)
{
    const int way = gpu_run_way(job);
    if (job->rule.is_table)
        return way == GPU_RUN_QUOTIENTS ? runs_of_table<GPU_RUN_QUOTIENTS, counted>
                                        : runs_of_table<GPU_RUN_PRODUCTS, counted>;
    return way == GPU_RUN_QUOTIENTS          ? by_mode<GPU_RUN_QUOTIENTS, counted>(job)
           : way == GPU_RUN_POWERS && !counted ? by_mode<GPU_RUN_POWERS, 0>(job)
                                             : by_mode<GPU_RUN_PRODUCTS, counted>(job);
}

extern "C" fpemu_cuda_status fpemu_gpu_block_runs32(const gpu_blocks_job32 *job, fpemu_cuda_stream stream)
{
    const gpu_blocks_call *const call = &job->call;
    unsigned blocks;
    const fpemu_cuda_status status = fpemu_gpu_grid(call->walk.total / (128 * GPU_RUN_STRIPS) + 1, &blocks);
    if (status)
        return status;
    if (call->counts) /* counters are added up once a warp */
        blocks = blocks / 4 + 1;
    const cudaError_t error = enqueue(call->counts ? by_way<1>(job) : by_way<0>(job), blocks, THREADS, stream, *job);
    if (error == cudaSuccess && call->counts)
        return fpemu_gpu_add(&call->counts->count, gpu_run_elements(call), stream);
    return fpemu_gpu_status(error);
}
