/* SPDX-License-Identifier: BSD-2-Clause */
/* longhand.c - see longhand.h. */
#include "longhand.h"
#include "formats.h"

#include <stdarg.h>

/* ------------------------------------------------------------------------------------------------ formats */

enum { FORMATS = 300, SPEC = 80 };

static lh_format formats[FORMATS];
static char specs[FORMATS][SPEC];
static size_t format_count;

static int family_of(int specials)
{
    switch (specials) {
    case FPEMU_SPECIALS_IEEE: return LH_IEEE;
    case FPEMU_SPECIALS_FINITE: return LH_FINITE;
    case FPEMU_SPECIALS_P3109E: return LH_P3109E;
    case FPEMU_SPECIALS_P3109F: return LH_P3109F;
    case FPEMU_SPECIALS_E8M0: return LH_E8M0;
    case FPEMU_SPECIALS_DLFLOAT: return LH_DLFLOAT;
    default: return LH_NAN_ONLY; /* fn, fnuz */
    }
}

static lh_format float_of(const fpemu_format *f, double max)
{
    lh_format l = {.kind = FPEMU_KIND_FLOAT, .bias = f->bias, .is_signed = f->is_signed, .max = max};
    l.p = (int)f->mantissa_bits + 1;
    l.family = family_of(f->specials);
    /* exponent field 0 is that of numbers like any other */
    l.emin = l.family == LH_E8M0 || l.family == LH_DLFLOAT ? -l.bias : 1 - l.bias;
    l.has_nan = l.family == LH_IEEE ? l.p > 1 : l.family != LH_FINITE;
    l.has_negative_zero =
        l.is_signed && l.family != LH_P3109E && l.family != LH_P3109F && f->specials != FPEMU_SPECIALS_FNUZ;
    l.subnormals = f->subnormals;
    l.f64_only = l.p > 24 || l.emin - l.p + 1 < -149 || l.emin > 127 || max > 0x1.fffffep127;
    return l;
}

static lh_format steps_of(const fpemu_format *f)
{
    lh_format l = {.kind = (int)f->kind, .family = LH_FINITE, .wrap = f->wrap, .width = (int)f->bits};
    l.low = f->is_signed ? -((int64_t)1 << (l.width - 1)) : 0;
    l.high = ((int64_t)1 << (l.width - f->is_signed)) - 1;
    l.low += f->is_signed && f->symmetric;
    l.is_signed = l.low < 0;
    if (f->kind == FPEMU_KIND_INT) {
        l.scale = f->scale;
        l.zero = f->zero_point;
    } else {
        double most = ldexp(l.is_signed ? -(double)l.low : (double)l.high, -f->fraction_bits);
        l.fl = f->fraction_bits;
        l.f64_only = l.low < -(1 << 24) || l.high > 1 << 24 || l.fl > 149 || most > 0x1.fffffep127;
    }
    return l;
}

static lh_format posit_of(const fpemu_format *f)
{
    lh_format l = {.kind = FPEMU_KIND_POSIT, .family = LH_FINITE, .is_signed = 1, .has_nan = 1};
    l.width = (int)f->bits;
    l.es = (int)f->exponent_bits;
    /* a sign, two bits of regime and es of exponent at least: the rest is fraction */
    l.f64_only = l.width - 3 - l.es > 23 || (l.width - 2) << l.es > 127;
    return l;
}

static void add(const char *spec, const fpemu_format *f, double max)
{
    lh_format l = f->kind == FPEMU_KIND_FLOAT   ? float_of(f, max)
                  : f->kind == FPEMU_KIND_POSIT ? posit_of(f)
                                                : steps_of(f);
    if (format_count == FORMATS) {
        fputs("longhand: too many formats\n", stderr);
        exit(EXIT_FAILURE);
    }
    l.spec = strcpy(specs[format_count], spec);
    formats[format_count++] = l;
}

const lh_format *lh_formats(size_t i)
{
    const ref_format *named;
    fpemu_format f;
    char text[SPEC];
    double max;
    if (!format_count) {
        for (size_t k = 0; (named = ref_formats(k)); k++)
            add(named->spec, &named->f, named->max);
        for (size_t k = 0; ref_generic_max(k, &f, text, &max); k++)
            if (f.kind != FPEMU_KIND_FLOAT || max != 0)
                add(text, &f, max);
    }
    return i < format_count ? &formats[i] : NULL;
}

const lh_format *lh_find(const char *spec)
{
    const ref_format *named = ref_find(spec);
    const lh_format *f;
    for (size_t i = 0; (f = lh_formats(i)); i++)
        if (!strcmp(f->spec, named ? named->spec : spec))
            return f;
    return NULL;
}

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
    case FPEMU_MODE_RNP: return against_half > 0 || (against_half == 0 && !negative);
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
    double end = negative ? -f->max : f->max, beyond = negative ? -INFINITY : INFINITY;
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
    int64_t q = steps > 0 ? f->high : f->low;
    if (is_int && result.overflow && int_value(f, carrier, (double)(q - f->zero)) == x)
        result.overflow = 0; /* an end in value, though not in number */
    else if (!result.overflow)
        q = (int64_t)steps;
    else if (f->wrap && how.overflow == FPEMU_OVERFLOW_IEEE)
        q = wrapped(f, (negative ? ~k + 1 : k) + (uint64_t)f->zero);
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
    uint64_t b = mixed(mixed(seed + golden) ^ stream), h = j >> 32;
    uint32_t k0 = (uint32_t)(mixed(b + (2 * h + 1) * golden) >> 32);
    uint32_t k1 = (uint32_t)(mixed(b + (2 * h + 2) * golden) >> 32), x = (uint32_t)j ^ k0;
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
    if (getenv("STOP_AT_FAILURE"))
        exit(EXIT_FAILURE);
    return 0;
}

double lh_at(int carrier, const void *array, size_t i)
{
    return carrier == 32 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

int lh_same_bits(int carrier, const void *a, const void *b, size_t i)
{
    const size_t size = carrier == 32 ? 4 : 8;
    return memcmp((const char *)a + i * size, (const char *)b + i * size, size) == 0;
}

fpemu_format lh_parsed(const char *spec)
{
    fpemu_format f;
    if (fpemu_format_parse(spec, &f, NULL) != FPEMU_OK) {
        printf("FAIL: %s is not read\n", spec);
        exit(EXIT_FAILURE);
    }
    return f;
}

int lh_report(const char *program)
{
    printf("%s: %lu checks, %lu failed\n", program, checks, failures);
    return failures || !checks ? EXIT_FAILURE : EXIT_SUCCESS;
}
