/* quick.inc.h - the quick forms of one carrier; included by quick.h. Magnitudes are compared as signed integers, which
 * every vector instruction set can do. */

FPEMU_FN CORE_UINT CORE(at_most)(CORE_UINT a, CORE_UINT end)
{
    return (CORE_SINT)a > (CORE_SINT)end ? end : a;
}

/* `y`, or `instead` where magnitude a lies beyond `end`. */
FPEMU_FN CORE_UINT CORE(beyond)(CORE_UINT a, CORE_UINT end, CORE_UINT instead, CORE_UINT y)
{
    return (CORE_SINT)a > (CORE_SINT)end ? instead : y;
}

/* `y`, or NaN where u is one: two operations, where integers without a sign take one more to compare. */
FPEMU_FN CORE_UINT CORE(unless_nan)(const CORE(plan) *p, CORE_UINT u, CORE_UINT y)
{
    const CORE_REAL x = CORE_VALUE(u);
    return x != x ? p->nan[0] : y;
}

/* u, or its magnitude, rounded where the number of discarded bits is p->d_norm for every magnitude: the carry into the
 * exponent makes the next binade, and from the last one infinity. No use for NaN. */
FPEMU_FN CORE_UINT CORE(flat)(const CORE(plan) *p, int mode, CORE_UINT u, CORE_UINT sign, CORE_UINT r)
{
    const CORE_UINT low = (p->one << p->d_norm) - 1, half = (p->one << p->d_norm) >> 1;
    switch (mode) {
    case FPEMU_MODE_RNE: u += half - 1 + ((u >> p->d_norm) & 1); break;
    case FPEMU_MODE_RNA: u += half; break;
    case FPEMU_MODE_RNZ: u += half - 1; break;
    case FPEMU_MODE_RAZ: u += low; break;
    case FPEMU_MODE_RTP: u += sign ? 0 : low; break;
    case FPEMU_MODE_RTN: u += sign ? low : 0; break;
    case FPEMU_MODE_RTO: u |= (u & low) + low; break; /* the carry out of the low bits: they were not all zero */
    case FPEMU_MODE_SR: u += r >> ((CORE_UINT)CORE_W - (CORE_UINT)p->d_norm); break;
    case FPEMU_MODE_SE: u += low & ((CORE_UINT)0 - (r >> (CORE_W - 1))); break;
    default: break; /* FPEMU_MODE_RTZ */
    }
    return u & ~low;
}

/* Whether the fraction z / 2^32, cut to 32 bits, and the random bits r make 1. */
#if CORE_W == 32
FPEMU_FN uint32_t CORE(carry)(float z, uint32_t r)
{
    const uint32_t v = (uint32_t)z;
    return (uint32_t)(v + r) < v;
}
#else
FPEMU_FN uint64_t CORE(carry)(double z, uint64_t r)
{
    const double two = 4503599627370496.0; /* 2^52; conversions to 64 bits have no vector form everywhere */
    const double sum = z + two, nearest = sum - two;
    const uint64_t v = (core_bits64(sum) - (uint64_t)(nearest > z)) & 0xffffffffu;
    return (v + (r >> 32)) >> 32;
}
#endif

/* Magnitude a rounded to the grid whose steps c = C counts; not for FPEMU_MODE_SR. */
FPEMU_FN CORE_UINT CORE(counted)(int mode, CORE_UINT a, CORE_UINT c, CORE_UINT sign, CORE_UINT r)
{
    /* kept apart: some compilers hold expressions in a wider type */
    const CORE_REAL x = CORE_VALUE(a), C = CORE_VALUE(c), sum = x + C, nearest = sum - C;
    if (mode == FPEMU_MODE_RNE)
        return CORE_BITS(nearest);
    CORE_UINT t = CORE_BITS(sum);
    if (mode == FPEMU_MODE_RNA || mode == FPEMU_MODE_RNZ || mode == FPEMU_MODE_RAZ) {
        const CORE_REAL half = CORE_VALUE(c - ((CORE_UINT)(CORE_MANT + 1) << CORE_MANT));
        const CORE_REAL rest = x - nearest; /* exact */
        t += mode == FPEMU_MODE_RNA ? (CORE_UINT)(rest >= half) : mode == FPEMU_MODE_RAZ ? (CORE_UINT)(rest > 0) : 0;
        t -= mode == FPEMU_MODE_RNZ ? (CORE_UINT)(-rest >= half) : 0;
    } else {
        t -= (CORE_UINT)(nearest > x);
    }
    if (mode == FPEMU_MODE_RTP || mode == FPEMU_MODE_RTN || mode == FPEMU_MODE_RTO || mode == FPEMU_MODE_SE) {
        const CORE_REAL below = CORE_VALUE(t) - C, rest = x - below; /* exact, in [0, step) */
        const CORE_UINT inexact = rest > 0;
        switch (mode) {
        case FPEMU_MODE_RTP: t += inexact & (CORE_UINT)(sign == 0); break;
        case FPEMU_MODE_RTN: t += inexact & (CORE_UINT)(sign != 0); break;
        case FPEMU_MODE_RTO: t |= inexact; break;
        default: t += inexact & (r >> (CORE_W - 1)); break; /* FPEMU_MODE_SE */
        }
    }
    return CORE_BITS(CORE_VALUE(t) - C);
}

/* Magnitude a rounded by random bits, to a grid whose smallest step is a power of two with the bits `step`. From there
 * on, the bits that are discarded take up as many of the random ones, shifted to their place: CORE_W less their number
 * is the exponent field and `low`, at most `most`. */
FPEMU_FN CORE_UINT CORE(drawn_from)(CORE_UINT step, CORE_SINT low, CORE_SINT most, CORE_UINT ones, CORE_UINT a,
                                    CORE_UINT r)
{
    const CORE_UINT from = step - CORE_HIDDEN, x = (CORE_SINT)a < (CORE_SINT)from ? from : a;
    const CORE_SINT kept = (CORE_SINT)(x >> CORE_MANT) + low;
    const CORE_UINT place = (CORE_UINT)(kept > most ? most : kept);
    return (x + (r >> place)) & ~(ones >> place);
}

/* Below it: 0, or the step, as a in 2^-32 of it carries; count: 2^32 / step. */
FPEMU_FN CORE_UINT CORE(drawn_below)(CORE_UINT step, CORE_UINT count, CORE_UINT a, CORE_UINT r)
{
    const CORE_UINT x = CORE(at_most)(a, step - 1);
    return CORE(carry)(CORE_VALUE(x) * CORE_VALUE(count), r) ? step : 0;
}

FPEMU_FN CORE_UINT CORE(drawn_large)(const CORE(plan) *p, CORE_UINT a, CORE_UINT r)
{
    return CORE(drawn_from)(p->low_one, p->quick_low, p->quick_most, p->ones, a, r);
}

FPEMU_FN CORE_UINT CORE(drawn_small)(const CORE(plan) *p, CORE_UINT a, CORE_UINT r)
{
    return CORE(drawn_below)(p->low_one, p->quick_count, a, r);
}

/* Of the two, chosen last: what is done to them before may then go on side by side. */
FPEMU_FN CORE_UINT CORE(drawn_by)(const CORE(plan) *p, CORE_UINT a, CORE_UINT small, CORE_UINT large)
{
    return (CORE_SINT)a < (CORE_SINT)p->low_one ? small : large;
}

FPEMU_FN CORE_UINT CORE(drawn)(const CORE(plan) *p, CORE_UINT a, CORE_UINT r)
{
    return CORE(drawn_by)(p, a, CORE(drawn_small)(p, a, r), CORE(drawn_large)(p, a, r));
}

/* C for magnitude a. */
FPEMU_FN CORE_UINT CORE(magic_c)(const CORE(plan) *p, CORE_UINT a)
{
    const CORE_UINT e = a & CORE_INF;
    return ((CORE_SINT)e < (CORE_SINT)p->quick_emin ? p->quick_emin : e) + p->quick_up;
}

/* As grid below 2^quick_cap. */
FPEMU_FN CORE_UINT CORE(below_cap)(const CORE(plan) *p, int mode, CORE_UINT a, CORE_UINT sign, CORE_UINT r)
{
    return mode == FPEMU_MODE_SR ? CORE(drawn)(p, a, r) : CORE(counted)(mode, a, CORE(magic_c)(p, a), sign, r);
}

/* The same, and from there on some value beyond the ends. */
FPEMU_FN CORE_UINT CORE(magic)(const CORE(plan) *p, int mode, CORE_UINT a, CORE_UINT sign, CORE_UINT r)
{
    return CORE(below_cap)(p, mode, mode == FPEMU_MODE_SR ? a : CORE(at_most)(a, p->quick_cap), sign, r);
}

/* The finished result where what overflows, and infinity, become one and the same, with the input's sign or NaN. */
FPEMU_FN CORE_UINT CORE(element_pass)(const CORE(plan) *p, int mode, CORE_UINT u, CORE_UINT r)
{
    const CORE_UINT sign = u & CORE_SIGN, a = u ^ sign;
    if (mode < FPEMU_MODE_SR) { /* whether x overflows is known beforehand */
        const CORE_UINT g = CORE(counted)(mode, a, CORE(magic_c)(p, a), sign, r);
        return CORE(beyond)(a, p->quick_nan, p->nan[0], CORE(beyond)(a, p->quick_end, p->overflow[0], g) | sign);
    }
    const int drawn = mode == FPEMU_MODE_SR;
    const CORE_UINT g = drawn ? CORE(drawn_large)(p, a, r) : CORE(magic)(p, mode, a, sign, r);
    CORE_UINT y = g > p->max[0] ? p->nan[0] : g | sign; /* NaN is beyond the end too */
    if (p->quick_nan == CORE_INF)
        y = CORE(beyond)(a, CORE_INF, p->nan[0], CORE(beyond)(g, p->max[0], CORE_INF, g) | sign);
    return drawn ? CORE(drawn_by)(p, a, CORE(drawn_small)(p, a, r) | sign, y) : y;
}

/* The finished result where what overflows becomes the largest value. */
FPEMU_FN CORE_UINT CORE(element_stop)(const CORE(plan) *p, int mode, CORE_UINT u, CORE_UINT r)
{
    const CORE_UINT sign = u & CORE_SIGN, a = u ^ sign, x = CORE(at_most)(a, p->max[0]);
    const CORE_UINT y = CORE(below_cap)(p, mode, x, sign, r) | sign;
    return CORE(beyond)(a, CORE_INF, p->nan[0], y);
}

/* The same, but infinity does not. */
FPEMU_FN CORE_UINT CORE(element_stop_inf)(const CORE(plan) *p, int mode, CORE_UINT u, CORE_UINT r)
{
    const CORE_UINT sign = u & CORE_SIGN, infinite = p->infinite[0] | (p->infinite[1] & sign);
    const CORE_UINT y = CORE(element_stop)(p, mode, u, r);
    return (u ^ sign) == CORE_INF ? infinite : y;
}

/* The finished result of an even grid whose ends hold what overflows and what is infinite. */
FPEMU_FN CORE_UINT CORE(element_even)(const CORE(plan) *p, int mode, CORE_UINT u, CORE_UINT r)
{
    const CORE_UINT sign = u & CORE_SIGN, a = u ^ sign, c = p->quick_emin + p->quick_up;
    if (mode == FPEMU_MODE_RNE) { /* with C and half of it, negative numbers count too */
        const CORE_REAL high = CORE_VALUE(p->overflow[0]), low = CORE_VALUE(p->overflow[1]);
        CORE_REAL x = CORE_VALUE(u);
        x = x < low ? low : x;
        x = x > high ? high : x;
        const CORE_REAL C = CORE_VALUE(c | CORE_HIDDEN >> 1), sum = x + C, y = sum - C;
        return CORE(unless_nan)(p, u, CORE_BITS(y));
    }
    const CORE_UINT x = CORE(at_most)(a, CORE_BY_SIGN(u, p->max));
    const CORE_UINT g = mode == FPEMU_MODE_SR ? CORE(drawn)(p, x, r) : CORE(counted)(mode, x, c, sign, r);
    const CORE_REAL y = CORE_VALUE(g | sign) + 0; /* -0 becomes 0 */
    return CORE(beyond)(a, CORE_INF, p->nan[0], CORE_BITS(y));
}

/* As finish where the flat form passes over into infinity by itself. */
FPEMU_FN CORE_UINT CORE(element_flat)(const CORE(plan) *p, int mode, CORE_UINT u, CORE_UINT r)
{
    const CORE_UINT sign = u & CORE_SIGN;
    return CORE(unless_nan)(p, u, CORE(flat)(p, mode, u, sign, r));
}

/* Only the value on the grid. */
FPEMU_FN CORE_UINT CORE(element_flat_grid)(const CORE(plan) *p, int mode, CORE_UINT u, CORE_UINT r)
{
    const CORE_UINT sign = u & CORE_SIGN;
    return CORE(flat)(p, mode, u ^ sign, sign, r);
}

FPEMU_FN CORE_UINT CORE(element_magic_grid)(const CORE(plan) *p, int mode, CORE_UINT u, CORE_UINT r)
{
    const CORE_UINT sign = u & CORE_SIGN;
    return CORE(magic)(p, mode, u ^ sign, sign, r);
}

/* Largest magnitude that does not overflow in a mode that treats both signs alike. */
FPEMU_FN CORE_UINT CORE(last_inside)(const CORE(plan) *p)
{
    const CORE_UINT max = p->max[0], half = ((CORE_UINT)1 << p->d_norm) >> 1;
    switch (p->mode) {
    case FPEMU_MODE_RNE: return max + half - ((max >> p->d_norm) & 1);
    case FPEMU_MODE_RNA: return max + half - 1;
    case FPEMU_MODE_RNZ: return max + half;
    default: return max; /* FPEMU_MODE_RAZ; not used for SR and SE */
    }
}

/* Chooses a quick form for a plan whose rule is CORE_RULE_FLOAT, if there is one. */
FPEMU_FN void CORE(choose_quick)(CORE(plan) *p, const fpemu_format *f)
{
    const int mode = p->mode;
    if (mode > FPEMU_MODE_SE || p->rule != CORE_RULE_FLOAT || p->wrap)
        return;
    const CORE_UINT max = p->max[0], past[2] = {p->overflow[0], p->overflow[1]};
    const CORE_UINT infinite[2] = {p->infinite[0], p->infinite[1]};
    const int one_nan = p->nan[0] == p->nan[1], mirrored = one_nan && p->zero[1] == CORE_SIGN && max == p->max[1];
    const int stops = mirrored && past[0] == max && past[1] == (max | CORE_SIGN);
    const int passes = mirrored && past[0] == infinite[0] && past[1] == infinite[1] && past[0] >= CORE_INF &&
                       (past[1] == (past[0] | CORE_SIGN) || (past[1] == past[0] && past[0] == p->nan[0]));
    int m, emin, emax; /* of the float whose steps these are; fixed point: all of it is below 2^emin */
    if (f->kind == FPEMU_KIND_FLOAT) {
        m = (int)f->mantissa_bits;
        emin = f->emin;
        emax = f->emax;
        if (m < 1 || m > CORE_MANT - 1 || f->exponent_bits < 2 || f->subnormals != FPEMU_SUBNORMALS_KEEP)
            return;
        if (emin == 1 - CORE_BIAS) {
            int natural = mirrored && max + ((CORE_UINT)1 << p->d_norm) == CORE_INF;
            for (int s = 0; s < 2; s++) {
                const CORE_UINT signed_infinity = s ? CORE_INF | CORE_SIGN : CORE_INF;
                natural &= infinite[s] == signed_infinity &&
                           (past[s] == signed_infinity || core_stops_at_max(f, mode, s));
            }
            p->rule = natural ? CORE_RULE_FLAT : CORE_RULE_FLAT_GRID;
            return;
        }
    } else {
        m = CORE_MANT - 1;
        emin = p->quantum + m;
        emax = emin;
        if (f->bits > CORE_MANT - 1)
            return;
    }
    /* room for C above, for half a step below and for 2^32 / step */
    if (emax + 1 + CORE_MANT - m > CORE_BIAS || emin - m < 2 - CORE_BIAS || emin + CORE_BIAS < 32 + m)
        return;
    p->quick_cap = CORE(power)(emax + 1);
    p->quick_emin = CORE(power)(emin);
    p->quick_up = (CORE_UINT)(CORE_MANT - m) << CORE_MANT;
    p->quick_low = CORE_W - (emin - m + CORE_BIAS + CORE_MANT);
    p->quick_most = CORE_W - (CORE_MANT - m);
    p->quick_count = CORE(power)(32 - (emin - m));
    p->rule = CORE_RULE_MAGIC_GRID;
    if (f->kind != FPEMU_KIND_FLOAT) {
        if (one_nan && !p->zero[1] && past[0] == max && past[1] == (p->max[1] ? p->max[1] | CORE_SIGN : 0) &&
            infinite[0] == past[0] && infinite[1] == past[1])
            p->rule = CORE_RULE_EVEN;
    } else if (stops && infinite[0] == past[0] && infinite[1] == past[1]) {
        p->rule = CORE_RULE_MAGIC_STOP;
    } else if (stops && (mode == FPEMU_MODE_RNE || mode == FPEMU_MODE_RTZ || mode == FPEMU_MODE_RTO)) {
        p->rule = CORE_RULE_MAGIC_STOP_INF;
    } else if (passes && (mode <= FPEMU_MODE_RNZ || mode == FPEMU_MODE_RAZ || mode >= FPEMU_MODE_SR)) {
        p->rule = CORE_RULE_MAGIC_PASS;
        p->quick_end = CORE(last_inside)(p);
        p->quick_nan = past[1] == past[0] ? p->quick_end : CORE_INF;
    }
}

#if CORE_W == 32
/* Whether this is binary16 as IEEE 754 has it, to nearest: processors convert to it. */
FPEMU_FN int core_is_half32(const core_plan32 *p)
{
    return p->rule == CORE_RULE_MAGIC_PASS && p->mode == FPEMU_MODE_RNE && p->quick_nan == CORE_INF &&
           p->low_one == core_power32(-24) && p->d_norm == 13 && p->max[0] == core_bits32(65504.0f);
}
#endif

/* The rule for the grid step alone of a plan: a quick one, or the plan's own with its ends taken away. */
FPEMU_FN uint8_t CORE(grid_rule)(const CORE(plan) *p)
{
    switch (p->rule) {
    case CORE_RULE_FLAT: return CORE_RULE_FLAT_GRID;
    case CORE_RULE_MAGIC_PASS:
    case CORE_RULE_MAGIC_STOP:
    case CORE_RULE_MAGIC_STOP_INF:
    case CORE_RULE_EVEN: return CORE_RULE_MAGIC_GRID;
    default: return p->rule;
    }
}

/* Codes of floats to nearest even, straight from the number whose last bits count steps. */
typedef struct CORE(direct) {
    CORE_UINT emin, up;      /* as quick_emin and quick_up */
    CORE_UINT drop;          /* discarded bits */
    CORE_UINT end, past;     /* what lies beyond this magnitude has this code, and a sign */
    CORE_UINT nan_end, nan;  /* the same, without a sign */
    CORE_UINT sign, to_sign; /* the sign bit of a code, and by how much to shift the carrier's for it */
} CORE(direct);

/* Whether there is such a form for plan and coder of one call. */
FPEMU_FN int CORE(direct_make)(CORE(direct) *d, const CORE(plan) *p, const CORE(coder) *c)
{
    const int stops = p->rule == CORE_RULE_MAGIC_STOP;
    if ((!stops && p->rule != CORE_RULE_MAGIC_PASS) || p->mode != FPEMU_MODE_RNE || !c->quick_encode)
        return 0;
    d->emin = p->quick_emin;
    d->up = p->quick_up;
    d->drop = (CORE_UINT)c->d_norm;
    d->end = stops ? p->max[0] : p->quick_end;
    d->nan_end = stops ? CORE_INF : p->quick_nan;
    d->past = (CORE_UINT)CORE(encode)(c, CORE_INF, p->overflow[0]);
    d->nan = (CORE_UINT)CORE(encode)(c, CORE_NAN, p->nan[0]);
    d->sign = (CORE_UINT)c->sign;
    d->to_sign = (CORE_UINT)CORE_W - c->bits;
    return 1;
}

FPEMU_FN CORE_UINT CORE(direct_code)(const CORE(direct) *d, CORE_UINT u)
{
    const CORE_UINT a = u & ~CORE_SIGN, field = a & CORE_INF;
    const CORE_UINT e = (CORE_SINT)field < (CORE_SINT)d->emin ? d->emin : field, c = e + d->up;
    const CORE_REAL sum = CORE_VALUE(a) + CORE_VALUE(c);
    const CORE_UINT code = CORE_BITS(sum) - c + ((e - d->emin) >> d->drop);
    return CORE(beyond)(a, d->nan_end, d->nan, CORE(beyond)(a, d->end, d->past, code) | (u >> d->to_sign & d->sign));
}
