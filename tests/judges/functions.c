/* SPDX-License-Identifier: BSD-2-Clause */
/* functions.c - elementary functions by GNU MPFR, whose own rounding is correct and says whether it was exact. What
 * MPFR lacks is put together with so many bits to spare that the last ones tell nothing: those values are
 * irrational. */
#include "functions.h"
#include <math.h>
#include <mpfr.h>

void ref_value_init(ref_value *v)
{
    mpz_init(v->k);
}

typedef int one_operand(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t rounding);

static one_operand *const of_mpfr[FPEMU_FUNCTION_COUNT] = {
    [FPEMU_FUNCTION_EXP] = mpfr_exp,     [FPEMU_FUNCTION_EXP2] = mpfr_exp2,      [FPEMU_FUNCTION_EXP10] = mpfr_exp10,
    [FPEMU_FUNCTION_EXPM1] = mpfr_expm1, [FPEMU_FUNCTION_LOG] = mpfr_log,        [FPEMU_FUNCTION_LOG2] = mpfr_log2,
    [FPEMU_FUNCTION_LOG10] = mpfr_log10, [FPEMU_FUNCTION_LOG1P] = mpfr_log1p,    [FPEMU_FUNCTION_SIN] = mpfr_sin,
    [FPEMU_FUNCTION_COS] = mpfr_cos,     [FPEMU_FUNCTION_TAN] = mpfr_tan,        [FPEMU_FUNCTION_ASIN] = mpfr_asin,
    [FPEMU_FUNCTION_ACOS] = mpfr_acos,   [FPEMU_FUNCTION_ATAN] = mpfr_atan,      [FPEMU_FUNCTION_SINH] = mpfr_sinh,
    [FPEMU_FUNCTION_COSH] = mpfr_cosh,   [FPEMU_FUNCTION_TANH] = mpfr_tanh,      [FPEMU_FUNCTION_ASINH] = mpfr_asinh,
    [FPEMU_FUNCTION_ACOSH] = mpfr_acosh, [FPEMU_FUNCTION_ATANH] = mpfr_atanh,    [FPEMU_FUNCTION_ERF] = mpfr_erf,
    [FPEMU_FUNCTION_ERFC] = mpfr_erfc,   [FPEMU_FUNCTION_RSQRT] = mpfr_rec_sqrt,
};

/* a = the function, to many bits; x is finite and not zero. Where the last step swallows what makes the value
 * irrational, *side says on which side of a, in magnitude, the value lies. */
static void composed(mpfr_ptr a, fpemu_function function, mpfr_srcptr x, int *side)
{
    *side = 0;
    switch (function) {
    case FPEMU_FUNCTION_SIGMOID:
    case FPEMU_FUNCTION_SILU:
        mpfr_neg(a, x, MPFR_RNDN);
        mpfr_exp(a, a, MPFR_RNDN);
        mpfr_add_ui(a, a, 1, MPFR_RNDN);
        if (mpfr_cmp_ui(a, 1) == 0)
            *side = -1;
        if (function == FPEMU_FUNCTION_SIGMOID)
            mpfr_ui_div(a, 1, a, MPFR_RNDN);
        else
            mpfr_div(a, x, a, MPFR_RNDN);
        break;
    case FPEMU_FUNCTION_GELU:
        mpfr_sqrt_ui(a, 2, MPFR_RNDN);
        mpfr_div(a, x, a, MPFR_RNDN);
        mpfr_neg(a, a, MPFR_RNDN);
        mpfr_erfc(a, a, MPFR_RNDN);
        if (mpfr_cmp_ui(a, 2) == 0)
            *side = -1;
        mpfr_mul(a, a, x, MPFR_RNDN);
        mpfr_div_2ui(a, a, 1, MPFR_RNDN);
        break;
    default: /* log(1 + e^x) = x + log(1 + e^-x) */
        mpfr_neg(a, x, mpfr_sgn(x) > 0 ? MPFR_RNDN : MPFR_RNDA);
        mpfr_abs(a, a, MPFR_RNDN);
        mpfr_neg(a, a, MPFR_RNDN);
        mpfr_exp(a, a, MPFR_RNDN);
        mpfr_log1p(a, a, MPFR_RNDN);
        if (mpfr_sgn(x) > 0)
            mpfr_add(a, a, x, MPFR_RNDN);
        if (mpfr_cmp(a, x) == 0)
            *side = 1;
    }
}

/* What no formula says: at zero and the infinities. */
static double limit(fpemu_function function, double x)
{
    switch (function) {
    case FPEMU_FUNCTION_SIGMOID: return x == 0 ? 0.5 : x > 0;
    case FPEMU_FUNCTION_SOFTPLUS: return x > 0 ? x : 0;
    case FPEMU_FUNCTION_RSQRT: return 1 / x;      /* MPFR: +inf of -0 too */
    default: return x < 0 && isinf(x) ? -0.0 : x; /* silu, gelu */
    }
}

static void set(ref_value *v, mpfr_srcptr y, int inexact)
{
    v->kind = mpfr_nan_p(y) ? REF_NAN : mpfr_inf_p(y) ? REF_INFINITE : REF_FINITE;
    v->negative = !mpfr_nan_p(y) && mpfr_signbit(y);
    if (v->kind != REF_FINITE)
        return;
    v->e = 0;
    mpz_set_ui(v->k, 0);
    if (mpfr_zero_p(y))
        return;
    v->e = mpfr_get_z_2exp(v->k, y);
    mpz_abs(v->k, v->k);
    mpz_mul_2exp(v->k, v->k, 1);
    v->e--;
    if (inexact)
        mpz_setbit(v->k, 0);
    const long bits = (long)mpz_sizeinbase(v->k, 2);
    if (v->e + bits > 5000)
        v->e = 5000 - bits;
    if (v->e + bits < -5000)
        v->e = -5000 - bits;
}

void ref_function(ref_value *v, fpemu_function function, double x, unsigned bits)
{
    const int special = isnan(x) || isinf(x) || x == 0, own = function >= FPEMU_FUNCTION_SIGMOID;
    mpfr_t a, y, z;
    int inexact = 0, side = 0;
    v->invalid = v->div_by_zero = 0;
    mpfr_init2(z, 53);
    mpfr_init2(y, bits);
    /* sigmoid x = 1/2 + x/4 - x^3/48: of a small x, the third term must be there */
    mpfr_init2(a, own && !special && fabs(x) < 0x1p-20 ? 200 - 3 * ilogb(x) : 200);
    mpfr_set_d(z, x, MPFR_RNDN);
    mpfr_clear_flags();
    if (isnan(x)) {
        mpfr_set_nan(y);
    } else if (special && function == FPEMU_FUNCTION_SOFTPLUS && x == 0) {
        inexact = mpfr_const_log2(y, MPFR_RNDZ);
    } else if (special && (own || (function == FPEMU_FUNCTION_RSQRT && x == 0))) {
        mpfr_set_d(y, limit(function, x), MPFR_RNDN);
        v->div_by_zero = function == FPEMU_FUNCTION_RSQRT;
    } else if (own) {
        composed(a, function, z, &side);
        inexact = 1;
        mpfr_set(y, a, MPFR_RNDZ);
        if (side < 0)
            mpfr_sgn(y) > 0 ? mpfr_nextbelow(y) : mpfr_nextabove(y);
    } else {
        inexact = of_mpfr[function](y, z, MPFR_RNDZ) != 0;
        v->invalid = mpfr_nan_p(y);
        v->div_by_zero = mpfr_divby0_p() != 0;
        if (mpfr_overflow_p() || mpfr_underflow_p()) { /* of MPFR's own range */
            const int negative = mpfr_signbit(y);
            mpfr_set_si_2exp(y, negative ? -1 : 1, mpfr_overflow_p() ? 9999 : -9999, MPFR_RNDN);
        }
    }
    if (own && !special && !mpfr_regular_p(y)) /* the same */
        mpfr_set_si_2exp(y, function != FPEMU_FUNCTION_SOFTPLUS && function != FPEMU_FUNCTION_SIGMOID ? -1 : 1, -9999,
                         MPFR_RNDN);
    set(v, y, inexact);
    mpfr_clears(a, y, z, (mpfr_ptr)NULL);
}
