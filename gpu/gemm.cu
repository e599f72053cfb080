/* product.cu - dot products: the body of product.h as kernels. */
#include "launch.cuh"

static __global__ void __launch_bounds__(THREADS) product(const __grid_constant__ gpu_product_job job)
{
    gpu_product(&job, 0, this_warp(), all_warps());
}

static __global__ void __launch_bounds__(THREADS) counted(const __grid_constant__ gpu_product_job job)
{
    gpu_product(&job, 1, this_warp(), all_warps());
}

static __global__ void __launch_bounds__(THREADS) tiles(const __grid_constant__ gpu_product_job job)
{
    __shared__ gpu_tile tile;
    gpu_product_tiles(&job, &tile, blockIdx.x, gridDim.x);
}

extern "C" int fpemu_gpu_product(const gpu_product_job *job, fpemu_cuda_stream stream)
{
    unsigned blocks;
    if (job->slab) {
        const uint64_t across = (job->n + GPU_TILE - 1) / GPU_TILE, down = (job->m + GPU_TILE - 1) / GPU_TILE;
        const int status = fpemu_gpu_grid(job->batch * across * down * WARPS_A_BLOCK, &blocks);
        if (status)
            return status;
        return fpemu_gpu_status(enqueue(tiles, blocks, THREADS, stream, *job));
    }
    const int status = fpemu_gpu_grid(job->batch * job->m * job->n / 32 + 1, &blocks);
    if (status)
        return status;
    return fpemu_gpu_status(enqueue(job->counts ? counted : product, blocks, THREADS, stream, *job));
}
