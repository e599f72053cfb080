/* fpemu/quantize.h - numbers to the values of a format, to its codes, and back. */
#ifndef FPEMU_API_QUANTIZE_H
#define FPEMU_API_QUANTIZE_H

#include "format.h"
#include "rounding.h"
#include "stats.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In all of these: n elements; `stats` may be NULL; n = 0 succeeds and touches nothing, whatever the pointers are. All
 * arguments are checked before anything is written. Blocked formats and codebooks are taken too, but for codes, which
 * blocked formats do not have apart from their scales (FPEMU_ERROR_UNSUPPORTED; fpemu_pack has both). */

/* Each x[i] to a value of the format. y == x is allowed, overlap in part is not. A blocked format takes the array for
 * a vector, cut into its blocks from the start. */
fpemu_status fpemu_quantize_f32(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const float *x,
                                float *y, fpemu_stats *stats);
fpemu_status fpemu_quantize_f64(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const double *x,
                                double *y, fpemu_stats *stats);

/* Each x[i] to a code: n unsigned integers of fpemu_format_code_size bytes, in host byte order, the code in the low
 * bits. codes == x is allowed where both have the same size; any other overlap is not. */
fpemu_status fpemu_encode_f32(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const float *x,
                              void *codes, fpemu_stats *stats);
fpemu_status fpemu_encode_f64(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const double *x,
                              void *codes, fpemu_stats *stats);

/* Each code to its value. Bits above the format's width are ignored; a code that stands for no value gives NaN. */
fpemu_status fpemu_decode_f32(const fpemu_format *format, size_t n, const void *codes, float *y);
fpemu_status fpemu_decode_f64(const fpemu_format *format, size_t n, const void *codes, double *y);

/* The same for one element, whose place in the random stream is `index` (rounding->offset is added). NaN, or code 0,
 * for what the array form refuses. */
float fpemu_quantize_one_f32(const fpemu_format *format, const fpemu_rounding *rounding, float x, uint64_t index);
double fpemu_quantize_one_f64(const fpemu_format *format, const fpemu_rounding *rounding, double x, uint64_t index);
uint64_t fpemu_encode_one_f32(const fpemu_format *format, const fpemu_rounding *rounding, float x, uint64_t index);
uint64_t fpemu_encode_one_f64(const fpemu_format *format, const fpemu_rounding *rounding, double x, uint64_t index);
float fpemu_decode_one_f32(const fpemu_format *format, uint64_t code);
double fpemu_decode_one_f64(const fpemu_format *format, uint64_t code);

/* What fpemu_quantize_f32 (carrier_bits = 32) or fpemu_quantize_f64 (64) would say to this format and rounding:
 * FPEMU_OK, or why the two are refused. FPEMU_ERROR_NULL for NULL, FPEMU_ERROR_ARGUMENT for another number of bits. A
 * call may still fail for its arrays, its stats or its shape, or find a NaN that the policy calls an error. Encoding,
 * arithmetic and dot products may refuse more: codes of formats with blocks, compatibility settings, affine integers. */
fpemu_status fpemu_check(const fpemu_format *format, const fpemu_rounding *rounding, int carrier_bits);

#ifdef __cplusplus
}
#endif

#endif /* FPEMU_API_QUANTIZE_H */
