/* SPDX-License-Identifier: BSD-2-Clause */
/* blocks.cu - tensors with scales: the bodies of blocks.h and range.h as kernels. */
#include "launch.cuh"

/* The commonest form, with its modes known at compile time, `width` neighbours a lane. Where it counts it leaves to
 * `counted` what makes sums, which go one element a lane. */
template <int counted, int width>
static __global__ void __launch_bounds__(THREADS) short_form(const __grid_constant__ gpu_blocks_job32 job)
{
    if (counted && gpu_width(&job.call) != width)
        return;
    if (job.rule.plan.mode == FPEMU_MODE_RNE)
        gpu_blocks32(&job, GPU_FORM_FLOAT, FPEMU_MODE_RNE, counted, width, this_warp(), all_warps());
    else
        gpu_blocks32(&job, GPU_FORM_FLOAT, FPEMU_MODE_SR, counted, width, this_warp(), all_warps());
}

static int is_short(const gpu_blocks_job32 *j)
{
    const int mode = j->rule.plan.mode;
    return gpu_blocks_form32(j) == GPU_FORM_FLOAT && (mode == FPEMU_MODE_RNE || mode == FPEMU_MODE_SR);
}

static __device__ __forceinline__ void blocks(const gpu_blocks_job32 *job, int counted, unsigned width)
{
    gpu_blocks32(job, GPU_FORM_GENERAL, 0, counted, width, this_warp(), all_warps());
}

static __device__ __forceinline__ void blocks(const gpu_blocks_job64 *job, int counted, unsigned width)
{
    gpu_blocks64(job, GPU_FORM_GENERAL, 0, counted, width, this_warp(), all_warps());
}

template <class Job> static __global__ void __launch_bounds__(THREADS) uncounted(const __grid_constant__ Job job)
{
    blocks(&job, 0, gpu_width(&job.call));
}

/* rest: short_form has done what makes no sums. */
template <class Job>
static __global__ void __launch_bounds__(THREADS) counted(const __grid_constant__ Job job, int rest)
{
    const unsigned width = gpu_width(&job.call);
    if (!(rest && width == 4) && !gpu_is_counted(&job.call))
        blocks(&job, 1, width);
}

/* The other bodies, by vectors of four where elements lie so. */
#define WIDTHS(name, Job, body)                                                                                        \
    static __global__ void __launch_bounds__(THREADS) name(const __grid_constant__ Job job)                            \
    {                                                                                                                  \
        if (job.call.quad_group)                                                                                       \
            body(&job, 4, this_warp(), all_warps());                                                                   \
        else                                                                                                           \
            body(&job, 1, this_warp(), all_warps());                                                                   \
    }
WIDTHS(unpack32, gpu_blocks_job32, gpu_unpack32)
WIDTHS(unpack64, gpu_blocks_job64, gpu_unpack64)
WIDTHS(extremes32, gpu_blocks_job32, gpu_blocks_extremes32)
WIDTHS(extremes64, gpu_blocks_job64, gpu_blocks_extremes64)
WIDTHS(measure32, gpu_blocks_job32, gpu_measure32)
WIDTHS(measure64, gpu_blocks_job64, gpu_measure64)

/* Of tensors without gaps. */
static __global__ void __launch_bounds__(THREADS, 3) unpack_runs(const __grid_constant__ gpu_blocks_job32 job)
{
    __shared__ float values[GPU_TABLE];
    const uint32_t warp = (uint32_t)this_warp(), warps = (uint32_t)all_warps();
    switch (gpu_run_codes(&job)) {
    case GPU_RUN_FLOATS: gpu_unpack_runs(&job, NULL, GPU_RUN_FLOATS, warp, warps); break;
    case GPU_RUN_FIXED: gpu_unpack_runs(&job, NULL, GPU_RUN_FIXED, warp, warps); break;
    default:
        for (unsigned i = threadIdx.x; i < GPU_TABLE; i += THREADS)
            values[i] = job.table[i];
        threads_meet();
        gpu_unpack_runs(&job, job.call.table ? job.call.table : values, GPU_RUN_TABLE, warp, warps);
    }
}

static __global__ void __launch_bounds__(THREADS) measure_runs(const __grid_constant__ gpu_blocks_job32 job)
{
    switch (job.call.x_type) {
    case GPU_F32: gpu_measure_runs(&job, GPU_F32, this_warp(), all_warps()); break;
    case GPU_BF16: gpu_measure_runs(&job, GPU_BF16, this_warp(), all_warps()); break;
    default: gpu_measure_runs(&job, GPU_F16, this_warp(), all_warps()); break;
    }
}

static __global__ void finish(gpu_range *range, const gpu_range_rule rule, const fpemu_range given, int is_given,
                              unsigned char *bytes)
{
    gpu_range_finish(range, rule, is_given ? &given : NULL);
    if (bytes)
        gpu_store_tensor_scales(bytes, range->tensor);
}

static __global__ void pack_tensor(const gpu_range *range, const gpu_range_rule rule, const fpemu_range given,
                                   int is_given, unsigned char *bytes)
{
    gpu_pack_tensor_scales(range, rule, is_given ? &given : NULL, bytes);
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
    const uint64_t n = gpu_swizzle_steps(rows, columns);
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < n; i += (uint64_t)gridDim.x * blockDim.x)
        gpu_swizzle(rows, columns, from, to, back, i);
}

static fpemu_cuda_status grid_of(const gpu_blocks_call *call, unsigned *grid)
{
    const uint32_t group = call->quad_group ? call->quad_group : call->group;
    return fpemu_gpu_grid(gpu_units(call) / (32 / group) + 1, grid);
}

/* Launches a kernel for all units of a job. */
template <class Job> static fpemu_cuda_status launch(void (*kernel)(Job), const Job *job, fpemu_cuda_stream stream)
{
    unsigned grid;
    const fpemu_cuda_status status = grid_of(&job->call, &grid);
    return status ? status : fpemu_gpu_status(enqueue(kernel, grid, THREADS, stream, *job));
}

/* The same with counters, of `elements` elements. */
template <class Job>
static fpemu_cuda_status launch_counted(const Job *job, int rest, uint64_t elements, fpemu_cuda_stream stream)
{
    unsigned grid;
    const fpemu_cuda_status status = grid_of(&job->call, &grid);
    if (status)
        return status;
    const cudaError_t error = enqueue(counted<Job>, grid, THREADS, stream, *job, rest);
    return error == cudaSuccess && elements ? fpemu_gpu_add(&job->call.counts->count, elements, stream)
                                            : fpemu_gpu_status(error);
}

extern "C" {

fpemu_cuda_status fpemu_gpu_blocks32(const gpu_blocks_job32 *job, uint64_t elements, fpemu_cuda_stream stream)
{
    const gpu_blocks_call *const call = &job->call;
    if (!call->counts)
        return launch(!is_short(job)     ? uncounted<gpu_blocks_job32>
                      : call->quad_group ? short_form<0, 4>
                                         : short_form<0, 1>,
                      job, stream);
    const int rest = is_short(job) && call->quad_group;
    const fpemu_cuda_status status = rest ? launch(short_form<1, 4>, job, stream) : FPEMU_CUDA_OK;
    return status ? status : launch_counted(job, rest, elements, stream);
}

fpemu_cuda_status fpemu_gpu_blocks64(const gpu_blocks_job64 *job, uint64_t elements, fpemu_cuda_stream stream)
{
    return job->call.counts ? launch_counted(job, 0, elements, stream)
                            : launch(uncounted<gpu_blocks_job64>, job, stream);
}

fpemu_cuda_status fpemu_gpu_unpack32(const gpu_blocks_job32 *job, fpemu_cuda_stream stream)
{
    unsigned grid;
    if (!job->call.run)
        return launch(unpack32, job, stream);
    const fpemu_cuda_status status = fpemu_gpu_grid(job->call.walk.total / (128 * GPU_RUN_STRIPS) + 1, &grid);
    return status ? status : fpemu_gpu_status(enqueue(unpack_runs, grid, THREADS, stream, *job));
}

fpemu_cuda_status fpemu_gpu_unpack64(const gpu_blocks_job64 *job, fpemu_cuda_stream stream)
{
    return launch(unpack64, job, stream);
}

fpemu_cuda_status fpemu_gpu_extremes32(const gpu_blocks_job32 *job, fpemu_cuda_stream stream)
{
    return launch(extremes32, job, stream);
}

fpemu_cuda_status fpemu_gpu_extremes64(const gpu_blocks_job64 *job, fpemu_cuda_stream stream)
{
    return launch(extremes64, job, stream);
}

fpemu_cuda_status fpemu_gpu_measure32(const gpu_blocks_job32 *job, uint64_t elements, fpemu_cuda_stream stream)
{
    fpemu_cuda_status status;
    if (job->call.run) {
        unsigned grid;
        status = fpemu_gpu_grid(job->call.walk.total / (128 * GPU_RUN_STRIPS) + 1, &grid);
        if (!status) /* each warp adds to the range */
            status = fpemu_gpu_status(enqueue(measure_runs, grid / 4 + 1, THREADS, stream, *job));
    } else {
        status = launch(measure32, job, stream);
    }
    return status ? status : fpemu_gpu_add(&job->call.range->count, elements, stream);
}

fpemu_cuda_status fpemu_gpu_measure64(const gpu_blocks_job64 *job, uint64_t elements, fpemu_cuda_stream stream)
{
    const fpemu_cuda_status status = launch(measure64, job, stream);
    return status ? status : fpemu_gpu_add(&job->call.range->count, elements, stream);
}

fpemu_cuda_status fpemu_gpu_range_finish(gpu_range *range, gpu_range_rule rule, const fpemu_range *given,
                                         unsigned char *bytes, fpemu_cuda_stream stream)
{
    fpemu_range known;
    memset(&known, 0, sizeof known);
    return fpemu_gpu_status(enqueue(finish, 1, 1, stream, range, rule, given ? *given : known, given != NULL, bytes));
}

fpemu_cuda_status fpemu_gpu_pack_tensor_scales(const gpu_range *range, gpu_range_rule rule, const fpemu_range *given,
                                               unsigned char *bytes, fpemu_cuda_stream stream)
{
    fpemu_range known;
    memset(&known, 0, sizeof known);
    return fpemu_gpu_status(
        enqueue(pack_tensor, 1, 1, stream, range, rule, given ? *given : known, given != NULL, bytes));
}

fpemu_cuda_status fpemu_gpu_put_table(float *to, const float *from, uint32_t n, fpemu_cuda_stream stream)
{
    for (uint32_t i = 0; i < n; i += PART) {
        table_part part;
        const uint32_t m = n - i < PART ? n - i : PART;
        memcpy(part.value, from + i, m * sizeof *from);
        const cudaError_t error = enqueue(put, 1, THREADS, stream, to + i, part, m);
        if (error != cudaSuccess)
            return fpemu_gpu_status(error);
    }
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_gpu_swizzle(uint64_t rows, uint64_t columns, const uint8_t *from, uint8_t *to, int back,
                                    fpemu_cuda_stream stream)
{
    unsigned blocks;
    const fpemu_cuda_status status = fpemu_gpu_grid(gpu_swizzle_steps(rows, columns) / 32 + 1, &blocks);
    if (status)
        return status;
    return fpemu_gpu_status(enqueue(swizzle, blocks, THREADS, stream, rows, columns, from, to, back));
}
}
