/* launch.h - what stands between the verbs and the kernels. Two files give these functions: kernels.cu, on a device, and
 * host.c, which plays the kernels on this processor for the tests. */
#ifndef FPEMU_GPU_LAUNCH_H
#define FPEMU_GPU_LAUNCH_H

#include "fpemu_cuda.h"
#include "job.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All return a status as fpemu_cuda.h says. */
int fpemu_gpu_convert32(const gpu_job32 *job, fpemu_cuda_stream stream);
int fpemu_gpu_convert64(const gpu_job64 *job, fpemu_cuda_stream stream);
int fpemu_gpu_decode32(const gpu_job32 *job, fpemu_cuda_stream stream);
int fpemu_gpu_decode64(const gpu_job64 *job, fpemu_cuda_stream stream);
int fpemu_gpu_clear(gpu_counts *counts, uint32_t want, fpemu_cuda_stream stream);
/* Waits for the stream. */
int fpemu_gpu_copy_back(void *to, const void *from, size_t bytes, fpemu_cuda_stream stream);
/* FPEMU_OK if the device can reach the memory at p. */
int fpemu_gpu_reachable(const void *p);
int fpemu_gpu_wait(fpemu_cuda_stream stream, const char **text);

#ifdef __cplusplus
}
#endif

#endif /* FPEMU_GPU_LAUNCH_H */
