/* tensor.cu - tensors with scales: the bodies of tensor.h as kernels. */
#include "launch.cuh"

/* The commonest form, with its modes known at compile time; and whatever there is. */
static __global__ void __launch_bounds__(THREADS) tensor_short(const __grid_constant__ gpu_tensor_job32 job)
{
    if (job.rule.plan.mode == FPEMU_RNE)
        gpu_tensor32(&job, GPU_FORM_FLOAT, FPEMU_RNE, 0, this_warp(), all_warps());
    else
        gpu_tensor32(&job, GPU_FORM_FLOAT, FPEMU_SR, 0, this_warp(), all_warps());
}

static int is_short32(const gpu_tensor_job32 *j)
{
    const int mode = j->rule.plan.mode;
    return !j->job.counts && gpu_tensor_form32(j) == GPU_FORM_FLOAT && (mode == FPEMU_RNE || mode == FPEMU_SR);
}

#define KERNELS(W, JOB)                                                                                                \
    static __global__ void __launch_bounds__(THREADS) tensor##W(const __grid_constant__ JOB job)                       \
    {                                                                                                                  \
        gpu_tensor##W(&job, GPU_FORM_GENERAL, 0, 0, this_warp(), all_warps());                                         \
    }                                                                                                                  \
    static __global__ void __launch_bounds__(THREADS) counted##W(const __grid_constant__ JOB job)                      \
    {                                                                                                                  \
        gpu_tensor##W(&job, GPU_FORM_GENERAL, 0, 1, this_warp(), all_warps());                                         \
    }
#define OTHERS(W, JOB)                                                                                                 \
    static __global__ void __launch_bounds__(THREADS) untensor##W(const __grid_constant__ JOB job)                     \
    {                                                                                                                  \
        gpu_untensor##W(&job, this_warp(), all_warps());                                                               \
    }                                                                                                                  \
    static __global__ void __launch_bounds__(THREADS) extremes##W(const __grid_constant__ JOB job)                     \
    {                                                                                                                  \
        gpu_tensor_extremes##W(&job, this_warp(), all_warps());                                                        \
    }                                                                                                                  \
    static __global__ void __launch_bounds__(THREADS) measure##W(const __grid_constant__ JOB job)                      \
    {                                                                                                                  \
        gpu_tensor_measure##W(&job, this_warp(), all_warps());                                                         \
    }

KERNELS(32, gpu_tensor_job32)
KERNELS(64, gpu_tensor_job64)
OTHERS(32, gpu_tensor_job32)
OTHERS(64, gpu_tensor_job64)

static __global__ void finish(gpu_range *range, const gpu_tensor_rule rule, const fpemu_range given, int is_given,
                              unsigned char *bytes)
{
    gpu_range_finish(range, rule, is_given ? &given : NULL);
    if (bytes)
        gpu_store_tensor(bytes, range->tensor);
}

/* Part of a table, as much as a kernel may be given. */
#define PART 900
typedef struct table_part {
    float value[PART];
} table_part;

static __global__ void put(float *to, const __grid_constant__ table_part part, uint32_t n)
{
    for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
        to[i] = part.value[i];
}

static __global__ void swizzle(uint64_t rows, uint64_t columns, const uint8_t *from, uint8_t *to, int back)
{
    const uint64_t n = gpu_swizzle_steps(rows, columns, back);
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < n; i += (uint64_t)gridDim.x * blockDim.x)
        gpu_swizzle(rows, columns, from, to, back, i);
}

extern "C" {

#define RUN_SHORT32(job)                                                                                               \
    if (is_short32(job)) {                                                                                             \
        tensor_short<<<blocks, THREADS, 0, stream>>>(*job);                                                            \
        return fpemu_gpu_status(cudaPeekAtLastError());                                                                \
    }
#define RUN_SHORT64(job)
#define LAUNCH(W, JOB)                                                                                                 \
    static int grid##W(const JOB *job, unsigned *blocks)                                                               \
    {                                                                                                                  \
        return fpemu_gpu_grid(gpu_units(&job->job) / (32 / job->job.group) + 1, blocks);                               \
    }                                                                                                                  \
    int fpemu_gpu_tensor##W(const JOB *job, uint64_t elements, fpemu_cuda_stream stream)                               \
    {                                                                                                                  \
        unsigned blocks;                                                                                               \
        const int status = grid##W(job, &blocks);                                                                      \
        if (status)                                                                                                    \
            return status;                                                                                             \
        RUN_SHORT##W(job)                                                                                              \
        if (!job->job.counts) {                                                                                        \
            tensor##W<<<blocks, THREADS, 0, stream>>>(*job);                                                           \
            return fpemu_gpu_status(cudaPeekAtLastError());                                                            \
        }                                                                                                              \
        counted##W<<<blocks, THREADS, 0, stream>>>(*job);                                                              \
        return fpemu_gpu_add(&job->job.counts->count, elements, stream);                                               \
    }                                                                                                                  \
    int fpemu_gpu_untensor##W(const JOB *job, fpemu_cuda_stream stream)                                                \
    {                                                                                                                  \
        unsigned blocks;                                                                                               \
        const int status = grid##W(job, &blocks);                                                                      \
        if (status)                                                                                                    \
            return status;                                                                                             \
        untensor##W<<<blocks, THREADS, 0, stream>>>(*job);                                                             \
        return fpemu_gpu_status(cudaPeekAtLastError());                                                                \
    }                                                                                                                  \
    int fpemu_gpu_extremes##W(const JOB *job, fpemu_cuda_stream stream)                                                \
    {                                                                                                                  \
        unsigned blocks;                                                                                               \
        const int status = grid##W(job, &blocks);                                                                      \
        if (status)                                                                                                    \
            return status;                                                                                             \
        extremes##W<<<blocks, THREADS, 0, stream>>>(*job);                                                             \
        return fpemu_gpu_status(cudaPeekAtLastError());                                                                \
    }                                                                                                                  \
    int fpemu_gpu_measure##W(const JOB *job, uint64_t elements, fpemu_cuda_stream stream)                              \
    {                                                                                                                  \
        unsigned blocks;                                                                                               \
        const int status = grid##W(job, &blocks);                                                                      \
        if (status)                                                                                                    \
            return status;                                                                                             \
        measure##W<<<blocks, THREADS, 0, stream>>>(*job);                                                              \
        return fpemu_gpu_add(&job->job.range->count, elements, stream);                                                \
    }

LAUNCH(32, gpu_tensor_job32)
LAUNCH(64, gpu_tensor_job64)

int fpemu_gpu_range_finish(gpu_range *range, gpu_tensor_rule rule, const fpemu_range *given, unsigned char *bytes,
                           fpemu_cuda_stream stream)
{
    fpemu_range known;
    memset(&known, 0, sizeof known);
    finish<<<1, 1, 0, stream>>>(range, rule, given ? *given : known, given != NULL, bytes);
    return fpemu_gpu_status(cudaPeekAtLastError());
}

int fpemu_gpu_put_table(float *to, const float *from, uint32_t n, fpemu_cuda_stream stream)
{
    for (uint32_t i = 0; i < n; i += PART) {
        table_part part;
        const uint32_t m = n - i < PART ? n - i : PART;
        memcpy(part.value, from + i, m * sizeof *from);
        put<<<1, THREADS, 0, stream>>>(to + i, part, m);
    }
    return fpemu_gpu_status(cudaPeekAtLastError());
}

int fpemu_gpu_swizzle(uint64_t rows, uint64_t columns, const uint8_t *from, uint8_t *to, int back,
                      fpemu_cuda_stream stream)
{
    unsigned blocks;
    const int status = fpemu_gpu_grid(gpu_swizzle_steps(rows, columns, back) / 32 + 1, &blocks);
    if (status)
        return status;
    swizzle<<<blocks, THREADS, 0, stream>>>(rows, columns, from, to, back);
    return fpemu_gpu_status(cudaPeekAtLastError());
}

}
