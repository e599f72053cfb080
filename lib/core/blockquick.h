/* blockquick.h - blocks with a power of two as scale in a form that costs a fraction of block.h: with s = 2^c, rounding
 * t = x/s to a grid is rounding x to that grid times s, so no element is ever multiplied; c is added to the exponents
 * of the grid's constants instead. Array loops only; blocks that core_quick_blocks leaves out take the long way.
 * blockquick.inc.h is read twice, as round.inc.h is.
 *
 * The bits are those of block.h where the amax of the block lies between `least` and `most`, or is 0:
 *   - c is then inside the scale format, and within one of floor(log2 amax) - emax;
 *   - every multiple of a step, the ends and what core_counted adds are normal numbers of the carrier, so y = P*s is
 *     exact, and the constants are had by adding c to an exponent;
 *   - no element passes 2^(emax + 1 + c), since s is at least amax / 2^(emax + 1): core_counted needs no other end;
 *   - its remainders are exact, and times 2^32 / step they lose only what lies below the random bits. */
#ifndef FPEMU_CORE_BLOCKQUICK_H
#define FPEMU_CORE_BLOCKQUICK_H

#include "block.h"
#include "quick.h"

#include "carrier32.inc.h"
#include "blockquick.inc.h"
#include "carrier_end.inc.h"
#include "carrier64.inc.h"
#include "blockquick.inc.h"
#include "carrier_end.inc.h"

#endif /* FPEMU_CORE_BLOCKQUICK_H */
