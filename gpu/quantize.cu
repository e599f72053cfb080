/* SPDX-License-Identifier: BSD-2-Clause */
/* quantize.cu - the bodies of quantize.h as kernels. */
#include "launch.cuh"

/* Blocks that a multiprocessor is to hold: their loads are under way while others round. */
static constexpr __host__ __device__ int blocks_of(int mode, int counts)
{
    return counts == GPU_COUNT_ALL ? 2 : counts && CORE_DRAWS(mode) ? 3 : 4;
}

/* Codes by which kernels differ: their bytes, and how a device converts to them. 0: no codes. */
#define CODE(bytes, encode) ((encode) << 4 | (bytes))
#define BF16_CODE CODE(2, GPU_ENCODE_BF16)
#define F16_CODE CODE(2, GPU_ENCODE_F16)
#define E5M2_CODE CODE(1, GPU_ENCODE_E5M2)
#define E4M3_CODE CODE(1, GPU_ENCODE_E4M3)
#define FEW_CODES CODE(0, GPU_ENCODE_FEW) /* of any size */

/* CORE_RULE_SHIFTER_PASS in the stochastic modes, by what comes of what overflows. */
#define PASS_TO(past) (CORE_RULE_COUNT + (past))

/* How results of a form in a mode become such codes: what gpu_encode chooses for most. */
static constexpr __host__ __device__ int encode_of(int form, int rule, int mode, int counts, int code)
{
    const bool direct = mode == FPEMU_MODE_RNE && !counts;
    if (code >> 4)
        return code >> 4;
    switch (form) {
    case GPU_FORM_FAST: break;
    case GPU_FORM_POWER: return GPU_ENCODE_POWER;
    case GPU_FORM_WRAPPED: return GPU_ENCODE_QUICK;
    case GPU_FORM_POSIT: return direct ? GPU_ENCODE_DIRECT : GPU_ENCODE_POSIT;
    case GPU_FORM_AFFINE: return GPU_ENCODE_AFFINE;
    default: return GPU_ENCODE_FLOAT;
    }
    if (direct && (rule == CORE_RULE_SHIFTER_PASS || rule == CORE_RULE_SHIFTER_STOP || rule == CORE_RULE_EVEN))
        return GPU_ENCODE_DIRECT;
    return rule == CORE_RULE_EVEN ? GPU_ENCODE_QUICK : GPU_ENCODE_FAST;
}

static constexpr __host__ __device__ int size_of(int type)
{
    return type == GPU_F64 ? 8 : type == GPU_F32 ? 4 : 2;
}

/* The bodies of each carrier, by names that both share. */
#define BODIES(bits)                                                                                                   \
    static __host__ __device__ __forceinline__ gpu_case case_of(const gpu_quantize_job##bits *job, int counts)         \
    {                                                                                                                  \
        return gpu_case_of##bits(job, counts);                                                                         \
    }                                                                                                                  \
    static __device__ __forceinline__ void run(const gpu_quantize_job##bits *job, gpu_case c, uint32_t *bins)          \
    {                                                                                                                  \
        gpu_quantize##bits(job, c, bins, this_warp(), all_warps());                                                    \
    }                                                                                                                  \
    static __device__ __forceinline__ gpu_case case_of_decode(const gpu_quantize_job##bits *job)                       \
    {                                                                                                                  \
        return gpu_case_of_decode##bits(job);                                                                          \
    }                                                                                                                  \
    static __device__ __forceinline__ void run_decode(const gpu_quantize_job##bits *job, gpu_case c)                   \
    {                                                                                                                  \
        gpu_decode##bits(job, c, this_warp(), all_warps());                                                            \
    }
BODIES(32)
BODIES(64)
#undef BODIES

/* Whether a kernel that counts so much is the one for a call: the counters are on the device, so two are launched. The
 * one that is counts the elements. */
static __device__ __forceinline__ bool is_for(const gpu_quantize_call *call, int counts)
{
    if (!counts)
        return true;
    if (gpu_counts_of(call) != counts)
        return false;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        shared_add(&call->counts->count, call->n);
    return true;
}

/* Runs a case with a block's own histogram, where it may be asked for. */
template <int counts, class Job> static __device__ __forceinline__ void with_bins(const Job *job, gpu_case c)
{
    if constexpr (counts == GPU_COUNT_ALL) {
        __shared__ uint32_t bins[GPU_BINS];
        for (unsigned i = threadIdx.x; i < GPU_BINS; i += THREADS)
            bins[i] = 0;
        __syncthreads();
        run(job, c, job->call.counts->want & FPEMU_STATS_HISTOGRAM ? bins : NULL);
        __syncthreads();
        gpu_bins_flush(bins, job->call.counts, threadIdx.x, THREADS);
    } else {
        run(job, c, NULL);
    }
}

/* What a kernel may know at compile time: form and mode, the rule of fast forms, the type of the input and what codes
 * come of it (none: values of the same type). apart: a lane has every 32nd element. */
template <class Job, int form, int rule, int mode, int type, int code, bool apart, int counts>
static __global__ void __launch_bounds__(THREADS, blocks_of(mode, counts)) known(const __grid_constant__ Job job)
{
    const gpu_case c = {
        .form = form,
        .rule = rule < CORE_RULE_COUNT ? rule : CORE_RULE_SHIFTER_PASS,
        .mode = mode,
        .past = rule < CORE_RULE_COUNT ? GPU_PAST_UNKNOWN : rule - CORE_RULE_COUNT,
        .encode = code ? encode_of(form, rule, mode, counts, code) : GPU_ENCODE_NOT,
        .counts = counts,
        .random = apart && type != GPU_F64 ? GPU_RANDOM_ANY : GPU_RANDOM_WORDS,
        .x_type = type,
        .y_type = code ? GPU_CODES : type,
        .x_size = (uint32_t)size_of(type),
        .y_size = code == FEW_CODES ? job.call.y_size
                  : code            ? code & 15
                                    : (uint32_t)size_of(type),
        .known = 1,
        .quads = !apart,
    };
    if (is_for(&job.call, counts))
        with_bins<counts>(&job, c);
}

/* The form alone. */
template <class Job, int form, int counts>
static __global__ void __launch_bounds__(THREADS, counts ? 2 : 3) general(const __grid_constant__ Job job)
{
    gpu_case c = case_of(&job, counts);
    c.form = form;
    c.known = c.quads = 0;
    if (is_for(&job.call, counts))
        with_bins<counts>(&job, c);
}

/* Codes of so many bytes to values; size 0: what is not known. */
template <class Job, int form, int size, int type>
static __global__ void __launch_bounds__(THREADS, 4) decode(const __grid_constant__ Job job)
{
    gpu_case c = case_of_decode(&job);
    c.known = c.quads = 0;
    if (size) {
        c.known = 1;
        c.quads = type != GPU_F64;
        c.form = form;
        c.x_size = size;
        c.y_type = type;
        c.y_size = size_of(type);
        c.encode = GPU_ENCODE_NOT;
    }
    run_decode(&job, c);
}

template <class Job> using kernel = void (*)(Job);

/* Whether there is a kernel for that: for most that is common, and some that is not. */
static constexpr bool is_known(int form, int rule, int mode, int type, int code, int counts)
{
    const bool common = mode == FPEMU_MODE_RNE || mode == FPEMU_MODE_SR, narrow = type == GPU_BF16 || type == GPU_F16;
    const bool full = rule == CORE_RULE_FULL_RANGE, even = rule == CORE_RULE_EVEN;
    if (form == GPU_FORM_POSIT)
        return code < 8 && (!counts || type == GPU_F32);
    if (form != GPU_FORM_FAST) {
        const bool floats = form == GPU_FORM_FLOAT || form == GPU_FORM_ANY;
        if (type == GPU_F64)
            return floats && !code && !counts;
        return type == GPU_F32 && (counts ? !code || (form == GPU_FORM_AFFINE && code == 1) : code < (floats ? 8 : 2));
    }
    if (counts)
        return code == 0 ? common || type == GPU_F32 : code == FEW_CODES && type == GPU_F32;
    switch (code) {
    case 0: return type == GPU_F32 || common || mode == FPEMU_MODE_RTZ;
    case 1: return !full && common && (!narrow || mode == FPEMU_MODE_RNE);
    case BF16_CODE: return full && common && type == GPU_F32;
    case F16_CODE:
    case E5M2_CODE:
    case E4M3_CODE: return !full && !even && common && type == GPU_F32;
    case FEW_CODES: return type == GPU_F32 ? mode != FPEMU_MODE_RNE : narrow && common;
    default: return common && !narrow; /* 2, 4 and 8 */
    }
}

/* Whether there is also one for elements apart: where arrays are not aligned or random words not an element's own. */
static constexpr bool is_known_apart(int form, int mode, int type, int code, int counts)
{
    return form == GPU_FORM_FAST && type == GPU_F32 &&
           (mode == FPEMU_MODE_SR ? code == 0 || code == FEW_CODES : mode == FPEMU_MODE_RNE && code == 0 && !counts);
}

template <int form, int rule, int mode, int counts, int type, int code, class Job>
static kernel<Job> of_arrays(const Job *job)
{
    constexpr bool common = mode == FPEMU_MODE_RNE || mode == FPEMU_MODE_SR;
    if constexpr (counts == GPU_COUNT_ALL) {
        if constexpr (form == GPU_FORM_FAST && type == GPU_F32 && !code && common)
            return known<Job, form, rule, mode, type, code, true, counts>;
    } else {
        const gpu_quantize_call *const j = &job->call;
        const bool words = !CORE_DRAWS(mode) || gpu_random_of(&j->random) == GPU_RANDOM_WORDS;
        if constexpr (is_known(form, rule, mode, type, code, counts))
            if (words && (type == GPU_F64 || j->phase != GPU_NO_QUADS)) /* two vectors of doubles lie no better */
                return known<Job, form, rule, mode, type, code, type == GPU_F64, counts>;
        if constexpr (is_known_apart(form, mode, type, code, counts))
            return known<Job, form, rule, mode, type, code, true, counts>;
    }
    return NULL;
}

/* The kernel of a known case; NULL: there is none. */
template <int form, int rule, int mode, int counts>
static kernel<gpu_quantize_job32> of_form(const gpu_quantize_job32 *job)
{
    const gpu_quantize_call *const j = &job->call;
    const int made = j->encode >= GPU_ENCODE_BF16 && j->encode <= GPU_ENCODE_E4M3 ? j->encode : 0;
    const int code = j->y_type == GPU_CODES ? CODE((int)j->y_size, made) : 0;
    const bool few = made || j->encode == GPU_ENCODE_FAST || j->encode == GPU_ENCODE_QUICK;
    kernel<gpu_quantize_job32> k = NULL;
#define ARRAYS(from, to)                                                                                               \
    if (j->x_type == from && code == to)                                                                               \
    k = of_arrays<form, rule, mode, counts, from, to>(job)
    if (!code || j->encode == encode_of(form, rule, mode, counts, code)) {
        ARRAYS(GPU_F32, 0);
        ARRAYS(GPU_F32, 1);
        ARRAYS(GPU_F32, 2);
        ARRAYS(GPU_F32, 4);
        ARRAYS(GPU_F32, BF16_CODE);
        ARRAYS(GPU_F32, F16_CODE);
        ARRAYS(GPU_F32, E5M2_CODE);
        ARRAYS(GPU_F32, E4M3_CODE);
        ARRAYS(GPU_BF16, 0);
        ARRAYS(GPU_BF16, 1);
        ARRAYS(GPU_F16, 0);
        ARRAYS(GPU_F16, 1);
    }
    if (k || !code || !few || form != GPU_FORM_FAST)
        return k;
    switch (j->x_type) {
    case GPU_F32: return of_arrays<form, rule, mode, counts, GPU_F32, FEW_CODES>(job);
    case GPU_BF16: return of_arrays<form, rule, mode, counts, GPU_BF16, FEW_CODES>(job);
    default: return of_arrays<form, rule, mode, counts, GPU_F16, FEW_CODES>(job);
    }
}

template <int form, int rule, int mode, int counts>
static kernel<gpu_quantize_job64> of_form(const gpu_quantize_job64 *job)
{
    const gpu_quantize_call *const j = &job->call;
    const int code = j->y_type == GPU_CODES ? (int)j->y_size : 0;
    kernel<gpu_quantize_job64> k = NULL;
    if (code && j->encode != encode_of(form, rule, mode, counts, code))
        return NULL;
    ARRAYS(GPU_F64, 0);
    ARRAYS(GPU_F64, 1);
    ARRAYS(GPU_F64, 4);
    ARRAYS(GPU_F64, 8);
#undef ARRAYS
    return k;
}

/* Of the rules that a mode has: what overflows passes over in some, and stops before infinity in others. */
template <int mode, int counts, class Job> static kernel<Job> of_mode(const Job *job)
{
    constexpr bool stops = mode == FPEMU_MODE_RTZ || mode == FPEMU_MODE_RTO;
    switch (job->plan.rule) {
    case CORE_RULE_FULL_RANGE: return of_form<GPU_FORM_FAST, CORE_RULE_FULL_RANGE, mode, counts>(job);
    case CORE_RULE_SHIFTER_STOP: return of_form<GPU_FORM_FAST, CORE_RULE_SHIFTER_STOP, mode, counts>(job);
    case CORE_RULE_EVEN: return of_form<GPU_FORM_FAST, CORE_RULE_EVEN, mode, counts>(job);
    case CORE_RULE_SHIFTER_GRID:
        if constexpr (!stops)
            return of_form<GPU_FORM_FAST, CORE_RULE_SHIFTER_GRID, mode, counts>(job);
        return NULL;
    case CORE_RULE_SHIFTER_PASS:
        if constexpr (CORE_DRAWS(mode))
            return case_of(job, counts).past == GPU_PAST_NAN
                       ? of_form<GPU_FORM_FAST, PASS_TO(GPU_PAST_NAN), mode, counts>(job)
                       : of_form<GPU_FORM_FAST, PASS_TO(GPU_PAST_INFINITE), mode, counts>(job);
        if constexpr (!stops && mode != FPEMU_MODE_RTP && mode != FPEMU_MODE_RTN)
            return of_form<GPU_FORM_FAST, CORE_RULE_SHIFTER_PASS, mode, counts>(job);
        return NULL;
    case CORE_RULE_SHIFTER_STOP_INF:
        if constexpr (stops)
            return of_form<GPU_FORM_FAST, CORE_RULE_SHIFTER_STOP_INF, mode, counts>(job);
        return NULL;
    default: return NULL;
    }
}

template <int counts, class Job> static kernel<Job> fast_of(const Job *job)
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
    case FPEMU_MODE_SE: return of_mode<FPEMU_MODE_SE, counts>(job);
    default: return NULL; /* FPEMU_MODE_RNP */
    }
}

/* Forms that are less common, in the commonest modes. */
template <int form, int counts, class Job> static kernel<Job> other_of(const Job *job)
{
    if (job->plan.mode == FPEMU_MODE_RNE)
        return of_form<form, 0, FPEMU_MODE_RNE, counts>(job);
    if constexpr (form != GPU_FORM_POSIT)
        if (job->plan.mode == FPEMU_MODE_SR)
            return of_form<form, 0, FPEMU_MODE_SR, counts>(job);
    return NULL;
}

template <int counts, class Job> static kernel<Job> known_of(const Job *job)
{
    switch (job->call.form) {
    case GPU_FORM_FAST: return fast_of<counts>(job);
    case GPU_FORM_FLOAT: return other_of<GPU_FORM_FLOAT, counts>(job);
    case GPU_FORM_ANY: return other_of<GPU_FORM_ANY, counts>(job);
    case GPU_FORM_POWER: return other_of<GPU_FORM_POWER, counts>(job);
    case GPU_FORM_WRAPPED: return other_of<GPU_FORM_WRAPPED, counts>(job);
    case GPU_FORM_POSIT: return other_of<GPU_FORM_POSIT, counts>(job);
    case GPU_FORM_AFFINE: return other_of<GPU_FORM_AFFINE, counts>(job);
    default: return NULL;
    }
}

template <int counts, class Job> static kernel<Job> kernel_of(const Job *job)
{
    const kernel<Job> k = known_of<counts>(job);
    if (k)
        return k;
    switch (job->call.form) {
    case GPU_FORM_FAST: return general<Job, GPU_FORM_FAST, counts>;
    case GPU_FORM_FLOAT: return general<Job, GPU_FORM_FLOAT, counts>;
    case GPU_FORM_ANY: return general<Job, GPU_FORM_ANY, counts>;
    default: return general<Job, GPU_FORM_GENERAL, counts>;
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
    /* counters are added up once a warp: four times the blocks that the device holds at once, where there is work */
    const unsigned held = (unsigned)blocks_of(job->plan.mode, GPU_COUNT_EVENTS);
    const cudaError_t error = enqueue(kernel_of<GPU_COUNT_EVENTS>(job), (blocks * held + 7) / 8, THREADS, stream, *job);
    if (error != cudaSuccess)
        return fpemu_gpu_status(error);
    return fpemu_gpu_status(enqueue(kernel_of<GPU_COUNT_ALL>(job), (blocks + 3) / 4, THREADS, stream, *job));
}

template <class Job, int form, int type> static kernel<Job> decode_of(const Job *job)
{
    if (type == GPU_F64 || job->call.phase != GPU_NO_QUADS)
        switch (job->call.x_size) {
        case 1: return decode<Job, form, 1, type>;
        case 2: return decode<Job, form, 2, type>;
        case 4: return decode<Job, form, 4, type>;
        }
    return decode<Job, 0, 0, 0>;
}

static kernel<gpu_quantize_job32> decode_of(const gpu_quantize_job32 *job)
{
    typedef gpu_quantize_job32 Job;
    if (job->call.y_type == GPU_BF16)
        return job->call.form == GPU_DECODE_FAST ? decode_of<Job, GPU_DECODE_FAST, GPU_BF16>(job)
                                                 : decode<Job, 0, 0, 0>;
    if (job->call.y_type == GPU_F16)
        return job->call.form == GPU_DECODE_FAST ? decode_of<Job, GPU_DECODE_FAST, GPU_F16>(job) : decode<Job, 0, 0, 0>;
    switch (job->call.form) {
    case GPU_DECODE_FAST: return decode_of<Job, GPU_DECODE_FAST, GPU_F32>(job);
    case GPU_DECODE_FIXED: return decode_of<Job, GPU_DECODE_FIXED, GPU_F32>(job);
    case GPU_DECODE_AFFINE: return decode_of<Job, GPU_DECODE_AFFINE, GPU_F32>(job);
    case GPU_DECODE_POWER: return decode_of<Job, GPU_DECODE_POWER, GPU_F32>(job);
    case GPU_DECODE_POSIT: return decode_of<Job, GPU_DECODE_POSIT, GPU_F32>(job);
    default: return decode<Job, 0, 0, 0>;
    }
}

static kernel<gpu_quantize_job64> decode_of(const gpu_quantize_job64 *job)
{
    typedef gpu_quantize_job64 Job;
    switch (job->call.form) {
    case GPU_DECODE_FAST: return decode_of<Job, GPU_DECODE_FAST, GPU_F64>(job);
    case GPU_DECODE_FIXED: return decode_of<Job, GPU_DECODE_FIXED, GPU_F64>(job);
    case GPU_DECODE_POSIT: return decode_of<Job, GPU_DECODE_POSIT, GPU_F64>(job);
    default: return decode<Job, 0, 0, 0>;
    }
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
    return launch_pieces(decode_of(job), job->call.n / 128 + 2, stream, *job);
}

fpemu_cuda_status fpemu_gpu_decode64(const gpu_quantize_job64 *job, fpemu_cuda_stream stream)
{
    return launch_pieces(decode_of(job), job->call.n / 128 + 2, stream, *job);
}
}
