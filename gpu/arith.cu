/* SPDX-License-Identifier: BSD-2-Clause */
/* arith.cu - operations, functions and comparisons: the bodies of arith.h as kernels. */
#include "launch.cuh"

static __global__ void __launch_bounds__(THREADS) arith(const __grid_constant__ gpu_arith_job job)
{
    gpu_arith(&job, 0, 0, this_warp(), all_warps());
}

static __global__ void __launch_bounds__(THREADS) arith_counted(const __grid_constant__ gpu_arith_job job)
{
    gpu_arith(&job, 0, 1, this_warp(), all_warps());
}

/* counted at run time: a function takes much longer than that */
static __global__ void __launch_bounds__(THREADS) apply(const __grid_constant__ gpu_arith_job job)
{
    gpu_arith(&job, 1, job.counts != NULL, this_warp(), all_warps());
}

static __global__ void __launch_bounds__(THREADS) compare(const __grid_constant__ gpu_arith_job job)
{
    gpu_compare(&job, this_warp(), all_warps());
}

extern "C" {

fpemu_cuda_status fpemu_gpu_arith(const gpu_arith_job *job, fpemu_cuda_stream stream)
{
    unsigned blocks;
    const fpemu_cuda_status status = fpemu_gpu_grid(job->n / 4096 + 2, &blocks);
    if (status)
        return status;
    if (!job->counts)
        return fpemu_gpu_status(enqueue(arith, blocks, THREADS, stream, *job));
    const cudaError_t error = enqueue(arith_counted, blocks, THREADS, stream, *job);
    return error == cudaSuccess ? fpemu_gpu_add(&job->counts->count, job->n, stream) : fpemu_gpu_status(error);
}

fpemu_cuda_status fpemu_gpu_apply(const gpu_arith_job *job, fpemu_cuda_stream stream)
{
    unsigned blocks;
    const fpemu_cuda_status status = fpemu_gpu_grid(job->n / 4096 + 2, &blocks);
    if (status)
        return status;
    const cudaError_t error = enqueue(apply, blocks, THREADS, stream, *job);
    return error == cudaSuccess && job->counts ? fpemu_gpu_add(&job->counts->count, job->n, stream)
                                               : fpemu_gpu_status(error);
}

fpemu_cuda_status fpemu_gpu_compare(const gpu_arith_job *job, fpemu_cuda_stream stream)
{
    unsigned blocks;
    const fpemu_cuda_status status = fpemu_gpu_grid(job->n / 32 + 1, &blocks);
    if (status)
        return status;
    return fpemu_gpu_status(enqueue(compare, blocks, THREADS, stream, *job));
}
}
