/* SPDX-License-Identifier: BSD-2-Clause */
/* dot_fast.h - the roundings of dot_models.h by arithmetic of a carrier (odd_fast.h) and the forms of round_fast.h, for
 * the targets that go with them: a product and a sum, or two sums, in some ten operations. core_dot_form… says whether a
 * target does, and how; tests/gpu/gemm.c compares bits with those of the library. */
#ifndef FPEMU_CORE_DOT_FAST_H
#define FPEMU_CORE_DOT_FAST_H

#include "dot_models.h"
#include "element.h"
#include "odd_fast.h"

enum core_dot_form {
    CORE_DOT_NONE,       /* not here */
    CORE_DOT_NATIVE,     /* the carrier itself, to nearest */
    CORE_DOT_NEAREST,    /* floats with one end for all that overflows, to nearest */
    CORE_DOT_FULL_RANGE, /* bfloat16 and its like, to nearest, */
    CORE_DOT_FULL_MODE,  /* and in any other mode */
    CORE_DOT_POSIT,
    CORE_DOT_STOCHASTIC, /* as NEAREST, by random bits; in binary64 */
    CORE_DOT_ANY         /* by rule and mode of the plan: long */
};

/* How many significant bits and what smallest step a format has; 0: unknown. */
FPEMU_FN int core_dot_precision(const fpemu_format *f, const core_plan64 *p, int *quantum)
{
    *quantum = f->quantum;
    if (f->kind == FPEMU_KIND_FLOAT)
        return (int)f->mantissa_bits + 1;
    if (f->kind == FPEMU_KIND_POSIT)
        return (int)f->bits;
    if (f->kind != FPEMU_KIND_FIXED && f->kind != FPEMU_KIND_INT)
        return 0;
    const uint64_t most = p->max[0] > p->max[1] ? p->max[0] : p->max[1];
    *quantum = p->quantum;
    return (int)(most >> 52) - 1023 - p->quantum + 1;
}

#include "carrier32.h"
#include "dot_fast.inc.h"
#include "carrier_end.h"
#include "carrier64.h"
#include "dot_fast.inc.h"
#include "carrier_end.h"

/* ------------------------------------------------------------------------------------------- tensor cores
 * A step of core_dot_fused_step by integers of 32 bits: operands are m * 2^(e - bits), products m * m' * 2^lift of the
 * unit 2^-f of their own power of two, which are shifted down to that of the largest. What is not finite goes by
 * core_dot_fused_step. */

/* What a step shares. */
typedef struct core_fused {
    core_dot_fast64 inner;
    int32_t bits_a, bits_b, least_a, least_b; /* m - 1 bits and emin of the operands */
    int32_t least_d;                          /* emin of d */
    int32_t lift, drop, fraction, floor;      /* lift, or what is shifted down more; f; least exponent */
    uint32_t keep;                            /* binary32's bits that stay where the result is cut */
    uint8_t cut;                              /* to a format of binary32's range, toward zero; else to nearest */
} core_fused;

/* An operand's power of two, or less than all where it is 0, and its sign: above, and in the lowest bit. */
#define CORE_FUSED_NOTHING (-2000)

FPEMU_FN int32_t core_fused_word(float x, int bits, int least, int lift, uint32_t *m)
{
    const uint32_t u = core_bits32(x), a = u & 0x7fffffffu;
    const int32_t field = a >> 23 ? (int32_t)(a >> 23) : 1, power = field - 127 < least ? least : field - 127;
    const uint32_t significand = (a & 0x7fffffu) | (a >> 23 ? 0x800000u : 0);
    *m = core_shift_down(significand, (uint32_t)(23 - bits + power - (field - 127))) << lift; /* exact */
    return (int32_t)((uint32_t)(a ? power : CORE_FUSED_NOTHING) << 16 | u >> 31);
}

/* The power of two of a state, as one to align to. */
FPEMU_FN int32_t core_fused_power(const core_fused *g, float d)
{
    const uint32_t a = core_bits32(d) & 0x7fffffffu;
    const int32_t power = (int32_t)(a >> 23) - 127;
    return a ? power < g->least_d ? g->least_d : power : CORE_FUSED_NOTHING;
}

/* A state's own power of two, and its magnitude in units of 2^-f of that. */
FPEMU_FN int32_t core_fused_state(const core_fused *g, float d, uint32_t *m)
{
    const uint32_t a = core_bits32(d) & 0x7fffffffu, field = a >> 23 ? a >> 23 : 1;
    const uint32_t significand = (a & 0x7fffffu) | (a >> 23 ? 0x800000u : 0);
    *m = g->fraction < 23 ? significand : significand << (g->fraction - 23);
    return a ? (int32_t)field - 127 : CORE_FUSED_NOTHING;
}

/* A step's result: its sum of products, in units of 2^(top - f), and the old state d. */
FPEMU_FN float core_fused_result(const core_fused *g, int64_t products, int32_t top, float d)
{
    uint32_t m;
    const int32_t power = core_fused_state(g, d, &m), more = g->fraction < 23 ? 23 - g->fraction : 0;
    const int64_t old = (int64_t)core_shift_down(m, (uint32_t)(top - power + more));
    const double sum = (double)(products + (d < 0 ? -old : old));
    const double t = sum * core_value64((uint64_t)(top - g->fraction + 1023) << 52);
    float y;
    if (g->cut) {
        y = core_value32(core_bits32(core_narrow_cut(t)) & g->keep);
        y = t >= 0x1p128 ? core_value32(0x7f800000u) : t <= -0x1p128 ? core_value32(0xff800000u) : y;
    } else {
        y = (float)core_dot_taken64(&g->inner, CORE_DOT_NEAREST, t, 0);
    }
    return d - d == 0 ? 0 + y : d; /* a zero is +0 */
}

/* Whether steps of n products go so; fills *g. `inner`: the plan of dot_make.h. */
FPEMU_FN int core_fused_make(core_fused *g, const fpemu_gemm_spec *s, const core_plan64 *inner)
{
    const fpemu_accumulator *const sum = &s->sum;
    const fpemu_format *const f = &sum->inner.format, *const a = &s->a.format, *const b = &s->b.format;
    memset(g, 0, sizeof *g);
    g->bits_a = (int32_t)a->mantissa_bits;
    g->bits_b = (int32_t)b->mantissa_bits;
    g->least_a = a->emin;
    g->least_b = b->emin;
    g->least_d = f->emin;
    g->fraction = (int32_t)sum->fraction_bits;
    g->lift = g->fraction - g->bits_a - g->bits_b;
    g->drop = g->lift < 0 ? -g->lift : 0;
    g->lift = g->lift < 0 ? 0 : g->lift;
    g->floor = sum->least_exponent < -300 ? -300 : sum->least_exponent;
    g->cut = sum->inner.rounding.mode == FPEMU_MODE_RTZ;
    g->keep = ~((UINT32_C(1) << (23 - f->mantissa_bits)) - 1);
    if (g->cut && (f->emin != -126 || f->emax != 127))
        return 0;
    core_dot_fast_make64(&g->inner, &sum->inner, inner);
    return (g->cut || g->inner.form == CORE_DOT_NEAREST) && a->emin >= -126 && b->emin >= -126 && g->fraction <= 25 &&
           sum->block <= 32 && g->floor <= 300;
}

/* What no product of these formats is: NaN and infinity. */
FPEMU_FN int core_is_special(float x)
{
    return (core_bits32(x) & 0x7f800000u) == 0x7f800000u;
}

#endif /* FPEMU_CORE_DOT_FAST_H */
