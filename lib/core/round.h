/* SPDX-License-Identifier: BSD-2-Clause */
/* round.h - how one number is rounded, for binary32 (…32) and binary64 (…64) carriers.
 *
 * The rule stands once, in round.inc.h, and is read twice. Two steps make a result:
 *   grid    the exact input, rounded by the mode on the format's grid as if it had no upper end
 *   finish  ends, infinities, NaN and zeros, by the policies
 * Everything else in the library repeats these on arrays. Integer operations, and one subtraction that is always exact,
 * so that no result depends on the floating-point environment. */
#ifndef FPEMU_CORE_ROUND_H
#define FPEMU_CORE_ROUND_H

#include "fpemu.h"
#include "port.h"

/* Which rule takes a value to the grid. */
enum core_rule {
    CORE_RULE_FLOAT,      /* floats and fixed point whose values are carrier normals or have the carrier's subnormals */
    CORE_RULE_ANY,        /* the same plus: normals below the carrier's smallest normal, flushing, e8m0 */
    CORE_RULE_FULL_RANGE, /* FLOAT in the forms of round_fast.h; _GRID is the grid step, without finish */
    CORE_RULE_FULL_RANGE_GRID,
    CORE_RULE_SHIFTER_PASS, /* overflow passes over into infinity or NaN */
    CORE_RULE_SHIFTER_STOP, /* overflow stops at the largest value, infinity too, or (_INF) it does not */
    CORE_RULE_SHIFTER_STOP_INF,
    CORE_RULE_SHIFTER_GRID,
    CORE_RULE_EVEN, /* fixed point and integers on a plain grid */
    CORE_RULE_POSIT,
    CORE_RULE_AFFINE_FAST, /* AFFINE for at most 22 bits, by binary64 arithmetic */
    CORE_RULE_AFFINE,      /* integers with a scale that is no power of two, or too wide for the carrier */
    CORE_RULE_COUNT
};

/* Modes of the grid step beyond fpemu_mode: the other two stochastic variants. */
#define CORE_SR_B FPEMU_MODE_COUNT
#define CORE_SR_C (FPEMU_MODE_COUNT + 1)
#define CORE_MODE_COUNT (FPEMU_MODE_COUNT + 2)
/* In loops: one of the modes without random bits, that of the plan. */
#define CORE_MODE_READ (-1)

/* Whether a mode takes random bits, and whether it goes to the nearer neighbour: their numbers do not say it. */
#define CORE_DRAWS(mode) (FPEMU_MODE_DRAWS(mode) || (mode) >= FPEMU_MODE_COUNT)

FPEMU_FN int core_to_nearest(int mode)
{
    return (mode >= 0 && mode <= FPEMU_MODE_RNZ) || mode == FPEMU_MODE_RNP;
}

/* What tells hif8: p1 of a plan, whose fraction bits then become fewer outwards; n of a coder, whose kind is posit. */
#define CORE_HIF8_P1 2
#define CORE_HIF8_N 0

#include "carrier32.h"
#include "round.inc.h"
#include "carrier_end.h"
#include "carrier64.h"
#include "round.inc.h"
#include "carrier_end.h"

#endif /* FPEMU_CORE_ROUND_H */
