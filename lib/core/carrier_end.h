/* SPDX-License-Identifier: BSD-2-Clause */
/* carrier_end.h - takes back what carrier32.h and carrier64.h define. */
#undef CARRIER
#undef CARRIER_BITS
#undef uintw
#undef intw
#undef realw
#undef CARRIER_MANTISSA
#undef CARRIER_BIAS
#undef CARRIER_SIGN
#undef CARRIER_HIDDEN
#undef CARRIER_INF
#undef CARRIER_NAN
#undef core_log2
#undef core_from_double
#undef core_to_double
#undef core_saturated_bits
