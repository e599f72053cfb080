/* SPDX-License-Identifier: BSD-2-Clause */
/* codebook.h - rounding to a sorted table of values, for both carriers: codebook.inc.h, read twice. */
#ifndef FPEMU_CORE_CODEBOOK_H
#define FPEMU_CORE_CODEBOOK_H

#include "plan.h"

typedef struct core_codebook {
    const float *values; /* strictly ascending */
    uint32_t length;
    uint8_t mode;   /* fpemu_mode, CORE_SR_B or CORE_SR_C */
    uint8_t n;      /* random bits */
    uint8_t nan;    /* fpemu_nan in force */
    uint8_t narrow; /* midpoints are binary32 numbers, also for t in binary64 */
} core_codebook;

/* Modes that have a meaning between the values of a table. */
FPEMU_FN int core_codebook_mode(int mode)
{
    return mode != FPEMU_MODE_RTO;
}

/* Whether a tie, at `middle`, goes to the larger value. */
FPEMU_FN int core_codebook_tie(int mode, double middle)
{
    return mode == FPEMU_MODE_RNP || (mode == FPEMU_MODE_RNA && middle >= 0) || (mode == FPEMU_MODE_RNZ && middle < 0);
}

/* up = 1 for the fraction v in (0, 1] and random bits r, left-aligned in 32 (doc/numerics.md, 4.3). */
FPEMU_FN uint32_t core_codebook_chance(const core_codebook *c, double v, uint32_t r)
{
    const int n = c->n;
    const uint64_t one = UINT64_C(1) << n, bits = r >> (32 - n);
    const double steps = v * (double)one;
    const uint64_t whole = (uint64_t)steps;
    const double rest = steps - (double)whole;
    if (c->mode == FPEMU_MODE_SR)
        return whole + bits >= one;
    if (c->mode == CORE_SR_B)
        return 2 * whole + (uint64_t)(rest >= 0.5) + 2 * bits + 1 >= 2 * one;
    return whole + (uint64_t)(rest > 0.5 || (rest >= 0.5 && (whole & 1))) + bits >= one;
}

#include "carrier32.h"
#include "codebook.inc.h"
#include "carrier_end.h"
#include "carrier64.h"
#include "codebook.inc.h"
#include "carrier_end.h"

#endif /* FPEMU_CORE_CODEBOOK_H */
