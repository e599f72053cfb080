/* SPDX-License-Identifier: BSD-2-Clause */
/* dot_fast.inc.h - the forms of one carrier; included by dot_fast.h. */
#define core_dot_fast CARRIER(core_dot_fast)
#define core_dot_fast_make CARRIER(core_dot_fast_make)
#define core_dot_taken CARRIER(core_dot_taken)
#define core_dot_taken_any CARRIER(core_dot_taken_any)
#define core_dot_operation CARRIER(core_dot_operation)
#define core_near CARRIER(core_near)
#define core_odd CARRIER(core_odd)

/* A target in this carrier. */
typedef struct core_dot_fast {
    core_plan plan;
    uintw up, end, past; /* fast_up for numbers of either sign; what lies beyond `end` becomes `past` */
    uint32_t scale;      /* stochastic: random bits times this stand where the discarded ones do, */
    uint32_t keep;       /* and so much of a number's upper half stays */
    uint8_t form, down;  /* enum core_dot_form; zeros that cancel give -0 */
} core_dot_fast;

/* A number rounded to odd, taken to a plan by its rule and mode; r: random bits as the carrier's highest. */
FPEMU_FN realw core_dot_taken_any(const core_plan *p, realw odd, uintw r)
{
    const uintw u = core_bits(odd);
    if (p->rule >= CORE_RULE_FULL_RANGE && p->rule <= CORE_RULE_EVEN)
        return core_value(core_element_fast(p, p->rule, p->mode, u, r));
    if (p->rule == CORE_RULE_POSIT)
        return core_value(core_element_posit(p, p->mode, u, r));
    const uintw sign = u & CARRIER_SIGN, a = u ^ sign;
    return core_value(core_finish_any(p, u, a >= CARRIER_INF ? 0 : core_grid(p, p->mode, 1, p->n, a, sign, r)));
}

#if CARRIER_BITS == 64
/* A number cut toward zero, or to odd, taken to the grid by random bits: added where the discarded bits are, whose number is the
 * same from the smallest normal on, and below it after that is added. */
FPEMU_FN double core_dot_stochastic(const core_dot_fast64 *g, double cut, uint32_t r)
{
    const core_plan64 *const p = &g->plan;
    const uint64_t u = core_bits64(cut);
    const uint32_t high = (uint32_t)(u >> 32), sign = high & 0x80000000u, a = high ^ sign;
    const double C = core_value64(a < (uint32_t)(p->emin_bits >> 32) ? p->emin_bits : 0);
    const double from = core_cut64(FPEMU_OPERATION_ADD, core_value64(u & ~CORE_SIGN64), C, 0);
    const uint64_t sum = core_bits64(from) + (uint64_t)r * g->scale;
    const double kept = core_value64((uint64_t)((uint32_t)(sum >> 32) & g->keep) << 32) - C; /* exact */
    uint32_t y = (uint32_t)(core_bits64(kept) >> 32);
    y = y > (uint32_t)(p->max[0] >> 32) ? (uint32_t)(p->overflow[0] >> 32) : y; /* every value has a lower half of 0 */
    y = a > 0x7ff00000u ? 0x7ff80000u : y;
    return core_value64((uint64_t)(y | sign) << 32);
}
#endif

/* A number rounded to odd, taken to a target by its form, a constant. NaN stays some NaN. */
FPEMU_FN realw core_dot_taken(const core_dot_fast *g, int form, realw odd, uintw r)
{
    const core_plan *const p = &g->plan;
    const uintw u = core_bits(odd), sign = u & CARRIER_SIGN, e = u & CARRIER_INF;
    switch (form) {
    case CORE_DOT_FULL_RANGE: return core_value(core_element_full_range(p, FPEMU_MODE_RNE, u, 0));
    case CORE_DOT_FULL_MODE: return core_value(core_element_full_range(p, p->mode, u, 0));
    case CORE_DOT_POSIT: return core_value(core_element_posit(p, FPEMU_MODE_RNE, u, 0));
#if CARRIER_BITS == 64
    case CORE_DOT_STOCHASTIC: return core_dot_stochastic(g, odd, (uint32_t)(r >> 32));
#endif
    case CORE_DOT_NEAREST: break;
    default: return core_dot_taken_any(p, odd, r);
    }
    const realw C = core_value(((intw)e < (intw)p->fast_emin ? p->fast_emin : e) + g->up), sum = odd + C;
    const realw y = core_value(u ^ sign) > core_value(g->end) ? core_value(g->past) : sum - C;
    return core_value((core_bits(y) & ~CARRIER_SIGN) | sign);
}

/* The result of an operation, a constant, rounded once. r: random bits. */
FPEMU_FN realw core_dot_operation(const core_dot_fast *g, int form, int operation, realw a, realw b, realw c,
                                  uint32_t r)
{
    if (form == CORE_DOT_NATIVE || (form == CORE_DOT_ANY && g->form == CORE_DOT_NATIVE))
        return core_near(operation, a, b, c);
#if CARRIER_BITS == 64
    if (form == CORE_DOT_STOCHASTIC)
        return core_dot_stochastic(g, core_cut64(operation, a, b, c), r);
#endif
    const int down = (form == CORE_DOT_ANY || form == CORE_DOT_FULL_MODE) && g->down;
    return core_dot_taken(g, form, core_odd(operation, down, a, b, c), (uintw)r << (CARRIER_BITS - 32));
}

/* Whether what lies past binary32 becomes what its largest number does, by which odd results stand for it. */
#if CARRIER_BITS == 32
FPEMU_FN int core_dot_ends_alike(const core_plan64 *p, const core_plan32 *narrow)
{
    if (p->max[0] < core_power64(126) && p->max[1] < core_power64(126))
        return 1;
    for (unsigned s = 0; s < 2; s++) {
        core_exact beyond = core_exact_special(CORE_FINITE, s, 0);
        uint64_t grid;
        beyond.high = CORE_SIGN64;
        beyond.top = 128;
        const double got = (double)core_dot_taken_any32(narrow, s ? -FLT_MAX : FLT_MAX, 0);
        const double want = core_value64(core_exact_round(p, &beyond, 0, &grid));
        if (core_bits64(got) != core_bits64(want) && (got == got || want == want))
            return 0;
    }
    return 1;
}
#endif

/* The form of a target, made before with plan `exact`; CORE_DOT_NONE where this carrier has not the bits for it. */
FPEMU_FN void core_dot_fast_make(core_dot_fast *g, const fpemu_target *t, const core_plan64 *exact)
{
    const fpemu_format *const f = &t->format;
    int quantum;
    const int precision = core_dot_precision(f, exact, &quantum), mode = exact->mode;
    const int random_bits = CORE_DRAWS(mode) ? exact->n : 0;
    memset(g, 0, sizeof *g);
    g->down = mode == FPEMU_MODE_RTN;
    if (f->kind == FPEMU_KIND_FLOAT && (int)f->mantissa_bits == CARRIER_MANTISSA && f->emin == 1 - CARRIER_BIAS &&
        f->emax == CARRIER_BIAS && f->has_infinity && f->subnormals == FPEMU_SUBNORMALS_KEEP && f->has_negative_zero &&
        f->is_signed && mode == FPEMU_MODE_RNE && exact->infinite[0] == CORE_INF64 &&
        exact->overflow[0] == CORE_INF64) {
        g->form = CORE_DOT_NATIVE;
        return;
    }
    if (!precision || exact->wrap || exact->nan[0] != exact->nan[1])
        return;
#if CARRIER_BITS == 32
    if (random_bits || precision > 22 || quantum < -147 || !f->fits_f32)
        return;
#else
    if (precision + random_bits > 51 || quantum - random_bits < -1072 || exact->max[0] >= core_power64(1022) ||
        exact->max[1] >= core_power64(1022))
        return;
#endif
    core_plan_make(&g->plan, f, &t->rounding, 0);
    core_choose_fast(&g->plan, f);
    const core_plan *const p = &g->plan;
    if (p->rule >= CORE_RULE_AFFINE_FAST || p->nan[0] != p->nan[1])
        return;
#if CARRIER_BITS == 32
    if (!core_dot_ends_alike(exact, p))
        return;
#endif
    g->form = CORE_DOT_ANY;
    const int stops = p->rule == CORE_RULE_SHIFTER_STOP;
    if (p->nan[0] != CARRIER_NAN)
        return;
    if (p->rule == CORE_RULE_FULL_RANGE)
        g->form = mode == FPEMU_MODE_RNE ? CORE_DOT_FULL_RANGE : CORE_DOT_FULL_MODE;
    if (p->rule == CORE_RULE_POSIT)
        g->form = CORE_DOT_POSIT;
    if (!stops && p->rule != CORE_RULE_SHIFTER_PASS)
        return;
    if (mode == FPEMU_MODE_RNE) {
        g->form = CORE_DOT_NEAREST;
        g->up = p->fast_up + (CARRIER_HIDDEN >> 1); /* 1.5 times the power of two */
        g->end = stops ? p->max[0] : p->past[0];
        g->past = p->overflow[0];
    }
#if CARRIER_BITS == 64
    if (mode == FPEMU_MODE_SR && p->d_norm >= 32) {
        g->form = CORE_DOT_STOCHASTIC;
        g->scale = (uint32_t)1 << (p->d_norm - 32);
        g->keep = ~(g->scale - 1);
    }
#endif
}
