/* SPDX-License-Identifier: BSD-2-Clause */
/* compat_fast.inc.h - short forms of compatibility settings, for one carrier; included by compat_fast.h. */

/* Gives a plan with a setting the fast rule of the plain plan, where there is one; the setting stays. */
FPEMU_FN void core_compat_choose(core_plan *p, const fpemu_format *f)
{
    if (!p->compat || p->rule != CORE_RULE_ANY || p->in_min || p->out_min || p->negative || p->emin_field < 1 ||
        f->kind != FPEMU_KIND_FLOAT || f->specials == FPEMU_SPECIALS_E8M0)
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

/* Whether the forms below do what the plan asks: all of its settings but those of fixed point and integers that wrap,
 * and of integers that reach far. */
FPEMU_FN int core_compat_is_quick(const core_plan *p)
{
    if (p->wrap || !p->compat ||
        (p->emin_bits == CARRIER_INF && (p->bits > 20 || p->quantum < -100 || p->quantum > 100)) ||
        !core_compat_first_holds(p) ||
        (p->compat == FPEMU_COMPAT_CPFLOAT && p->max[0] < CARRIER_HIDDEN)) /* whose steps core_compat_past knows not */
        return 0;
    if (p->rule != CORE_RULE_AFFINE)
        return 1;
#if CARRIER_BITS == 32
    const float scale = (float)p->scale_value, reach = core_value32(p->max[0] > p->max[1] ? p->max[0] : p->max[1]);
    return reach < core_value32(CARRIER_INF) && core_affine_has_room32(scale, reach) && !p->zero[0] && !p->zero[1];
#else
    return 0;
#endif
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
/* QPyTorch's fixed point of at most 20 bits, where core_qpytorch_fixed and finish stand in the rule; random bits r for
 * FPEMU_MODE_SR. With z = [x*2^fl + a], the integer nearest to z - 1/2 is z cut downward, or of z and z - 1 the even
 * one where z is an integer: no difference need be rounded. With a = 1/2 rounding it changes nothing: z - 1/2 is x*2^fl
 * itself, or in [-1/4, 1/2], or so large that the difference is rounded to an integer, ties to even. What is too large
 * for the sums stays beyond the ends. */
FPEMU_FN uint32_t core_compat_fixed(const core_plan32 *p, int mode, float scale, float step, uint32_t u, uint32_t r)
{
    const float shift = mode == FPEMU_MODE_SR ? 12582912.0f : 8388608.0f; /* 1.5 * 2^23; without a sign 2^23 */
    const float a = mode == FPEMU_MODE_SR ? (float)(int32_t)(r >> 8) * 0x1p-24f : 0.5f;
    const float z = core_value32(u) * scale + a, t = z - 0.5f;
    const uint32_t sign = core_bits32(t) & 0x80000000u;
    const float from = mode == FPEMU_MODE_SR ? z : core_value32(core_bits32(t) ^ sign);
    const float sum = from + shift, near = sum - shift, odd = (float)(int32_t)(core_bits32(sum) & 1);
    const float w = z + 0x1p-54f; /* the rule subtracts in binary64: so little is nothing beside 1/2 */
    const float down = near > w ? 1.0f : near == w ? odd : 0.0f, n = mode == FPEMU_MODE_SR ? near - down : near;
    const uint32_t k = core_bits32(n * step) & 0x7fffffffu;
    const uint32_t mask = 0 - (sign >> 31), end = p->max[0] ^ ((p->max[0] ^ p->max[1]) & mask);
    const uint32_t past = p->overflow[0] ^ ((p->overflow[0] ^ p->overflow[1]) & mask);
    const uint32_t nan = p->nan[0] ^ ((p->nan[0] ^ p->nan[1]) & (0 - (u >> 31)));
    return core_beyond32(u & 0x7fffffffu, 0x7f800000u, nan, core_beyond32(k, end, past, k | sign));
}

/* The same to nearest, with a sign and one NaN. */
FPEMU_FN uint32_t core_compat_nearest(const core_plan32 *p, float scale, float step, float low, float high, uint32_t u)
{
    const float shift = 12582912.0f, x = core_value32(u), z = x * scale + 0.5f, t = z - 0.5f;
    const float least = t < low ? low : t, k = least > high ? high : least;
    const float sum = k + shift, n = sum - shift;
    const uint32_t y = core_bits32(n * step) | (core_bits32(t) & 0x80000000u); /* zeros keep their sign */
    return x != x ? p->nan[0] : y;
}

/* PyTorch's affine order in binary32, for integers that core_affine_has_room takes. */
FPEMU_FN uint32_t core_compat_affine(const core_plan32 *p, int divide, float inverse, float low, float high, uint32_t u)
{
    const float shift = 12582912.0f, scale = (float)p->scale_value, x = core_value32(u);
    const float t = divide ? x / scale : x * inverse;
    const float least = t < low ? low : t, k = least > high ? high : least;
    const float sum = k + shift, n = sum - shift;
    return x != x ? (u >> 31 ? p->nan[1] : p->nan[0]) : core_bits32(n * scale);
}
#endif
