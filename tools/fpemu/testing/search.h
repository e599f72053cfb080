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

/* Inputs for which the tested code gives no result. Every failure costs a process, one that hangs the whole patience. */
enum { FAILURES_MOST = 64, FAILURES_MOST_HANGS = 3 };

typedef struct search {
    const char *spec, *mode; /* as the user wrote them */
    const operation *what;
    fpemu_format format, from[OPERATION_MOST]; /* `from`: of the inputs; SPEC itself when its codes are decoded */
    uint64_t mask;                             /* the bits of a code of `format` */
    bool decodes, strict_nan;
    bool singles; /* inputs are single numbers, or operands */
    fpemu_rounding rounding;
    external other;
    operands in;
    double deadline;
    uint64_t done[INPUT_STAGES]; /* inputs that were compared */
    input_stage stage;           /* of these */
    bool late, gave_up;
    uint64_t failing[FAILURES_MOST][OPERATION_MOST]; /* operands without a result, */
    size_t failings;                                 /* so many */
    uint64_t *codes[OPERATION_MOST];                 /* a batch of inputs, */
    void *carrier[OPERATION_MOST];                   /* as values where they are codes, */
    void *expected;                                  /* and its results */
    struct outcome *outcomes;                        /* what was found, */
    size_t outcomes_used;
    char summary[200]; /* and what was tried */
} search;

/* -------------------------------------------------------------------------------------- what was found */

enum { OUTCOMES = 64, OUTCOME_RANKS = 2 * OPERATION_MOST };

/* A class of differences, or of failures, with its simplest example in words. */
typedef struct outcome {
    char name[48];
    int order; /* in the report; below 0: a failure */
    uint64_t count;
    double rank[OUTCOME_RANKS];    /* of the example, the smaller the simpler; the first number that differs decides */
    uint64_t code[OPERATION_MOST]; /* of single numbers, */
    bool alone;                    /* which fail by themselves, not in a batch alone */
    char input[400], expected[120], got[300];
} outcome;

/* Counts one more of the class, "part/kind" or "part". Returns it where this example is the simplest so far, to be
 * filled in, else NULL. */
outcome *outcome_take(search *s, int order, const char *part, const char *kind, const double rank[OUTCOME_RANKS]);
uint64_t outcome_count(const search *s, bool failures);

/* What is run in batches, tensors or sums, at the front of a struct that has them. */
typedef struct trial {
    search *s;
    void (*give)(struct trial *t, size_t first, size_t n);    /* n of the batch to the tested code, */
    void (*compare)(struct trial *t, size_t first, size_t n); /* and so many of their results */
    outcome *(*take)(struct trial *t, int order, const char *part, const char *kind, size_t i); /* outcome_take of i */
} trial;
/* All n from `first` on are compared, or put down as without a result. False: the search is over. */
bool trial_run(trial *t, size_t first, size_t n);
/* The tested code on those. */
external_end trial_try(trial *t, size_t first, size_t n);
/* Clears bits of the n codes, the highest first, as long as `holds` says of the codes at work that what was found is
 * still there, and for so many tries. */
void trial_shrink(trial *t, uint64_t *codes, size_t n, int tries, bool (*holds)(trial *t));

/* tensors.c: so many tensors of a few blocks, in a format with scales: of one axis, or matrices with blocks along an
 * axis of them. */
enum { TENSORS_OF_ONE_AXIS = -1 };
void tensors_search(search *s, uint64_t count, uint64_t seed, int axis);
/* sums.c: dot products and products of matrices, against their model; or, with a bound above 0, within it times the sum
 * of all magnitudes around the exact sum. */
void sums_search(search *s, dots *d, bool matrices, double bound);
/* law.c: about so many roundings of numbers in all. What a right implementation with independent random bits may give
 * is bounded by Chernoff's inequality, with LAW_FALSE_ALARM divided by the number of comparisons: it fails with less
 * than that chance. */
#define LAW_FALSE_ALARM 1e-6
void law_search(search *s, uint64_t results);

#endif
