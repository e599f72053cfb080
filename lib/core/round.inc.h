/* SPDX-License-Identifier: BSD-2-Clause */
/* round.inc.h - the rounding rule for one carrier; included by round.h.
 *
 * Numbers are bit patterns: u = sign | magnitude; E the exponent field; emin, quantum and so on as in doc/numerics.md.
 * With d discarded bits of the significand, k = significand >> d and v = remainder / 2^d are the k and v of the
 * definition there, and adding 2^d to the magnitude's bits is the step from k to k + 1, carry into the exponent
 * included. */

/* a if the sign bit of u is clear, else b; a mask, because vector loops cannot index. */
#define CORE_BY_SIGN(u, pair) ((pair)[0] ^ (((pair)[0] ^ (pair)[1]) & (uintw) - (intw)((u) >> (CARRIER_BITS - 1))))

/* What the rule needs of (format, rounding), made once a call by plan.h. [2] is by sign: 0 positive, 1 negative. */
typedef struct core_plan {
    /* grid of floats and fixed point */
    intw emin_field; /* carrier exponent field of 2^emin; <= 0 where the carrier is subnormal there; fixed point:
                             above every field, the low grid holds everywhere */
    uintw emin_bits; /* 2^emin as bits: magnitudes below take the low grid */
    intw d_norm;     /* discarded bits from 2^emin on */
    intw d_low;      /* discarded bits below 2^emin, plus the exponent field (1 for carrier subnormals) */
    uintw low_one;   /* the low grid's step, as bits */
    uintw p1, odd;   /* parity of k = 1: (E * p1 + odd) & 1, so that at p = 1 the code's parity decides; CORE_HIF8_P1 */
    uintw in_min;    /* magnitudes below become zero before rounding */
    uintw out_min;   /* results below become zero */
    uintw one;       /* 1; read from here because gcc 12 vectorises 64-bit shifts of variables only */
    uintw negative;  /* e8m0: what a negative becomes, under ml_dtypes zero too; 0 elsewhere */
    uintw fast_cap, fast_emin, fast_up, fast_nan, fast_count, ones; /* round_fast.h; all bits */
    intw fast_low, fast_most;
    /* where has_ends: magnitudes beyond overflow, of x or, in the stochastic modes, of its value on the grid */
    uintw past[2];
    /* posit */
    uintw posit_n, posit_es, posit_min, posit_max;
    /* finish */
    uintw max[2];                                    /* largest magnitude; all ones = no end */
    uintw overflow[2], infinite[2], nan[2], zero[2]; /* results, sign included */
    uintw min_normal;                                /* for the counter of subnormal results */
    /* fixed point that wraps, and codes of integers */
    int32_t quantum;    /* the step is 2^quantum */
    uint32_t bits;      /* width of a code */
    int64_t zero_point; /* code of zero in an affine integer */
    uint8_t wrap, is_signed, any, has_ends;
    uint8_t rule;   /* enum core_rule */
    uint8_t mode;   /* fpemu_mode, CORE_SR_B or CORE_SR_C */
    uint8_t n;      /* random bits */
    uint8_t compat; /* fpemu_compat, where it acts on this format and mode; else 0 */
    /* affine: scale = scale_sig * 2^scale_exp, scale_sig in [2^52, 2^53) */
    uint64_t scale_sig;
    double scale_value;
    int64_t q_min, q_max;
    int32_t scale_exp;
    int32_t fraction_bits; /* fixed point, for FPEMU_COMPAT_QPYTORCH */
    intw pre_d; /* floats, for FPEMU_COMPAT_QPYTORCH: as d_low, of the rounding that comes first below 2^emin */
} core_plan;

/* (exact) magnitude of 2^e as bits; e within the carrier's range, its subnormals included. */
FPEMU_FN uintw core_power(int e)
{
    return e >= 1 - CARRIER_BIAS ? (uintw)(e + CARRIER_BIAS) << CARRIER_MANTISSA
                                 : (uintw)1 << (e + CARRIER_BIAS - 1 + CARRIER_MANTISSA);
}

/* By how much the carrier's subnormal a must be shifted left for its highest bit to become the hidden one. The
 * subtraction is exact in any floating-point environment and, unlike a count of zeros, has a vector form everywhere. */
FPEMU_FN intw core_subnormal_shift(uintw a)
{
    const uintw two = (uintw)(CARRIER_BIAS + CARRIER_MANTISSA) << CARRIER_MANTISSA; /* 2^CARRIER_MANTISSA */
    const uintw integer = core_bits(core_value(two | (a & (CARRIER_HIDDEN - 1))) - core_value(two));
    return CARRIER_MANTISSA - ((intw)(integer >> CARRIER_MANTISSA) - CARRIER_BIAS);
}

/* up = 1 for significand `sig` with d discarded bits; r left-aligned random bits, n of them; `one` as in the plan. */
FPEMU_FN uintw core_up(int mode, int n, uintw one, uintw sig, intw d, uintw odd_mask, uintw sign, uintw r)
{
    if (!CORE_DRAWS(mode)) {
        const intw shift = d > CARRIER_BITS - 2 ? CARRIER_BITS - 2 : d; /* beyond, k = 0 and v < 1/2 all the same */
        const uintw step = one << shift, rest = sig & (step - 1), odd = (sig >> shift) & odd_mask;
        switch (mode) {
        case FPEMU_MODE_RNE: return 2 * rest + odd > step;
        case FPEMU_MODE_RNA: return 2 * rest >= step;
        case FPEMU_MODE_RNZ: return 2 * rest > step;
        case FPEMU_MODE_RNP: return 2 * rest + (sign == 0) > step;
        case FPEMU_MODE_RAZ: return rest != 0;
        case FPEMU_MODE_RTP: return (rest != 0) & (sign == 0);
        case FPEMU_MODE_RTN: return (rest != 0) & (sign != 0);
        case FPEMU_MODE_RTO: return (rest != 0) & (odd ^ 1);
        default: return 0; /* FPEMU_MODE_RTZ */
        }
    }
    /* v as a fraction of W bits; what lies below is `lost`. */
    const intw far = d > 2 * CARRIER_BITS - 1 ? CARRIER_BITS - 1 : d - CARRIER_BITS;
    const uintw near_bits = (sig << 1) << ((uintw)(CARRIER_BITS - 1 - d) & (CARRIER_BITS - 1));
    const uintw far_bits = sig >> (far & (CARRIER_BITS - 1));
    const uintw v = d < CARRIER_BITS ? near_bits : far_bits;
    /* by a mask, since gcc 16 makes no vectors of a condition that is tested again below */
    const uintw lost = (sig << ((CARRIER_BITS - far) & (CARRIER_BITS - 1))) & ((uintw)0 - (uintw)(d > CARRIER_BITS));
    if (mode == FPEMU_MODE_SR) /* v + R*2^-N >= 1: the carry; R has no bit below 2^-N, so v needs no cutting */
        return (uintw)(v + r) < v;
    if (mode == FPEMU_MODE_SE)
        return (r >> (CARRIER_BITS - 1)) & ((v | lost) != 0);
    const uintw whole = (uintw)0 - (uintw)(n == CARRIER_BITS); /* all ones where R fills the word */
    if (mode == CORE_SR_B) {                                   /* v + (R + 1/2)*2^-N >= 1 */
        const uintw half =
            ((CARRIER_SIGN >> (n & (CARRIER_BITS - 1))) & ~whole) | ((lost >> (CARRIER_BITS - 1)) & whole);
        const uintw sum = v + r;
        return (sum < v) | ((uintw)(sum + half) < sum);
    }
    /* CORE_SR_C: v to N bits by rne, then + R */
    const uintw keep = ~(uintw)0 << ((CARRIER_BITS - n) & (CARRIER_BITS - 1)), unit = keep & (0 - keep);
    const uintw below = ((v << (n & (CARRIER_BITS - 1))) & ~whole) | (lost & whole), more = (lost != 0) & ~whole;
    const uintw top = v & keep, last = (top & unit) != 0, tie = below == CARRIER_SIGN, above = below > CARRIER_SIGN;
    const uintw increment = unit & ((uintw)0 - (above | (tie & (more | last))));
    const uintw sum = top + r;
    return (sum < top) | ((uintw)(sum + increment) < sum);
}

/* core_up for a mode without random bits that is known at run time only, so that a loop still has a vector form: to
 * nearest twice the rest and what ties need passes the step; else all or nothing of a step is added. */
FPEMU_FN uintw core_up_read(int mode, uintw one, uintw sig, intw d, uintw odd_mask, uintw sign)
{
    const uintw even = mode == FPEMU_MODE_RNE,
                tie = (mode == FPEMU_MODE_RNA) | ((mode == FPEMU_MODE_RNP) & (sign == 0));
    const uintw nearest = (uintw)0 - (uintw)core_to_nearest(mode), away = (uintw)0 - (uintw)(mode == FPEMU_MODE_RAZ);
    const uintw plus = (uintw)0 - (uintw)(mode == FPEMU_MODE_RTP), minus = (uintw)0 - (uintw)(mode == FPEMU_MODE_RTN);
    const uintw to_odd = (uintw)0 - (uintw)(mode == FPEMU_MODE_RTO), negative = (uintw)0 - (uintw)(sign != 0);
    const intw shift = d > CARRIER_BITS - 2 ? CARRIER_BITS - 2 : d;
    const uintw step = one << shift, rest = sig & (step - 1), odd = (sig >> shift) & odd_mask;
    const uintw up = away | (plus & ~negative) | (minus & negative) | (to_odd & (odd - 1));
    const uintw more = (nearest & ((odd & even) | tie)) | (~nearest & (((2 * step - 1) & up) - step));
    return (intw)(2 * rest + more) > (intw)step;
}

/* hif8: how many of three fraction bits a number of exponent e is without. */
FPEMU_FN intw core_taper(intw e)
{
    const intw a = e < 0 ? -e : e;
    return (a >= 4) + (a >= 8) + (a >= 16);
}

/* Magnitude on the grid without upper end, for a finite magnitude a. `any` as CORE_RULE_ANY. */
FPEMU_FN uintw core_grid(const core_plan *p, int mode, int any, int n, uintw a, uintw sign, uintw r)
{
    if (any)
        a = a < p->in_min ? 0 : a;
    uintw field = a >> CARRIER_MANTISSA;
    const uintw implicit = field != 0;
    const uintw sig = (a & (CARRIER_HIDDEN - 1)) | (implicit << CARRIER_MANTISSA);
    const intw low_d = p->d_low - (intw)(field + (implicit ^ 1));
    intw d = a < p->emin_bits ? low_d : p->d_norm;
    uintw parity = field, bare = 0; /* bare: of hif8 without fraction bits */
    if (any) {                      /* normals of the format that are subnormal in the carrier */
        const intw true_field = field == 0 ? 1 - core_subnormal_shift(a) : (intw)field;
        const intw deeper = field == 0 ? true_field - 1 : 0,
                   taper = core_taper(true_field - CARRIER_BIAS) & -(intw)(p->p1 / CORE_HIF8_P1);
        bare = taper == 3;
        parity = (uintw)true_field + bare;
        d = true_field >= p->emin_field ? p->d_norm + deeper + taper : low_d;
    }
    d = d < 0 ? 0 : d;
    const uintw odd_mask = (parity * (p->p1 | bare) + p->odd) & 1;
    const uintw up = mode == CORE_MODE_READ ? core_up_read(p->mode, p->one, sig, d, odd_mask, sign)
                                            : core_up(mode, n, p->one, sig, d, odd_mask, sign, r);
    const intw shift = d > CARRIER_MANTISSA ? CARRIER_MANTISSA : d;
    const uintw step = p->one << shift;
    uintw result = (a & ~(step - 1)) + (step & ((uintw)0 - up));
    result = d > CARRIER_MANTISSA ? p->low_one & ((uintw)0 - up) : result;
    if (any)
        result = result < p->out_min ? 0 : result;
    return result;
}

/* Posit rounding of a finite magnitude a != 0: nearest on the pattern, never to zero. The exponent's low es bits and
 * the fraction stand in the carrier as they stand in the posit, so the pattern is the carrier's bits less a tail whose
 * length follows from the regime. */
FPEMU_FN uintw core_posit(const core_plan *p, uintw a)
{
    const intw n = (intw)p->posit_n, es = (intw)p->posit_es;
    const uintw x = a < p->posit_min ? p->posit_min : a > p->posit_max ? p->posit_max : a;
    /* beyond maxpos the input itself is returned: finish sees an overflow and clamps */
    const intw u = (intw)(x - ((uintw)CARRIER_BIAS << CARRIER_MANTISSA));
    const intw regime = u >> (CARRIER_MANTISSA + es);
    const intw run = regime >= 0 ? regime + 1 : -regime;
    const intw left = n - 2 - run; /* bits for exponent and fraction; -1 at maxpos only */
    intw d = CARRIER_MANTISSA + es - (left < 0 ? 0 : left);
    d = d < 0 ? 0 : d;
    const uintw step = p->one << d, rest = (uintw)u & (step - 1);
    /* with nothing left the pattern's last bit is the regime's end: 0 after ones, 1 after zeros */
    const uintw odd = d == CARRIER_MANTISSA + es ? (uintw)(regime < 0) : ((uintw)u >> d) & 1;
    const uintw up = 2 * rest + odd > step;
    const uintw result = x - rest + (step & ((uintw)0 - up));
    return a > p->posit_max ? a : result;
}

/* The result, sign included, for input u (bits of x) and unbounded result g (magnitude). */
FPEMU_FN uintw core_finish(const core_plan *p, uintw u, uintw g)
{
    const uintw a = u & ~CARRIER_SIGN, sign = u & CARRIER_SIGN;
    uintw y = g | sign;
    y = g == 0 ? CORE_BY_SIGN(u, p->zero) : y;
    y = g > CORE_BY_SIGN(u, p->max) ? CORE_BY_SIGN(u, p->overflow) : y;
    y = a == CARRIER_INF ? CORE_BY_SIGN(u, p->infinite) : y;
    y = a > CARRIER_INF ? CORE_BY_SIGN(u, p->nan) : y;
    return y;
}

/* As finish, for formats without negatives too (e8m0). */
FPEMU_FN uintw core_finish_any(const core_plan *p, uintw u, uintw g)
{
    const uintw a = u & ~CARRIER_SIGN, y = core_finish(p, u, g);
    const uintw below = (u >> (CARRIER_BITS - 1)) & (uintw)(a != 0) & (uintw)(a <= CARRIER_INF);
    const uintw made = p->negative & ((uintw)0 - below);
    return made ? made : y;
}

/* k * 2^e as bits; the carrier holds it exactly. */
FPEMU_FN uintw core_compose(uintw k, int e)
{
    if (k == 0)
        return 0;
    const int top = (int)core_log2(k), field = e + top + CARRIER_BIAS;
    if (field >= 1) {
        const uintw sig = top > CARRIER_MANTISSA ? k >> (top - CARRIER_MANTISSA) : k << (CARRIER_MANTISSA - top);
        return ((uintw)field << CARRIER_MANTISSA) + (sig & (CARRIER_HIDDEN - 1));
    }
    const int shift = e + CARRIER_BIAS - 1 + CARRIER_MANTISSA;
    return shift >= 0 ? k << shift : k >> -shift;
}

/* The integer |value| / 2^quantum of a grid magnitude, modulo 2^64. */
FPEMU_FN uint64_t core_grid_steps(uintw a, int quantum)
{
    const int field = (int)(a >> CARRIER_MANTISSA);
    const uint64_t sig = field ? (a & (CARRIER_HIDDEN - 1)) | CARRIER_HIDDEN : a;
    const int left = (field ? field : 1) - CARRIER_BIAS - CARRIER_MANTISSA - quantum;
    if (left >= 0)
        return left < 64 ? sig << left : 0;
    return left > -64 ? sig >> -left : 0;
}

/* The low bits of the integer that magnitude a of the unbounded grid counts: fixed point and integers that wrap. */
FPEMU_FN uintw core_wrapped(const core_plan *p, uintw a, uintw sign)
{
    const uint64_t mask = ~UINT64_C(0) >> (64 - p->bits), top = UINT64_C(1) << (p->bits - 1);
    const uint64_t k = core_grid_steps(a, p->quantum);
    const uint64_t code = ((sign ? 0 - k : k) + (uint64_t)p->zero_point) & mask;
    int64_t q = (int64_t)code;
    if (p->is_signed && (code & top))
        q = (int64_t)(code | ~mask);
    q -= p->zero_point;
    const uint64_t magnitude = q < 0 ? 0 - (uint64_t)q : (uint64_t)q;
    return core_compose((uintw)magnitude, p->quantum) | (q < 0 ? CARRIER_SIGN : 0);
}

/* As finish, for formats that wrap. */
FPEMU_FN uintw core_finish_wrap(const core_plan *p, uintw u, uintw g)
{
    return (u & ~CARRIER_SIGN) < CARRIER_INF ? core_wrapped(p, g, u & CARRIER_SIGN) : core_finish(p, u, g);
}
