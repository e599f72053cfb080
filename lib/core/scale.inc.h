/* SPDX-License-Identifier: BSD-2-Clause */
/* scale.inc.h - scales and scaled elements of one carrier; included by scale.h. */

/* What the rule needs of the format. */
typedef struct core_block {
    realw max, inverse;    /* T, M of the element or another target, and [1/T] */
    realw largest, lowest; /* M, and the lowest value of an element */
    union {
        struct {
            realw scale_min, scale_max, scale_normal; /* float scales: smallest, largest, smallest normal value */
        };
        struct {
            double high, low; /* muppet, whose scales are bare: UB + h, -LB + h; 0 = asks nothing */
        };
    };
    core_tensor tensor;
    int32_t emax, precision; /* of the element */
    int32_t first, last;     /* exponents of the powers of two that the scale format holds */
    uint32_t code_mask;
    uint32_t code_most;                /* of a scale, in a search by codes */
    uint16_t candidates;               /* scales of which one is chosen */
    int16_t search_first, search_step; /* which they are, doc/blocks.md, 2.8; step 0: the rule says that */
    uint16_t search_grid;
    uint8_t search_error; /* fpemu_search_error */
    uint8_t corrected;    /* core_corrected */
    uint8_t order;        /* core_order */
    uint8_t margin;       /* of recipe rules */
    uint8_t rule;         /* fpemu_scaling */
    uint8_t no_zero;      /* the scale format has none */
    uint8_t powers;       /* the rule gives powers of two */
    uint8_t has_zero;     /* the element has one */
    uint8_t bare;         /* the scale is a power of two by itself */
    uint8_t same;         /* the scale format holds every number of the carrier */
    uint8_t nan;          /* a block may become NaN */
    uint8_t near;         /* the element's numbers are far from the carrier's ends: kind MULTIPLY may do */
    uint8_t level_shift;  /* where the bits of levels, or of a second number, begin in the code of a scale */
    uint8_t bits;         /* of an element */
    uint8_t sticky;       /* what underflows in an exact t must not become zero: CORE_STICKY_... */
    /* set only where they are used, since calls on few elements feel it */
    core_plan scale_plan;   /* of a float scale, where core_scale_hold rounds */
    core_coder scale_coder; /* where codes are made or read: core_block_codes */
} core_block;

/* Magnitudes, as bits, of the finite elements of a block. */
typedef struct core_extremes {
    uintw amax;
    uintw high, low;   /* of the largest element above and the smallest below zero; absmean: high is the mean's */
    uint8_t nonfinite; /* there is a NaN or an infinity */
    uint8_t other;     /* they may be those of another tensor */
} core_extremes;

typedef struct core_scale {
    realw down, s, d;
    realw zero;        /* the zero point of integers */
    realw offset, add; /* of order CORE_ZERO_OFFSET: x less the one is scaled, the other is added to y; add: of
                          CORE_MANTISSA, that */
    int32_t exponent;  /* floor(log2 s) */
    uint32_t levels;   /* bits that change the scale of some of the elements: core_level */
    uint64_t code;     /* of a part of a super-block */
    uint8_t order;     /* core_order */
    uint8_t kind;      /* enum core_scale_kind */
    uint8_t saturated; /* cut to an end of the scale format */
    uint8_t counted;   /* s is finite and not 0: in the histogram */
} core_scale;

/* floor(log2 a) of a finite magnitude a != 0. */
FPEMU_FN int core_exponent(uintw a)
{
    const int field = (int)(a >> CARRIER_MANTISSA);
    return field ? field - CARRIER_BIAS : (int)core_log2(a) - CARRIER_BIAS + 1 - CARRIER_MANTISSA;
}

/* The ends of the element in this carrier, to which the values of affine integers are rounded. */
FPEMU_FN void core_block_ends(const fpemu_format *f, double *lowest, double *max)
{
    int64_t q_min, q_max;
    uint64_t significand;
    int32_t exponent;
    *lowest = f->lowest;
    *max = f->max;
    if (f->kind != FPEMU_KIND_INT)
        return;
    core_plan_scale(f, &significand, &exponent);
    core_int_ends(f, &q_min, &q_max);
    *lowest = core_to_double(core_affine_value(significand, exponent, q_min - f->zero_point));
    *max = core_to_double(core_affine_value(significand, exponent, q_max - f->zero_point));
}

/* Fills *b; `scale` is the scale format where it is a float. The element is that of *f. */
FPEMU_FN void core_block_make(core_block *b, const fpemu_format *f, const fpemu_format *scale, const fpemu_rounding *r)
{
    memset(b, 0, offsetof(core_block, scale_plan));
    double lowest, most;
    core_block_ends(f, &lowest, &most);
    const double largest = f->kind == FPEMU_KIND_CODEBOOK && -lowest > most ? -lowest : most;
    uintw max = core_from_double(largest);
    max = max < CARRIER_INF ? max : CARRIER_INF - 1;
    b->rule = f->scaling;
    b->largest = core_value(max);
    b->lowest = core_value(core_from_double(lowest));
    b->max = f->target > 0 ? (realw)f->target : b->rule == FPEMU_SCALING_ABSMEAN ? 1 : b->largest;
    b->inverse = b->rule == FPEMU_SCALING_RCEIL ? core_finite(1 / b->max) : 1 / b->max;
    b->emax = core_exponent(max);
    b->precision = f->kind == FPEMU_KIND_FLOAT ? (int)f->mantissa_bits + 1 : (int)f->bits - f->is_signed;
    b->margin = (uint8_t)f->margin;
    b->bits = (uint8_t)f->bits;
    b->bare = f->scale_power;
    b->powers = b->rule <= FPEMU_SCALING_HBFP || b->rule == FPEMU_SCALING_MUPPET || b->rule == FPEMU_SCALING_PAIRS;
    b->level_shift = (uint8_t)(f->scale_exponent_bits + f->scale_mantissa_bits + f->scale_signed);
    b->has_zero = f->has_zero;
    b->candidates = (uint16_t)core_candidates(f);
    b->search_first = f->search_first;
    b->search_step = (int16_t)((f->search_first < f->search_last) - (f->search_first > f->search_last));
    b->search_grid = f->search_grid;
    b->search_error = (uint8_t)f->search_error;
    b->corrected = (uint8_t)core_corrected(f);
    b->order = (uint8_t)core_order(f);
    const int own =
        b->rule == FPEMU_SCALING_RECIPE || b->rule == FPEMU_SCALING_RECIPE_POW2 || b->rule == FPEMU_SCALING_S2FP8;
    if (b->bare) {
        b->last = (1 << (f->scale_exponent_bits - 1)) - 1;
        b->first = -1 - b->last;
        b->code_mask = (UINT32_C(1) << f->scale_exponent_bits) - 1;
    } else if (b->rule != FPEMU_SCALING_S2FP8) {
        b->scale_min = core_value(core_from_double(scale->min_positive));
        b->scale_max = core_value(core_from_double(scale->max));
        b->scale_normal = core_value(core_from_double(scale->min_normal));
        b->nan = scale->has_nan && !own;
        b->no_zero = !scale->has_zero;
        b->same = CARRIER_BITS == 32 && scale->mantissa_bits == 23 && scale->emin <= -126 && scale->emax >= 127;
        if (!b->powers && !own && !b->same) { /* only then is there a number to round to it */
            fpemu_rounding own_way;
            memset(&own_way, 0, sizeof own_way);
            own_way.overflow = FPEMU_OVERFLOW_SATURATE;
            own_way.mode = b->corrected ? FPEMU_MODE_SR : FPEMU_MODE_RNE; /* which core_scale_hold takes in any case */
            own_way.variant = r->variant;
            own_way.bits = r->bits;
            core_plan_make(&b->scale_plan, scale, &own_way, 0);
        }
        b->last = core_exponent(core_bits(b->scale_max));
        const uintw least = core_bits(b->scale_min);
        b->first = core_exponent(least);
        b->first += core_bits(b->scale_min) != core_power(b->first);
        if (core_rule_is_super(b->rule) || (b->search_step && !b->search_grid && !b->powers)) {
            b->code_most = (uint32_t)scale->max_code;
            core_coder_make(&b->scale_coder, scale, NULL);
        }
    }
    if (b->rule == FPEMU_SCALING_MUPPET) {
        const double half = f->kind == FPEMU_KIND_INT ? f->scale / 2 : core_value64(core_power64(f->quantum - 1));
        /* rounded down where a step is the last bit: no x lies between */
        const double up = most + half, down = half - lowest;
        b->high = up - most > half ? most : up;
        b->low = lowest < 0 ? (down + lowest > half ? -lowest : down) : 0;
    }
    /* 34 random bits below the smallest step, and what multiplications round, stay above the carrier's subnormals */
    b->near = b->emax < CARRIER_BIAS / 2 && f->min_positive >= core_value64(core_power64(40 - CARRIER_BIAS));
    if (b->powers && ((!core_to_nearest(r->mode) && r->mode != FPEMU_MODE_RTZ && r->mode != FPEMU_MODE_SR) ||
                      f->kind == FPEMU_KIND_CODEBOOK || f->kind == FPEMU_KIND_POSIT || !f->has_zero || r->compat))
        b->sticky = CORE_STICKY_VALUES;
    if (b->powers && (f->lowest >= 0 || f->max <= 0))
        b->sticky |= CORE_STICKY_COUNTERS;
}

/* Completes *b for core_scale_code and core_scale_read. */
FPEMU_FN void core_block_codes(core_block *b, const fpemu_format *scale)
{
    if (!b->bare && b->rule != FPEMU_SCALING_S2FP8)
        core_coder_make(&b->scale_coder, scale, NULL);
}

/* A scale of 2^c for a block whose largest element has the exponent `top`. */
FPEMU_FN void core_scale_power(const core_block *b, int c, int top, core_scale *s)
{
    s->d = 1;
    s->counted = 1;
    s->saturated = c < b->first || c > b->last;
    if (s->saturated && b->bare) {
        c = c < b->first ? b->first : b->last;
    } else if (s->saturated) {
        const realw end = c < b->first ? b->scale_min : b->scale_max;
        c = core_exponent(core_bits(end));
        if (core_bits(end) != core_power(c)) { /* an end that is no power of two */
            s->kind = CORE_SCALE_DIVIDE;
            s->down = s->s = end;
            s->exponent = c;
            return;
        }
    }
    const int ends = CARRIER_BIAS - 1;
    s->exponent = c;
    s->kind = CORE_SCALE_POWER;
    if (b->near && c >= -ends && c <= ends && top - c <= ends && c + b->emax < ends) {
        s->kind = CORE_SCALE_MULTIPLY;
        s->down = core_value(core_power(-c));
        s->s = core_value(core_power(c));
    }
}

/* Takes v >= 0 to the scale format by a mode of core_grid, with n random bits r; s->saturated becomes 1 where that cuts
 * it. */
FPEMU_FN realw core_scale_draw(const core_block *b, int mode, int n, realw v, uint32_t r, core_scale *s)
{
    const uintw u = core_bits(v);
    if (u >= CARRIER_INF) {
        s->saturated = 1;
        return b->scale_max;
    }
    if (b->same)
        return v;
    const uintw g = core_grid(&b->scale_plan, mode, 1, n, u, 0, (uintw)r << (CARRIER_BITS - 32));
    s->saturated |= g > b->scale_plan.max[0] || (b->no_zero && v < b->scale_min); /* v may have underflowed */
    return core_value(core_finish_any(&b->scale_plan, u, g));
}

/* The same, to nearest even. */
FPEMU_FN realw core_scale_hold(const core_block *b, realw v, core_scale *s)
{
    return core_scale_draw(b, FPEMU_MODE_RNE, 32, v, 0, s);
}

/* c of the rules that give a power of two. */
FPEMU_FN int core_block_power(const core_block *b, uintw a)
{
    if (core_bits(b->max) != core_bits(b->largest) && b->rule != FPEMU_SCALING_RCEIL) {
        a = core_bits(core_finite(core_value(a) * (b->largest / b->max)));
        a += a == 0;
    }
    const int e = core_exponent(a), up = a != core_power(e); /* ceil(log2) = e + up */
    switch (b->rule) {
    case FPEMU_SCALING_CEIL: return e + up - b->emax;
    case FPEMU_SCALING_HBFP: return e + up - b->emax - 1;
    case FPEMU_SCALING_EVEN: {
        if (b->precision > CARRIER_MANTISSA)
            return e - b->emax;
        const int field = (int)(a >> CARRIER_MANTISSA);
        const uintw sig =
            field ? (a & (CARRIER_HIDDEN - 1)) | CARRIER_HIDDEN : a << (CARRIER_MANTISSA - (int)core_log2(a));
        const uintw rounded = sig + ((uintw)1 << (CARRIER_MANTISSA - b->precision));
        return e + (rounded >= 2 * CARRIER_HIDDEN) - b->emax;
    }
    case FPEMU_SCALING_RCEIL: {
        const uintw q = core_bits(core_finite(core_value(a) * b->inverse));
        if (q == 0)
            return -(1 << 20);
        const int k = core_exponent(q);
        return k + (q != core_power(k));
    }
    default: return e - b->emax;
    }
}

/* The largest n with x * 2^n <= bound; both above 0. */
FPEMU_FN int core_block_room(double x, double bound)
{
    const uint64_t u = core_bits64(x), v = core_bits64(bound), fraction = (UINT64_C(1) << 52) - 1;
    const int shift = u >> 52 ? 0 : 52 - core_log2_64(u), shift_v = v >> 52 ? 0 : 52 - core_log2_64(v);
    return core_exponent64(v) - core_exponent64(u) - (((u << shift) & fraction) > ((v << shift_v) & fraction));
}

/* x, which is not negative; the largest number of binary32 in place of an infinity. By its bits, as core_finite32. */
FPEMU_FN realw core_scale_inverse(realw x)
{
    return core_bits(x) < CARRIER_INF ? x : (realw)FLT_MAX;
}

/* The e of nvfp4: 1/(s*d), at most the largest number of binary32. */
FPEMU_FN realw core_scale_nvfp4(realw s, realw d)
{
    const realw e = 1 / core_finite(s * d), f = (realw)FLT_MAX;
    return e < f ? e : f;
}

/* x > 0 rounded to the precision of bfloat16, to nearest even; not near the carrier's ends. */
FPEMU_FN realw core_bfloat(realw x)
{
    const uintw u = core_bits(x), half = (uintw)1 << (CARRIER_MANTISSA - 8);
    return core_value((u + half - 1 + ((u / half / 2) & 1)) & ~(2 * half - 1));
}

/* What follows of a scale that is held, for the rules whose elements see no more than that: their t and y. */
FPEMU_FN void core_scale_ready(const core_block *b, core_scale *s)
{
    s->kind = CORE_SCALE_MULTIPLY;
    if (core_rule_is_nvfp4(b->rule))
        s->d = (realw)b->tensor.b;
    switch (b->rule) {
    case FPEMU_SCALING_ABSMAX:
        s->kind = CORE_SCALE_DIVIDE;
        s->down = s->s;
        break;
    case FPEMU_SCALING_NVFP4_CLAMP:
    case FPEMU_SCALING_EDEN:
        s->kind = CORE_SCALE_DIVIDE;
        s->down = core_finite(s->s * s->d);
        break;
    case FPEMU_SCALING_NVFP4_AO: s->down = core_scale_inverse((realw)b->tensor.a / s->s); break;
    case FPEMU_SCALING_RECIPROCAL:
    case FPEMU_SCALING_ABSMEAN:
    case FPEMU_SCALING_RECIPE:
    case FPEMU_SCALING_RECIPE_POW2: s->down = s->s > 0 ? core_scale_inverse(1 / s->s) : 0; break;
    default: s->down = core_scale_nvfp4(s->s, s->d); break;
    }
}

/* What is known of a scale that is no power of two by rule. */
FPEMU_FN void core_scale_end(core_scale *s)
{
    s->counted = s->s > 0 || s->s < 0;
    s->exponent = s->counted ? core_exponent(core_bits(s->s) & ~CARRIER_SIGN) : 0;
    if (!s->counted || s->down == 0) /* down: of a multiplier that underflowed, which an infinity would make a NaN of */
        s->kind = CORE_SCALE_ZERO;
}

/* v of either sign, in the scale format. */
FPEMU_FN realw core_scale_hold_signed(const core_block *b, realw v, core_scale *s)
{
    const uintw sign = core_bits(v) & CARRIER_SIGN;
    return core_value(core_bits(core_scale_hold(b, core_value(core_bits(v) ^ sign), s)) | sign);
}

/* The nearest whole number, ties to even. */
FPEMU_FN realw core_whole(realw v)
{
    const uintw u = core_bits(v), sign = u & CARRIER_SIGN;
    const realw large = core_value(core_power(CARRIER_MANTISSA) | sign);
    return (u ^ sign) < core_power(CARRIER_MANTISSA) ? (v + large) - large : v;
}

/* The middle of an element's integers. */
FPEMU_FN realw core_block_middle(const core_block *b)
{
    return (b->largest + b->lowest + 1) / 2;
}

/* Takes an element into account for rules that have ends; e->amax is known. What e->high and e->low are the magnitudes
 * of becomes the largest element and the smallest one, negated; ggml-0: the first of the largest magnitude. first: there
 * was none yet. */
FPEMU_FN void core_ends_add(int rule, core_extremes *e, int *first, uintw u)
{
    const uintw a = u & ~CARRIER_SIGN;
    const realw x = core_value(u);
    if (a >= CARRIER_INF || (rule == FPEMU_SCALING_GGML_0 && (!*first || a < e->amax)))
        return;
    e->high = *first || x > core_value(e->high) ? u : e->high;
    e->low = *first || -x > core_value(e->low) ? core_bits(-x) : e->low;
    *first = 0;
}

/* The scale of a block whose elements lie between lo and hi, and its second number. */
FPEMU_FN void core_scale_affine(const core_block *b, realw lo, realw hi, core_scale *s)
{
    const realw range = core_finite(hi - lo) + 0, steps = b->largest - b->lowest, tiny = core_value(CARRIER_HIDDEN);
    const realw quotient = range / steps, d = quotient < tiny ? tiny : quotient;
    s->kind = CORE_SCALE_MULTIPLY;
    s->order = (uint8_t)core_rule_order(b->rule);
    switch (b->rule) {
    case FPEMU_SCALING_GGML_0: {
        const realw own = hi / b->lowest;
        s->s = core_scale_hold_signed(b, own, s);
        s->down = own < 0 ? -core_scale_inverse(-1 / own) : own > 0 ? core_scale_inverse(1 / own) : 0;
        break;
    }
    case FPEMU_SCALING_GGML_1:
        s->offset = lo;
        s->add = core_scale_hold_signed(b, lo, s);
        s->s = core_scale_hold(b, quotient, s);
        s->down = quotient > 0 ? core_scale_inverse(1 / quotient) : 0;
        break;
    case FPEMU_SCALING_HQQ: {
        const realw most = 1 / range * steps, u = most < 20000 ? most : 20000, zero = -lo * u;
        s->zero = core_scale_hold_signed(b, b->bits == 4 ? core_whole(zero) : zero, s);
        s->s = core_scale_hold(b, 1 / u, s);
        s->down = u;
        break;
    }
    case FPEMU_SCALING_TINYGEMM:
        s->s = core_scale_hold(b, d, s);
        s->zero = core_block_middle(b);
        s->add = core_scale_hold_signed(b, core_finite(lo + d * s->zero), s);
        s->offset = core_finite(s->add - s->s * s->zero);
        s->kind = CORE_SCALE_DIVIDE;
        s->down = s->s;
        break;
    default: {
        const realw zero = b->lowest - core_whole(lo / d);
        s->s = core_scale_hold(b, d, s);
        s->down = s->s > 0 ? core_scale_inverse(1 / s->s) : 0;
        s->zero = zero < b->lowest ? b->lowest : zero > b->largest ? b->largest : zero;
        break;
    }
    }
}

/* The scale of a block by its rule, for a largest magnitude that may be another one than its own; of 4over6 rules the
 * candidate 1 is that for elements up to T * 2/3. */
FPEMU_FN void core_scale_rule(const core_block *b, const core_extremes *e, uintw largest, unsigned candidate,
                              core_scale *s)
{
    const realw amax = core_value(largest);
    const int all_zero = e->amax == 0;
    memset(s, 0, sizeof *s);
    s->d = 1;
    if (e->nonfinite && b->nan) {
        s->kind = CORE_SCALE_NAN;
        return;
    }
    switch (b->rule) {
    case FPEMU_SCALING_ABSMAX:
        s->s = core_scale_hold(b, amax / b->max, s);
        core_scale_ready(b, s);
        break;
    case FPEMU_SCALING_RECIPROCAL: {
        const realw v = amax / b->max, d = core_finite(v);
        s->kind = CORE_SCALE_MULTIPLY;
        s->s = core_scale_hold(b, v, s);
        s->down = d > 0 ? core_scale_inverse(1 / d) : 0;
        break;
    }
    case FPEMU_SCALING_ABSMEAN: {
        const realw mean = core_value(e->high), least = (realw)1e-5;
        s->kind = CORE_SCALE_MULTIPLY;
        s->down = core_scale_inverse(1 / ((mean > least ? mean : least) / b->max));
        s->s = core_scale_hold(b, 1 / s->down, s);
        break;
    }
    case FPEMU_SCALING_NVFP4:
        s->s = core_scale_hold(b, amax * ((realw)b->tensor.a * b->inverse), s);
        core_scale_ready(b, s);
        break;
    case FPEMU_SCALING_NVFP4_AO: {
        const realw v = amax / b->max / (realw)b->tensor.b, low = b->scale_normal;
        s->s = core_scale_hold(b, v, s); /* both ends of the clamp are values: it may come after rounding */
        s->saturated |= s->s < low;
        s->s = s->s < low ? low : s->s;
        core_scale_ready(b, s);
        break;
    }
    case FPEMU_SCALING_4OVER6:
    case FPEMU_SCALING_4OVER6_MSE: {
        const realw base = amax / b->max * (realw)b->tensor.a;
        s->s = core_scale_hold(b, candidate ? base * (realw)1.5 : base, s);
        core_scale_ready(b, s);
        break;
    }
    case FPEMU_SCALING_EDEN:
        s->s = core_scale_hold(b, amax / b->max / (realw)b->tensor.b, s);
        core_scale_ready(b, s);
        break;
    case FPEMU_SCALING_NVFP4_CLAMP: {
        const realw v = amax / (realw)b->tensor.b / b->max, low = b->scale_min;
        s->s = core_scale_hold(b, v < low ? low : v, s);
        s->saturated |= v < low;
        core_scale_ready(b, s);
        break;
    }
    case FPEMU_SCALING_RECIPE:
    case FPEMU_SCALING_RECIPE_POW2: {
        float u = 1;
        if (!all_zero && !e->nonfinite) {
            const double least = core_value64(core_power64(-126));
            u = core_saturated32((double)(b->max / amax));
            const double less = (double)u * core_value64(core_power64(-b->margin));
            u = (float)(less < least ? least : less);
            if (b->rule == FPEMU_SCALING_RECIPE_POW2)
                u = core_value32(core_bits32(u) & 0x7f800000u);
        }
        s->kind = CORE_SCALE_MULTIPLY;
        s->down = (realw)u;
        s->s = (realw)(float)(1 / u); /* binary32, also where the compiler evaluates wider */
        break;
    }
    case FPEMU_SCALING_ASYMMETRIC:
    case FPEMU_SCALING_MINMAX:
    case FPEMU_SCALING_TINYGEMM:
    case FPEMU_SCALING_HQQ:
    case FPEMU_SCALING_GGML_1:
    case FPEMU_SCALING_GGML_0: core_scale_affine(b, 0 - core_value(e->low), core_value(e->high), s); break;
    case FPEMU_SCALING_HIF4:
        s->kind = CORE_SCALE_MULTIPLY;
        s->s = core_scale_hold(b, core_bfloat(amax * (realw)0.142578125), s); /* 1/7 in bfloat16 */
        s->down = core_bfloat(1 / s->s);
        break;
    case FPEMU_SCALING_S2FP8: s->kind = CORE_SCALE_S2FP8; return;
    case FPEMU_SCALING_MUPPET: {
        const double high = b->high > 0 ? core_to_double(e->high) : 0, low = b->low > 0 ? core_to_double(e->low) : 0;
        const int n_high = high > 0 ? core_block_room(high, b->high) : INT32_MAX;
        const int n_low = low > 0 ? core_block_room(low, b->low) : INT32_MAX;
        const int n = n_high < n_low ? n_high : n_low;
        core_scale_power(b, n == INT32_MAX ? 0 : -n, all_zero ? 0 : core_exponent(e->amax), s);
        s->saturated = s->saturated && !all_zero;
        return;
    }
    default:
        if (!all_zero) {
            core_scale_power(b, core_block_power(b, largest), core_exponent(e->amax), s);
            return;
        }
        core_scale_power(b, b->bare ? b->first : -(1 << 20), 0, s);
        s->saturated = 0;
        if (b->has_zero && !e->nonfinite && !e->other && s->kind == CORE_SCALE_POWER) { /* whatever the scale, +-0 */
            s->kind = CORE_SCALE_MULTIPLY;
            s->down = s->s = 1;
        }
        return;
    }
    s->saturated = s->saturated && !all_zero;
    core_scale_end(s);
}

/* Takes a scale so many codes further, or exponents where it is a power of two; amax is not 0. */
FPEMU_FN void core_scale_step(const core_block *b, int codes, uintw amax, core_scale *s)
{
    if (b->powers) {
        core_scale_power(b, s->exponent + codes, core_exponent(amax), s);
        return;
    }
    const uintw u = core_bits(s->s);
    const int64_t code = (int64_t)core_encode(&b->scale_coder, u, u) + codes, least = !b->no_zero;
    const int64_t kept = code < least ? least : code > b->code_most ? b->code_most : code;
    s->saturated |= kept != code;
    s->s = core_value(core_decode(&b->scale_coder, (uint64_t)kept));
    core_scale_ready(b, s);
    core_scale_end(s);
}

/* Scale `i` of those of which one is chosen; of others that of the rule. */
FPEMU_FN void core_scale_candidate(const core_block *b, const core_extremes *e, unsigned i, core_scale *s)
{
    const int k = b->search_first + b->search_step * (int)i;
    uintw amax = e->amax;
    if (b->search_grid && amax) {
        amax = core_bits(core_finite(core_value(amax) * ((realw)k / (realw)b->search_grid)));
        amax += amax == 0;
    }
    core_scale_rule(b, e, amax, i, s);
    if (b->search_step && !b->search_grid && amax && s->kind != CORE_SCALE_NAN)
        core_scale_step(b, k, amax, s);
}

/* The same of a block that shares a mantissa m with others: its elements see x * m. */
FPEMU_FN void core_scale_share(const core_block *b, const core_extremes *e, realw m, core_scale *s)
{
    core_scale_rule(b, e, core_bits(core_finite(core_value(e->amax) * m)), 0, s);
    if (s->kind == CORE_SCALE_NAN)
        return;
    s->kind = CORE_SCALE_MULTIPLY;
    s->s = core_value(core_power(s->exponent));
    s->down = m * core_value(core_power(-s->exponent));
    s->order = CORE_MANTISSA;
    s->add = m;
}

/* The scale of block `block` that the caller gives, and the zero point of its integers: doc/blocks.md, 1.4. */
FPEMU_FN void core_scale_given(const core_block *b, const fpemu_given *given, uint64_t block, core_scale *s)
{
    const int order = given->order;
    const realw v = (realw)given->scales[block], zero = order ? (realw)given->zeros[block] : 0;
    const uintw u = core_bits(v), z = core_bits(zero) & ~CARRIER_SIGN; /* u: negative ones are beyond infinity */
    const int own = b->rule == FPEMU_SCALING_RECIPE || b->rule == FPEMU_SCALING_RECIPE_POW2;
    memset(s, 0, sizeof *s);
    s->d = 1;
    s->kind = CORE_SCALE_NAN;
    if (u >= CARRIER_INF || z >= CARRIER_INF)
        return;
    if (order == FPEMU_ZERO_AFTER && (!(zero >= b->lowest && zero <= b->largest) || (realw)(int32_t)zero != zero))
        return;
    if (b->powers) {
        const int c = u ? core_exponent(u) : 0;
        if (u == core_power(c))
            core_scale_power(b, c, c, s);
        return;
    }
    s->s = own ? v : core_scale_hold(b, v, s);
    core_scale_ready(b, s);
    core_scale_end(s);
    s->zero = zero;
    s->order = (uint8_t)order;
}

/* Completes *s by the bits of levels. group: the largest finite magnitudes of core_rule_levels(rule) neighbours each. */
FPEMU_FN void core_scale_levels(const core_block *b, uintw amax, const uintw *group, unsigned groups, core_scale *s)
{
    if (s->kind == CORE_SCALE_NAN || amax == 0)
        return;
    for (unsigned g = 0; g < groups; g++) {
        const uintw a = group[g], beside = (g ^ 1) < groups ? group[g ^ 1] : 0;
        if (b->rule == FPEMU_SCALING_PAIRS) {
            s->levels |= (uint32_t)(a == 0 || core_exponent(a) < core_exponent(amax)) << g;
        } else {
            const uint32_t high = core_value(a > beside ? a : beside) * s->down >= 4;
            s->levels |= high << g / 2 | (uint32_t)(core_value(a) * s->down >= (high ? 4 : 2)) << (8 + g);
        }
    }
}

/* The scale of the element at `place` of a block with scale *s. */
FPEMU_FN core_scale core_scale_at(const core_block *b, const core_scale *s, unsigned place)
{
    const int c = core_level(b->rule, s->levels, place);
    core_scale own = *s;
    own.exponent += c;
    own.down *= core_value(core_power(-c));
    own.s *= core_value(core_power(c));
    return own;
}

/* The error of the element u of e2m1 under a candidate, whose multiplier is 0 where the scale is; 0 of what is not
 * finite. */
FPEMU_FN realw core_choice_error(const core_block *b, realw down, realw scale, uintw u)
{
    const uintw a = u & ~CARRIER_SIGN;
    const realw x = core_value(a < CARRIER_INF ? a : 0), t = x * down, kept = t < 6 ? t : 6;
    const realw step = (realw)(kept < 2 ? 0.5 : kept < 4 ? 1 : 2);
    const realw shift = core_value(core_power(CARRIER_MANTISSA)) * (realw)1.5 * step;
    const realw d = ((kept + shift) - shift) * scale * (realw)b->tensor.amax / (realw)b->tensor.most - x;
    const realw error = b->rule == FPEMU_SCALING_4OVER6_MSE ? d * d : core_value(core_bits(d) & ~CARRIER_SIGN);
    return a < CARRIER_INF ? error : 0;
}

/* What the element u adds to the error of a search, y being what it becomes; 0 of what is not finite. */
FPEMU_FN realw core_search_error(uint32_t error, uintw u, uintw y)
{
    const realw x = core_value(u), d = core_value(y) - x, weighted = error == FPEMU_SEARCH_WEIGHTED ? d * x : d;
    const realw e = error == FPEMU_SEARCH_ABSOLUTE ? core_value(core_bits(d) & ~CARRIER_SIGN) : weighted * weighted;
    return (u & ~CARRIER_SIGN) < CARRIER_INF ? e : 0;
}

/* Adds the errors of rows, of which there are at most CORE_CHOICE_ROWS: halves by halves. */
FPEMU_FN realw core_choice_total(realw *row, unsigned rows)
{
    for (unsigned half = CORE_CHOICE_ROWS / 2; half > 0; half /= 2)
        for (unsigned k = 0; k < half && k + half < rows; k++)
            row[k] = row[k] + row[k + half];
    return row[0];
}

/* The code of the second number of a block, and back. */
FPEMU_FN uint64_t core_scale_second(const core_block *b, const core_scale *s)
{
    const uintw u = core_bits(s->order == CORE_ZERO_OFFSET ? s->add : s->zero);
    if (s->order == CORE_MANTISSA)
        return core_bits(s->add) >> (CARRIER_MANTISSA - 8) & 255;
    if (s->order == FPEMU_ZERO_AFTER)
        return (uint64_t)(int64_t)s->zero & ((UINT64_C(1) << b->bits) - 1);
    return core_encode(&b->scale_coder, u, u);
}

FPEMU_FN void core_scale_read_second(const core_block *b, uint64_t code, core_scale *s)
{
    const uint64_t top = b->lowest < 0 ? UINT64_C(1) << (b->bits - 1) : 0;
    if (s->order == FPEMU_ZERO_AFTER)
        s->zero = (realw)(int64_t)(((code & ((UINT64_C(1) << b->bits) - 1)) ^ top) - top);
    else if (s->order == FPEMU_ZERO_BEFORE)
        s->zero = core_value(core_decode(&b->scale_coder, code));
    else if (s->order == CORE_MANTISSA)
        s->add = 1 + (realw)(code & 255) / 256;
    else
        s->add = core_value(core_decode(&b->scale_coder, code));
    if (b->rule == FPEMU_SCALING_TINYGEMM)
        s->zero = core_block_middle(b);
}

/* The code of a scale that core_scale_candidate made. */
FPEMU_FN uint64_t core_scale_code(const core_block *b, const core_scale *s)
{
    const uint64_t levels = (b->order ? core_scale_second(b, s) : (uint64_t)s->levels) << b->level_shift;
    if (b->bare)
        return ((uint32_t)s->exponent & b->code_mask) | levels;
    if (s->kind == CORE_SCALE_NAN) /* its second number is 0 */
        return core_encode(&b->scale_coder, CARRIER_NAN, CARRIER_NAN);
    if (core_rule_is_super(b->rule))
        return s->code;
    const int power = b->powers && s->kind != CORE_SCALE_DIVIDE;
    const uintw u = power ? core_power(s->exponent) : core_bits(s->s);
    return core_encode(&b->scale_coder, u, u) | levels;
}

/* What follows of the two numbers of a super-block and the multiples that a block has of them. */
FPEMU_FN void core_super_ready(const core_block *b, realw d, realw m, realw multiple, realw least, core_scale *s)
{
    s->s = s->down = d * multiple + 0; /* a zero of no sign */
    s->order = (uint8_t)core_rule_order(b->rule);
    s->offset = s->add = s->order ? -(m * least) : 0;
}

/* What such a code says, d being its first number. */
FPEMU_FN void core_super_read(const core_block *b, uint64_t code, core_scale *s)
{
    const realw d = s->s, m = core_value(core_decode(&b->scale_coder, code >> b->level_shift));
    const uint64_t multiples = code >> b->level_shift, above = multiples >> b->level_shift;
    const int multiple = s->order ? (int)(above & 63) : (int)((multiples & 255) ^ 128) - 128;
    core_super_ready(b, d, m, (realw)multiple, (realw)(above >> 6 & 63), s);
}

/* What a code says of the elements' values; `down` is not set. */
FPEMU_FN void core_scale_read(const core_block *b, uint64_t code, core_scale *s)
{
    memset(s, 0, sizeof *s);
    s->d = 1;
    s->levels = core_rule_levels(b->rule) ? (uint32_t)(code >> b->level_shift) : 0;
    if (b->rule == FPEMU_SCALING_S2FP8) {
        s->kind = CORE_SCALE_S2FP8;
    } else if (b->bare) {
        const uint32_t c = (uint32_t)code & b->code_mask, top = (b->code_mask >> 1) + 1;
        s->kind = CORE_SCALE_POWER;
        s->exponent = (int32_t)(c ^ top) - (int32_t)top;
    } else {
        const uintw u = core_decode(&b->scale_coder, code);
        s->kind = (u & ~CARRIER_SIGN) > CARRIER_INF ? CORE_SCALE_NAN : CORE_SCALE_MULTIPLY;
        s->s = core_value(u);
        if (core_rule_is_nvfp4(b->rule))
            s->d = (realw)b->tensor.b;
        s->order = b->order;
        if (core_rule_is_super(b->rule))
            core_super_read(b, code, s);
        else if (s->order)
            core_scale_read_second(b, code >> b->level_shift, s);
    }
}

/* Magnitude bits of P * 2^c for a magnitude P, rounded once; infinite only where P is, of a stranger's code. */
FPEMU_FN uintw core_times_power(uintw a, int c)
{
    if (a == 0)
        return 0;
    const int field = (int)(a >> CARRIER_MANTISSA);
    const int64_t k = (int64_t)(field ? (a & (CARRIER_HIDDEN - 1)) | CARRIER_HIDDEN : a);
    if (a == CARRIER_INF)
        return a;
    if (core_exponent(a) + c > CARRIER_BIAS)
        return CARRIER_INF - 1;
    const uintw y =
        core_affine_value(UINT64_C(1) << 52, (field ? field : 1) - CARRIER_BIAS - CARRIER_MANTISSA + c - 52, k);
    return y < CARRIER_INF ? y : CARRIER_INF - 1;
}

/* t for a finite or infinite x, of kinds ZERO, MULTIPLY and DIVIDE; a NaN stays as it is. */
FPEMU_FN uintw core_block_t(const core_scale *s, int sticky, uintw u)
{
    const uintw sign = u & CARRIER_SIGN, a = u & ~CARRIER_SIGN;
    const realw x = core_value(u);
    uintw t = s->kind == CORE_SCALE_DIVIDE ? core_bits(x / s->down) : core_bits(x * s->down);
    t = s->kind == CORE_SCALE_ZERO ? (a < CARRIER_INF ? sign : u) : t;
    if (sticky && s->kind == CORE_SCALE_MULTIPLY && (t & ~CARRIER_SIGN) == 0)
        t = sign | (uintw)(a != 0);
    return a > CARRIER_INF ? u : t;
}

/* Corrects a scale by the sums of t * t and t * P, with the random bits r; its elements see it as it was. */
FPEMU_FN void core_scale_correct(const core_block *b, realw squares, realw products, uint32_t r, core_scale *s)
{
    const realw c = squares / products, own = c > 0 && core_bits(c) < CARRIER_INF ? c : 1;
    if (s->kind == CORE_SCALE_NAN)
        return;
    s->s = core_scale_draw(b, b->scale_plan.mode, b->scale_plan.n, core_finite(s->s * own), r, s);
    core_scale_end(s);
}

/* What is scaled of x: x less the offset of its block. */
FPEMU_FN uintw core_offset_x(const core_scale *s, uintw u)
{
    return (u & ~CARRIER_SIGN) > CARRIER_INF ? u : core_bits(core_value(u) - s->offset);
}

/* t of an integer element with a zero point, from the quotient t; nan: 0 where P of a NaN of either sign is 0, which
 * then means the zero point. */
FPEMU_FN uintw core_zero_t(const core_scale *s, uintw nan, uintw t)
{
    const realw v = core_value((t & ~CARRIER_SIGN) > CARRIER_INF && nan == 0 ? 0 : t);
    return core_bits(s->order == FPEMU_ZERO_BEFORE ? v + s->zero : v);
}

/* t of the t that core_zero_t gave, or of g, which is that on the grid of integers without ends, a magnitude: with the
 * zero point. */
FPEMU_FN realw core_zero_sum(const core_scale *s, uintw t, uintw g)
{
    const uintw a = t & ~CARRIER_SIGN;
    return core_value((t & CARRIER_SIGN) | (a < CARRIER_INF ? g : a)) + (s->order == FPEMU_ZERO_AFTER ? s->zero : 0);
}

/* Whether that lies outside the ends. */
FPEMU_FN uintw core_zero_outside(const core_block *b, realw v)
{
    return (uintw)(v < b->lowest) | (uintw)(v > b->largest);
}

/* q of a t and its g; nan: P of a NaN. */
FPEMU_FN uintw core_zero_q(const core_block *b, const core_scale *s, uintw nan, uintw t, uintw g)
{
    const realw v = core_zero_sum(s, t, g), low = b->lowest, high = b->largest;
    return (t & ~CARRIER_SIGN) > CARRIER_INF ? nan : core_bits((v < low ? low : v > high ? high : v) + 0);
}

/* Whether t, made of a finite x, lies past the carrier's end: then past the element's too, whatever rounding finds on a
 * grid, which has no such number; but what is negative is nothing of e8m0. positive: the element has no negative numbers
 * at all, as e8m0. */
FPEMU_FN uintw core_block_t_over(uintw positive, uintw t)
{
    return (uintw)((t & ~CARRIER_SIGN) == CARRIER_INF) & ~((t >> (CARRIER_BITS - 1)) & positive);
}

/* y for P, of every kind but NAN, ZERO (P as it is) and S2FP8. */
FPEMU_FN uintw core_block_y(const core_scale *s, uintw u)
{
    const uintw sign = u & CARRIER_SIGN, a = u & ~CARRIER_SIGN;
    if (s->kind == CORE_SCALE_POWER)
        return a > CARRIER_INF ? CARRIER_NAN : sign | core_times_power(a, s->exponent);
    const realw y = (core_value(u) * s->s) * s->d; /* a NaN also where a code says s is infinite */
    return y == y ? core_bits(core_finite(y)) + (uintw)(a == CARRIER_INF) : CARRIER_NAN;
}

/* y for q of an element with a zero point, or in a block with an offset or a mantissa. */
FPEMU_FN uintw core_zero_y(const core_scale *s, uintw q)
{
    if (s->order == CORE_MANTISSA)
        return core_bits(core_value(core_block_y(s, q)) / s->add);
    const realw scaled = (core_value(q) - s->zero) * s->s, y = s->order == CORE_ZERO_OFFSET ? scaled + s->add : scaled;
    return y == y ? core_bits(core_finite(y)) : CARRIER_NAN;
}
