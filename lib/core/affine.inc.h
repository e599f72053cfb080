/* SPDX-License-Identifier: BSD-2-Clause */
/* affine.inc.h - integers with a scale, value = scale * (q - zero point), for one carrier; included by encode.h.
 * doc/numerics.md states the rule. */

/* scale * k, rounded once (rne) to the carrier: the value of an affine integer. */
FPEMU_FN uintw core_affine_value(uint64_t scale_sig, int scale_exp, int64_t k)
{
    const uint64_t magnitude = k < 0 ? 0 - (uint64_t)k : (uint64_t)k;
    if (magnitude == 0)
        return 0;
    const core_wide w = core_multiply(scale_sig, magnitude);
    const int top = w.high ? 64 + core_log2_64(w.high) : core_log2_64(w.low);
    const int field = scale_exp + top + CARRIER_BIAS;
    int drop = top - CARRIER_MANTISSA; /* bits below the last that the carrier keeps */
    if (field < 1)
        drop += 1 - field;
    uint64_t kept, rest_high, rest_low, half_high, half_low;
    if (drop <= 0) {
        kept = w.low << -drop;
        rest_high = rest_low = 0;
        half_high = 0;
        half_low = 1;
    } else if (drop > 127) {
        return 0;
    } else if (drop >= 64) {
        kept = drop == 64 ? w.high : w.high >> (drop - 64);
        rest_high = drop == 64 ? 0 : w.high & ((UINT64_C(1) << (drop - 64)) - 1);
        rest_low = w.low;
        half_high = drop == 64 ? 0 : UINT64_C(1) << (drop - 65);
        half_low = drop == 64 ? UINT64_C(1) << 63 : 0;
    } else {
        kept = (w.low >> drop) | (w.high << (64 - drop));
        rest_high = 0;
        rest_low = w.low & ((UINT64_C(1) << drop) - 1);
        half_high = 0;
        half_low = UINT64_C(1) << (drop - 1);
    }
    const int above = rest_high > half_high || (rest_high == half_high && rest_low > half_low);
    const int tie = rest_high == half_high && rest_low == half_low;
    kept += (uint64_t)(above || (tie && (kept & 1)));
    /* the hidden bit of `kept` carries into the exponent field */
    const uintw bits = (uintw)kept + (field < 1 ? 0 : (uintw)(field - 1) << CARRIER_MANTISSA);
    return bits == 0 || k > 0 ? bits : CARRIER_SIGN | bits;
}

/* a / scale to binary64, rounded to odd; a a finite magnitude. */
FPEMU_FN uint64_t core_quotient(const core_plan *p, uintw a)
{
    if (a == 0)
        return 0;
    const int field = (int)(a >> CARRIER_MANTISSA), top = (int)core_log2(a);
    const uint64_t sig = field ? (uint64_t)((a & (CARRIER_HIDDEN - 1)) | CARRIER_HIDDEN) << (52 - CARRIER_MANTISSA)
                               : (uint64_t)a << (52 - top);
    const int e = field ? field - CARRIER_BIAS - 52 : top + 1 - CARRIER_BIAS - CARRIER_MANTISSA - 52;
    /* sig and scale_sig lie in [2^52, 2^53): 55 bits after the point give at least 54 significant ones */
    uint64_t rest;
    const uint64_t q = core_divide(sig, p->scale_sig, &rest);
    const int bit = core_log2_64(q), exponent = e - p->scale_exp - 55 + bit; /* q in [2^54, 2^56) */
    int drop = bit - 52;
    if (exponent > 1023)
        return (UINT64_C(2047) << 52) - 1;
    if (exponent < -1022)
        drop = -1022 - exponent > 60 ? 63 : drop - 1022 - exponent;
    drop = drop > 63 ? 63 : drop;
    uint64_t kept = q >> drop;
    kept |= (uint64_t)((q & ((UINT64_C(1) << drop) - 1)) != 0 || rest != 0);
    return kept + (exponent < -1022 ? 0 : (uint64_t)(exponent + 1022) << 52);
}

/* q - zero point for input u, as a magnitude on the integer grid without ends (bits of a binary64 integer). */
FPEMU_FN uint64_t core_affine(const core_plan *p, const core_plan64 *integers, int mode, uintw u, uint32_t r)
{
    const uintw a = u & ~CARRIER_SIGN;
    const uint64_t sign = (u & CARRIER_SIGN) ? UINT64_C(1) << 63 : 0;
    const uint64_t t = core_quotient(p, a);
    /* a value of the format is a fixed point in every mode, though its quotient need not come back exactly */
    const uint64_t nearest = core_grid64(integers, FPEMU_MODE_RNE, 0, 32, t, sign, 0);
    if (nearest < core_bits64(9007199254740992.0) &&
        core_affine_value(p->scale_sig, p->scale_exp, (int64_t)core_grid_steps64(nearest, 0)) == a)
        return nearest;
    return core_grid64(integers, mode, 0, p->n, t, sign, (uint64_t)r << 32);
}

/* The result for input u and integer g (magnitude, bits of a binary64 integer), ends and all. *q is its integer,
 * meaningless for a NaN that stays one. */
FPEMU_FN uintw core_finish_affine(const core_plan *p, uintw u, uint64_t g, int *overflow, int64_t *q)
{
    const uintw a = u & ~CARRIER_SIGN;
    const unsigned s = (unsigned)(u >> (CARRIER_BITS - 1));
    *overflow = 0;
    if (a >= CARRIER_INF) {
        const uintw y = a > CARRIER_INF ? p->nan[s] : p->infinite[s];
        *q = y == 0 ? p->zero_point : y & CARRIER_SIGN ? p->q_min : p->q_max;
        return y;
    }
    const uint64_t end = s ? (uint64_t)(p->zero_point - p->q_min) : (uint64_t)(p->q_max - p->zero_point);
    const uint64_t k = core_grid_steps64(g, 0);
    const int past = g >= core_bits64(9223372036854775808.0) || k > end;
    *overflow = past && a != p->max[s]; /* several integers may have the value of an end */
    const uint64_t kept = past && !(*overflow && p->wrap) ? end : k;
    *q = (int64_t)((s ? 0 - kept : kept) + (uint64_t)p->zero_point);
    if (p->wrap) {
        const uint64_t mask = ~UINT64_C(0) >> (64 - p->bits), top = UINT64_C(1) << (p->bits - 1);
        const uint64_t code = (uint64_t)*q & mask;
        *q = p->is_signed && (code & top) ? (int64_t)(code | ~mask) : (int64_t)code;
    }
    return core_affine_value(p->scale_sig, p->scale_exp, *q - p->zero_point);
}
