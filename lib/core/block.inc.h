/* blocked.inc.h - one element of a blocked format, for one carrier; included by blocked.h. */

/* What follows from format and rounding. */
typedef struct CORE(blocked) {
    CORE(block) block;
    CORE(plan) plan;       /* of the element */
    core_plan64 wide;      /* the same in binary64, for exact quotients and S2FP8 */
    CORE(coder) coder;
    core_codebook table;
    double step;           /* muppet, qpytorch: of the element */
    double max, lowest;
    int32_t bits;          /* qpytorch: of an element's magnitude */
    uint8_t is_table, scaled, stochastic, compat;
} CORE(blocked);

/* element: that of *f as a format of its own; scale: its scale format where that is a float. A codebook comes without
 * its values. */
FPEMU_FN void CORE(blocked_make)(CORE(blocked) *b, const fpemu_format *f, const fpemu_format *element,
                                 const fpemu_format *scale, const fpemu_rounding *r)
{
    fpemu_rounding own = *r;
    core_plan64 integers;
    memset(b, 0, sizeof *b);
    b->scaled = f->scaling != FPEMU_SCALING_NONE;
    b->stochastic = core_mode(r) >= FPEMU_MODE_SR;
    b->max = f->max;
    b->lowest = f->lowest;
    b->bits = (int32_t)f->bits - 1;
    if (b->scaled) { /* elements saturate; compatibility settings are those of blocks */
        b->compat = r->compat;
        own.overflow = FPEMU_OVERFLOW_SATURATE;
        own.compat = FPEMU_COMPAT_NONE;
        CORE(block_make)(&b->block, f, scale, r);
        CORE(block_codes)(&b->block, scale);
        if (f->kind == FPEMU_KIND_INT || f->kind == FPEMU_KIND_FIXED || f->kind == FPEMU_KIND_FLOAT)
            b->step = f->kind == FPEMU_KIND_INT ? f->scale : core_value64(core_power64(f->quantum));
    }
    if (f->kind == FPEMU_KIND_CODEBOOK) {
        b->is_table = 1;
        b->table.length = f->codebook_length;
        b->table.mode = (uint8_t)core_mode(r);
        b->table.n = r->bits ? r->bits : 32;
        b->table.nan = (uint8_t)core_nan_policy(f, r);
        return;
    }
    CORE(plan_make)(&b->plan, &integers, element, &own, 0);
    CORE(coder_make)(&b->coder, element, &own);
    if (b->scaled && element->fits_f64)
        core_plan_make64(&b->wide, &integers, element, &own, 0);
}

/* Takes an element into account. */
FPEMU_FN void CORE(extremes_add)(CORE(extremes) *e, CORE_UINT u)
{
    const CORE_UINT a = u & ~CORE_SIGN, kept = a < CORE_INF ? a : 0;
    const CORE_UINT up = u == a ? kept : 0, down = u == a ? 0 : kept;
    e->nonfinite |= a >= CORE_INF;
    e->amax = kept > e->amax ? kept : e->amax;
    e->high = up > e->high ? up : e->high;
    e->low = down > e->low ? down : e->low;
}

/* P for t; *over: it lies outside the ends. */
FPEMU_FN CORE_UINT CORE(blocked_round)(const CORE(blocked) *b, const core_codebook *table, CORE_UINT t, uint32_t r,
                                       int *over, int64_t *q)
{
    if (b->is_table) {
        const CORE_REAL value = CORE_VALUE(t);
        const CORE_REAL low = (CORE_REAL)table->values[0], high = (CORE_REAL)table->values[table->length - 1];
        const uint32_t index = CORE(codebook_index)(table, t, r);
        *q = index;
        *over = value < low || value > high;
        return CORE(codebook_value)(table, t, index);
    }
    const core_plan64 integers = core_integers();
    return CORE(element)(&b->plan, &integers, t, r, over, q);
}

/* The same by the short forms of rules FLOAT and ANY, and of modes known beforehand. */
FPEMU_FN CORE_UINT CORE(blocked_round_short)(const CORE(plan) *p, int any, int mode, CORE_UINT t, uint32_t r, int *over)
{
    const CORE_UINT sign = t & CORE_SIGN, a = t ^ sign;
    const CORE_UINT g = CORE(grid)(p, mode, any, p->n, a, sign, (CORE_UINT)r << (CORE_W - 32));
    *over = a < CORE_INF && g > p->max[sign != 0];
    return any ? CORE(finish_any)(p, t, g) : CORE(finish)(p, t, g);
}

/* Whether the compatibility setting acts on a block whose largest magnitude is amax. */
FPEMU_FN int CORE(blocked_compat)(const CORE(blocked) *b, const CORE(scale) *s, CORE_UINT amax)
{
    if (b->compat != FPEMU_COMPAT_QPYTORCH || amax == 0)
        return b->compat == FPEMU_COMPAT_MUPPET && s->kind != CORE_SCALE_NAN;
    const int e = CORE(exponent)(amax);
    return e >= -126 && e <= 124 && !s->saturated && s->kind == CORE_SCALE_MULTIPLY;
}

/* P by MuPPET's Eq. 6 as printed, or by QPyTorch's sums, for a finite u. */
FPEMU_FN CORE_UINT CORE(blocked_as_others)(const CORE(blocked) *b, CORE_UINT amax, CORE_UINT u, double t, uint32_t r,
                                           int *over)
{
    const double k = b->compat == FPEMU_COMPAT_MUPPET
                         ? core_muppet(t / b->step, r)
                         : (double)core_qpytorch_block((float)CORE_VALUE(u), CORE(exponent)(amax), b->bits,
                                                       b->stochastic, r);
    const double value = k * b->step, kept = value > b->max ? b->max : value < b->lowest ? b->lowest : value;
    *over = kept < value || kept > value;
    return CORE_BITS((CORE_REAL)(kept + 0.0)); /* no -0 */
}

/* What happened, judged on t: binary64 magnitudes of it and of P, with their plan. */
FPEMU_FN void CORE(blocked_judge)(const CORE(blocked) *b, CORE_UINT u, int above_end, int over, int small,
                                  core_happened *h)
{
    const int finite = (u & ~CORE_SIGN) < CORE_INF;
    h->overflow = (uint8_t)(finite && over);
    h->clipped = (uint8_t)(finite && (b->is_table ? over : above_end));
    h->subnormal = (uint8_t)(!b->is_table && small);
}

/* The element of a block whose quotients the carrier cannot hold: by binary64 and beyond. */
FPEMU_SLOW CORE_UINT CORE(blocked_wide)(const CORE(blocked) *b, const core_codebook *values, const CORE(scale) *s,
                                        core_tensor tensor, CORE_UINT amax, CORE_UINT u, uint32_t r,
                                        CORE_UINT *rounded, core_happened *h)
{
    const int power = s->kind == CORE_SCALE_POWER, finite = (u & ~CORE_SIGN) < CORE_INF;
    const core_plan64 integers = core_integers();
    const double x = CORE_TO_DOUBLE(u);
    const uint64_t t = power ? core_block_t_odd(s->exponent, core_bits64(x)) : core_bits64(core_s2fp8_t(tensor, x));
    const unsigned side = (unsigned)(u >> (CORE_W - 1));
    uint64_t p64, g = 0;
    int over = 0;
    if (b->is_table) {
        core_codebook table = *values;
        table.narrow = CORE_W == 32;
        const double value = core_value64(t), low = (double)table.values[0];
        const uint32_t index = core_codebook_index64(&table, t, r);
        h->q = index;
        over = value < low || value > (double)table.values[table.length - 1];
        p64 = core_codebook_value64(&table, t, index);
    } else if (power) {
        p64 = core_block_exact(&b->wide, &integers, s->exponent, core_bits64(x), r, &g, &h->q);
        over = (g & ~CORE_SIGN64) > b->wide.max[side];
    } else {
        p64 = core_element64(&b->wide, &integers, t, r, &over, &h->q);
    }
    CORE_UINT p = CORE_BITS((CORE_REAL)core_value64(p64)); /* exact */
    int above = (t & ~CORE_SIGN64) > b->wide.max[side];
    uint64_t small = p64 & ~CORE_SIGN64;
#if CORE_W == 32
    if (b->plan.rule >= CORE_RULE_SCALED) { /* scale and values are the carrier's: so must t be */
        const uint32_t t32 = core_t_odd32(core_value64(t));
        p = core_element32(&b->plan, &integers, t32, r, &over, &h->q);
        above = (t32 & ~CORE_SIGN) > b->plan.max[side];
        CORE(blocked_judge)(b, u, above, over, (p & ~CORE_SIGN) != 0 && (p & ~CORE_SIGN) < b->plan.min_normal, h);
        if (finite && CORE(blocked_compat)(b, s, amax))
            p = CORE(blocked_as_others)(b, amax, u, core_value64(t), r, &over);
        *rounded = p;
        return CORE(block_y)(s, p);
    }
#endif
    if (finite && CORE(blocked_compat)(b, s, amax)) {
        p = CORE(blocked_as_others)(b, amax, u, core_value64(t), r, &over);
        p64 = core_bits64(CORE_TO_DOUBLE(p));
        small = p64 & ~CORE_SIGN64;
    }
    CORE(blocked_judge)(b, u, above, over, small != 0 && small < b->wide.min_normal, h);
    *rounded = p;
    if (power)
        return CORE(block_y)(s, p);
    const double y = core_s2fp8_y(tensor, core_value64(p64));
#if CORE_W == 32
    return y == y ? core_bits32(core_saturated32(y)) : CORE_NAN;
#else
    return y == y ? core_bits64(y) : CORE_NAN;
#endif
}

/* y of one element: u in a block with scale s, random bits r (0 where the mode takes none). table: that of *b with its
 * values. form: 0 the short way of
 * rule FLOAT in mode `mode`, 1 of rule ANY, 2 whatever there is. */
FPEMU_FN CORE_UINT CORE(blocked_element)(const CORE(blocked) *b, const core_codebook *table, int form, int mode,
                                         const CORE(scale) *s, core_tensor tensor, CORE_UINT amax, CORE_UINT u,
                                         uint32_t r, CORE_UINT *rounded, core_happened *h)
{
    int over = 0;
    h->q = 0;
    if (s->kind == CORE_SCALE_NAN) {
        h->clipped = h->overflow = h->subnormal = 0;
        *rounded = 0;
        return CORE_NAN;
    }
    if (s->kind == CORE_SCALE_POWER || s->kind == CORE_SCALE_S2FP8) {
        const CORE(scale) scale = *s; /* copies, so that the callers' own can stay in registers */
        CORE_UINT wide;
        core_happened happened;
        const CORE_UINT y = CORE(blocked_wide)(b, table, &scale, tensor, amax, u, r, &wide, &happened);
        *rounded = wide;
        *h = happened;
        return y;
    }
    const CORE_UINT t = s->kind == CORE_SCALE_NONE ? u : CORE(block_t)(s, b->block.sticky, u);
    CORE_UINT p = form < 2 ? CORE(blocked_round_short)(&b->plan, form, mode, t, r, &over)
                           : CORE(blocked_round)(b, table, t, r, &over, &h->q);
    if (form == 2 && b->compat && (u & ~CORE_SIGN) < CORE_INF && CORE(blocked_compat)(b, s, amax))
        p = CORE(blocked_as_others)(b, amax, u, CORE_TO_DOUBLE(t), r, &over);
    const CORE_UINT small = p & ~CORE_SIGN;
    over |= (t & ~CORE_SIGN) == CORE_INF && !b->is_table; /* of a finite x: past the carrier's end */
    CORE(blocked_judge)(b, u, (t & ~CORE_SIGN) > b->plan.max[u >> (CORE_W - 1)], over,
                        small != 0 && small < b->plan.min_normal, h);
    *rounded = p;
    return s->kind == CORE_SCALE_NONE ? p : CORE(block_y)(s, p);
}

/* y in fewer steps, where nothing else is asked: with the element's plan by `rule` of core/quick.h, MAGIC_STOP or EVEN;
 * any other rule: of a codebook. */
FPEMU_FN CORE_UINT CORE(blocked_quick)(const CORE(blocked) *b, const core_codebook *table, int rule, int mode,
                                       const CORE(scale) *s, core_tensor tensor, CORE_UINT amax, CORE_UINT u,
                                       uint32_t r)
{
    const CORE_UINT random = (CORE_UINT)r << (CORE_W - 32);
    CORE_UINT p;
    if (s->kind == CORE_SCALE_NAN)
        return CORE_NAN;
    if (s->kind == CORE_SCALE_POWER || s->kind == CORE_SCALE_S2FP8) {
        const CORE(scale) scale = *s;
        core_happened happened;
        return CORE(blocked_wide)(b, table, &scale, tensor, amax, u, r, &p, &happened);
    }
    const CORE_UINT t = CORE(block_t)(s, b->block.sticky, u);
    switch (rule) {
    case CORE_RULE_MAGIC_STOP: p = CORE(element_stop)(&b->plan, mode, t, random); break;
    case CORE_RULE_EVEN: p = CORE(element_even)(&b->plan, mode, t, random); break;
    default: p = CORE(codebook_value)(table, t, CORE(codebook_index)(table, t, r));
    }
    return CORE(block_y)(s, p);
}

/* The code of P. */
FPEMU_FN uint64_t CORE(blocked_code)(const CORE(blocked) *b, const CORE(scale) *s, CORE_UINT u, CORE_UINT rounded,
                                     int64_t q)
{
    if (s->kind == CORE_SCALE_NAN)
        return 0;
    if (b->is_table)
        return (uint64_t)q;
    return b->plan.rule >= CORE_RULE_SCALED ? CORE(encode_affine)(&b->coder, u, rounded, q)
                                            : CORE(encode)(&b->coder, u, rounded);
}

/* The value of an element's code under a scale that scale_read gave. */
FPEMU_FN CORE_UINT CORE(blocked_read)(const CORE(blocked) *b, const core_codebook *table, const CORE(scale) *s,
                                      core_tensor tensor, uint64_t code)
{
    CORE_UINT p;
    if (b->is_table)
        p = code < table->length ? CORE_BITS((CORE_REAL)table->values[code]) : CORE_NAN;
    else
        p = CORE(decode)(&b->coder, code);
    if (!b->scaled)
        return p;
    if (s->kind == CORE_SCALE_NAN)
        return CORE_NAN;
    if (s->kind != CORE_SCALE_S2FP8)
        return CORE(block_y)(s, p);
    if ((p & ~CORE_SIGN) > CORE_INF)
        return p;
    const double y = core_s2fp8_y(tensor, CORE_TO_DOUBLE(p));
#if CORE_W == 32
    return core_bits32(core_saturated32(y));
#else
    return core_bits64(y);
#endif
}
