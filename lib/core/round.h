/* round.h - how one number is rounded, for binary32 (…32) and binary64 (…64) carriers.
 *
 * The rule stands once, in round.inc.h, and is read twice. Two steps make a result:
 *   grid    the exact input, rounded by the mode on the format's grid as if it had no upper end
 *   finish  ends, infinities, NaN and zeros, by the policies
 * Everything else in the library repeats these on arrays. Integer operations (and one subtraction that is always exact):
 * no result depends on the floating-point environment. */
#ifndef FPEMU_CORE_ROUND_H
#define FPEMU_CORE_ROUND_H

#include "fpemu.h"
#include "port.h"

/* Which rule takes a value to the grid. */
enum core_rule {
    CORE_RULE_FLOAT,  /* floats and fixed point whose values are carrier normals or share the carrier's subnormals */
    CORE_RULE_ANY,    /* the same plus: normals below the carrier's smallest normal, flushing, e8m0 */
    CORE_RULE_FLAT,   /* FLOAT in the forms of quick.h: array loops on binary32 only; _ENDS where finish is needed */
    CORE_RULE_FLAT_ENDS,
    CORE_RULE_MAGIC,
    CORE_RULE_MAGIC_ENDS,
    CORE_RULE_POSIT,
    CORE_RULE_SCALED, /* AFFINE on binary32 for at most 16 bits, by binary64 arithmetic: array loops only */
    CORE_RULE_AFFINE, /* integers with a scale that is no power of two, or too wide for the carrier */
    CORE_RULE_COUNT
};

/* Modes of the grid step beyond fpemu_mode: the other two stochastic variants. */
#define CORE_SR_B FPEMU_MODE_COUNT
#define CORE_SR_C (FPEMU_MODE_COUNT + 1)
#define CORE_MODE_COUNT (FPEMU_MODE_COUNT + 2)

#define CORE_W 32
#define CORE_UINT uint32_t
#define CORE_SINT int32_t
#define CORE_MANT 23
#define CORE_BIAS 127
#define CORE(name) core_##name##32
#define CORE_LOG2 core_log2_32
#define CORE_BITS core_bits32
#define CORE_VALUE core_value32
#include "round.inc.h"
#undef CORE_W
#undef CORE_UINT
#undef CORE_SINT
#undef CORE_MANT
#undef CORE_BIAS
#undef CORE
#undef CORE_LOG2
#undef CORE_BITS
#undef CORE_VALUE

#define CORE_W 64
#define CORE_UINT uint64_t
#define CORE_SINT int64_t
#define CORE_MANT 52
#define CORE_BIAS 1023
#define CORE(name) core_##name##64
#define CORE_LOG2 core_log2_64
#define CORE_BITS core_bits64
#define CORE_VALUE core_value64
#include "round.inc.h"
#undef CORE_W
#undef CORE_UINT
#undef CORE_SINT
#undef CORE_MANT
#undef CORE_BIAS
#undef CORE
#undef CORE_LOG2
#undef CORE_BITS
#undef CORE_VALUE

#endif /* FPEMU_CORE_ROUND_H */
