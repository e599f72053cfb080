/* SPDX-License-Identifier: BSD-2-Clause */
/* dots.h - dot products as a model adds them up, and the operands on which a unit that does so is most likely to go
 * wrong: named cases, then random ones. The i-th of a case depends on its arguments and the seed alone. */
#ifndef FPEMU_TOOL_DOTS_H
#define FPEMU_TOOL_DOTS_H

#include <stddef.h>
#include <stdint.h>

#include "fpemu.h"

enum { DOTS_LONGEST = 256 };

/* What a dot product takes, in the order of the codes. */
enum { DOTS_A, DOTS_B, DOTS_SCALES_A, DOTS_SCALES_B, DOTS_C, DOTS_OPERANDS };

/* What is asked for; NULL stands for what the model says, or nothing. */
typedef struct dots_request {
    const char *model;             /* as fpemu_gemm_parse reads it */
    const char *from;              /* formats of a, b and c: one, or two or three with commas between */
    const char *scales;            /* format of the scales of blocks */
    uint64_t length, seed, random; /* `random`: so many random ones */
    unsigned level;                /* 1 or 2: how many of each case */
} dots_request;

typedef struct dots {
    fpemu_gemm_spec spec;
    char text[1024]; /* of the model, canonical, without the result */
    fpemu_format to, format[DOTS_OPERANDS];
    size_t count[DOTS_OPERANDS]; /* codes of each; 0: there is none */
    double *value[DOTS_OPERANDS];
    uint64_t seed, random;
    unsigned level;
} dots;

/* Ends the program with a usage error where there is no such dot product. */
dots dots_start(const dots_request *q, const fpemu_format *to);
void dots_end(dots *t);

/* Names of the cases: 0, 1, ...; NULL past the end. */
const char *dots_case(unsigned which);
/* How many vectors a case has: none where the model has nothing that it could be about. */
uint64_t dots_count(const dots *t, unsigned which);
void dots_codes(dots *t, unsigned which, uint64_t i, uint64_t *codes);
/* The result, a number of `to` or NaN: the sum, and c, rounded to `to` by `rounding`. */
double dots_run(dots *t, const fpemu_rounding *rounding, const uint64_t *codes, fpemu_stats *stats);

#endif
