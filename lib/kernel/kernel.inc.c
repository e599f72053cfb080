/* SPDX-License-Identifier: BSD-2-Clause */
/* kernel.inc.c - numbers rounded to floats, to even grids and to integers with a scale: one kernel, in stages. Included
 * by variant.inc.c in the part of each carrier, so that a file has one width of lanes.
 *
 *   load, store    arrays of the carrier's type, or of 16-bit words, which are widened in registers
 *   scale          what elements are of the scale of their block, and back
 *   draw           random bits: of the hash as they are needed, or given
 *   grid           the multiple of a step that the mode chooses
 *   ends           what becomes of what lies past the largest value, of infinities and of NaN
 *   codes          of integers, stored instead of values
 *
 * A stage reads what it is to do from a kernel_choice. kernels.def lists the choices that are compiled as constants; all
 * others are read at run time by the same text. runs.inc.c chooses among them, in another file. */

#include "choice.inc.h"

extern const kernel_instances INSTANCES;

/* What the stages need of a plan, in every lane. */
typedef struct kernel_constants {
    simd_real emin, count;                  /* the first binade; 1.5 * 2^MANT steps, where there is one step */
    simd_real up;                           /* from a binade to that number, as a factor */
    simd_bits to_half;                      /* from the number to half a step */
    simd_real low, high;                    /* x is brought between them */
    simd_real lowest;                       /* of an even grid, by the first binade */
    simd_real step, steps;                  /* of an even grid: its step, and 2^32 / step */
    simd_bits to_step, to_steps;            /* from a binade to its step, and from 2^32 / step to the binade */
    simd_bits dropped;                      /* bits that KERNEL_FULL drops */
    int drop;                               /* how many */
    simd_real past, below;                  /* the largest that does not overflow; the lowest */
    simd_real over[2], infinite[2], nan[2]; /* what becomes of it, and of these, by sign */
    simd_real zero;  /* +0 where zeros have no sign, else -0: what leaves all numbers as they are */
    simd_bits keeps; /* the sign bit where zeros keep it */
    /* integers with a scale, counted in steps */
    simd_real scale, inverse;
    simd_real half, random;         /* where rests of so much begin, a rule decides; by random bits, in steps */
    int is_near;                    /* a product with the inverse tells most fractions well enough */
    simd_bits code_zero, code_mask; /* codes */
    const core_plan *plan;
} kernel_constants;

/* x * [1/s] tells the integer but for one. To nearest, the rest x - k*s decides if it is less than half a step. By random
 * bits, their sum with the fraction of x/s does, unless it is so close to 1 that what was rounded on the way may tell,
 * or x is a value, which stays. */
SIMD_FN void kernel_begin_affine(kernel_constants *c, const core_plan *p)
{
    core_affine_quick q = {0};
    (void)core_affine_quick_make(&q, p);
    const realw reach = q.high > -q.low ? q.high : -q.low, lost = core_value(core_power(-CARRIER_MANTISSA));
    const realw half = SIMD_HAS_FUSED ? q.half : q.half - reach * lost;
    c->scale = simd_all_real(q.scale);
    c->inverse = simd_all_real(q.inverse);
    c->count = simd_all_real(q.shift);
    c->low = simd_all_real(q.low);
    c->high = simd_all_real(q.high);
    c->half = simd_all_real(half);
    c->random = simd_all_real(q.is_near ? core_value(q.random) : SIMD_HAS_FUSED ? (realw)0.5 - (realw)0x1p-20 : 0);
    c->is_near = q.is_near;
}

SIMD_FN kernel_constants kernel_begin(kernel_choice s, const core_plan *p)
{
    kernel_constants c;
    const uintw one_and_half = CARRIER_HIDDEN >> 1;
    const realw cap = core_value(p->fast_cap);
    memset(&c, 0, sizeof c);
    c.plan = p;
    c.emin = simd_all_real(core_value(p->fast_emin));
    c.count = simd_all_real(core_value((p->fast_emin + p->fast_up) | one_and_half));
    c.up = simd_all_real(core_value(core_bits((realw)1.5) + p->fast_up));
    c.to_half = simd_all(one_and_half + ((uintw)(CARRIER_MANTISSA + 1) << CARRIER_MANTISSA));
    c.high = simd_all_real(s.ends == KERNEL_CLAMP ? core_value(p->overflow[0]) : cap);
    c.low = simd_all_real(s.ends == KERNEL_CLAMP ? core_value(p->overflow[1]) : -cap);
    c.lowest = simd_all_real(core_value(p->overflow[1]) / core_value(p->fast_emin));
    c.step = simd_all_real(core_value(p->low_one));
    c.steps = simd_all_real(core_value(p->fast_count));
    c.to_step = simd_all(((uintw)CARRIER_MANTISSA << CARRIER_MANTISSA) - p->fast_up);
    c.to_steps = c.to_step + simd_all((uintw)(2 * CARRIER_BIAS + 32) << CARRIER_MANTISSA);
    c.drop = (int)p->d_norm;
    c.dropped = simd_all(((uintw)1 << p->d_norm) - 1);
    c.past = simd_all_real(core_value(p->past[0]));
    c.below = simd_all_real(-core_value(p->past[1]));
    c.zero = simd_all_real(p->zero[1] ? (realw)-0.0 : 0);
    c.keeps = simd_all(p->zero[1]);
    for (int i = 0; i < 2; i++) {
        c.over[i] = simd_all_real(core_value(p->overflow[i]));
        c.infinite[i] = simd_all_real(core_value(p->infinite[i]));
        c.nan[i] = simd_all_real(core_value(p->nan[i]));
    }
    if (s.grid >= KERNEL_AFFINE)
        kernel_begin_affine(&c, p);
    return c;
}

SIMD_FN void kernel_begin_codes(kernel_choice s, kernel_constants *c, const core_coder *coder)
{
    const core_plan *const p = c->plan;
    const uintw count = ((simd_bits)c->count)[0], nan = p->nan[0], zero = (uintw)coder->zero_point - count;
    const uintw code = s.grid == KERNEL_EVEN
                           ? core_fixed_quick_code(coder, core_value(count), CARRIER_NAN, nan)
                           : core_affine_quick_code(coder, 1 / (realw)coder->scale_value, CARRIER_NAN, nan);
    c->code_zero = simd_all(zero);
    c->code_mask = simd_all((uintw)coder->mask);
    /* that becomes the code of a NaN */
    c->nan[0] = simd_all_real(core_value(code - zero) - (kernel_takes_signs(s.mode) ? 0 : core_value(count)));
}

SIMD_FN size_t kernel_size(int type)
{
    return type != KERNEL_OWN ? sizeof(uint16_t) : sizeof(realw);
}

/* bfloat16 comes as its even and its odd elements, for which a shift and a mask will do, but where random bits tell
 * elements apart. */
SIMD_FN void kernel_load(kernel_choice s, const char *from, simd_real *x)
{
    const size_t step = SIMD_LANES * kernel_size(s.type);
#if SIMD_HAS_F16
    if (s.type == KERNEL_BF16 && !kernel_is_stochastic(s.mode)) {
        UNROLLED for (int k = 0; k < KERNEL_VECTORS; k += 2)
            simd_load_bf16_pair(from + (size_t)k * step, x + k, x + k + 1);
        return;
    }
#endif
    EACH_VECTOR
    {
        const char *const at = from + (size_t)k * step;
#if SIMD_HAS_F16
        x[k] = s.type == KERNEL_F16 ? simd_load_f16(at) : s.type == KERNEL_BF16 ? simd_load_bf16(at) : simd_load(at);
#else
        x[k] = simd_load(at);
#endif
    }
}

SIMD_FN void kernel_store(kernel_choice s, char *to, const simd_real *y)
{
    const size_t step = SIMD_LANES * kernel_size(s.type);
#if SIMD_HAS_F16
    if (s.type == KERNEL_BF16 && !kernel_is_stochastic(s.mode)) {
        UNROLLED for (int k = 0; k < KERNEL_VECTORS; k += 2)
            simd_store_bf16_pair(to + (size_t)k * step, y[k], y[k + 1]);
        return;
    }
#endif
    EACH_VECTOR
    {
        char *const at = to + (size_t)k * step;
#if SIMD_HAS_F16
        if (s.type == KERNEL_F16) {
            simd_store_f16(at, y[k]);
            continue;
        }
        if (s.type == KERNEL_BF16) {
            simd_store_bf16(at, y[k]);
            continue;
        }
#endif
        simd_store(at, y[k]);
    }
}

/* Codes of integers, of which y are the sums of kernel_count, or values, or with a scale steps. */
SIMD_FN void kernel_store_codes(kernel_choice s, const kernel_constants *c, char *to, const simd_real *y)
{
    EACH_VECTOR
    {
        const simd_real sum = kernel_takes_signs(s.mode) ? y[k] : y[k] + c->count;
        const simd_bits code = ((simd_bits)sum + c->code_zero) & c->code_mask;
        simd_store_codes(to + (size_t)(k * SIMD_LANES * s.codes), (size_t)s.codes, code);
    }
}

SIMD_FN simd_real kernel_scale_of(const kernel_scales *b, const realw *all, size_t v)
{
    return b->each ? simd_load(all + v * SIMD_LANES) : simd_all_real(all[v >> b->shift]);
}

/* t of x. Where scales are powers of two the grid is scaled instead: all of it is exact then (core/block_fast.h). */
SIMD_FN simd_real kernel_down(kernel_choice s, const kernel_scales *b, size_t v, simd_real x)
{
    if (s.scale == UNSCALED || s.scale == SCALED_POWERS)
        return x;
    const simd_real down = kernel_scale_of(b, b->down, v);
    if (s.scale == SCALED_BY)
        return x / down;
    simd_real t = x * down;
#if SIMD_HAS_FUSED
    if (s.scale == SCALED_QUOTIENT) /* core_fast_quotient, which may leave a zero no sign */
        t = simd_fused(simd_fused(-t, kernel_scale_of(b, b->s, v), x), down, t);
#endif
    return t;
}

/* y of P. */
SIMD_FN simd_real kernel_up(kernel_choice s, const kernel_scales *b, size_t v, simd_real y)
{
    if (s.scale == UNSCALED || s.scale == SCALED_POWERS || s.ends == KERNEL_OPEN)
        return y;
    const simd_real scaled = y * kernel_scale_of(b, b->s, v);
    return s.scale == SCALED_TIMES ? scaled * simd_all_real(b->second) : scaled;
}

/* Whether numbers of both signs are rounded as they are. */
SIMD_FN int kernel_is_signed(kernel_choice s)
{
    const int mirrored = s.scale == SCALED_POWERS && s.grid == KERNEL_BINADES && s.mode == FPEMU_MODE_RNE;
    return kernel_takes_signs(s.mode) && !mirrored; /* one end is less than two */
}

/* Whether C is had from a binade: all steps of an even grid are alike, but not those of blocks. */
SIMD_FN int kernel_has_binades(kernel_choice s)
{
    return s.grid == KERNEL_BINADES || s.scale == SCALED_POWERS;
}

/* Where a number stands: the binade that its steps are of, and C, which is 1.5 * 2^k steps, so that a sum of both signs
 * with it counts steps in its last bits. */
typedef struct kernel_place {
    simd_real binade, C;
} kernel_place;

/* t + C; and a - C. C is a product: fused, it need not be had itself. */
SIMD_FN simd_real kernel_plus(kernel_choice s, const kernel_constants *c, const kernel_place *g, simd_real t)
{
#if SIMD_HAS_FUSED
    if (kernel_has_binades(s))
        return simd_fused(g->binade, c->up, t);
#endif
    (void)s;
    (void)c;
    return t + g->C;
}

SIMD_FN simd_real kernel_minus(kernel_choice s, const kernel_constants *c, const kernel_place *g, simd_real a)
{
#if SIMD_HAS_FUSED
    if (kernel_has_binades(s))
        return simd_fused(-g->binade, c->up, a);
#endif
    (void)s;
    (void)c;
    return a - g->C;
}

#if SIMD_HAS_SIDES
SIMD_FN simd_bits kernel_toward(kernel_choice s, enum simd_side side, const kernel_constants *c, const kernel_place *g,
                                simd_real t)
{
    return (simd_bits)(kernel_has_binades(s) ? simd_fused_toward(side, g->binade, c->up, t)
                                             : simd_add_toward(side, t, g->C));
}
#endif

/* t + C by the modes without random bits and by se. t: x for kernel_is_signed, else its magnitude. Integers with a scale:
 * of the steps of t; the side of a value on which t lies is that of the integer itself, since rounding k*s keeps the
 * order. *open: the rule decides. */
SIMD_FN simd_bits kernel_count(kernel_choice s, int mode, const kernel_constants *c, const kernel_place *g, simd_real t,
                               simd_bits r, simd_mask *open)
{
    const int affine = s.grid >= KERNEL_AFFINE;
    const simd_real half = affine ? c->half : (simd_real)((simd_bits)g->C - c->to_half);
#if SIMD_HAS_SIDES
    switch (affine ? FPEMU_MODE_RNE : mode) {
    case FPEMU_MODE_RTZ:
    case FPEMU_MODE_RTN: return kernel_toward(s, SIMD_DOWN, c, g, t);
    case FPEMU_MODE_RAZ:
    case FPEMU_MODE_RTP: return kernel_toward(s, SIMD_UP, c, g, t);
    case FPEMU_MODE_RNA:
    case FPEMU_MODE_RNP: /* the first sum has finer steps, and no step passes over a multiple of the coarser */
        return kernel_toward(s, SIMD_DOWN, c, g, simd_add_toward(SIMD_DOWN, t, half));
    case FPEMU_MODE_RTO: /* of the neighbours the odd one, which is one more than the even one or that with its last bit */
        return kernel_toward(s, SIMD_DOWN, c, g, t) | (kernel_toward(s, SIMD_UP, c, g, t) & 1);
    default: break;
    }
#endif
    if (s.grid == KERNEL_PYTORCH)
        return (simd_bits)((c->plan->compat == FPEMU_COMPAT_PYTORCH_DIVIDE ? t / c->scale : t * c->inverse) + g->C);
    const simd_real sum = affine ? simd_fused(t, c->inverse, g->C) : kernel_plus(s, c, g, t);
    const simd_real k = kernel_minus(s, c, g, sum), near = affine ? k * c->scale : k;
    const simd_bits n = (simd_bits)sum;
    if (affine && core_to_nearest(mode)) {
        *open = simd_not_less(simd_magnitude(simd_fused(-k, c->scale, t)), half);
        return n;
    }
    switch (mode) {
    case FPEMU_MODE_RNE: return n;
    case FPEMU_MODE_RTZ:
    case FPEMU_MODE_RTN: return simd_less_one_if(simd_less(t, near), n);
    case FPEMU_MODE_RAZ:
    case FPEMU_MODE_RTP: return simd_add_one_if(simd_less(near, t), n);
    case FPEMU_MODE_RNA:
    case FPEMU_MODE_RNP: return simd_add_one_if(simd_at_most(half, t - near), n);
    case FPEMU_MODE_RNZ: return simd_less_one_if(simd_at_most(half, near - t), n);
    case FPEMU_MODE_RTO:
        return simd_less_one_if(simd_less(t, near), n) |
               ((simd_bits)simd_keep(simd_differ(t, near), (simd_real)simd_all(1)));
    default: { /* FPEMU_MODE_SE: to the larger magnitude by one bit, from anywhere between two steps */
        const simd_bits down = simd_less_one_if(simd_less(t, near), n);
        return simd_add_one_if(simd_both(simd_differ(t, near), simd_negative(r)), down);
    }
    }
}

/* The magnitude a by sr: a step more than toward zero where what is left of a, in 2^-32 of the step, carries with the
 * random bits. As core_up, where of these bits what lies below the last one of a cannot carry. */
SIMD_FN simd_real kernel_stochastic(kernel_choice s, const kernel_constants *c, const kernel_place *g, simd_real a,
                                    simd_bits r)
{
    const simd_real below =
        kernel_minus(s, c, g, (simd_real)kernel_count(s, FPEMU_MODE_RTZ, c, g, a, simd_all(0), NULL));
    const int apart = kernel_has_binades(s);
    const simd_real step = apart ? (simd_real)((simd_bits)g->binade - c->to_step) : c->step;
    const simd_real steps = apart ? (simd_real)(c->to_steps - (simd_bits)g->binade) : c->steps;
    return simd_select(simd_carries((a - below) * steps, r), below + step, below);
}

/* Steps of a magnitude within the ends. */
SIMD_FN simd_real kernel_affine_stochastic(const kernel_constants *c, simd_real a, simd_bits r, simd_mask *open)
{
    const simd_real half = simd_all_real((realw)0.5), one = simd_all_real((realw)1 / (UINT64_C(1) << SIMD_RANDOM_BITS));
    const simd_real random = simd_random(r), n = simd_fused(a, c->inverse, c->count) - c->count;
    const simd_real rest = c->is_near ? a : simd_fused(-n, c->scale, a);
    const simd_real t = simd_fused(random, one, simd_fused(rest, c->inverse, -half)), up = t + c->count - c->count;
    *open = simd_not_less(simd_magnitude(t - up), c->random);
    if (c->is_near)
        return up;
    const simd_mask moves = simd_differ(n * c->scale, a);
    *open = simd_both(moves, *open);
    return n + simd_keep(moves, up);
}

/* As core_full_range; the carry out of the last kept bit goes on into the exponent, whatever the sign. */
SIMD_FN simd_real kernel_full(kernel_choice s, const kernel_constants *c, simd_real x, simd_bits r)
{
    simd_bits u = (simd_bits)x;
    const simd_bits low = c->dropped, sign = (simd_bits)((simd_integers)u >> (CARRIER_BITS - 1));
    switch (s.mode) {
    case FPEMU_MODE_RNE: u += (low >> 1) + ((u >> c->drop) & 1); break;
    case FPEMU_MODE_RNA: u += (low >> 1) + 1; break;
    case FPEMU_MODE_RNZ: u += low >> 1; break;
    case FPEMU_MODE_RNP: u += (low >> 1) + 1 + sign; break;
    case FPEMU_MODE_RAZ: u += low; break;
    case FPEMU_MODE_RTP: u += low & ~sign; break;
    case FPEMU_MODE_RTN: u += low & sign; break;
    case FPEMU_MODE_RTO: u |= (u & low) + low; break;
    case FPEMU_MODE_SR: u += r >> (CARRIER_BITS - c->drop); break;
    case FPEMU_MODE_SE: u += low & (simd_bits)((simd_integers)r >> (CARRIER_BITS - 1)); break;
    default: break; /* FPEMU_MODE_RTZ */
    }
    return (simd_real)(u & ~low);
}

/* Whether x must be brought within a binade past the ends: where x itself says what overflows, the sum past the ends is not used. */
SIMD_FN int kernel_brings(kernel_choice s)
{
    return s.grid != KERNEL_FULL && (s.ends == KERNEL_OPEN || s.ends == KERNEL_CLAMP || kernel_is_stochastic(s.mode));
}

/* x as the grid takes it: within the ends, which may differ on an even grid, for some modes its magnitude. */
SIMD_FN simd_real kernel_bring(kernel_choice s, simd_real high, simd_real low, simd_real x)
{
    const int clamps = s.grid >= KERNEL_AFFINE || (s.grid == KERNEL_EVEN && s.ends == KERNEL_CLAMP);
    if (clamps)
        x = simd_max(low, simd_min(high, x)); /* of a NaN it is one */
    const simd_real t = kernel_is_signed(s) ? x : simd_magnitude(x);
    if (!kernel_brings(s) || clamps)
        return t;
    return kernel_is_signed(s) ? simd_max(simd_min(t, high), low) : simd_min(t, high);
}

/* t on the grid, with the sign of x; where *open, kernel_again is left to do. For codes as kernel_store_codes takes it. */
SIMD_FN simd_real kernel_round(kernel_choice s, const kernel_constants *c, simd_real emin, simd_real x, simd_real t,
                               simd_bits r, simd_mask *open)
{
    const int affine = s.grid >= KERNEL_AFFINE, even = affine || s.grid == KERNEL_EVEN;
    const simd_bits sign = (simd_bits)x & CARRIER_SIGN;
    if (s.grid == KERNEL_FULL)
        return kernel_full(s, c, x, r);
#if SIMD_HAS_F16
    if (s.grid == KERNEL_F16_TYPE)
        return simd_through_f16(x);
#endif
    const simd_real binade = even ? emin : simd_max((simd_real)((simd_bits)t & CARRIER_INF), emin);
    const kernel_place g = {binade, kernel_has_binades(s) ? binade * c->up : c->count};
    if (s.mode == FPEMU_MODE_SR && !affine)
        return (simd_real)((simd_bits)kernel_stochastic(s, c, &g, t, r) | sign);
    const simd_real sum = s.mode == FPEMU_MODE_SR ? g.C : (simd_real)kernel_count(s, s.mode, c, &g, t, r, open);
    const simd_real y = s.mode == FPEMU_MODE_SR ? kernel_affine_stochastic(c, t, r, open) : kernel_minus(s, c, &g, sum);
    if (s.codes && kernel_is_signed(s))
        return sum;
    if (affine && !s.codes)
        return kernel_is_signed(s) ? y * c->scale
                                   : simd_fused(y, (simd_real)((simd_bits)c->scale | sign), c->zero); /* no -0 */
    if (!kernel_is_signed(s))
        return (simd_real)((simd_bits)y | sign);
    return even ? y : (simd_real)((simd_bits)y | ((simd_bits)x & c->keeps));
}

/* What the kernel leaves open is left to the rule of integers with a scale. */
SIMD_FN void kernel_again(kernel_choice s, const kernel_constants *c, const simd_real *x, const uint32_t *random,
                          simd_real *y)
{
    simd_real from[KERNEL_VECTORS], to[KERNEL_VECTORS]; /* beside x and y, which need no memory */
    EACH_VECTOR from[k] = x[k];
    INSTANCES.affine[s.mode](c->plan, KERNEL_GROUP, from, random, to);
    EACH_VECTOR
    {
        const simd_real sum = to[k] * c->inverse + c->count, steps = kernel_takes_signs(s.mode) ? sum : sum - c->count;
        y[k] = s.codes ? simd_select(simd_differ(to[k], to[k]), c->nan[0], steps) : to[k];
    }
}

/* Whether kernel_again has such lanes, NaN among them. */
SIMD_FN int kernel_leaves(kernel_choice s)
{
    return s.grid == KERNEL_AFFINE && (core_to_nearest(s.mode) || s.mode == FPEMU_MODE_SR);
}

/* Makes the finished results of values y on the grid. */
SIMD_FN void kernel_end(kernel_choice s, const kernel_constants *c, const simd_real *x, simd_real *y)
{
    /* what says whether x overflows */
    const simd_real *const v = kernel_is_stochastic(s.mode) ? y : x;
    if (kernel_leaves(s))
        return;
    if ((s.grid == KERNEL_EVEN && !kernel_is_signed(s)) ||
        (s.ends == KERNEL_BY_SIGN && (s.grid == KERNEL_FULL || !kernel_is_signed(s))))
        EACH_VECTOR y[k] = y[k] + c->zero;
    switch (s.ends) {
    case KERNEL_CARRY:
    case KERNEL_CLAMP:
        if (!s.scale)
            EACH_VECTOR y[k] = simd_select(simd_differ(x[k], x[k]), c->nan[0], y[k]);
        break;
    case KERNEL_TO_NAN:
        EACH_VECTOR y[k] = simd_select(simd_at_most(simd_magnitude(v[k]), c->past), y[k], c->nan[0]);
        break;
    case KERNEL_TO_INFINITY:
        EACH_VECTOR
        {
            const simd_real infinite = (simd_real)(CARRIER_INF | ((simd_bits)x[k] & CARRIER_SIGN));
            y[k] = simd_select(simd_at_most(simd_magnitude(v[k]), c->past), y[k], infinite);
            y[k] = simd_select(simd_differ(x[k], x[k]), c->nan[0], y[k]);
        }
        break;
    case KERNEL_BY_SIGN: {
        simd_real special = simd_all_real(0);
        EACH_VECTOR
        {
            const simd_real z = simd_select(simd_less(c->past, v[k]), c->over[0], y[k]);
            y[k] = simd_select(simd_less(v[k], c->below), c->over[1], z);
            special += x[k] - x[k]; /* NaN of an infinity or a NaN */
        }
        if (simd_any(simd_differ(special, special)))
            EACH_VECTOR
            {
                const simd_mask infinite = simd_at_most(simd_all_real(core_value(CARRIER_INF)), simd_magnitude(x[k]));
                y[k] = simd_select(infinite, simd_by_sign(x[k], c->infinite), y[k]);
                y[k] = simd_select(simd_differ(x[k], x[k]), simd_by_sign(x[k], c->nan), y[k]);
            }
        break;
    }
    default: break;
    }
}

/* A group of elements, with 32 random bits each; v: the first one's number. */
SIMD_FN void kernel_group(kernel_choice s, const kernel_constants *c, const kernel_scales *b, size_t v,
                          const char *from, const uint32_t *random, char *to)
{
    simd_real x[KERNEL_VECTORS], y[KERNEL_VECTORS];
    simd_mask open = simd_less(c->step, c->step);
    kernel_load(s, from, x);
    EACH_VECTOR
    {
        const size_t at = v + (size_t)k;
        simd_real emin = c->emin, high = c->high, low = c->low;
        simd_mask here = simd_less(c->step, c->step);
        if (s.scale == SCALED_POWERS) {
            emin = kernel_scale_of(b, b->down, at);
            high = kernel_scale_of(b, b->s, at);
            low = s.grid == KERNEL_EVEN ? emin * c->lowest : -high;
        }
        const simd_bits r = kernel_is_stochastic(s.mode) ? simd_load_random(random + k * SIMD_LANES) : simd_all(0);
        const simd_real t = kernel_bring(s, high, low, kernel_down(s, b, at, x[k]));
        y[k] = kernel_round(s, c, emin, x[k], t, r, &here);
        open = simd_either(open, here);
    }
    if (kernel_leaves(s) && simd_any(open))
        kernel_again(s, c, x, random, y);
    kernel_end(s, c, x, y);
    EACH_VECTOR y[k] = kernel_up(s, b, v + (size_t)k, y[k]);
    if (s.codes)
        kernel_store_codes(s, c, to, y);
    else
        kernel_store(s, to, y);
}

/* The hash's first products of indices 0 to 31, with whose lead the others' lowest five bits are those of one of these. */
SIMD_FN void kernel_draw_begin(uint32_t lead, uint32_t first[32])
{
    SIMD for (uint32_t l = 0; l < 32; l++)
        first[l] = ((l ^ lead) & 31) * CORE_HASH_FIRST;
}

/* n random words, a multiple of 32 or less than that, from index `low` on, of one lead. From a multiple of 32 on the first
 * product is the sum of that of the lowest five bits and that of the others. */
SIMD_FN void kernel_draw(core_hash_key key, uint32_t low, uint32_t lead, const uint32_t first[32], uint32_t n,
                         uint32_t *words)
{
    if (low % 32 == 0 && n % 32 == 0) {
        for (uint32_t from = 0; from < n; from += 32) {
            const uint32_t others = (((low + from) ^ lead) & ~31u) * CORE_HASH_FIRST;
            SIMD for (uint32_t l = 0; l < 32; l++)
                words[from + l] = core_hash_last(key, first[l] + others);
        }
        return;
    }
    SIMD for (uint32_t l = 0; l < n; l++)
        words[l] = core_hash_rest(key, (low + l) ^ lead);
}

/* Where the random bits of a call come from, element by element. */
typedef struct kernel_random {
    const loop_draw *draw;
    uint32_t first[32], lead;
    size_t left; /* elements before the lead changes */
} kernel_random;

/* The words of n elements from i on, where their lead may change. */
static __attribute__((noinline)) void kernel_draw_leads(kernel_random *r, size_t i, size_t n, uint32_t *words)
{
    for (size_t at = 0, m; at < n; at += m) {
        const uint32_t low = (uint32_t)(r->draw->index + i + at);
        if (r->left == 0) {
            r->left = CORE_LEAD_WORDS - (low & (CORE_LEAD_WORDS - 1));
            r->lead = core_hash_lead(r->draw->key, low);
            kernel_draw_begin(r->lead, r->first);
        }
        m = n - at < r->left ? n - at : r->left;
        kernel_draw(r->draw->key, low, r->lead, r->first, (uint32_t)m, words + at);
        r->left -= m;
    }
}

/* All elements: whole groups as they lie, then what is left of them as one more, by way of buffers. */
SIMD_FN void kernel_of(kernel_choice s, const kernel_job *j)
{
    kernel_constants c = kernel_begin(s, j->plan);
    if (s.codes)
        kernel_begin_codes(s, &c, j->coder);
    const loop_draw *const d = j->draw;
    const size_t n = j->n;
    const size_t size = kernel_size(s.type), made = s.codes ? (size_t)s.codes : size;
    const size_t left = n % KERNEL_GROUP;
    const int is_random = kernel_is_stochastic(s.mode), draws = is_random && !d->r;
    _Alignas(LINE) uint32_t words[KERNEL_GROUP];
    _Alignas(LINE) char beside[KERNEL_GROUP * sizeof(realw)];
    _Alignas(LINE) realw down[KERNEL_GROUP], scale[KERNEL_GROUP];
    kernel_scales of = s.scale ? *j->scales : (kernel_scales){NULL, NULL, 0, 0, 0};
    const char *from = (const char *)j->x;
    const uint32_t *r = draws || !is_random ? words : d->r;
    char *to = (char *)j->y;
    kernel_random random;
    random.draw = d;
    random.left = 0;
    for (size_t at = 0, end = n - left;; end = at + KERNEL_GROUP) {
        for (size_t v = 0; at < end; at += KERNEL_GROUP, v += KERNEL_VECTORS) {
            if (draws && random.left < KERNEL_GROUP) {
                kernel_draw_leads(&random, at, KERNEL_GROUP, words);
            } else if (draws) {
                kernel_draw(d->key, (uint32_t)(d->index + at), random.lead, random.first, KERNEL_GROUP, words);
                random.left -= KERNEL_GROUP;
            }
            kernel_group(s, &c, &of, v, from, r, to);
            from += KERNEL_GROUP * size;
            to += KERNEL_GROUP * made;
            if (is_random && !draws)
                r += KERNEL_GROUP;
        }
        if (at >= n)
            break;
        memset(beside, 0, sizeof beside);
        memcpy(beside, from, left * size);
        if (is_random && !draws) {
            memset(words, 0, sizeof words);
            memcpy(words, r, left * sizeof *words);
            r = words;
        }
        for (size_t l = 0; s.scale && l < KERNEL_GROUP; l++) {
            const size_t e = at + (l < left ? l : 0), k = of.each ? e : e / SIMD_LANES >> of.shift;
            down[l] = of.down[k];
            scale[l] = of.s[k];
        }
        of.down = down;
        of.s = scale;
        of.each = 1;
        from = to = beside;
    }
    if (left)
        memcpy((char *)j->y + (n - left) * made, beside, left * made);
}

/* The rows of kernels.def, and for each mode all other choices: of values, of elements of blocks, of codes. */
#define ROW_NAME(of, grid, ends, mode) kernel_##of##_##grid##_##ends##_##mode
#define INSTANCE(name, type, grid, ends, mode, scale)                                                                  \
    static void name(const kernel_job *j)                                                                              \
    {                                                                                                                  \
        kernel_of((kernel_choice){type, KERNEL_##grid, KERNEL_##ends, FPEMU_MODE_##mode, scale, 0}, j);                \
    }
#define ROW(type, grid, ends, mode)                                                                                    \
    INSTANCE(ROW_NAME(type, grid, ends, mode), KERNEL_##type, grid, ends, mode, UNSCALED)
#define SCALED(scale, grid, ends, mode)                                                                                \
    INSTANCE(ROW_NAME(scale, grid, ends, mode), KERNEL_OWN, grid, ends, mode, SCALED_##scale)
#define MODE(name)                                                                                                     \
    static void kernel_any_##name(kernel_choice s, const kernel_job *j)                                                \
    {                                                                                                                  \
        kernel_of((kernel_choice){s.type, s.grid, s.ends, FPEMU_MODE_##name, UNSCALED, 0}, j);                         \
    }                                                                                                                  \
    static void kernel_scaled_##name(kernel_choice s, const kernel_job *j) /* floats and even grids alone */           \
    {                                                                                                                  \
        s.grid = s.grid == KERNEL_EVEN ? KERNEL_EVEN : KERNEL_BINADES;                                                 \
        s.ends = s.ends == KERNEL_OPEN ? KERNEL_OPEN : KERNEL_CLAMP;                                                   \
        kernel_of((kernel_choice){KERNEL_OWN, s.grid, s.ends, FPEMU_MODE_##name, s.scale, 0}, j);                      \
    }                                                                                                                  \
    static void kernel_codes_##name(kernel_choice s, const kernel_job *j) /* integers alone */                         \
    {                                                                                                                  \
        s.grid = s.grid == KERNEL_EVEN ? KERNEL_EVEN : KERNEL_AFFINE;                                                  \
        kernel_of((kernel_choice){KERNEL_OWN, s.grid, KERNEL_CLAMP, FPEMU_MODE_##name, UNSCALED, s.codes}, j);         \
    }
#include "kernels.def"
#undef INSTANCE

const kernel_instances INSTANCES = {
    .rows =
        {
#define ROW(type, grid, ends, mode)                                                                                    \
    [KERNEL_##type][KERNEL_##grid][KERNEL_##ends][FPEMU_MODE_##mode] = ROW_NAME(type, grid, ends, mode),
#include "kernels.def"
        },
    .scaled_rows =
        {
#define SCALED(scale, grid, ends, mode)                                                                                \
    [SCALED_##scale][KERNEL_##grid][KERNEL_##ends][FPEMU_MODE_##mode] = ROW_NAME(scale, grid, ends, mode),
#include "kernels.def"
        },
#define MODE(name)                                                                                                     \
    .any[FPEMU_MODE_##name] = kernel_any_##name, .scaled[FPEMU_MODE_##name] = kernel_scaled_##name,                    \
    .codes[FPEMU_MODE_##name] = kernel_codes_##name,
#include "kernels.def"
    .affine = {EACH_MODE(affine_fast)},
};
