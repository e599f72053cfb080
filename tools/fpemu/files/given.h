/* SPDX-License-Identifier: BSD-2-Clause */
/* given.h - scales and zero points of the caller (doc/blocks.md, 1.4): numbers, or tensors of files, which broadcast
 * against the tensor that is rounded as those of Python's quantize do. */
#ifndef FPEMU_TOOL_GIVEN_H
#define FPEMU_TOOL_GIVEN_H

#include "cli/options.h"
#include "files/partition.h"

#define GIVEN_LONG                                                                                                     \
    {"scale", required_argument, NULL, CLI_OPT_SCALE}, {"zero", required_argument, NULL, CLI_OPT_ZERO},                \
        {"zero-order", required_argument, NULL, CLI_OPT_ZERO_ORDER},                                                   \
        {"reciprocal", no_argument, NULL, CLI_OPT_RECIPROCAL},                                                         \
    {                                                                                                                  \
        "tensor-scale", required_argument, NULL, CLI_OPT_TENSOR_SCALE                                                  \
    }
#define GIVEN_HELP                                                                                                     \
    "      --scale S         scales in place of those of a rule: a number, FILE, or FILE:NAME of one\n"                \
    "                        with several tensors; an array broadcasts, as in Python\n"                                \
    "      --zero Z          zero points of integers, likewise\n"                                                      \
    "      --zero-order O    added after rounding, or before (default: after)\n"                                       \
    "      --reciprocal      multiplies by 1/S, of formats without blocks\n"                                           \
    "      --tensor-scale D  the scale of the whole tensor, of formats as nvfp4\n"

/* In C order. */
typedef struct given_numbers {
    float *value; /* NULL: none */
    char *path;   /* of the file, or NULL */
    uint64_t count, extent[MODEL_MOST_DIMENSIONS];
    unsigned dimensions;
} given_numbers;

typedef struct given {
    const char *scale_text, *zero_text, *order_text, *tensor_text; /* what was asked for; NULL: not */
    bool reciprocal;
    given_numbers scale, zero; /* of as many axes, and on each as long, or 1 */
    fpemu_given call;          /* for the last partition */
} given;

/* Takes one option of GIVEN_LONG; false if `option` is another. */
bool given_take(given *g, int option, const char *argument);
/* Reads what was asked for, beside the tensors in *in; output: NULL, or what they become. This and the next end the program with an error where something
 * does not go together. */
void given_open(given *g, const file *in, const char *output);
/* As partition_of for *own; where scales are given, in one piece, and *own gets blocks if it has none. */
partition given_partition(given *g, const file *f, size_t i, fpemu_format *own, const char *spec,
                          const fpemu_rounding *rounding, int axis);
/* A usage error where `path`, of an output, is a file that was read. */
void given_refuse_output(const given *g, const char *option, const char *path);
void given_close(given *g);

#endif
