/* SPDX-License-Identifier: BSD-2-Clause */
/* plan.inc.h - plan and coder of one carrier; included by plan.h. */

/* The grid whose every step is 2^quantum. */
FPEMU_FN void core_plan_fixed_grid(core_plan *p, int quantum)
{
    p->one = 1;
    p->emin_field = 2 * CARRIER_BIAS + 2;
    p->emin_bits = CARRIER_INF;
    p->d_norm = 0;
    p->d_low = quantum + CARRIER_BIAS + CARRIER_MANTISSA;
    p->low_one = core_power(quantum);
    p->odd = 1;
    p->quantum = quantum;
}

/* Whether an int format is a plain grid in this carrier: scale a power of two, every scale * (q - z) exact. */
FPEMU_FN int core_int_is_grid(const fpemu_format *f, int *quantum)
{
    return core_is_power(core_value64(CARRIER_BITS == 32 ? core_bits64((double)core_value32(core_narrow(f->scale)))
                                                         : core_bits64(f->scale)),
                         quantum) &&
           f->bits <= CARRIER_MANTISSA + 1 && *quantum >= 1 - CARRIER_BIAS - CARRIER_MANTISSA;
}

FPEMU_FN void core_plan_scale(const fpemu_format *f, uint64_t *sig, int32_t *exponent)
{
    const uint64_t u =
        CARRIER_BITS == 32 ? core_bits64((double)core_value32(core_narrow(f->scale))) : core_bits64(f->scale);
    const int field = (int)(u >> 52);
    const uint64_t fraction = u & ((UINT64_C(1) << 52) - 1);
    const int shift = field || fraction == 0 ? 0 : 52 - core_log2_64(fraction);
    *sig = field ? fraction | UINT64_C(1) << 52 : fraction << shift;
    *exponent = (field ? field : 1) - 1075 - shift;
}

/* Fills *p. */
FPEMU_FN void core_plan_make(core_plan *p, const fpemu_format *f, const fpemu_rounding *r, int to_code)
{
    const int mode = core_mode(r), policy = core_overflow_policy(f, r), nan = core_nan_policy(f, r);
    /* e8m0 keeps nothing under saturate-keep-inf: what overflows is NaN there too, but not in ml_dtypes */
    const int keeps = f->specials != FPEMU_SPECIALS_E8M0 || r->compat == FPEMU_COMPAT_ML_DTYPES;
    const int saturate = policy == FPEMU_OVERFLOW_SATURATE || (policy == FPEMU_OVERFLOW_SATURATE_KEEP_INF && keeps);
    memset(p, 0, sizeof *p);
    p->mode = (uint8_t)mode;
    p->n = r->bits ? r->bits : 32;
    p->bits = f->bits;
    p->is_signed = f->is_signed;
    p->zero_point = f->zero_point;
    p->rule = CORE_RULE_FLOAT;
    p->odd = 1;
    p->one = 1;
    p->ones = ~(uintw)0;

    uintw max = 0, low = 0; /* magnitudes of the ends */
    if (f->kind != FPEMU_KIND_INT) {
        max = core_from_double(f->max);
        low = f->lowest < 0 ? core_from_double(f->lowest) & ~CARRIER_SIGN : 0;
    }
    uintw value_max[2], infinity[2] = {CARRIER_INF, CARRIER_INF | CARRIER_SIGN};

    if (f->kind == FPEMU_KIND_FLOAT) {
        const int hif8 = f->specials == FPEMU_SPECIALS_HIF8, emin = hif8 ? f->quantum : f->emin;
        const int normal_field = emin + CARRIER_BIAS;
        p->emin_field = normal_field;
        p->emin_bits = core_power(emin);
        p->d_norm = CARRIER_MANTISSA - (int)f->mantissa_bits;
        const int low_quantum = f->subnormals == FPEMU_SUBNORMALS_NONE ? f->emin : f->quantum;
        p->d_low = low_quantum + CARRIER_BIAS + CARRIER_MANTISSA;
        p->low_one = core_power(low_quantum);
        p->p1 = hif8 ? CORE_HIF8_P1 : f->mantissa_bits == 0;
        p->odd = p->p1 == 1 ? (uintw)(f->bias - CARRIER_BIAS) & 1 : 1;
        p->min_normal = core_from_double(f->min_normal);
        if (f->subnormals == FPEMU_SUBNORMALS_FLUSH_IN || f->specials == FPEMU_SPECIALS_DLFLOAT ||
            f->specials == FPEMU_SPECIALS_E8M0)
            p->in_min = p->emin_bits;
        if (f->subnormals == FPEMU_SUBNORMALS_FLUSH_OUT)
            p->out_min = p->emin_bits;
        if (f->specials == FPEMU_SPECIALS_DLFLOAT) /* 2^emin has no code: T = 0 there is the zero */
            p->out_min = core_from_double(f->min_positive);
        p->any = p->in_min || p->out_min || normal_field < 1 || hif8;
    } else if (f->kind == FPEMU_KIND_FIXED) {
        core_plan_fixed_grid(p, f->quantum);
        p->wrap = f->wrap && !saturate;
        p->fraction_bits = f->fraction_bits;
    } else if (f->kind == FPEMU_KIND_INT) {
        int quantum;
        core_int_ends(f, &p->q_min, &p->q_max);
        p->wrap = f->wrap && !saturate;
        core_plan_scale(f, &p->scale_sig, &p->scale_exp);
        p->scale_value = core_value64(core_compose64(p->scale_sig, p->scale_exp));
        const int exact_order = r->compat != FPEMU_COMPAT_PYTORCH_DIVIDE && r->compat != FPEMU_COMPAT_PYTORCH_MULTIPLY;
        max = core_affine_value(p->scale_sig, p->scale_exp, p->q_max - f->zero_point);
        low = core_affine_value(p->scale_sig, p->scale_exp, p->q_min - f->zero_point) & ~CARRIER_SIGN;
        if (exact_order && core_int_is_grid(f, &quantum)) {
            core_plan_fixed_grid(p, quantum);
        } else {
            p->rule = CORE_RULE_AFFINE;
        }
    } else {
        p->rule = CORE_RULE_POSIT;
        p->posit_n = f->bits;
        p->posit_es = f->exponent_bits;
        p->posit_max = max;
        p->posit_min = core_from_double(f->min_positive);
    }

    /* ends */
    value_max[0] = max;
    value_max[1] = low ? low | CARRIER_SIGN : 0;
    p->max[0] = max;
    p->max[1] = low;
    const int nan_exists = f->has_nan && f->kind == FPEMU_KIND_FLOAT;
    const int absorbs = f->has_infinity || (nan_exists && f->specials != FPEMU_SPECIALS_P3109F); /* overflow leaves */
    for (int s = 0; s < 2; s++) {
        const int below_zero = s && !f->is_signed && f->kind == FPEMU_KIND_FLOAT;
        uintw beyond = value_max[s], infinite = value_max[s];
        if (f->kind == FPEMU_KIND_FLOAT && !saturate) {
            if (below_zero)
                beyond = mode == FPEMU_MODE_RTZ || mode == FPEMU_MODE_RTP || !nan_exists ? 0 : CARRIER_NAN;
            else if (absorbs && !core_stops_at_max(f, mode, s))
                beyond = f->has_infinity ? infinity[s] : CARRIER_NAN;
        }
        if (f->kind == FPEMU_KIND_FLOAT && policy != FPEMU_OVERFLOW_SATURATE) {
            if (below_zero)
                infinite = nan_exists && policy == FPEMU_OVERFLOW_IEEE ? CARRIER_NAN : 0;
            else if (absorbs)
                infinite = f->has_infinity ? infinity[s] : CARRIER_NAN;
        }
        if (f->kind == FPEMU_KIND_POSIT && policy != FPEMU_OVERFLOW_SATURATE)
            infinite = CARRIER_NAN;
        p->overflow[s] = beyond;
        p->infinite[s] = infinite;
        p->zero[s] = s && f->has_negative_zero ? CARRIER_SIGN : 0;
        p->nan[s] = CARRIER_NAN;
        if (!f->has_nan) {
            if (nan == FPEMU_NAN_MAX)
                p->nan[s] = value_max[0];
            else if (nan == FPEMU_NAN_SIGNMAX)
                p->nan[s] = value_max[s];
            else if (nan == FPEMU_NAN_ZERO)
                p->nan[s] = 0;
        }
    }
    if (f->specials == FPEMU_SPECIALS_E8M0 && f->kind == FPEMU_KIND_FLOAT) {
        p->zero[0] = p->zero[1] = p->emin_bits;
        p->max[1] = ~(uintw)0;
        p->negative = CARRIER_NAN;
        p->min_normal = 0;
    }

    /* compatibility settings that act here */
    const int is_float = f->kind == FPEMU_KIND_FLOAT;
    switch (r->compat) {
    case FPEMU_COMPAT_LEE_INF:
    case FPEMU_COMPAT_QPYTORCH:
        if (is_float && !p->negative && f->specials < FPEMU_SPECIALS_DLFLOAT) {
            p->compat = r->compat;
            p->pre_d = f->emin - 23 + CARRIER_BIAS + CARRIER_MANTISSA;
            p->zero[1] = 0;
            if (r->compat == FPEMU_COMPAT_LEE_INF && !to_code) {
                p->overflow[0] = infinity[0];
                p->overflow[1] = infinity[1];
            }
        } else if (CARRIER_BITS == 32 && f->kind == FPEMU_KIND_FIXED && r->compat == FPEMU_COMPAT_QPYTORCH &&
                   (mode == FPEMU_MODE_RNE || mode == FPEMU_MODE_SR)) {
            p->compat = r->compat;
        }
        break;
    case FPEMU_COMPAT_CPFLOAT:
        if (is_float && p->p1 < CORE_HIF8_P1 && f->is_signed && (mode == FPEMU_MODE_SR || mode == FPEMU_MODE_SE))
            p->compat = r->compat;
        break;
    case FPEMU_COMPAT_ML_DTYPES:
        if (p->negative && p->p1) {
            p->compat = r->compat;
            if (saturate)
                p->negative = p->emin_bits; /* and zero */
            if (mode == FPEMU_MODE_RNE)
                p->mode = FPEMU_MODE_RNA;
        }
        break;
    case FPEMU_COMPAT_PYTORCH_CAST:
    case FPEMU_COMPAT_CUDA:
        if (p->negative && p->p1) {
            p->compat = r->compat; /* the sign is dropped first */
            p->max[1] = p->max[0];
            p->negative = 0;
            if (mode == FPEMU_MODE_RNE && r->compat == FPEMU_COMPAT_PYTORCH_CAST)
                p->mode = FPEMU_MODE_RNA;
        }
        break;
    case FPEMU_COMPAT_PYTORCH_DIVIDE:
    case FPEMU_COMPAT_PYTORCH_MULTIPLY:
        if (f->kind == FPEMU_KIND_INT)
            p->compat = r->compat;
        break;
    default: break;
    }
    /* by |: with ||, compilers read neighbours at once that were written one by one, which takes as long as the rest */
    if (p->rule == CORE_RULE_AFFINE && CARRIER_BITS == 32 && f->bits <= 22 && !(p->compat | p->wrap))
        p->rule = CORE_RULE_AFFINE_FAST;
    if (p->rule == CORE_RULE_FLOAT && (p->any | p->compat))
        p->rule = CORE_RULE_ANY;
    p->any = p->rule == CORE_RULE_ANY;
}

/* The same grid without ends: what a value is there says whether it overflows. No ends, no wrapping, zeros and
 * negatives as they come; a fast rule becomes that of its grid step alone. */
FPEMU_FN core_plan core_plan_unbounded(const core_plan *p)
{
    core_plan grid = *p;
    grid.max[0] = grid.max[1] = ~(uintw)0;
    grid.zero[0] = grid.zero[1] = 0;
    grid.wrap = 0;
    grid.negative = 0;
    grid.has_ends = 0;
    switch (p->rule) {
    case CORE_RULE_FULL_RANGE: grid.rule = CORE_RULE_FULL_RANGE_GRID; break;
    case CORE_RULE_SHIFTER_PASS:
    case CORE_RULE_SHIFTER_STOP:
    case CORE_RULE_SHIFTER_STOP_INF:
    case CORE_RULE_EVEN: grid.rule = CORE_RULE_SHIFTER_GRID; break;
    default: break;
    }
    return grid;
}

FPEMU_FN void core_coder_make(core_coder *c, const fpemu_format *f, const fpemu_rounding *r)
{
    memset(c, 0, sizeof *c);
    c->kind = (uint8_t)f->kind;
    c->is_signed = f->is_signed;
    c->has_infinity = f->has_infinity;
    c->has_nan = f->has_nan;
    c->has_negative_zero = f->has_negative_zero;
    c->mask = ~UINT64_C(0) >> (64 - f->bits);
    c->bits = f->bits;
    c->zero_point = f->zero_point;
    c->quantum = f->quantum;
    const uint64_t top_bit = UINT64_C(1) << (f->bits - 1);
    c->magnitude = c->mask;
    c->unused = f->symmetric ? top_bit : ~UINT64_C(0);
    if (f->kind == FPEMU_KIND_FLOAT) {
        c->sign = f->is_signed ? top_bit : 0;
        c->magnitude = c->mask & ~c->sign;
        c->emin_bits = core_power(f->emin);
        c->d_norm = CARRIER_MANTISSA - (int)f->mantissa_bits;
        c->d_low = f->emin - (int)f->mantissa_bits + CARRIER_BIAS + CARRIER_MANTISSA;
        c->bias = f->bias - CARRIER_BIAS;
        c->m = (int32_t)f->mantissa_bits;
        c->first_field = f->emin + f->bias;
        c->top = f->max_code;
        c->decode_infinity = f->has_infinity ? f->max_code + 1 : ~UINT64_C(0);
        c->decode_nan = f->has_nan ? f->nan_code : ~UINT64_C(0);
        c->fraction = (UINT64_C(1) << f->mantissa_bits) - 1;
        c->least = f->specials == FPEMU_SPECIALS_DLFLOAT;
        c->step = core_value(core_power(f->emin - (int)f->mantissa_bits));
        /* without a mantissa nothing takes two steps, and they may be past the carrier */
        c->step2 = f->mantissa_bits ? core_value(core_power(f->emin - (int)f->mantissa_bits + 1)) : 0;
        c->drop_subnormals = f->subnormals != FPEMU_SUBNORMALS_KEEP;
    } else if (f->kind == FPEMU_KIND_POSIT) {
        c->n = (int32_t)f->bits;
        c->es = (int32_t)f->exponent_bits;
    } else if (f->kind == FPEMU_KIND_FIXED) {
        c->d_low = c->quantum + CARRIER_BIAS + CARRIER_MANTISSA;
    } else {
        int quantum;
        core_plan_scale(f, &c->scale_sig, &c->scale_exp);
        c->scale_value = core_value64(core_compose64(c->scale_sig, c->scale_exp));
        c->affine = !core_int_is_grid(f, &quantum);
        if (!c->affine)
            c->quantum = quantum;
        c->d_low = c->quantum + CARRIER_BIAS + CARRIER_MANTISSA;
    }
    const int is_float = f->kind == FPEMU_KIND_FLOAT, is_posit = f->kind == FPEMU_KIND_POSIT;
    for (int s = 0; s < 2; s++) {
        const uint64_t sign = s ? c->sign : 0;
        c->infinite[s] = f->has_infinity ? (f->max_code + 1) | sign : f->max_code | sign;
        /* without a NaN code: floats write the code of +max, integers 0 */
        c->nan[s] = f->has_nan ? f->nan_code : is_float ? f->max_code : 0;
        if (r && r->compat == FPEMU_COMPAT_CUDA && is_float && f->specials == FPEMU_SPECIALS_IEEE && f->has_nan)
            c->nan[s] = c->magnitude;
        c->made_nan[s] = c->nan[s];
        if (r && r->compat == FPEMU_COMPAT_CUDA && is_float && f->specials == FPEMU_SPECIALS_FN)
            c->made_nan[s] = c->nan[s] | sign;
        if (r && r->compat == FPEMU_COMPAT_ML_DTYPES && is_float) {
            if (!f->has_nan)
                c->nan[s] = s ? 0 : c->sign;
            else if (f->specials == FPEMU_SPECIALS_IEEE)
                c->nan[s] = c->made_nan[s] = ((f->max_code + 1) | (UINT64_C(1) << (f->mantissa_bits - 1))) | sign;
            else if (f->specials == FPEMU_SPECIALS_FN)
                c->nan[s] = c->made_nan[s] = f->nan_code | sign;
        }
    }
    /* room for fast_c, whose unit in the last place is the smallest step; and codes that the carrier's width holds */
    const int unit = f->emin - (int)f->mantissa_bits + CARRIER_MANTISSA;
    if (is_float && f->bits <= CARRIER_BITS && f->mantissa_bits >= 1 && f->mantissa_bits < CARRIER_MANTISSA &&
        c->first_field == 1 && f->subnormals == FPEMU_SUBNORMALS_KEEP && f->emin >= 1 - CARRIER_BIAS &&
        unit < CARRIER_BIAS &&
        (f->emin > 1 - CARRIER_BIAS ? f->emin - (int)f->mantissa_bits > 1 - CARRIER_BIAS : f->bias == CARRIER_BIAS)) {
        const int plain = f->emin == 1 - CARRIER_BIAS; /* the carrier's subnormals are the format's */
        const uintw one = (uintw)1 << f->mantissa_bits;
        c->fast_min = plain ? 0 : c->emin_bits;
        c->fast_one = plain ? 0 : one;
        c->fast_c = core_power(plain ? 0 : unit);
        c->fast_bias = (uintw)(f->emin + CARRIER_BIAS - 1) << f->mantissa_bits;
        c->fast_encode = c->nan[0] == c->nan[1] && c->made_nan[0] == c->nan[0] && c->made_nan[1] == c->nan[0];
        c->fast_decode = (f->has_negative_zero || !c->sign || c->decode_nan == c->sign) &&
                         f->max_code <= (CARRIER_INF - 1) >> c->d_norm;
    }
    if (f->specials == FPEMU_SPECIALS_HIF8 && is_float) {
        c->kind = FPEMU_KIND_POSIT; /* coded one by one */
        c->n = CORE_HIF8_N;
        c->fast_encode = c->fast_decode = 0;
    }
    if (is_posit)
        c->nan[0] = c->nan[1] = c->made_nan[0] = c->made_nan[1] = top_bit;
}
