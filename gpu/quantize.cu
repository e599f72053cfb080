/* SPDX-License-Identifier: BSD-2-Clause */
/* quantize.cu - the bodies of quantize.h as kernels. */
#include "launch.cuh"

/* Blocks that a multiprocessor is to hold: their loads are under way while others round. */
#define BLOCKS 4

/* What kernels are made for: arrays of a type whose results are of the same type, or codes of one byte or two; aligned
 * four by four, or _APART. */
enum arrays { FLOATS, FLOATS_APART, BF16S, F16S, DOUBLES, FLOATS_TO_BYTES, FLOATS_TO_WORDS, BF16S_TO_BYTES, F16S_TO_BYTES };
#define ARRAYS(x_type, y_size) ((x_type) << 4 | (y_size)) /* y_size 0: no codes */

/* How a fast rule in a mode becomes codes: what gpu_encode chooses for most. */
static constexpr __host__ __device__ int encode_of(int rule, int mode, int counts)
{
    if (mode == FPEMU_MODE_RNE && !counts &&
        (rule == CORE_RULE_SHIFTER_PASS || rule == CORE_RULE_SHIFTER_STOP || rule == CORE_RULE_EVEN))
        return GPU_ENCODE_DIRECT;
    return rule == CORE_RULE_EVEN ? GPU_ENCODE_QUICK : GPU_ENCODE_FAST;
}

static constexpr __host__ __device__ int x_type_of(int arrays)
{
    return arrays == BF16S || arrays == BF16S_TO_BYTES ? GPU_BF16
           : arrays == F16S || arrays == F16S_TO_BYTES ? GPU_F16
           : arrays == DOUBLES                         ? GPU_F64
                                                       : GPU_F32;
}

/* Bytes of a code; 0: no codes. */
static constexpr __host__ __device__ int code_size_of(int arrays)
{
    return arrays < FLOATS_TO_BYTES ? 0 : arrays == FLOATS_TO_WORDS ? 2 : 1;
}

static constexpr __host__ __device__ int size_of(int type)
{
    return type == GPU_F64 ? 8 : type == GPU_F32 ? 4 : 2;
}

static __device__ __forceinline__ void run(const gpu_quantize_job32 *job, gpu_case c)
{
    gpu_quantize32(job, c, this_warp(), all_warps());
}

static __device__ __forceinline__ void run(const gpu_quantize_job64 *job, gpu_case c)
{
    gpu_quantize64(job, c, this_warp(), all_warps());
}

static __device__ __forceinline__ gpu_case case_of(const gpu_quantize_job32 *job, int counts)
{
    return gpu_case_of32(job, counts);
}

static __device__ __forceinline__ gpu_case case_of(const gpu_quantize_job64 *job, int counts)
{
    return gpu_case_of64(job, counts);
}

/* Whether a kernel that counts so much is not the one for a call: the counters are on the device, so two are launched. */
static __device__ __forceinline__ bool not_for(const gpu_quantize_call *call, int counts)
{
    return counts && gpu_counts_of(call) != counts;
}

/* The fast forms, with rule, mode and arrays known at compile time. */
template <class Job, int rule, int mode, int arrays, int counts>
static __global__ void __launch_bounds__(THREADS, counts ? 3 : BLOCKS) fast(const __grid_constant__ Job job)
{
    if (not_for(&job.call, counts))
        return;
    constexpr int type = x_type_of(arrays), code_size = code_size_of(arrays);
    const gpu_case c = {
        .form = GPU_FORM_FAST,
        .rule = rule,
        .mode = mode,
        .encode = code_size ? encode_of(rule, mode, counts) : GPU_ENCODE_NOT,
        .counts = counts,
        .random = arrays == FLOATS_APART ? GPU_RANDOM_ANY : GPU_RANDOM_WORDS,
        .x_type = type,
        .y_type = code_size ? GPU_CODES : type,
        .x_size = size_of(type),
        .y_size = code_size ? code_size : size_of(type),
        .known = 1,
        .quads = arrays != FLOATS_APART,
    };
    run(&job, c);
}

/* The same and the others with less that is known: their form. */
template <class Job, int form, int counts>
static __global__ void __launch_bounds__(THREADS, counts ? 2 : 3) general(const __grid_constant__ Job job)
{
    if (not_for(&job.call, counts))
        return;
    gpu_case c = case_of(&job, counts);
    c.form = form;
    c.known = c.quads = 0;
    run(&job, c);
}

static __global__ void __launch_bounds__(THREADS) decode32(const __grid_constant__ gpu_quantize_job32 job)
{
    gpu_decode32(&job, gpu_case_of_decode32(&job), this_warp(), all_warps());
}

static __global__ void __launch_bounds__(THREADS) decode64(const __grid_constant__ gpu_quantize_job64 job)
{
    gpu_decode64(&job, gpu_case_of_decode64(&job), this_warp(), all_warps());
}

template <class Job> using kernel = void (*)(Job);

/* The kernel of a known case; NULL: there is none. Modes other than the commonest have few. */
template <int rule, int mode, int counts> static kernel<gpu_quantize_job32> of_rule(const gpu_quantize_job32 *job)
{
    typedef gpu_quantize_job32 Job;
    constexpr bool common = mode == FPEMU_MODE_RNE || mode == FPEMU_MODE_SR;
    const gpu_quantize_call *const j = &job->call;
    const int codes = j->y_type == GPU_CODES;
    const int apart = j->phase == GPU_NO_QUADS || (mode >= FPEMU_MODE_SR && gpu_random_of(&j->random) != GPU_RANDOM_WORDS);
    if (codes && j->encode != encode_of(rule, mode, counts))
        return NULL;
    switch (ARRAYS(j->x_type, codes ? j->y_size : 0)) {
    case ARRAYS(GPU_F32, 0):
        if constexpr (common && !counts)
            if (apart)
                return fast<Job, rule, mode, FLOATS_APART, counts>;
        return apart ? NULL : fast<Job, rule, mode, FLOATS, counts>;
    case ARRAYS(GPU_F32, 1):
        if constexpr (common || !counts)
            return apart ? NULL : fast<Job, rule, mode, FLOATS_TO_BYTES, counts>;
        return NULL;
    default: break;
    }
    if constexpr (common && !counts)
        switch (apart ? 0 : ARRAYS(j->x_type, codes ? j->y_size : 0)) {
        case ARRAYS(GPU_F32, 2): return fast<Job, rule, mode, FLOATS_TO_WORDS, counts>;
        case ARRAYS(GPU_BF16, 0): return fast<Job, rule, mode, BF16S, counts>;
        case ARRAYS(GPU_F16, 0): return fast<Job, rule, mode, F16S, counts>;
        case ARRAYS(GPU_BF16, 1): return fast<Job, rule, mode, BF16S_TO_BYTES, counts>;
        case ARRAYS(GPU_F16, 1): return fast<Job, rule, mode, F16S_TO_BYTES, counts>;
        default: break;
        }
    return NULL;
}

template <int rule, int mode, int counts> static kernel<gpu_quantize_job64> of_rule(const gpu_quantize_job64 *job)
{
    constexpr bool common = mode == FPEMU_MODE_RNE || mode == FPEMU_MODE_SR;
    if constexpr (common && !counts)
        if (job->call.y_type == GPU_F64 && job->call.phase != GPU_NO_QUADS &&
            (mode < FPEMU_MODE_SR || gpu_random_of(&job->call.random) == GPU_RANDOM_WORDS))
            return fast<gpu_quantize_job64, rule, mode, DOUBLES, counts>;
    (void)job;
    return NULL;
}

/* Of the rules that a mode has: what overflows passes over in some, and stops before infinity in others. */
template <int mode, int counts, class Job> static kernel<Job> of_mode(const Job *job)
{
    constexpr bool stops = mode == FPEMU_MODE_RTZ || mode == FPEMU_MODE_RTO;
    switch (job->plan.rule) {
    case CORE_RULE_FULL_RANGE: return of_rule<CORE_RULE_FULL_RANGE, mode, counts>(job);
    case CORE_RULE_SHIFTER_STOP: return of_rule<CORE_RULE_SHIFTER_STOP, mode, counts>(job);
    case CORE_RULE_EVEN: return of_rule<CORE_RULE_EVEN, mode, counts>(job);
    case CORE_RULE_SHIFTER_GRID:
        if constexpr (!stops)
            return of_rule<CORE_RULE_SHIFTER_GRID, mode, counts>(job);
        return NULL;
    case CORE_RULE_SHIFTER_PASS:
        if constexpr (!stops && mode != FPEMU_MODE_RTP && mode != FPEMU_MODE_RTN)
            return of_rule<CORE_RULE_SHIFTER_PASS, mode, counts>(job);
        return NULL;
    case CORE_RULE_SHIFTER_STOP_INF:
        if constexpr (stops)
            return of_rule<CORE_RULE_SHIFTER_STOP_INF, mode, counts>(job);
        return NULL;
    default: return NULL;
    }
}

template <int counts, class Job> static kernel<Job> known_of(const Job *job)
{
    switch (job->plan.mode) {
    case FPEMU_MODE_RNE: return of_mode<FPEMU_MODE_RNE, counts>(job);
    case FPEMU_MODE_RNA: return of_mode<FPEMU_MODE_RNA, counts>(job);
    case FPEMU_MODE_RNZ: return of_mode<FPEMU_MODE_RNZ, counts>(job);
    case FPEMU_MODE_RTZ: return of_mode<FPEMU_MODE_RTZ, counts>(job);
    case FPEMU_MODE_RAZ: return of_mode<FPEMU_MODE_RAZ, counts>(job);
    case FPEMU_MODE_RTP: return of_mode<FPEMU_MODE_RTP, counts>(job);
    case FPEMU_MODE_RTN: return of_mode<FPEMU_MODE_RTN, counts>(job);
    case FPEMU_MODE_RTO: return of_mode<FPEMU_MODE_RTO, counts>(job);
    case FPEMU_MODE_SR: return of_mode<FPEMU_MODE_SR, counts>(job);
    default: return of_mode<FPEMU_MODE_SE, counts>(job);
    }
}

template <int counts, class Job> static kernel<Job> kernel_of(const Job *job)
{
    if constexpr (counts != GPU_COUNT_ALL) {
        const kernel<Job> known = job->call.form == GPU_FORM_FAST ? known_of<counts>(job) : NULL;
        if (known)
            return known;
    }
    switch (job->call.form) {
    case GPU_FORM_FLOAT: return general<Job, GPU_FORM_FLOAT, counts>;
    case GPU_FORM_ANY: return general<Job, GPU_FORM_ANY, counts>;
    case GPU_FORM_GENERAL: return general<Job, GPU_FORM_GENERAL, counts>;
    default: return general<Job, GPU_FORM_FAST, counts>;
    }
}

template <class Job> static fpemu_cuda_status launch(const Job *job, fpemu_cuda_stream stream)
{
    unsigned blocks;
    const fpemu_cuda_status status = fpemu_gpu_grid(job->call.n / job->call.piece + 2, &blocks);
    if (status)
        return status;
    if (!job->call.counts)
        return fpemu_gpu_status(enqueue(kernel_of<GPU_COUNT_NOTHING>(job), blocks, THREADS, stream, *job));
    blocks = blocks / 4 + 1; /* counters are added up once a warp */
    cudaError_t error = enqueue(kernel_of<GPU_COUNT_EVENTS>(job), blocks, THREADS, stream, *job);
    if (error == cudaSuccess)
        error = enqueue(kernel_of<GPU_COUNT_ALL>(job), blocks, THREADS, stream, *job);
    return error == cudaSuccess ? fpemu_gpu_add(&job->call.counts->count, job->call.n, stream) : fpemu_gpu_status(error);
}

extern "C" {

fpemu_cuda_status fpemu_gpu_quantize32(const gpu_quantize_job32 *job, fpemu_cuda_stream stream)
{
    return launch(job, stream);
}

fpemu_cuda_status fpemu_gpu_quantize64(const gpu_quantize_job64 *job, fpemu_cuda_stream stream)
{
    return launch(job, stream);
}

fpemu_cuda_status fpemu_gpu_decode32(const gpu_quantize_job32 *job, fpemu_cuda_stream stream)
{
    unsigned blocks;
    const fpemu_cuda_status status = fpemu_gpu_grid(job->call.n / 128 + 2, &blocks);
    return status ? status : fpemu_gpu_status(enqueue(decode32, blocks, THREADS, stream, *job));
}

fpemu_cuda_status fpemu_gpu_decode64(const gpu_quantize_job64 *job, fpemu_cuda_stream stream)
{
    unsigned blocks;
    const fpemu_cuda_status status = fpemu_gpu_grid(job->call.n / 128 + 2, &blocks);
    return status ? status : fpemu_gpu_status(enqueue(decode64, blocks, THREADS, stream, *job));
}
}
