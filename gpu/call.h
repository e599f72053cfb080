/* call.h - what the files of verbs share: checks of formats and pointers, 16-bit types, random settings. */
#ifndef FPEMU_GPU_CALL_H
#define FPEMU_GPU_CALL_H

#include "array/environment.h"
#include "launch.h"

/* Bytes of an element of an array. */
size_t fpemu_gpu_size(int type, uint32_t code_size);
/* Whether every value of f is a number of the 16-bit type. */
int fpemu_gpu_fits(const fpemu_format *f, int type);
/* Two arrays of n elements: apart or the very same, whole elements, reachable. */
int fpemu_gpu_check_pointers(const void *x, size_t x_size, const void *y, size_t y_size, size_t n);
/* Memory of 8-byte words that the library counts or keeps things in: aligned, reachable. NULL is fine. */
int fpemu_gpu_check_words(const void *p);
/* The first element, modulo 4, from which on four at a time lie aligned in both arrays, or GPU_NO_QUADS. */
uint8_t fpemu_gpu_phase(const void *x, size_t x_size, const void *y, size_t y_size);
/* The coder of a 16-bit type; all zero for others. */
void fpemu_gpu_narrow_coder(core_coder32 *c, int type);
/* Random bits of a rounding; NULL: none. */
gpu_random fpemu_gpu_random(const fpemu_rounding *r);
/* NaN policy `error` in force, and it matters: what devices refuse. */
int fpemu_gpu_nan_is_error(const fpemu_format *f, const fpemu_rounding *r);

/* What a scalar call hands over where its format is a codebook or has scales (tensors.c). to_code: codes out. */
int fpemu_gpu_vector(const fpemu_format *f, const fpemu_rounding *r, size_t n, const void *x, int type, void *y,
                     int to_code, fpemu_cuda_stats *stats, fpemu_cuda_stream stream);
int fpemu_gpu_vector_decode(const fpemu_format *f, size_t n, const void *codes, void *y, int type,
                            fpemu_cuda_stream stream);

/* Quantises a scalar format along a shape. */
int fpemu_gpu_along(const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *shape, const void *x, void *y,
                    int type, fpemu_cuda_stream stream);

#endif /* FPEMU_GPU_CALL_H */
