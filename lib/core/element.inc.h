/* SPDX-License-Identifier: BSD-2-Clause */
/* element.inc.h - one element; included by element.h. */

/* The reference, for every rule, mode and setting: result bits for input u with random bits r (left-aligned in 32).
 * *overflow says whether the grid value of a finite u lies outside the ends; *q, for affine integers only, is the
 * integer chosen (their values need not tell it). */
FPEMU_FN uintw core_element(const core_plan *p, const core_plan64 *integers, uintw u, uint32_t r, int *overflow,
                            int64_t *q)
{
    const uintw random = (uintw)r << (CARRIER_BITS - 32);
    const int finite = (u & ~CARRIER_SIGN) < CARRIER_INF;
    *overflow = 0;
    if (p->rule >= CORE_RULE_AFFINE_FAST) {
        uint64_t g;
        if (p->compat && CARRIER_BITS == 32 && finite)
            g = core_pytorch_affine(p, u) & ~(UINT64_C(1) << 63);
        else
            g = finite ? core_affine(p, integers, p->mode, u, r) : 0;
        return core_finish_affine(p, u, g, overflow, q);
    }
    uintw g = 0;
    u = p->compat ? core_compat_input(p, u) : u;
    const uintw a = u & ~CARRIER_SIGN;
    const uintw sign = u & CARRIER_SIGN;
    if (a >= CARRIER_INF) {
        return core_finish_any(p, u, g);
    } else if (p->rule == CORE_RULE_POSIT) {
        g = a ? core_posit(p, a) : 0;
    } else if (p->compat == FPEMU_COMPAT_QPYTORCH && p->emin_bits == CARRIER_INF) {
        const uintw z = core_qpytorch_fixed(p, u, r);
        g = z & ~CARRIER_SIGN;
        if (g == 0)
            return z;               /* the sign of zero is kept */
        u = a | (z & CARRIER_SIGN); /* finite, also where g is rounded up to the power of two past the carrier */
    } else if (p->compat == FPEMU_COMPAT_CPFLOAT && a > p->max[sign ? 1 : 0]) {
        g = core_cpfloat_past_max(p, a, sign, random);
    } else {
        g = core_grid(p, p->mode, 1, p->n, a, sign, random);
    }
    *overflow = g > p->max[u >> (CARRIER_BITS - 1)];
    return p->wrap ? core_finish_wrap(p, u, g) : core_finish_any(p, u, g);
}

/* The same for plans that need less, with rule and mode known beforehand; r as the carrier's highest bits. */
FPEMU_FN uintw core_element_float(const core_plan *p, int mode, uintw u, uintw r)
{
    const uintw sign = u >> (CARRIER_BITS - 1) << (CARRIER_BITS - 1);
    return core_finish(p, u, core_grid(p, mode, 0, p->n, u ^ sign, sign, r));
}

FPEMU_FN uintw core_element_any(const core_plan *p, int mode, uintw u, uintw r)
{
    const uintw sign = u >> (CARRIER_BITS - 1) << (CARRIER_BITS - 1);
    return core_finish_any(p, u, core_grid(p, mode, 1, p->n, u ^ sign, sign, r));
}

FPEMU_FN uintw core_element_posit(const core_plan *p, int mode, uintw u, uintw r)
{
    const uintw a = u << 1 >> 1;
    (void)mode;
    (void)r;
    return core_finish(p, u, a == 0 || a >= CARRIER_INF ? 0 : core_posit(p, a));
}

/* Magnitude of scale * k, k the integer that finite magnitude a goes to, without ends. */
FPEMU_FN uintw core_affine_fast_grid(const core_plan *p, int mode, uintw a, uintw sign, uintw r)
{
    core_plan64 integers = core_integers();
    integers.one = p->one;
    integers.mode = p->mode;
    const double x = (double)core_value(a), scale = p->scale_value;
    const uint64_t t = CARRIER_BITS == 32 ? core_quotient_odd(x, scale) : core_quotient_odd64(x, scale);
    const uint64_t s = (uint64_t)sign << (64 - CARRIER_BITS), random = (uint64_t)r << (64 - CARRIER_BITS);
    const uint64_t nearest = core_grid64(&integers, FPEMU_MODE_RNE, 0, 32, t, s, 0);
    const uintw back = core_bits((realw)(core_value64(nearest) * scale));
    const uint64_t k = core_grid64(&integers, mode, 0, p->n, t, s, random);
    const uintw value = core_bits((realw)(core_value64(k) * scale));
    return back == a ? a : value;
}

FPEMU_FN uintw core_element_affine_fast(const core_plan *p, int mode, uintw u, uintw r)
{
    const uintw sign = u >> (CARRIER_BITS - 1) << (CARRIER_BITS - 1), a = u ^ sign;
    return core_finish(p, u, core_affine_fast_grid(p, mode, a < CARRIER_INF ? a : 0, sign, r));
}

/* Of rules FLOAT (any 0) and ANY (any 1), where *overflow is asked for too. */
FPEMU_FN uintw core_element_with_overflow(const core_plan *p, int any, int mode, uintw u, uintw r, int *overflow)
{
    const uintw sign = u & CARRIER_SIGN, a = u ^ sign, g = core_grid(p, mode, any, p->n, a, sign, r);
    *overflow = a < CARRIER_INF && g > CORE_BY_SIGN(u, p->max);
    return any ? core_finish_any(p, u, g) : core_finish(p, u, g);
}

/* Of the fast rules, which core_choose_fast gives. */
FPEMU_FN uintw core_element_fast(const core_plan *p, int rule, int mode, uintw u, uintw r)
{
    switch (rule) {
    case CORE_RULE_FULL_RANGE: return core_element_full_range(p, mode, u, r);
    case CORE_RULE_SHIFTER_PASS: return core_element_pass(p, mode, u, r);
    case CORE_RULE_SHIFTER_STOP: return core_element_stop(p, mode, u, r);
    case CORE_RULE_SHIFTER_STOP_INF: return core_element_stop_inf(p, mode, u, r);
    case CORE_RULE_EVEN: return core_element_even(p, mode, u, r);
    case CORE_RULE_FULL_RANGE_GRID: return core_finish(p, u, core_element_full_range_grid(p, mode, u, r));
    default: return core_finish(p, u, core_element_shifter_grid(p, mode, u, r));
    }
}
