/* host.c - the kernels played on this processor, warp by warp: launch.h for the tests, where no GPU is needed. */
#include "bodies.h"
#include "launch.h"

/* More than one warp, and a number that divides nothing. */
#define WARPS 5

#define PLAY(W, JOB)                                                                                                   \
    int fpemu_gpu_convert##W(const JOB *job, fpemu_cuda_stream stream)                                                 \
    {                                                                                                                  \
        const int form = gpu_form##W(&job->plan), counted = job->job.counts != NULL;                                   \
        (void)stream;                                                                                                  \
        for (uint64_t warp = 0; warp < WARPS; warp++)                                                                  \
            gpu_convert##W(job, form, job->plan.mode, counted, warp, WARPS);                                           \
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
