/* SPDX-License-Identifier: BSD-2-Clause */
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
 * arguments are checked before anything is written. Codes may lie at any address. The calls use up to 112 kB of stack,
 * with blocked formats up to 160 kB. Blocked formats and codebooks are taken too, but for codes, which blocked formats
 * do not have apart from their scales (FPEMU_ERROR_UNSUPPORTED; fpemu_pack has both). */

/* x and y are arrays of `type`, here and wherever a function takes one. Words of 16 bits are taken exactly and rounded
 * once, with the random bits and the counters of binary32 for the same numbers. Where values are written a scalar
 * format must fit the type (fpemu_format_fits; else FPEMU_ERROR_CARRIER). Blocked formats and codebooks, whose scales
 * and values need not fit, give the binary32 result rounded to the nearest number of the type, ties to even, a finite
 * one to a finite one; counters see it before. */

/* Each x[i] to a value of the format. y == x is allowed but where blocks share a correction, overlap in part is not. A
 * blocked format takes the array for a vector, cut into its blocks from the start. */
fpemu_status fpemu_quantize(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type, size_t n,
                            const void *x, void *y, fpemu_stats *stats);

/* Each x[i] to a code: n unsigned integers of fpemu_format_code_size bytes, in host byte order, the code in the low
 * bits. codes == x is allowed where both have the same size; any other overlap is not. */
fpemu_status fpemu_encode(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type, size_t n,
                          const void *x, void *codes, fpemu_stats *stats);

/* Each code to its value. Bits above the format's width are ignored; a code that stands for no value gives NaN. */
fpemu_status fpemu_decode(const fpemu_format *format, fpemu_type type, size_t n, const void *codes, void *y);

/* The same for one element, whose place in the random stream is `index` (rounding->offset is added). NaN, or code 0,
 * for what the array form refuses: fpemu_check_use tells such a NaN from a result, once for many elements. */
float fpemu_quantize_one_f32(const fpemu_format *format, const fpemu_rounding *rounding, float x, uint64_t index);
double fpemu_quantize_one_f64(const fpemu_format *format, const fpemu_rounding *rounding, double x, uint64_t index);
uint64_t fpemu_encode_one_f32(const fpemu_format *format, const fpemu_rounding *rounding, float x, uint64_t index);
uint64_t fpemu_encode_one_f64(const fpemu_format *format, const fpemu_rounding *rounding, double x, uint64_t index);
float fpemu_decode_one_f32(const fpemu_format *format, uint64_t code);
double fpemu_decode_one_f64(const fpemu_format *format, uint64_t code);

/* What a format and a rounding are for. */
typedef enum fpemu_use {
    FPEMU_USE_QUANTIZE = 0,
    FPEMU_USE_ENCODE = 1,
    FPEMU_USE_DECODE = 2, /* here, for unpacking and for scales the rounding is not looked at */
    FPEMU_USE_PACK = 3,
    FPEMU_USE_UNPACK = 4,
    FPEMU_USE_SCALES = 5,
    FPEMU_USE_OPERATION = 64,      /* + fpemu_operation */
    FPEMU_USE_FUNCTION = 128,      /* + fpemu_function */
    FPEMU_USE_FUNCTION_TABLE = 192 /* + fpemu_function */
} fpemu_use;

/* What fpemu_quantize would say to this format, rounding and type: FPEMU_OK, or why they are refused, which *why (may
 * be NULL) tells in words. A call may still fail for its arrays, its stats or its shape, or find a NaN that the policy
 * calls an error. */
fpemu_status fpemu_check(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type, fpemu_why *why);
/* The same for any fpemu_use: codes, packed bytes and arithmetic refuse more than quantising does, or less. */
fpemu_status fpemu_check_use(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type, int use,
                             fpemu_why *why);

#ifdef __cplusplus
}
#endif

#endif /* FPEMU_API_QUANTIZE_H */
