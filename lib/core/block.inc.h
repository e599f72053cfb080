/* SPDX-License-Identifier: BSD-2-Clause */
/* block.inc.h - one element of a blocked format, for one carrier; included by block.h. */

/* Whether the compatibility setting acts on a block whose largest magnitude is amax. */
FPEMU_FN int core_block_compat_acts(const core_block_compat *c, const core_scale *s, uintw amax)
{
    if (c->setting != FPEMU_COMPAT_QPYTORCH || amax == 0)
        return (c->setting == FPEMU_COMPAT_MUPPET || c->setting == FPEMU_COMPAT_GGML) && s->kind != CORE_SCALE_NAN;
    const int e = core_exponent(amax);
    return e >= -126 && e <= 124 && !s->saturated && s->kind == CORE_SCALE_MULTIPLY;
}

/* floor([t + [1/2 - lowest]]) + lowest, t an element of rule ggml-0 or ggml-1, of which none is below lowest - 1/2. */
FPEMU_FN double core_ggml(double t, double lowest)
{
    const double sum = (double)((realw)t + (realw)(0.5 - lowest));
    return (double)(int64_t)(sum < 65536 ? sum : 65536) + lowest;
}

/* P by MuPPET's Eq. 6 as printed, or by ggml's or QPyTorch's sums, for a finite u; *q: its integer, of integers. */
FPEMU_FN uintw core_block_compat_round(const core_block_compat *c, uintw amax, uintw u, double t, uint32_t r, int *over,
                                       int64_t *q)
{
    const double k =
        c->setting == FPEMU_COMPAT_MUPPET ? core_muppet(t / c->step, r)
        : c->setting == FPEMU_COMPAT_GGML
            ? core_ggml(t, c->lowest)
            : (double)core_qpytorch_block((float)core_value(u), core_exponent(amax), c->bits, c->stochastic, r);
    const double value = k * c->step, kept = value > c->max ? c->max : value < c->lowest ? c->lowest : value;
    const double least = (double)(c->q_least - c->zero_point), most = (double)(c->q_most - c->zero_point);
    *over = kept < value || kept > value;
    *q = (int64_t)(k > most ? most : k < least ? least : k) + c->zero_point;
    return core_bits((realw)(kept + 0.0)); /* no -0 */
}

/* What follows from format and rounding. */
typedef struct core_blocked {
    core_block block;
    core_plan plan;   /* of the element */
    core_plan64 wide; /* the same in binary64, for exact quotients and S2FP8 */
    core_coder coder;
    core_codebook table;
    core_block_compat compat;
    uint8_t is_table, scaled;
} core_blocked;

/* element: that of *f as a format of its own; scale: its scale format where that is a float; to_code: as
 * core_plan_make has it. A codebook comes without its values. */
FPEMU_FN void core_blocked_make(core_blocked *b, const fpemu_format *f, const fpemu_format *element,
                                const fpemu_format *scale, const fpemu_rounding *r, int to_code)
{
    fpemu_rounding own = *r;
    memset(b, 0, sizeof *b);
    b->scaled = f->scaling != FPEMU_SCALING_NONE;
    if (b->scaled) { /* elements saturate; compatibility settings are those of blocks */
        b->compat = core_block_compat_make(f, r);
        own.overflow = FPEMU_OVERFLOW_SATURATE;
        own.compat = FPEMU_COMPAT_NONE;
        core_block_make(&b->block, f, scale, r);
        core_block_codes(&b->block, scale);
    }
    if (f->kind == FPEMU_KIND_CODEBOOK) {
        b->is_table = 1;
        core_codebook_make(&b->table, f, &own);
        return;
    }
    core_plan_make(&b->plan, element, &own, to_code);
    core_coder_make(&b->coder, element, &own);
    if (b->scaled && element->fits_f64)
        core_plan_make64(&b->wide, element, &own, to_code);
}

/* Takes an element into account. */
FPEMU_FN void core_extremes_add(core_extremes *e, uintw u)
{
    const uintw a = u & ~CARRIER_SIGN, kept = a < CARRIER_INF ? a : 0;
    const uintw up = u == a ? kept : 0, down = u == a ? 0 : kept;
    e->nonfinite |= a >= CARRIER_INF;
    e->amax = kept > e->amax ? kept : e->amax;
    e->high = up > e->high ? up : e->high;
    e->low = down > e->low ? down : e->low;
}

/* P for t; *over: it lies outside the ends. */
FPEMU_FN uintw core_blocked_round(const core_blocked *b, const core_codebook *table, uintw t, uint32_t r, int *over,
                                  int64_t *q)
{
    if (b->is_table)
        return core_codebook_element(table, t, r, over, q);
    const core_plan64 integers = core_integers();
    return core_element(&b->plan, &integers, t, r, over, q);
}

/* The events of x = u and its result y, which is `rounded` times a scale. */
FPEMU_FN core_events core_blocked_events(const core_blocked *b, uintw u, uintw y, uintw rounded, const core_happened *h)
{
    return core_events_of(b->plan.min_normal, u, 0, y, rounded, h->past, h->over);
}

/* The element of a block whose quotients the carrier cannot hold: by binary64 and beyond. */
FPEMU_SLOW uintw core_blocked_wide(const core_blocked *b, const core_codebook *values, const core_scale *s,
                                   core_tensor tensor, uintw amax, uintw u, uint32_t r, uintw *rounded,
                                   core_happened *h)
{
    const int power = s->kind == CORE_SCALE_POWER, finite = (u & ~CARRIER_SIGN) < CARRIER_INF;
    core_plan64 whole;
    const core_plan64 *integers = NULL; /* of affine elements */
    const double x = core_to_double(u);
    const uint64_t t = power ? core_block_t_odd(s->exponent, core_bits64(x)) : core_bits64(core_s2fp8_t(tensor, x));
    const unsigned negative = (unsigned)(u >> (CARRIER_BITS - 1));
    uint64_t p64, g = 0;
    int over = 0, past;
    h->q = 0;
    if (b->plan.rule >= CORE_RULE_AFFINE_FAST) {
        whole = core_integers();
        integers = &whole;
    }
    if (b->is_table) {
        core_codebook table = *values;
        table.flags |= CARRIER_BITS == 32 ? CORE_CODEBOOK_NARROW : 0;
        p64 = core_codebook_element64(&table, t, r, &over, &h->q);
    } else if (power) {
        p64 = core_block_exact(&b->wide, integers, s->exponent, core_bits64(x), r, &g, &h->q);
        over = (g & ~CORE_SIGN64) > b->wide.max[negative];
    } else {
        p64 = core_element64(&b->wide, integers, t, r, &over, &h->q);
        over |= (int)core_block_t_over64(b->wide.negative != 0, t);
    }
    uintw p = core_bits((realw)core_value64(p64)); /* exact */
    past = b->is_table ? over : (t & ~CORE_SIGN64) > b->wide.max[negative];
#if CARRIER_BITS == 32
    const int affine = b->plan.rule >= CORE_RULE_AFFINE_FAST; /* scale and values are the carrier's: so must t be */
    if (affine) {
        const uint32_t t32 = core_t_odd32(core_value64(t));
        p = core_element32(&b->plan, integers, t32, r, &over, &h->q);
        past = (t32 & ~CARRIER_SIGN) > b->plan.max[negative];
    }
#else
    const int affine = 0;
#endif
    if (finite && core_block_compat_acts(&b->compat, s, amax)) {
        int its_own;
        p = core_block_compat_round(&b->compat, amax, u, core_value64(t), r, &its_own, &h->q);
        p64 = core_bits64(core_to_double(p));
        over = its_own;
    }
    h->past = (uint8_t)past;
    h->over = (uint8_t)over;
    *rounded = p;
    if (power || affine)
        return core_block_y(s, p);
    const double y = core_s2fp8_y(tensor, core_value64(p64));
#if CARRIER_BITS == 32
    return y == y ? core_bits32(core_saturated32(y)) : CARRIER_NAN;
#else
    return y == y ? core_bits64(y) : CARRIER_NAN;
#endif
}

/* y of one element: u in a block with scale s, random bits r (0 where the mode takes none). table: that of *b with its
 * values. form: 0 of rule FLOAT in mode `mode`, 1 of rule ANY, 2 whatever there is. */
FPEMU_FN uintw core_blocked_element(const core_blocked *b, const core_codebook *table, int form, int mode,
                                    const core_scale *s, core_tensor tensor, uintw amax, uintw u, uint32_t r,
                                    uintw *rounded, core_happened *h)
{
    int over = 0;
    h->q = 0;
    if (s->kind == CORE_SCALE_NAN) {
        h->past = h->over = 0;
        *rounded = 0;
        return CARRIER_NAN;
    }
    if (s->kind == CORE_SCALE_POWER || s->kind == CORE_SCALE_S2FP8) {
        const core_scale scale = *s; /* copies, so that the callers' own can stay in registers */
        uintw wide;
        core_happened happened;
        const uintw y = core_blocked_wide(b, table, &scale, tensor, amax, u, r, &wide, &happened);
        *rounded = wide;
        *h = happened;
        return y;
    }
    const uintw x = s->order == CORE_ZERO_OFFSET ? core_offset_x(s, u) : u;
    uintw t = s->kind == CORE_SCALE_NONE ? u : core_block_t(s, b->block.sticky, x);
    if (s->order && s->order < CORE_ZERO_OFFSET) {
        const uintw nan = b->plan.nan[u >> (CARRIER_BITS - 1)];
        t = core_zero_t(s, b->plan.nan[0] | b->plan.nan[1], t);
        const uintw sign = t & CARRIER_SIGN, a = t ^ sign;
        const uintw g = core_grid(&b->plan, b->plan.mode, 0, b->plan.n, a, sign, (uintw)r << (CARRIER_BITS - 32));
        *rounded = core_zero_q(&b->block, s, nan, t, g);
        h->past = (uint8_t)core_zero_outside(&b->block, core_zero_sum(s, t, a));
        h->over = (uint8_t)core_zero_outside(&b->block, core_zero_sum(s, t, g));
        return core_zero_y(s, *rounded);
    }
    uintw p = form < 2 ? core_element_with_overflow(&b->plan, form, mode, t, (uintw)r << (CARRIER_BITS - 32), &over)
                       : core_blocked_round(b, table, t, r, &over, &h->q);
    const int finite = (u & ~CARRIER_SIGN) < CARRIER_INF;
    if (form == 2 && b->compat.setting && finite && core_block_compat_acts(&b->compat, s, amax))
        p = core_block_compat_round(&b->compat, amax, u, core_to_double(t), r, &over, &h->q);
    over |= (int)core_block_t_over(b->plan.negative != 0, t);
    h->past = (uint8_t)(b->is_table ? over : (t & ~CARRIER_SIGN) > b->plan.max[t >> (CARRIER_BITS - 1)]);
    h->over = (uint8_t)over;
    *rounded = p;
    if (s->order)
        return core_zero_y(s, p);
    return s->kind == CORE_SCALE_NONE ? p : core_block_y(s, p);
}

/* The code of P. */
FPEMU_FN uint64_t core_blocked_code(const core_blocked *b, const core_scale *s, uintw u, uintw rounded, int64_t q)
{
    if (s->kind == CORE_SCALE_NAN)
        return 0;
    if (b->is_table)
        return (uint64_t)q;
    return b->plan.rule >= CORE_RULE_AFFINE_FAST ? core_encode_affine(&b->coder, u, rounded, q)
                                                 : core_encode(&b->coder, u, rounded);
}

/* The value of an element's code under a scale that core_scale_read gave. */
FPEMU_FN uintw core_blocked_read(const core_blocked *b, const core_codebook *table, const core_scale *s,
                                 core_tensor tensor, uint64_t code)
{
    uintw p;
    if (b->is_table)
        p = code < table->length ? core_bits((realw)table->values[code]) : CARRIER_NAN;
    else
        p = core_decode(&b->coder, code);
    if (!b->scaled)
        return p;
    if (s->kind == CORE_SCALE_NAN)
        return CARRIER_NAN;
    if (s->kind != CORE_SCALE_S2FP8)
        return s->order ? core_zero_y(s, p) : core_block_y(s, p);
    if ((p & ~CARRIER_SIGN) >= CARRIER_INF)
        return p;
    const double y = core_s2fp8_y(tensor, core_to_double(p));
#if CARRIER_BITS == 32
    return core_bits32(core_saturated32(y));
#else
    return core_bits64(y);
#endif
}
