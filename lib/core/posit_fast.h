/* SPDX-License-Identifier: BSD-2-Clause */
/* posit_fast.h - posits in forms that become short loops, for arrays and kernels. How many bits are left for exponent
 * and fraction follows from a number m that is had without a look at the kind of regime; and a code is "10" or "01",
 * exponent and fraction, shifted by m to the right with their sign. posit_fast.inc.h is read twice, as round.inc.h is.
 * tests/against_judges/quantize_exhaustive.c and codes.c compare all floats and all codes. */
#ifndef FPEMU_CORE_POSIT_FAST_H
#define FPEMU_CORE_POSIT_FAST_H

#include "plan.h"

#include "carrier32.h"
#include "posit_fast.inc.h"
#include "carrier_end.h"
#include "carrier64.h"
#include "posit_fast.inc.h"
#include "carrier_end.h"

#endif /* FPEMU_CORE_POSIT_FAST_H */
