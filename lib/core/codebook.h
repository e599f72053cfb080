/* SPDX-License-Identifier: BSD-2-Clause */
/* codebook.h - rounding to a sorted table of values, for both carriers: codebook.inc.h, read twice. */
#ifndef FPEMU_CORE_CODEBOOK_H
#define FPEMU_CORE_CODEBOOK_H

#include "plan.h"

enum {
    CORE_CODEBOOK_OWN = 1,      /* codes are the table's own */
    CORE_CODEBOOK_NARROW = 2,   /* midpoints are binary32 numbers, also for t in binary64 */
    CORE_CODEBOOK_HAS_NAN = 4,  /* a NaN has a code */
    CORE_CODEBOOK_PAST = 8,     /* finite numbers may become what lies beyond the largest value, or (16) the lowest */
    CORE_CODEBOOK_INFINITE = 32 /* infinities become that, or (64) that */
};

/* Indices go by the values that numbers are rounded to, ascending. These are `values`, and indices are codes; or, in a
 * table with codes of its own, they and their codes lie behind the values of codes (lib/format/codebook.c has the
 * array), zeros of both signs side by side, and beyond either end one more, which stands for what overflows. */
typedef struct core_codebook {
    const float *values; /* of codes */
    uint32_t length;
    uint8_t mode;  /* fpemu_mode, CORE_SR_B or CORE_SR_C */
    uint8_t n;     /* random bits */
    uint8_t nan;   /* fpemu_nan in force */
    uint8_t flags; /* those below */
} core_codebook;

/* Modes that have a meaning between the values of a table. */
FPEMU_FN int core_codebook_mode(int mode)
{
    return mode != FPEMU_MODE_RTO;
}

/* All but the values. f->table is read where it has codes of its own; elements of blocks saturate by *r. */
FPEMU_FN void core_codebook_make(core_codebook *c, const fpemu_format *f, const fpemu_rounding *r)
{
    const uint32_t mode = (uint32_t)core_mode(r), n = f->codebook_length;
    const int policy = core_overflow_policy(f, r);
    memset(c, 0, sizeof *c);
    c->length = n;
    c->mode = (uint8_t)mode;
    c->n = r->bits ? r->bits : 32;
    c->nan = (uint8_t)core_nan_policy(f, r);
    if (f->codebook != FPEMU_CODEBOOK_CODES)
        return;
    c->flags = (uint8_t)(CORE_CODEBOOK_OWN | (f->table[n + 1] >= 0 ? CORE_CODEBOOK_HAS_NAN : 0));
    for (int s = 0; s < 2; s++) {
        const int beyond = f->table[2 * n + 4 + (s ? 0 : (uint32_t)f->table[n] + 1)] >= 0;
        const int stops = mode == FPEMU_MODE_RTZ || mode == (s ? FPEMU_MODE_RTP : FPEMU_MODE_RTN);
        const int past = policy == FPEMU_OVERFLOW_IEEE && !stops ? CORE_CODEBOOK_PAST << s : 0;
        const int saturates =
            policy != FPEMU_OVERFLOW_IEEE && (policy == FPEMU_OVERFLOW_SATURATE || (s && !f->is_signed));
        const int infinite = saturates ? 0 : CORE_CODEBOOK_INFINITE << s;
        c->flags |= (uint8_t)(beyond ? past | infinite : 0);
    }
}

/* The indices of the lowest and of the largest finite value. */
FPEMU_FN uint32_t core_codebook_low(const core_codebook *c)
{
    return c->flags & CORE_CODEBOOK_OWN;
}

FPEMU_FN uint32_t core_codebook_high(const core_codebook *c)
{
    return core_codebook_low(c) ? (uint32_t)c->values[c->length] : c->length - 1;
}

/* Whether there is a flag of this side: 1 below. */
FPEMU_FN uint32_t core_codebook_flag(const core_codebook *c, int flag, int side)
{
    return (c->flags & flag << side) != 0;
}

/* The value of an index, and its code. */
FPEMU_FN float core_codebook_at(const core_codebook *c, uint32_t index)
{
    return c->values[index + (core_codebook_low(c) ? c->length + 2 : 0)];
}

FPEMU_FN uint32_t core_codebook_code(const core_codebook *c, uint32_t index)
{
    return core_codebook_low(c) ? (uint32_t)c->values[index + 2 * c->length + 4] : index;
}

/* Whether a tie, at `middle` above the value of this index, goes to the next one. What lies past an end counts as odd
 * below and as even above, so that the code of the end decides. */
FPEMU_FN int core_codebook_tie(const core_codebook *c, uint32_t index, double middle)
{
    if (c->mode == FPEMU_MODE_RNE && core_codebook_low(c))
        return (index < core_codebook_low(c) || core_codebook_code(c, index) % 2 != 0) &&
               (index == core_codebook_high(c) || core_codebook_code(c, index + 1) % 2 == 0);
    return c->mode == FPEMU_MODE_RNP || (c->mode == FPEMU_MODE_RNA && middle >= 0) ||
           (c->mode == FPEMU_MODE_RNZ && middle < 0);
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
