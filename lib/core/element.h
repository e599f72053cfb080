/* element.h - one element from end to end, whatever the rule: what scalar forms and the slow loops call. The fast
 * loops of kernels.inc.c call the same grid and finish steps with the rule and mode fixed. */
#ifndef FPEMU_CORE_ELEMENT_H
#define FPEMU_CORE_ELEMENT_H

#include "compat.h"
#include "quick.h"
#include "scaled.h"

#include "carrier32.inc.h"
#include "element.inc.h"
#include "carrier_end.inc.h"
#include "carrier64.inc.h"
#include "element.inc.h"
#include "carrier_end.inc.h"

#endif /* FPEMU_CORE_ELEMENT_H */
