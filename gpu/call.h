/* SPDX-License-Identifier: BSD-2-Clause */
/* call.h - what the host calls share: statuses, checks of formats, rounding and pointers, random settings (call.c), and
 * functions of blocks.c that quantize.c and gemm.c call. */
#ifndef FPEMU_GPU_CALL_H
#define FPEMU_GPU_CALL_H

#include "core/reach.h"
#include "format/environment.h"
#include "launch.h"

/* A status of the library as one of ours: the numbers are the same. */
static inline fpemu_cuda_status gpu_status(fpemu_status status)
{
    return (fpemu_cuda_status)status;
}

/* Bits of the carrier that the elements of an array are rounded in. */
static inline int gpu_carrier(int type)
{
    return type == GPU_F64 ? 64 : 32;
}

/* How the numbers of a caller's array lie, as an enum gpu_type; GPU_CODES for what is no type. */
int fpemu_gpu_type(fpemu_type type);
/* Bytes of an element of an array. */
size_t fpemu_gpu_size(int type, uint32_t code_size);
/* Whether every value of f is a number of the 16-bit type; true for other types. */
int fpemu_gpu_fits(const fpemu_format *f, int type);
/* Two arrays of n elements: apart or the very same, whole elements, reachable. */
fpemu_cuda_status fpemu_gpu_check_pointers(const void *x, size_t x_size, const void *y, size_t y_size, size_t n);
/* Memory of 8-byte words that the library counts or keeps things in: aligned, reachable. NULL is fine. */
fpemu_cuda_status fpemu_gpu_check_words(const void *p);
/* Whether the numbers of n elements, by which kernels find their pieces, end GPU_BEHIND before 2^64. */
fpemu_cuda_status fpemu_gpu_check_offset(const fpemu_rounding *r, size_t n);
#define GPU_BEHIND 4096
/* Scales of an operand, `count` numbers of `size` bytes: aligned, apart from the result, reachable. */
fpemu_cuda_status fpemu_gpu_check_scales(const void *scales, uint64_t count, size_t size, const core_reach *result);
/* fpemu_check, and where the rounding has its random state in device memory, whether that can be read. */
fpemu_cuda_status fpemu_gpu_check(const fpemu_format *f, const fpemu_rounding *r, int carrier);
/* Random bits of a rounding; NULL: none. */
gpu_random fpemu_gpu_random(const fpemu_rounding *r);
/* NaN policy `error` in force, and it matters: what devices refuse. */
int fpemu_gpu_nan_is_error(const fpemu_format *f, const fpemu_rounding *r);

/* Quantises an array in a format with scales or a codebook, or encodes it in one (to_code). */
fpemu_cuda_status fpemu_gpu_quantize_blocks(const fpemu_format *f, const fpemu_rounding *r, size_t n, const void *x,
                                            int type, void *y, int to_code, fpemu_cuda_stats *stats,
                                            fpemu_cuda_stream stream);
/* Decodes an array of codes of a codebook. */
fpemu_cuda_status fpemu_gpu_decode_codebook(const fpemu_format *f, size_t n, const void *codes, void *y, int type,
                                            fpemu_cuda_stream stream);
/* Quantises along a shape, counters aside. */
fpemu_cuda_status fpemu_gpu_quantize_shape(const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *shape,
                                           const void *x, void *y, void *scratch, int type, fpemu_cuda_stream stream);

#endif /* FPEMU_GPU_CALL_H */
