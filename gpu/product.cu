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

extern "C" int fpemu_gpu_product(const gpu_product_job *job, fpemu_cuda_stream stream)
{
    unsigned blocks;
    const int status = fpemu_gpu_grid(job->batch * job->m * job->n / 32 + 1, &blocks);
    if (status)
        return status;
    if (job->counts)
        counted<<<blocks, THREADS, 0, stream>>>(*job);
    else
        product<<<blocks, THREADS, 0, stream>>>(*job);
    return fpemu_gpu_status(cudaPeekAtLastError());
}
