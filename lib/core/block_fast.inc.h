/* SPDX-License-Identifier: BSD-2-Clause */
/* block_fast.inc.h - the fast forms of one carrier; included by block_fast.h. */

typedef struct core_pow2_block {
    uintw least, most;                    /* amax between these, or 0: the form holds */
    uintw emin, up;                       /* as fast_emin and fast_up of a plan */
    uintw step, count;                    /* sr: the smallest step for the scale 1, and 2^32 / step, as bits */
    intw stochastic_low, stochastic_most; /* as fast_low and fast_most */
    uintw ones;        /* all bits; read from here because gcc 12 vectorises 64-bit shifts of variables only */
    uintw shift;       /* fixed point: 3 * 2^(MANT - 1) steps, as bits: adding it rounds */
    uintw max, lowest; /* magnitudes of the ends */
    uintw emax;        /* in the exponent's place */
    uintw half;        /* rule even: half a step of the element's precision */
    realw inverse;     /* [1/M] */
    uint8_t rule, usable;
} core_pow2_block;

/* b of format f, whose elements saturate; mode: core_mode of the rounding. */
FPEMU_FN core_pow2_block core_pow2_block_make(const core_block *b, const fpemu_format *f, int mode)
{
    core_pow2_block q;
    const int is_float = f->kind == FPEMU_KIND_FLOAT;
    const int fixed = f->kind == FPEMU_KIND_FIXED || (f->kind == FPEMU_KIND_INT && f->zero_point == 0);
    memset(&q, 0, sizeof q);
    int quantum = f->quantum;
    if (mode >= FPEMU_MODE_COUNT || b->rule < FPEMU_SCALING_FLOOR || b->rule > FPEMU_SCALING_HBFP || !b->near ||
        f->target > 0)
        return q;
    if (f->kind == FPEMU_KIND_INT && !core_int_is_grid(f, &quantum))
        return q;
    const int m = is_float ? (int)f->mantissa_bits : CARRIER_MANTISSA - 1, emin = is_float ? f->emin : quantum + m;
    if (is_float ? m < 1 || m > CARRIER_MANTISSA - 1 || f->exponent_bits < 2 ||
                       f->subnormals != FPEMU_SUBNORMALS_KEEP || !f->has_negative_zero || !f->is_signed ||
                       f->lowest > -f->max || f->lowest < -f->max || f->specials == FPEMU_SPECIALS_DLFLOAT
                 : !fixed || !f->is_signed || f->bits > CARRIER_MANTISSA - 3)
        return q;
    /* the ends of c: the smallest step is normal; to nearest even that will do, other modes use 2^32 / step */
    const int low = mode == FPEMU_MODE_RNE ? 1 - CARRIER_BIAS - (emin - m) : 32 + m - CARRIER_BIAS - emin;
    int high = CARRIER_BIAS - (b->emax + CARRIER_MANTISSA + 1);
    high = high < CARRIER_BIAS - 1 ? high : CARRIER_BIAS - 1; /* 2^-c is a normal number, which packing multiplies by */
    /* those of floor(log2 amax), from which c + emax differs by one at most; amax and amax / M are normal */
    const int normal = 2 - CARRIER_BIAS + (b->emax > 0 ? b->emax : 0);
    int least = (b->first > low ? b->first : low) + b->emax + 1;
    int most = (b->last < high ? b->last : high) + b->emax - 1;
    if (b->rule == FPEMU_SCALING_RCEIL && most > CARRIER_BIAS + b->emax)
        most = CARRIER_BIAS + b->emax; /* amax * [1/M] is finite */
    least = least < normal ? normal : least;
    if (least >= most)
        return q;
    q.least = core_power(least);
    q.most = core_power(most);
    q.emin = core_power(emin);
    q.up = (uintw)(CARRIER_MANTISSA - m) << CARRIER_MANTISSA;
    q.step = (uintw)(emin - m + CARRIER_BIAS)
             << CARRIER_MANTISSA; /* with a power added to it a normal number, as count */
    q.count = (uintw)(32 - (emin - m) + CARRIER_BIAS) << CARRIER_MANTISSA;
    q.stochastic_low = CARRIER_BITS - (emin - m + CARRIER_BIAS + CARRIER_MANTISSA);
    q.stochastic_most = CARRIER_BITS - (CARRIER_MANTISSA - m);
    q.ones = ~(uintw)0;
    q.shift = is_float ? 0 : core_bits(3 * core_value(core_power(quantum + CARRIER_MANTISSA - 1)));
    q.max = core_from_double(f->max);
    q.lowest = core_from_double(-f->lowest);
    q.emax = (uintw)(b->emax + CARRIER_BIAS) << CARRIER_MANTISSA;
    q.half = b->precision <= CARRIER_MANTISSA ? CARRIER_HIDDEN >> b->precision : 0;
    q.inverse = b->inverse;
    q.rule = b->rule;
    q.usable = 1;
    return q;
}

/* c << MANT for a block whose largest magnitude is a. */
FPEMU_FN uintw core_pow2_power(const core_pow2_block *q, int rule, uintw a)
{
    const uintw low = CARRIER_HIDDEN - 1;
    uintw c;
    switch (rule) {
    case FPEMU_SCALING_CEIL: c = ((a + low) & ~low) - q->emax; break;
    case FPEMU_SCALING_HBFP: c = ((a + low) & ~low) - q->emax - CARRIER_HIDDEN; break;
    case FPEMU_SCALING_EVEN: c = ((a + q->half) & ~low) - q->emax; break;
    case FPEMU_SCALING_RCEIL: {
        const realw ratio = core_value(a) * q->inverse;
        c = ((core_bits(ratio) + low) & ~low) - ((uintw)CARRIER_BIAS << CARRIER_MANTISSA);
        break;
    }
    default: c = (a & ~low) - q->emax; break;
    }
    return a == 0 ? 0 : c;
}

/* Whether the form holds for a block whose largest magnitude is a. */
FPEMU_FN uintw core_pow2_holds(const core_pow2_block *q, uintw a)
{
    return (uintw)(a - q->least <= q->most - q->least) | (uintw)(a == 0);
}

/* Magnitude a on the grid of a block with the scale 2^c, power = c << MANT; c_ = C of core_shifter_round. */
FPEMU_FN uintw core_pow2_grid(const core_pow2_block *q, int mode, uintw a, uintw c_, uintw sign, uintw power, uintw r)
{
    if (mode != FPEMU_MODE_SR)
        return core_shifter_round(mode, a, c_, sign, r);
    const uintw step = q->step + power;
    const intw low = q->stochastic_low - ((intw)power >> CARRIER_MANTISSA);
    const uintw small = core_stochastic_below(step, q->count - power, a, r);
    const uintw large = core_stochastic_from(step, low, q->stochastic_most, q->ones, a, r);
    return (intw)a < (intw)step ? small : large;
}

/* Bits of y for bits u of x in a block with the scale 2^c, power = c << MANT. */
FPEMU_FN uintw core_pow2_float(const core_pow2_block *q, int mode, uintw u, uintw power, uintw r)
{
    const uintw sign = u & CARRIER_SIGN, a = u ^ sign, e = a & CARRIER_INF, emin = q->emin + power;
    const uintw c = ((intw)e < (intw)emin ? emin : e) + q->up;
    return core_at_most(core_pow2_grid(q, mode, a, c, sign, power, r), q->max + power) | sign;
}

/* The same of fixed point to nearest even, by three numbers of the block. */
FPEMU_FN uintw core_pow2_nearest(realw x, realw shift, realw max, realw lowest)
{
    const realw sum = x + shift, nearest = sum - shift, y = nearest < max ? nearest : max;
    return core_bits(y > lowest ? y : lowest);
}

FPEMU_FN uintw core_pow2_fixed(const core_pow2_block *q, int mode, uintw u, uintw power, uintw r)
{
    const uintw sign = u & CARRIER_SIGN;
    const realw x = core_value(u), max = core_value(q->max + power);
    const realw lowest = core_value((q->lowest + power) | CARRIER_SIGN);
    if (mode == FPEMU_MODE_RNE)
        return core_pow2_nearest(x, core_value(q->shift + power), max, lowest);
    realw y =
        core_value(core_pow2_grid(q, mode, u ^ sign, q->emin + q->up + power, sign, power, r) | sign) + 0; /* no -0 */
    y = y < max ? y : max;
    return core_bits(y > lowest ? y : lowest);
}

/* ------------------------------------------------------------------------------------------ other scales */

/* Whether core_fast_quotient serves elements of format f. */
FPEMU_FN int core_fast_quotients(const fpemu_format *f)
{
    return f->min_positive >= core_value64(core_power64((CARRIER_BIAS + 1) / 2 + CARRIER_MANTISSA + 3 - CARRIER_BIAS));
}

/* Whether magnitude a is far from both ends of the carrier: core_fast_quotient gives [a/s] for every two such numbers,
 * for nothing comes to lie at an end meanwhile. */
FPEMU_FN uintw core_fast_middle(uintw a)
{
    const int end = (CARRIER_BIAS + 1) / 16 * 7;
    const uintw least = core_power(-end), most = core_power(end);
    return (uintw)((intw)a >= (intw)least) & (uintw)((intw)a <= (intw)most);
}

/* [x/s] for inverse = [1/s]; a zero for inverse = 0. */
FPEMU_FN realw core_fast_quotient(realw x, realw s, realw inverse)
{
#if CORE_HAS_FMA
    const realw q = x * inverse, rest = CORE_FMA(-q, s, x);
    return CORE_FMA(rest, inverse, q);
#else
    return inverse > 0 ? x / s : x * inverse;
#endif
}
