/* SPDX-License-Identifier: BSD-2-Clause */
/* quantize.cu - the bodies of quantize.h as kernels. */
#include "launch.cuh"

/* Stands for the mode or the rule of the job's plan, where the others are known at compile time. */
#define OF_PLAN (-1)

static __device__ __forceinline__ void run(const gpu_quantize_job32 *job, int form, int rule, int mode, int counted)
{
    gpu_quantize32(job, form, rule, mode, counted, this_warp(), all_warps());
}

static __device__ __forceinline__ void run(const gpu_quantize_job64 *job, int form, int rule, int mode, int counted)
{
    gpu_quantize64(job, form, rule, mode, counted, this_warp(), all_warps());
}

/* The forms of core/round_fast.h, with the commonest modes and, in binary32, rules known at compile time. */
template <int mode>
static __global__ void __launch_bounds__(THREADS) fast32(const __grid_constant__ gpu_quantize_job32 job)
{
    const int m = mode == OF_PLAN ? job.plan.mode : mode;
    if (mode != OF_PLAN)
        switch (job.plan.rule) {
        case CORE_RULE_FULL_RANGE: run(&job, GPU_FORM_FAST, CORE_RULE_FULL_RANGE, m, 0); return;
        case CORE_RULE_SHIFTER_PASS: run(&job, GPU_FORM_FAST, CORE_RULE_SHIFTER_PASS, m, 0); return;
        case CORE_RULE_SHIFTER_STOP: run(&job, GPU_FORM_FAST, CORE_RULE_SHIFTER_STOP, m, 0); return;
        case CORE_RULE_EVEN: run(&job, GPU_FORM_FAST, CORE_RULE_EVEN, m, 0); return;
        }
    run(&job, GPU_FORM_FAST, job.plan.rule, m, 0);
}

template <int mode>
static __global__ void __launch_bounds__(THREADS) fast64(const __grid_constant__ gpu_quantize_job64 job)
{
    run(&job, GPU_FORM_FAST, job.plan.rule, mode == OF_PLAN ? job.plan.mode : mode, 0);
}

/* The same with counters. */
template <class Job, int mode>
static __global__ void __launch_bounds__(THREADS) fast_counted(const __grid_constant__ Job job)
{
    const int m = mode == OF_PLAN ? job.plan.mode : mode;
    if (job.plan.rule == CORE_RULE_FULL_RANGE || job.plan.rule == CORE_RULE_FULL_RANGE_GRID)
        run(&job, GPU_FORM_FAST, CORE_RULE_FULL_RANGE, m, 1);
    else
        run(&job, GPU_FORM_FAST, CORE_RULE_SHIFTER_GRID, m, 1);
}

/* Those of core/round.h. */
template <class Job, int form, int counted>
static __global__ void __launch_bounds__(THREADS) general(const __grid_constant__ Job job)
{
    run(&job, form, job.plan.rule, job.plan.mode, counted);
}

static __global__ void __launch_bounds__(THREADS) decode32(const __grid_constant__ gpu_quantize_job32 job)
{
    gpu_decode32(&job, this_warp(), all_warps());
}

static __global__ void __launch_bounds__(THREADS) decode64(const __grid_constant__ gpu_quantize_job64 job)
{
    gpu_decode64(&job, this_warp(), all_warps());
}

/* The kernels of one carrier; the index says whether it counts. */
template <class Job> struct kernels {
    void (*nearest[2])(Job), (*stochastic[2])(Job), (*any_mode[2])(Job); /* fast */
    void (*of_float[2])(Job), (*any[2])(Job), (*general[2])(Job);
};

/* Launches the kernel for the job's plan, whose form is `form`. */
template <class Job>
static fpemu_cuda_status launch(const kernels<Job> &k, int form, const Job *job, fpemu_cuda_stream stream)
{
    unsigned blocks;
    const int counted = job->call.counts != NULL, mode = job->plan.mode;
    const fpemu_cuda_status status = fpemu_gpu_grid(job->call.n / job->call.piece + 2, &blocks);
    if (status)
        return status;
    if (counted) /* counters are added up once a warp */
        blocks = blocks / 4 + 1;
    void (*const *kernel)(Job) = form == GPU_FORM_FLOAT     ? k.of_float
                                 : form == GPU_FORM_ANY     ? k.any
                                 : form == GPU_FORM_GENERAL ? k.general
                                 : mode == FPEMU_MODE_RNE   ? k.nearest
                                 : mode == FPEMU_MODE_SR    ? k.stochastic
                                                            : k.any_mode;
    const cudaError_t error = enqueue(kernel[counted], blocks, THREADS, stream, *job);
    if (error == cudaSuccess && counted)
        return fpemu_gpu_add(&job->call.counts->count, job->call.n, stream);
    return fpemu_gpu_status(error);
}

extern "C" {

fpemu_cuda_status fpemu_gpu_quantize32(const gpu_quantize_job32 *job, fpemu_cuda_stream stream)
{
    typedef gpu_quantize_job32 Job;
    static const kernels<Job> all = {
        .nearest = {fast32<FPEMU_MODE_RNE>, fast_counted<Job, FPEMU_MODE_RNE>},
        .stochastic = {fast32<FPEMU_MODE_SR>, fast_counted<Job, FPEMU_MODE_SR>},
        .any_mode = {fast32<OF_PLAN>, fast_counted<Job, OF_PLAN>},
        .of_float = {general<Job, GPU_FORM_FLOAT, 0>, general<Job, GPU_FORM_FLOAT, 1>},
        .any = {general<Job, GPU_FORM_ANY, 0>, general<Job, GPU_FORM_ANY, 1>},
        .general = {general<Job, GPU_FORM_GENERAL, 0>, general<Job, GPU_FORM_GENERAL, 1>},
    };
    return launch(all, gpu_form32(&job->plan), job, stream);
}

fpemu_cuda_status fpemu_gpu_quantize64(const gpu_quantize_job64 *job, fpemu_cuda_stream stream)
{
    typedef gpu_quantize_job64 Job;
    static const kernels<Job> all = {
        .nearest = {fast64<FPEMU_MODE_RNE>, fast_counted<Job, FPEMU_MODE_RNE>},
        .stochastic = {fast64<FPEMU_MODE_SR>, fast_counted<Job, FPEMU_MODE_SR>},
        .any_mode = {fast64<OF_PLAN>, fast_counted<Job, OF_PLAN>},
        .of_float = {general<Job, GPU_FORM_FLOAT, 0>, general<Job, GPU_FORM_FLOAT, 1>},
        .any = {general<Job, GPU_FORM_ANY, 0>, general<Job, GPU_FORM_ANY, 1>},
        .general = {general<Job, GPU_FORM_GENERAL, 0>, general<Job, GPU_FORM_GENERAL, 1>},
    };
    return launch(all, gpu_form64(&job->plan), job, stream);
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
