/* SPDX-License-Identifier: BSD-2-Clause */
/* carrier64.h - from here to carrier_end.h the carrier is binary64; carrier.h says how. */
#include "carrier.h"

#define CARRIER(name) name##64
#define CARRIER_BITS 64
#define uintw uint64_t
#define intw int64_t
#define realw double
#define CARRIER_MANTISSA 52 /* stored fraction bits */
#define CARRIER_BIAS 1023   /* of the exponent */
#define CARRIER_SIGN ((uintw)1 << (CARRIER_BITS - 1))
#define CARRIER_HIDDEN ((uintw)1 << CARRIER_MANTISSA)
#define CARRIER_INF ((uintw)(2 * CARRIER_BIAS + 1) << CARRIER_MANTISSA)
#define CARRIER_NAN (CARRIER_INF | (CARRIER_HIDDEN >> 1))

/* the highest set bit; bits from and to binary64; bits of a binary64 number, too large ones becoming the largest */
#define core_log2 core_log2_64
#define core_from_double(x) core_bits64(x)
#define core_to_double(u) core_value64(u)
#define core_saturated_bits(x) core_bits64(x)
