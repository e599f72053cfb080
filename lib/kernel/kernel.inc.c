/* SPDX-License-Identifier: BSD-2-Clause */
/* kernel.inc.c - numbers rounded to floats, to even grids and to integers with a scale: one kernel, in stages. Included
 * by variant.inc.c in the part of each carrier, so that a file has one width of lanes.
 *
 *   load, store    arrays of the carrier's type, or of 16-bit words, which are widened in registers
 *   draw           random bits: of the hash as they are needed, or given
 *   grid           the multiple of a step that the mode chooses
 *   ends           what becomes of what lies past the largest value, of infinities and of NaN
 *   codes          of integers, stored instead of values
 *
 * A stage reads what it is to do from a kernel_choice. kernels.def lists the choices that are compiled as constants; all
 * others are read at run time by the same text. */

#include "simd/simd.h"
#include "choice.inc.h"

/* Vectors that are made at once, so that they need not wait for one another: four, or two at the end of an array. */
#define KERNEL_VECTORS 4
#define KERNEL_FEW 2
#define UNROLLED _Pragma("GCC unroll 8")
#define EACH_VECTOR UNROLLED for (int k = 0; k < vectors; k++)

/* What the stages need of a plan, in every lane. */
typedef struct kernel_constants {
    simd_real emin, count;                  /* the first binade; 1.5 * 2^MANT steps, where there is one step */
    simd_bits to_count, to_half;            /* from a binade to that number; from the number to half a step */
    simd_real low, high;                    /* x is brought between them */
    simd_real step, steps;                  /* the smallest step, and 2^32 / step */
    simd_bits place;                        /* how far random bits are shifted, less the exponent field */
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
    c.to_count = simd_all(p->fast_up + one_and_half);
    c.to_half = simd_all(one_and_half + ((uintw)(CARRIER_MANTISSA + 1) << CARRIER_MANTISSA));
    c.high = simd_all_real(s.ends == KERNEL_CLAMP ? core_value(p->overflow[0]) : cap);
    c.low = simd_all_real(s.ends == KERNEL_CLAMP ? core_value(p->overflow[1]) : -cap);
    c.step = simd_all_real(core_value(p->low_one));
    c.steps = simd_all_real(core_value(p->fast_count));
    c.place = simd_all((uintw)p->fast_low);
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
SIMD_FN void kernel_load(kernel_choice s, int vectors, const char *from, simd_real *x)
{
    const size_t step = SIMD_LANES * kernel_size(s.type);
#if CARRIER_BITS == 32
    if (s.type == KERNEL_BF16 && !kernel_is_stochastic(s.mode)) {
        UNROLLED for (int k = 0; k < vectors; k += 2)
            simd_load_bf16_pair(from + (size_t)k * step, x + k, x + k + 1);
        return;
    }
#endif
    EACH_VECTOR
    {
        const char *const at = from + (size_t)k * step;
#if CARRIER_BITS == 32
        x[k] = s.type == KERNEL_F16 ? simd_load_f16(at) : s.type == KERNEL_BF16 ? simd_load_bf16(at) : simd_load(at);
#else
        x[k] = simd_load(at);
#endif
    }
}

SIMD_FN void kernel_store(kernel_choice s, int vectors, char *to, const simd_real *y)
{
    const size_t step = SIMD_LANES * kernel_size(s.type);
#if CARRIER_BITS == 32
    if (s.type == KERNEL_BF16 && !kernel_is_stochastic(s.mode)) {
        UNROLLED for (int k = 0; k < vectors; k += 2)
            simd_store_bf16_pair(to + (size_t)k * step, y[k], y[k + 1]);
        return;
    }
#endif
    EACH_VECTOR
    {
        char *const at = to + (size_t)k * step;
#if CARRIER_BITS == 32
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
SIMD_FN void kernel_store_codes(kernel_choice s, const kernel_constants *c, int vectors, char *to, const simd_real *y)
{
    EACH_VECTOR
    {
        const simd_real sum = kernel_takes_signs(s.mode) ? y[k] : y[k] + c->count;
        const simd_bits code = ((simd_bits)sum + c->code_zero) & c->code_mask;
        simd_store_codes(to + (size_t)(k * SIMD_LANES * s.codes), (size_t)s.codes, code);
    }
}

/* t + C, whose last bits count steps, by the modes without random bits and by se. t: x for kernel_takes_signs, else its
 * magnitude. C is 1.5 * 2^k, so the sum is positive. Integers with a scale: of the steps of t; the side of a value on
 * which t lies is that of the integer itself, since rounding k*s keeps the order. *open: the rule decides. */
SIMD_FN simd_bits kernel_count(kernel_choice s, const kernel_constants *c, simd_real t, simd_real C, simd_bits r,
                               simd_mask *open)
{
    const int affine = s.grid >= KERNEL_AFFINE;
    const simd_real half = affine ? c->half : (simd_real)((simd_bits)C - c->to_half);
#if SIMD_HAS_SIDES
    switch (affine ? FPEMU_MODE_RNE : s.mode) {
    case FPEMU_MODE_RTZ:
    case FPEMU_MODE_RTN: return (simd_bits)simd_add_toward(SIMD_DOWN, t, C);
    case FPEMU_MODE_RAZ:
    case FPEMU_MODE_RTP: return (simd_bits)simd_add_toward(SIMD_UP, t, C);
    case FPEMU_MODE_RNA: /* the first sum has finer steps, and no step passes over a multiple of the coarser */
        return (simd_bits)simd_add_toward(SIMD_DOWN, simd_add_toward(SIMD_DOWN, t, half), C);
    case FPEMU_MODE_RTO: /* of the neighbours the odd one, which is one more than the even one or that with its last bit */
        return (simd_bits)simd_add_toward(SIMD_DOWN, t, C) | ((simd_bits)simd_add_toward(SIMD_UP, t, C) & 1);
    default: break;
    }
#endif
    if (s.grid == KERNEL_PYTORCH)
        return (simd_bits)((c->plan->compat == FPEMU_COMPAT_PYTORCH_DIVIDE ? t / c->scale : t * c->inverse) + C);
    const simd_real sum = affine ? simd_fused(t, c->inverse, C) : t + C, k = sum - C, near = affine ? k * c->scale : k;
    const simd_bits n = (simd_bits)sum;
    if (affine && s.mode <= FPEMU_MODE_RNZ) {
        *open = simd_not_less(simd_magnitude(simd_fused(-k, c->scale, t)), half);
        return n;
    }
    switch (s.mode) {
    case FPEMU_MODE_RNE: return n;
    case FPEMU_MODE_RTZ:
    case FPEMU_MODE_RTN: return simd_less_one_if(simd_less(t, near), n);
    case FPEMU_MODE_RAZ:
    case FPEMU_MODE_RTP: return simd_add_one_if(simd_less(near, t), n);
    case FPEMU_MODE_RNA: return simd_add_one_if(simd_at_most(half, t - near), n);
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

/* As core_stochastic_from: random bits, shifted to the place of the bits that go, are added to the magnitude. *small: what
 * lies below the smallest step, for kernel_below. */
SIMD_FN simd_real kernel_stochastic(const kernel_constants *c, simd_real a, simd_bits r, simd_mask *small)
{
    const simd_real from = simd_max(a, c->step);
    const simd_bits place = ((simd_bits)simd_min(from, c->emin) >> CARRIER_MANTISSA) + c->place;
    *small = simd_less(a, c->step);
    return (simd_real)(((simd_bits)from + simd_shift_right(r, place)) & ~simd_shift_right(simd_all(~(uintw)0), place));
}

/* As core_stochastic_below. */
SIMD_FN simd_real kernel_below(const kernel_constants *c, simd_mask small, simd_real a, simd_bits r, simd_real y)
{
    const simd_mask up = simd_carries(simd_keep(small, a) * c->steps, r);
    return simd_select(small, simd_keep(up, c->step), y);
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

/* x as the grid takes it: within the ends, for some modes its magnitude. */
SIMD_FN simd_real kernel_bring(kernel_choice s, const kernel_constants *c, simd_real x)
{
    const int clamps = s.grid >= KERNEL_AFFINE || (s.grid == KERNEL_EVEN && s.ends == KERNEL_CLAMP);
    if (clamps)                                     /* the ends may differ */
        x = simd_max(c->low, simd_min(c->high, x)); /* of a NaN it is one */
    const simd_real t = kernel_takes_signs(s.mode) ? x : simd_magnitude(x);
    if (!kernel_brings(s) || clamps)
        return t;
    return kernel_takes_signs(s.mode) ? simd_max(simd_min(t, c->high), c->low) : simd_min(t, c->high);
}

/* t on the grid, with the sign of x; where *open, kernel_below or kernel_again is left to do. For codes as
 * kernel_store_codes takes it. */
SIMD_FN simd_real kernel_round(kernel_choice s, const kernel_constants *c, simd_real x, simd_real t, simd_bits r,
                               simd_mask *open)
{
    const int affine = s.grid >= KERNEL_AFFINE;
    const simd_bits sign = (simd_bits)x & CARRIER_SIGN;
    if (s.grid == KERNEL_FULL)
        return kernel_full(s, c, x, r);
#if SIMD_HAS_F16
    if (s.grid == KERNEL_F16_TYPE)
        return simd_through_f16(x);
#endif
    if (s.mode == FPEMU_MODE_SR && !affine)
        return (simd_real)((simd_bits)kernel_stochastic(c, t, r, open) | sign);
    const int even = affine || s.grid == KERNEL_EVEN;
    const simd_real field = (simd_real)((simd_bits)t & CARRIER_INF);
    const simd_real C = even ? c->count : (simd_real)((simd_bits)simd_max(field, c->emin) + c->to_count);
    const simd_real sum = s.mode == FPEMU_MODE_SR ? C : (simd_real)kernel_count(s, c, t, C, r, open);
    const simd_real y = s.mode == FPEMU_MODE_SR ? kernel_affine_stochastic(c, t, r, open) : sum - C;
    if (s.codes && kernel_takes_signs(s.mode))
        return sum;
    if (affine && !s.codes)
        return kernel_takes_signs(s.mode) ? y * c->scale
                                          : simd_fused(y, (simd_real)((simd_bits)c->scale | sign), c->zero); /* no -0 */
    if (!kernel_takes_signs(s.mode))
        return (simd_real)((simd_bits)y | sign);
    return even ? y : (simd_real)((simd_bits)y | ((simd_bits)x & c->keeps));
}

SIMD_FN simd_real kernel_by_sign(simd_real x, const simd_real of[2])
{
    return simd_select(simd_negative((simd_bits)x), of[1], of[0]);
}

/* The rule of integers with a scale, by mode: for what the kernel leaves open. */
#define AGAIN(rule, mode) [mode] = CARRIER(loop_round_##rule##_##mode),
static void (*const kernel_rule[CORE_MODE_COUNT])(const core_plan *, size_t, const void *, const uint32_t *,
                                                  void *) = {MODES(affine_fast, AGAIN)};
#undef AGAIN

SIMD_FN void kernel_again(kernel_choice s, const kernel_constants *c, int vectors, const simd_real *x,
                          const uint32_t *random, simd_real *y)
{
    simd_real from[KERNEL_VECTORS], to[KERNEL_VECTORS]; /* beside x and y, which need no memory */
    EACH_VECTOR from[k] = x[k];
    kernel_rule[s.mode](c->plan, (size_t)vectors * SIMD_LANES, from, random, to);
    EACH_VECTOR
    {
        const simd_real sum = to[k] * c->inverse + c->count, steps = kernel_takes_signs(s.mode) ? sum : sum - c->count;
        y[k] = s.codes ? simd_select(simd_differ(to[k], to[k]), c->nan[0], steps) : to[k];
    }
}

/* Whether kernel_again has such lanes, NaN among them. */
SIMD_FN int kernel_leaves(kernel_choice s)
{
    return s.grid == KERNEL_AFFINE && (s.mode <= FPEMU_MODE_RNZ || s.mode == FPEMU_MODE_SR);
}

/* Makes the finished results of values y on the grid. */
SIMD_FN void kernel_end(kernel_choice s, const kernel_constants *c, int vectors, const simd_real *x, simd_real *y)
{
    /* what says whether x overflows */
    const simd_real *const v = kernel_is_stochastic(s.mode) ? y : x;
    if (kernel_leaves(s))
        return;
    if ((s.grid == KERNEL_EVEN && !kernel_takes_signs(s.mode)) ||
        (s.ends == KERNEL_BY_SIGN && (s.grid == KERNEL_FULL || !kernel_takes_signs(s.mode))))
        EACH_VECTOR y[k] = y[k] + c->zero;
    switch (s.ends) {
    case KERNEL_CARRY:
    case KERNEL_CLAMP: EACH_VECTOR y[k] = simd_select(simd_differ(x[k], x[k]), c->nan[0], y[k]); break;
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
                y[k] = simd_select(infinite, kernel_by_sign(x[k], c->infinite), y[k]);
                y[k] = simd_select(simd_differ(x[k], x[k]), kernel_by_sign(x[k], c->nan), y[k]);
            }
        break;
    }
    default: break;
    }
}

/* So many vectors of elements, with 32 random bits each. */
SIMD_FN void kernel_group(kernel_choice s, const kernel_constants *c, int vectors, const char *from,
                          const uint32_t *random, char *to)
{
    simd_real x[KERNEL_VECTORS], t[KERNEL_VECTORS], y[KERNEL_VECTORS];
    simd_bits r[KERNEL_VECTORS];
    simd_mask open[KERNEL_VECTORS], few = simd_less(c->step, c->step);
    kernel_load(s, vectors, from, x);
    EACH_VECTOR
    {
        r[k] = kernel_is_stochastic(s.mode) ? simd_load_random(random + k * SIMD_LANES) : simd_all(0);
        t[k] = kernel_bring(s, c, x[k]);
        open[k] = few;
        y[k] = kernel_round(s, c, x[k], t[k], r[k], &open[k]);
    }
    if (kernel_leaves(s) || (s.mode == FPEMU_MODE_SR && s.grid != KERNEL_FULL)) {
        EACH_VECTOR few = simd_either(few, open[k]);
        if (simd_any(few) && kernel_leaves(s))
            kernel_again(s, c, vectors, x, random, y);
        else if (simd_any(few))
            EACH_VECTOR
            {
                const simd_real v = kernel_below(c, open[k], t[k], r[k], simd_magnitude(y[k]));
                y[k] = (simd_real)((simd_bits)v | ((simd_bits)x[k] & CARRIER_SIGN));
            }
    }
    kernel_end(s, c, vectors, x, y);
    if (s.codes)
        kernel_store_codes(s, c, vectors, to, y);
    else
        kernel_store(s, vectors, to, y);
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

/* How many of m elements from i on have words of one lead. */
SIMD_FN size_t kernel_of_one_lead(kernel_random *r, size_t i, size_t m)
{
    if (r->left == 0) {
        const uint32_t low = (uint32_t)(r->draw->index + i);
        r->left = CORE_LEAD_WORDS - (low & (CORE_LEAD_WORDS - 1));
        r->lead = core_hash_lead(r->draw->key, low);
        kernel_draw_begin(r->lead, r->first);
    }
    return m < r->left ? m : r->left;
}

/* n elements, fewer than KERNEL_FEW vectors by way of a buffer. */
SIMD_FN void kernel_of(kernel_choice s, const core_plan *p, const core_coder *coder, const loop_draw *d, size_t n,
                       const void *x, void *y)
{
    enum { GROUP = KERNEL_VECTORS * SIMD_LANES, FEW = KERNEL_FEW * SIMD_LANES };
    kernel_constants c = kernel_begin(s, p);
    if (s.codes)
        kernel_begin_codes(s, &c, coder);
    const size_t size = kernel_size(s.type), made = s.codes ? (size_t)s.codes : size;
    const int draws = kernel_is_stochastic(s.mode) && !d->r, given = kernel_is_stochastic(s.mode) && d->r;
    kernel_random random;
    random.draw = d;
    random.left = 0;
    for (size_t i = 0, m; i < n; i += m) {
        _Alignas(LINE) uint32_t words[GROUP];
        const char *const from = (const char *)x + i * size;
        char *const to = (char *)y + i * made;
        const uint32_t *const r = given ? d->r + i : words;
        m = n - i < GROUP ? n - i : GROUP;
        if (draws)
            m = kernel_of_one_lead(&random, i, m);
        m = m < GROUP && m > FEW ? FEW : m;
        if (draws) {
            kernel_draw(d->key, (uint32_t)(d->index + i), random.lead, random.first, m == GROUP ? GROUP : FEW, words);
            random.left -= m;
        }
        if (m == GROUP) {
            kernel_group(s, &c, KERNEL_VECTORS, from, r, to);
        } else if (m == FEW) {
            kernel_group(s, &c, KERNEL_FEW, from, r, to);
        } else {
            _Alignas(LINE) char beside[FEW * sizeof(realw)] = {0};
            _Alignas(LINE) uint32_t bits[FEW] = {0};
            memcpy(beside, from, m * size);
            if (kernel_is_stochastic(s.mode))
                memcpy(bits, r, m * sizeof *bits);
            kernel_group(s, &c, KERNEL_FEW, beside, bits, beside);
            memcpy(to, beside, m * made);
        }
    }
}

/* The rows of kernels.def, and all other choices at once. */
#define ROW_NAME(type, grid, ends, mode) kernel_##type##_##grid##_##ends##_##mode
#define ROW(type, grid, ends, mode)                                                                                    \
    static void ROW_NAME(type, grid, ends, mode)(const core_plan *p, const loop_draw *d, size_t n, const void *x,      \
                                                 void *y)                                                              \
    {                                                                                                                  \
        kernel_of((kernel_choice){KERNEL_##type, KERNEL_##grid, KERNEL_##ends, FPEMU_MODE_##mode, 0}, p, NULL, d, n,   \
                  x, y);                                                                                               \
    }
#include "kernels.def"

#define MODE(name)                                                                                                     \
    static void kernel_any_##name(kernel_choice s, const core_plan *p, const loop_draw *d, size_t n, const void *x,    \
                                  void *y)                                                                             \
    {                                                                                                                  \
        s.mode = FPEMU_MODE_##name;                                                                                    \
        s.codes = 0;                                                                                                   \
        kernel_of(s, p, NULL, d, n, x, y);                                                                             \
    }                                                                                                                  \
    static void kernel_codes_##name(int grid, size_t size, const core_plan *p, const core_coder *c,                    \
                                    const loop_draw *d, size_t n, const void *x, void *codes)                          \
    {                                                                                                                  \
        kernel_choice s = {KERNEL_OWN, KERNEL_EVEN, KERNEL_CLAMP, FPEMU_MODE_##name, (int)size};                       \
        if (grid == KERNEL_EVEN) {                                                                                     \
            kernel_of(s, p, c, d, n, x, codes);                                                                        \
        } else {                                                                                                       \
            s.grid = KERNEL_AFFINE;                                                                                    \
            kernel_of(s, p, c, d, n, x, codes);                                                                        \
        }                                                                                                              \
    }
#include "kernels.def"

static void (*const kernel_any[FPEMU_MODE_COUNT])(kernel_choice, const core_plan *, const loop_draw *, size_t,
                                                  const void *, void *) = {
#define MODE(name) [FPEMU_MODE_##name] = kernel_any_##name,
#include "kernels.def"
};

static void (*const kernel_codes[FPEMU_MODE_COUNT])(int, size_t, const core_plan *, const core_coder *,
                                                    const loop_draw *, size_t, const void *, void *) = {
#define MODE(name) [FPEMU_MODE_##name] = kernel_codes_##name,
#include "kernels.def"
};

static void (*const kernel_rows[KERNEL_TYPES][KERNEL_GRIDS][KERNEL_ENDS][FPEMU_MODE_COUNT])(const core_plan *,
                                                                                            const loop_draw *, size_t,
                                                                                            const void *, void *) = {
#define ROW(type, grid, ends, mode)                                                                                    \
    [KERNEL_##type][KERNEL_##grid][KERNEL_##ends][FPEMU_MODE_##mode] = ROW_NAME(type, grid, ends, mode),
#include "kernels.def"
};

static void kernel_run(const core_plan *p, int type, int open, const loop_draw *d, size_t n, const void *x, void *y)
{
    const int own = type == FPEMU_TYPE_F16 ? KERNEL_F16 : type == FPEMU_TYPE_BF16 ? KERNEL_BF16 : KERNEL_OWN;
    const kernel_choice s = kernel_choose(p, own, open);
    if (kernel_rows[s.type][s.grid][s.ends][s.mode] && !fpemu_choices_at_run_time())
        kernel_rows[s.type][s.grid][s.ends][s.mode](p, d, n, x, y);
    else
        kernel_any[s.mode](s, p, d, n, x, y);
}

/* As the loops of struct carrier_loops. */
static void CARRIER(loop_kernel)(const core_plan *p, int type, const loop_draw *d, size_t n, const void *x, void *y)
{
    kernel_run(p, type, 0, d, n, x, y);
}

static void CARRIER(loop_kernel_given)(const core_plan *p, size_t n, const void *x, const uint32_t *r, void *y)
{
    const loop_draw d = {r, {0, 0}, 0};
    kernel_run(p, CARRIER_BITS, 0, &d, n, x, y);
}

static void CARRIER(loop_kernel_open)(const core_plan *p, size_t n, const void *x, const uint32_t *r, void *y)
{
    const loop_draw d = {r, {0, 0}, 0};
    kernel_run(p, CARRIER_BITS, 1, &d, n, x, y);
}

static void CARRIER(loop_affine)(const core_plan *p, size_t n, const void *x, const uint32_t *r, void *y)
{
    if (core_affine_is_quick(p))
        CARRIER(loop_kernel_given)(p, n, x, r, y);
    else
        kernel_rule[p->mode](p, n, x, r, y);
}

static void CARRIER(loop_kernel_codes)(const core_plan *p, const core_coder *c, const loop_draw *d, size_t n,
                                       const void *x, size_t size, void *codes)
{
    kernel_codes[p->mode](kernel_choose(p, KERNEL_OWN, 0).grid, size, p, c, d, n, x, codes);
}
