/* code.h - bit patterns and affine integers, for both carriers: code.inc.h and affine.inc.h, each read twice. */
#ifndef FPEMU_CORE_CODE_H
#define FPEMU_CORE_CODE_H

#include "round.h"

#define CORE_W 32
#define CORE_UINT uint32_t
#define CORE_SINT int32_t
#define CORE_MANT 23
#define CORE_BIAS 127
#define CORE(name) core_##name##32
#define CORE_LOG2 core_log2_32
#define CORE_BITS core_bits32
#define CORE_VALUE core_value32
#define CORE_REAL float
#include "affine.inc.h"
#include "code.inc.h"
#undef CORE_W
#undef CORE_UINT
#undef CORE_SINT
#undef CORE_MANT
#undef CORE_BIAS
#undef CORE
#undef CORE_LOG2
#undef CORE_BITS
#undef CORE_VALUE
#undef CORE_REAL

#define CORE_W 64
#define CORE_UINT uint64_t
#define CORE_SINT int64_t
#define CORE_MANT 52
#define CORE_BIAS 1023
#define CORE(name) core_##name##64
#define CORE_LOG2 core_log2_64
#define CORE_BITS core_bits64
#define CORE_VALUE core_value64
#define CORE_REAL double
#include "affine.inc.h"
#include "code.inc.h"
#undef CORE_W
#undef CORE_UINT
#undef CORE_SINT
#undef CORE_MANT
#undef CORE_BIAS
#undef CORE
#undef CORE_LOG2
#undef CORE_BITS
#undef CORE_VALUE
#undef CORE_REAL

#endif /* FPEMU_CORE_CODE_H */
