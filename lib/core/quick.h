/* quick.h - the grid step of round.inc.h in forms that cost a fraction of it, for binary32 and the formats most used.
 * Each gives the same bits where core_choose_quick32 lets it stand in; the exhaustive test passes through all of them.
 *
 * flat    The format has the carrier's exponent range (bfloat16, TF32): the number of discarded bits never changes.
 * magic   |x| + C - C with C = 2^(23 - m) times the power of two of |x| rounds to nearest even at the right place; the
 *         exact remainder of that serves the other modes. Callers see to the default floating-point environment. */
#ifndef FPEMU_CORE_QUICK_H
#define FPEMU_CORE_QUICK_H

#include "plan.h"

/* As core_grid32 where d is p->d_norm for every magnitude. */
FPEMU_FN uint32_t core_flat32(const core_plan32 *p, int mode, uint32_t a, uint32_t sign, uint32_t r)
{
    const uint32_t step = p->one << p->d_norm;
    const uint32_t up = core_up32(mode, 32, p->one, a, p->d_norm, 1, sign, r);
    return (a & ~(step - 1)) + (step & (0u - up));
}

/* As core_grid32 below 2^quick_cap, and from there on some value beyond the ends. */
FPEMU_FN uint32_t core_magic32(const core_plan32 *p, int mode, uint32_t a, uint32_t sign, uint32_t r)
{
    a = a > p->quick_cap ? p->quick_cap : a;
    uint32_t e = a & 0x7f800000u;
    e = e < p->quick_emin ? p->quick_emin : e;
    const float x = core_value32(a), c = core_value32(e + p->quick_up);
    const float sum = x + c, nearest = sum - c; /* kept apart: some compilers hold expressions in a wider type */
    if (mode == FPEMU_RNE)
        return core_bits32(nearest);
    const uint32_t step = e - p->quick_down; /* bits of the grid's step at x */
    const float below = nearest - core_value32(step & (0u - (uint32_t)(nearest > x))); /* toward zero */
    const float rest = x - below; /* exact, in [0, step) */
    const float steps = below + c; /* counts steps in its last bits */
    const uint32_t inexact = rest > 0;
    uint32_t up;
    switch (mode) {
    case FPEMU_RNA: up = rest + rest >= core_value32(step); break;
    case FPEMU_RNZ: up = rest + rest > core_value32(step); break;
    case FPEMU_RAZ: up = inexact; break;
    case FPEMU_RTP: up = inexact & (uint32_t)(sign == 0); break;
    case FPEMU_RTN: up = inexact & (uint32_t)(sign != 0); break;
    case FPEMU_RTO: up = inexact & (core_bits32(steps) ^ 1); break;
    case FPEMU_SE: up = inexact & (r >> 31); break;
    case FPEMU_SR: {
        const uint32_t v = (uint32_t)(rest * core_value32(p->quick_fraction - e)); /* 32 bits of rest / step, cut */
        up = (uint32_t)(v + r) < v;
        break;
    }
    default: up = 0; break; /* FPEMU_RTZ */
    }
    return core_bits32(below + core_value32(step & (0u - up)));
}

/* As core_finish32 where p->simple: both signs alike, -0 kept, infinities treated as any overflow. */
FPEMU_FN uint32_t core_finish_simple32(const core_plan32 *p, uint32_t u, uint32_t g)
{
    const uint32_t sign = u & 0x80000000u;
    uint32_t y = g | sign;
    y = g > p->max[0] ? p->overflow[0] | (sign & p->overflow[1]) : y;
    return (u ^ sign) > 0x7f800000u ? p->nan[0] : y;
}

/* Chooses the quick form for a plan whose rule is CORE_RULE_FLOAT, if there is one. */
FPEMU_FN void core_choose_quick32(core_plan32 *p, const fpemu_format *f)
{
    if (p->mode > FPEMU_SE || p->rule != CORE_RULE_FLOAT || p->wrap)
        return;
    const int simple = p->zero[1] == 0x80000000u && p->max[0] == p->max[1] && p->overflow[0] == p->infinite[0] &&
                       p->overflow[1] == p->infinite[1] && p->nan[0] == p->nan[1] &&
                       (p->overflow[1] == (p->overflow[0] | 0x80000000u) || p->overflow[1] == p->overflow[0]);
    int m, emin, emax; /* of the float whose steps these are; fixed point: 22 bits, all of it below 2^emin */
    if (f->kind == FPEMU_KIND_FLOAT) {
        m = (int)f->mantissa_bits;
        emin = f->emin;
        emax = f->emax;
        if (m < 1 || m > 22 || f->exponent_bits < 2 || f->subnormals != FPEMU_SUBNORMALS_KEEP)
            return;
        if (emin == -126) {
            p->rule = simple ? CORE_RULE_FLAT : CORE_RULE_FLAT_ENDS;
            return;
        }
    } else {
        m = 22;
        emin = p->quantum + m;
        emax = emin;
        if (f->bits > 22)
            return;
    }
    /* room for C above, for the step below and for 2^32 / step */
    if (emax + 1 + 23 - m > 127 || emin - m < -126 || emin + 127 < 32 + m)
        return;
    p->quick_cap = core_power32(emax + 1);
    p->quick_emin = core_power32(emin);
    p->quick_up = (uint32_t)(23 - m) << 23;
    p->quick_down = (uint32_t)m << 23;
    p->quick_fraction = (uint32_t)(286 + m) << 23;
    p->rule = simple ? CORE_RULE_MAGIC : CORE_RULE_MAGIC_ENDS;
}

#endif /* FPEMU_CORE_QUICK_H */
