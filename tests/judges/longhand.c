/* longhand.c - see longhand.h. */
#include "longhand.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ formats */

#define KEEP FPEMU_SUBNORMALS_KEEP
#define FLOAT(spec, p, emin, bias, family, sign, nan, minus0, sub, max)                                                \
    {                                                                                                                  \
        spec, FPEMU_KIND_FLOAT, p, emin, bias, family, sign, nan, minus0, sub, max, 0, 0, 0, 0, 0, 0, 0.0, 0, 0        \
    }
#define WIDE(spec, p, emin, bias, family, sign, nan, minus0, sub, max)                                                 \
    {                                                                                                                  \
        spec, FPEMU_KIND_FLOAT, p, emin, bias, family, sign, nan, minus0, sub, max, 0, 0, 0, 0, 0, 0, 0.0, 0, 1        \
    }
#define FIXED(spec, width, fl, wrap, low, high)                                                                        \
    {                                                                                                                  \
        spec, FPEMU_KIND_FIXED, 0, 0, 0, LH_FINITE, (low) < 0, 0, 0, 0, 0.0, width, fl, wrap, low, high, 0, 0.0, 0, 0  \
    }
#define INT(spec, width, wrap, low, high, scale, zero)                                                                 \
    {                                                                                                                  \
        spec, FPEMU_KIND_INT, 0, 0, 0, LH_FINITE, 1, 0, 0, 0, 0.0, width, 0, wrap, low, high, zero, scale, 0, 0        \
    }
#define POSIT(spec, n, es, wide)                                                                                       \
    {                                                                                                                  \
        spec, FPEMU_KIND_POSIT, 0, 0, 0, LH_FINITE, 1, 1, 0, 0, 0.0, n, 0, 0, 0, 0, 0, 0.0, es, wide                   \
    }

const lh_format lh_formats[] = {
    FLOAT("fp16", 11, -14, 15, LH_IEEE, 1, 1, 1, KEEP, 65504.0),
    FLOAT("bf16", 8, -126, 127, LH_IEEE, 1, 1, 1, KEEP, 255.0 * 0x1p120),
    FLOAT("tf32", 11, -126, 127, LH_IEEE, 1, 1, 1, KEEP, 2047.0 * 0x1p117),
    FLOAT("fp32", 24, -126, 127, LH_IEEE, 1, 1, 1, KEEP, 16777215.0 * 0x1p104),
    FLOAT("e5m2", 3, -14, 15, LH_IEEE, 1, 1, 1, KEEP, 57344.0),
    FLOAT("e4m3", 4, -6, 7, LH_IEEE, 1, 1, 1, KEEP, 240.0),
    FLOAT("e3m4", 5, -2, 3, LH_IEEE, 1, 1, 1, KEEP, 15.5),
    FLOAT("e4m3fn", 4, -6, 7, LH_NAN_ONLY, 1, 1, 1, KEEP, 448.0),
    FLOAT("e4m3fnuz", 4, -7, 8, LH_NAN_ONLY, 1, 1, 0, KEEP, 240.0),
    FLOAT("e5m2fnuz", 3, -15, 16, LH_NAN_ONLY, 1, 1, 0, KEEP, 57344.0),
    FLOAT("e4m3b11fnuz", 4, -10, 11, LH_NAN_ONLY, 1, 1, 0, KEEP, 30.0),
    FLOAT("e8m0", 1, -127, 127, LH_E8M0, 0, 1, 0, KEEP, 0x1p127),
    FLOAT("e3m2", 3, -2, 3, LH_FINITE, 1, 0, 1, KEEP, 28.0),
    FLOAT("e2m3", 4, 0, 1, LH_FINITE, 1, 0, 1, KEEP, 7.5),
    FLOAT("e2m1", 2, 0, 1, LH_FINITE, 1, 0, 1, KEEP, 6.0),
    FLOAT("ue4m3", 4, -6, 7, LH_NAN_ONLY, 0, 1, 0, KEEP, 448.0),
    FLOAT("dlfloat16", 10, -31, 31, LH_DLFLOAT, 1, 1, 1, KEEP, 8573157376.0),
    FLOAT("fp(4,3,4)", 4, -10, 11, LH_FINITE, 1, 0, 1, KEEP, 30.0),
    FLOAT("fp(4,3,-4)", 4, -2, 3, LH_FINITE, 1, 0, 1, KEEP, 7680.0),
    FLOAT("fp(5,2,0)", 3, -14, 15, LH_FINITE, 1, 0, 1, KEEP, 114688.0),
    FLOAT("fp(6,9,0)", 10, -30, 31, LH_FINITE, 1, 0, 1, KEEP, 8581545984.0),
    FLOAT("fp(8,7,0)", 8, -126, 127, LH_IEEE, 1, 1, 1, KEEP, 255.0 * 0x1p120),
    FLOAT("p3109(8,3,se)", 3, -15, 16, LH_P3109E, 1, 1, 0, KEEP, 49152.0),
    FLOAT("p3109(8,4,se)", 4, -7, 8, LH_P3109E, 1, 1, 0, KEEP, 224.0),
    FLOAT("p3109(8,4,sf)", 4, -7, 8, LH_P3109F, 1, 1, 0, KEEP, 240.0),
    FLOAT("p3109(8,3,ue)", 3, -31, 32, LH_P3109E, 0, 1, 0, KEEP, 5.0 * 0x1p29),
    FLOAT("p3109(8,4,ue)", 4, -15, 16, LH_P3109E, 0, 1, 0, KEEP, 53248.0),
    FLOAT("p3109(8,1,ue)", 1, -127, 128, LH_P3109E, 0, 1, 0, KEEP, 0x1p125),
    FLOAT("p3109(8,1,uf)", 1, -127, 128, LH_P3109F, 0, 1, 0, KEEP, 0x1p126),
    FLOAT("p3109(8,1,se)", 1, -63, 64, LH_P3109E, 1, 1, 0, KEEP, 0x1p62),
    FLOAT("p3109(3,2,sf)", 2, 0, 1, LH_P3109F, 1, 1, 0, KEEP, 1.5),
    FLOAT("fp16:nosub", 11, -14, 15, LH_IEEE, 1, 1, 1, FPEMU_SUBNORMALS_NONE, 65504.0),
    FLOAT("e4m3fn:nosub", 4, -6, 7, LH_NAN_ONLY, 1, 1, 1, FPEMU_SUBNORMALS_NONE, 448.0),
    FLOAT("e5m2:flushin", 3, -14, 15, LH_IEEE, 1, 1, 1, FPEMU_SUBNORMALS_FLUSH_IN, 57344.0),
    FLOAT("bf16:flushout", 8, -126, 127, LH_IEEE, 1, 1, 1, FPEMU_SUBNORMALS_FLUSH_OUT, 255.0 * 0x1p120),
    FLOAT("e2m3:flushout", 4, 0, 1, LH_FINITE, 1, 0, 1, FPEMU_SUBNORMALS_FLUSH_OUT, 7.5),
    FLOAT("float(e=8,m=0)", 1, -126, 127, LH_IEEE, 1, 0, 1, KEEP, 0x1p127),
    FLOAT("float(e=4,m=0,bias=6,specials=finite)", 1, -5, 6, LH_FINITE, 1, 0, 1, KEEP, 0x1p9),
    FLOAT("float(e=4,m=0,bias=7,specials=finite)", 1, -6, 7, LH_FINITE, 1, 0, 1, KEEP, 0x1p8),
    FLOAT("float(e=4,m=0,bias=7,specials=finite):nosub", 1, -6, 7, LH_FINITE, 1, 0, 1, FPEMU_SUBNORMALS_NONE, 0x1p8),
    FLOAT("float(e=0,m=4,bias=1,specials=finite)", 5, 0, 1, LH_FINITE, 1, 0, 1, KEEP, 0.9375),
    FLOAT("float(e=1,m=3)", 4, 1, 0, LH_IEEE, 1, 1, 1, KEEP, 1.75),
    FLOAT("float(e=5,m=3,specials=fn,signed=0)", 4, -14, 15, LH_NAN_ONLY, 0, 1, 0, KEEP, 14.0 * 0x1p13),
    FLOAT("float(e=3,m=2,specials=finite,signed=0)", 3, -2, 3, LH_FINITE, 0, 0, 0, KEEP, 28.0),
    FLOAT("float(e=5,m=4,signed=0)", 5, -14, 15, LH_IEEE, 0, 1, 0, KEEP, 31.0 * 0x1p11),
    /* normal numbers and subnormals that are both subnormal in the carrier */
    FLOAT("float(e=7,m=5,bias=140)", 6, -139, 140, LH_IEEE, 1, 1, 1, KEEP, 63.0 * 0x1p-19),
    FLOAT("float(e=7,m=5,bias=140):nosub", 6, -139, 140, LH_IEEE, 1, 1, 1, FPEMU_SUBNORMALS_NONE, 63.0 * 0x1p-19),
    FLOAT("float(e=7,m=3,bias=140,specials=fn):flushout", 4, -139, 140, LH_NAN_ONLY, 1, 1, 1,
          FPEMU_SUBNORMALS_FLUSH_OUT, 14.0 * 0x1p-16),
    FLOAT("float(e=7,m=0,bias=140,specials=finite)", 1, -139, 140, LH_FINITE, 1, 0, 1, KEEP, 0x1p-13),
    FLOAT("float(e=7,m=0,bias=141,specials=finite):flushin", 1, -140, 141, LH_FINITE, 1, 0, 1,
          FPEMU_SUBNORMALS_FLUSH_IN, 0x1p-14),
    WIDE("float(e=6,m=20,bias=1050)", 21, -1049, 1050, LH_IEEE, 1, 1, 1, KEEP, 2097151.0 * 0x1p-1008),
    WIDE("fp64", 53, -1022, 1023, LH_IEEE, 1, 1, 1, KEEP, 0x1.fffffffffffffp1023),
    WIDE("float(e=11,m=10)", 11, -1022, 1023, LH_IEEE, 1, 1, 1, KEEP, 0x1.ffcp1023),
    WIDE("float(e=9,m=30)", 31, -254, 255, LH_IEEE, 1, 1, 1, KEEP, 0x1.fffffffcp255),
    FIXED("fixed(8,4)", 8, 4, 0, -128, 127),
    FIXED("fixed(8,4):symmetric", 8, 4, 0, -127, 127),
    FIXED("fixed(8,4):wrap", 8, 4, 1, -128, 127),
    FIXED("fixed(8,-3)", 8, -3, 0, -128, 127),
    FIXED("fixed(6,9)", 6, 9, 0, -32, 31),
    FIXED("fixed(24,12)", 24, 12, 0, -8388608, 8388607),
    FIXED("ufixed(8,4)", 8, 4, 0, 0, 255),
    FIXED("ufixed(8,4):wrap", 8, 4, 1, 0, 255),
    INT("int8", 8, 0, -128, 127, 1.0, 0),
    INT("int8:wrap", 8, 1, -128, 127, 1.0, 0),
    INT("uint8", 8, 0, 0, 255, 1.0, 0),
    INT("int4", 4, 0, -8, 7, 1.0, 0),
    INT("int(8,scale=0.1)", 8, 0, -128, 127, 0.1, 0),
    INT("int(8,scale=0.0078125,zero=-5)", 8, 0, -128, 127, 0.0078125, -5),
    INT("int(8,scale=3.7,zero=11)", 8, 0, -128, 127, 3.7, 11),
    INT("int(8,scale=0.3):symmetric", 8, 0, -127, 127, 0.3, 0),
    INT("int(8,scale=0.1,zero=3):wrap", 8, 1, -128, 127, 0.1, 3),
    INT("int(20,scale=0.7,zero=-1000)", 20, 0, -524288, 524287, 0.7, -1000),
    INT("int(32,scale=0.1)", 32, 0, -INT64_C(2147483648), INT64_C(2147483647), 0.1, 0),
    POSIT("posit(8,0)", 8, 0, 0),
    POSIT("posit(8,2)", 8, 2, 0),
    POSIT("posit(16,1)", 16, 1, 0),
    POSIT("posit(16,2)", 16, 2, 0),
    POSIT("posit(32,2)", 32, 2, 1),
    POSIT("posit(2,0)", 2, 0, 0),
};
const size_t lh_format_count = sizeof lh_formats / sizeof lh_formats[0];

int lh_supports(const lh_format *f, int mode)
{
    return f->kind != FPEMU_KIND_POSIT || mode == FPEMU_MODE_RNE;
}

/* scale * units as the carrier holds it: one rounding of the exact product. */
static double int_value(const lh_format *f, int carrier, double units)
{
    if (carrier == 64)
        return f->scale * units;
    /* through binary64, to odd: what is left over is known from fma, so the conversion to float is the only rounding */
    double scale = (double)(float)f->scale, product = scale * units, rest = fma(scale, units, -product);
    if (rest != 0 && !(lh_double_bits(product) & 1))
        product = nextafter(product, rest > 0 ? INFINITY : -INFINITY);
    return (double)(float)product;
}

double lh_posit_value(uint64_t code, int n, int es)
{
    uint64_t mask = ((uint64_t)1 << n) - 1;
    code &= mask;
    if (code == 0)
        return 0.0;
    if (code == (uint64_t)1 << (n - 1))
        return NAN;
    int negative = (int)(code >> (n - 1) & 1);
    if (negative)
        code = (~code + 1) & mask;
    int i = n - 2, first, run = 0;
    first = (int)(code >> i & 1);
    while (i >= 0 && (int)(code >> i & 1) == first) {
        run++;
        i--;
    }
    i--; /* the bit that ends the run */
    int regime = first ? run - 1 : -run, exponent = 0;
    for (int j = 0; j < es; j++, i--)
        exponent = 2 * exponent + (i >= 0 ? (int)(code >> i & 1) : 0);
    double fraction = 1.0, weight = 0.5;
    for (; i >= 0; i--, weight /= 2)
        if (code >> i & 1)
            fraction += weight;
    double value = ldexp(fraction, regime * (1 << es) + exponent);
    return negative ? -value : value;
}

double lh_max(const lh_format *f, int carrier)
{
    switch (f->kind) {
    case FPEMU_KIND_FLOAT: return f->max;
    case FPEMU_KIND_FIXED: return ldexp((double)f->high, -f->fl);
    case FPEMU_KIND_INT: return int_value(f, carrier, (double)(f->high - f->zero));
    default: return lh_posit_value(((uint64_t)1 << (f->width - 1)) - 1, f->width, f->es);
    }
}

double lh_lowest(const lh_format *f, int carrier)
{
    switch (f->kind) {
    case FPEMU_KIND_FLOAT: return f->family == LH_E8M0 ? 0x1p-127 : f->is_signed ? -f->max : 0.0;
    case FPEMU_KIND_FIXED: return ldexp((double)f->low, -f->fl);
    case FPEMU_KIND_INT: return int_value(f, carrier, (double)(f->low - f->zero));
    default: return -lh_max(f, carrier);
    }
}

double lh_min_normal(const lh_format *f)
{
    if (f->kind != FPEMU_KIND_FLOAT)
        return 0.0;
    double normal = ldexp(1.0, f->emin);
    return normal > f->max ? 0.0 : normal;
}

/* ------------------------------------------------------------------------------------------------ decision */

static uint64_t scaled_floor(uint64_t rem, int shift, unsigned bits)
{
    int n = (int)bits;
    if (n >= shift)
        return rem << (n - shift);
    return shift - n >= 64 ? 0 : rem >> (shift - n);
}

static uint64_t scaled_even(uint64_t rem, int shift, unsigned bits)
{
    int drop = shift - (int)bits;
    uint64_t whole = scaled_floor(rem, shift, bits);
    if (drop <= 0 || drop >= 64)
        return whole;
    uint64_t half = (uint64_t)1 << (drop - 1), rest = rem & (2 * half - 1);
    return whole + (rest > half || (rest == half && (whole & 1)));
}

int lh_up(int mode, int variant, unsigned bits, uint32_t r, int negative, int odd, uint64_t rem, int shift)
{
    if (rem == 0)
        return 0;
    int against_half = -1;
    if (shift < 64) {
        uint64_t half = (uint64_t)1 << (shift - 1);
        against_half = rem > half ? 1 : rem == half ? 0 : -1;
    }
    uint64_t one = (uint64_t)1 << bits;
    switch (mode) {
    case FPEMU_MODE_RNE: return against_half > 0 || (against_half == 0 && odd);
    case FPEMU_MODE_RNA: return against_half >= 0;
    case FPEMU_MODE_RNZ: return against_half > 0;
    case FPEMU_MODE_RTZ: return 0;
    case FPEMU_MODE_RAZ: return 1;
    case FPEMU_MODE_RTP: return !negative;
    case FPEMU_MODE_RTN: return negative;
    case FPEMU_MODE_RTO: return !odd;
    case FPEMU_MODE_SE: return (int)(r >> (bits - 1) & 1);
    default: break;
    }
    switch (variant) {
    case FPEMU_SR_VARIANT_A: return scaled_floor(rem, shift, bits) + r >= one;
    case FPEMU_SR_VARIANT_B: return scaled_floor(rem, shift, bits + 1) + 2 * (uint64_t)r + 1 >= 2 * one;
    default: return scaled_even(rem, shift, bits) + r >= one;
    }
}

/* |x| = significand * 2^exponent on a grid of step 2^step: whole steps, and what is left over. */
typedef struct on_grid {
    double whole; /* the value of the whole steps */
    uint64_t k;   /* their number modulo 2^64 */
    uint64_t rem;
    int shift; /* the rest is rem / 2^shift of a step */
} on_grid;

static on_grid place(double magnitude, int step)
{
    on_grid g = {0.0, 0, 0, 1};
    int exponent;
    uint64_t s = (uint64_t)ldexp(frexp(magnitude, &exponent), 53);
    exponent -= 53;
    if (exponent >= step) {
        g.whole = magnitude;
        g.k = exponent - step >= 64 ? 0 : s << (exponent - step);
        return g;
    }
    g.shift = step - exponent;
    g.k = g.shift >= 64 ? 0 : s >> g.shift;
    g.rem = g.shift >= 64 ? s : s - (g.k << g.shift);
    g.whole = ldexp((double)g.k, step);
    return g;
}

static double zero_of(const lh_format *f, int negative)
{
    return negative && f->has_negative_zero ? -0.0 : 0.0;
}

/* The value beyond the ends, by mode and family, policy `ieee`. */
static double float_overflow(const lh_format *f, int mode, int negative)
{
    if (negative && !f->is_signed) {
        if (mode == FPEMU_MODE_RTZ || mode == FPEMU_MODE_RTP)
            return 0.0;
        return f->has_nan ? NAN : 0.0;
    }
    double end = negative ? -f->max : f->max;
    double beyond = negative ? -INFINITY : INFINITY;
    if (f->family == LH_FINITE || f->family == LH_P3109F)
        beyond = end;
    if (f->family == LH_NAN_ONLY || f->family == LH_DLFLOAT || f->family == LH_E8M0)
        beyond = NAN;
    switch (mode) {
    case FPEMU_MODE_RTZ: return end;
    case FPEMU_MODE_RTP: return negative ? end : beyond;
    case FPEMU_MODE_RTN: return negative ? beyond : end;
    case FPEMU_MODE_RTO: return f->family == LH_P3109E && f->is_signed ? beyond : end;
    default: return beyond;
    }
}

static double float_infinity(const lh_format *f, int policy, int negative)
{
    int saturate = policy == FPEMU_OVERFLOW_SATURATE;
    if (f->family == LH_E8M0)
        return negative || !saturate ? NAN : f->max;
    if (negative && !f->is_signed)
        return policy == FPEMU_OVERFLOW_IEEE && f->has_nan ? NAN : 0.0;
    double end = negative ? -f->max : f->max;
    if (saturate || f->family == LH_FINITE || f->family == LH_P3109F)
        return end;
    if (f->family == LH_NAN_ONLY || f->family == LH_DLFLOAT)
        return NAN;
    return negative ? -INFINITY : INFINITY;
}

static lh_result float_round(const lh_format *f, lh_rounding how, double x)
{
    int negative = x < 0, exponent;
    double magnitude = fabs(x);
    if (f->family == LH_E8M0) {
        if (negative)
            return (lh_result){NAN, 0, 0};
        if (magnitude <= 0x1p-127)
            return (lh_result){0x1p-127, 0, 0};
    }
    (void)frexp(magnitude, &exponent);
    exponent -= 1;
    int below = exponent < f->emin;
    if (below && (f->subnormals == FPEMU_SUBNORMALS_FLUSH_IN || f->family == LH_DLFLOAT))
        return (lh_result){zero_of(f, negative), 0, 0};
    int step = (below ? f->emin : exponent) - f->p + 1;
    if (below && f->subnormals == FPEMU_SUBNORMALS_NONE)
        step = f->emin;
    on_grid g = place(magnitude, step);
    int odd = (int)(g.k & 1);
    if (f->p == 1 && g.k == 1)
        odd = (step + f->bias) & 1;
    double y = g.whole;
    if (lh_up(how.mode, how.variant, how.bits, how.r, negative, odd, g.rem, g.shift))
        y = ldexp((double)(g.k + 1), step);
    if (f->family == LH_DLFLOAT && y == 0x1p-31)
        y = 0.0;
    if (f->subnormals == FPEMU_SUBNORMALS_FLUSH_OUT && y < ldexp(1.0, f->emin))
        y = 0.0;
    if (y == 0.0)
        return (lh_result){zero_of(f, negative), 0, 0};
    if (y <= f->max && (f->is_signed || !negative))
        return (lh_result){negative ? -y : y, 0, 0};
    if (how.overflow == FPEMU_OVERFLOW_SATURATE || how.overflow == FPEMU_OVERFLOW_SATURATE_KEEP_INF) {
        /* e8m0 keeps `ieee` under saturate-keep-inf */
        if (f->family != LH_E8M0 || how.overflow == FPEMU_OVERFLOW_SATURATE)
            return (lh_result){!negative ? f->max : f->is_signed ? -f->max : 0.0, 1, 0};
    }
    return (lh_result){float_overflow(f, how.mode, negative), 1, 0};
}

/* Low `width` bits of q, in the range of the format. */
static int64_t wrapped(const lh_format *f, uint64_t q)
{
    uint64_t mask = ((uint64_t)1 << f->width) - 1;
    q &= mask;
    return f->low < 0 && q >> (f->width - 1) ? (int64_t)q - (int64_t)mask - 1 : (int64_t)q;
}

/* |x| / scale to binary64 by round to odd: long division. */
static double odd_quotient(double magnitude, double scale)
{
    int ex, es;
    uint64_t a = (uint64_t)ldexp(frexp(magnitude, &ex), 53), b = (uint64_t)ldexp(frexp(scale, &es), 53);
    ex -= es; /* the quotient is a/b * 2^ex, a/b in (1/2, 2) */
    uint64_t q = a / b, rest = a % b;
    int bits = 0;
    while (q < (uint64_t)1 << 52) {
        rest *= 2;
        q = 2 * q + (rest >= b);
        rest -= rest >= b ? b : 0;
        bits++;
    }
    if (rest)
        q |= 1;
    int exponent = ex - bits;
    if (exponent > 971)
        return 0x1.fffffffffffffp1023;
    while (exponent < -1074) {
        q = q >> 1 | (q & 1);
        exponent++;
    }
    return ldexp((double)q, exponent);
}

/* Integers of a step: the number of steps modulo 2^64 (signed as two's complement), and what it is when in range. */
static lh_result steps_round(const lh_format *f, int carrier, lh_rounding how, double x)
{
    int negative = x < 0, is_int = f->kind == FPEMU_KIND_INT;
    double magnitude = fabs(x), whole;
    int step = is_int ? 0 : -f->fl;
    uint64_t k;
    if (is_int)
        magnitude = odd_quotient(magnitude, carrier == 32 ? (double)(float)f->scale : f->scale);
    on_grid g = place(magnitude, step);
    int odd = (int)(g.k & 1);
    if (is_int) { /* a value of the format stays, whatever the quotient made of it */
        int up = lh_up(FPEMU_MODE_RNE, 0, 1, 0, 0, odd, g.rem, g.shift);
        double units = up ? (double)(g.k + 1) : g.whole;
        if (units < 0x1p53 && int_value(f, carrier, units) == fabs(x)) {
            g.k += (uint64_t)up;
            g.whole = units;
            g.rem = 0;
        }
    }
    whole = g.whole;
    k = g.k;
    if (lh_up(how.mode, how.variant, how.bits, how.r, negative, odd, g.rem, g.shift)) {
        k++;
        whole = ldexp((double)k, step);
    }
    double steps = ldexp(whole, -step) * (negative ? -1.0 : 1.0) + (double)f->zero;
    lh_result result = {0.0, steps < (double)f->low || steps > (double)f->high, 0};
    int64_t q;
    if (!result.overflow)
        q = (int64_t)steps;
    else if (f->wrap && how.overflow == FPEMU_OVERFLOW_IEEE)
        q = wrapped(f, (negative ? ~k + 1 : k) + (uint64_t)f->zero);
    else
        q = steps > 0 ? f->high : f->low;
    result.q = q;
    result.y = is_int ? int_value(f, carrier, (double)(q - f->zero)) : ldexp((double)q, step);
    if (result.y == 0.0)
        result.y = 0.0; /* no -0 */
    return result;
}

static double posit_round(const lh_format *f, double x)
{
    int n = f->width;
    double magnitude = fabs(x), sign = x < 0 ? -1.0 : 1.0;
    uint64_t low = 1, high = ((uint64_t)1 << (n - 1)) - 1;
    if (magnitude >= lh_posit_value(high, n, f->es))
        return sign * lh_posit_value(high, n, f->es);
    if (magnitude <= lh_posit_value(low, n, f->es))
        return sign * lh_posit_value(low, n, f->es);
    while (high - low > 1) { /* value(low) <= |x| < value(high) */
        uint64_t middle = low + (high - low) / 2;
        if (lh_posit_value(middle, n, f->es) <= magnitude)
            low = middle;
        else
            high = middle;
    }
    if (lh_posit_value(low, n, f->es) < magnitude) {
        double between = lh_posit_value(2 * low + 1, n + 1, f->es);
        if (magnitude > between || (magnitude == between && (low & 1)))
            low++;
    }
    return sign * lh_posit_value(low, n, f->es);
}

static double nan_round(const lh_format *f, int carrier, int policy, double x)
{
    if (f->has_nan)
        return NAN;
    switch (policy) {
    case FPEMU_NAN_MAX: return lh_max(f, carrier);
    case FPEMU_NAN_SIGNMAX: return signbit(x) ? lh_lowest(f, carrier) : lh_max(f, carrier);
    case FPEMU_NAN_ZERO: return 0.0;
    default: return NAN;
    }
}

lh_result lh_round(const lh_format *f, int carrier, lh_rounding how, double x)
{
    lh_result result = {0.0, 0, f->zero};
    if (isnan(x)) {
        result.y = nan_round(f, carrier, how.nan, x);
    } else if (isinf(x)) {
        if (f->kind == FPEMU_KIND_FLOAT)
            result.y = float_infinity(f, how.overflow, x < 0);
        else if (f->kind == FPEMU_KIND_POSIT && how.overflow != FPEMU_OVERFLOW_SATURATE)
            result.y = NAN;
        else
            result.y = x < 0 ? lh_lowest(f, carrier) : lh_max(f, carrier);
    } else if (x == 0.0) {
        result.y = f->family == LH_E8M0 ? 0x1p-127 : zero_of(f, signbit(x) != 0);
    } else if (f->kind == FPEMU_KIND_FLOAT) {
        result = float_round(f, how, x);
    } else if (f->kind == FPEMU_KIND_POSIT) {
        result.y = posit_round(f, x);
        result.overflow = fabs(x) > lh_max(f, carrier);
    } else {
        return steps_round(f, carrier, how, x);
    }
    if (f->kind != FPEMU_KIND_FLOAT && result.y != 0)
        result.q = result.y > 0 ? f->high : f->low;
    return result;
}

/* ------------------------------------------------------------------------------------------------ random words */

static uint64_t mix(uint64_t z)
{
    z ^= z >> 30;
    z *= UINT64_C(0xbf58476d1ce4e5b9);
    z ^= z >> 27;
    z *= UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void lh_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c[4], k0 = key[0], k1 = key[1];
    memcpy(c, counter, sizeof c);
    for (int round = 0; round < 10; round++) {
        uint64_t a = UINT64_C(0xd2511f53) * c[0], b = UINT64_C(0xcd9e8d57) * c[2];
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k0, (uint32_t)b, (uint32_t)(a >> 32) ^ c[3] ^ k1, (uint32_t)a};
        memcpy(c, next, sizeof c);
        k0 += UINT32_C(0x9e3779b9);
        k1 += UINT32_C(0xbb67ae85);
    }
    memcpy(out, c, sizeof c);
}

uint32_t lh_word(int generator, uint64_t seed, uint64_t stream, uint64_t j)
{
    if (generator == FPEMU_GENERATOR_PHILOX) {
        uint64_t c = (j >> 7) * 32 + (j & 31);
        uint32_t counter[4] = {(uint32_t)c, (uint32_t)(c >> 32), (uint32_t)stream, (uint32_t)(stream >> 32)};
        uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)}, out[4];
        lh_philox(counter, key, out);
        return out[j >> 5 & 3];
    }
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t b = mix(mix(seed + golden) ^ stream), h = j >> 32;
    uint32_t k0 = (uint32_t)(mix(b + (2 * h + 1) * golden) >> 32);
    uint32_t k1 = (uint32_t)(mix(b + (2 * h + 2) * golden) >> 32);
    uint32_t x = (uint32_t)j ^ k0;
    x ^= x >> 17;
    x *= UINT32_C(0xed5ad4bb);
    x ^= (x >> 11) ^ k1;
    x *= UINT32_C(0xac4c1b51);
    x ^= x >> 15;
    x *= UINT32_C(0x31848bab);
    return x ^ x >> 14;
}

uint32_t lh_bits(int generator, uint64_t seed, uint64_t stream, uint64_t i, unsigned bits)
{
    if (bits > 16)
        return lh_word(generator, seed, stream, i) >> (32 - bits);
    if (bits > 8) {
        uint32_t word = lh_word(generator, seed, stream, (i >> 6) * 32 + (i & 31));
        return ((i >> 5 & 1 ? word >> 16 : word) & 0xffff) >> (16 - bits);
    }
    uint32_t word = lh_word(generator, seed, stream, (i >> 7) * 32 + (i & 31));
    return (word >> (i >> 5 & 3) * 8 & 0xff) >> (8 - bits);
}

uint64_t lh_next(uint64_t *state) /* xorshift64*, Vigna 2016 */
{
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* ------------------------------------------------------------------------------------------------ harness */

uint32_t lh_float_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

uint64_t lh_double_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

float lh_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

double lh_double(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

int lh_same_f32(float y, double expected)
{
    return lh_float_bits(y) == (isnan(expected) ? UINT32_C(0x7fc00000) : lh_float_bits((float)expected));
}

int lh_same_f64(double y, double expected)
{
    return lh_double_bits(y) == (isnan(expected) ? UINT64_C(0x7ff8000000000000) : lh_double_bits(expected));
}

static unsigned long checks, failures, limit = 25;

int lh_check(int good, const char *format, ...)
{
    checks++;
    if (good)
        return 1;
    if (failures++ < limit) {
        va_list arguments;
        va_start(arguments, format);
        printf("FAILED ");
        vprintf(format, arguments);
        printf("\n");
        va_end(arguments);
    }
    return 0;
}

int lh_report(const char *program)
{
    printf("%s: %lu checks, %lu failed\n", program, checks, failures);
    return failures || !checks ? EXIT_FAILURE : EXIT_SUCCESS;
}
