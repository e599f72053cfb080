/* blockquick.inc.h - the short way of one carrier; included by blockquick.h. */

typedef struct CORE(quick_block) {
    CORE_UINT least, most; /* amax between these, or 0: the form holds */
    CORE_UINT emin, up;    /* as quick_emin and quick_up of a plan */
    CORE_UINT step, count; /* sr: the smallest step for the scale 1, and 2^32 / step, as bits */
    CORE_SINT drawn_low, drawn_most; /* as quick_low and quick_most */
    CORE_UINT ones;        /* all bits; read from here because gcc 12 vectorises 64-bit shifts of variables only */
    CORE_UINT shift;       /* fixed point: 3 * 2^(MANT - 1) steps, as bits: adding it rounds */
    CORE_UINT max, lowest; /* magnitudes of the ends */
    CORE_UINT past;        /* 2^(emax + 1), which no element passes */
    CORE_UINT normal;      /* smallest normal value of floats; 0: none of its values is subnormal */
    CORE_UINT emax;        /* in the exponent's place */
    CORE_UINT half;        /* rule even: half a step of the element's precision */
    CORE_REAL inverse;     /* [1/M] */
    uint8_t rule, mode, fixed, usable;
} CORE(quick_block);

/* b of format f, whose elements saturate; mode: core_mode of the rounding. */
FPEMU_FN CORE(quick_block) CORE(quick_blocks)(const CORE(block) *b, const fpemu_format *f, int mode)
{
    CORE(quick_block) q;
    const int is_float = f->kind == FPEMU_KIND_FLOAT;
    const int fixed = f->kind == FPEMU_KIND_FIXED || (f->kind == FPEMU_KIND_INT && f->zero_point == 0);
    memset(&q, 0, sizeof q);
    int quantum = f->quantum;
    if (mode > FPEMU_MODE_SE || b->rule < FPEMU_SCALING_FLOOR || b->rule > FPEMU_SCALING_HBFP || !b->near)
        return q;
    if (f->kind == FPEMU_KIND_INT && !CORE(int_is_grid)(f, &quantum))
        return q;
    const int m = is_float ? (int)f->mantissa_bits : CORE_MANT - 1, emin = is_float ? f->emin : quantum + m;
    if (is_float ? m < 1 || m > CORE_MANT - 1 || f->exponent_bits < 2 || f->subnormals != FPEMU_SUBNORMALS_KEEP ||
                       !f->has_negative_zero || !f->is_signed || f->lowest > -f->max || f->lowest < -f->max ||
                       f->specials == FPEMU_SPECIALS_DLFLOAT
                 : !fixed || !f->is_signed || f->bits > CORE_MANT - 3)
        return q;
    /* the ends of c: the smallest step is normal; to nearest even that will do, other modes use 2^32 / step */
    const int low = mode == FPEMU_MODE_RNE ? 1 - CORE_BIAS - (emin - m) : 32 + m - CORE_BIAS - emin;
    const int high = CORE_BIAS - (b->emax + CORE_MANT + 1);
    /* those of floor(log2 amax), from which c + emax differs by one at most; amax and amax / M are normal */
    const int normal = 2 - CORE_BIAS + (b->emax > 0 ? b->emax : 0);
    int least = (b->first > low ? b->first : low) + b->emax + 1;
    const int most = (b->last < high ? b->last : high) + b->emax - 1;
    least = least < normal ? normal : least;
    if (least >= most)
        return q;
    q.least = CORE(power)(least);
    q.most = CORE(power)(most);
    q.emin = CORE(power)(emin);
    q.up = (CORE_UINT)(CORE_MANT - m) << CORE_MANT;
    q.step = (CORE_UINT)(emin - m + CORE_BIAS) << CORE_MANT; /* with a power added to it a normal number, as count */
    q.count = (CORE_UINT)(32 - (emin - m) + CORE_BIAS) << CORE_MANT;
    q.drawn_low = CORE_W - (emin - m + CORE_BIAS + CORE_MANT);
    q.drawn_most = CORE_W - (CORE_MANT - m);
    q.ones = ~(CORE_UINT)0;
    q.shift = is_float ? 0 : CORE_BITS(3 * CORE_VALUE(CORE(power)(quantum + CORE_MANT - 1)));
    q.max = CORE_FROM_DOUBLE(f->max);
    q.lowest = CORE_FROM_DOUBLE(-f->lowest);
    q.past = CORE(power)(b->emax + 1);
    q.normal = is_float ? q.emin : 0;
    q.emax = (CORE_UINT)(b->emax + CORE_BIAS) << CORE_MANT;
    q.half = b->precision <= CORE_MANT ? CORE_HIDDEN >> b->precision : 0;
    q.inverse = b->inverse;
    q.rule = b->rule;
    q.mode = (uint8_t)mode;
    q.fixed = (uint8_t)!is_float;
    q.usable = 1;
    return q;
}

/* c << MANT for a block whose largest magnitude is a. */
FPEMU_FN CORE_UINT CORE(quick_power)(const CORE(quick_block) *q, int rule, CORE_UINT a)
{
    const CORE_UINT low = CORE_HIDDEN - 1;
    CORE_UINT c;
    switch (rule) {
    case FPEMU_SCALING_CEIL: c = ((a + low) & ~low) - q->emax; break;
    case FPEMU_SCALING_HBFP: c = ((a + low) & ~low) - q->emax - CORE_HIDDEN; break;
    case FPEMU_SCALING_EVEN: c = ((a + q->half) & ~low) - q->emax; break;
    case FPEMU_SCALING_RCEIL: {
        const CORE_REAL ratio = CORE_VALUE(a) * q->inverse;
        c = ((CORE_BITS(ratio) + low) & ~low) - ((CORE_UINT)CORE_BIAS << CORE_MANT);
        break;
    }
    default: c = (a & ~low) - q->emax; break;
    }
    return a == 0 ? 0 : c;
}

/* Whether the form holds for a block whose largest magnitude is a. */
FPEMU_FN CORE_UINT CORE(quick_holds)(const CORE(quick_block) *q, CORE_UINT a)
{
    return (CORE_UINT)(a - q->least <= q->most - q->least) | (CORE_UINT)(a == 0);
}

/* Magnitude a on the grid of a block with the scale 2^c, power = c << MANT; c_ = C of core_counted. */
FPEMU_FN CORE_UINT CORE(quick_grid)(const CORE(quick_block) *q, int mode, CORE_UINT a, CORE_UINT c_, CORE_UINT sign,
                                    CORE_UINT power, CORE_UINT r)
{
    if (mode != FPEMU_MODE_SR)
        return CORE(counted)(mode, a, c_, sign, r);
    const CORE_UINT step = q->step + power;
    const CORE_SINT low = q->drawn_low - ((CORE_SINT)power >> CORE_MANT);
    const CORE_UINT small = CORE(drawn_below)(step, q->count - power, a, r);
    const CORE_UINT large = CORE(drawn_from)(step, low, q->drawn_most, q->ones, a, r);
    return (CORE_SINT)a < (CORE_SINT)step ? small : large;
}

/* Bits of y for bits u of x in a block with the scale 2^c, power = c << MANT. */
FPEMU_FN CORE_UINT CORE(quick_float)(const CORE(quick_block) *q, int mode, CORE_UINT u, CORE_UINT power, CORE_UINT r)
{
    const CORE_UINT sign = u & CORE_SIGN, a = u ^ sign, e = a & CORE_INF, emin = q->emin + power;
    const CORE_UINT c = ((CORE_SINT)e < (CORE_SINT)emin ? emin : e) + q->up;
    return CORE(at_most)(CORE(quick_grid)(q, mode, a, c, sign, power, r), q->max + power) | sign;
}

/* The same of fixed point to nearest even, by three numbers of the block. */
FPEMU_FN CORE_UINT CORE(quick_nearest)(CORE_REAL x, CORE_REAL shift, CORE_REAL max, CORE_REAL lowest)
{
    const CORE_REAL sum = x + shift, nearest = sum - shift, y = nearest < max ? nearest : max;
    return CORE_BITS(y > lowest ? y : lowest);
}

FPEMU_FN CORE_UINT CORE(quick_fixed)(const CORE(quick_block) *q, int mode, CORE_UINT u, CORE_UINT power, CORE_UINT r)
{
    const CORE_UINT sign = u & CORE_SIGN;
    const CORE_REAL x = CORE_VALUE(u), max = CORE_VALUE(q->max + power);
    const CORE_REAL lowest = CORE_VALUE((q->lowest + power) | CORE_SIGN);
    if (mode == FPEMU_MODE_RNE)
        return CORE(quick_nearest)(x, CORE_VALUE(q->shift + power), max, lowest);
    CORE_REAL y = CORE_VALUE(CORE(quick_grid)(q, mode, u ^ sign, q->emin + q->up + power, sign, power, r) | sign) +
                  0; /* no -0 */
    y = y < max ? y : max;
    return CORE_BITS(y > lowest ? y : lowest);
}

/* ------------------------------------------------------------------------------------------ other scales */

/* Whether core_lean_quotient serves elements of format f. */
FPEMU_FN int CORE(lean_quotients)(const fpemu_format *f)
{
    return f->min_positive >= core_value64(core_power64((CORE_BIAS + 1) / 2 + CORE_MANT + 3 - CORE_BIAS));
}

/* Whether magnitude a is far from both ends of the carrier: core_lean_quotient gives [a/s] for every two such numbers,
 * for nothing comes to lie at an end on the way. */
FPEMU_FN CORE_UINT CORE(lean_middle)(CORE_UINT a)
{
    const int end = (CORE_BIAS + 1) / 16 * 7;
    const CORE_UINT least = CORE(power)(-end), most = CORE(power)(end);
    return (CORE_UINT)((CORE_SINT)a >= (CORE_SINT)least) & (CORE_UINT)((CORE_SINT)a <= (CORE_SINT)most);
}

/* [x/s] for inverse = [1/s]; a zero for inverse = 0. */
FPEMU_FN CORE_REAL CORE(lean_quotient)(CORE_REAL x, CORE_REAL s, CORE_REAL inverse)
{
#if CORE_HAS_FMA
    const CORE_REAL q = x * inverse, rest = CORE_FMA(-q, s, x);
    return CORE_FMA(rest, inverse, q);
#else
    return inverse > 0 ? x / s : x * inverse;
#endif
}

/* Whether the short way holds for blocks of finite elements, with quotients or products up to t, elements up to max and
 * the scales s and second, down being a multiplier or the inverse of s: 0 no, 1 yes, 2 and nothing comes to lie beyond
 * the ends. More of t, s or down never makes it hold: it does for many blocks where it does for the largest of each. */
FPEMU_FN int CORE(lean_holds)(const CORE(plan) *p, int even, int divided, CORE_REAL t, CORE_REAL max, CORE_REAL s,
                              CORE_REAL second, CORE_REAL down)
{
    const CORE_REAL most = CORE_VALUE(CORE(power)((CORE_BIAS + 1) / 2)), y = 2 * max * s * second;
    const CORE_UINT a = CORE(at_most)(CORE_BITS(t), p->quick_cap), end = CORE(at_most)(p->max[0], p->max[1]);
    const CORE_UINT c = even ? p->quick_emin + p->quick_up : CORE(magic_c)(p, a);
    const CORE_UINT g = CORE(counted)(FPEMU_MODE_RNE, a, c, 0, 0);
    const int near = down <= most && s <= most && t <= most;
    const int room = even || p->quick_up > CORE_HIDDEN; /* for C and half of it */
    if ((divided && !near) || !(y < CORE_VALUE(CORE_INF)))
        return 0;
    return room && g <= end ? 2 : 1;
}

/* t on the grid, to nearest even: as core_counted has it, but with C and half of it, so that negative numbers count
 * too. C is the power of two below |t|, or the lowest binade's, times a constant: fused, it need not be had itself. */
FPEMU_FN CORE_REAL CORE(lean_nearest)(const CORE(plan) *p, CORE_REAL t)
{
    const CORE_UINT e = CORE_BITS(t) & CORE_INF;
    const CORE_REAL power = CORE_VALUE((CORE_SINT)e < (CORE_SINT)p->quick_emin ? p->quick_emin : e);
    const CORE_REAL up = CORE_VALUE(CORE_BITS((CORE_REAL)1.5) + p->quick_up);
#if CORE_HAS_FMA
    return CORE_FMA(-power, up, CORE_FMA(power, up, t));
#else
    const CORE_REAL C = power * up, sum = t + C;
    return sum - C;
#endif
}

/* y of an element under the plan of core_element_stop or core_element_even, t = x * down or [x/s]; inside: where no
 * element comes to lie beyond the ends. */
FPEMU_FN CORE_UINT CORE(lean_stop)(const CORE(plan) *p, int inside, int divided, CORE_REAL down, CORE_REAL s,
                                   CORE_REAL second, CORE_UINT u)
{
    const CORE_UINT sign = u & CORE_SIGN;
    const CORE_REAL x = CORE_VALUE(inside ? u : u ^ sign), t = divided ? CORE(lean_quotient)(x, s, down) : x * down;
    CORE_REAL nearest;
    if (inside) {
        nearest = CORE(lean_nearest)(p, t);
    } else {
        const CORE_UINT a = CORE(at_most)(CORE_BITS(t), p->max[0]);
        nearest = CORE_VALUE(CORE(counted)(FPEMU_MODE_RNE, a, CORE(magic_c)(p, a), 0, 0));
    }
    const CORE_REAL y = nearest * s;
    return CORE_BITS(divided ? y : y * second) | sign;
}

FPEMU_FN CORE_UINT CORE(lean_even)(const CORE(plan) *p, int inside, int divided, CORE_REAL down, CORE_REAL s,
                                   CORE_REAL second, CORE_UINT u)
{
    const CORE_REAL x = CORE_VALUE(u), high = CORE_VALUE(p->max[0]), low = CORE_VALUE(p->max[1] | CORE_SIGN);
    const CORE_REAL C = CORE_VALUE((p->quick_emin + p->quick_up) | CORE_HIDDEN >> 1);
    CORE_REAL t = divided ? CORE(lean_quotient)(x, s, down) : x * down;
    if (!inside) {
        t = t < low ? low : t;
        t = t > high ? high : t;
    }
    const CORE_REAL sum = t + C, y = (sum - C) * s;
    return CORE_BITS(divided ? y : y * second);
}
