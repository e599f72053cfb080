/* SPDX-License-Identifier: BSD-2-Clause */
/* given.h - scales and zero points of the caller (doc/blocks.md, 1.4): numbers, or tensors of files, which broadcast
 * against the tensor that is rounded as those of Python's quantize do. */
#ifndef FPEMU_TOOL_GIVEN_H
#define FPEMU_TOOL_GIVEN_H

#include "files/partition.h"

/* In C order. */
typedef struct given_numbers {
    float *value; /* NULL: none */
    uint64_t count, extent[MODEL_MOST_DIMENSIONS];
    unsigned dimensions;
} given_numbers;

typedef struct given {
    const char *scale_text, *zero_text, *order_text, *tensor_text; /* what was asked for; NULL: not */
    bool reciprocal;
    given_numbers scale, zero; /* of as many axes, and on each as long, or 1 */
    fpemu_given call;          /* for the last partition */
} given;

/* Reads what was asked for, beside the tensors in *in. This and the next end the program with an error where something
 * does not go together. */
void given_open(given *g, const file *in, const char *output);
/* As partition_of for *own; where scales are given, in one piece, and *own gets blocks if it has none. */
partition given_partition(given *g, const file *f, size_t i, fpemu_format *own, const char *spec,
                          const fpemu_rounding *rounding, int axis);
void given_close(given *g);

#endif
