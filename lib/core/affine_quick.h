/* SPDX-License-Identifier: BSD-2-Clause */
/* affine_quick.h - affine integers in the carrier itself, where x * [1/s] tells the integer but for one and the
 * remainder x - k*s, which a fused product has without error, decides the rest: array loops of processors with such
 * products. Scales far from the carrier's ends and integers up to 2^16 leave room for both. affine_quick.inc.h is read
 * twice, as round.inc.h is. tests/against_judges/affine.c compares all floats with the rule of affine.inc.h.
 *
 * Stochastic rounding compares the remainder over s, of which 20 bits are right, with the random bits: where these do
 * not decide, the element says so, and the rule does. To nearest even the same goes for halves, whose neighbourhood is
 * small where the integers are. Callers see to the default floating-point environment. */
#ifndef FPEMU_CORE_AFFINE_QUICK_H
#define FPEMU_CORE_AFFINE_QUICK_H

#include "block_fast.h"

#define CORE_FMA __builtin_fmaf
#include "carrier32.h"
#include "affine_quick.inc.h"
#include "carrier_end.h"
#undef CORE_FMA
#define CORE_FMA __builtin_fma
#include "carrier64.h"
#include "affine_quick.inc.h"
#include "carrier_end.h"
#undef CORE_FMA

#endif /* FPEMU_CORE_AFFINE_QUICK_H */
