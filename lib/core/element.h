/* element.h - one element from end to end, whatever the rule: what scalar forms and the slow loops call. The fast
 * loops of kernels.inc.c call the same grid and finish steps with the rule and mode fixed. */
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
