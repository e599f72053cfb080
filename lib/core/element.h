/* SPDX-License-Identifier: BSD-2-Clause */
/* element.h - one element from end to end. core_element is the reference, whatever the rule: single numbers and slow
 * loops call it. The forms behind it have less to ask, and are what the loops of lib/loops repeat on arrays: they give
 * the same bits, which tests/against_judges/quantize_exhaustive.c and quantize.c compare. */
#ifndef FPEMU_CORE_ELEMENT_H
#define FPEMU_CORE_ELEMENT_H

#include "compat.h"
#include "round_fast.h"
#include "affine_fast.h"

#include "carrier32.h"
#include "element.inc.h"
#include "carrier_end.h"
#include "carrier64.h"
#include "element.inc.h"
#include "carrier_end.h"

#endif /* FPEMU_CORE_ELEMENT_H */
