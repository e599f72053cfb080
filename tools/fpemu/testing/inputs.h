/* SPDX-License-Identifier: BSD-2-Clause */
/* inputs.h - the inputs on which a conversion is most likely to go wrong.
 *
 * An input is a code of the format `from`; binary32 and binary64 numbers are codes of fp32 and fp64. Inputs come in
 * stages, each a list whose i-th element depends on its arguments and the seed alone.
 */
#ifndef FPEMU_TOOL_INPUTS_H
#define FPEMU_TOOL_INPUTS_H

#include <stddef.h>
#include <stdint.h>

#include "fpemu.h"

typedef enum input_stage {
    INPUTS_BOUNDARY, /* values of the result's format, midpoints, thresholds past its ends, with their neighbours */
    INPUTS_COVERAGE, /* every exponent of `from` with ties, and what lies just beside, at every place of the mantissa */
    INPUTS_RANDOM,   /* codes, and numbers within the range of the result's format, by turns */
    INPUTS_ALL,      /* every code of `from` */
    INPUT_STAGES
} input_stage;

/* How many boundary inputs. */
typedef struct input_depth {
    unsigned every_bits; /* formats of up to so many bits: around every value; wider ones: some of every binade */
    unsigned per_binade; /* how many of a binade, 1 to 5 */
    unsigned reach;      /* how many neighbours on both sides of a point */
} input_depth;

typedef struct inputs {
    fpemu_format from, to;
    uint64_t mask; /* the bits of a code */
    uint64_t seed;
    uint64_t count[INPUT_STAGES];
    uint64_t *boundary;
    size_t room;
} inputs;

/* Both formats must fit binary64. `random` is the number of random inputs. */
inputs inputs_start(const fpemu_format *from, const fpemu_format *to, input_depth depth, uint64_t random,
                    uint64_t seed);
void inputs_end(inputs *in);

const char *inputs_stage_name(input_stage stage);
/* x as a code, and as a number, of the format; a finite one saturates. */
uint64_t inputs_nearest(const fpemu_format *format, double x);
double inputs_fit(const fpemu_format *format, double x);
/* Where rounding to nearest changes between the adjacent values low < high. For posits that is the posit between them
 * with one bit more, which is not always the mean. */
double inputs_midpoint(const fpemu_format *to, double low, double high);
/* 64 random bits, a pure function of the three. */
uint64_t inputs_random(uint64_t seed, unsigned stream, uint64_t i);
uint64_t inputs_code(const inputs *in, input_stage stage, uint64_t i);

#endif
