/* carrier_end.inc.h - takes back the names of carrier32.inc.h and carrier64.inc.h. */
#undef CORE_W
#undef CORE_UINT
#undef CORE_SINT
#undef CORE_REAL
#undef CORE_MANT
#undef CORE_BIAS
#undef CORE
#undef CORE_BITS
#undef CORE_VALUE
#undef CORE_LOG2
#undef CORE_FROM_DOUBLE
#undef CORE_TO_DOUBLE
#undef CORE_SIGN
#undef CORE_HIDDEN
#undef CORE_INF
#undef CORE_NAN
