/* SPDX-License-Identifier: BSD-2-Clause */
/* scale.h - the scale of one block, and its elements under that scale: doc/blocks.md, for both carriers.
 *
 *   core_block     what follows from the format: made once a call (core_block_make), completed by the numbers of the
 *                  whole tensor where the rule has them
 *   core_extremes  what the rule looks at in a block
 *   core_scale     the scale of one block, ready for its elements
 *
 * An element is t = core_block_t, P = t by the element format (element.h, codebook.h), y = core_block_y. Where the
 * scale is a power of two t is exact: in the carrier if nothing that matters can fall off its ends (kind MULTIPLY),
 * else by 128 bits (kind POWER: core_block_exact). Callers see to the default floating-point environment. */
#ifndef FPEMU_CORE_SCALE_H
#define FPEMU_CORE_SCALE_H

#include "exact.h"
#include "codebook.h"
#include "element.h"
#include "logarithm.h"

/* How the elements of a block are scaled. */
enum core_scale_kind {
    CORE_SCALE_NONE,     /* t = x, y = P */
    CORE_SCALE_NAN,      /* they are NaN */
    CORE_SCALE_ZERO,     /* t is zero */
    CORE_SCALE_MULTIPLY, /* t = x * down, y = (P * s) * d */
    CORE_SCALE_DIVIDE,   /* t = x / down, y = (P * s) * d */
    CORE_SCALE_POWER,    /* t = x * 2^-exponent exactly, y = P * 2^exponent rounded once */
    CORE_SCALE_S2FP8
};

/* Where an exact t below the carrier's smallest number has to be one, not zero. */
enum {
    CORE_STICKY_VALUES = 1,  /* P may be another */
    CORE_STICKY_COUNTERS = 2 /* zero is an end of the element, which the slightest t is beyond: clipped */
};

/* Rules that choose take blocks of at most so many elements, in at most so many rows. */
#define CORE_CHOICE_ELEMENTS 4096
#define CORE_CHOICE_ROWS 64

/* A number that is added to y; x less another one is what elements see. */
#define CORE_ZERO_OFFSET 3

/* A mantissa, by which y is divided. */
#define CORE_MANTISSA 4

/* Blocks of rules with levels have at most so many elements. */
#define CORE_LEVEL_ELEMENTS 64

/* Blocks of ggml's super-blocks have at most so many elements, and super-blocks at most so many blocks. */
#define CORE_SUPER_MOST 32

/* Two numbers of the whole tensor, as packed: nvfp4 u, d; s2fp8 alpha, beta. amax: its largest finite magnitude and
 * most: [K*T], where a rule looks at errors. */
typedef struct core_tensor {
    float a, b, amax, most;
} core_tensor;

/* Rules with a scale of the whole tensor beside those of blocks. */
FPEMU_FN int core_rule_is_nvfp4(int rule)
{
    return rule == FPEMU_SCALING_NVFP4 || rule == FPEMU_SCALING_NVFP4_AO ||
           (rule >= FPEMU_SCALING_4OVER6 && rule <= FPEMU_SCALING_NVFP4_CLAMP) || rule == FPEMU_SCALING_EDEN;
}

/* Rules whose scales are multiples of what a super-block has. */
FPEMU_FN int core_rule_is_super(int rule)
{
    return rule == FPEMU_SCALING_GGML_1K || rule == FPEMU_SCALING_GGML_0K;
}

/* How many blocks of a line share a correction of their scales, and of tiles how many rows of them, or make a
 * super-block; 0: none. */
FPEMU_FN unsigned core_corrected(const fpemu_format *f)
{
    if (f->correct || f->scaling == FPEMU_SCALING_EDEN)
        return f->correct ? f->correct : 8;
    return f->scaling == FPEMU_SCALING_GGML_1K ? 8 : f->scaling == FPEMU_SCALING_GGML_0K ? 16 : 0;
}

/* How many neighbours share the finest level of a scale, under rules whose scales have levels; else 0. */
FPEMU_FN unsigned core_rule_levels(int rule)
{
    return rule == FPEMU_SCALING_HIF4 ? 4 : rule == FPEMU_SCALING_PAIRS ? 2 : 0;
}

/* The scale of the element at `place` is that of its block times 2 to this. */
FPEMU_FN int core_level(int rule, uint32_t levels, unsigned place)
{
    if (rule == FPEMU_SCALING_PAIRS)
        return -(int)(levels >> place / 2 & 1);
    return (int)(levels >> place / 8 & 1) + (int)(levels >> (8 + place / 4) & 1);
}

/* Rules with two numbers a block, or with a scale that may be negative. */
FPEMU_FN int core_rule_is_affine(int rule)
{
    return (rule >= FPEMU_SCALING_ASYMMETRIC && rule <= FPEMU_SCALING_GGML_0) || core_rule_is_super(rule);
}

/* Rules that no largest magnitude of a block will do for, and ends of its elements neither. */
FPEMU_FN int core_rule_sees_more(int rule)
{
    return rule == FPEMU_SCALING_MUPPET || rule == FPEMU_SCALING_ABSMEAN;
}

/* Rules that ask for more of a block than its largest elements above and below zero. */
FPEMU_FN int core_rule_has_ends(int rule)
{
    return rule >= FPEMU_SCALING_MINMAX && rule <= FPEMU_SCALING_GGML_0;
}

/* Rules that ask for a sum over a block; fpemu_range keeps either as that of logarithms. */
FPEMU_FN int core_rule_sums(int rule)
{
    return rule == FPEMU_SCALING_S2FP8 || rule == FPEMU_SCALING_ABSMEAN;
}

/* What the second number of a block is by its rule: fpemu_zero_order, or CORE_ZERO_OFFSET. */
FPEMU_FN int core_rule_order(int rule)
{
    switch (rule) {
    case FPEMU_SCALING_ASYMMETRIC:
    case FPEMU_SCALING_MINMAX: return FPEMU_ZERO_AFTER;
    case FPEMU_SCALING_HQQ: return FPEMU_ZERO_BEFORE;
    case FPEMU_SCALING_TINYGEMM:
    case FPEMU_SCALING_GGML_1:
    case FPEMU_SCALING_GGML_1K: return CORE_ZERO_OFFSET;
    default: return FPEMU_ZERO_NONE;
    }
}

/* The same of a format, or CORE_MANTISSA. */
FPEMU_FN int core_order(const fpemu_format *f)
{
    return f->correct && f->scaling != FPEMU_SCALING_EDEN ? CORE_MANTISSA : core_rule_order(f->scaling);
}

/* Rules that look at what becomes of the elements. */
FPEMU_FN int core_rule_chooses(int rule)
{
    return rule == FPEMU_SCALING_4OVER6 || rule == FPEMU_SCALING_4OVER6_MSE;
}

/* Rules that can be tried on other scales too: doc/blocks.md, 2.8. */
FPEMU_FN int core_rule_searches(int rule)
{
    return (rule >= FPEMU_SCALING_FLOOR && rule <= FPEMU_SCALING_NVFP4_AO) || rule == FPEMU_SCALING_RECIPROCAL ||
           rule == FPEMU_SCALING_NVFP4_CLAMP;
}

/* Of how many scales the one with the least error is taken. */
FPEMU_FN unsigned core_candidates(const fpemu_format *f)
{
    const int last = f->search_last - f->search_first;
    return core_rule_chooses(f->scaling) ? 2 : 1 + (unsigned)(last < 0 ? -last : last);
}

/* What amax is to become: T of doc/blocks.md, 2. */
FPEMU_FN double core_block_target(const fpemu_format *f)
{
    const double max = f->kind == FPEMU_KIND_CODEBOOK && -f->lowest > f->max ? -f->lowest : f->max;
    return f->target > 0 ? (double)f->target : max;
}

/* x, or the largest finite number in place of an infinity; a NaN stays. An infinity is known here and below by its
 * bits: gcc 14 takes 1 / s to be infinite where s is 0 alone, and then makes s that 0, or drops what s > 0 asks. */
FPEMU_FN float core_finite32(float x)
{
    const uint32_t u = core_bits32(x);
    return core_value32(u - (u << 1 == 0x7f800000u << 1));
}

FPEMU_FN double core_finite64(double x)
{
    const uint64_t u = core_bits64(x);
    return core_value64(u - (u << 1 == CORE_INF64 << 1));
}

/* x rounded to binary32, saturating; not for a NaN. */
FPEMU_FN float core_saturated32(double x)
{
    return core_finite32(core_value32(core_narrow(core_finite64(x))));
}

/* The mantissa of blocks whose largest magnitude is amax: eight bits after 1 of M/amax. */
FPEMU_FN float core_mantissa(float m, float amax)
{
    const uint32_t u = core_bits32(m / (amax > 1e-12f ? amax : 1e-12f));
    return core_value32((u & 0x7f8000u) | 0x3f800000u);
}

/* u = [1/d] and d of a tensor whose scale d is given. */
FPEMU_FN core_tensor core_given_tensor(const fpemu_given *g)
{
    const core_tensor t = {core_finite32(1 / g->tensor), g->tensor, 0, 0};
    return t;
}

/* The 128-bit integer (high, low), rounded once to binary64. */
FPEMU_FN double core_wide_value(int64_t high, uint64_t low)
{
    const int negative = high < 0;
    core_exact x = core_exact_special(CORE_FINITE, (unsigned)negative, 0);
    x.low = negative ? 0 - low : low;
    x.high = negative ? ~(uint64_t)high + (uint64_t)(low == 0) : (uint64_t)high;
    if ((x.high | x.low) == 0)
        return 0;
    x.top = 127;
    core_exact_normalise(&x);
    return core_value64(core_exact_binary64(&x, FPEMU_MODE_RNE));
}

/* A sum of |x| in steps of 2^-46, 2^16 in place of what is larger: of their low 32 bits and of the rest. */
typedef struct core_steps {
    uint64_t low, high;
} core_steps;

FPEMU_FN void core_steps_add(core_steps *s, double a)
{
    const uint64_t steps = (uint64_t)((a < 65536 ? a : 65536) * 70368744177664.0);
    s->low += steps & 0xffffffffu;
    s->high += steps >> 32;
}

/* The halves of the sum of 128 bits that such halves make, of numbers of either sign. */
FPEMU_FN void core_steps_join(uint64_t low, uint64_t high, uint64_t *sum_low, int64_t *sum_high)
{
    const uint64_t top = high >> 63 ? ~(uint64_t)0 << 32 : 0;
    *sum_low = (high << 32) + low;
    *sum_high = (int64_t)((high >> 32 | top) + (uint64_t)(*sum_low < low));
}

/* The mean of that sum of n numbers. */
FPEMU_FN double core_steps_mean(uint64_t low, int64_t high, uint64_t n)
{
    return n ? core_wide_value(high, low) / (double)n / 70368744177664.0 : 0;
}

/* alpha and beta of S2FP8. */
FPEMU_FN core_tensor core_s2fp8_tensor(const fpemu_range *w)
{
    core_tensor t = {1, 0, 0, 0};
    if (w->nonzero == 0)
        return t;
    /* n * mx - sum, in steps of 2^-32: exact, so that equal magnitudes are known */
    const int64_t most = (int64_t)(w->log2_max * 4294967296.0);
    const core_wide product = core_multiply(most < 0 ? 0 - (uint64_t)most : (uint64_t)most, w->nonzero);
    const uint64_t low = most < 0 ? 0 - product.low : product.low;
    const uint64_t high = most < 0 ? ~product.high + (uint64_t)(product.low == 0) : product.high;
    const uint64_t rest_low = low - w->log2_low, borrow = low < w->log2_low;
    const uint64_t rest_high = high - (uint64_t)w->log2_high - borrow;
    const double n = (double)w->nonzero, step = 1.0 / 4294967296.0;
    if ((rest_high | rest_low) == 0) {
        t.b = core_saturated32(15 - w->log2_max);
        return t;
    }
    const double below = core_wide_value((int64_t)rest_high, rest_low) / n * step; /* mx - mu */
    const double mean = core_wide_value(w->log2_high, w->log2_low) / n * step, alpha = 15 / below;
    t.a = core_saturated32(alpha);
    t.b = core_saturated32(0 - alpha * mean);
    return t;
}

/* u and d of the nvfp4 rules; K and T as binary32. */
FPEMU_FN core_tensor core_nvfp4_tensor(const fpemu_range *w, int rule, float k, float m)
{
    const float amax = core_saturated32(w->amax), most = core_finite32(k * m);
    core_tensor t = {1, 1, amax, most};
    if (rule == FPEMU_SCALING_NVFP4_CLAMP) {
        const float d = core_finite32(amax / most);
        t.b = d > 1e-30f ? d : 1e-30f;
        t.a = core_finite32(1 / t.b);
    } else if (rule == FPEMU_SCALING_NVFP4_AO || rule == FPEMU_SCALING_EDEN) {
        const float d = rule == FPEMU_SCALING_EDEN ? amax / k / m : amax / most;
        t.b = d > 0 ? core_finite32(d) : 1;
        t.a = core_finite32(1 / t.b);
    } else if (amax > 0) {
        t.a = core_finite32(most / amax);
        t.b = core_finite32(1 / t.a);
    }
    return t;
}

#include "carrier64.h"
#include "scale.inc.h"
#include "super.inc.h"
#include "carrier_end.h"
#include "carrier32.h"
#include "scale.inc.h"
#include "super.inc.h"
#include "carrier_end.h"

/* The exact quotient x * 2^-c, x having the bits u. */
FPEMU_FN core_exact core_block_quotient(int c, uint64_t u)
{
    core_exact x = core_exact_from(u);
    x.top -= x.kind == CORE_FINITE ? c : 0;
    return x;
}

/* The same in binary64, rounded to odd; u itself where it is no finite number. */
FPEMU_FN uint64_t core_block_t_odd(int c, uint64_t u)
{
    const core_exact x = core_block_quotient(c, u);
    return x.kind == CORE_FINITE ? core_exact_binary64(&x, FPEMU_MODE_RTO) : u;
}

/* t in binary32: exact but beyond its ends, where it is the largest number or a subnormal one that is not zero. */
FPEMU_FN uint32_t core_t_odd32(double t)
{
    const uint32_t sign = (uint32_t)(core_bits64(t) >> 63) << 31;
    const int infinite = core_bits64(t) << 1 == CORE_INF64 << 1;
    const uint32_t u = !infinite && (t > FLT_MAX || t < -FLT_MAX) ? sign | 0x7f7fffffu : core_bits32((float)t);
    return u << 1 == 0 && (t > 0 || t < 0) ? sign | 1 : u;
}

/* Bits of P: that quotient rounded by the element's binary64 plan. *g is its magnitude on the grid without ends (all
 * ones past the ends of an affine integer). */
FPEMU_FN uint64_t core_block_exact(const core_plan64 *p, const core_plan64 *integers, int c, uint64_t u, uint32_t r,
                                   uint64_t *g, int64_t *q)
{
    const core_exact x = core_block_quotient(c, u);
    if (x.kind == CORE_FINITE && p->rule < CORE_RULE_AFFINE_FAST)
        return core_exact_round(p, &x, r, g);
    int overflow;
    const uint64_t y = core_element64(p, integers, core_block_t_odd(c, u), r, &overflow, q);
    *g = overflow ? ~UINT64_C(0) >> 1 : 0;
    return y;
}

/* t and y of S2FP8, in binary64; NaN and infinity stay. */
FPEMU_FN double core_s2fp8_t(core_tensor n, double x)
{
    const double a = x < 0 ? -x : x;
    if (!(a > 0) || a > DBL_MAX)
        return x;
    const double t = core_exp2((double)n.a * core_log2(a) + (double)n.b);
    return x < 0 ? -t : t;
}

FPEMU_FN double core_s2fp8_y(core_tensor n, double p)
{
    const double a = p < 0 ? -p : p;
    if (!(a > 0) || a > DBL_MAX)
        return p;
    const double y = core_exp2((core_log2(a) - (double)n.b) / (double)n.a);
    return p < 0 ? -core_finite64(y) : core_finite64(y);
}

/* MuPPET's Eq. 6 as printed: floor(z + R/2^32 - 1/2), exactly, for z = t / step in binary64; not clipped. */
FPEMU_FN double core_muppet(double z, uint32_t r)
{
    /* z = k + fraction * 2^-32, what lies below the fraction being cut off */
    const double a = z < 0 ? -z : z, whole = a < 4503599627370496.0 ? (double)(int64_t)a : a;
    const double scaled = a < 4503599627370496.0 ? (a - whole) * 4294967296.0 : 0;
    const uint64_t cut = (uint64_t)scaled;
    double k = whole;
    uint64_t fraction = cut;
    if (z < 0) {
        const uint64_t up = cut + (uint64_t)((double)cut < scaled);
        k = -whole - (up ? 1 : 0);
        fraction = up ? (UINT64_C(1) << 32) - up : 0;
    }
    const uint64_t sum = fraction + r + (UINT64_C(1) << 31); /* R/2^32 + 1/2, less 1 */
    return k + (double)(sum >> 32) - 1;
}

/* QPyTorch's block_quantize: the multiple k of the element's step for x, where the largest element is below
 * 2^(e+1); bits: of the magnitude of an element, 2..21; stochastic: random bits r; not clipped. */
FPEMU_FN int32_t core_qpytorch_block(float x, int e, int bits, int stochastic, uint32_t r)
{
    const float c = 6 * core_value32(core_power32(e)), a = x + c;
    /* of 2^(e-21), exactly; cut, beyond what is clipped, where x is far above the largest that was told */
    const double exact = (double)a * core_value64(core_power64(21 - e)), most = 1073741824;
    const int32_t steps = (int32_t)(exact > most ? most : exact < -most ? -most : exact);
    const int drop = 22 - bits;
    const int32_t add = stochastic ? (int32_t)(r >> (32 - drop)) : (int32_t)1 << (drop - 1);
    return ((steps + add) >> drop) - ((int32_t)12582912 >> drop);
}

#endif /* FPEMU_CORE_SCALE_H */
