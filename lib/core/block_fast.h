/* SPDX-License-Identifier: BSD-2-Clause */
/* block_fast.h - fast forms of scale.h and block.h, for array loops; tests/against_judges/blocks.c compares the bits.
 * block_fast.inc.h is read twice, as round.inc.h is.
 *
 * Blocks with a power of two as scale: with s = 2^c, rounding t = x/s to a grid is rounding x to that grid times s, so
 * no element is ever multiplied; c is added to the exponents of the grid's constants instead. Blocks that
 * core_pow2_block_make leaves out are left to the reference. The bits are those of block.h where the amax of the block
 * lies between `least` and `most`, or is 0:
 *   - c is then inside the scale format, and within one of floor(log2 amax) - emax;
 *   - every multiple of a step, the ends and what core_shifter_round adds are normal numbers of the carrier, so y =
 *     P*s is exact, and the constants are had by adding c to an exponent;
 *   - no element passes 2^(emax + 1 + c), since s is at least amax / 2^(emax + 1): core_shifter_round needs no other
 *     end;
 *   - amax * [1/M], which rule rceil looks at, is finite;
 *   - its remainders are exact, and times 2^32 / step they lose only what lies below the random bits.
 *
 * Under other scales a division becomes a product and two fused ones, core_fast_quotient. With u = 2^-(MANT + 1),
 * r = [1/s], Q = x/s, and ulp that of Q:
 *   - r is 1/s times 1 + e, |e| <= u/(1 + u); so q = [x*r] is less than one ulp from Q, or less than 1.5 where the
 *     fraction of x is below that of s.
 *   - Within one ulp, x - q*s is a number of the carrier. [q + (x - q*s)*r] can differ from [Q] only if Q is next to
 *     the middle between q and a neighbour: (1 + d)/2 ulp from q. Fractions of s are integers below 2^(MANT + 1), and
 *     no quotient is such a middle: |d| >= u/(1 - u). So (1 + d)*(1 + e) is on the same side of 1 as 1 + d.
 *   - Further off, x - q*s loses its last bit at most, and the sum is 3u ulp from Q at most: of no account but where Q
 *     is that close to 1.5 ulp from q. Then the fraction of x is one of the last three below 2, that of s a larger one;
 *     in these three pairs q is at most 1 + 2u ulp from Q.
 * core_fast_quotients and runs_inverses of the loops see to it that nothing underflows before a quotient of a quarter of
 * a step or more is made; smaller ones become zero all the same, to nearest. */
#ifndef FPEMU_CORE_BLOCK_FAST_H
#define FPEMU_CORE_BLOCK_FAST_H

#include "scale.h"
#include "round_fast.h"

/* Whether x * y + z is rounded once, and at once. */
#if defined(__FMA__) || defined(__aarch64__)
#define CORE_HAS_FMA 1
#else
#define CORE_HAS_FMA 0
#endif

#define CORE_FMA __builtin_fmaf
#include "carrier32.h"
#include "block_fast.inc.h"
#include "carrier_end.h"
#undef CORE_FMA
#define CORE_FMA __builtin_fma
#include "carrier64.h"
#include "block_fast.inc.h"
#include "carrier_end.h"
#undef CORE_FMA

#endif /* FPEMU_CORE_BLOCK_FAST_H */
