/* operate.cu - operations, functions and comparisons: the bodies of operate.h as kernels. */
#include "launch.cuh"

static __global__ void __launch_bounds__(THREADS) operate(const __grid_constant__ gpu_operate_job job)
{
    gpu_operate(&job, 0, 0, this_warp(), all_warps());
}

static __global__ void __launch_bounds__(THREADS) operate_counted(const __grid_constant__ gpu_operate_job job)
{
    gpu_operate(&job, 0, 1, this_warp(), all_warps());
}

/* counted at run time: a function takes much longer than that */
static __global__ void __launch_bounds__(THREADS) apply(const __grid_constant__ gpu_operate_job job)
{
    gpu_operate(&job, 1, job.counts != NULL, this_warp(), all_warps());
}

static __global__ void __launch_bounds__(THREADS) relate(const __grid_constant__ gpu_operate_job job)
{
    gpu_relate(&job, this_warp(), all_warps());
}

extern "C" {

int fpemu_gpu_operate(const gpu_operate_job *job, fpemu_cuda_stream stream)
{
    unsigned blocks;
    const int status = fpemu_gpu_grid(job->n / 4096 + 2, &blocks);
    if (status)
        return status;
    if (!job->counts)
        return fpemu_gpu_status(enqueue(operate, blocks, THREADS, stream, *job));
    const cudaError_t error = enqueue(operate_counted, blocks, THREADS, stream, *job);
    return error == cudaSuccess ? fpemu_gpu_add(&job->counts->count, job->n, stream) : fpemu_gpu_status(error);
}

int fpemu_gpu_apply(const gpu_operate_job *job, fpemu_cuda_stream stream)
{
    unsigned blocks;
    const int status = fpemu_gpu_grid(job->n / 4096 + 2, &blocks);
    if (status)
        return status;
    const cudaError_t error = enqueue(apply, blocks, THREADS, stream, *job);
    return error == cudaSuccess && job->counts ? fpemu_gpu_add(&job->counts->count, job->n, stream)
                                               : fpemu_gpu_status(error);
}

int fpemu_gpu_relate(const gpu_operate_job *job, fpemu_cuda_stream stream)
{
    unsigned blocks;
    const int status = fpemu_gpu_grid(job->n / 32 + 1, &blocks);
    if (status)
        return status;
    return fpemu_gpu_status(enqueue(relate, blocks, THREADS, stream, *job));
}
}
