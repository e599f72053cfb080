/* element.inc.h - one element; included by element.h. */

/* Result bits for input u with random bits r (left-aligned in 32). *overflow says whether the grid value of a finite
 * u lies outside the ends; *q, for affine integers only, is the integer chosen (their values need not tell it). */
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
        u = core_qpytorch_fixed(p, u, r);
        g = u & ~CARRIER_SIGN;
        if (g == 0)
            return u; /* the sign of zero is kept */
    } else if (p->compat == FPEMU_COMPAT_CPFLOAT && a > p->max[sign ? 1 : 0] &&
               p->max[sign ? 1 : 0] != 0) { /* no end there: a negative in an unsigned format */
        g = core_cpfloat_past_max(p, a, sign, random);
    } else {
        g = core_grid(p, p->mode, 1, p->n, a, sign, random);
    }
    *overflow = g > p->max[u >> (CARRIER_BITS - 1)];
    return p->wrap ? core_finish_wrap(p, u, g) : core_finish_any(p, u, g);
}
