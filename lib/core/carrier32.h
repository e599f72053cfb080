/* SPDX-License-Identifier: BSD-2-Clause */
/* carrier32.h - from here to carrier_end.h the carrier is binary32; carrier.h says how. */
#include "carrier.h"

#define CARRIER(name) name##32
#define CARRIER_BITS 32
#define uintw uint32_t
#define intw int32_t
#define realw float
#define CARRIER_MANTISSA 23 /* stored fraction bits */
#define CARRIER_BIAS 127    /* of the exponent */
#define CARRIER_SIGN ((uintw)1 << (CARRIER_BITS - 1))
#define CARRIER_HIDDEN ((uintw)1 << CARRIER_MANTISSA)
#define CARRIER_INF ((uintw)(2 * CARRIER_BIAS + 1) << CARRIER_MANTISSA)
#define CARRIER_NAN (CARRIER_INF | (CARRIER_HIDDEN >> 1))

/* the highest set bit; bits from and to binary64; bits of a binary64 number, too large ones becoming the largest */
#define core_log2 core_log2_32
#define core_from_double(x) core_narrow(x)
#define core_to_double(u) (double)core_value32(u)
#define core_saturated_bits(x) core_bits32(core_saturated32(x))
