/* SPDX-License-Identifier: BSD-2-Clause */
/* fpemu/typed.h - a name for each type: fpemu_quantize_f32(format, rounding, n, x, y, stats), with pointers to float,
 * is fpemu_quantize(format, rounding, FPEMU_TYPE_F32, n, x, y, stats), and likewise _f64 (double), _f16 and _bf16
 * (uint16_t) for the other types and verbs that stand below. The compiler then checks what the arrays are. Of products
 * fpemu_wide_T(x) is x as a double. */
#ifndef FPEMU_API_TYPED_H
#define FPEMU_API_TYPED_H

#include "arith.h"
#include "gemm.h"
#include "quantize.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* F(what it returns, its name, its parameters, the call that it stands for) for each function of a type T, whose arrays
 * hold `number`, whose scales are `real`. */
#define FPEMU_TYPED_ARRAYS(F, T, type, number, real)                                                                   \
    F(int, fpemu_format_fits_##T, (const fpemu_format *format), fpemu_format_fits(format, type))                       \
    F(fpemu_status, fpemu_quantize_##T,                                                                                \
      (const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const number *x, number *y,               \
       fpemu_stats *stats),                                                                                            \
      fpemu_quantize(format, rounding, type, n, x, y, stats))                                                          \
    F(fpemu_status, fpemu_encode_##T,                                                                                  \
      (const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const number *x, void *codes,             \
       fpemu_stats *stats),                                                                                            \
      fpemu_encode(format, rounding, type, n, x, codes, stats))                                                        \
    F(fpemu_status, fpemu_decode_##T, (const fpemu_format *format, size_t n, const void *codes, number *y),            \
      fpemu_decode(format, type, n, codes, y))                                                                         \
    F(fpemu_status, fpemu_measure_##T, (const fpemu_format *format, size_t n, const number *x, fpemu_range *range),    \
      fpemu_measure(format, type, n, x, range))                                                                        \
    F(fpemu_status, fpemu_quantize_tensor_##T,                                                                         \
      (const fpemu_format *format, const fpemu_rounding *rounding, const fpemu_shape *shape, const number *x,          \
       number *y, fpemu_stats *stats),                                                                                 \
      fpemu_quantize_tensor(format, rounding, type, shape, x, y, stats))                                               \
    F(fpemu_status, fpemu_scales_##T,                                                                                  \
      (const fpemu_format *format, const fpemu_shape *shape, const number *x, real *scales, void *codes,               \
       float *tensor),                                                                                                 \
      fpemu_scales(format, type, shape, x, scales, codes, tensor))                                                     \
    F(fpemu_status, fpemu_pack_##T,                                                                                    \
      (const fpemu_format *format, const fpemu_rounding *rounding, const fpemu_shape *shape, const number *x,          \
       void *bytes, fpemu_stats *stats),                                                                               \
      fpemu_pack(format, rounding, type, shape, x, bytes, stats))                                                      \
    F(fpemu_status, fpemu_unpack_##T,                                                                                  \
      (const fpemu_format *format, const fpemu_shape *shape, const void *bytes, number *y),                            \
      fpemu_unpack(format, type, shape, bytes, y))                                                                     \
    F(fpemu_status, fpemu_pack_blocks_##T,                                                                             \
      (const fpemu_format *format, const fpemu_rounding *rounding, const fpemu_shape *shape, uint64_t first,           \
       uint64_t count, const number *x, void *bytes, fpemu_stats *stats),                                              \
      fpemu_pack_blocks(format, rounding, type, shape, first, count, x, bytes, stats))                                 \
    F(fpemu_status, fpemu_unpack_blocks_##T,                                                                           \
      (const fpemu_format *format, const fpemu_shape *shape, uint64_t first, uint64_t count, const void *bytes,        \
       number *y),                                                                                                     \
      fpemu_unpack_blocks(format, type, shape, first, count, bytes, y))                                                \
    F(fpemu_status, fpemu_arith_##T,                                                                                   \
      (const fpemu_format *format, const fpemu_rounding *rounding, fpemu_operation operation, size_t n,                \
       const number *const *operands, const size_t *steps, number *y, fpemu_stats *stats),                             \
      fpemu_arith_scaled(format, rounding, type, operation, n, (const void *const *)operands, steps, NULL, y, stats))  \
    F(fpemu_status, fpemu_arith_scaled_##T,                                                                            \
      (const fpemu_format *format, const fpemu_rounding *rounding, fpemu_operation operation, size_t n,                \
       const number *const *operands, const size_t *steps, const fpemu_operand_scales *scales, number *y,              \
       fpemu_stats *stats),                                                                                            \
      fpemu_arith_scaled(format, rounding, type, operation, n, (const void *const *)operands, steps, scales, y,        \
                         stats))                                                                                       \
    F(fpemu_status, fpemu_apply_##T,                                                                                   \
      (const fpemu_format *format, const fpemu_rounding *rounding, fpemu_function function, size_t n, const number *x, \
       number *y, fpemu_stats *stats),                                                                                 \
      fpemu_apply(format, rounding, type, function, n, x, y, stats))                                                   \
    F(fpemu_status, fpemu_compare_##T,                                                                                 \
      (fpemu_relation relation, size_t n, const number *const *operands, const size_t *steps, uint8_t *y),             \
      fpemu_compare_scaled(type, relation, n, (const void *const *)operands, steps, NULL, y))                          \
    F(fpemu_status, fpemu_compare_scaled_##T,                                                                          \
      (fpemu_relation relation, size_t n, const number *const *operands, const size_t *steps,                          \
       const fpemu_operand_scales *scales, uint8_t *y),                                                                \
      fpemu_compare_scaled(type, relation, n, (const void *const *)operands, steps, scales, y))
#define FPEMU_TYPED_WORDS(F, T, type)                                                                                  \
    F(fpemu_status, fpemu_function_table_##T,                                                                          \
      (const fpemu_format *format, const fpemu_rounding *rounding, fpemu_function function, uint16_t *table),          \
      fpemu_function_table(format, rounding, type, function, table))
#define FPEMU_TYPED_PRODUCTS(F, T, type, number)                                                                       \
    F(fpemu_status, fpemu_unpack_scales_##T,                                                                           \
      (const fpemu_format *format, const fpemu_shape *shape, uint64_t first, uint64_t count, const void *bytes,        \
       number *scales),                                                                                                \
      fpemu_unpack_scales(format, type, shape, first, count, bytes, scales))                                           \
    F(fpemu_status, fpemu_gemm_##T,                                                                                    \
      (const fpemu_gemm_spec *spec, const fpemu_gemm_shape *shape, number alpha, const number *a, const number *b,     \
       number beta, number *c, fpemu_stats *stats),                                                                    \
      fpemu_gemm(spec, shape, type, fpemu_wide_##T(alpha), a, b, fpemu_wide_##T(beta), c, stats))                      \
    F(fpemu_status, fpemu_gemm_scaled_##T,                                                                             \
      (const fpemu_gemm_spec *spec, const fpemu_gemm_shape *shape, number alpha, const number *a,                      \
       const number *scales_a, const number *b, const number *scales_b, number beta, number *c, fpemu_stats *stats),   \
      fpemu_gemm_scaled(spec, shape, type, fpemu_wide_##T(alpha), a, scales_a, b, scales_b, fpemu_wide_##T(beta), c,   \
                        stats))                                                                                        \
    F(fpemu_status, fpemu_gemv_##T,                                                                                    \
      (const fpemu_gemm_spec *spec, fpemu_order order, int transpose, size_t m, size_t n, number alpha,                \
       const number *a, size_t lda, const number *x, int64_t incx, number beta, number *y, int64_t incy,               \
       fpemu_stats *stats),                                                                                            \
      fpemu_gemv(spec, order, transpose, m, n, type, fpemu_wide_##T(alpha), a, lda, x, incx, fpemu_wide_##T(beta), y,  \
                 incy, stats))                                                                                         \
    F(fpemu_status, fpemu_dot_##T,                                                                                     \
      (const fpemu_gemm_spec *spec, size_t n, const number *x, int64_t incx, const number *y, int64_t incy,            \
       number *result, fpemu_stats *stats),                                                                            \
      fpemu_dot(spec, n, type, x, incx, y, incy, result, stats))
#define FPEMU_TYPED(F)                                                                                                 \
    FPEMU_TYPED_ARRAYS(F, f32, FPEMU_TYPE_F32, float, float)                                                           \
    FPEMU_TYPED_ARRAYS(F, f64, FPEMU_TYPE_F64, double, double)                                                         \
    FPEMU_TYPED_ARRAYS(F, f16, FPEMU_TYPE_F16, uint16_t, float)                                                        \
    FPEMU_TYPED_ARRAYS(F, bf16, FPEMU_TYPE_BF16, uint16_t, float)                                                      \
    FPEMU_TYPED_WORDS(F, f16, FPEMU_TYPE_F16)                                                                          \
    FPEMU_TYPED_WORDS(F, bf16, FPEMU_TYPE_BF16)                                                                        \
    FPEMU_TYPED_PRODUCTS(F, f32, FPEMU_TYPE_F32, float)                                                                \
    FPEMU_TYPED_PRODUCTS(F, f64, FPEMU_TYPE_F64, double)

#define FPEMU_DECLARE(result, name, parameters, call) result name parameters;
FPEMU_TYPED(FPEMU_DECLARE)

typedef fpemu_operand_scales fpemu_operand_scales_f32, fpemu_operand_scales_f64;

#ifdef __cplusplus
}
#endif

#endif /* FPEMU_API_TYPED_H */
