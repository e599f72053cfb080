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
    struct outcome *outcomes;                        /* of tensors and of stochastic rounding, */
    size_t outcomes_used;
    char summary[200]; /* and what was tried */
} search;

/* ------------------------------------------------------------------- tensors and stochastic rounding
 *
 * What these find is told in words. */

enum { OUTCOMES = 64 };

/* A class of differences, or of failures, with its simplest example. */
typedef struct outcome {
    char name[48];
    int order; /* in the report; below 0: a failure */
    uint64_t count;
    double rank[3]; /* of the example, the smaller the simpler; the first number that differs decides */
    char input[400], expected[120], got[300];
} outcome;

/* Counts one more of the class, "part/kind" or "part". Returns it where this example is the simplest so far, to be
 * filled in, else NULL. */
outcome *outcome_take(search *s, int order, const char *part, const char *kind, const double rank[3]);
uint64_t outcome_count(const search *s, bool failures);

/* tensors.c: so many tensors of one axis, of a few blocks, in a format with scales. */
void tensors_search(search *s, uint64_t count, uint64_t seed);
/* law.c: about so many roundings of numbers in all. What a right implementation with independent random bits may give
 * is bounded by Chernoff's inequality, with LAW_FALSE_ALARM divided by the number of comparisons: it fails with less
 * than that chance. */
#define LAW_FALSE_ALARM 1e-6
void law_search(search *s, uint64_t results);

#endif
