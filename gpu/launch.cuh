/* SPDX-License-Identifier: BSD-2-Clause */
/* launch.cuh - what the .cu files share: how many blocks of threads, which warp a thread belongs to, CUDA's errors as
 * ours. */
#ifndef FPEMU_GPU_LAUNCH_CUH
#define FPEMU_GPU_LAUNCH_CUH

#ifdef __USE_FAST_MATH__
#error "the rules of libfpemu need IEEE 754 arithmetic: compile without --use_fast_math"
#endif

#include <cuda_runtime.h>

#include "launch.h"

#define WARPS_A_BLOCK (THREADS / 32)

static __device__ __forceinline__ uint64_t this_warp(void)
{
    return (uint64_t)blockIdx.x * WARPS_A_BLOCK + threadIdx.x / 32;
}

static __device__ __forceinline__ uint64_t all_warps(void)
{
    return (uint64_t)gridDim.x * WARPS_A_BLOCK;
}

/* Launches a kernel in blocks of `threads`, and returns what CUDA says to that and not what it said to the caller
 * before. */
template <class Of> struct as_given {
    typedef Of type;
};
template <class... Of>
static cudaError_t enqueue(void (*kernel)(Of...), unsigned blocks, unsigned threads, cudaStream_t stream,
                           typename as_given<Of>::type... given)
{
    void *all[] = {(void *)&given...};
    return cudaLaunchKernel((const void *)kernel, dim3(blocks), dim3(threads), all, 0, stream);
}

extern "C" {

/* CUDA's error as ours. */
fpemu_cuda_status fpemu_gpu_status(cudaError_t error);
/* Blocks for so many pieces of work, each a warp's: enough to fill the device several times over, no more than there is
 * work for. */
fpemu_cuda_status fpemu_gpu_grid(uint64_t pieces, unsigned *blocks);
/* Adds n, on the device. */
fpemu_cuda_status fpemu_gpu_add(uint64_t *to, uint64_t n, fpemu_cuda_stream stream);
}

/* Launches a kernel for so many pieces of work. */
template <class... Of>
static fpemu_cuda_status launch_pieces(void (*kernel)(Of...), uint64_t pieces, cudaStream_t stream,
                                       typename as_given<Of>::type... given)
{
    unsigned blocks;
    const fpemu_cuda_status status = fpemu_gpu_grid(pieces, &blocks);
    return status ? status : fpemu_gpu_status(enqueue(kernel, blocks, THREADS, stream, given...));
}

#endif /* FPEMU_GPU_LAUNCH_CUH */
