/* carrier32.inc.h - names of the binary32 carrier for the *.inc.h files, which are read once for each carrier:
 *   CORE_W width, CORE_UINT/CORE_SINT integers of that width, CORE_REAL the type, CORE_MANT fraction bits, CORE_BIAS
 *   exponent bias, CORE(name) a name with its suffix, CORE_BITS/CORE_VALUE conversions, CORE_LOG2 the highest set bit,
 *   CORE_FROM_DOUBLE/CORE_TO_DOUBLE bits from and to binary64.
 * carrier_end.inc.h takes them back. */
#define CORE_W 32
#define CORE_UINT uint32_t
#define CORE_SINT int32_t
#define CORE_REAL float
#define CORE_MANT 23
#define CORE_BIAS 127
#define CORE(name) core_##name##32
#define CORE_BITS core_bits32
#define CORE_VALUE core_value32
#define CORE_LOG2 core_log2_32
#define CORE_FROM_DOUBLE core_narrow
#define CORE_TO_DOUBLE(u) (double)core_value32(u)

#define CORE_SIGN ((CORE_UINT)1 << (CORE_W - 1))
#define CORE_HIDDEN ((CORE_UINT)1 << CORE_MANT)
#define CORE_INF ((CORE_UINT)(2 * CORE_BIAS + 1) << CORE_MANT)
#define CORE_NAN (CORE_INF | (CORE_HIDDEN >> 1))
