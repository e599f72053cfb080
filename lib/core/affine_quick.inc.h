/* SPDX-License-Identifier: BSD-2-Clause */
/* affine_quick.inc.h - the quick form of affine integers, for one carrier; included by affine_quick.h. */

typedef struct core_affine_quick {
    realw scale, inverse, half; /* s, [1/s], s/2 */
    realw low, high;            /* the ends */
    realw shift;                /* 1.5 * 2^MANT: adding it leaves the integer in the low bits */
    uintw nan[2];
    uintw random;    /* the kernel tells a fraction where it is no further from an integer, random bits added */
    uint8_t is_near; /* and mostly it is not */
} core_affine_quick;

/* Whether integers up to so far from zero have room in the form. */
FPEMU_FN int core_affine_has_room(realw scale, realw reach)
{
    return core_fast_middle(core_bits(scale)) && reach <= scale * 65536;
}

/* Makes *q; 0 where the form does not hold for a plan whose rule is CORE_RULE_AFFINE_FAST. */
FPEMU_FN int core_affine_quick_make(core_affine_quick *q, const core_plan *p)
{
    const uintw ends[2] = {p->max[0], p->max[1] ? p->max[1] | CARRIER_SIGN : 0};
    if (p->max[0] >= CARRIER_INF || p->max[1] >= CARRIER_INF || p->zero[0] || p->zero[1] || p->wrap)
        return 0;
    for (int s = 0; s < 2; s++)
        if (p->overflow[s] != ends[s] || p->infinite[s] != ends[s])
            return 0;
    q->scale = (realw)p->scale_value;
    q->inverse = 1 / q->scale;
    q->half = q->scale / 2;
    q->low = core_value(ends[1]);
    q->high = core_value(ends[0]);
    q->shift = core_value(core_power(CARRIER_MANTISSA) | CARRIER_HIDDEN >> 1);
    q->nan[0] = p->nan[0];
    q->nan[1] = p->nan[1];
    const realw reach = q->high > -q->low ? q->high : -q->low;
    /* x * [1/s] is wrong by a unit of 2^-MANT of itself */
    const realw error = reach * q->inverse * core_value(core_power(1 - CARRIER_MANTISSA));
    q->is_near = error < 0x1p-12f;
    q->random = core_bits((realw)0.5 - 2 * error - 0x1p-23f);
    return core_affine_has_room(q->scale, reach);
}

#if CORE_HAS_FMA
/* The integer that x, within the ends, goes to where that is none of the values: n, or a neighbour; rest = x - n*s with
 * |rest| a little above s/2 at most, odd: n is. */
FPEMU_FN realw core_affine_decide(const core_affine_quick *q, int mode, realw x, realw n, realw rest, uintw odd,
                                  uintw r)
{
    const uintw size = core_bits(rest) & ~CARRIER_SIGN, half = core_bits(q->half);
    const realw above = rest > 0 ? 1 : 0, below = rest < 0 ? 1 : 0, to = rest > 0 ? 1 : -1;
    const uintw outward = (uintw)((rest > 0) == (x > 0)); /* beside a tie */
    switch (mode) {
    case FPEMU_MODE_RNE: return n + ((intw)(size + odd) > (intw)half ? to : 0);
    case FPEMU_MODE_RNA: return n + ((intw)(size + outward) > (intw)half ? to : 0);
    case FPEMU_MODE_RNZ: return n + ((intw)(size + (outward ^ 1)) > (intw)half ? to : 0);
    case FPEMU_MODE_RNP: return n + ((intw)(size + (rest > 0)) > (intw)half ? to : 0);
    case FPEMU_MODE_RTZ: return n + (x > 0 ? -below : above);
    case FPEMU_MODE_RAZ: return n + (x > 0 ? above : -below);
    case FPEMU_MODE_RTP: return n + above;
    case FPEMU_MODE_RTN: return n - below;
    case FPEMU_MODE_RTO: return n + (rest > 0 || rest < 0 ? (odd ? 0 : to) : 0);
    default: { /* FPEMU_MODE_SE */
        const realw down = x > 0 ? -below : above, up = x > 0 ? above : -below;
        return n + ((intw)r < 0 ? up : down);
    }
    }
}

/* y for bits u of x; not for FPEMU_MODE_SR. */
FPEMU_FN uintw core_affine_quick_element(const core_affine_quick *q, int mode, uintw u, uintw r)
{
    const realw from = core_value(u), over = from < q->low ? q->low : from, x = over > q->high ? q->high : over;
    const realw estimate = x * q->inverse, sum = estimate + q->shift, n = sum - q->shift;
    const realw rest = CORE_FMA(-n, q->scale, x); /* exact */
    const realw y = core_affine_decide(q, mode, x, n, rest, core_bits(sum) & 1, r) * q->scale;
    const realw kept = mode != FPEMU_MODE_RNE && n * q->scale == x ? x : y; /* a value stays; nearest to it is itself */
    return from != from ? CORE_BY_SIGN(u, q->nan) : core_bits(kept + 0);    /* no -0 */
}

/* y for FPEMU_MODE_SR, random bits r; *open: they do not decide, or x is a NaN. */
FPEMU_FN uintw core_affine_quick_stochastic(const core_affine_quick *q, uintw u, uintw r, uintw *open)
{
#if CARRIER_BITS == 32
    const realw unit = 0x1p24f, random = (realw)(int32_t)(r >> 8); /* what is cut off is less than `close` */
#else
    const realw two = 4503599627370496.0; /* 2^52; conversions from 64 bits have no vector form everywhere */
    const realw unit = 0x1p32, random = core_value(core_bits(two) | r >> 32) - two;
#endif
    const uintw close = core_bits((realw)16);
    const realw from = core_value(u), over = from < q->low ? q->low : from, x = over > q->high ? q->high : over;
    const uintw sign = core_bits(x) & CARRIER_SIGN;
    const realw outward = core_value(core_bits((realw)1) | sign), steps = q->inverse * unit;
    const realw estimate = x * q->inverse, sum = estimate + q->shift, n = sum - q->shift;
    const realw rest = CORE_FMA(-n, q->scale, x); /* exact */
    const realw z = CORE_FMA(rest, core_value(core_bits(steps) ^ sign), random), beyond = z - unit;
    const uintw moves = n * q->scale != x; /* a value stays */
    const realw up = z >= unit ? outward : 0, down = z < 0 ? outward : 0, by = up - down;
    const realw k = moves ? n + by : n;
    *open = (moves &
             ((uintw)((core_bits(z) & ~CARRIER_SIGN) < close) | (uintw)((core_bits(beyond) & ~CARRIER_SIGN) < close))) |
            (uintw)(from != from);
    return core_bits(k * q->scale);
}
#endif

/* Whether core_affine_quick_code and core_affine_quick_value hold. */
FPEMU_FN int core_affine_codes_quickly(const core_coder *c)
{
    const int64_t zero = c->zero_point < 0 ? -c->zero_point : c->zero_point;
    return c->affine && c->bits <= 16 && zero <= 65536 && core_fast_middle(core_bits((realw)c->scale_value));
}

/* Code of y, which is a value of the format: k*s rounded once, and k has at most 18 bits. */
FPEMU_FN uintw core_affine_quick_code(const core_coder *c, realw inverse, uintw u, uintw y)
{
    const realw shift = core_value(core_power(CARRIER_MANTISSA) | CARRIER_HIDDEN >> 1), value = core_value(y);
    const realw estimate = value * inverse, sum = estimate + shift;
    const uintw code = (core_bits(sum) - core_bits(shift) + (uintw)c->zero_point) & (uintw)c->mask;
    return value != value ? (uintw)(u >> (CARRIER_BITS - 1) ? c->nan[1] : c->nan[0]) : code;
}

/* Value of a code, its unused bits 0. */
FPEMU_FN uintw core_affine_quick_value(const core_coder *c, uint32_t code)
{
    const uint32_t top = c->is_signed ? (uint32_t)((c->mask >> 1) + 1) : 0;
    const int32_t q = (int32_t)((code ^ top) - top) - (int32_t)c->zero_point;
    const realw y = (realw)q * (realw)c->scale_value;
    return code == (uint32_t)c->unused ? CARRIER_NAN : core_bits(y);
}

/* Whether the kernel rounds by a plan: by the rule, or as PyTorch does. */
FPEMU_FN int core_affine_is_quick(const core_plan *p)
{
    core_affine_quick q;
    return (p->rule == CORE_RULE_AFFINE_FAST || (p->rule == CORE_RULE_AFFINE && p->compat)) &&
           p->mode < FPEMU_MODE_COUNT && p->nan[0] == p->nan[1] && core_affine_quick_make(&q, p);
}

/* Whether it makes codes of them, or of an even grid, in a mode without random bits or by 32 of them. */
FPEMU_FN int core_integers_code_quickly(const core_plan *p, const core_coder *c)
{
    return (!CORE_DRAWS(p->mode) || (p->mode == FPEMU_MODE_SR && p->n == 32)) && !p->compat && c->nan[0] == c->nan[1] &&
           (p->rule == CORE_RULE_EVEN ? core_fixed_codes_quickly(c)
                                      : core_affine_is_quick(p) && core_affine_codes_quickly(c));
}
