/* kernels.cu - the bodies of scalar formats as kernels, and CUDA's side of launch.h. */
#include "launch.cuh"

/* The forms of core/quick.h, with the commonest modes and rules known at compile time. */
#define FAST_RULE(W, rule, mode)                                                                                       \
    case rule:                                                                                                         \
        gpu_convert##W(&job, GPU_FORM_FAST, rule, mode, 0, this_warp(), all_warps());                                  \
        break;
#define FAST(W, JOB, name, RULES, mode)                                                                                \
    static __global__ void __launch_bounds__(THREADS) quick##W##_##name(const __grid_constant__ JOB job)               \
    {                                                                                                                  \
        switch (job.plan.rule) {                                                                                       \
            RULES(W, mode)                                                                                             \
        default: gpu_convert##W(&job, GPU_FORM_FAST, job.plan.rule, mode, 0, this_warp(), all_warps());                \
        }                                                                                                              \
    }                                                                                                                  \
    static __global__ void __launch_bounds__(THREADS) pow2_counted##W##_##name(const __grid_constant__ JOB job)        \
    {                                                                                                                  \
        if (job.plan.rule == CORE_RULE_FULL_RANGE || job.plan.rule == CORE_RULE_FULL_RANGE_GRID)                       \
            gpu_convert##W(&job, GPU_FORM_FAST, CORE_RULE_FULL_RANGE, mode, 1, this_warp(), all_warps());              \
        else                                                                                                           \
            gpu_convert##W(&job, GPU_FORM_FAST, CORE_RULE_SHIFTER_GRID, mode, 1, this_warp(), all_warps());            \
    }
#define COMMON_RULES(W, mode)                                                                                          \
    FAST_RULE(W, CORE_RULE_FULL_RANGE, mode)                                                                           \
    FAST_RULE(W, CORE_RULE_SHIFTER_PASS, mode)                                                                         \
    FAST_RULE(W, CORE_RULE_SHIFTER_STOP, mode)                                                                         \
    FAST_RULE(W, CORE_RULE_EVEN, mode)
#define NO_RULES(W, mode)

FAST(32, gpu_job32, nearest, COMMON_RULES, FPEMU_MODE_RNE)
FAST(32, gpu_job32, stochastic, COMMON_RULES, FPEMU_MODE_SR)
FAST(32, gpu_job32, any, NO_RULES, job.plan.mode)
FAST(64, gpu_job64, nearest, NO_RULES, FPEMU_MODE_RNE)
FAST(64, gpu_job64, stochastic, NO_RULES, FPEMU_MODE_SR)
FAST(64, gpu_job64, any, NO_RULES, job.plan.mode)

/* Those of core/round.h. */
#define CONVERT(W, JOB, form, counted)                                                                                 \
    static __global__ void __launch_bounds__(THREADS) convert##W##_##form##_##counted(const __grid_constant__ JOB job) \
    {                                                                                                                  \
        gpu_convert##W(&job, form, job.plan.rule, job.plan.mode, counted, this_warp(), all_warps());                   \
    }
#define FORMS(W, JOB)                                                                                                  \
    CONVERT(W, JOB, GPU_FORM_FLOAT, 0)                                                                                 \
    CONVERT(W, JOB, GPU_FORM_FLOAT, 1)                                                                                 \
    CONVERT(W, JOB, GPU_FORM_ANY, 0)                                                                                   \
    CONVERT(W, JOB, GPU_FORM_ANY, 1)                                                                                   \
    CONVERT(W, JOB, GPU_FORM_GENERAL, 0)                                                                               \
    CONVERT(W, JOB, GPU_FORM_GENERAL, 1)                                                                               \
    static __global__ void __launch_bounds__(THREADS) decode##W(const __grid_constant__ JOB job)                       \
    {                                                                                                                  \
        gpu_decode##W(&job, this_warp(), all_warps());                                                                 \
    }

FORMS(32, gpu_job32)
FORMS(64, gpu_job64)

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
    *to += n;
}

int fpemu_gpu_status(cudaError_t error)
{
    switch (error) {
    case cudaSuccess: return FPEMU_OK;
    case cudaErrorNoDevice: return FPEMU_CUDA_ERROR_NO_DEVICE;
    case cudaErrorInsufficientDriver:
    case cudaErrorStubLibrary:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorInitializationError: return FPEMU_CUDA_ERROR_DRIVER;
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion: return FPEMU_CUDA_ERROR_NO_CODE;
    case cudaErrorMemoryAllocation: return FPEMU_CUDA_ERROR_MEMORY;
    case cudaErrorInvalidValue:
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidResourceHandle:
    case cudaErrorLaunchOutOfResources: return FPEMU_CUDA_ERROR_LAUNCH;
    default: return FPEMU_CUDA_ERROR_DEVICE;
    }
}

int fpemu_gpu_grid(uint64_t pieces, unsigned *blocks)
{
    int device, processors;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess)
        return fpemu_gpu_status(error);
    const uint64_t useful = (pieces + WARPS_A_BLOCK - 1) / WARPS_A_BLOCK, most = (uint64_t)processors * 8 * 4;
    *blocks = (unsigned)(useful < most ? useful : most);
    return FPEMU_OK;
}

#define RUN(name)                                                                                                      \
    error = job->job.counts ? enqueue(name##1, blocks, THREADS, stream, *job)                                          \
                            : enqueue(name##0, blocks, THREADS, stream, *job)
#define LAUNCH_CONVERT(W, JOB)                                                                                         \
    int fpemu_gpu_convert##W(const JOB *job, fpemu_cuda_stream stream)                                                 \
    {                                                                                                                  \
        unsigned blocks;                                                                                               \
        cudaError_t error;                                                                                             \
        const int mode = job->plan.mode;                                                                               \
        const int status = fpemu_gpu_grid(job->job.n / job->job.piece + 2, &blocks);                                   \
        if (status)                                                                                                    \
            return status;                                                                                             \
        if (job->job.counts) /* counters are added up once a warp */                                                   \
            blocks = blocks / 4 + 1;                                                                                   \
        switch (gpu_form##W(&job->plan)) {                                                                             \
        case GPU_FORM_FAST:                                                                                            \
            error = enqueue(mode == FPEMU_MODE_RNE ? job->job.counts ? pow2_counted##W##_nearest : quick##W##_nearest  \
                            : mode == FPEMU_MODE_SR                                                                    \
                                ? job->job.counts ? pow2_counted##W##_stochastic : quick##W##_stochastic               \
                            : job->job.counts ? pow2_counted##W##_any                                                  \
                                              : quick##W##_any,                                                        \
                            blocks, THREADS, stream, *job);                                                            \
            break;                                                                                                     \
        case GPU_FORM_FLOAT: RUN(convert##W##_GPU_FORM_FLOAT_); break;                                                 \
        case GPU_FORM_ANY: RUN(convert##W##_GPU_FORM_ANY_); break;                                                     \
        default: RUN(convert##W##_GPU_FORM_GENERAL_);                                                                  \
        }                                                                                                              \
        if (error == cudaSuccess && job->job.counts)                                                                   \
            return fpemu_gpu_add(&job->job.counts->count, job->job.n, stream);                                         \
        return fpemu_gpu_status(error);                                                                                \
    }                                                                                                                  \
    int fpemu_gpu_decode##W(const JOB *job, fpemu_cuda_stream stream)                                                  \
    {                                                                                                                  \
        unsigned blocks;                                                                                               \
        const int status = fpemu_gpu_grid(job->job.n / 128 + 2, &blocks);                                              \
        if (status)                                                                                                    \
            return status;                                                                                             \
        return fpemu_gpu_status(enqueue(decode##W, blocks, THREADS, stream, *job));                                    \
    }

extern "C" {

LAUNCH_CONVERT(32, gpu_job32)
LAUNCH_CONVERT(64, gpu_job64)

int fpemu_gpu_clear(gpu_counts *counts, uint32_t want, fpemu_cuda_stream stream)
{
    return fpemu_gpu_status(enqueue(clear, 8, THREADS, stream, counts, want));
}

int fpemu_gpu_zero(uint64_t *words, uint64_t n, fpemu_cuda_stream stream)
{
    unsigned blocks;
    const int status = fpemu_gpu_grid(n / 32 + 1, &blocks);
    if (status)
        return status;
    return fpemu_gpu_status(enqueue(zero, blocks, THREADS, stream, words, n));
}

int fpemu_gpu_add(uint64_t *to, uint64_t n, fpemu_cuda_stream stream)
{
    return fpemu_gpu_status(enqueue(add, 1, 1, stream, to, n));
}

int fpemu_gpu_copy_back(void *to, const void *from, size_t bytes, fpemu_cuda_stream stream)
{
    const cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream);
    return error != cudaSuccess ? fpemu_gpu_status(error) : fpemu_gpu_status(cudaStreamSynchronize(stream));
}

int fpemu_gpu_reachable(const void *p)
{
    struct cudaPointerAttributes attributes;
    const cudaError_t error = cudaPointerGetAttributes(&attributes, p);
    if (error != cudaSuccess) {
        cudaGetLastError(); /* asking about a pointer is no failure of the caller's */
        const int status = fpemu_gpu_status(error);
        return status == FPEMU_CUDA_ERROR_LAUNCH ? FPEMU_CUDA_ERROR_POINTER : status;
    }
    return attributes.devicePointer ? (int)FPEMU_OK : (int)FPEMU_CUDA_ERROR_POINTER;
}

int fpemu_gpu_wait(fpemu_cuda_stream stream, const char **text)
{
    const cudaError_t error = cudaStreamSynchronize(stream);
    if (text)
        *text = cudaGetErrorString(error);
    return fpemu_gpu_status(error);
}
}
