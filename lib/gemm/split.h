/* SPDX-License-Identifier: BSD-2-Clause */
/* split.h - operands as sums of pieces, whose products stand for theirs; doc/accumulation.md, 2.8. */
#ifndef FPEMU_GEMM_SPLIT_H
#define FPEMU_GEMM_SPLIT_H

#include "core/dot_make.h"

#define SPLIT_SLICES 18 /* of an operand at most */
#define SPLIT_TERMS (SPLIT_SLICES * (SPLIT_SLICES + 1) / 2)
#define SPLIT_DEPTH (UINT64_C(1) << 29) /* of integer slices at most: sums of one bit's products fit 31 bits */

/* Whether the fields on splits go together. */
int fpemu_splits_exist(const fpemu_gemm_spec *spec);
/* The format of the pieces; FPEMU_NAME_NONE for integer slices. */
fpemu_name fpemu_split_format(fpemu_splits splits);

/* Which products of pieces are added, in order. */
typedef struct gemm_split {
    uint64_t depth, block; /* elements of an operand; as many as all terms take before the next ones */
    unsigned terms;        /* 0: operands are not split */
    unsigned bits;         /* of an integer slice; 0: pieces are floats */
    uint8_t piece[2][SPLIT_TERMS];
} gemm_split;

/* Fills s for operands of `depth` elements; how many products there are then. */
uint64_t fpemu_split_begin(gemm_split *s, const fpemu_gemm_spec *spec, uint64_t depth);

/* Products from one on that have one term and following elements. */
typedef struct split_run {
    unsigned term;
    size_t k, count; /* the first element; how many */
} split_run;

split_run fpemu_split_run(const gemm_split *s, uint64_t product, size_t most);

/* Slice number `piece` of `bits` bits of x / 2^exponent. */
double fpemu_split_slice(double x, int exponent, unsigned piece, unsigned bits);

#endif /* FPEMU_GEMM_SPLIT_H */
