/* host.c - the kernels played on this processor, warp by warp: launch.h for the tests, where no GPU is needed. */
#include "quantize.h"
#include "launch.h"

/* More than one warp, and a number that divides nothing. */
#define WARPS 5

#define PLAY(W, JOB)                                                                                                   \
    int fpemu_gpu_convert##W(const JOB *job, fpemu_cuda_stream stream)                                                 \
    {                                                                                                                  \
        const int form = gpu_form##W(&job->plan), counted = job->job.counts != NULL;                                   \
        (void)stream;                                                                                                  \
        for (uint64_t warp = 0; warp < WARPS; warp++)                                                                  \
            gpu_convert##W(job, form, job->plan.rule, job->plan.mode, counted, warp, WARPS);                           \
        if (counted)                                                                                                   \
            job->job.counts->count += job->job.n;                                                                      \
        return FPEMU_OK;                                                                                               \
    }                                                                                                                  \
    int fpemu_gpu_decode##W(const JOB *job, fpemu_cuda_stream stream)                                                  \
    {                                                                                                                  \
        (void)stream;                                                                                                  \
        for (uint64_t warp = 0; warp < WARPS; warp++)                                                                  \
            gpu_decode##W(job, warp, WARPS);                                                                           \
        return FPEMU_OK;                                                                                               \
    }

PLAY(32, gpu_job32)
PLAY(64, gpu_job64)

#define PLAY_TENSOR(W, JOB)                                                                                            \
    int fpemu_gpu_tensor##W(const JOB *job, uint64_t elements, fpemu_cuda_stream stream)                               \
    {                                                                                                                  \
        const int counted = job->job.counts != NULL;                                                                   \
        (void)stream;                                                                                                  \
        for (uint64_t warp = 0; warp < WARPS; warp++)                                                                  \
            gpu_tensor##W(job, gpu_tensor_form##W(job), job->rule.plan.mode, counted, gpu_width(&job->job), warp,      \
                          WARPS);                                                                                      \
        if (counted)                                                                                                   \
            job->job.counts->count += elements;                                                                        \
        return FPEMU_OK;                                                                                               \
    }                                                                                                                  \
    int fpemu_gpu_untensor##W(const JOB *job, fpemu_cuda_stream stream)                                                \
    {                                                                                                                  \
        (void)stream;                                                                                                  \
        for (uint64_t warp = 0; warp < WARPS; warp++)                                                                  \
            gpu_untensor##W(job, gpu_width(&job->job), warp, WARPS);                                                   \
        return FPEMU_OK;                                                                                               \
    }                                                                                                                  \
    int fpemu_gpu_extremes##W(const JOB *job, fpemu_cuda_stream stream)                                                \
    {                                                                                                                  \
        (void)stream;                                                                                                  \
        for (uint64_t warp = 0; warp < WARPS; warp++)                                                                  \
            gpu_tensor_extremes##W(job, gpu_width(&job->job), warp, WARPS);                                            \
        return FPEMU_OK;                                                                                               \
    }                                                                                                                  \
    int fpemu_gpu_measure##W(const JOB *job, uint64_t elements, fpemu_cuda_stream stream)                              \
    {                                                                                                                  \
        (void)stream;                                                                                                  \
        for (uint64_t warp = 0; warp < WARPS; warp++)                                                                  \
            gpu_tensor_measure##W(job, gpu_width(&job->job), warp, WARPS);                                             \
        job->job.range->count += elements;                                                                             \
        return FPEMU_OK;                                                                                               \
    }

PLAY_TENSOR(32, gpu_tensor_job32)
PLAY_TENSOR(64, gpu_tensor_job64)

int fpemu_gpu_runs32(const gpu_tensor_job32 *job, fpemu_cuda_stream stream)
{
    (void)stream;
    for (uint64_t warp = 0; warp < WARPS; warp++)
        gpu_tensor_runs(job, job->rule.plan.rule, job->rule.is_table ? job->rule.table.mode : job->rule.plan.mode, warp,
                        WARPS);
    return FPEMU_OK;
}

int fpemu_gpu_range_finish(gpu_range *range, gpu_tensor_rule rule, const fpemu_range *given, unsigned char *bytes,
                           fpemu_cuda_stream stream)
{
    (void)stream;
    gpu_range_finish(range, rule, given);
    if (bytes)
        gpu_store_tensor(bytes, range->tensor);
    return FPEMU_OK;
}

int fpemu_gpu_pack_tensor(const gpu_range *range, gpu_tensor_rule rule, const fpemu_range *given, unsigned char *bytes,
                          fpemu_cuda_stream stream)
{
    (void)stream;
    gpu_pack_tensor(range, rule, given, bytes);
    return FPEMU_OK;
}

int fpemu_gpu_put_table(float *to, const float *from, uint32_t n, fpemu_cuda_stream stream)
{
    (void)stream;
    memcpy(to, from, n * sizeof *to);
    return FPEMU_OK;
}

int fpemu_gpu_swizzle(uint64_t rows, uint64_t columns, const uint8_t *from, uint8_t *to, int back,
                      fpemu_cuda_stream stream)
{
    (void)stream;
    for (uint64_t i = 0; i < gpu_swizzle_steps(rows, columns, back); i++)
        gpu_swizzle(rows, columns, from, to, back, i);
    return FPEMU_OK;
}

int fpemu_gpu_zero(uint64_t *words, uint64_t n, fpemu_cuda_stream stream)
{
    (void)stream;
    memset(words, 0, n * sizeof *words);
    return FPEMU_OK;
}

int fpemu_gpu_operate(const gpu_operate_job *job, fpemu_cuda_stream stream)
{
    (void)stream;
    for (uint64_t warp = 0; warp < WARPS; warp++)
        gpu_operate(job, 0, job->counts != NULL, warp, WARPS);
    if (job->counts)
        job->counts->count += job->n;
    return FPEMU_OK;
}

int fpemu_gpu_apply(const gpu_operate_job *job, fpemu_cuda_stream stream)
{
    (void)stream;
    for (uint64_t warp = 0; warp < WARPS; warp++)
        gpu_operate(job, 1, job->counts != NULL, warp, WARPS);
    if (job->counts)
        job->counts->count += job->n;
    return FPEMU_OK;
}

int fpemu_gpu_relate(const gpu_operate_job *job, fpemu_cuda_stream stream)
{
    (void)stream;
    for (uint64_t warp = 0; warp < WARPS; warp++)
        gpu_relate(job, warp, WARPS);
    return FPEMU_OK;
}

int fpemu_gpu_product(const gpu_product_job *job, fpemu_cuda_stream stream)
{
    (void)stream;
    if (job->slab) {
        gpu_tile tile;
        for (uint64_t block = 0; block < WARPS; block++)
            gpu_product_tiles(job, &tile, block, WARPS);
        return FPEMU_OK;
    }
    for (uint64_t warp = 0; warp < WARPS; warp++)
        gpu_product(job, job->counts != NULL, warp, WARPS);
    return FPEMU_OK;
}

int fpemu_gpu_clear(gpu_counts *counts, uint32_t want, fpemu_cuda_stream stream)
{
    (void)stream;
    memset(counts, 0, sizeof *counts);
    counts->want = want;
    return FPEMU_OK;
}

int fpemu_gpu_copy_back(void *to, const void *from, size_t bytes, fpemu_cuda_stream stream)
{
    (void)stream;
    memcpy(to, from, bytes);
    return FPEMU_OK;
}

int fpemu_gpu_reachable(const void *p)
{
    (void)p;
    return FPEMU_OK;
}

int fpemu_gpu_wait(fpemu_cuda_stream stream, const char **text)
{
    (void)stream;
    if (text)
        *text = "no error";
    return FPEMU_OK;
}
