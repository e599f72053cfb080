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

/* ------------------------------------------------------------------- dots.c: dot products, products of matrices
 *
 * Added up as a model says, with operands on which a unit that does so is most likely to go wrong: named cases, then
 * random ones. Of a product of matrices the diagonal has them, and rows and columns past its end. */

enum { DOTS_LONGEST = 256, DOTS_WIDEST = 16 };

/* What a dot product takes, in the order of the codes; matrices by rows, scales of b by its columns. */
enum { DOTS_A, DOTS_B, DOTS_SCALES_A, DOTS_SCALES_B, DOTS_C, DOTS_OPERANDS };
extern const char *const dots_names[DOTS_OPERANDS];

/* What is asked for, of tensors too; NULL stands for what the model says, or nothing. */
typedef struct dots_request {
    const char *operation; /* dot or gemm; unused for tensors */
    const char *model;     /* as fpemu_gemm_parse reads it */
    const char *from;      /* formats of a, b and c: one, or two or three with commas between */
    const char *scales;    /* format of the scales of blocks */
    const char *shape;     /* of matrices, as MxNxK; NULL: 2x2x4 */
    uint64_t length;       /* products, elements; 0: 4, a block */
    uint64_t seed, random; /* `random`: so many random ones */
    unsigned level;        /* 1 or 2: how many of each case */
} dots_request;

typedef struct dots {
    fpemu_gemm_spec spec;
    char text[1024]; /* of the model, canonical, without the result */
    fpemu_format to, wide, format[DOTS_OPERANDS];
    size_t rows, columns;        /* of results */
    size_t count[DOTS_OPERANDS]; /* codes of each for one result; 0: there is none */
    size_t all[DOTS_OPERANDS];   /* and for all */
    double *value[DOTS_OPERANDS];
    uint64_t seed, random;
    uint64_t changed; /* operands so far that are no numbers of the model's formats */
    unsigned level;
} dots;

/* Ends the program with a usage error where there is no such dot product. */
dots dots_start(const dots_request *q, const fpemu_format *to);
/* Says on stderr how many operands the model rounded before it multiplied them. */
void dots_end(dots *t);
/* Ends the program where the model does not go with the result's format in this rounding. */
void dots_check(const dots *t, const fpemu_rounding *rounding);

/* Names of the cases: 0, 1, ...; NULL past the end. */
const char *dots_case(unsigned which);
/* How many vectors a case has: none where the model has nothing that it could be about. */
uint64_t dots_count(const dots *t, unsigned which);
void dots_codes(dots *t, unsigned which, uint64_t i, uint64_t *codes);
/* The results, numbers of `to` or NaN: each the sum, and c, rounded to `to` by `rounding`; NULL: in binary64, rounded to
 * odd. */
void dots_run(dots *t, const fpemu_rounding *rounding, const uint64_t *codes, double *y, fpemu_stats *stats);
/* The exact results without scales, to about 2^-100 of the sum of all magnitudes, which is `size`. */
void dots_exact(dots *t, const uint64_t *codes, double *y, double *size);

/* ------------------------------------------------------------------------------- blocks.c: formats with scales
 *
 * Tensors of one axis, of named cases and random ones: numbers to scales and codes of elements, or back. */

enum { BLOCKS_LONGEST = 384, BLOCKS_RANDOM = 9 };

typedef struct blocks {
    fpemu_format format, element, other; /* `other`: of the numbers */
    bool decodes;
    size_t length, scales, tensor; /* elements; codes of scales; numbers of the whole tensor */
    bool part;                     /* the tensor is part of a larger one, whose largest magnitude follows x */
    unsigned scale_bits, element_bits;
    fpemu_layout layout;
    int first, last; /* exponents of the largest magnitude of a block */
    uint8_t *bytes;
    uint64_t seed, random;
    unsigned level;
} blocks;

/* A code of so many bits in packed bytes. */
uint64_t blocks_bits(const uint8_t *bytes, uint64_t bit, unsigned width);
/* Ends the program where the format has no packed form, or its numbers do not fit. */
blocks blocks_start(const dots_request *q, const fpemu_format *format, const fpemu_format *other, bool decodes);
void blocks_end(blocks *t);
/* Case BLOCKS_RANDOM has random ones; those before are of numbers. */
const char *blocks_case(const blocks *t, unsigned which);
uint64_t blocks_count(const blocks *t, unsigned which);
/* Codes of the operands: x, and the largest magnitude; or, back, what `out` is else. */
void blocks_codes(blocks *t, unsigned which, uint64_t i, uint64_t *codes);
/* From `in` to `out`: numbers of the tensor, codes of scales, codes of elements; or, back, of numbers. `scale` has the
 * values of the scales, `exact` what is rounded to an element: x over its scale. */
void blocks_run(blocks *t, const fpemu_rounding *rounding, const uint64_t *in, uint64_t *out, double *scale,
                double *exact, fpemu_stats *stats);

/* ------------------------------------------------------------------------------- cells.c: what was covered */

typedef enum cell_class { CELL_ZERO, CELL_SUBNORMAL, CELL_NORMAL, CELL_INFINITY, CELL_NAN, CELL_CLASSES } cell_class;
/* Where the exact result lies among the values, by its magnitude. */
typedef enum cell_rounding {
    CELL_EXACT,
    CELL_BELOW, /* nearer to the smaller neighbour */
    CELL_ABOVE,
    CELL_TIE,
    CELL_BEYOND,  /* past the largest or the lowest */
    CELL_SPECIAL, /* no number */
    CELL_ROUNDINGS
} cell_rounding;
extern const char *const cell_class_names[CELL_CLASSES], *const cell_rounding_names[CELL_ROUNDINGS];

/* The format has such numbers. */
bool cell_class_exists(const fpemu_format *format, cell_class class);
cell_class cell_class_of(const fpemu_format *format, double x);
/* `exact` may be rounded to odd in binary64. */
cell_rounding cell_rounding_of(const fpemu_format *format, double exact);

#endif
