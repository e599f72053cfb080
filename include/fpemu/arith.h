/* SPDX-License-Identifier: BSD-2-Clause */
/* fpemu/arith.h - operations, elementary functions and comparisons, each rounded once. */
#ifndef FPEMU_API_ARITH_H
#define FPEMU_API_ARITH_H

#include "format.h"
#include "rounding.h"
#include "stats.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------------------------------- operations */

/* The calls on arrays use up to 112 kB of stack. */

/* y is the exact result of the operation, taken to `format` by every rule of fpemu_quantize (mode, random bits,
 * policies): one rounding. Operands are the carrier's numbers as they are, whatever format they came from. In `stats`,
 * x is the exact result, for extrema, sums and histogram as binary64 rounds it. FPEMU_ERROR_UNSUPPORTED for blocked
 * formats, codebooks, formats that wrap (unless `rounding` has them saturate), affine integers whose scale, as the
 * carrier has it, is no power of two or that are too wide for the carrier, and compatibility settings.
 * doc/numerics.md, 9. */
typedef enum fpemu_operation {
    FPEMU_OPERATION_ADD = 0,     /* a + b */
    FPEMU_OPERATION_SUB = 1,     /* a - b */
    FPEMU_OPERATION_MUL = 2,     /* a * b */
    FPEMU_OPERATION_DIV = 3,     /* a / b */
    FPEMU_OPERATION_SQRT = 4,    /* the square root of a */
    FPEMU_OPERATION_FMA = 5,     /* a * b + c */
    FPEMU_OPERATION_MINIMUM = 6, /* IEEE 754-2019 minimum: NaN if an operand is; -0 < +0 */
    FPEMU_OPERATION_MAXIMUM = 7,
    FPEMU_OPERATION_MINIMUM_NUMBER = 8, /* IEEE 754-2019 minimumNumber: the number if one operand is NaN; -0 < +0 */
    FPEMU_OPERATION_MAXIMUM_NUMBER = 9,
    FPEMU_OPERATION_COUNT = 10
} fpemu_operation;

/* operands[0], [1], [2] are a, b, c, as many as the operation takes. steps[i] = 1: operand i is an array of n elements;
 * 0: one number, used with every element. steps = NULL: all are arrays. y may be the very same array as an operand;
 * overlap in part is not allowed. A single number may lie anywhere, in y too: it is read first. */
fpemu_status fpemu_arith(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                         fpemu_operation operation, size_t n, const void *const *operands, const size_t *steps, void *y,
                         fpemu_stats *stats);

/* One element; operands that the operation does not take are not looked at. `index` is its place in the random stream.
 * NaN for what fpemu_arith refuses: fpemu_check_use first. */
float fpemu_arith_one_f32(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_operation operation,
                          float a, float b, float c, uint64_t index);
double fpemu_arith_one_f64(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_operation operation,
                           double a, double b, double c, uint64_t index);

/* Scales of an operand that comes from a format with blocks: element i stands for its exact product with
 * values[i / length % count]. The scale of a whole tensor is {s}; of blocks of 32 along the last axis {s, 32}; of rows
 * {s, columns}; of channels {s, inner, channels}. */
typedef struct fpemu_operand_scales {
    union {
        const void *values; /* of the array's type, of 16-bit arrays float; NULL: this operand has no scales */
        uint64_t values_word;
    };
    uint64_t length; /* so many neighbours share a scale, the last ones may be fewer; 0 = all elements */
    uint64_t count;  /* after so many scales the first comes again; 0 = never */
} fpemu_operand_scales;
FPEMU_STATIC_ASSERT(sizeof(fpemu_operand_scales) == 24, "fpemu_operand_scales has no unnamed padding");

/* fpemu_arith on operands with scales, one struct an operand (NULL: none has any). The product of element and scale
 * enters the operation exactly, though it be no number of the carrier; only the result is rounded. Scales may be any
 * numbers: a product 0 * infinity is an operand that is NaN, and counts as such, not as an invalid operation. y does
 * not overlap scales. Arrays of binary64 work with products that are binary64 numbers; one with another is refused
 * (FPEMU_ERROR_ARGUMENT). */
fpemu_status fpemu_arith_scaled(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                                fpemu_operation operation, size_t n, const void *const *operands, const size_t *steps,
                                const fpemu_operand_scales *scales, void *y, fpemu_stats *stats);

/* ---------------------------------------------------------------------------------------------- functions */

typedef enum fpemu_function {
    FPEMU_FUNCTION_EXP = 0,   /* e^x */
    FPEMU_FUNCTION_EXP2 = 1,  /* 2^x */
    FPEMU_FUNCTION_EXP10 = 2, /* 10^x */
    FPEMU_FUNCTION_EXPM1 = 3, /* e^x - 1 */
    FPEMU_FUNCTION_LOG = 4,   /* to base e */
    FPEMU_FUNCTION_LOG2 = 5,
    FPEMU_FUNCTION_LOG10 = 6,
    FPEMU_FUNCTION_LOG1P = 7, /* log(1 + x) */
    FPEMU_FUNCTION_SIN = 8,   /* angles are in radians */
    FPEMU_FUNCTION_COS = 9,
    FPEMU_FUNCTION_TAN = 10,
    FPEMU_FUNCTION_ASIN = 11,
    FPEMU_FUNCTION_ACOS = 12,
    FPEMU_FUNCTION_ATAN = 13,
    FPEMU_FUNCTION_SINH = 14,
    FPEMU_FUNCTION_COSH = 15,
    FPEMU_FUNCTION_TANH = 16,
    FPEMU_FUNCTION_ASINH = 17,
    FPEMU_FUNCTION_ACOSH = 18,
    FPEMU_FUNCTION_ATANH = 19,
    FPEMU_FUNCTION_ERF = 20,
    FPEMU_FUNCTION_ERFC = 21,     /* 1 - erf(x) */
    FPEMU_FUNCTION_RSQRT = 22,    /* 1 / sqrt(x) */
    FPEMU_FUNCTION_SIGMOID = 23,  /* 1 / (1 + e^-x) */
    FPEMU_FUNCTION_SILU = 24,     /* x * sigmoid(x) */
    FPEMU_FUNCTION_GELU = 25,     /* x/2 * (1 + erf(x / sqrt(2))) */
    FPEMU_FUNCTION_SOFTPLUS = 26, /* log(1 + e^x) */
    FPEMU_FUNCTION_COUNT = 27
} fpemu_function;

/* "exp", "log2", ...; NULL if there is no such function. */
const char *fpemu_function_name(fpemu_function function);
/* The function of that name, in lower case; FPEMU_ERROR_ARGUMENT if there is none. */
fpemu_status fpemu_function_named(const char *name, fpemu_function *function);

/* y is the exact value of the function at x, rounded correctly and once; formats that are refused, counters and overlap
 * are as for operations. doc/numerics.md, 9.6, has zeros, infinities and poles, and shows that the rounding is correct.
 * That is known for operands of at most 16 significant bits, which all values of fp16, bf16, TF32 and narrower formats
 * are: an x must be a binary32 number of so many, else the array is refused (FPEMU_ERROR_ARGUMENT). The format must be
 * one that binary32 holds, with binary64 too (else FPEMU_ERROR_UNSUPPORTED). */
fpemu_status fpemu_apply(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                         fpemu_function function, size_t n, const void *x, void *y, fpemu_stats *stats);
/* One element. `index` is its place in the random stream. NaN for what fpemu_apply refuses: ask fpemu_check_use
 * first. */
float fpemu_apply_one_f32(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_function function, float x,
                          uint64_t index);
double fpemu_apply_one_f64(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_function function,
                           double x, uint64_t index);

/* Functions of 16-bit words by tables, at the speed of a look-up. The library allocates nothing: the caller has the
 * memory, of fpemu_function_table_size() bytes, one word for each of the 65536 operands, and may keep the table, share
 * it between threads and write it to a file. It is filled by 65536 elements of fpemu_apply with the same arguments, of
 * FPEMU_TYPE_F16 or _BF16, and refuses what that refuses; and (FPEMU_ERROR_UNSUPPORTED) what no table can hold:
 * FPEMU_MODE_SR and _SE, whose results depend on the element's place, and a NaN policy `error` of a format without NaN.
 * Whatever is refused leaves the table as it was. */
size_t fpemu_function_table_size(void);
fpemu_status fpemu_function_table(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                                  fpemu_function function, uint16_t *table);
/* y[i] = table[x[i]], for n words: what fpemu_apply of the table's kind would give. y is x itself or apart from it, and
 * apart from the table (FPEMU_ERROR_OVERLAP). n = 0 succeeds and touches nothing, whatever the pointers are. */
fpemu_status fpemu_function_look_up(const uint16_t *table, size_t n, const uint16_t *x, uint16_t *y);

/* -------------------------------------------------------------------------------------------- comparisons */

typedef enum fpemu_relation {
    FPEMU_RELATION_EQ = 0, /* a == b */
    FPEMU_RELATION_LT = 1, /* a < b */
    FPEMU_RELATION_LE = 2, /* a <= b */
    FPEMU_RELATION_COUNT = 3
} fpemu_relation;

/* y[i] = 1 where the relation holds between a[i] and b[i], else 0; no format is needed. -0 equals +0; no relation holds
 * for a NaN, and none is an error. operands[0], [1] are a, b; steps as in fpemu_arith. y overlaps no array of
 * operands. */
fpemu_status fpemu_compare(fpemu_type type, fpemu_relation relation, size_t n, const void *const *operands,
                           const size_t *steps, uint8_t *y);
/* Of operands with scales, as in fpemu_arith_scaled: their exact products are compared. */
fpemu_status fpemu_compare_scaled(fpemu_type type, fpemu_relation relation, size_t n, const void *const *operands,
                                  const size_t *steps, const fpemu_operand_scales *scales, uint8_t *y);

#ifdef __cplusplus
}
#endif

#endif /* FPEMU_API_ARITH_H */
