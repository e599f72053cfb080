/* SPDX-License-Identifier: BSD-2-Clause */
/* affine_quick.inc.h - the quick form of affine integers, for one carrier; included by affine_quick.h. */

typedef struct core_affine_quick {
    realw scale, inverse, half; /* s, [1/s], s/2 */
    realw low, high;            /* the ends */
    realw shift;                /* 1.5 * 2^MANT: adding it leaves the integer in the low bits */
    uintw nan[2];
    uintw near;      /* core_affine_quick_near is right where its distance is no more */
    uintw random;    /* core_affine_quick_random likewise */
    uint8_t is_near; /* and they mostly are */
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
    if (p->max[0] >= CARRIER_INF || p->max[1] >= CARRIER_INF || p->zero[0] || p->zero[1] || p->wrap || p->compat)
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
    q->near = core_bits((realw)0.5 - error);
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

/* y to nearest even, where *distance, of the magnitude's bits from an integer, is no more than q->near. Of a NaN it is
 * more. */
FPEMU_FN uintw core_affine_quick_near(const core_affine_quick *q, uintw u, uintw *distance)
{
    const realw from = core_value(u), over = from < q->low ? q->low : from, x = over > q->high ? q->high : over;
    const realw estimate = x * q->inverse, sum = estimate + q->shift, n = sum - q->shift, rest = estimate - n;
    *distance = core_bits(rest) & ~CARRIER_SIGN;
    return core_bits(n * q->scale);
}

/* y for FPEMU_MODE_SR where *distance is no more than q->random: the quotient and the random bits make a sum that is
 * cut toward zero, unless it lies so close to an integer that what was rounded on the way may tell. */
FPEMU_FN uintw core_affine_quick_random(const core_affine_quick *q, uintw u, uintw r, uintw *distance)
{
#if CARRIER_BITS == 32
    const realw unit = 0x1p-24f, random = (realw)(int32_t)(r >> 8);
#else
    const realw two = 4503599627370496.0; /* 2^52; conversions from 64 bits have no vector form everywhere */
    const realw unit = 0x1p-32, random = core_value(core_bits(two) | r >> 32) - two;
#endif
    const realw from = core_value(u), over = from < q->low ? q->low : from, x = over > q->high ? q->high : over;
    const uintw sign = u & CARRIER_SIGN; /* that of x, or x is an end: a value, to which either sign leads */
    const realw inward = core_value(core_bits((realw)-0.5) ^ sign), outward = core_value(core_bits(unit) | sign);
    const realw less = CORE_FMA(x, q->inverse, inward), t = CORE_FMA(random, outward, less);
    const realw sum = t + q->shift, n = sum - q->shift, rest = t - n;
    *distance = core_bits(rest) & ~CARRIER_SIGN;
    return core_bits(n * q->scale);
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

/* Codes of integers straight from numbers, in a mode without random bits or FPEMU_MODE_SR. What counts steps in a
 * number's last bits has no others among those of a code. */
typedef struct core_integer_codes {
    core_affine_quick q; /* of affine integers; of an even grid the ends alone */
    realw count;         /* 1.5 * 2^MANT steps of an even grid, */
    realw steps, halves; /* 2^MANT steps and halves of a step; affine: 1.5 * 2^MANT and the zero point */
    uintw zero, mask;    /* of codes */
    uintw nan;           /* of a NaN */
} core_integer_codes;

/* Whether there is such a form for plan and coder of one call. */
FPEMU_FN int core_integer_codes_make(core_integer_codes *k, const core_plan *p, const core_coder *c)
{
    const int affine = p->rule == CORE_RULE_AFFINE_FAST;
    k->zero = (uintw)c->zero_point;
    k->mask = (uintw)c->mask;
    if ((p->mode > FPEMU_MODE_RTO && p->mode != FPEMU_MODE_SR) || p->compat || c->nan[0] != c->nan[1] ||
        p->nan[0] != p->nan[1])
        return 0;
    if (affine) {
        k->nan = core_affine_quick_code(c, 1 / (realw)c->scale_value, CARRIER_NAN, p->nan[0]);
        if (!core_affine_quick_make(&k->q, p) || !core_affine_codes_quickly(c))
            return 0;
        k->count = k->q.shift;
        k->steps = k->halves = k->q.shift + (realw)c->zero_point;
        return 1;
    }
    if (p->rule != CORE_RULE_EVEN || !core_fixed_codes_quickly(c))
        return 0;
    const uintw steps = p->fast_emin + p->fast_up;
    k->q.low = core_value(p->overflow[1]);
    k->q.high = core_value(p->overflow[0]);
    k->count = core_value(steps | CARRIER_HIDDEN >> 1);
    k->steps = core_value(steps);
    k->halves = core_value(steps - CARRIER_HIDDEN);
    k->nan = core_fixed_quick_code(c, k->count, CARRIER_NAN, p->nan[0]);
    return 1;
}

/* x within the ends; of a NaN it is one. */
FPEMU_FN realw core_integer_within(const core_integer_codes *k, uintw u)
{
    const realw from = core_value(u), over = from < k->q.low ? k->q.low : from;
    return over > k->q.high ? k->q.high : over;
}

/* The code of integer i, perhaps with other bits, for bits u of x. */
FPEMU_FN uintw core_integer_code(const core_integer_codes *k, uintw u, uintw i)
{
    const realw from = core_value(u);
    return from != from ? k->nan : i & k->mask;
}

/* An even grid, while the processor rounds its sums to a side: down for RTN, RTZ, RTO and RNA, up for RTP, RAZ and RNZ.
 * In halves of a step, the two to nearest look at the bit that is left. */
FPEMU_FN uintw core_even_side_code(const core_integer_codes *k, int mode, uintw u)
{
    const realw x = core_integer_within(k, u);
    if (mode == FPEMU_MODE_RTP || mode == FPEMU_MODE_RTN || mode == FPEMU_MODE_RTO) {
        const realw sum = x + k->count, y = sum - k->count;
        const uintw odd = mode == FPEMU_MODE_RTO ? (uintw)(y != x) : 0;
        return core_integer_code(k, u, (core_bits(sum) | odd) + k->zero);
    }
    const uintw bits = core_bits(x), sign = (uintw)((intw)bits >> (CARRIER_BITS - 1));
    const realw to = mode == FPEMU_MODE_RNA || mode == FPEMU_MODE_RNZ ? k->halves : k->steps;
    const realw sum = core_value(bits & ~CARRIER_SIGN) + to;
    const uintw far = core_bits(sum);
    const uintw i = mode == FPEMU_MODE_RNA ? (far + 1) >> 1 : mode == FPEMU_MODE_RNZ ? far >> 1 : far;
    return core_integer_code(k, u, (i ^ sign) - sign + k->zero);
}

#if CORE_HAS_FMA
/* Affine integers to nearest, whatever the tie, where *distance is no more than q.near, as core_affine_quick_near. */
FPEMU_FN uintw core_affine_near_code(const core_integer_codes *k, uintw u, uintw *distance)
{
    const realw estimate = core_integer_within(k, u) * k->q.inverse, sum = estimate + k->steps, n = sum - k->steps;
    const realw rest = estimate - n;
    *distance = core_bits(rest) & ~CARRIER_SIGN;
    return core_bits(sum) & k->mask;
}

/* The same of any number, ties by the mode, as core_affine_decide. */
FPEMU_FN uintw core_affine_nearest_code(const core_integer_codes *k, int mode, uintw u)
{
    const realw x = core_integer_within(k, u), sum = CORE_FMA(x, k->q.inverse, k->count), n = sum - k->count;
    const realw rest = CORE_FMA(-n, k->q.scale, x); /* exact */
    const uintw size = core_bits(rest) & ~CARRIER_SIGN, half = core_bits(k->q.half);
    const uintw inward = (core_bits(rest) ^ core_bits(x)) >> (CARRIER_BITS - 1);
    const uintw odd = mode == FPEMU_MODE_RNE ? core_bits(sum) & 1 : mode == FPEMU_MODE_RNA ? inward ^ 1 : inward;
    const uintw to = (uintw)((intw)core_bits(rest) >> (CARRIER_BITS - 1)) | 1;
    return core_integer_code(k, u, core_bits(sum) + k->zero + ((intw)(size + odd) > (intw)half ? to : 0));
}

/* Affine integers in the modes that look at a side: asked of the values, since rounding k*s to a value keeps the
 * order. */
FPEMU_FN uintw core_affine_side_code(const core_integer_codes *k, int mode, uintw u)
{
    const realw x = core_integer_within(k, u);
    if (mode == FPEMU_MODE_RTZ || mode == FPEMU_MODE_RAZ) {
        const uintw sign = core_bits(x) & CARRIER_SIGN;
        const realw a = core_value(core_bits(x) ^ sign);
        const realw n = CORE_FMA(a, k->q.inverse, k->count) - k->count, value = n * k->q.scale;
        const realw to = mode == FPEMU_MODE_RAZ ? n + (a > value ? 1 : 0) : n - (a < value ? 1 : 0);
        return core_integer_code(k, u, core_bits(core_value(core_bits(to) | sign) + k->steps));
    }
    const realw from = mode == FPEMU_MODE_RTO ? k->count : k->steps;
    const realw sum = CORE_FMA(x, k->q.inverse, from), n = sum - from, value = n * k->q.scale;
    const uintw above = x > value, below = x < value, other = x != value;
    if (mode == FPEMU_MODE_RTO)
        return core_integer_code(k, u, ((core_bits(sum) - below) | other) + k->zero);
    return core_integer_code(k, u, mode == FPEMU_MODE_RTP ? core_bits(sum) + above : core_bits(sum) - below);
}
#endif
