/* SPDX-License-Identifier: BSD-2-Clause */
/* mpfr.c - GNU MPFR as judge: its roundings, its emulation of bounded exponents and subnormals.
 *
 * Floats: round to m+1 digits with MPFR's unbounded exponents, then mpfr_check_range and mpfr_subnormalize under the
 * format's smallest exponent, as the MPFR manual prescribes; what lies past the largest value is settled afterwards.
 * Fixed point: mpfr_rint and its relatives on x * 2^fl. No opinion on ties toward zero, odd, stochastic and
 * `none` subnormals, ties to even with one digit (MPFR's rule there is another), affine integers and posits.
 */
#include "bits.h"
#include "judge.h"
#include <mpfr.h>

typedef struct by_mpfr {
    judge base;
    fpemu_format f;
    unsigned mode, policy, nan;
    unsigned width;
    int quantum; /* smallest step of the grid is 2^quantum */
    int emin;
    double max, lowest;
    uint64_t max_code;
    mpfr_t x, y, z, sum;
    mpz_t q;
} by_mpfr;

enum { NUMBER, INF, NOT_A_NUMBER };

static int nan_exists(const fpemu_format *f)
{
    if (f->kind != FPEMU_KIND_FLOAT || f->specials == FPEMU_SPECIALS_FINITE)
        return 0;
    return f->specials != FPEMU_SPECIALS_IEEE || f->mantissa_bits != 0;
}

static int inf_exists(const fpemu_format *f)
{
    return f->kind == FPEMU_KIND_FLOAT && (f->specials == FPEMU_SPECIALS_IEEE || f->specials == FPEMU_SPECIALS_P3109E);
}

static int minus_zero_exists(const fpemu_format *f)
{
    if (f->kind != FPEMU_KIND_FLOAT || !f->is_signed)
        return 0;
    return f->specials != FPEMU_SPECIALS_FNUZ && f->specials != FPEMU_SPECIALS_P3109E &&
           f->specials != FPEMU_SPECIALS_P3109F;
}

/* ------------------------------------------------------------------------------------------ codes to values */

static double float_value(const fpemu_format *f, uint64_t code)
{
    uint64_t sign_bit = f->is_signed ? UINT64_C(1) << (f->bits - 1) : 0;
    uint64_t all = sign_bit ? sign_bit - 1 : f->bits == 64 ? UINT64_MAX : (UINT64_C(1) << f->bits) - 1;
    uint64_t magnitude = code & all, hidden = UINT64_C(1) << f->mantissa_bits;
    uint64_t field = magnitude / hidden, fraction = magnitude % hidden;
    int negative = (code & sign_bit) != 0;
    int p3109 = f->specials == FPEMU_SPECIALS_P3109E || f->specials == FPEMU_SPECIALS_P3109F;
    if (f->specials == FPEMU_SPECIALS_IEEE && field == (all >> f->mantissa_bits))
        return fraction ? NAN : negative ? -INFINITY : INFINITY;
    if ((f->specials == FPEMU_SPECIALS_FN || f->specials == FPEMU_SPECIALS_E8M0 ||
         f->specials == FPEMU_SPECIALS_DLFLOAT) &&
        magnitude == all)
        return NAN;
    if ((f->specials == FPEMU_SPECIALS_FNUZ || (p3109 && f->is_signed)) && negative && magnitude == 0)
        return NAN;
    if (p3109 && !f->is_signed && magnitude == all)
        return NAN;
    if (f->specials == FPEMU_SPECIALS_P3109E && magnitude == (f->is_signed ? all : all - 1))
        return negative ? -INFINITY : INFINITY;
    if (f->specials == FPEMU_SPECIALS_E8M0)
        return ldexp(1.0, (int)field - f->bias);
    double v;
    if (field == 0 && (f->specials != FPEMU_SPECIALS_DLFLOAT || fraction == 0))
        v = f->subnormals ? 0.0 : ldexp((double)fraction, 1 - f->bias - (int)f->mantissa_bits);
    else
        v = ldexp((double)(hidden + fraction), (int)field - f->bias - (int)f->mantissa_bits);
    if (v == 0 && !minus_zero_exists(f))
        return 0.0;
    return negative ? -v : v;
}

static double fixed_value(const fpemu_format *f, uint64_t code)
{
    uint64_t modulus = UINT64_C(1) << f->bits;
    code %= modulus;
    if (!f->is_signed || code < modulus / 2)
        return ldexp((double)code, -f->fraction_bits);
    if (f->symmetric && code == modulus / 2)
        return NAN;
    return -ldexp((double)(modulus - code), -f->fraction_bits);
}

static double value_of(const fpemu_format *f, uint64_t code)
{
    return f->kind == FPEMU_KIND_FLOAT ? float_value(f, code) : fixed_value(f, code);
}

static uint64_t mpfr_judge_decode(judge *base, uint64_t code)
{
    by_mpfr *j = (by_mpfr *)base;
    return carrier_bits(j->width, value_of(&j->f, code));
}

/* Values to codes: the place of the magnitude in its binade. */
static uint64_t code_of(const by_mpfr *j, double v)
{
    const fpemu_format *f = &j->f;
    uint64_t sign_bit = f->is_signed ? UINT64_C(1) << (f->bits - 1) : 0;
    uint64_t all = sign_bit ? sign_bit - 1 : f->bits == 64 ? UINT64_MAX : (UINT64_C(1) << f->bits) - 1;
    uint64_t sign = signbit(v) ? sign_bit : 0;
    double magnitude = fabs(v);
    if (f->kind == FPEMU_KIND_FIXED) {
        int64_t steps = (int64_t)ldexp(v, f->fraction_bits);
        return (uint64_t)steps & ((UINT64_C(1) << f->bits) - 1);
    }
    if (isnan(v)) {
        if (f->specials == FPEMU_SPECIALS_FNUZ ||
            (sign_bit && j->f.specials >= FPEMU_SPECIALS_P3109E && j->f.specials <= FPEMU_SPECIALS_P3109F))
            return sign_bit;
        if (f->specials == FPEMU_SPECIALS_IEEE && f->bits > 8)
            return (all >> (f->mantissa_bits - 1)) << (f->mantissa_bits - 1);
        return all;
    }
    if (isinf(v)) {
        if (f->specials == FPEMU_SPECIALS_IEEE)
            return sign | (all >> f->mantissa_bits) << f->mantissa_bits;
        return sign_bit ? sign | all : all - 1;
    }
    if (magnitude == 0)
        return sign;
    if (f->specials == FPEMU_SPECIALS_E8M0)
        return (uint64_t)(ilogb(magnitude) + f->bias);
    const int exponent = ilogb(magnitude);
    if (exponent < j->emin)
        return sign | (uint64_t)ldexp(magnitude, -j->quantum);
    /* Field E holds 2^m codes: E * 2^m + (significand - 2^m). */
    return sign | (((uint64_t)(exponent + f->bias) << f->mantissa_bits) +
                   (uint64_t)ldexp(magnitude, (int)f->mantissa_bits - exponent) - (UINT64_C(1) << f->mantissa_bits));
}

/* ----------------------------------------------------------------------------------------------- rounding */

static mpfr_rnd_t mpfr_mode(unsigned mode)
{
    switch (mode) {
    case FPEMU_MODE_RTZ: return MPFR_RNDZ;
    case FPEMU_MODE_RAZ: return MPFR_RNDA;
    case FPEMU_MODE_RTP: return MPFR_RNDU;
    case FPEMU_MODE_RTN: return MPFR_RNDD;
    default: return MPFR_RNDN;
    }
}

/* y = x to the precision of y, with the format's smallest exponent and subnormals, and no largest one. */
static void to_precision(const by_mpfr *j, mpfr_t y, mpfr_srcptr x, mpfr_rnd_t rnd)
{
    mpfr_exp_t emin = mpfr_get_emin();
    int ternary = mpfr_set(y, x, rnd);
    /* MPFR's significands lie in [1/2, 1): the step 2^quantum has exponent quantum + 1. */
    mpfr_set_emin(j->quantum + 1);
    ternary = mpfr_check_range(y, ternary, rnd);
    mpfr_subnormalize(y, ternary, rnd);
    mpfr_set_emin(emin);
}

static void round_to_float(by_mpfr *j)
{
    int below = mpfr_get_exp(j->x) <= j->emin; /* |x| < 2^emin */
    if (below && (j->f.subnormals == FPEMU_SUBNORMALS_FLUSH_IN || j->f.specials == FPEMU_SPECIALS_DLFLOAT)) {
        mpfr_set_zero(j->y, mpfr_signbit(j->x) ? -1 : 1);
        return;
    }
    const int positive = j->mode == FPEMU_MODE_RNP;
    if (j->mode == FPEMU_MODE_RNA || positive) {
        /* Away from zero, or up, in ties: both neighbours, and the exact comparison of 2x with their sum. */
        to_precision(j, j->y, j->x, positive ? MPFR_RNDD : MPFR_RNDZ);
        to_precision(j, j->z, j->x, positive ? MPFR_RNDU : MPFR_RNDA);
        mpfr_add(j->sum, j->y, j->z, MPFR_RNDN);
        mpfr_div_2ui(j->sum, j->sum, 1, MPFR_RNDN);
        if ((positive ? mpfr_cmp(j->x, j->sum) : mpfr_cmpabs(j->x, j->sum)) >= 0)
            mpfr_swap(j->y, j->z);
    } else {
        to_precision(j, j->y, j->x, mpfr_mode(j->mode));
    }
    if (mpfr_zero_p(j->y))
        return;
    if ((j->f.subnormals == FPEMU_SUBNORMALS_FLUSH_OUT && mpfr_get_exp(j->y) <= j->emin) ||
        (j->f.specials == FPEMU_SPECIALS_DLFLOAT && mpfr_cmp_si_2exp(j->y, mpfr_sgn(j->y), j->emin) == 0))
        mpfr_set_zero(j->y, mpfr_signbit(j->y) ? -1 : 1);
}

static void round_to_integer(by_mpfr *j)
{
    mpfr_mul_2si(j->z, j->x, j->f.fraction_bits, MPFR_RNDN);
    switch (j->mode) {
    case FPEMU_MODE_RNE: mpfr_roundeven(j->y, j->z); break;
    case FPEMU_MODE_RNA: mpfr_round(j->y, j->z); break;
    case FPEMU_MODE_RNP: /* as ap_fixed's AP_RND: half a step more, then down */
        mpfr_add_d(j->sum, j->z, 0.5, MPFR_RNDD);
        mpfr_floor(j->y, j->sum);
        break;
    case FPEMU_MODE_RTZ: mpfr_trunc(j->y, j->z); break;
    case FPEMU_MODE_RTP: mpfr_ceil(j->y, j->z); break;
    case FPEMU_MODE_RTN: mpfr_floor(j->y, j->z); break;
    default: mpfr_rint(j->y, j->z, MPFR_RNDA); break;
    }
    mpfr_mul_2si(j->y, j->y, -j->f.fraction_bits, MPFR_RNDN);
}

/* The low bits of the integer y * 2^fl, read as the format reads them. */
static double wrapped(by_mpfr *j)
{
    mpfr_mul_2si(j->z, j->y, j->f.fraction_bits, MPFR_RNDN);
    mpfr_get_z(j->q, j->z, MPFR_RNDN);
    mpz_fdiv_r_2exp(j->q, j->q, j->f.bits);
    return fixed_value(&j->f, mpz_get_ui(j->q));
}

static double infinite_result(const by_mpfr *j, int negative)
{
    const fpemu_format *f = &j->f;
    double end = negative ? j->lowest : j->max;
    if (f->kind != FPEMU_KIND_FLOAT)
        return end;
    if (f->specials == FPEMU_SPECIALS_E8M0)
        return negative || j->policy != FPEMU_OVERFLOW_SATURATE ? NAN : end;
    if (j->policy == FPEMU_OVERFLOW_SATURATE)
        return end;
    if (negative && !f->is_signed)
        return j->policy == FPEMU_OVERFLOW_IEEE && nan_exists(f) ? NAN : 0.0;
    if (inf_exists(f))
        return negative ? -INFINITY : INFINITY;
    return f->specials == FPEMU_SPECIALS_P3109F || f->specials == FPEMU_SPECIALS_FINITE ? end : NAN;
}

static double overflow_result(by_mpfr *j, int negative)
{
    const fpemu_format *f = &j->f;
    double end = negative ? j->lowest : j->max;
    if (f->kind != FPEMU_KIND_FLOAT)
        return f->wrap && j->policy == FPEMU_OVERFLOW_IEEE ? wrapped(j) : end;
    if (j->policy == FPEMU_OVERFLOW_SATURATE)
        return end;
    if (j->policy == FPEMU_OVERFLOW_SATURATE_KEEP_INF && f->specials != FPEMU_SPECIALS_E8M0)
        return end;
    if (negative && !f->is_signed)
        return j->mode == FPEMU_MODE_RTZ || j->mode == FPEMU_MODE_RTP || !nan_exists(f) ? 0.0 : NAN;
    if (j->mode == FPEMU_MODE_RTZ || (negative ? j->mode == FPEMU_MODE_RTP : j->mode == FPEMU_MODE_RTN))
        return end;
    if (inf_exists(f))
        return negative ? -INFINITY : INFINITY;
    return f->specials == FPEMU_SPECIALS_P3109F || f->specials == FPEMU_SPECIALS_FINITE ? end : NAN;
}

static judge_result nan_result(const by_mpfr *j, int negative, int want_code)
{
    judge_result r = {carrier_bits(j->width, NAN), 0, 0};
    double v;
    if (nan_exists(&j->f)) {
        r.code = want_code ? code_of(j, NAN) : 0;
        return r;
    }
    switch (j->nan) {
    case FPEMU_NAN_MAX: v = j->max; break;
    case FPEMU_NAN_SIGNMAX: v = negative ? j->lowest : j->max; break;
    case FPEMU_NAN_ZERO: v = 0.0; break;
    default: r.code = want_code && j->f.kind == FPEMU_KIND_FLOAT ? code_of(j, j->max) : 0; return r;
    }
    r.bits = carrier_bits(j->width, v);
    r.code = want_code ? code_of(j, v) : 0;
    return r;
}

static judge_result mpfr_judge_round(judge *base, uint64_t bits, uint32_t random, int want_code)
{
    by_mpfr *j = (by_mpfr *)base;
    const fpemu_format *f = &j->f;
    judge_result r = {0, 0, 0};
    double x = carrier_value(j->width, bits), y;
    int e8m0 = f->kind == FPEMU_KIND_FLOAT && f->specials == FPEMU_SPECIALS_E8M0;
    (void)random;
    if (isnan(x))
        return nan_result(j, signbit(x) != 0, want_code);
    if (isinf(x)) {
        y = infinite_result(j, x < 0);
    } else if (e8m0 && x < 0) {
        y = NAN;
    } else if (e8m0 && x <= ldexp(1.0, j->emin)) {
        y = ldexp(1.0, j->emin);
    } else if (x == 0) {
        y = x;
    } else {
        mpfr_set_d(j->x, x, MPFR_RNDN);
        if (f->kind == FPEMU_KIND_FLOAT)
            round_to_float(j);
        else
            round_to_integer(j);
        if (mpfr_cmp_d(j->y, j->max) > 0 || (!e8m0 && mpfr_cmp_d(j->y, j->lowest) < 0)) {
            r.events |= JUDGE_OVERFLOW;
            y = overflow_result(j, x < 0);
        } else {
            y = mpfr_get_d(j->y, MPFR_RNDN);
        }
    }
    if (y == 0 && !minus_zero_exists(f))
        y = 0.0;
    if (isfinite(x)) {
        r.events |= x > j->max || (!e8m0 && x < j->lowest) ? JUDGE_CLIPPED : 0;
        r.events |= x != 0 && y == 0 ? JUDGE_UNDERFLOW : 0;
        r.events |= x != y ? JUDGE_INEXACT : 0;
    }
    r.events |= isnan(y) && !(r.events & JUDGE_OVERFLOW) ? JUDGE_INVALID : 0;
    if (f->kind == FPEMU_KIND_FLOAT && y != 0 && fabs(y) < ldexp(1.0, j->emin) && j->max >= ldexp(1.0, j->emin))
        r.events |= JUDGE_SUBNORMAL;
    r.bits = carrier_bits(j->width, y);
    r.code = want_code ? code_of(j, y) : 0;
    return r;
}

/* --------------------------------------------------------------------------------------------------- open */

static void mpfr_judge_close(judge *base)
{
    by_mpfr *j = (by_mpfr *)base;
    mpfr_clears(j->x, j->y, j->z, j->sum, (mpfr_ptr)NULL);
    mpz_clear(j->q);
    free(j);
}

static int covered(const fpemu_format *f, const fpemu_rounding *r)
{
    switch (r->mode) {
    case FPEMU_MODE_RNZ:
    case FPEMU_MODE_RTO:
    case FPEMU_MODE_SR:
    case FPEMU_MODE_SE: return 0;
    default: break;
    }
    if (r->compat != FPEMU_COMPAT_NONE)
        return 0;
    if (f->kind == FPEMU_KIND_FIXED)
        return f->bits < 53;
    return f->kind == FPEMU_KIND_FLOAT && f->subnormals != FPEMU_SUBNORMALS_NONE && f->specials < FPEMU_SPECIALS_HIF8 &&
           !(f->specials == FPEMU_SPECIALS_E8M0 && f->mantissa_bits) &&
           !(f->mantissa_bits == 0 && r->mode == FPEMU_MODE_RNE);
}

/* Whether all finite values are values of the carrier: the largest and the smallest with all their digits. */
static int fits(const by_mpfr *j, int digits)
{
    if (digits > (j->width == 32 ? 24 : 53) || j->quantum < (j->width == 32 ? -149 : -1074))
        return 0;
    return isfinite(j->max) && isfinite(j->lowest) &&
           (j->width == 64 || (isfinite((float)j->max) && isfinite((float)j->lowest)));
}

judge *judge_open_mpfr(const fpemu_format *format, const fpemu_rounding *rounding, unsigned carrier)
{
    const unsigned magnitude_bits = format->bits - format->is_signed;
    if ((carrier != 32 && carrier != 64) || !covered(format, rounding))
        return NULL;
    by_mpfr *j = calloc(1, sizeof *j);
    if (!j)
        return NULL;
    j->base = (judge){JUDGE_MPFR, mpfr_judge_round, mpfr_judge_decode, mpfr_judge_close};
    j->f = *format;
    j->mode = rounding->mode;
    j->policy = rounding->overflow ? rounding->overflow : format->overflow;
    if (j->policy == 0)
        j->policy = FPEMU_OVERFLOW_IEEE;
    j->nan = rounding->nan ? rounding->nan : format->nan;
    j->width = carrier;
    uint64_t top = (UINT64_C(1) << magnitude_bits) - 1;
    int digits = (int)magnitude_bits;
    if (format->kind == FPEMU_KIND_FLOAT) {
        int lowest_normal_field =
            format->specials == FPEMU_SPECIALS_E8M0 || format->specials == FPEMU_SPECIALS_DLFLOAT ? 0 : 1;
        j->emin = lowest_normal_field - format->bias;
        j->quantum = j->emin - (int)format->mantissa_bits;
        if (format->specials == FPEMU_SPECIALS_IEEE)
            top = top >> format->mantissa_bits << format->mantissa_bits;
        /* The largest code that is a number is at most two below the top one. */
        double v = float_value(format, top);
        for (int i = 0; !isfinite(v) && i < 2; i++)
            v = float_value(format, --top);
        j->max = v;
        j->lowest = format->is_signed ? -v : format->specials == FPEMU_SPECIALS_E8M0 ? ldexp(1.0, j->emin) : 0.0;
        digits = (int)format->mantissa_bits + (top >> format->mantissa_bits ? 1 : 0);
    } else {
        j->quantum = -format->fraction_bits;
        j->max = ldexp((double)top, j->quantum);
        j->lowest = !format->is_signed ? 0.0 : -ldexp((double)(top + !format->symmetric), j->quantum);
    }
    mpfr_init2(j->x, 53);
    const mpfr_prec_t precision = format->kind == FPEMU_KIND_FIXED ? 53 : (mpfr_prec_t)format->mantissa_bits + 1;
    mpfr_init2(j->y, precision);
    mpfr_init2(j->z, precision);
    mpfr_init2(j->sum, 120);
    mpz_init(j->q);
    if (!fits(j, digits)) {
        mpfr_judge_close(&j->base);
        return NULL;
    }
    return &j->base;
}
