/* round.c - the verbs on arrays and on single numbers: arguments are checked, work is split, loops are called.
 * What the loops compute stands in core/, what is refused in check.c. */
#include "internal.h"
#include "threads.h"
#include "loops/stream.h"

static size_t code_size(uint32_t bits)
{
    return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

#define CORE_W 32
#define UINT uint32_t
#define REAL float
#define INF 0x7f800000u
#define NAME(name) name##_f32
#define CORE(name) core_##name##32
#define VALUE core_value32
#define BITS core_bits32
#define LOOP(name) name##32
#include "quantize.inc.c"
#undef CORE_W
#undef UINT
#undef REAL
#undef INF
#undef NAME
#undef CORE
#undef VALUE
#undef BITS
#undef LOOP

#define CORE_W 64
#define UINT uint64_t
#define REAL double
#define INF (UINT64_C(0x7ff) << 52)
#define NAME(name) name##_f64
#define CORE(name) core_##name##64
#define VALUE core_value64
#define BITS core_bits64
#define LOOP(name) name##64
#include "quantize.inc.c"
