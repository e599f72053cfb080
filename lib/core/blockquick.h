/* blockquick.h - blocks of binary32 numbers with a power of two as scale, nearest even, in a form that costs a fraction
 * of block.h: with s a power of two, rounding t = x/s to a grid is rounding x to that grid times s, so no element is
 * ever multiplied. core_quick_blocks says where the bits are the same; other blocks take the long way. */
#ifndef FPEMU_CORE_BLOCKQUICK_H
#define FPEMU_CORE_BLOCKQUICK_H

#include "block.h"

typedef struct core_quick_block {
    uint32_t least, most; /* amax between these, or 0: the form holds */
    uint32_t emin_bits;   /* floats: 2^emin */
    uint32_t up;          /* floats: 23 - m, in the exponent's place */
    uint32_t shift;       /* fixed point: 3 * 2^22 steps, as bits: adding it rounds */
    uint32_t max, lowest; /* magnitudes of the ends */
    uint32_t emax;        /* in the exponent's place */
    uint32_t half;        /* rule even: half a step of the element's precision */
    float inverse;        /* [1/M] */
    uint8_t rule, fixed, usable;
} core_quick_block;

/* b of format f, whose elements saturate; mode as in a rounding. */
FPEMU_FN core_quick_block core_quick_blocks(const core_block32 *b, const fpemu_format *f, int mode)
{
    core_quick_block q;
    const int is_float = f->kind == FPEMU_KIND_FLOAT, m = is_float ? (int)f->mantissa_bits : 0;
    const int fixed = f->kind == FPEMU_KIND_FIXED || (f->kind == FPEMU_KIND_INT && f->zero_point == 0);
    memset(&q, 0, sizeof q);
    int quantum = f->quantum;
    if (mode != FPEMU_RNE || b->rule < FPEMU_SCALING_FLOOR || b->rule > FPEMU_SCALING_HBFP || !b->near)
        return q;
    if (f->kind == FPEMU_KIND_INT && !core_int_is_grid32(f, &quantum))
        return q;
    if (is_float ? m < 1 || m > 22 || f->exponent_bits < 2 || f->subnormals != FPEMU_SUBNORMALS_KEEP ||
                       !f->has_negative_zero || !f->is_signed || f->lowest > -f->max || f->lowest < -f->max ||
                       f->specials == FPEMU_SPECIALS_DLFLOAT
                 : !fixed || f->bits > 20)
        return q;
    /* c within one of e - emax: steps, ends and what is added stay normal numbers of the carrier */
    const int emin = is_float ? f->emin : quantum + 22, low = is_float ? emin - m : quantum, top = b->emax + 24;
    int least = b->first > -126 - low ? b->first : -126 - low, most = b->last < 127 - top ? b->last : 127 - top;
    least += b->emax + 1;
    most += b->emax - 1;
    least = least < -125 + (b->emax > 0 ? b->emax : 0) ? -125 + (b->emax > 0 ? b->emax : 0) : least;
    most = most > 120 ? 120 : most;
    if (least >= most)
        return q;
    q.least = core_power32(least);
    q.most = core_power32(most);
    q.emin_bits = is_float ? core_power32(emin) : 0;
    q.up = (uint32_t)(23 - m) << 23;
    q.shift = is_float ? 0 : core_bits32(3 * core_value32(core_power32(quantum + 22)));
    q.max = core_narrow(f->max);
    q.lowest = f->lowest < 0 ? core_narrow(-f->lowest) : 0;
    q.emax = (uint32_t)(b->emax + 127) << 23;
    q.half = b->rule == FPEMU_SCALING_EVEN && b->precision <= 23 ? UINT32_C(1) << (23 - b->precision) : 0;
    q.inverse = b->inverse;
    q.rule = b->rule;
    q.fixed = (uint8_t)!is_float;
    q.usable = 1;
    return q;
}

/* c << 23 for a block whose largest magnitude is a. */
FPEMU_FN uint32_t core_quick_power(const core_quick_block *q, int rule, uint32_t a)
{
    const uint32_t field = 0xff800000u;
    uint32_t c;
    switch (rule) {
    case FPEMU_SCALING_CEIL: c = ((a + 0x7fffffu) & field) - q->emax; break;
    case FPEMU_SCALING_HBFP: c = ((a + 0x7fffffu) & field) - q->emax - 0x800000u; break;
    case FPEMU_SCALING_EVEN: c = ((a + q->half) & field) - q->emax; break;
    case FPEMU_SCALING_RCEIL:
        c = ((core_bits32(core_value32(a) * q->inverse) + 0x7fffffu) & field) - 0x3f800000u;
        break;
    default: c = (a & field) - q->emax; break;
    }
    return a == 0 ? 0 : c;
}

/* The constants of one block with the scale 2^c, power = c << 23; bits of y for bits u of x under them. */
typedef struct core_quick_float {
    uint32_t least, up;
    float max;
} core_quick_float;

FPEMU_FN core_quick_float core_quick_float_of(const core_quick_block *q, uint32_t power)
{
    const core_quick_float k = {q->emin_bits + power, q->up, core_value32(q->max + power)};
    return k;
}

FPEMU_FN uint32_t core_quick_float_element(const core_quick_float *k, uint32_t u)
{
    const uint32_t a = u & 0x7fffffffu;
    uint32_t e = a & 0x7f800000u;
    e = e < k->least ? k->least : e;
    const float c = core_value32(e + k->up), sum = core_value32(a) + c, r = sum - c;
    return core_bits32(r < k->max ? r : k->max) | (u ^ a);
}

typedef struct core_quick_fixed {
    float shift, max, lowest;
} core_quick_fixed;

FPEMU_FN core_quick_fixed core_quick_fixed_of(const core_quick_block *q, uint32_t power)
{
    const core_quick_fixed k = {core_value32(q->shift + power), core_value32(q->max + power),
                                q->lowest ? -core_value32(q->lowest + power) : 0};
    return k;
}

FPEMU_FN uint32_t core_quick_fixed_element(const core_quick_fixed *k, uint32_t u)
{
    const float sum = core_value32(u) + k->shift, r = sum - k->shift;
    const float low = r < k->max ? r : k->max;
    return core_bits32(low > k->lowest ? low : k->lowest);
}

#endif /* FPEMU_CORE_BLOCKQUICK_H */
