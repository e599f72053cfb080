/* SPDX-License-Identifier: BSD-2-Clause */
/* round_fast.inc.h - the fast forms of one carrier; included by round_fast.h. Magnitudes are compared as signed
 * integers, which every vector instruction set can do. */

FPEMU_FN uintw core_at_most(uintw a, uintw end)
{
    return (intw)a > (intw)end ? end : a;
}

/* `y`, or `instead` where magnitude a lies beyond `end`. */
FPEMU_FN uintw core_beyond(uintw a, uintw end, uintw instead, uintw y)
{
    return (intw)a > (intw)end ? instead : y;
}

/* `y`, or NaN where u is one: two operations, where integers without a sign take one more to compare. */
FPEMU_FN uintw core_unless_nan(const core_plan *p, uintw u, uintw y)
{
    const realw x = core_value(u);
    return x != x ? p->nan[0] : y;
}

/* u, or its magnitude, rounded where the number of discarded bits is p->d_norm for every magnitude: the carry into the
 * exponent makes the next binade, and from the last one infinity. No use for NaN. */
FPEMU_FN uintw core_full_range(const core_plan *p, int mode, uintw u, uintw sign, uintw r)
{
    const uintw low = (p->one << p->d_norm) - 1, half = (p->one << p->d_norm) >> 1;
    switch (mode) {
    case FPEMU_MODE_RNE: u += half - 1 + ((u >> p->d_norm) & 1); break;
    case FPEMU_MODE_RNA: u += half; break;
    case FPEMU_MODE_RNZ: u += half - 1; break;
    case FPEMU_MODE_RNP: u += half - (sign != 0); break;
    case FPEMU_MODE_RAZ: u += low; break;
    case FPEMU_MODE_RTP: u += sign ? 0 : low; break;
    case FPEMU_MODE_RTN: u += sign ? low : 0; break;
    case FPEMU_MODE_RTO: u |= (u & low) + low; break; /* the carry out of the low bits: they were not all zero */
    case FPEMU_MODE_SR: u += r >> ((uintw)CARRIER_BITS - (uintw)p->d_norm); break;
    case FPEMU_MODE_SE: u += low & ((uintw)0 - (r >> (CARRIER_BITS - 1))); break;
    default: break; /* FPEMU_MODE_RTZ */
    }
    return u & ~low;
}

/* Whether the fraction z / 2^32, cut to 32 bits, and the random bits r make 1. */
#if CARRIER_BITS == 32
FPEMU_FN uint32_t core_carry(float z, uint32_t r)
{
    const uint32_t v = (uint32_t)z;
    return (uint32_t)(v + r) < v;
}
#else
FPEMU_FN uint64_t core_carry(double z, uint64_t r)
{
    const double two = 4503599627370496.0; /* 2^52; conversions to 64 bits have no vector form everywhere */
    const double sum = z + two, nearest = sum - two;
    const uint64_t v = (core_bits64(sum) - (uint64_t)(nearest > z)) & 0xffffffffu;
    return (v + (r >> 32)) >> 32;
}
#endif

/* Magnitude a rounded to the grid whose steps c = C counts; not for FPEMU_MODE_SR. */
FPEMU_FN uintw core_shifter_round(int mode, uintw a, uintw c, uintw sign, uintw r)
{
    /* kept apart: some compilers hold expressions in a wider type */
    const realw x = core_value(a), C = core_value(c), sum = x + C, nearest = sum - C;
    if (mode == FPEMU_MODE_RNE)
        return core_bits(nearest);
    uintw t = core_bits(sum);
    if (core_to_nearest(mode) || mode == FPEMU_MODE_RAZ) {
        const realw half = core_value(c - ((uintw)(CARRIER_MANTISSA + 1) << CARRIER_MANTISSA));
        const realw rest = x - nearest; /* exact */
        const uintw up = mode == FPEMU_MODE_RNA || (mode == FPEMU_MODE_RNP && !sign);
        t += mode == FPEMU_MODE_RAZ ? (uintw)(rest > 0) : up & (uintw)(rest >= half);
        t -= mode == FPEMU_MODE_RAZ ? 0 : (up ^ 1) & (uintw)(-rest >= half);
    } else {
        t -= (uintw)(nearest > x);
    }
    if (mode == FPEMU_MODE_RTP || mode == FPEMU_MODE_RTN || mode == FPEMU_MODE_RTO || mode == FPEMU_MODE_SE) {
        const realw below = core_value(t) - C, rest = x - below; /* exact, in [0, step) */
        const uintw inexact = rest > 0;
        switch (mode) {
        case FPEMU_MODE_RTP: t += inexact & (uintw)(sign == 0); break;
        case FPEMU_MODE_RTN: t += inexact & (uintw)(sign != 0); break;
        case FPEMU_MODE_RTO: t |= inexact; break;
        default: t += inexact & (r >> (CARRIER_BITS - 1)); break; /* FPEMU_MODE_SE */
        }
    }
    return core_bits(core_value(t) - C);
}

/* Magnitude a rounded by random bits, to a grid whose smallest step is a power of two with the bits `step`. From there
 * on, the bits that are discarded take up as many of the random ones, shifted to their place: CARRIER_BITS less their
 * number is the exponent field and `low`, at most `most`. */
FPEMU_FN uintw core_stochastic_from(uintw step, intw low, intw most, uintw ones, uintw a, uintw r)
{
    const uintw from = step - CARRIER_HIDDEN, x = (intw)a < (intw)from ? from : a;
    const intw kept = (intw)(x >> CARRIER_MANTISSA) + low;
    const uintw place = (uintw)(kept > most ? most : kept);
    return (x + (r >> place)) & ~(ones >> place);
}

/* Below it: 0, or the step, as a in 2^-32 of it carries; count: 2^32 / step. */
FPEMU_FN uintw core_stochastic_below(uintw step, uintw count, uintw a, uintw r)
{
    const uintw x = core_at_most(a, step - 1);
    return core_carry(core_value(x) * core_value(count), r) ? step : 0;
}

FPEMU_FN uintw core_stochastic_large(const core_plan *p, uintw a, uintw r)
{
    return core_stochastic_from(p->low_one, p->fast_low, p->fast_most, p->ones, a, r);
}

FPEMU_FN uintw core_stochastic_small(const core_plan *p, uintw a, uintw r)
{
    return core_stochastic_below(p->low_one, p->fast_count, a, r);
}

/* Of the two, chosen last: what is done to them before may then be done at the same time. */
FPEMU_FN uintw core_stochastic_by(const core_plan *p, uintw a, uintw small, uintw large)
{
    return (intw)a < (intw)p->low_one ? small : large;
}

FPEMU_FN uintw core_stochastic(const core_plan *p, uintw a, uintw r)
{
    return core_stochastic_by(p, a, core_stochastic_small(p, a, r), core_stochastic_large(p, a, r));
}

/* C for magnitude a. */
FPEMU_FN uintw core_shifter_c(const core_plan *p, uintw a)
{
    const uintw e = a & CARRIER_INF;
    return ((intw)e < (intw)p->fast_emin ? p->fast_emin : e) + p->fast_up;
}

/* As grid below 2^fast_cap. */
FPEMU_FN uintw core_below_cap(const core_plan *p, int mode, uintw a, uintw sign, uintw r)
{
    return mode == FPEMU_MODE_SR ? core_stochastic(p, a, r)
                                 : core_shifter_round(mode, a, core_shifter_c(p, a), sign, r);
}

/* The same, and from there on some value beyond the ends. */
FPEMU_FN uintw core_shifter(const core_plan *p, int mode, uintw a, uintw sign, uintw r)
{
    return core_below_cap(p, mode, mode == FPEMU_MODE_SR ? a : core_at_most(a, p->fast_cap), sign, r);
}

/* The finished result where what overflows, and infinity, become one and the same, with the input's sign or NaN. */
FPEMU_FN uintw core_element_pass(const core_plan *p, int mode, uintw u, uintw r)
{
    const uintw sign = u & CARRIER_SIGN, a = u ^ sign;
    if (!CORE_DRAWS(mode)) { /* whether x overflows is known beforehand */
        const uintw g = core_shifter_round(mode, a, core_shifter_c(p, a), sign, r);
        return core_beyond(a, p->fast_nan, p->nan[0], core_beyond(a, p->past[0], p->overflow[0], g) | sign);
    }
    const int stochastic = mode == FPEMU_MODE_SR;
    const uintw g = stochastic ? core_stochastic_large(p, a, r) : core_shifter(p, mode, a, sign, r);
    uintw y = g > p->max[0] ? p->nan[0] : g | sign; /* NaN is beyond the end too */
    if (p->fast_nan == CARRIER_INF)
        y = core_beyond(a, CARRIER_INF, p->nan[0], core_beyond(g, p->max[0], CARRIER_INF, g) | sign);
    return stochastic ? core_stochastic_by(p, a, core_stochastic_small(p, a, r) | sign, y) : y;
}

/* The finished result where what overflows becomes the largest value. */
FPEMU_FN uintw core_element_stop(const core_plan *p, int mode, uintw u, uintw r)
{
    const uintw sign = u & CARRIER_SIGN, a = u ^ sign, x = core_at_most(a, p->max[0]);
    const uintw y = core_below_cap(p, mode, x, sign, r) | sign;
    return core_beyond(a, CARRIER_INF, p->nan[0], y);
}

/* The same, but infinity does not. */
FPEMU_FN uintw core_element_stop_inf(const core_plan *p, int mode, uintw u, uintw r)
{
    const uintw sign = u & CARRIER_SIGN, infinite = p->infinite[0] | (p->infinite[1] & sign);
    const uintw y = core_element_stop(p, mode, u, r);
    return (u ^ sign) == CARRIER_INF ? infinite : y;
}

/* The finished result of an even grid whose ends hold what overflows and what is infinite. */
FPEMU_FN uintw core_element_even(const core_plan *p, int mode, uintw u, uintw r)
{
    const uintw sign = u & CARRIER_SIGN, a = u ^ sign, c = p->fast_emin + p->fast_up;
    if (mode == FPEMU_MODE_RNE) { /* with C and half of it, negative numbers count too */
        const realw high = core_value(p->overflow[0]), low = core_value(p->overflow[1]);
        realw x = core_value(u);
        x = x < low ? low : x;
        x = x > high ? high : x;
        const realw C = core_value(c | CARRIER_HIDDEN >> 1), sum = x + C, y = sum - C;
        return core_unless_nan(p, u, core_bits(y));
    }
    const uintw x = core_at_most(a, CORE_BY_SIGN(u, p->max));
    const uintw g = mode == FPEMU_MODE_SR ? core_stochastic(p, x, r) : core_shifter_round(mode, x, c, sign, r);
    const realw y = core_value(g | sign) + 0; /* -0 becomes 0 */
    return core_beyond(a, CARRIER_INF, p->nan[0], core_bits(y));
}

/* Whether core_element_wrapped does what the plan asks, after core_choose_fast. */
FPEMU_FN int core_wraps_quickly(const core_plan *p)
{
    return p->wrap && p->rule == CORE_RULE_FLOAT && p->fast_cap && !p->compat && p->mode < FPEMU_MODE_COUNT &&
           p->bits <= 30 && p->zero_point >= -65536 && p->zero_point <= 65536;
}

/* The finished result of an even grid that wraps; step: the grid's. */
FPEMU_FN uintw core_element_wrapped(const core_plan *p, int mode, uintw u, uintw r)
{
    const uintw sign = u & CARRIER_SIGN, a = u ^ sign, c = p->fast_emin + p->fast_up;
    const uintw x = core_at_most(a, c - 1), zero = (uintw)p->zero_point;
    const uintw mask = p->ones >> (CARRIER_BITS - p->bits), top = p->is_signed ? (mask >> 1) + 1 : 0;
    const uintw g = mode == FPEMU_MODE_SR ? core_stochastic(p, x, r) : core_shifter_round(mode, x, c, sign, r);
    const uintw k = core_bits(core_value(g) + core_value(c)) - c; /* the steps of x; from c on, those of a itself: */
    const intw left = (intw)(a >> CARRIER_MANTISSA) - (intw)(c >> CARRIER_MANTISSA);
    const uintw shifted = ((a & (CARRIER_HIDDEN - 1)) | CARRIER_HIDDEN) << ((uintw)left & (CARRIER_BITS - 1));
    const uintw many = left < CARRIER_BITS ? shifted : 0, steps = left < 0 ? k : many;
    const uintw code = ((sign ? 0 - steps : steps) + zero) & mask, q = (code ^ top) - top - zero;
    const uintw y = core_bits((realw)(int32_t)q * core_value(p->low_one));
    const uintw z = a == CARRIER_INF ? CORE_BY_SIGN(u, p->infinite) : y;
    return core_beyond(a, CARRIER_INF, CORE_BY_SIGN(u, p->nan), z);
}

/* As finish where the full-range form passes over into infinity by itself. */
FPEMU_FN uintw core_element_full_range(const core_plan *p, int mode, uintw u, uintw r)
{
    const uintw sign = u & CARRIER_SIGN;
    return core_unless_nan(p, u, core_full_range(p, mode, u, sign, r));
}

/* Largest magnitude of a positive number that does not overflow in a mode that does not stop there. */
FPEMU_FN uintw core_last_inside(const core_plan *p)
{
    const uintw max = p->max[0], half = ((uintw)1 << p->d_norm) >> 1;
    switch (p->mode) {
    case FPEMU_MODE_RNE: return max + half - ((max >> p->d_norm) & 1);
    case FPEMU_MODE_RNP:
    case FPEMU_MODE_RNA: return max + half - 1;
    case FPEMU_MODE_RNZ: return max + half;
    default: return max; /* FPEMU_MODE_RAZ; not used for SR and SE */
    }
}

/* Whether core_element_power does what the plan asks: that of e8m0, powers of two from 2^-127 on and nothing else. */
FPEMU_FN int core_rounds_to_powers(const core_plan *p)
{
    return p->rule == CORE_RULE_ANY && p->negative && !p->compat && p->mode < FPEMU_MODE_COUNT &&
           p->d_norm == CARRIER_MANTISSA && p->p1 == 1 && !p->odd && p->in_min == p->emin_bits && !p->out_min &&
           p->zero[0] == p->emin_bits && p->zero[1] == p->emin_bits && p->emin_bits == core_power(-127) &&
           p->nan[0] == p->negative && p->nan[1] == p->negative;
}

/* The last number that does not become the NaN; of the stochastic modes the last before infinity may. */
FPEMU_FN uintw core_last_power(const core_plan *p)
{
    if (p->infinite[0] == p->max[0])
        return CARRIER_INF;
    return p->overflow[0] == p->max[0] || CORE_DRAWS(p->mode) ? CARRIER_INF - 1 : core_last_inside(p);
}

/* The finished result; last: as above. What lies below 2^-127 is as good as 2^-127. If that is half of the carrier's
 * smallest normal, numbers below 2^-126 are doubled and lose that normal, which makes them a binade like the others,
 * its code 0. */
FPEMU_FN uintw core_element_power(const core_plan *p, uintw last, int mode, uintw u, uintw r)
{
    const realw from = core_value(u) + 0; /* -0 becomes 0 */
    const uintw a = core_bits(from), least = p->emin_bits;
    const intw normal = (intw)(a - CARRIER_HIDDEN), below = normal > 0 ? 0 : normal;
    const uintw g = core_full_range(p, mode, a + (uintw)below, 0, r), y = (intw)g < (intw)least ? least : g;
    const uintw end = CORE_DRAWS(mode) ? core_beyond(g, p->max[0], p->overflow[0], y) : core_at_most(y, p->max[0]);
    return a > last ? p->negative : end; /* NaN and negative numbers too */
}

/* Only the value on the grid. */
FPEMU_FN uintw core_element_full_range_grid(const core_plan *p, int mode, uintw u, uintw r)
{
    const uintw sign = u & CARRIER_SIGN;
    return core_full_range(p, mode, u ^ sign, sign, r);
}

FPEMU_FN uintw core_element_shifter_grid(const core_plan *p, int mode, uintw u, uintw r)
{
    const uintw sign = u & CARRIER_SIGN;
    return core_shifter(p, mode, u ^ sign, sign, r);
}

/* Finds p->past of a plan for lib/kernel; 0 where such magnitudes do not tell all of its ends. */
FPEMU_FN int core_find_past(core_plan *p)
{
    const int shifter = p->rule >= CORE_RULE_SHIFTER_PASS && p->rule <= CORE_RULE_SHIFTER_GRID;
    if ((!shifter && p->rule != CORE_RULE_FULL_RANGE_GRID) || p->mode >= FPEMU_MODE_COUNT || p->wrap || p->zero[0] ||
        (p->zero[1] & ~CARRIER_SIGN))
        return 0;
    for (int s = 0; s < 2; s++) {
        const uintw max = p->max[s];
        const intw d = max < p->emin_bits ? p->d_low - (intw)(max >> CARRIER_MANTISSA) : p->d_norm;
        if (max < CARRIER_HIDDEN || max >= CARRIER_INF || d < 1 || d >= CARRIER_MANTISSA)
            return 0;
        const uintw step = (uintw)1 << d, odd = (max >> d) & 1, cut = max + step - 1;
        switch (p->mode) {
        case FPEMU_MODE_RNE: p->past[s] = max + step / 2 - odd; break;
        case FPEMU_MODE_RNA: p->past[s] = max + step / 2 - 1; break;
        case FPEMU_MODE_RNZ: p->past[s] = max + step / 2; break;
        case FPEMU_MODE_RNP: p->past[s] = max + step / 2 - !s; break;
        case FPEMU_MODE_RTZ: p->past[s] = cut; break;
        case FPEMU_MODE_RTP: p->past[s] = s ? cut : max; break;
        case FPEMU_MODE_RTN: p->past[s] = s ? max : cut; break;
        case FPEMU_MODE_RTO: p->past[s] = odd ? cut : max; break;
        default: p->past[s] = max; break;
        }
    }
    return 1;
}

/* Chooses a fast form for a plan whose rule is CORE_RULE_FLOAT, if there is one. */
FPEMU_FN void core_choose_rule(core_plan *p, const fpemu_format *f)
{
    const int mode = p->mode;
    if (mode >= FPEMU_MODE_COUNT || p->rule != CORE_RULE_FLOAT)
        return;
    const uintw max = p->max[0], past[2] = {p->overflow[0], p->overflow[1]};
    const uintw infinite[2] = {p->infinite[0], p->infinite[1]};
    const int one_nan = p->nan[0] == p->nan[1], mirrored = one_nan && p->zero[1] == CARRIER_SIGN && max == p->max[1];
    const int stops = mirrored && past[0] == max && past[1] == (max | CARRIER_SIGN);
    const int passes = mirrored && past[0] == infinite[0] && past[1] == infinite[1] && past[0] >= CARRIER_INF &&
                       (past[1] == (past[0] | CARRIER_SIGN) || (past[1] == past[0] && past[0] == p->nan[0]));
    int m, emin, emax; /* of the float whose steps these are; fixed point: all of it is below 2^emin */
    if (f->kind == FPEMU_KIND_FLOAT) {
        m = (int)f->mantissa_bits;
        emin = f->emin;
        emax = f->emax;
        if (m < 1 || m > CARRIER_MANTISSA - 2 || f->exponent_bits < 2 || f->subnormals != FPEMU_SUBNORMALS_KEEP)
            return;
        if (emin == 1 - CARRIER_BIAS) {
            int natural = mirrored && max + ((uintw)1 << p->d_norm) == CARRIER_INF;
            for (int s = 0; s < 2; s++) {
                const uintw signed_infinity = s ? CARRIER_INF | CARRIER_SIGN : CARRIER_INF;
                natural &=
                    infinite[s] == signed_infinity && (past[s] == signed_infinity || core_stops_at_max(f, mode, s));
            }
            p->rule = natural ? CORE_RULE_FULL_RANGE : CORE_RULE_FULL_RANGE_GRID;
            return;
        }
    } else {
        m = CARRIER_MANTISSA - 1;
        emin = p->quantum + m;
        emax = emin;
        if (f->bits > CARRIER_MANTISSA - 1)
            return;
    }
    /* room for C above, for half a step below and for 2^32 / step */
    if (emax + 1 + CARRIER_MANTISSA - m > CARRIER_BIAS || emin - m < 2 - CARRIER_BIAS || emin + CARRIER_BIAS < 32 + m)
        return;
    p->fast_cap = core_power(emax + 1);
    p->fast_emin = core_power(emin);
    p->fast_up = (uintw)(CARRIER_MANTISSA - m) << CARRIER_MANTISSA;
    p->fast_low = CARRIER_BITS - (emin - m + CARRIER_BIAS + CARRIER_MANTISSA);
    p->fast_most = CARRIER_BITS - (CARRIER_MANTISSA - m);
    p->fast_count = core_power(32 - (emin - m));
    if (p->wrap) /* its rule stays; core_wraps_quickly asks for what was made */
        return;
    p->rule = CORE_RULE_SHIFTER_GRID;
    if (f->kind != FPEMU_KIND_FLOAT) {
        if (one_nan && !p->zero[1] && past[0] == max && past[1] == (p->max[1] ? p->max[1] | CARRIER_SIGN : 0) &&
            infinite[0] == past[0] && infinite[1] == past[1])
            p->rule = CORE_RULE_EVEN;
    } else if (stops && infinite[0] == past[0] && infinite[1] == past[1]) {
        p->rule = CORE_RULE_SHIFTER_STOP;
    } else if (stops && (mode == FPEMU_MODE_RNE || mode == FPEMU_MODE_RTZ || mode == FPEMU_MODE_RTO)) {
        p->rule = CORE_RULE_SHIFTER_STOP_INF;
    } else if (passes && (mode <= FPEMU_MODE_RNZ || mode == FPEMU_MODE_RAZ || CORE_DRAWS(mode))) {
        p->rule = CORE_RULE_SHIFTER_PASS;
        p->past[0] = core_last_inside(p);
        p->fast_nan = past[1] == past[0] ? p->past[0] : CARRIER_INF;
    }
}

FPEMU_FN void core_choose_fast(core_plan *p, const fpemu_format *f)
{
    core_choose_rule(p, f);
    p->has_ends = (uint8_t)core_find_past(p);
}

#if CARRIER_BITS == 32
/* Whether this is binary16 as IEEE 754 has it, to nearest: processors convert to it. */
FPEMU_FN int core_is_binary16(const core_plan32 *p)
{
    return p->rule == CORE_RULE_SHIFTER_PASS && p->mode == FPEMU_MODE_RNE && p->fast_nan == CARRIER_INF &&
           p->low_one == core_power32(-24) && p->d_norm == 13 && p->max[0] == core_bits32(65504.0f);
}
#endif

/* Codes of floats and of an even grid to nearest even, straight from the number whose last bits count steps. */
typedef struct core_direct {
    uint8_t even;
    uintw count, zero, mask; /* even: that number, what the code of 0 is, and the bits of a code */
    realw low, high;         /* and the ends */
    uintw emin, up;          /* as fast_emin and fast_up */
    uintw drop;              /* discarded bits */
    uintw end, past;         /* what lies beyond this magnitude has this code, and a sign */
    uintw nan_end, nan;      /* the same, without a sign */
    uintw sign, to_sign;     /* the sign bit of a code, and by how much to shift the carrier's for it */
} core_direct;

/* Whether there is such a form for plan and coder of one call. */
FPEMU_FN int core_direct_make(core_direct *d, const core_plan *p, const core_coder *c)
{
    const int stops = p->rule == CORE_RULE_SHIFTER_STOP;
    d->even = p->rule == CORE_RULE_EVEN && p->mode == FPEMU_MODE_RNE && !p->compat;
    d->nan = (uintw)core_encode(c, CARRIER_NAN, p->nan[0]);
    if (d->even) {
        d->count = (p->fast_emin + p->fast_up) | CARRIER_HIDDEN >> 1; /* with half of it, negative numbers count too */
        d->zero = (uintw)p->zero_point - d->count;
        d->mask = (uintw)c->mask;
        d->high = core_value(p->overflow[0]);
        d->low = core_value(p->overflow[1]);
        return c->nan[0] == c->nan[1];
    }
    if ((!stops && p->rule != CORE_RULE_SHIFTER_PASS) || p->mode != FPEMU_MODE_RNE || !c->fast_encode ||
        c->d_norm >= CARRIER_MANTISSA ||                             /* binades of one step, whose codes are odd */
        (p->fast_cap - p->fast_emin) >> c->d_norm >= CARRIER_HIDDEN) /* all of a code must fit a fraction */
        return 0;
    d->emin = p->fast_emin;
    d->up = p->fast_up;
    d->drop = (uintw)c->d_norm;
    d->end = stops ? p->max[0] : p->past[0];
    d->nan_end = stops ? CARRIER_INF : p->fast_nan;
    d->past = (uintw)core_encode(c, CARRIER_INF, p->overflow[0]);
    d->sign = (uintw)c->sign;
    d->to_sign = (uintw)CARRIER_BITS - c->bits;
    return 1;
}

FPEMU_FN uintw core_direct_code(const core_direct *d, uintw u)
{
    const uintw a = u & ~CARRIER_SIGN, field = a & CARRIER_INF;
    const uintw e = (intw)field < (intw)d->emin ? d->emin : field, c = e + d->up;
    const realw sum = core_value(a) + core_value(c);
    const uintw code = core_bits(sum) - c + ((e - d->emin) >> d->drop);
    return core_beyond(a, d->nan_end, d->nan, core_beyond(a, d->end, d->past, code) | (u >> d->to_sign & d->sign));
}

/* Whether numbers past the end have the end's own code. */
FPEMU_FN int core_direct_stops(const core_direct *d)
{
    return d->even || (d->nan_end == CARRIER_INF && core_direct_code(d, d->end) == d->past);
}

FPEMU_FN uintw core_direct_even_code(const core_direct *d, uintw u)
{
    const realw from = core_value(u), over = from < d->low ? d->low : from, x = over > d->high ? d->high : over;
    const uintw code = (core_bits(x + core_value(d->count)) + d->zero) & d->mask;
    return from != from ? d->nan : code;
}

/* Whether core_fixed_quick_code and core_fixed_quick_value hold. */
FPEMU_FN int core_fixed_codes_quickly(const core_coder *c)
{
    return (c->kind == FPEMU_KIND_FIXED || c->kind == FPEMU_KIND_INT) && !c->affine && c->bits <= 20 &&
           c->quantum >= -100 && c->quantum <= 80 && c->zero_point >= -1048576 && c->zero_point <= 1048576;
}

/* Code of y, a value; `count`: 1.5 * 2^MANT steps. */
FPEMU_FN uintw core_fixed_quick_code(const core_coder *c, realw count, uintw u, uintw y)
{
    const realw value = core_value(y), sum = value + count;
    const uintw code = (core_bits(sum) - core_bits(count) + (uintw)c->zero_point) & (uintw)c->mask;
    return value != value ? (uintw)(u >> (CARRIER_BITS - 1) ? c->nan[1] : c->nan[0]) : code;
}

/* Value of a code, its unused bits 0. */
FPEMU_FN uintw core_fixed_quick_value(const core_coder *c, realw step, uint32_t code)
{
    const uint32_t top = c->is_signed ? (uint32_t)((c->mask >> 1) + 1) : 0;
    const int32_t q = (int32_t)((code ^ top) - top) - (int32_t)c->zero_point;
    return code == (uint32_t)c->unused ? CARRIER_NAN : core_bits((realw)q * step);
}
