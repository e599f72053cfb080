/* SPDX-License-Identifier: BSD-2-Clause */
/* compat_fast.inc.h - short forms of compatibility settings, for one carrier; included by compat_fast.h. */

/* Gives a plan with a setting the fast rule of the plain plan, where there is one; the setting stays. */
FPEMU_FN void core_compat_choose(core_plan *p, const fpemu_format *f)
{
    if (!p->compat || p->rule != CORE_RULE_ANY || p->in_min || p->out_min || p->negative || p->emin_field < 1 ||
        p->wrap || (f->kind == FPEMU_KIND_FLOAT && f->specials == FPEMU_SPECIALS_E8M0))
        return;
    p->rule = CORE_RULE_FLOAT;
    p->any = 0;
    core_choose_fast(p, f);
}

/* Whether the sum of core_compat_first stays in the carrier. */
FPEMU_FN int core_compat_first_holds(const core_plan *p)
{
    return (p->compat != FPEMU_COMPAT_QPYTORCH && p->compat != FPEMU_COMPAT_LEE_INF) || p->emin_bits == CARRIER_INF ||
           p->pre_d < 2 * CARRIER_BIAS;
}

/* Whether the forms below and the kernel do what the plan asks, after core_compat_choose: all of its settings but those of
 * fixed point and integers that wrap, and of integers that reach far. */
FPEMU_FN int core_compat_is_quick(const core_plan *p)
{
    if (p->rule == CORE_RULE_AFFINE)
        return core_affine_is_quick(p);
    const int open = p->rule == CORE_RULE_FULL_RANGE_GRID || p->rule == CORE_RULE_SHIFTER_GRID;
    return !p->wrap && p->compat && (!open || p->has_ends) && core_compat_first_holds(p) &&
           (p->emin_bits != CARRIER_INF || (p->bits <= 20 && p->quantum >= -100 && p->quantum <= 100)) &&
           /* whose steps core_compat_past knows not */
           (p->compat != FPEMU_COMPAT_CPFLOAT || p->max[0] >= CARRIER_HIDDEN);
}

/* As core_compat_input. QPyTorch's first rounding: c has 2^(emin-23) as its unit in the last place. */
FPEMU_FN uintw core_compat_first(uintw emin, uintw c, uintw u)
{
    const uintw sign = u & CARRIER_SIGN, a = u ^ sign;
    const realw sum = core_value(a) + core_value(c), near = sum - core_value(c);
    return ((intw)a < (intw)emin ? core_bits(near) : a) | sign;
}

/* y of the plain rule for CPFloat's stochastic modes, or what replaces it past the largest value. */
FPEMU_FN uintw core_compat_past(const core_plan *p, int mode, uintw u, uintw y, uintw r)
{
    const uintw sign = u & CARRIER_SIGN, a = u ^ sign, max = CORE_BY_SIGN(u, p->max), field = max >> CARRIER_MANTISSA;
    const intw low = p->d_low - (intw)(field ? field : 1), d = max < p->emin_bits ? low : p->d_norm;
    const uintw rest = a - max, shift = (uintw)(d - 1) & (CARRIER_BITS - 1);
    const uintw v = rest << ((CARRIER_BITS - shift) & (CARRIER_BITS - 1)), sum = v + r;
    const uintw carry = (uintw)(d < 2) | (uintw)(rest >> shift != 0) | (uintw)(sum < v);
    const uintw over = mode == FPEMU_MODE_SE ? r >> (CARRIER_BITS - 1) : carry;
    const uintw end = over ? CORE_BY_SIGN(u, p->overflow) : max | sign;
    return ((a > max) & (a < CARRIER_INF)) ? end : y;
}

#if CARRIER_BITS == 32
/* What the even grid sees instead of u, in fixed point: of core_qpytorch_fixed what is rounded to an integer, times the
 * step. To nearest, z - 1/2 is x*2^fl itself, or in [-1/4, 1/2], or rounded to an integer, ties to even. */
FPEMU_FN uint32_t core_compat_fixed(float scale, float step, uint32_t u)
{
    const float x = core_value32(u), z = x * scale + 0.5f, t = z - 0.5f;
    return x != x ? u : core_bits32(t * step);
}

/* The same by random bits r, rounded: the rule subtracts in binary64. */
FPEMU_FN uint32_t core_compat_fixed_random(float scale, float step, uint32_t u, uint32_t r)
{
    const float x = core_value32(u), z = x * scale + (float)(int32_t)(r >> 8) * 0x1p-24f;
    const double t = (double)z - 0.5, shift = 6755399441055744.0, n = (t + shift) - shift; /* 1.5 * 2^52 */
    const uint32_t k = core_bits32((float)n * step) & 0x7fffffffu,
                   sign = (uint32_t)(core_bits64(t) >> 32) & 0x80000000u;
    return x != x ? u : k | sign;
}
#endif
