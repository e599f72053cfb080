/* SPDX-License-Identifier: BSD-2-Clause */
/* scalar.c - from the parameters of a scalar format to its limits and codes, kind by kind.
 *
 * Limits are derived with integers: an environment of the caller that flushes subnormals or rounds upward changes
 * nothing. */
#include "scalar.h"

#include "codebook.h"
#include "core/port.h"
#include "decimal.h"

#include <string.h>

static double negative(double x)
{
    return core_value64(core_bits64(x) ^ UINT64_C(1) << 63);
}

/* ------------------------------------------------------------------------------------------------ floats */

int32_t fpemu_default_bias(uint32_t exponent_bits, uint32_t specials)
{
    const int32_t half = (int32_t)1 << (exponent_bits - 1);
    return specials == FPEMU_SPECIALS_FNUZ || specials == FPEMU_SPECIALS_P3109E || specials == FPEMU_SPECIALS_P3109F
               ? half
           : specials == FPEMU_SPECIALS_HIF8 ? 0
                                             : half - 1;
}

/* E = 0 is a binade of normal numbers. */
static int zero_exponent_is_normal(const fpemu_format *f)
{
    return f->specials == FPEMU_SPECIALS_E8M0 || f->specials == FPEMU_SPECIALS_DLFLOAT ||
           f->specials == FPEMU_SPECIALS_HIF8;
}

/* What the special values ask of the other parameters. */
static int check_specials(const fpemu_format *f, fpemu_problem *problem)
{
    const uint32_t e = f->exponent_bits, m = f->mantissa_bits;
    const uint32_t fields = FPEMU_PARAMETER_EXPONENT | FPEMU_PARAMETER_MANTISSA | FPEMU_PARAMETER_SPECIALS;
    switch (f->specials) {
    case FPEMU_SPECIALS_IEEE:
        if (e == 0)
            return refuse(problem, FPEMU_PARAMETER_EXPONENT | FPEMU_PARAMETER_SPECIALS,
                          "specials other than ieee, since with e=0 every code would be special");
        if (e == 1 && m == 0)
            return refuse(problem, fields, "a positive finite value: ieee with e=1 needs m >= 1");
        break;
    case FPEMU_SPECIALS_FNUZ:
        if (!f->is_signed)
            return refuse(problem, FPEMU_PARAMETER_SPECIALS | FPEMU_PARAMETER_SIGNED,
                          "a sign, since the NaN of fnuz is the code of -0");
        break;
    case FPEMU_SPECIALS_P3109E:
    case FPEMU_SPECIALS_P3109F:
        if (e == 0)
            return refuse(problem, fields, "e >= 1 with specials of P3109");
        if (e + m + f->is_signed < 3)
            return refuse(problem, fields | FPEMU_PARAMETER_SIGNED, "at least 3 bits in all with specials of P3109");
        break;
    case FPEMU_SPECIALS_E8M0:
        if (f->is_signed || (!(e == 8 && m == 0 && f->bias == 127) && !(e == 6 && m == 2 && f->bias == 48)))
            return refuse(problem, fields | FPEMU_PARAMETER_BIAS | FPEMU_PARAMETER_SIGNED,
                          "e=8, m=0, bias=127 (or 6, 2, 48), signed=0 with specials=e8m0");
        break;
    case FPEMU_SPECIALS_DLFLOAT:
        if (e == 0 || !f->is_signed)
            return refuse(problem, fields | FPEMU_PARAMETER_SIGNED, "e >= 1 and a sign with specials=dlfloat");
        break;
    case FPEMU_SPECIALS_HIF8:
        if (e != 4 || m != 3 || !f->is_signed || f->bias != 0)
            return refuse(problem, fields | FPEMU_PARAMETER_BIAS | FPEMU_PARAMETER_SIGNED,
                          "e=4, m=3, bias=0, signed=1 with specials=hif8");
        break;
    default: break;
    }
    if (e == 0 && m == 0)
        return refuse(problem, fields, "a positive finite value: e=0 needs m >= 1");
    return 1;
}

/* Code of the largest finite value; may be below 1 where there is no positive one. */
static int64_t largest_code(const fpemu_format *f)
{
    const int64_t all = (int64_t)fpemu_ones(f->exponent_bits + f->mantissa_bits);
    switch (f->specials) {
    case FPEMU_SPECIALS_IEEE: return all - ((int64_t)1 << f->mantissa_bits);
    case FPEMU_SPECIALS_FN:
    case FPEMU_SPECIALS_DLFLOAT:
    case FPEMU_SPECIALS_E8M0: return all - 1;
    case FPEMU_SPECIALS_P3109E: return f->is_signed ? all - 1 : all - 2;
    case FPEMU_SPECIALS_P3109F: return f->is_signed ? all : all - 1;
    default: return all; /* fnuz, finite */
    }
}

/* Significand and exponent of a code without sign: value = k * 2^exponent. */
static uint64_t split_code(const fpemu_format *f, uint64_t code, int *exponent)
{
    const int m = (int)f->mantissa_bits, field = (int)(code >> m);
    const uint64_t fraction = code & fpemu_ones(f->mantissa_bits), hidden = UINT64_C(1) << m;
    const int normal = field > 0 || zero_exponent_is_normal(f);
    *exponent = (normal ? field : 1) - f->bias - m;
    return normal ? fraction | hidden : fraction;
}

static double code_value(const fpemu_format *f, uint64_t code)
{
    int exponent;
    const uint64_t k = split_code(f, code, &exponent);
    return fpemu_exact(k, exponent);
}

uint64_t fpemu_smallest_code(const fpemu_format *f)
{
    if (f->specials == FPEMU_SPECIALS_E8M0)
        return 0;
    if (f->specials == FPEMU_SPECIALS_HIF8)
        return 1;
    return f->subnormals == FPEMU_SUBNORMALS_KEEP ? 1 : UINT64_C(1) << f->mantissa_bits;
}

static void derive_nan(fpemu_format *f)
{
    const uint32_t width = f->exponent_bits + f->mantissa_bits;
    f->has_nan = f->specials != FPEMU_SPECIALS_FINITE;
    switch (f->specials) {
    case FPEMU_SPECIALS_IEEE:
        f->has_nan = f->mantissa_bits > 0;
        f->nan_code = fpemu_ones(width);
        if (f->bits > 8) /* E all ones, top bit of T */
            f->nan_code ^= fpemu_ones(f->mantissa_bits - (f->mantissa_bits > 0));
        break;
    case FPEMU_SPECIALS_FNUZ: f->nan_code = UINT64_C(1) << width; break;
    case FPEMU_SPECIALS_P3109E:
    case FPEMU_SPECIALS_P3109F: f->nan_code = f->is_signed ? UINT64_C(1) << width : fpemu_ones(width); break;
    default: f->nan_code = fpemu_ones(width); break;
    }
    if (!f->has_nan)
        f->nan_code = 0;
}

/* A number of a carrier: k * 2^exponent. */
typedef struct scaled {
    uint64_t k;
    int exponent;
} scaled;

/* x * factor, rounded to nearest even at `precision` bits and no finer than 2^quantum. x.k < 2^53. */
static scaled product(scaled x, uint64_t factor, int precision, int quantum)
{
    core_wide w = core_multiply(x.k, factor);
    const int length = w.high ? 65 + core_log2_64(w.high) : w.low ? 1 + core_log2_64(w.low) : 0;
    int drop = length - precision > quantum - x.exponent ? length - precision : quantum - x.exponent;
    if (drop <= 0)
        return (scaled){w.low, x.exponent};
    const int exponent = x.exponent + drop;
    uint64_t last = 0, sticky = 0; /* the highest bit dropped, and whether any below it is set */
    for (; drop > 0 && (w.high | w.low | last); drop--) {
        sticky |= last;
        last = w.low & 1;
        w.low = w.low >> 1 | w.high << 63;
        w.high >>= 1;
    }
    if (drop > 0) {
        sticky |= last;
        last = 0;
    }
    return (scaled){w.low + (last && (sticky || (w.low & 1))), exponent};
}

/* 1 if x < 2^limit */
static int below(scaled x, int limit)
{
    return x.k == 0 || core_log2_64(x.k) + x.exponent < limit;
}

/* Whether k * 2^exponent is a number of `precision` bits, no finer than 2^quantum and below 2^(emax + 1). */
static int holds(scaled x, int precision, int quantum, int emax)
{
    while (x.k && !(x.k & 1)) {
        x.k >>= 1;
        x.exponent++;
    }
    return x.k == 0 || (x.k >> precision == 0 && x.exponent >= quantum && below(x, emax + 1));
}

static scaled scale_of(const fpemu_format *f)
{
    const uint64_t u = core_bits64(f->scale);
    const int field = (int)(u >> 52);
    return (scaled){(u & fpemu_ones(52)) | (uint64_t)(field != 0) << 52, (field ? field : 1) - 1075};
}

/* Integers in steps of the scale, as binary32 has it: if the largest odd multiple is a number of so few bits, all are;
 * the largest of all tells the range. */
static int integers_fit(const fpemu_format *f, int precision, int quantum, int emax)
{
    const int64_t q_max = (int64_t)f->max_code, q_min = f->is_signed ? -q_max - !f->symmetric : 0;
    const uint64_t above = (uint64_t)(q_max - f->zero_point), under = (uint64_t)(f->zero_point - q_min);
    const uint64_t most = above > under ? above : under, odd = most ? (most - 1) | 1 : 0;
    const scaled scale = product(scale_of(f), 1, 24, -149);
    const core_wide wide = core_multiply(scale.k, odd);
    return !wide.high && holds((scaled){wide.low, scale.exponent}, precision, quantum, emax) &&
           below(product(scale, most, 53, -1074), emax + 1);
}

int fpemu_scalar_fits(const fpemu_format *f, int precision, int quantum, int emax)
{
    switch (f->kind) {
    case FPEMU_KIND_FLOAT: {
        const int has_normal = zero_exponent_is_normal(f) || f->max_code >> f->mantissa_bits > 0;
        return f->quantum >= quantum && f->emax <= emax && f->precision - !has_normal <= precision;
    }
    case FPEMU_KIND_FIXED: {
        const int digits = (int)f->bits - f->is_signed, has_power = f->is_signed && !f->symmetric;
        return digits <= precision && f->quantum >= quantum && digits + f->quantum - !has_power <= emax;
    }
    case FPEMU_KIND_POSIT: { /* n - 3 - es fraction bits next to 1, fewer farther out */
        const int n = (int)f->bits, es = (int)f->exponent_bits;
        return (n - 2) * (1 << es) <= emax && n - 2 - es <= precision;
    }
    default: return integers_fit(f, precision, quantum, emax);
    }
}

/* 2^-22 to 2^15, of which those below 2^-15 have no fraction bits. Codes do not ascend. */
static int derive_hif8(fpemu_format *f)
{
    f->bits = 8;
    f->precision = 4;
    f->emin = -15;
    f->emax = 15;
    f->quantum = -22;
    f->max_code = 0x6e;
    f->lowest_code = 0xee;
    f->nan_code = 0x80;
    f->max = fpemu_exact(1, 15);
    f->lowest = negative(f->max);
    f->min_normal = fpemu_exact(1, f->emin);
    f->min_positive = fpemu_exact(1, f->quantum);
    f->has_nan = f->has_infinity = f->has_zero = 1;
    f->fits_f32 = f->fits_f64 = 1;
    return 1;
}

int fpemu_derive_float(fpemu_format *f, fpemu_problem *problem)
{
    if (f->symmetric || f->wrap)
        return refuse(problem, FPEMU_PARAMETER_SYMMETRIC | FPEMU_PARAMETER_WRAP, "no wrap and no symmetric on a float");
    if (f->exponent_bits > 11)
        return refuse(problem, FPEMU_PARAMETER_EXPONENT, "0 to 11 exponent bits");
    if (f->mantissa_bits > 52)
        return refuse(problem, FPEMU_PARAMETER_MANTISSA, "0 to 52 mantissa bits");
    if (f->bias == FPEMU_BIAS_DEFAULT) {
        if (f->exponent_bits == 0)
            return refuse(problem, FPEMU_PARAMETER_EXPONENT | FPEMU_PARAMETER_BIAS, "a bias, since e=0 has no default");
        f->bias = fpemu_default_bias(f->exponent_bits, f->specials);
    }
    if (!check_specials(f, problem))
        return 0;

    const uint32_t m = f->mantissa_bits, fields = FPEMU_PARAMETER_EXPONENT | FPEMU_PARAMETER_MANTISSA;
    const int64_t largest = largest_code(f);
    const int has_normal = zero_exponent_is_normal(f) || largest >> m > 0;
    if (largest < 1)
        return refuse(problem, fields | FPEMU_PARAMETER_SPECIALS, "more bits: no code is left for a positive value");
    if (f->subnormals != FPEMU_SUBNORMALS_KEEP && zero_exponent_is_normal(f))
        return refuse(problem, FPEMU_PARAMETER_SUBNORMALS, "no word on subnormals: the format has none by nature");
    if (f->subnormals != FPEMU_SUBNORMALS_KEEP && !has_normal)
        return refuse(problem, FPEMU_PARAMETER_SUBNORMALS, "subnormals kept: the format has no other values");
    if (f->specials == FPEMU_SPECIALS_HIF8)
        return derive_hif8(f);
    /* binary64 ends at 2^1024 and 2^-1074; a first, wide check keeps the sums below small. */
    const char *const bias_text = "a bias with which binary64 holds every value";
    if (f->bias < -4096 || f->bias > 4096)
        return refuse(problem, FPEMU_PARAMETER_BIAS, bias_text);

    int exponent;
    const uint64_t k = split_code(f, (uint64_t)largest, &exponent);
    f->bits = f->exponent_bits + m + f->is_signed;
    f->precision = (int32_t)m + 1;
    f->emin = zero_exponent_is_normal(f) ? -f->bias : 1 - f->bias;
    f->emax = exponent + core_log2_64(k);
    f->quantum = f->emin - (int32_t)m;
    if (f->quantum < -1074 || f->emax > 1023 || f->emin > 1023) /* emin is above emax where no number is normal */
        return refuse(problem, fields | FPEMU_PARAMETER_BIAS, bias_text);
    f->max_code = (uint64_t)largest;
    f->max = code_value(f, f->max_code);
    f->min_positive = code_value(f, fpemu_smallest_code(f));
    /* The smallest normal number: all of DLFloat's are, but the place of 2^emin is taken by zero. */
    f->min_normal = f->specials == FPEMU_SPECIALS_DLFLOAT ? f->min_positive : has_normal ? fpemu_exact(1, f->emin) : 0;
    f->has_zero = f->specials != FPEMU_SPECIALS_E8M0;
    if (f->is_signed) {
        f->lowest = negative(f->max);
        f->lowest_code = f->max_code | UINT64_C(1) << (f->bits - 1);
    } else {
        f->lowest = f->has_zero ? 0 : f->min_positive;
        f->lowest_code = 0;
    }
    derive_nan(f);
    f->has_infinity = f->specials == FPEMU_SPECIALS_IEEE || f->specials == FPEMU_SPECIALS_P3109E;
    f->has_negative_zero = f->is_signed && f->specials != FPEMU_SPECIALS_FNUZ && f->specials != FPEMU_SPECIALS_P3109E &&
                           f->specials != FPEMU_SPECIALS_P3109F;
    f->fits_f32 = fpemu_scalar_fits(f, 24, -149, 127) && f->emin <= 127;
    f->fits_f64 = 1;
    return 1;
}

/* ----------------------------------------------------------------------------------- fixed point, integers */

static int check_two_s_complement(const fpemu_format *f, fpemu_problem *problem)
{
    if (f->symmetric && !f->is_signed)
        return refuse(problem, FPEMU_PARAMETER_SYMMETRIC | FPEMU_PARAMETER_SIGNED, "a signed format with symmetric");
    if (f->symmetric && f->bits < 2)
        return refuse(problem, FPEMU_PARAMETER_SYMMETRIC | FPEMU_PARAMETER_BITS, "2 bits or more with symmetric");
    if (f->symmetric && f->wrap)
        return refuse(problem, FPEMU_PARAMETER_SYMMETRIC | FPEMU_PARAMETER_WRAP,
                      "wrap or symmetric: symmetric formats cannot wrap");
    if (f->wrap && f->overflow != FPEMU_OVERFLOW_IEEE)
        return refuse(problem, FPEMU_PARAMETER_WRAP | FPEMU_PARAMETER_OVERFLOW, "wrap or saturate, one of them");
    return 1;
}

/* Codes are two's complement: max_code steps above zero, and as many (and one, unless symmetric) below. */
static void derive_codes(fpemu_format *f)
{
    const uint32_t digits = f->bits - f->is_signed;
    f->max_code = fpemu_ones(digits);
    f->lowest_code = f->is_signed ? (UINT64_C(1) << digits) + f->symmetric : 0;
    f->has_zero = 1;
}

static int derive_fixed(fpemu_format *f, fpemu_problem *problem)
{
    if (f->bits < 1 || f->bits > 53u + f->is_signed)
        return refuse(problem, FPEMU_PARAMETER_BITS, "a word length that binary64 holds: 1 to 54, unsigned 1 to 53");
    if (!check_two_s_complement(f, problem))
        return 0;
    const int32_t digits = (int32_t)f->bits - f->is_signed;
    const char *const fraction_text = "a fraction length with which binary64 holds every value";
    if (f->fraction_bits < -4096 || f->fraction_bits > 1074)
        return refuse(problem, FPEMU_PARAMETER_FRACTION, fraction_text);
    f->quantum = -f->fraction_bits;
    const int has_power = f->is_signed && !f->symmetric; /* -2^(digits + quantum) is a value */
    if (digits + f->quantum - !has_power > 1023)
        return refuse(problem, FPEMU_PARAMETER_BITS | FPEMU_PARAMETER_FRACTION, fraction_text);
    derive_codes(f);
    f->max = fpemu_exact(f->max_code, f->quantum);
    if (f->is_signed)
        f->lowest = negative(f->symmetric ? f->max : fpemu_exact(1, digits + f->quantum));
    f->min_positive = digits > 0 ? fpemu_exact(1, f->quantum) : 0;
    f->min_normal = f->min_positive;
    f->fits_f32 = (uint8_t)fpemu_scalar_fits(f, 24, -149, 127);
    f->fits_f64 = 1;
    return 1;
}

static int derive_int(fpemu_format *f, fpemu_problem *problem)
{
    if (f->bits < 1 || f->bits > 32)
        return refuse(problem, FPEMU_PARAMETER_BITS, "1 to 32 bits");
    if (!check_two_s_complement(f, problem))
        return 0;
    derive_codes(f);
    const int64_t q_max = (int64_t)f->max_code, q_min = f->is_signed ? -q_max - !f->symmetric : 0;
    if (f->symmetric && f->zero_point != 0)
        return refuse(problem, FPEMU_PARAMETER_SYMMETRIC | FPEMU_PARAMETER_ZERO, "zero=0 with symmetric");
    if (f->zero_point < q_min || f->zero_point > q_max)
        return refuse(problem, FPEMU_PARAMETER_ZERO, "a zero point within the integers of the format");
    const uint64_t u = core_bits64(f->scale);
    if (u == 0 || u >= UINT64_C(0x7ff) << 52)
        return refuse(problem, FPEMU_PARAMETER_SCALE, "a scale above 0 that binary64 holds");

    const scaled scale = scale_of(f);
    const uint64_t above = (uint64_t)(q_max - f->zero_point), under = (uint64_t)(f->zero_point - q_min);
    const uint64_t most = above > under ? above : under;
    const scaled high = product(scale, above, 53, -1074), low = product(scale, under, 53, -1074);
    if (!below(high, 1024) || !below(low, 1024))
        return refuse(problem, FPEMU_PARAMETER_SCALE, "a scale with which no value overflows binary64");
    f->max = fpemu_exact(high.k, high.exponent);
    f->lowest = under ? negative(fpemu_exact(low.k, low.exponent)) : 0;
    f->min_positive = above ? f->scale : 0;
    f->min_normal = f->min_positive;
    const scaled scale32 = product(scale, 1, 24, -149);
    f->fits_f32 = scale32.k != 0 && below(scale32, 128) && below(product(scale32, most, 24, -149), 128);
    f->fits_f64 = 1;
    return 1;
}

/* ------------------------------------------------------------------------------------------------ posits */

static int derive_posit(fpemu_format *f, fpemu_problem *problem)
{
    const int32_t n = (int32_t)f->bits, es = (int32_t)f->exponent_bits;
    if (f->bits < 2 || f->bits > 32)
        return refuse(problem, FPEMU_PARAMETER_BITS, "2 to 32 bits");
    if (f->exponent_bits > 5)
        return refuse(problem, FPEMU_PARAMETER_EXPONENT, "0 to 5 exponent bits");
    if (f->symmetric || f->wrap)
        return refuse(problem, FPEMU_PARAMETER_SYMMETRIC | FPEMU_PARAMETER_WRAP, "no wrap and no symmetric on a posit");
    const int32_t top = (n - 2) * (1 << es);
    f->is_signed = 1;
    f->max = fpemu_exact(1, top);
    f->lowest = negative(f->max);
    f->min_positive = fpemu_exact(1, -top);
    f->min_normal = f->min_positive;
    f->max_code = fpemu_ones(f->bits - 1);
    f->nan_code = f->max_code + 1;
    f->lowest_code = f->nan_code + 1;
    f->has_nan = 1;
    f->has_zero = 1;
    f->fits_f32 = (uint8_t)fpemu_scalar_fits(f, 24, -149, 127);
    f->fits_f64 = 1;
    return 1;
}

/* ------------------------------------------------------------------------------------------------ all kinds */

int fpemu_derive_scalar(fpemu_format *f, fpemu_problem *problem)
{
    switch (f->kind) {
    case FPEMU_KIND_FLOAT: return fpemu_derive_float(f, problem);
    case FPEMU_KIND_FIXED: return derive_fixed(f, problem);
    case FPEMU_KIND_INT: return derive_int(f, problem);
    case FPEMU_KIND_POSIT: return derive_posit(f, problem);
    default: return fpemu_derive_codebook(f, problem);
    }
}

int fpemu_same_scalar(const fpemu_format *a, const fpemu_format *b)
{
    return a->kind == b->kind && a->bits == b->bits && a->exponent_bits == b->exponent_bits &&
           a->mantissa_bits == b->mantissa_bits && a->bias == b->bias && a->fraction_bits == b->fraction_bits &&
           a->is_signed == b->is_signed && a->specials == b->specials &&
           core_bits64(a->scale) == core_bits64(b->scale) && a->zero_point == b->zero_point && fpemu_same_table(a, b);
}

int fpemu_same_policies(const fpemu_format *a, const fpemu_format *b)
{
    return a->subnormals == b->subnormals && a->overflow == b->overflow && a->nan == b->nan &&
           a->symmetric == b->symmetric && a->wrap == b->wrap;
}

void fpemu_set_float(fpemu_format *format, uint32_t exponent_bits, uint32_t mantissa_bits, int32_t bias,
                     uint32_t specials, int is_signed)
{
    memset(format, 0, sizeof *format);
    format->kind = FPEMU_KIND_FLOAT;
    format->exponent_bits = exponent_bits;
    format->mantissa_bits = mantissa_bits;
    format->bias = bias;
    format->specials = specials <= FPEMU_SPECIALS_HIF8 ? (uint8_t)specials : UINT8_MAX;
    format->is_signed = is_signed != 0;
    format->overflow = FPEMU_OVERFLOW_IEEE;
    format->nan = FPEMU_NAN_KEEP;
}

int fpemu_set_lee(fpemu_format *format, int64_t exponent_bits, int64_t mantissa_bits, int64_t b, fpemu_problem *problem)
{
    if (exponent_bits < 1 || exponent_bits > 8)
        return refuse(problem, FPEMU_PARAMETER_EXPONENT, "1 to 8 exponent bits in Lee's notation");
    if (mantissa_bits < 0 || mantissa_bits > 52)
        return refuse(problem, FPEMU_PARAMETER_MANTISSA, "0 to 52 mantissa bits");
    if (b < -4096 || b > 4096)
        return refuse(problem, FPEMU_PARAMETER_BIAS, "a bias with which binary64 holds every value");
    const uint32_t specials = exponent_bits == 8 ? FPEMU_SPECIALS_IEEE : FPEMU_SPECIALS_FINITE;
    fpemu_set_float(format, (uint32_t)exponent_bits, (uint32_t)mantissa_bits,
                    fpemu_default_bias((uint32_t)exponent_bits, specials) + (int32_t)b, specials, 1);
    return 1;
}

int fpemu_set_p3109(fpemu_format *format, int64_t k, int64_t p, int is_signed, int has_infinity, fpemu_problem *problem)
{
    if (k < 3 || k > 64)
        return refuse(problem, FPEMU_PARAMETER_BITS, "K from 3 to 64");
    if (p < 1 || p > k - is_signed)
        return refuse(problem, FPEMU_PARAMETER_MANTISSA, "P from 1 to K-1, unsigned K");
    const uint32_t e = (uint32_t)(k - p + 1 - is_signed);
    if (e > 11)
        return refuse(problem, FPEMU_PARAMETER_BITS | FPEMU_PARAMETER_MANTISSA,
                      "at most 11 exponent bits: K-P+1 (signed K-P)");
    fpemu_set_float(format, e, (uint32_t)(p - 1), FPEMU_BIAS_DEFAULT,
                    has_infinity ? FPEMU_SPECIALS_P3109E : FPEMU_SPECIALS_P3109F, is_signed);
    return 1;
}
