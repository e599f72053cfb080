/* SPDX-License-Identifier: BSD-2-Clause */
/* split.c - which pieces of operands are multiplied, in which order, and integer slices. */
#include "split.h"

#include <math.h>

int fpemu_splits_exist(const fpemu_gemm_spec *spec)
{
    return spec->splits == FPEMU_SPLITS_INT8
               ? spec->slices >= 2 && spec->slices <= SPLIT_SLICES && !spec->split_block
               : spec->splits < FPEMU_SPLITS_COUNT && !spec->slices && (spec->splits || !spec->split_block);
}

fpemu_name fpemu_split_format(fpemu_splits splits)
{
    return splits == FPEMU_SPLITS_TF32X3                                          ? FPEMU_NAME_TF32
           : splits == FPEMU_SPLITS_NONE || (unsigned)splits >= FPEMU_SPLITS_INT8 ? FPEMU_NAME_NONE
                                                                                  : FPEMU_NAME_BFLOAT16;
}

/* The terms i + j = band, i ascending, of operands with `pieces` pieces. */
static void add_band(gemm_split *s, unsigned pieces, unsigned band)
{
    for (unsigned i = band < pieces ? 0 : band - pieces + 1; i <= band && i < pieces; i++) {
        s->piece[0][s->terms] = (uint8_t)i;
        s->piece[1][s->terms++] = (uint8_t)(band - i);
    }
}

uint64_t fpemu_split_begin(gemm_split *s, const fpemu_gemm_spec *spec, uint64_t depth)
{
    s->terms = 0;
    s->bits = 0;
    if (spec->splits == FPEMU_SPLITS_NONE)
        return depth;
    s->depth = depth;
    s->block = spec->split_block ? spec->split_block : depth;
    if (spec->splits == FPEMU_SPLITS_INT8) {
        unsigned log2 = 0;
        while (depth > UINT64_C(1) << log2)
            log2++;
        s->bits = (31 - log2) / 2 < 7 ? (31 - log2) / 2 : 7;
        for (unsigned band = 0; band < spec->slices; band++)
            add_band(s, spec->slices, band);
        return s->terms * depth;
    }
    const unsigned pieces = spec->splits == FPEMU_SPLITS_BF16X6 || spec->splits == FPEMU_SPLITS_BF16X9 ? 3 : 2;
    for (int band = spec->splits == FPEMU_SPLITS_BF16X9 ? 4 : (int)pieces - 1; band >= 0; band--)
        add_band(s, pieces, (unsigned)band);
    if (spec->splits == FPEMU_SPLITS_TF32X3) /* the small piece of a comes first */
        s->piece[0][0] = s->piece[1][1] = 1, s->piece[0][1] = s->piece[1][0] = 0;
    return s->terms * depth;
}

split_run fpemu_split_run(const gemm_split *s, uint64_t product, size_t most)
{
    const uint64_t first = product / (s->terms * s->block) * s->block, at = product - s->terms * first;
    const uint64_t length = s->depth - first < s->block ? s->depth - first : s->block, left = length - at % length;
    const split_run run = {(unsigned)(at / length), (size_t)(first + at % length), left < most ? (size_t)left : most};
    return run;
}

double fpemu_split_slice(double x, int exponent, unsigned piece, unsigned bits)
{
    if (x - x != 0)
        return core_value64(CORE_INF64 | CORE_INF64 >> 1);
    const double scaled = ldexp(x, (int)(piece * bits) - exponent);
    const double slice = trunc(ldexp(scaled - trunc(scaled), (int)bits));
    return ldexp(slice, -(int)((piece + 1) * bits));
}
