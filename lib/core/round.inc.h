/* round.inc.h - the rounding rule for one carrier, whose names carrier32.inc.h and carrier64.inc.h give.
 *
 * Numbers are bit patterns: u = sign | magnitude; E the exponent field; emin, quantum and so on as in doc/numerics.md.
 * With d discarded bits of the significand, k = significand >> d and v = remainder / 2^d are the k and v of the
 * definition there, and adding 2^d to the magnitude's bits is the step from k to k + 1, carry into the exponent
 * included. */

/* a if the sign bit of u is clear, else b; a mask, because vector loops cannot index. */
#define CORE_BY_SIGN(u, pair) ((pair)[0] ^ (((pair)[0] ^ (pair)[1]) & (CORE_UINT) - (CORE_SINT)((u) >> (CORE_W - 1))))

/* What the rule needs of (format, rounding), made once a call by plan.h. [2] is by sign: 0 positive, 1 negative. */
typedef struct CORE(plan) {
    /* grid of floats and fixed point */
    CORE_SINT emin_field; /* carrier exponent field of 2^emin; <= 0 where the carrier is subnormal there; fixed point:
                             above every field, the low grid holds everywhere */
    CORE_UINT emin_bits;  /* 2^emin as bits: magnitudes below take the low grid */
    CORE_SINT d_norm;     /* discarded bits from 2^emin on */
    CORE_SINT d_low;      /* discarded bits below 2^emin, plus the exponent field (1 for carrier subnormals) */
    CORE_UINT low_one;    /* the low grid's step, as bits */
    CORE_UINT p1, odd;    /* parity of k = 1: (E * p1 + odd) & 1, so that at p = 1 the code's parity decides */
    CORE_UINT in_min;     /* magnitudes below become zero before rounding */
    CORE_UINT out_min;    /* results below become zero */
    CORE_UINT one;        /* 1; read from here because gcc 12 vectorises 64-bit shifts of variables only */
    CORE_UINT negative;   /* e8m0: what a negative becomes; 0 elsewhere */
    CORE_UINT quick_cap, quick_emin, quick_up, quick_end, quick_nan, quick_count, ones; /* quick.h; all bits */
    CORE_SINT quick_low, quick_most;
    /* posit */
    CORE_UINT posit_n, posit_es, posit_min, posit_max;
    /* finish */
    CORE_UINT max[2];     /* largest magnitude; all ones = no end */
    CORE_UINT overflow[2], infinite[2], nan[2], zero[2]; /* results, sign included */
    CORE_UINT min_normal; /* for the counter of subnormal results */
    /* fixed point that wraps, and codes of integers */
    int32_t quantum;      /* the step is 2^quantum */
    uint32_t bits;        /* width of a code */
    int64_t zero_point;   /* code of zero in an affine integer */
    uint8_t wrap, is_signed, any;
    uint8_t rule;         /* enum core_rule */
    uint8_t mode;         /* fpemu_mode, CORE_SR_B or CORE_SR_C */
    uint8_t n;            /* random bits */
    uint8_t compat;       /* fpemu_compat, where it acts on this format and mode; else 0 */
    /* affine: scale = scale_sig * 2^scale_exp, scale_sig in [2^52, 2^53) */
    uint64_t scale_sig;
    double scale_value;
    int64_t q_min, q_max;
    int32_t scale_exp;
    int32_t fraction_bits; /* fixed point, for FPEMU_COMPAT_QPYTORCH */
    CORE_SINT pre_d;       /* the same for floats: below 2^emin a first rounding; as d_low */
} CORE(plan);

/* (exact) magnitude of 2^e as bits; e within the carrier's range, its subnormals included. */
FPEMU_FN CORE_UINT CORE(power)(int e)
{
    return e >= 1 - CORE_BIAS ? (CORE_UINT)(e + CORE_BIAS) << CORE_MANT
                              : (CORE_UINT)1 << (e + CORE_BIAS - 1 + CORE_MANT);
}

/* By how much the carrier's subnormal a must be shifted left for its highest bit to become the hidden one. The
 * subtraction is exact in any floating-point environment and, unlike a count of zeros, has a vector form everywhere. */
FPEMU_FN CORE_SINT CORE(subnormal_shift)(CORE_UINT a)
{
    const CORE_UINT two = (CORE_UINT)(CORE_BIAS + CORE_MANT) << CORE_MANT; /* 2^CORE_MANT */
    const CORE_UINT integer = CORE_BITS(CORE_VALUE(two | (a & (CORE_HIDDEN - 1))) - CORE_VALUE(two));
    return CORE_MANT - ((CORE_SINT)(integer >> CORE_MANT) - CORE_BIAS);
}

/* up = 1 for significand `sig` with d discarded bits; r left-aligned random bits, n of them; `one` as in the plan. */
FPEMU_FN CORE_UINT CORE(up)(int mode, int n, CORE_UINT one, CORE_UINT sig, CORE_SINT d, CORE_UINT odd_mask,
                            CORE_UINT sign, CORE_UINT r)
{
    if (mode < FPEMU_MODE_SR) {
        const CORE_SINT shift = d > CORE_W - 2 ? CORE_W - 2 : d; /* beyond, k = 0 and v < 1/2 all the same */
        const CORE_UINT step = one << shift, rest = sig & (step - 1), odd = (sig >> shift) & odd_mask;
        switch (mode) {
        case FPEMU_MODE_RNE: return 2 * rest + odd > step;
        case FPEMU_MODE_RNA: return 2 * rest >= step;
        case FPEMU_MODE_RNZ: return 2 * rest > step;
        case FPEMU_MODE_RAZ: return rest != 0;
        case FPEMU_MODE_RTP: return (rest != 0) & (sign == 0);
        case FPEMU_MODE_RTN: return (rest != 0) & (sign != 0);
        case FPEMU_MODE_RTO: return (rest != 0) & (odd ^ 1);
        default: return 0; /* FPEMU_MODE_RTZ */
        }
    }
    /* v as a fraction of W bits; what lies below is `lost`. */
    const CORE_SINT far = d > 2 * CORE_W - 1 ? CORE_W - 1 : d - CORE_W;
    const CORE_UINT near_bits = (sig << 1) << ((CORE_UINT)(CORE_W - 1 - d) & (CORE_W - 1));
    const CORE_UINT far_bits = sig >> (far & (CORE_W - 1));
    const CORE_UINT v = d < CORE_W ? near_bits : far_bits;
    const CORE_UINT lost = d <= CORE_W ? 0 : sig << ((CORE_W - far) & (CORE_W - 1));
    if (mode == FPEMU_MODE_SR) /* v + R*2^-N >= 1: the carry; R has no bit below 2^-N, so v needs no cutting */
        return (CORE_UINT)(v + r) < v;
    if (mode == FPEMU_MODE_SE)
        return (r >> (CORE_W - 1)) & ((v | lost) != 0);
    const CORE_UINT whole = (CORE_UINT)0 - (CORE_UINT)(n == CORE_W); /* all ones where R fills the word */
    if (mode == CORE_SR_B) { /* v + (R + 1/2)*2^-N >= 1 */
        const CORE_UINT half = ((CORE_SIGN >> (n & (CORE_W - 1))) & ~whole) | ((lost >> (CORE_W - 1)) & whole);
        const CORE_UINT sum = v + r;
        return (sum < v) | ((CORE_UINT)(sum + half) < sum);
    }
    /* CORE_SR_C: v to N bits by rne, then + R */
    const CORE_UINT keep = ~(CORE_UINT)0 << ((CORE_W - n) & (CORE_W - 1)), unit = keep & (0 - keep);
    const CORE_UINT below = ((v << (n & (CORE_W - 1))) & ~whole) | (lost & whole), more = (lost != 0) & ~whole;
    const CORE_UINT top = v & keep, last = (top & unit) != 0, tie = below == CORE_SIGN, above = below > CORE_SIGN;
    const CORE_UINT increment = unit & ((CORE_UINT)0 - (above | (tie & (more | last))));
    const CORE_UINT sum = top + r;
    return (sum < top) | ((CORE_UINT)(sum + increment) < sum);
}

/* Magnitude on the grid without upper end, for a finite magnitude a. `any` as CORE_RULE_ANY. */
FPEMU_FN CORE_UINT CORE(grid)(const CORE(plan) *p, int mode, int any, int n, CORE_UINT a, CORE_UINT sign, CORE_UINT r)
{
    if (any)
        a = a < p->in_min ? 0 : a;
    CORE_UINT field = a >> CORE_MANT;
    const CORE_UINT implicit = field != 0;
    const CORE_UINT sig = (a & (CORE_HIDDEN - 1)) | (implicit << CORE_MANT);
    const CORE_SINT low_d = p->d_low - (CORE_SINT)(field + (implicit ^ 1));
    CORE_SINT d = a < p->emin_bits ? low_d : p->d_norm;
    CORE_UINT parity = field;
    if (any) { /* normals of the format that are subnormal in the carrier */
        const CORE_SINT true_field = field == 0 ? 1 - CORE(subnormal_shift)(a) : (CORE_SINT)field;
        const CORE_SINT deeper = field == 0 ? true_field - 1 : 0;
        parity = (CORE_UINT)true_field;
        d = true_field >= p->emin_field ? p->d_norm + deeper : low_d;
    }
    d = d < 0 ? 0 : d;
    const CORE_UINT up = CORE(up)(mode, n, p->one, sig, d, (parity * p->p1 + p->odd) & 1, sign, r);
    const CORE_SINT shift = d > CORE_MANT ? CORE_MANT : d;
    const CORE_UINT step = p->one << shift;
    CORE_UINT result = (a & ~(step - 1)) + (step & ((CORE_UINT)0 - up));
    result = d > CORE_MANT ? p->low_one & ((CORE_UINT)0 - up) : result;
    if (any)
        result = result < p->out_min ? 0 : result;
    return result;
}

/* Posit rounding of a finite magnitude a != 0: nearest on the pattern, never to zero. The exponent's low es bits and
 * the fraction stand in the carrier as they stand in the posit, so the pattern is the carrier's bits less a tail whose
 * length follows from the regime. */
FPEMU_FN CORE_UINT CORE(posit)(const CORE(plan) *p, CORE_UINT a)
{
    const CORE_SINT n = (CORE_SINT)p->posit_n, es = (CORE_SINT)p->posit_es;
    const CORE_UINT x = a < p->posit_min ? p->posit_min : a > p->posit_max ? p->posit_max : a;
    /* beyond maxpos the input itself is returned: finish sees an overflow and clamps */
    const CORE_SINT u = (CORE_SINT)(x - ((CORE_UINT)CORE_BIAS << CORE_MANT));
    const CORE_SINT regime = u >> (CORE_MANT + es);
    const CORE_SINT run = regime >= 0 ? regime + 1 : -regime;
    const CORE_SINT left = n - 2 - run; /* bits for exponent and fraction; -1 at maxpos only */
    CORE_SINT d = CORE_MANT + es - (left < 0 ? 0 : left);
    d = d < 0 ? 0 : d;
    const CORE_UINT step = p->one << d, rest = (CORE_UINT)u & (step - 1);
    /* with nothing left the pattern's last bit is the regime's end: 0 after ones, 1 after zeros */
    const CORE_UINT odd = d == CORE_MANT + es ? (CORE_UINT)(regime < 0) : ((CORE_UINT)u >> d) & 1;
    const CORE_UINT up = 2 * rest + odd > step;
    const CORE_UINT result = x - rest + (step & ((CORE_UINT)0 - up));
    return a > p->posit_max ? a : result;
}

/* The result, sign included, for input u (bits of x) and unbounded result g (magnitude). */
FPEMU_FN CORE_UINT CORE(finish)(const CORE(plan) *p, CORE_UINT u, CORE_UINT g)
{
    const CORE_UINT a = u & ~CORE_SIGN, sign = u & CORE_SIGN;
    CORE_UINT y = g | sign;
    y = g == 0 ? CORE_BY_SIGN(u, p->zero) : y;
    y = g > CORE_BY_SIGN(u, p->max) ? CORE_BY_SIGN(u, p->overflow) : y;
    y = a == CORE_INF ? CORE_BY_SIGN(u, p->infinite) : y;
    y = a > CORE_INF ? CORE_BY_SIGN(u, p->nan) : y;
    return y;
}

/* As finish, for formats without negatives too (e8m0). */
FPEMU_FN CORE_UINT CORE(finish_any)(const CORE(plan) *p, CORE_UINT u, CORE_UINT g)
{
    const CORE_UINT a = u & ~CORE_SIGN, y = CORE(finish)(p, u, g);
    const CORE_UINT below = (u >> (CORE_W - 1)) & (CORE_UINT)(a != 0) & (CORE_UINT)(a <= CORE_INF);
    const CORE_UINT made = p->negative & ((CORE_UINT)0 - below);
    return made ? made : y;
}

/* k * 2^e as bits; the carrier holds it exactly. */
FPEMU_FN CORE_UINT CORE(compose)(CORE_UINT k, int e)
{
    if (k == 0)
        return 0;
    const int top = (int)CORE_LOG2(k), field = e + top + CORE_BIAS;
    if (field >= 1) {
        const CORE_UINT sig = top > CORE_MANT ? k >> (top - CORE_MANT) : k << (CORE_MANT - top);
        return ((CORE_UINT)field << CORE_MANT) + (sig & (CORE_HIDDEN - 1));
    }
    const int shift = e + CORE_BIAS - 1 + CORE_MANT;
    return shift >= 0 ? k << shift : k >> -shift;
}

/* The integer |value| / 2^quantum of a grid magnitude, modulo 2^64. */
FPEMU_FN uint64_t CORE(count)(CORE_UINT a, int quantum)
{
    const int field = (int)(a >> CORE_MANT);
    const uint64_t sig = field ? (a & (CORE_HIDDEN - 1)) | CORE_HIDDEN : a;
    const int left = (field ? field : 1) - CORE_BIAS - CORE_MANT - quantum;
    if (left >= 0)
        return left < 64 ? sig << left : 0;
    return left > -64 ? sig >> -left : 0;
}

/* The low bits of the integer that magnitude a of the unbounded grid counts: fixed point and integers that wrap. */
FPEMU_FN CORE_UINT CORE(wrapped)(const CORE(plan) *p, CORE_UINT a, CORE_UINT sign)
{
    const uint64_t mask = ~UINT64_C(0) >> (64 - p->bits), top = UINT64_C(1) << (p->bits - 1);
    const uint64_t k = CORE(count)(a, p->quantum);
    const uint64_t code = ((sign ? 0 - k : k) + (uint64_t)p->zero_point) & mask;
    int64_t q = (int64_t)code;
    if (p->is_signed && (code & top))
        q = (int64_t)(code | ~mask);
    q -= p->zero_point;
    const uint64_t magnitude = q < 0 ? 0 - (uint64_t)q : (uint64_t)q;
    return CORE(compose)((CORE_UINT)magnitude, p->quantum) | (q < 0 ? CORE_SIGN : 0);
}

/* As finish, for formats that wrap. */
FPEMU_FN CORE_UINT CORE(finish_wrap)(const CORE(plan) *p, CORE_UINT u, CORE_UINT g)
{
    return (u & ~CORE_SIGN) < CORE_INF ? CORE(wrapped)(p, g, u & CORE_SIGN) : CORE(finish)(p, u, g);
}

