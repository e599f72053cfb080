/* SPDX-License-Identifier: BSD-2-Clause */
/* block_runs.cu - tensors without gaps: gpu_block_runs of block_runs.h as kernels, one for each way, as what is rare is
 * part of every kernel. */
#include "launch.cuh"

typedef void run_kernel(gpu_blocks_job32);

/* Blocks of threads that a multiprocessor has room for: counters take registers. */
#define ROOM(counted) (counted ? 2 : 3)

static __device__ __forceinline__ void by_codes(const gpu_blocks_job32 *job, const gpu_run_table *fast, int way,
                                                int rule, int mode, int philox, int counted)
{
    const uint32_t warp = (uint32_t)this_warp(), warps = (uint32_t)all_warps();
    if (job->call.bytes)
        gpu_block_runs(job, fast, way, rule, mode, philox, 1, counted, warp, warps);
    else
        gpu_block_runs(job, fast, way, rule, mode, philox, 0, counted, warp, warps);
}

/* The commonest modes are known at compile time. */
static __device__ __forceinline__ void by_mode(const gpu_blocks_job32 *job, int way, int rule, int counted)
{
    const int mode = job->rule.plan.mode;
    if (mode == FPEMU_MODE_RNE)
        by_codes(job, NULL, way, rule, FPEMU_MODE_RNE, 0, counted);
    else if (mode == FPEMU_MODE_SR && job->call.random.generator != FPEMU_GENERATOR_PHILOX)
        by_codes(job, NULL, way, rule, FPEMU_MODE_SR, 0, counted);
    else
        by_codes(job, NULL, way, rule, mode, 1, counted);
}

template <int way, int counted>
static __global__ void __launch_bounds__(THREADS, ROOM(counted)) runs(const __grid_constant__ gpu_blocks_job32 job)
{
    if (job.rule.plan.rule == CORE_RULE_EVEN)
        by_mode(&job, way, CORE_RULE_EVEN, counted);
    else
        by_mode(&job, way, CORE_RULE_SHIFTER_STOP, counted);
}

/* Tables that come with the job are looked up in shared memory. */
template <int way, int counted>
static __global__ void __launch_bounds__(THREADS, ROOM(counted))
    runs_of_table(const __grid_constant__ gpu_blocks_job32 job)
{
    __shared__ float values[GPU_TABLE], thresholds[GPU_TABLE];
    for (unsigned i = threadIdx.x; i < GPU_TABLE; i += THREADS) {
        values[i] = job.table[i];
        thresholds[i] = job.fast.thresholds[i];
    }
    threads_meet();
    const gpu_run_table fast = {job.call.table ? job.call.table : values, thresholds};
    by_codes(&job, &fast, way, CORE_RULE_FLOAT, job.rule.table.mode, 1, counted);
}

static run_kernel *choose(const gpu_blocks_job32 *job)
{
    const int counted = job->call.counts != NULL, table = job->rule.is_table;
    switch (gpu_run_way(job)) {
    case GPU_RUN_POWERS: return runs<GPU_RUN_POWERS, 0>;
    case GPU_RUN_QUOTIENTS:
        return table     ? counted ? runs_of_table<GPU_RUN_QUOTIENTS, 1> : runs_of_table<GPU_RUN_QUOTIENTS, 0>
               : counted ? runs<GPU_RUN_QUOTIENTS, 1>
                         : runs<GPU_RUN_QUOTIENTS, 0>;
    default:
        return table     ? counted ? runs_of_table<GPU_RUN_PRODUCTS, 1> : runs_of_table<GPU_RUN_PRODUCTS, 0>
               : counted ? runs<GPU_RUN_PRODUCTS, 1>
                         : runs<GPU_RUN_PRODUCTS, 0>;
    }
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
    const cudaError_t error = enqueue(choose(job), blocks, THREADS, stream, *job);
    if (error == cudaSuccess && call->counts)
        return fpemu_gpu_add(&call->counts->count, gpu_run_elements(call), stream);
    return fpemu_gpu_status(error);
}
