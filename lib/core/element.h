/* element.h - one element from end to end, whatever the rule: what scalar forms and the slow loops call. The fast
 * loops of kernels.inc.c call the same grid and finish steps with the rule and mode fixed. */
#ifndef FPEMU_CORE_ELEMENT_H
#define FPEMU_CORE_ELEMENT_H

#include "compat.h"
#include "quick.h"
#include "scaled.h"

#define CORE_W 32
#define CORE_UINT uint32_t
#define CORE(name) core_##name##32
#define CORE_INF 0x7f800000u
#include "element.inc.h"
#undef CORE_W
#undef CORE_UINT
#undef CORE
#undef CORE_INF

#define CORE_W 64
#define CORE_UINT uint64_t
#define CORE(name) core_##name##64
#define CORE_INF (UINT64_C(0x7ff) << 52)
#include "element.inc.h"
#undef CORE_W
#undef CORE_UINT
#undef CORE
#undef CORE_INF

#endif /* FPEMU_CORE_ELEMENT_H */
