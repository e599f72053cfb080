/* tensor.cu - tensors with scales: the bodies of tensor.h as kernels. */
#include "launch.cuh"

/* The commonest form, with its modes known at compile time, four neighbours a lane or one; and whatever there is. */
#define SHORT(name, counted, width)                                                                                    \
    static __global__ void __launch_bounds__(THREADS) name(const __grid_constant__ gpu_tensor_job32 job)               \
    {                                                                                                                  \
        if (counted && gpu_width(&job.job) != (width))                                                                 \
            return;                                                                                                    \
        if (job.rule.plan.mode == FPEMU_MODE_RNE)                                                                           \
            gpu_tensor32(&job, GPU_FORM_FLOAT, FPEMU_MODE_RNE, counted, width, this_warp(), all_warps());                   \
        else                                                                                                           \
            gpu_tensor32(&job, GPU_FORM_FLOAT, FPEMU_MODE_SR, counted, width, this_warp(), all_warps());                    \
    }

SHORT(tensor_quads, 0, 4)
SHORT(tensor_short, 0, 1)
SHORT(counted_quads, 1, 4)

static int is_short32(const gpu_tensor_job32 *j)
{
    const int mode = j->rule.plan.mode;
    return gpu_tensor_form32(j) == GPU_FORM_FLOAT && (mode == FPEMU_MODE_RNE || mode == FPEMU_MODE_SR);
}

/* rest: where sums are made, another kernel having done the others. */
#define KERNELS(W, JOB)                                                                                                \
    static __global__ void __launch_bounds__(THREADS) tensor##W(const __grid_constant__ JOB job)                       \
    {                                                                                                                  \
        gpu_tensor##W(&job, GPU_FORM_GENERAL, 0, 0, gpu_width(&job.job), this_warp(), all_warps());                    \
    }                                                                                                                  \
    static __global__ void __launch_bounds__(THREADS) counted##W(const __grid_constant__ JOB job, int rest)            \
    {                                                                                                                  \
        const unsigned width = gpu_width(&job.job);                                                                    \
        if (!(rest && width == 4))                                                                                     \
            gpu_tensor##W(&job, GPU_FORM_GENERAL, 0, 1, width, this_warp(), all_warps());                              \
    }
#define OTHER(name, body, W, JOB)                                                                                      \
    static __global__ void __launch_bounds__(THREADS) name##W(const __grid_constant__ JOB job)                         \
    {                                                                                                                  \
        if (job.job.quad_group)                                                                                        \
            body##W(&job, 4, this_warp(), all_warps());                                                                \
        else                                                                                                           \
            body##W(&job, 1, this_warp(), all_warps());                                                                \
    }
#define OTHERS(W, JOB)                                                                                                 \
    OTHER(untensor, gpu_untensor, W, JOB)                                                                              \
    OTHER(extremes, gpu_tensor_extremes, W, JOB)                                                                       \
    OTHER(measure, gpu_tensor_measure, W, JOB)

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

static __global__ void pack_tensor(const gpu_range *range, const gpu_tensor_rule rule, const fpemu_range given,
                                   int is_given, unsigned char *bytes)
{
    gpu_pack_tensor(range, rule, is_given ? &given : NULL, bytes);
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

/* Launches what is quicker; *done: nothing is left to do but what makes sums. */
static cudaError_t run_short32(const gpu_tensor_job32 *job, unsigned blocks, fpemu_cuda_stream stream, int *done)
{
    *done = is_short32(job) && !(job->job.counts && !job->job.quad_group);
    if (!*done)
        return cudaSuccess;
    return enqueue(job->job.counts       ? counted_quads
                   : job->job.quad_group ? tensor_quads
                                         : tensor_short,
                   blocks, THREADS, stream, *job);
}

static cudaError_t run_short64(const gpu_tensor_job64 *, unsigned, fpemu_cuda_stream, int *done)
{
    *done = 0;
    return cudaSuccess;
}

#define LAUNCH(W, JOB)                                                                                                 \
    static int grid##W(const JOB *job, unsigned *blocks)                                                               \
    {                                                                                                                  \
        const uint32_t group = job->job.quad_group ? job->job.quad_group : job->job.group;                             \
        return fpemu_gpu_grid(gpu_units(&job->job) / (32 / group) + 1, blocks);                                        \
    }                                                                                                                  \
    int fpemu_gpu_tensor##W(const JOB *job, uint64_t elements, fpemu_cuda_stream stream)                               \
    {                                                                                                                  \
        unsigned blocks;                                                                                               \
        const int status = grid##W(job, &blocks);                                                                      \
        if (status)                                                                                                    \
            return status;                                                                                             \
        int done;                                                                                                      \
        cudaError_t error = run_short##W(job, blocks, stream, &done);                                                  \
        if (!job->job.counts)                                                                                          \
            return fpemu_gpu_status(done ? error : enqueue(tensor##W, blocks, THREADS, stream, *job));                 \
        if (error == cudaSuccess)                                                                                      \
            error = enqueue(counted##W, blocks, THREADS, stream, *job, done);                                          \
        return error == cudaSuccess ? fpemu_gpu_add(&job->job.counts->count, elements, stream)                         \
                                    : fpemu_gpu_status(error);                                                         \
    }                                                                                                                  \
    int fpemu_gpu_untensor##W(const JOB *job, fpemu_cuda_stream stream)                                                \
    {                                                                                                                  \
        unsigned blocks;                                                                                               \
        const int status = grid##W(job, &blocks);                                                                      \
        if (status)                                                                                                    \
            return status;                                                                                             \
        return fpemu_gpu_status(enqueue(untensor##W, blocks, THREADS, stream, *job));                                  \
    }                                                                                                                  \
    int fpemu_gpu_extremes##W(const JOB *job, fpemu_cuda_stream stream)                                                \
    {                                                                                                                  \
        unsigned blocks;                                                                                               \
        const int status = grid##W(job, &blocks);                                                                      \
        if (status)                                                                                                    \
            return status;                                                                                             \
        return fpemu_gpu_status(enqueue(extremes##W, blocks, THREADS, stream, *job));                                  \
    }                                                                                                                  \
    int fpemu_gpu_measure##W(const JOB *job, uint64_t elements, fpemu_cuda_stream stream)                              \
    {                                                                                                                  \
        unsigned blocks;                                                                                               \
        const int status = grid##W(job, &blocks);                                                                      \
        if (status)                                                                                                    \
            return status;                                                                                             \
        const cudaError_t error = enqueue(measure##W, blocks, THREADS, stream, *job);                                  \
        return error == cudaSuccess ? fpemu_gpu_add(&job->job.range->count, elements, stream)                          \
                                    : fpemu_gpu_status(error);                                                         \
    }

LAUNCH(32, gpu_tensor_job32)
LAUNCH(64, gpu_tensor_job64)

int fpemu_gpu_range_finish(gpu_range *range, gpu_tensor_rule rule, const fpemu_range *given, unsigned char *bytes,
                           fpemu_cuda_stream stream)
{
    fpemu_range known;
    memset(&known, 0, sizeof known);
    return fpemu_gpu_status(enqueue(finish, 1, 1, stream, range, rule, given ? *given : known, given != NULL, bytes));
}

int fpemu_gpu_pack_tensor(const gpu_range *range, gpu_tensor_rule rule, const fpemu_range *given, unsigned char *bytes,
                          fpemu_cuda_stream stream)
{
    fpemu_range known;
    memset(&known, 0, sizeof known);
    return fpemu_gpu_status(
        enqueue(pack_tensor, 1, 1, stream, range, rule, given ? *given : known, given != NULL, bytes));
}

int fpemu_gpu_put_table(float *to, const float *from, uint32_t n, fpemu_cuda_stream stream)
{
    for (uint32_t i = 0; i < n; i += PART) {
        table_part part;
        const uint32_t m = n - i < PART ? n - i : PART;
        memcpy(part.value, from + i, m * sizeof *from);
        const cudaError_t error = enqueue(put, 1, THREADS, stream, to + i, part, m);
        if (error != cudaSuccess)
            return fpemu_gpu_status(error);
    }
    return FPEMU_OK;
}

int fpemu_gpu_swizzle(uint64_t rows, uint64_t columns, const uint8_t *from, uint8_t *to, int back,
                      fpemu_cuda_stream stream)
{
    unsigned blocks;
    const int status = fpemu_gpu_grid(gpu_swizzle_steps(rows, columns, back) / 32 + 1, &blocks);
    if (status)
        return status;
    return fpemu_gpu_status(enqueue(swizzle, blocks, THREADS, stream, rows, columns, from, to, back));
}
}
