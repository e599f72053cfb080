/* SPDX-License-Identifier: BSD-2-Clause */
/* launch.cu - what every call needs of CUDA: errors, sizes of grids, memory, waiting, counters. */
#include "launch.cuh"

static __global__ void clear(gpu_counts *counts, uint32_t want)
{
    uint64_t *const words = (uint64_t *)counts;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < sizeof *counts / 8; i += gridDim.x * blockDim.x)
        words[i] = i == 0 ? want : 0; /* `want` is the low half of the first word on every CUDA device */
}

static __global__ void zero(uint64_t *words, uint64_t n)
{
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < n; i += (uint64_t)gridDim.x * blockDim.x)
        words[i] = 0;
}

static __global__ void add(uint64_t *to, uint64_t n)
{
    atomicAdd((unsigned long long *)to, (unsigned long long)n); /* other streams may add at the same time */
}

fpemu_cuda_status fpemu_gpu_status(cudaError_t error)
{
    switch (error) {
    case cudaSuccess: return FPEMU_CUDA_OK;
    case cudaErrorNoDevice: return FPEMU_CUDA_ERROR_NO_DEVICE;
    case cudaErrorInsufficientDriver:
    case cudaErrorStubLibrary:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorInitializationError: return FPEMU_CUDA_ERROR_DRIVER;
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion: return FPEMU_CUDA_ERROR_NO_CODE;
    case cudaErrorMemoryAllocation: return FPEMU_CUDA_ERROR_DEVICE_MEMORY;
    case cudaErrorInvalidValue:
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidResourceHandle:
    case cudaErrorStreamCaptureUnsupported: /* what waits, while the stream is captured, */
    case cudaErrorStreamCaptureInvalidated:
    case cudaErrorStreamCaptureMerge: /* and what a capture, of another stream or thread, does not take */
    case cudaErrorStreamCaptureIsolation:
    case cudaErrorStreamCaptureImplicit:
    case cudaErrorStreamCaptureWrongThread:
    case cudaErrorLaunchOutOfResources: return FPEMU_CUDA_ERROR_LAUNCH;
    default: return FPEMU_CUDA_ERROR_DEVICE;
    }
}

fpemu_cuda_status fpemu_gpu_grid(uint64_t pieces, unsigned *blocks)
{
    int device, processors;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess)
        return fpemu_gpu_status(error);
    const uint64_t useful = (pieces + WARPS_A_BLOCK - 1) / WARPS_A_BLOCK, most = (uint64_t)processors * 8 * 4;
    *blocks = (unsigned)(useful < most ? useful : most);
    return FPEMU_CUDA_OK;
}

extern "C" {

fpemu_cuda_status fpemu_gpu_clear(gpu_counts *counts, uint32_t want, fpemu_cuda_stream stream)
{
    return fpemu_gpu_status(enqueue(clear, 8, THREADS, stream, counts, want));
}

fpemu_cuda_status fpemu_gpu_zero(uint64_t *words, uint64_t n, fpemu_cuda_stream stream)
{
    return launch_pieces(zero, n / 32 + 1, stream, words, n);
}

fpemu_cuda_status fpemu_gpu_add(uint64_t *to, uint64_t n, fpemu_cuda_stream stream)
{
    return fpemu_gpu_status(enqueue(add, 1, 1, stream, to, n));
}

fpemu_cuda_status fpemu_gpu_copy_back(void *to, const void *from, size_t bytes, fpemu_cuda_stream stream)
{
    const cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream);
    return error != cudaSuccess ? fpemu_gpu_status(error) : fpemu_gpu_status(cudaStreamSynchronize(stream));
}

fpemu_cuda_status fpemu_gpu_reachable(const void *p)
{
    struct cudaPointerAttributes attributes;
    const cudaError_t error = cudaPointerGetAttributes(&attributes, p);
    if (error != cudaSuccess) {
        cudaGetLastError(); /* asking about a pointer is no failure of the caller's */
        const fpemu_cuda_status status = fpemu_gpu_status(error);
        return status == FPEMU_CUDA_ERROR_LAUNCH ? FPEMU_CUDA_ERROR_POINTER : status;
    }
    return attributes.devicePointer ? FPEMU_CUDA_OK : FPEMU_CUDA_ERROR_POINTER;
}

fpemu_cuda_status fpemu_gpu_wait(fpemu_cuda_stream stream, const char **text)
{
    const cudaError_t error = cudaStreamSynchronize(stream);
    if (text)
        *text = cudaGetErrorString(error);
    return fpemu_gpu_status(error);
}
}
