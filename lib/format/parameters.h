/* SPDX-License-Identifier: BSD-2-Clause */
/* parameters.h - the parameters of a format, and which of them are at fault where they make none. */
#ifndef FPEMU_FORMAT_PARAMETERS_H
#define FPEMU_FORMAT_PARAMETERS_H

#include "fpemu.h"

/* Parameters of a format, as bits, to say which of them are at fault. */
enum fpemu_parameter {
    FPEMU_PARAMETER_BITS = 1u << 0,
    FPEMU_PARAMETER_EXPONENT = 1u << 1,
    FPEMU_PARAMETER_MANTISSA = 1u << 2,
    FPEMU_PARAMETER_BIAS = 1u << 3,
    FPEMU_PARAMETER_FRACTION = 1u << 4,
    FPEMU_PARAMETER_SIGNED = 1u << 5,
    FPEMU_PARAMETER_SPECIALS = 1u << 6,
    FPEMU_PARAMETER_SUBNORMALS = 1u << 7,
    FPEMU_PARAMETER_OVERFLOW = 1u << 8,
    FPEMU_PARAMETER_NAN = 1u << 9,
    FPEMU_PARAMETER_SYMMETRIC = 1u << 10,
    FPEMU_PARAMETER_WRAP = 1u << 11,
    FPEMU_PARAMETER_SCALE = 1u << 12,
    FPEMU_PARAMETER_ZERO = 1u << 13,
    FPEMU_PARAMETER_TABLE = 1u << 14,
    /* of blocked formats; what is at fault with the element as such is one of those above */
    FPEMU_PARAMETER_ELEMENT = 1u << 15,
    FPEMU_PARAMETER_BLOCK = 1u << 16,
    FPEMU_PARAMETER_BLOCK_SCALE = 1u << 17,
    FPEMU_PARAMETER_BLOCK_EXPONENT = 1u << 18,
    FPEMU_PARAMETER_RULE = 1u << 19,
    FPEMU_PARAMETER_MARGIN = 1u << 20,
    FPEMU_PARAMETER_TARGET = 1u << 21,
    FPEMU_PARAMETER_CLIP = 1u << 22,
    FPEMU_PARAMETER_BOUND = 1u << 23,
    FPEMU_PARAMETER_OUTER = 1u << 24,
    FPEMU_PARAMETER_SEARCH = 1u << 25,
    FPEMU_PARAMETER_ERROR = 1u << 26,
    FPEMU_PARAMETER_CORRECT = 1u << 27,
    FPEMU_PARAMETER_COUNT = 28
};

/* Why parameters make no format. `expected` completes the sentence "found ..., expected ...". */
typedef struct fpemu_problem {
    uint32_t parameters;
    const char *expected;
} fpemu_problem;

static inline int refuse(fpemu_problem *problem, uint32_t parameters, const char *expected)
{
    problem->parameters = parameters;
    problem->expected = expected;
    return 0;
}

/* 2^n - 1, n = 0..64 */
static inline uint64_t fpemu_ones(uint32_t n)
{
    return n ? ~UINT64_C(0) >> (64 - n) : 0;
}

#endif /* FPEMU_FORMAT_PARAMETERS_H */
