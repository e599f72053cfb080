/* SPDX-License-Identifier: BSD-2-Clause */
/* gemm.cu - matrix products: the bodies of gemm.h as kernels. */
#include "launch.cuh"

static __global__ void __launch_bounds__(THREADS) gemm(const __grid_constant__ gpu_gemm_job job)
{
    gpu_gemm(&job, 0, this_warp(), all_warps());
}

static __global__ void __launch_bounds__(THREADS) gemm_counted(const __grid_constant__ gpu_gemm_job job)
{
    gpu_gemm(&job, 1, this_warp(), all_warps());
}

static __global__ void __launch_bounds__(THREADS) tiles(const __grid_constant__ gpu_gemm_job job)
{
    __shared__ gpu_tile tile;
    gpu_gemm_tiles(&job, &tile, blockIdx.x, gridDim.x);
}

/* Tiles by the forms of core/dot_fast.h. */
template <int form, int chunked>
static __global__ void __launch_bounds__(THREADS, 3) macs32(const __grid_constant__ gpu_gemm_job job)
{
    __shared__ gpu_mac_tile32 tile;
    gpu_macs_of32(&job, form, chunked, &job.fast.in32.inner, &job.fast.in32.outer, &tile, blockIdx.x, gridDim.x);
}

template <int form, int chunked>
static __global__ void __launch_bounds__(THREADS, 2) macs64(const __grid_constant__ gpu_gemm_job job)
{
    __shared__ gpu_mac_tile64 tile;
    gpu_macs_of64(&job, form, chunked, &job.fast.in64.inner, &job.fast.in64.outer, &tile, blockIdx.x, gridDim.x);
}

template <int long_sum, int chunked>
static __global__ void __launch_bounds__(THREADS, 2) fused(const __grid_constant__ gpu_gemm_job job)
{
    __shared__ gpu_fused_tile tile;
    gpu_fused(&job, long_sum, chunked, &tile, blockIdx.x, gridDim.x);
}

typedef void (*gemm_kernel)(gpu_gemm_job);

template <int chunked> static gemm_kernel macs_of(const gpu_gemm_job *job)
{
    if (job->rule.model == FPEMU_MODEL_FUSED)
        return gpu_fused_is_long(job) ? fused<1, chunked> : fused<0, chunked>;
    if (job->carrier == 32)
        switch (job->fast.in32.inner.form) {
        case CORE_DOT_NATIVE: return macs32<CORE_DOT_NATIVE, chunked>;
        case CORE_DOT_NEAREST: return macs32<CORE_DOT_NEAREST, chunked>;
        case CORE_DOT_FULL_RANGE: return macs32<CORE_DOT_FULL_RANGE, chunked>;
        case CORE_DOT_FULL_MODE: return macs32<CORE_DOT_FULL_MODE, chunked>;
        case CORE_DOT_POSIT: return macs32<CORE_DOT_POSIT, chunked>;
        default: return macs32<CORE_DOT_ANY, chunked>;
        }
    switch (job->fast.in64.inner.form) {
    case CORE_DOT_NATIVE: return macs64<CORE_DOT_NATIVE, chunked>;
    case CORE_DOT_STOCHASTIC: return macs64<CORE_DOT_STOCHASTIC, chunked>;
    case CORE_DOT_NEAREST: return macs64<CORE_DOT_NEAREST, chunked>;
    default: return macs64<CORE_DOT_ANY, chunked>;
    }
}

extern "C" fpemu_cuda_status fpemu_gpu_gemm(const gpu_gemm_job *job, fpemu_cuda_stream stream)
{
    unsigned blocks;
    if (job->carrier) {
        const uint64_t across = (job->n + GPU_WIDE - 1) / GPU_WIDE, down = (job->m + GPU_WIDE - 1) / GPU_WIDE;
        const fpemu_cuda_status status = fpemu_gpu_grid(job->batch * across * down * WARPS_A_BLOCK, &blocks);
        if (status)
            return status;
        const gemm_kernel kernel = job->rule.chunk ? macs_of<1>(job) : macs_of<0>(job);
        return fpemu_gpu_status(enqueue(kernel, blocks, THREADS, stream, *job));
    }
    if (job->slab) {
        const uint64_t across = (job->n + GPU_TILE - 1) / GPU_TILE, down = (job->m + GPU_TILE - 1) / GPU_TILE;
        const fpemu_cuda_status status = fpemu_gpu_grid(job->batch * across * down * WARPS_A_BLOCK, &blocks);
        if (status)
            return status;
        return fpemu_gpu_status(enqueue(tiles, blocks, THREADS, stream, *job));
    }
    const fpemu_cuda_status status = fpemu_gpu_grid(job->batch * job->m * job->n / 32 + 1, &blocks);
    if (status)
        return status;
    return fpemu_gpu_status(enqueue(job->counts ? gemm_counted : gemm, blocks, THREADS, stream, *job));
}
