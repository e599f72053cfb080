/* SPDX-License-Identifier: BSD-2-Clause */
/* softposit.c - what peers.py measures of SoftPosit: loops over its functions. Compiled with SoftPosit's own sources,
 * which are not here. Every function: n elements, up to three operands, results. Operands and results of arithmetic
 * are SoftPosit's codes; `round` is from number to number. */
#include <math.h>
#include <stddef.h>

#include "softposit.h"

#define VERB(NAME, FROM, TO, RESULT)                                                                                   \
    void NAME(size_t n, const void *operand_a, const void *operand_b, const void *operand_c, void *result)             \
    {                                                                                                                  \
        const FROM *a = operand_a, *b = operand_b, *c = operand_c;                                                     \
        TO *y = result;                                                                                                \
        (void)b;                                                                                                       \
        (void)c;                                                                                                       \
        for (size_t i = 0; i < n; i++)                                                                                 \
            y[i] = RESULT;                                                                                             \
    }

#define CONVERSIONS(NAME, REAL, CODE, IN, OUT)                                                                         \
    VERB(NAME##_round, REAL, REAL, (REAL)OUT(IN(a[i])))                                                                \
    VERB(NAME##_encode, REAL, CODE, IN(a[i]))                                                                          \
    VERB(NAME##_decode, CODE, REAL, (REAL)OUT(a[i]))

#define ARITHMETIC(NAME, CODE, P)                                                                                      \
    VERB(NAME##_add, CODE, CODE, P##_add(a[i], b[i]))                                                                  \
    VERB(NAME##_mul, CODE, CODE, P##_mul(a[i], b[i]))                                                                  \
    VERB(NAME##_div, CODE, CODE, P##_div(a[i], b[i]))                                                                  \
    VERB(NAME##_sqrt, CODE, CODE, P##_sqrt(a[i]))                                                                      \
    VERB(NAME##_fma, CODE, CODE, P##_mulAdd(a[i], b[i], c[i]))

/* posit_2_t has two exponent bits and a width that is given with each call. */
#define WIDTH(VALUE, BITS) convertDoubleToPX2(VALUE, BITS)
#define to_p8_2(VALUE) WIDTH(VALUE, 8)
#define to_p16_2(VALUE) WIDTH(VALUE, 16)
#define p16_2_add(A, B) pX2_add(A, B, 16)
#define p16_2_mul(A, B) pX2_mul(A, B, 16)
#define p16_2_div(A, B) pX2_div(A, B, 16)
#define p16_2_sqrt(A) pX2_sqrt(A, 16)
#define p16_2_mulAdd(A, B, C) pX2_mulAdd(A, B, C, 16)

CONVERSIONS(posit8_0, float, posit8_t, convertDoubleToP8, convertP8ToDouble)
CONVERSIONS(posit8_2, float, posit_2_t, to_p8_2, convertPX2ToDouble)
CONVERSIONS(posit16_1, float, posit16_t, convertFloatToP16, convertP16ToDouble)
CONVERSIONS(posit16_2, float, posit_2_t, to_p16_2, convertPX2ToDouble)
CONVERSIONS(posit32_2, double, posit32_t, convertDoubleToP32, convertP32ToDouble)
ARITHMETIC(posit16_1, posit16_t, p16)
ARITHMETIC(posit16_2, posit_2_t, p16_2)
ARITHMETIC(posit32_2, posit32_t, p32)
