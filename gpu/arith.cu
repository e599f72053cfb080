/* SPDX-License-Identifier: BSD-2-Clause */
/* arith.cu - operations, functions and comparisons: the bodies of arith.h as kernels. */
#include "launch.cuh"

static __global__ void __launch_bounds__(THREADS) arith(const __grid_constant__ gpu_arith_job job)
{
    gpu_arith(&job, 0, 0, 0, this_warp(), all_warps());
}

template <int fast>
static __global__ void __launch_bounds__(THREADS) arith_counted(const __grid_constant__ gpu_arith_job job)
{
    gpu_arith(&job, 0, 1, fast, this_warp(), all_warps());
}

/* counted at run time: a function takes much longer than that */
static __global__ void __launch_bounds__(THREADS) apply(const __grid_constant__ gpu_arith_job job)
{
    gpu_arith(&job, 1, job.counts != NULL, 0, this_warp(), all_warps());
}

static __global__ void __launch_bounds__(THREADS) compare(const __grid_constant__ gpu_arith_job job)
{
    gpu_compare(&job, this_warp(), all_warps());
}

static __global__ void __launch_bounds__(THREADS) compare_scaled(const __grid_constant__ gpu_arith_job job)
{
    gpu_compare_scaled(&job, this_warp(), all_warps());
}

/* By the forms of core/dot_fast.h. */
template <int operation, int any>
static __global__ void __launch_bounds__(THREADS) fast32(const __grid_constant__ gpu_arith_job job)
{
    gpu_arith_fast32(&job, &job.fast.in32, operation, any, this_warp(), all_warps());
}

template <int operation, int any>
static __global__ void __launch_bounds__(THREADS) fast64(const __grid_constant__ gpu_arith_job job)
{
    gpu_arith_fast64(&job, &job.fast.in64, operation, any, this_warp(), all_warps());
}

typedef void (*arith_kernel)(gpu_arith_job);

template <int operation> static arith_kernel fast(const gpu_arith_job *job)
{
    if (gpu_arith_is_any(job))
        return job->carrier == 32 ? fast32<operation, 1> : fast64<operation, 1>;
    return job->carrier == 32 ? fast32<operation, 0> : fast64<operation, 0>;
}

static arith_kernel kernel_of(const gpu_arith_job *job)
{
    if (job->counts)
        return job->carrier ? arith_counted<1> : arith_counted<0>;
    if (!job->carrier)
        return arith;
    switch (gpu_arith_kernel(job)) {
    case FPEMU_OPERATION_ADD: return fast<FPEMU_OPERATION_ADD>(job);
    case FPEMU_OPERATION_MUL: return fast<FPEMU_OPERATION_MUL>(job);
    case FPEMU_OPERATION_DIV: return fast<FPEMU_OPERATION_DIV>(job);
    case FPEMU_OPERATION_SQRT: return fast<FPEMU_OPERATION_SQRT>(job);
    case FPEMU_OPERATION_FMA: return fast<FPEMU_OPERATION_FMA>(job);
    default: return fast<FPEMU_OPERATION_MINIMUM>(job);
    }
}

extern "C" {

fpemu_cuda_status fpemu_gpu_arith(const gpu_arith_job *job, fpemu_cuda_stream stream)
{
    const uint64_t pieces = job->carrier && !job->counts ? gpu_arith_strips(job) : job->n / 4096 + 2;
    const fpemu_cuda_status status = launch_pieces(kernel_of(job), pieces, stream, *job);
    return status || !job->counts ? status : fpemu_gpu_add(&job->counts->count, job->n, stream);
}

fpemu_cuda_status fpemu_gpu_apply(const gpu_arith_job *job, fpemu_cuda_stream stream)
{
    const fpemu_cuda_status status = launch_pieces(apply, job->n / 4096 + 2, stream, *job);
    return status || !job->counts ? status : fpemu_gpu_add(&job->counts->count, job->n, stream);
}

fpemu_cuda_status fpemu_gpu_compare(const gpu_arith_job *job, fpemu_cuda_stream stream)
{
    return launch_pieces(job->scaled ? compare_scaled : compare, gpu_arith_strips(job), stream, *job);
}
}
