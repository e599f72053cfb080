/* compat.h - departures of other software that the format and the rounding cannot express (fpemu_compat).
 * compat.inc.h is read twice, as round.inc.h is. doc/numerics.md states each. Some of these rules are sums and
 * quotients in binary32 and use the processor's: callers see to the default floating-point environment. */
#ifndef FPEMU_CORE_COMPAT_H
#define FPEMU_CORE_COMPAT_H

#include "plan.h"

#define CORE_W 32
#define CORE_UINT uint32_t
#define CORE_SINT int32_t
#define CORE_MANT 23
#define CORE_BIAS 127
#define CORE(name) core_##name##32
#define CORE_TO_DOUBLE(u) ((double)core_value32(u))
#include "compat.inc.h"
#undef CORE_W
#undef CORE_UINT
#undef CORE_SINT
#undef CORE_MANT
#undef CORE_BIAS
#undef CORE
#undef CORE_TO_DOUBLE

#define CORE_W 64
#define CORE_UINT uint64_t
#define CORE_SINT int64_t
#define CORE_MANT 52
#define CORE_BIAS 1023
#define CORE(name) core_##name##64
#define CORE_TO_DOUBLE(u) core_value64(u)
#include "compat.inc.h"
#undef CORE_W
#undef CORE_UINT
#undef CORE_SINT
#undef CORE_MANT
#undef CORE_BIAS
#undef CORE
#undef CORE_TO_DOUBLE

#endif /* FPEMU_CORE_COMPAT_H */
