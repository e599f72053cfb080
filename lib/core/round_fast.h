/* SPDX-License-Identifier: BSD-2-Clause */
/* round_fast.h - the rule of round.inc.h in forms that cost a fraction of it, for the formats most used:
 * blocks, sums of products and the device. Arrays of values take the same forms in vectors, lib/kernel. Each gives the
 * same bits where core_choose_fast… lets it stand in. round_fast.inc.h is read twice, as round.inc.h is.
 *
 * full range  The format has the carrier's exponent range (bfloat16, TF32): the number of discarded bits never changes,
 *             and a sum and a mask on the whole pattern round it.
 * shifter     |x| + C with C = 2^(MANT - m) times the power of two of |x| counts the format's steps in its last bits,
 *             to nearest even; comparing x with what that stands for serves the other modes.
 * stochastic  Random bits, shifted to the place of the discarded ones, are added to the magnitude.
 * even        As shifter with one C for every x: fixed point, and integers on a plain grid.
 * powers      As full range, with the binade at 2^-127 made one like the others: e8m0.
 *
 * Callers see to the default floating-point environment. */
#ifndef FPEMU_CORE_ROUND_FAST_H
#define FPEMU_CORE_ROUND_FAST_H

#include "plan.h"

#include "carrier32.h"
#include "round_fast.inc.h"
#include "carrier_end.h"
#include "carrier64.h"
#include "round_fast.inc.h"
#include "carrier_end.h"

#endif /* FPEMU_CORE_ROUND_FAST_H */
