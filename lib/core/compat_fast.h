/* SPDX-License-Identifier: BSD-2-Clause */
/* compat_fast.h - the compatibility rules of compat.h in short forms, for array loops. What some settings change lies
 * before the rounding or past the ends, so that the fast forms of the plain rule stand between. The sums are the
 * processor's: callers see to the default floating-point environment. compat_fast.inc.h is read twice, as round.inc.h
 * is. tests/against_judges/spans.c compares them with core_element. */
#ifndef FPEMU_CORE_COMPAT_FAST_H
#define FPEMU_CORE_COMPAT_FAST_H

#include "affine_quick.h"
#include "compat.h"

#include "carrier32.h"
#include "compat_fast.inc.h"
#include "carrier_end.h"
#include "carrier64.h"
#include "compat_fast.inc.h"
#include "carrier_end.h"

#endif /* FPEMU_CORE_COMPAT_FAST_H */
