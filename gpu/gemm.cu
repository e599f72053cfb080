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

extern "C" fpemu_cuda_status fpemu_gpu_gemm(const gpu_gemm_job *job, fpemu_cuda_stream stream)
{
    unsigned blocks;
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
