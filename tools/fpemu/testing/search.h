/* SPDX-License-Identifier: BSD-2-Clause */
/* search.h - a search for differences between the library and somebody else's code: what it compares, and what it has
 * found so far. */
#ifndef FPEMU_TOOL_SEARCH_H
#define FPEMU_TOOL_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fpemu.h"
#include "testing/external.h"
#include "testing/operands.h"
#include "testing/operation.h"

/* What a difference is about, in the order of the report. */
typedef enum difference {
    STRAY_BITS, /* the right code, with bits above the width of the format */
    TIE,
    SUBNORMAL,
    UNDERFLOW_TO_ZERO,
    OVERFLOW_THRESHOLD,
    ABOVE_MAX,
    NEGATIVE,
    INFINITE,
    DIVISION_BY_ZERO,
    INVALID_OPERATION, /* of numbers, none of them NaN */
    NOT_A_NUMBER,
    SIGNED_ZERO,
    ZERO,
    NORMAL,
    DIFFERENCES
} difference;

/* One number with its bits; the value is exact. */
typedef struct number {
    double value;
    uint64_t code;
} number;

typedef struct finding {
    uint64_t count;
    number operand[OPERATION_MOST], expected, got;
} finding;

/* Inputs for which the tested code gave no result, by how it failed. Every failure costs a process, one that hangs the
 * whole patience. */
enum { FAILURES_MOST = 64, FAILURES_MOST_HANGS = 3 };
typedef struct failure {
    uint64_t count;                 /* inputs */
    size_t length;                  /* of the example: 1, or a batch that fails while each of its inputs passes */
    number operand[OPERATION_MOST]; /* the example, the smallest; of a batch its first input */
    char text[256];                 /* what happened */
} failure;

typedef struct search {
    const char *spec, *mode; /* as the user wrote them */
    const operation *what;
    fpemu_format format, from[OPERATION_MOST]; /* `from`: of the inputs; SPEC itself when its codes are decoded */
    uint64_t mask;                             /* the bits of a code of `format` */
    bool decodes, strict_nan;
    fpemu_rounding rounding;
    external other;
    operands in;
    double deadline;
    uint64_t done[INPUT_STAGES]; /* inputs that were compared, */
    uint64_t compared;           /* and of this batch */
    bool late, gave_up;
    finding found[DIFFERENCES];
    failure failed[EXTERNAL_FAILINGS];
    uint64_t failing[FAILURES_MOST][OPERATION_MOST]; /* the operands of all of them, each once */
    uint64_t *codes[OPERATION_MOST];                 /* a batch of inputs, */
    void *carrier[OPERATION_MOST];                   /* as values where they are codes, */
    void *expected;                                  /* and its results */
} search;

#endif
