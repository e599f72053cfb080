/* SPDX-License-Identifier: BSD-2-Clause */
/* launch.h - what stands between the host calls and the kernels. The .cu files give these functions on a device,
 * simulate.c runs them on this processor for the tests. */
#ifndef FPEMU_GPU_LAUNCH_H
#define FPEMU_GPU_LAUNCH_H

#include "fpemu_cuda.h"
#include "arith.h"
#include "block_runs.h"
#include "gemm.h"
#include "measure_runs.h"
#include "unpack_runs.h"

#ifdef __cplusplus
extern "C" {
#endif

fpemu_cuda_status fpemu_gpu_quantize32(const gpu_quantize_job32 *job, fpemu_cuda_stream stream);
fpemu_cuda_status fpemu_gpu_quantize64(const gpu_quantize_job64 *job, fpemu_cuda_stream stream);
fpemu_cuda_status fpemu_gpu_decode32(const gpu_quantize_job32 *job, fpemu_cuda_stream stream);
fpemu_cuda_status fpemu_gpu_decode64(const gpu_quantize_job64 *job, fpemu_cuda_stream stream);

/* blocks.h; what it counts is `elements` elements. */
fpemu_cuda_status fpemu_gpu_blocks32(const gpu_blocks_job32 *job, uint64_t elements, fpemu_cuda_stream stream);
fpemu_cuda_status fpemu_gpu_blocks64(const gpu_blocks_job64 *job, uint64_t elements, fpemu_cuda_stream stream);
/* Whole strips of a job with `run`, by gpu_block_runs. */
fpemu_cuda_status fpemu_gpu_block_runs32(const gpu_blocks_job32 *job, fpemu_cuda_stream stream);
fpemu_cuda_status fpemu_gpu_unpack32(const gpu_blocks_job32 *job, fpemu_cuda_stream stream);
fpemu_cuda_status fpemu_gpu_unpack64(const gpu_blocks_job64 *job, fpemu_cuda_stream stream);
fpemu_cuda_status fpemu_gpu_extremes32(const gpu_blocks_job32 *job, fpemu_cuda_stream stream);
fpemu_cuda_status fpemu_gpu_extremes64(const gpu_blocks_job64 *job, fpemu_cuda_stream stream);
fpemu_cuda_status fpemu_gpu_measure32(const gpu_blocks_job32 *job, uint64_t elements, fpemu_cuda_stream stream);
fpemu_cuda_status fpemu_gpu_measure64(const gpu_blocks_job64 *job, uint64_t elements, fpemu_cuda_stream stream);
/* given: NULL, or the range that is known. bytes: NULL, or where the numbers of the whole tensor are packed. */
fpemu_cuda_status fpemu_gpu_range_finish(gpu_range *range, gpu_range_rule rule, const fpemu_range *given,
                                         unsigned char *bytes, fpemu_cuda_stream stream);
/* The numbers of the whole tensor into its packed bytes; given: NULL, or the range that is known. */
fpemu_cuda_status fpemu_gpu_pack_tensor_scales(const gpu_range *range, gpu_range_rule rule, const fpemu_range *given,
                                               unsigned char *bytes, fpemu_cuda_stream stream);
/* n numbers of a table into the scratch. */
fpemu_cuda_status fpemu_gpu_put_table(float *to, const float *from, uint32_t n, fpemu_cuda_stream stream);
/* Scales of one byte to the order that tensor cores read, or back. */
fpemu_cuda_status fpemu_gpu_swizzle(uint64_t rows, uint64_t columns, const uint8_t *from, uint8_t *to, int back,
                                    fpemu_cuda_stream stream);

fpemu_cuda_status fpemu_gpu_arith(const gpu_arith_job *job, fpemu_cuda_stream stream);
fpemu_cuda_status fpemu_gpu_apply(const gpu_arith_job *job, fpemu_cuda_stream stream);
fpemu_cuda_status fpemu_gpu_compare(const gpu_arith_job *job, fpemu_cuda_stream stream);
fpemu_cuda_status fpemu_gpu_gemm(const gpu_gemm_job *job, fpemu_cuda_stream stream);

fpemu_cuda_status fpemu_gpu_clear(gpu_counts *counts, uint32_t want, fpemu_cuda_stream stream);
/* n words of zeros. */
fpemu_cuda_status fpemu_gpu_zero(uint64_t *words, uint64_t n, fpemu_cuda_stream stream);
/* Waits for the stream. */
fpemu_cuda_status fpemu_gpu_copy_back(void *to, const void *from, size_t bytes, fpemu_cuda_stream stream);
/* FPEMU_CUDA_OK if the device can reach the memory at p. */
fpemu_cuda_status fpemu_gpu_reachable(const void *p);
fpemu_cuda_status fpemu_gpu_wait(fpemu_cuda_stream stream, const char **text);

#ifdef __cplusplus
}
#endif

#endif /* FPEMU_GPU_LAUNCH_H */
