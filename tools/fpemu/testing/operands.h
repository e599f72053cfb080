/* SPDX-License-Identifier: BSD-2-Clause */
/* operands.h - the operands on which an operation is most likely to go wrong; those of a conversion are inputs.h's.
 *
 * Operand k is a code of the format `from[k]`. They come in the same stages: boundary, every combination of a short
 * list of special operands; coverage, operands whose exact result is at or next to a boundary of the result's format or
 * a midpoint; random ones; all. The i-th of a stage depends on its arguments and the seed alone.
 */
#ifndef FPEMU_TOOL_OPERANDS_H
#define FPEMU_TOOL_OPERANDS_H

#include "cli/spec.h"
#include "testing/inputs.h"
#include "testing/operation.h"

enum { OPERANDS_EDGES = 64 };

typedef struct operands {
    const operation *what;
    fpemu_format from[OPERATION_MOST];
    uint64_t seed;
    uint64_t count[INPUT_STAGES];
    inputs in;      /* a conversion: the operands; else the results to aim at, as codes of binary64 */
    unsigned bits;  /* of all operands together */
    unsigned reach; /* how many neighbours of an operand that was aimed */
    uint64_t edges[OPERATION_MOST][OPERANDS_EDGES];
    size_t edge_count[OPERATION_MOST];
} operands;

/* Reads the argument of --from: a format for all operands, or one for each with commas between; f32 and f64 are fp32
 * and fp64. Of at least `least` formats the last is that of the rest. An error for another number of formats, and for a
 * format without codes. Returns how many there were. */
int operands_read_formats(const operation *what, int least, const char *list, fpemu_format from[OPERATION_MOST]);
/* Such a list; one format where all are the same. */
#define OPERANDS_FORMATS_SIZE (OPERATION_MOST * CLI_SPEC_SIZE)
const char *operands_print_formats(const operation *what, const fpemu_format from[OPERATION_MOST],
                                   char text[OPERANDS_FORMATS_SIZE]);
/* Bits of all operands together. */
unsigned operands_bits(const operation *what, const fpemu_format from[OPERATION_MOST]);

/* All formats must fit binary64. `random` is the number of random ones. */
operands operands_start(const operation *what, const fpemu_format from[OPERATION_MOST], const fpemu_format *to,
                        input_depth depth, uint64_t random, uint64_t seed);
void operands_end(operands *t);

/* The codes of the operands. */
void operands_codes(const operands *t, input_stage stage, uint64_t i, uint64_t codes[OPERATION_MOST]);

/* ----------------------------------------------------------------------------------- dots.c: dot products
 *
 * Added up as a model says, with operands on which a unit that does so is most likely to go wrong: named cases, then
 * random ones. */

enum { DOTS_LONGEST = 256 };

/* What a dot product takes, in the order of the codes. */
enum { DOTS_A, DOTS_B, DOTS_SCALES_A, DOTS_SCALES_B, DOTS_C, DOTS_OPERANDS };

/* What is asked for; NULL stands for what the model says, or nothing. */
typedef struct dots_request {
    const char *model;     /* as fpemu_gemm_parse reads it */
    const char *from;      /* formats of a, b and c: one, or two or three with commas between */
    const char *scales;    /* format of the scales of blocks */
    uint64_t length;       /* products; 0: 4 */
    uint64_t seed, random; /* `random`: so many random ones */
    unsigned level;        /* 1 or 2: how many of each case */
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
/* Ends the program where the model does not go with the result's format in this rounding. */
void dots_check(const dots *t, const fpemu_rounding *rounding);

/* Names of the cases: 0, 1, ...; NULL past the end. */
const char *dots_case(unsigned which);
/* How many vectors a case has: none where the model has nothing that it could be about. */
uint64_t dots_count(const dots *t, unsigned which);
void dots_codes(dots *t, unsigned which, uint64_t i, uint64_t *codes);
/* The result, a number of `to` or NaN: the sum, and c, rounded to `to` by `rounding`. */
double dots_run(dots *t, const fpemu_rounding *rounding, const uint64_t *codes, fpemu_stats *stats);

#endif
