/* SPDX-License-Identifier: BSD-2-Clause */
/* plan.h - from (format, rounding) to the constants that the element rules read; once a call.
 * plan.inc.h is read twice, as round.inc.h is. */
#ifndef FPEMU_CORE_PLAN_H
#define FPEMU_CORE_PLAN_H

#include "encode.h"

/* The ends of an integer format's codes. */
FPEMU_FN void core_int_ends(const fpemu_format *f, int64_t *q_min, int64_t *q_max)
{
    const int64_t span = (int64_t)1 << (f->bits - 1);
    *q_min = f->is_signed ? -span + f->symmetric : 0;
    *q_max = f->is_signed ? span - 1 : 2 * span - 1;
}

/* The overflow policy in force: the rounding's, else the format's. */
FPEMU_FN int core_overflow_policy(const fpemu_format *f, const fpemu_rounding *r)
{
    return r->overflow != FPEMU_OVERFLOW_FROM_FORMAT ? r->overflow : f->overflow;
}

/* The NaN policy in force. */
FPEMU_FN int core_nan_policy(const fpemu_format *f, const fpemu_rounding *r)
{
    return r->nan != FPEMU_NAN_FROM_FORMAT ? r->nan : f->nan;
}

/* The mode of the grid step. */
FPEMU_FN int core_mode(const fpemu_rounding *r)
{
    if (r->mode == FPEMU_MODE_SR && r->variant != FPEMU_SR_VARIANT_A)
        return r->variant == FPEMU_SR_VARIANT_B ? CORE_SR_B : CORE_SR_C;
    return r->mode;
}

/* Whether x beyond the ends goes to the largest value under `ieee` (1) or to the overflow value (0): the direction
 * of the mode decides (doc/numerics.md, overflow). `negative`: x < 0. */
FPEMU_FN int core_stops_at_max(const fpemu_format *f, int mode, int negative)
{
    switch (mode) {
    case FPEMU_MODE_RTZ: return 1;
    case FPEMU_MODE_RTP: return negative;
    case FPEMU_MODE_RTN: return !negative;
    case FPEMU_MODE_RTO: return !(f->specials == FPEMU_SPECIALS_P3109E && f->is_signed);
    default: return 0;
    }
}

/* 2^e, or 0: the exponent of a power of two. Returns 0 if x is none. */
FPEMU_FN int core_is_power(double x, int *e)
{
    const uint64_t u = core_bits64(x), fraction = u & ((UINT64_C(1) << 52) - 1);
    const int field = (int)(u >> 52);
    if (field == 0) {
        *e = fraction ? core_log2_64(fraction) - 1074 : 0;
        return fraction != 0 && (fraction & (fraction - 1)) == 0;
    }
    *e = field - 1023;
    return fraction == 0 && field < 2047;
}

/* x as binary32 bits, rounded to nearest even by integers; x finite. Exact for values of formats that fit. */
FPEMU_FN uint32_t core_narrow(double x)
{
    const float same = (float)x;
    if ((double)same == x) /* like most of a format: calls on few elements feel the rest */
        return core_bits32(same);
    const uint64_t u = core_bits64(x), a = u & ~(UINT64_C(1) << 63);
    const uint32_t sign = (uint32_t)(u >> 63) << 31;
    const int field = (int)(a >> 52) - 1023 + 127;
    if (a == 0)
        return sign;
    uint64_t sig = (a & ((UINT64_C(1) << 52) - 1)) | (a >> 52 ? UINT64_C(1) << 52 : 0);
    int drop = field < 1 ? 29 + 1 - field : 29;
    drop = drop > 60 ? 60 : drop;
    const uint64_t rest = sig & ((UINT64_C(1) << drop) - 1), half = UINT64_C(1) << (drop - 1);
    sig >>= drop;
    sig += (uint64_t)(rest > half || (rest == half && (sig & 1)));
    if (field > 254)
        return sign | 0x7f800000u;
    return sign | ((uint32_t)sig + (field < 1 ? 0 : (uint32_t)(field - 1) << 23));
}

/* binary64 first: affine integers of either carrier round their quotients there */
#include "carrier64.h"
#include "plan.inc.h"
#include "carrier_end.h"
#include "carrier32.h"
#include "plan.inc.h"
#include "carrier_end.h"

/* The grid on which affine integers round their quotients. */
FPEMU_FN core_plan64 core_integers(void)
{
    core_plan64 p;
    memset(&p, 0, sizeof p);
    core_plan_fixed_grid64(&p, 0);
    return p;
}

#endif /* FPEMU_CORE_PLAN_H */
