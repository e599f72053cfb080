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

/* ------------------------------------------------------------------------------- tensors.c: formats with scales
 *
 * An input is a tensor of one axis, of a few blocks; all the blocks of a tensor are compared. */

enum { TENSORS_LONGEST = 512, TENSORS_SHORTEST_BLOCK = 128 };

/* What differs, */
typedef enum tensors_part {
    TENSORS_SCALE_OF_ALL,
    TENSORS_SCALE,
    TENSORS_ELEMENT,
    TENSORS_STRAY,
    TENSORS_PARTS
} tensors_part;
/* and what is special about the block. */
typedef enum tensors_kind {
    TENSORS_NAN,
    TENSORS_INFINITY,
    TENSORS_ZERO,      /* nothing else */
    TENSORS_SHORT,     /* the last block, with fewer elements than others */
    TENSORS_POWER,     /* the largest magnitude is a power of two */
    TENSORS_LIMIT,     /* the scale is the smallest or the largest that there is */
    TENSORS_SUBNORMAL, /* all elements, in the function's own type */
    TENSORS_OTHER,
    TENSORS_KINDS
} tensors_kind;
extern const char *const tensors_part_names[TENSORS_PARTS];
extern const char *const tensors_kind_names[TENSORS_KINDS];

/* The example is the one with the fewest elements that are not zero. */
typedef struct tensor_finding {
    uint64_t count;                /* blocks, or of failures tensors */
    size_t length, nonzero, place; /* of the first element, or the block, that differs */
    int size;                      /* how many powers of two the largest number is away from 1 */
    double x[TENSORS_LONGEST];
    number expected, got;
    char text[256]; /* of a failure */
} tensor_finding;

typedef struct tensors {
    search *s; /* its format, rounding, other and deadline; `done` counts the random tensors */
    uint64_t seed;
    size_t block;  /* elements of a block; the tensor is shorter where that is longer */
    size_t length; /* of the tensors at work */
    fpemu_format scale;
    tensor_finding *found[TENSORS_PARTS][TENSORS_KINDS], *failed[EXTERNAL_FAILINGS]; /* NULL: none */
    double *x;                                                                       /* a batch of tensors, */
    uint8_t *expected;                                                               /* and its results */
} tensors;

/* Looks at `count` tensors. */
void tensors_search(tensors *t, uint64_t count);
uint64_t tensors_differences(const tensors *t);
uint64_t tensors_failures(const tensors *t);
void tensors_end(tensors *t);

/* --------------------------------------------------------------------------- law.c: stochastic rounding of others
 *
 * Each number is rounded many times. What a right implementation with independent random bits may give is bounded by
 * Chernoff's inequality, with LAW_FALSE_ALARM divided by the number of comparisons: it fails with less than that
 * chance. */

#define LAW_FALSE_ALARM 1e-6

typedef enum law_kind {
    LAW_NEIGHBOUR,   /* neither of the two neighbours */
    LAW_EXACT,       /* a number of the format, or one past its ends, has one result */
    LAW_PROBABILITY, /* of one number */
    LAW_BIAS,        /* of all numbers of a region together */
    LAW_CALLS,       /* random bits come again in the next call, */
    LAW_ELEMENTS,    /* and in the same one */
    LAW_KINDS
} law_kind;
typedef enum law_region { LAW_SUBNORMAL, LAW_NORMAL, LAW_END, LAW_REGIONS } law_region; /* END: past the largest */
extern const char *const law_kind_names[LAW_KINDS], *const law_region_names[LAW_REGIONS];

typedef struct law_finding {
    uint64_t count; /* numbers */
    double x;       /* the smallest */
    char expected[120], got[120];
} law_finding;

/* A number that becomes `low` or, with probability `p`, `high`, which is further from zero. */
typedef struct law_point {
    double x, low, high, p;
    law_region region;
} law_point;

typedef struct law {
    search *s; /* its format, rounding, other, deadline */
    law_point *point;
    size_t points;
    uint64_t trials; /* roundings of each number */
    double slack;    /* by which probabilities differ where there are few random bits */
    double least;    /* logarithm of the smallest probability that passes */
    law_finding found[LAW_KINDS][LAW_REGIONS];
} law;

/* About `results` roundings in all. */
void law_search(law *t, uint64_t results);
uint64_t law_differences(const law *t);

#endif
