/* SPDX-License-Identifier: BSD-2-Clause */
/* fpemu_cuda.h - the functions of fpemu.h on device memory and a CUDA stream: the same nouns, the same bits.
 *
 * Pointers named d_... lie in device (or managed) memory; everything else is of the host, and copied at launch:
 * formats, roundings, shapes, and arrays of device pointers. Every call only enqueues work on `stream` and returns:
 * nothing is allocated, copied or waited for, unless its description says so. Arguments are checked before anything is
 * enqueued. Arrays are aligned to their element, counters and ranges to 8 bytes (else FPEMU_CUDA_ERROR_ARGUMENT),
 * packed bytes to nothing; four elements are moved at once where all arrays of a call allow it. n = 0 does nothing.
 * Calls may come from several host threads, and work may run on several streams at once: outputs and scratch are then
 * apart, counters and ranges may be shared. What only enqueues can be captured in a CUDA graph: every launch of the
 * graph reads device memory anew, which must live as long; host values are those of the call. What waits is refused
 * there (FPEMU_CUDA_ERROR_LAUNCH). The caller's own errors, as cudaGetLastError tells them, are left alone.
 * Link with `pkg-config --cflags --libs fpemu_cuda`.
 *
 * A stream is a cudaStream_t (NULL: the default stream), declared here so that this header needs no other of CUDA's. */
#ifndef FPEMU_CUDA_H
#define FPEMU_CUDA_H

#include <fpemu.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CUstream_st *fpemu_cuda_stream;

/* Every fpemu_status has its like here, with the same number and CUDA_ in the name; what CUDA adds comes after. It is a
 * type of its own, so that C++ refuses, and C compilers tell (-Wenum-compare, -Wenum-conversion), where the two are
 * mixed: fpemu_cuda_status_text and not fpemu_status_text has the words. */
typedef enum fpemu_cuda_status {
    FPEMU_CUDA_OK = FPEMU_OK,
    FPEMU_CUDA_ERROR_NULL = FPEMU_ERROR_NULL,
    FPEMU_CUDA_ERROR_FORMAT = FPEMU_ERROR_FORMAT,
    FPEMU_CUDA_ERROR_CARRIER = FPEMU_ERROR_CARRIER,
    FPEMU_CUDA_ERROR_ROUNDING = FPEMU_ERROR_ROUNDING,
    FPEMU_CUDA_ERROR_UNSUPPORTED = FPEMU_ERROR_UNSUPPORTED,
    FPEMU_CUDA_ERROR_OVERLAP = FPEMU_ERROR_OVERLAP,
    FPEMU_CUDA_ERROR_SPEC = FPEMU_ERROR_SPEC,
    FPEMU_CUDA_ERROR_BUFFER = FPEMU_ERROR_BUFFER,
    FPEMU_CUDA_ERROR_NAN = FPEMU_ERROR_NAN,
    FPEMU_CUDA_ERROR_STATS = FPEMU_ERROR_STATS,
    FPEMU_CUDA_ERROR_ARGUMENT = FPEMU_ERROR_ARGUMENT,
    FPEMU_CUDA_ERROR_NO_DEVICE = 64,    /* there is no CUDA device, or none is visible */
    FPEMU_CUDA_ERROR_DRIVER = 65,       /* the driver is missing, or too old for this library */
    FPEMU_CUDA_ERROR_POINTER = 66,      /* a pointer that the device cannot reach */
    FPEMU_CUDA_ERROR_NO_CODE = 67,      /* this library has no code for the device */
    FPEMU_CUDA_ERROR_LAUNCH = 68,       /* the work could not be enqueued */
    FPEMU_CUDA_ERROR_DEVICE = 69,       /* earlier work on the device failed */
    FPEMU_CUDA_ERROR_DEVICE_MEMORY = 70 /* no device memory is left for code or stacks of the kernels */
} fpemu_cuda_status;

/* A short English text, never NULL. */
const char *fpemu_cuda_status_text(fpemu_cuda_status status);
/* The status of the work enqueued so far, and CUDA's own words for it. Waits for the stream. `text` may be NULL. */
fpemu_cuda_status fpemu_cuda_finish(fpemu_cuda_stream stream, const char **text);

/* Random state in device memory, which kernels read when they run, so that each launch of a graph has the bits of what
 * then lies there. With this added to a rounding's generator its seed is the address of two uint64_t, aligned to 8: the
 * seed, and a number that is added to the rounding's stream. Work on the stream writes them: a count of calls, say. A
 * product refuses it (FPEMU_CUDA_ERROR_ROUNDING), and so does the other library. */
#define FPEMU_CUDA_STATE 128

/* ------------------------------------------------------------------------------------------------- stats */

/* Counters in device memory, filled in the same pass as the result. The caller allocates fpemu_cuda_stats_size() bytes,
 * aligned to 8, and clears them before the first use. `want` as in fpemu_stats. */
typedef struct fpemu_cuda_stats fpemu_cuda_stats;
/* The counter of overflow, a uint64_t, lies this many bytes from their beginning. */
#define FPEMU_CUDA_STATS_OVERFLOW 40
size_t fpemu_cuda_stats_size(void);
fpemu_cuda_status fpemu_cuda_stats_clear(fpemu_cuda_stats *d_stats, uint32_t want, fpemu_cuda_stream stream);
/* Copies them to the host, waiting for the stream, and adds them to *stats, whose `want` must be the same. `scratch`:
 * fpemu_cuda_stats_size() bytes of host memory. Between two clearings at most 2^44 elements may be counted. */
fpemu_cuda_status fpemu_cuda_stats_read(const fpemu_cuda_stats *d_stats, void *scratch, fpemu_stats *stats,
                                        fpemu_cuda_stream stream);

/* -------------------------------------------------------------------------------------- values and codes */

/* As fpemu_quantize: d_x, d_y of n elements, exactly the same array or apart. NaN policy `error` is refused
 * (FPEMU_CUDA_ERROR_UNSUPPORTED; look at the counter instead), and so are formats that need scratch memory
 * (fpemu_cuda_quantize_tensor takes it). Of scalar formats the numbers of elements do not pass 2^64: an offset of a
 * rounding that is above 2^64 - 4097 - n is FPEMU_CUDA_ERROR_ARGUMENT, here, where values are encoded, and in
 * arithmetic; tables and formats with scales take any. d_stats may be NULL. */
fpemu_cuda_status fpemu_cuda_quantize(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                                      size_t n, const void *d_x, void *d_y, fpemu_cuda_stats *d_stats,
                                      fpemu_cuda_stream stream);

/* As fpemu_encode: codes of fpemu_format_code_size(format) bytes. */
fpemu_cuda_status fpemu_cuda_encode(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                                    size_t n, const void *d_x, void *d_codes, fpemu_cuda_stats *d_stats,
                                    fpemu_cuda_stream stream);

/* As fpemu_decode. */
fpemu_cuda_status fpemu_cuda_decode(const fpemu_format *format, fpemu_type type, size_t n, const void *d_codes,
                                    void *d_y, fpemu_cuda_stream stream);

/* ----------------------------------------------------------------------------------------------- tensors */

/* The scale of a long block or of a whole tensor is found by a kernel of its own, in scratch memory of the caller: so
 * many bytes on the device, aligned to 8, that no other work uses at the same time. 0: none is needed, d_scratch may be
 * NULL. (Reading packed bytes needs it only for tables of more than 256 values.) Tables are host memory, read before
 * the call returns. */
uint64_t fpemu_cuda_scratch_size(const fpemu_format *format, const fpemu_shape *shape);

/* What is known of a tensor, in device memory: fpemu_cuda_range_size() bytes, aligned to 8, cleared before the first
 * use. fpemu_cuda_range_read waits for the stream; what it gives is for shape.whole and fpemu_delayed_update. */
typedef struct fpemu_cuda_range fpemu_cuda_range;
size_t fpemu_cuda_range_size(void);
fpemu_cuda_status fpemu_cuda_range_clear(fpemu_cuda_range *d_range, fpemu_cuda_stream stream);
fpemu_cuda_status fpemu_cuda_range_read(const fpemu_cuda_range *d_range, fpemu_range *range, fpemu_cuda_stream stream);
/* As fpemu_measure. */
fpemu_cuda_status fpemu_cuda_measure(const fpemu_format *format, fpemu_type type, size_t n, const void *d_x,
                                     fpemu_cuda_range *d_range, fpemu_cuda_stream stream);

/* As fpemu_quantize_tensor; shape, shape->whole and shape->given are host values, the arrays that `given` names lie on
 * the device. FPEMU_CUDA_ERROR_UNSUPPORTED for the generator `words`, and where bytes are packed with given->tensor. */
fpemu_cuda_status fpemu_cuda_quantize_tensor(const fpemu_format *format, const fpemu_rounding *rounding,
                                             fpemu_type type, const fpemu_shape *shape, const void *d_x, void *d_y,
                                             void *d_scratch, fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream);

/* As fpemu_pack and fpemu_unpack: fpemu_packed_size bytes in the layout that fpemu_packed_layout tells. */
fpemu_cuda_status fpemu_cuda_pack(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                                  const fpemu_shape *shape, const void *d_x, void *d_bytes, void *d_scratch,
                                  fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream);
fpemu_cuda_status fpemu_cuda_unpack(const fpemu_format *format, fpemu_type type, const fpemu_shape *shape,
                                    const void *d_bytes, void *d_y, void *d_scratch, fpemu_cuda_stream stream);

/* As fpemu_pack_tensor_scales: writes the numbers of the whole tensor (nothing where the format has none), from
 * shape->whole, or where that is NULL from *d_range, which fpemu_cuda_measure filled for this format: so a tensor is
 * measured, then packed block by block, and nothing waits. */
fpemu_cuda_status fpemu_cuda_pack_tensor_scales(const fpemu_format *format, const fpemu_shape *shape,
                                                const fpemu_cuda_range *d_range, void *d_bytes,
                                                fpemu_cuda_stream stream);

/* As fpemu_pack_blocks and fpemu_unpack_blocks; the numbers of the whole tensor are read from the bytes, where the last
 * fpemu_cuda_pack or fpemu_cuda_pack_tensor_scales left them; with 4over6 rules from shape->whole. */
fpemu_cuda_status fpemu_cuda_pack_blocks(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                                         const fpemu_shape *shape, uint64_t first, uint64_t count, const void *d_x,
                                         void *d_bytes, void *d_scratch, fpemu_cuda_stats *d_stats,
                                         fpemu_cuda_stream stream);
fpemu_cuda_status fpemu_cuda_unpack_blocks(const fpemu_format *format, fpemu_type type, const fpemu_shape *shape,
                                           uint64_t first, uint64_t count, const void *d_bytes, void *d_y,
                                           void *d_scratch, fpemu_cuda_stream stream);

/* As fpemu_swizzle_scales and fpemu_unswizzle_scales. */
fpemu_cuda_status fpemu_cuda_swizzle_scales(uint64_t rows, uint64_t columns, const uint8_t *d_from, uint8_t *d_to,
                                            fpemu_cuda_stream stream);
fpemu_cuda_status fpemu_cuda_unswizzle_scales(uint64_t rows, uint64_t columns, const uint8_t *d_from, uint8_t *d_to,
                                              fpemu_cuda_stream stream);

/* -------------------------------------------------------------------------------------------- arithmetic */

/* As fpemu_arith: `operands` and `steps` are host arrays, the first of device pointers. A single number (step 0) may
 * not lie within d_y. */
fpemu_cuda_status fpemu_cuda_arith(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                                   fpemu_operation operation, size_t n, const void *const *operands,
                                   const size_t *steps, void *d_y, fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream);

/* As fpemu_arith_scaled: `scales` is a host array, one struct an operand, whose `values` lie on the device. Of binary64
 * a product of element and scale that is no such number, for which that refuses the array, is a NaN operand. */
fpemu_cuda_status fpemu_cuda_arith_scaled(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                                          fpemu_operation operation, size_t n, const void *const *operands,
                                          const size_t *steps, const fpemu_operand_scales *scales, void *d_y,
                                          fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream);

/* As fpemu_apply; operands of more than 16 significant bits, for which that refuses the array, become NaN here, as in
 * fpemu_apply_one_f32, and of the counters `count` alone has them. */
fpemu_cuda_status fpemu_cuda_apply(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                                   fpemu_function function, size_t n, const void *d_x, void *d_y,
                                   fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream);

/* As fpemu_compare. */
fpemu_cuda_status fpemu_cuda_compare(fpemu_type type, fpemu_relation relation, size_t n, const void *const *operands,
                                     const size_t *steps, uint8_t *d_y, fpemu_cuda_stream stream);

/* As fpemu_compare_scaled; scales as for fpemu_cuda_arith_scaled. */
fpemu_cuda_status fpemu_cuda_compare_scaled(fpemu_type type, fpemu_relation relation, size_t n,
                                            const void *const *operands, const size_t *steps,
                                            const fpemu_operand_scales *scales, uint8_t *d_y, fpemu_cuda_stream stream);

/* ------------------------------------------------------------------------------------------ dot products */

/* Operands that are rounded on their way in are rounded once, into scratch memory: so many bytes, aligned to 16; 0:
 * none; UINT64_MAX: more than any memory has, and the call gives FPEMU_CUDA_ERROR_ARGUMENT. For a gemv m and n of the
 * shape are the length of the result and 1, for a dot product 1. */
uint64_t fpemu_cuda_gemm_scratch_size(const fpemu_gemm_spec *spec, const fpemu_gemm_shape *shape, fpemu_type type);
/* As fpemu_gemm, fpemu_gemv and fpemu_dot; d_result is read first where the sum starts from it. With counters k is at
 * most 2^28. FPEMU_CUDA_ERROR_UNSUPPORTED for formats with scales (see fpemu_cuda_gemm_scaled) and for splits. */
fpemu_cuda_status fpemu_cuda_gemm(const fpemu_gemm_spec *spec, const fpemu_gemm_shape *shape, fpemu_type type,
                                  double alpha, const void *d_a, const void *d_b, double beta, void *d_c,
                                  void *d_scratch, fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream);
fpemu_cuda_status fpemu_cuda_gemv(const fpemu_gemm_spec *spec, fpemu_order order, int transpose, size_t m, size_t n,
                                  fpemu_type type, double alpha, const void *d_a, size_t lda, const void *d_x,
                                  int64_t incx, double beta, void *d_y, int64_t incy, void *d_scratch,
                                  fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream);
fpemu_cuda_status fpemu_cuda_dot(const fpemu_gemm_spec *spec, size_t n, fpemu_type type, const void *d_x, int64_t incx,
                                 const void *d_y, int64_t incy, void *d_result, void *d_scratch,
                                 fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream);

/* As fpemu_gemm_scaled; scales lie on the device. Of binary64 a scale that is no binary32 number, for which that
 * refuses the call, is a NaN. */
fpemu_cuda_status fpemu_cuda_gemm_scaled(const fpemu_gemm_spec *spec, const fpemu_gemm_shape *shape, fpemu_type type,
                                         double alpha, const void *d_a, const void *d_scales_a, const void *d_b,
                                         const void *d_scales_b, double beta, void *d_c, void *d_scratch,
                                         fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream);

/* --------------------------------------------------------------------------------- a name for each type */

/* As those of fpemu/typed.h: fpemu_cuda_quantize_f32(format, rounding, n, d_x, d_y, d_stats, stream) is
 * fpemu_cuda_quantize(format, rounding, FPEMU_TYPE_F32, n, d_x, d_y, d_stats, stream). */
#define FPEMU_CUDA_TYPED_ARRAYS(F, T, type, number)                                                                    \
    F(fpemu_cuda_status, fpemu_cuda_quantize_##T,                                                                      \
      (const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const number *d_x, number *d_y,           \
       fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream),                                                           \
      fpemu_cuda_quantize(format, rounding, type, n, d_x, d_y, d_stats, stream))                                       \
    F(fpemu_cuda_status, fpemu_cuda_encode_##T,                                                                        \
      (const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const number *d_x, void *d_codes,         \
       fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream),                                                           \
      fpemu_cuda_encode(format, rounding, type, n, d_x, d_codes, d_stats, stream))                                     \
    F(fpemu_cuda_status, fpemu_cuda_decode_##T,                                                                        \
      (const fpemu_format *format, size_t n, const void *d_codes, number *d_y, fpemu_cuda_stream stream),              \
      fpemu_cuda_decode(format, type, n, d_codes, d_y, stream))                                                        \
    F(fpemu_cuda_status, fpemu_cuda_measure_##T,                                                                       \
      (const fpemu_format *format, size_t n, const number *d_x, fpemu_cuda_range *d_range, fpemu_cuda_stream stream),  \
      fpemu_cuda_measure(format, type, n, d_x, d_range, stream))                                                       \
    F(fpemu_cuda_status, fpemu_cuda_quantize_tensor_##T,                                                               \
      (const fpemu_format *format, const fpemu_rounding *rounding, const fpemu_shape *shape, const number *d_x,        \
       number *d_y, void *d_scratch, fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream),                             \
      fpemu_cuda_quantize_tensor(format, rounding, type, shape, d_x, d_y, d_scratch, d_stats, stream))                 \
    F(fpemu_cuda_status, fpemu_cuda_pack_##T,                                                                          \
      (const fpemu_format *format, const fpemu_rounding *rounding, const fpemu_shape *shape, const number *d_x,        \
       void *d_bytes, void *d_scratch, fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream),                           \
      fpemu_cuda_pack(format, rounding, type, shape, d_x, d_bytes, d_scratch, d_stats, stream))                        \
    F(fpemu_cuda_status, fpemu_cuda_unpack_##T,                                                                        \
      (const fpemu_format *format, const fpemu_shape *shape, const void *d_bytes, number *d_y, void *d_scratch,        \
       fpemu_cuda_stream stream),                                                                                      \
      fpemu_cuda_unpack(format, type, shape, d_bytes, d_y, d_scratch, stream))                                         \
    F(fpemu_cuda_status, fpemu_cuda_pack_blocks_##T,                                                                   \
      (const fpemu_format *format, const fpemu_rounding *rounding, const fpemu_shape *shape, uint64_t first,           \
       uint64_t count, const number *d_x, void *d_bytes, void *d_scratch, fpemu_cuda_stats *d_stats,                   \
       fpemu_cuda_stream stream),                                                                                      \
      fpemu_cuda_pack_blocks(format, rounding, type, shape, first, count, d_x, d_bytes, d_scratch, d_stats, stream))   \
    F(fpemu_cuda_status, fpemu_cuda_unpack_blocks_##T,                                                                 \
      (const fpemu_format *format, const fpemu_shape *shape, uint64_t first, uint64_t count, const void *d_bytes,      \
       number *d_y, void *d_scratch, fpemu_cuda_stream stream),                                                        \
      fpemu_cuda_unpack_blocks(format, type, shape, first, count, d_bytes, d_y, d_scratch, stream))                    \
    F(fpemu_cuda_status, fpemu_cuda_arith_##T,                                                                         \
      (const fpemu_format *format, const fpemu_rounding *rounding, fpemu_operation operation, size_t n,                \
       const number *const *operands, const size_t *steps, number *d_y, fpemu_cuda_stats *d_stats,                     \
       fpemu_cuda_stream stream),                                                                                      \
      fpemu_cuda_arith(format, rounding, type, operation, n, (const void *const *)operands, steps, d_y, d_stats,       \
                       stream))                                                                                        \
    F(fpemu_cuda_status, fpemu_cuda_arith_scaled_##T,                                                                  \
      (const fpemu_format *format, const fpemu_rounding *rounding, fpemu_operation operation, size_t n,                \
       const number *const *operands, const size_t *steps, const fpemu_operand_scales *scales, number *d_y,            \
       fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream),                                                           \
      fpemu_cuda_arith_scaled(format, rounding, type, operation, n, (const void *const *)operands, steps, scales, d_y, \
                              d_stats, stream))                                                                        \
    F(fpemu_cuda_status, fpemu_cuda_apply_##T,                                                                         \
      (const fpemu_format *format, const fpemu_rounding *rounding, fpemu_function function, size_t n,                  \
       const number *d_x, number *d_y, fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream),                           \
      fpemu_cuda_apply(format, rounding, type, function, n, d_x, d_y, d_stats, stream))                                \
    F(fpemu_cuda_status, fpemu_cuda_compare_##T,                                                                       \
      (fpemu_relation relation, size_t n, const number *const *operands, const size_t *steps, uint8_t *d_y,            \
       fpemu_cuda_stream stream),                                                                                      \
      fpemu_cuda_compare(type, relation, n, (const void *const *)operands, steps, d_y, stream))                        \
    F(fpemu_cuda_status, fpemu_cuda_compare_scaled_##T,                                                                \
      (fpemu_relation relation, size_t n, const number *const *operands, const size_t *steps,                          \
       const fpemu_operand_scales *scales, uint8_t *d_y, fpemu_cuda_stream stream),                                    \
      fpemu_cuda_compare_scaled(type, relation, n, (const void *const *)operands, steps, scales, d_y, stream))
#define FPEMU_CUDA_TYPED_PRODUCTS(F, T, type, number)                                                                  \
    F(fpemu_cuda_status, fpemu_cuda_gemm_##T,                                                                          \
      (const fpemu_gemm_spec *spec, const fpemu_gemm_shape *shape, number alpha, const number *d_a, const number *d_b, \
       number beta, number *d_c, void *d_scratch, fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream),                \
      fpemu_cuda_gemm(spec, shape, type, fpemu_wide_##T(alpha), d_a, d_b, fpemu_wide_##T(beta), d_c, d_scratch,        \
                      d_stats, stream))                                                                                \
    F(fpemu_cuda_status, fpemu_cuda_gemm_scaled_##T,                                                                   \
      (const fpemu_gemm_spec *spec, const fpemu_gemm_shape *shape, number alpha, const number *d_a,                    \
       const number *d_scales_a, const number *d_b, const number *d_scales_b, number beta, number *d_c,                \
       void *d_scratch, fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream),                                          \
      fpemu_cuda_gemm_scaled(spec, shape, type, fpemu_wide_##T(alpha), d_a, d_scales_a, d_b, d_scales_b,               \
                             fpemu_wide_##T(beta), d_c, d_scratch, d_stats, stream))                                   \
    F(fpemu_cuda_status, fpemu_cuda_gemv_##T,                                                                          \
      (const fpemu_gemm_spec *spec, fpemu_order order, int transpose, size_t m, size_t n, number alpha,                \
       const number *d_a, size_t lda, const number *d_x, int64_t incx, number beta, number *d_y, int64_t incy,         \
       void *d_scratch, fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream),                                          \
      fpemu_cuda_gemv(spec, order, transpose, m, n, type, fpemu_wide_##T(alpha), d_a, lda, d_x, incx,                  \
                      fpemu_wide_##T(beta), d_y, incy, d_scratch, d_stats, stream))                                    \
    F(fpemu_cuda_status, fpemu_cuda_dot_##T,                                                                           \
      (const fpemu_gemm_spec *spec, size_t n, const number *d_x, int64_t incx, const number *d_y, int64_t incy,        \
       number *d_result, void *d_scratch, fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream),                        \
      fpemu_cuda_dot(spec, n, type, d_x, incx, d_y, incy, d_result, d_scratch, d_stats, stream))
#define FPEMU_CUDA_TYPED(F)                                                                                            \
    FPEMU_CUDA_TYPED_ARRAYS(F, f32, FPEMU_TYPE_F32, float)                                                             \
    FPEMU_CUDA_TYPED_ARRAYS(F, f64, FPEMU_TYPE_F64, double)                                                            \
    FPEMU_CUDA_TYPED_ARRAYS(F, f16, FPEMU_TYPE_F16, uint16_t)                                                          \
    FPEMU_CUDA_TYPED_ARRAYS(F, bf16, FPEMU_TYPE_BF16, uint16_t)                                                        \
    FPEMU_CUDA_TYPED_PRODUCTS(F, f32, FPEMU_TYPE_F32, float)                                                           \
    FPEMU_CUDA_TYPED_PRODUCTS(F, f64, FPEMU_TYPE_F64, double)
FPEMU_CUDA_TYPED(FPEMU_DECLARE)

#ifdef __cplusplus
}
#endif

#endif /* FPEMU_CUDA_H */
