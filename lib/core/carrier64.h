/* carrier64.inc.h - names of the binary64 carrier for the *.inc.h files, which are read once for each carrier:
 *   CORE_W width, CORE_UINT/CORE_SINT integers of that width, CORE_REAL the type, CORE_MANT fraction bits, CORE_BIAS
 *   exponent bias, CORE(name) a name with its suffix, CORE_BITS/CORE_VALUE conversions, CORE_LOG2 the highest set bit,
 *   CORE_FROM_DOUBLE/CORE_TO_DOUBLE bits from and to binary64.
 * carrier_end.inc.h takes them back. */
#define CORE_W 64
#define CORE_UINT uint64_t
#define CORE_SINT int64_t
#define CORE_REAL double
#define CORE_MANT 52
#define CORE_BIAS 1023
#define CORE(name) core_##name##64
#define CORE_BITS core_bits64
#define CORE_VALUE core_value64
#define CORE_LOG2 core_log2_64
#define CORE_FROM_DOUBLE core_bits64
#define CORE_TO_DOUBLE(u) core_value64(u)

#define CORE_SIGN ((CORE_UINT)1 << (CORE_W - 1))
#define CORE_HIDDEN ((CORE_UINT)1 << CORE_MANT)
#define CORE_INF ((CORE_UINT)(2 * CORE_BIAS + 1) << CORE_MANT)
#define CORE_NAN (CORE_INF | (CORE_HIDDEN >> 1))
