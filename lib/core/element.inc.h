/* element.inc.h - one element; included by element.h. */

/* Result bits for input u with random bits r (left-aligned in 32). *overflow says whether the grid value of a finite
 * u lies outside the ends; *q, for affine integers only, is the integer chosen (their values need not tell it). */
FPEMU_FN CORE_UINT CORE(element)(const CORE(plan) *p, const core_plan64 *integers, CORE_UINT u, uint32_t r,
                                 int *overflow, int64_t *q)
{
    const CORE_UINT random = (CORE_UINT)r << (CORE_W - 32);
    const int finite = (u & ~CORE_SIGN) < CORE_INF;
    *overflow = 0;
    if (p->rule >= CORE_RULE_SCALED) {
        uint64_t g;
        if (p->compat && CORE_W == 32 && finite)
            g = CORE(pytorch_affine)(p, u) & ~(UINT64_C(1) << 63);
        else
            g = finite ? CORE(affine)(p, integers, p->mode, u, r) : 0;
        return CORE(finish_affine)(p, u, g, overflow, q);
    }
    CORE_UINT g = 0;
    u = p->compat ? CORE(compat_input)(p, u) : u;
    const CORE_UINT a = u & ~CORE_SIGN;
    const CORE_UINT sign = u & CORE_SIGN;
    if (a >= CORE_INF) {
        return CORE(finish_any)(p, u, g);
    } else if (p->rule == CORE_RULE_POSIT) {
        g = a ? CORE(posit)(p, a) : 0;
    } else if (p->compat == FPEMU_COMPAT_QPYTORCH && p->emin_bits == CORE_INF) {
        u = CORE(qpytorch_fixed)(p, u, r);
        g = u & ~CORE_SIGN;
        if (g == 0)
            return u; /* the sign of zero is kept */
    } else if (p->compat == FPEMU_COMPAT_CPFLOAT && a > p->max[sign ? 1 : 0] &&
               p->max[sign ? 1 : 0] != 0) { /* no end there: a negative in an unsigned format */
        g = CORE(cpfloat_past_max)(p, a, sign, random);
    } else {
        g = CORE(grid)(p, p->mode, 1, p->n, a, sign, random);
    }
    *overflow = g > p->max[u >> (CORE_W - 1)];
    return p->wrap ? CORE(finish_wrap)(p, u, g) : CORE(finish_any)(p, u, g);
}
