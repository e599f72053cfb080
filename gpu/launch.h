/* launch.h - what stands between the verbs and the kernels. The .cu files give these functions on a device, host.c
 * plays them on this processor for the tests. */
#ifndef FPEMU_GPU_LAUNCH_H
#define FPEMU_GPU_LAUNCH_H

#include "fpemu_cuda.h"
#include "job.h"
#include "operate.h"
#include "product.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All return a status as fpemu_cuda.h says. */
int fpemu_gpu_convert32(const gpu_job32 *job, fpemu_cuda_stream stream);
int fpemu_gpu_convert64(const gpu_job64 *job, fpemu_cuda_stream stream);
int fpemu_gpu_decode32(const gpu_job32 *job, fpemu_cuda_stream stream);
int fpemu_gpu_decode64(const gpu_job64 *job, fpemu_cuda_stream stream);

/* tensor.h; what it counts is `elements` elements. */
int fpemu_gpu_tensor32(const gpu_tensor_job32 *job, uint64_t elements, fpemu_cuda_stream stream);
int fpemu_gpu_tensor64(const gpu_tensor_job64 *job, uint64_t elements, fpemu_cuda_stream stream);
/* Whole sheets of a job with `run`, by gpu_tensor_runs. */
int fpemu_gpu_runs32(const gpu_tensor_job32 *job, fpemu_cuda_stream stream);
int fpemu_gpu_untensor32(const gpu_tensor_job32 *job, fpemu_cuda_stream stream);
int fpemu_gpu_untensor64(const gpu_tensor_job64 *job, fpemu_cuda_stream stream);
int fpemu_gpu_extremes32(const gpu_tensor_job32 *job, fpemu_cuda_stream stream);
int fpemu_gpu_extremes64(const gpu_tensor_job64 *job, fpemu_cuda_stream stream);
int fpemu_gpu_measure32(const gpu_tensor_job32 *job, uint64_t elements, fpemu_cuda_stream stream);
int fpemu_gpu_measure64(const gpu_tensor_job64 *job, uint64_t elements, fpemu_cuda_stream stream);
/* given: NULL, or the range that is known. bytes: NULL, or where the numbers of the whole tensor are packed. */
int fpemu_gpu_range_finish(gpu_range *range, gpu_tensor_rule rule, const fpemu_range *given, unsigned char *bytes,
                           fpemu_cuda_stream stream);
/* The numbers of the whole tensor into its packed bytes; given: NULL, or the range that is known. */
int fpemu_gpu_pack_tensor(const gpu_range *range, gpu_tensor_rule rule, const fpemu_range *given, unsigned char *bytes,
                          fpemu_cuda_stream stream);
/* n numbers of a table into the scratch. */
int fpemu_gpu_put_table(float *to, const float *from, uint32_t n, fpemu_cuda_stream stream);
/* Scales of one byte to the order that tensor cores read, or back. */
int fpemu_gpu_swizzle(uint64_t rows, uint64_t columns, const uint8_t *from, uint8_t *to, int back,
                      fpemu_cuda_stream stream);

int fpemu_gpu_operate(const gpu_operate_job *job, fpemu_cuda_stream stream);
int fpemu_gpu_apply(const gpu_operate_job *job, fpemu_cuda_stream stream);
int fpemu_gpu_relate(const gpu_operate_job *job, fpemu_cuda_stream stream);
int fpemu_gpu_product(const gpu_product_job *job, fpemu_cuda_stream stream);

int fpemu_gpu_clear(gpu_counts *counts, uint32_t want, fpemu_cuda_stream stream);
/* n words of zeros. */
int fpemu_gpu_zero(uint64_t *words, uint64_t n, fpemu_cuda_stream stream);
/* Waits for the stream. */
int fpemu_gpu_copy_back(void *to, const void *from, size_t bytes, fpemu_cuda_stream stream);
/* FPEMU_OK if the device can reach the memory at p. */
int fpemu_gpu_reachable(const void *p);
int fpemu_gpu_wait(fpemu_cuda_stream stream, const char **text);

#ifdef __cplusplus
}
#endif

#endif /* FPEMU_GPU_LAUNCH_H */
