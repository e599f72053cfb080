/* SPDX-License-Identifier: BSD-2-Clause */
/* functions_proof.c - that elementary functions are correctly rounded, operand by operand; writes a record.
 *
 *   first part   every number of at most 16 significant bits that binary32 has, each function: the library's 128 bits,
 *                rounded to odd at 60, are MPFR's. Then every result of p bits with N random bits, p + N + 1 <= 57, is
 *                right in every mode, rounding itself being proven elsewhere. The error of the 128 bits is measured
 *                beside it, on one operand in 64
 *   --float      every binary32 number, of symmetric functions the positive ones: how near a number of 57 bits comes to
 *                the 128 bits. Where that is more than their error, the result is right. Hours
 *
 * The only test that looks into the library: what it measures no public function shows.
 *
 * usage: functions_proof [--float] [FUNCTION...]
 */
#include "../judges/bits.h"
#include "../judges/functions.h"
#include "core/functions.h"
#include <mpfr.h>
#include <time.h>

typedef struct tally {
    uint64_t operands, exact, beside, near, failures;
    double error, distance; /* as log2, relative: the largest, the smallest */
    float error_at, distance_at;
} tally;

static double log2_of(uint64_t high, uint64_t low)
{
    return log2(ldexp((double)high, 64) + (double)low);
}

/* log2 of the distance of y from the nearest number of 57 bits, relative to its binade. */
static double distance(const core_exact *y)
{
    uint64_t high = y->high & 127, low = y->low; /* below the 57th bit: 71 bits */
    if (high >> 6) {
        high = 128 - high - (uint64_t)(low != 0);
        low = 0 - low;
    }
    return log2_of(high, low) - 127;
}

/* y, rounded to odd at 60 bits. */
static uint64_t odd60(const core_exact *y)
{
    return y->high >> 4 | (uint64_t)((y->high & 15) != 0 || y->low != 0);
}

static void check(tally *t, fpemu_function function, float operand, int against_mpfr, int measure)
{
    static ref_value truth;
    static mpfr_t a, b;
    const core_exact x = core_exact_from(core_bits64((double)operand));
    core_exact y;
    t->operands++;
    if (core_function_exactly(function, x, &y)) {
        t->exact++;
    } else if (core_function_beside(function, x, &y)) {
        t->beside++;
    } else {
        y = core_function_near(function, x);
        t->near++;
        const int within = y.top > -1100 && y.top < 1100; /* beyond binary64 there is only one number */
        const double d = distance(&y);
        if (within && d < t->distance) {
            t->distance = d;
            t->distance_at = operand;
        }
        if (measure && within) {
            if (truth.k->_mp_alloc == 0) {
                ref_value_init(&truth);
                mpfr_inits2(200, a, b, (mpfr_ptr)NULL);
            }
            ref_function(&truth, function, (double)operand, 170);
            mpfr_set_uj(a, y.high, MPFR_RNDN);
            mpfr_mul_2ui(a, a, 64, MPFR_RNDN);
            mpfr_set_uj(b, y.low, MPFR_RNDN);
            mpfr_add(a, a, b, MPFR_RNDN);
            mpfr_mul_2si(a, a, y.top - 127, MPFR_RNDN);
            mpfr_set_z_2exp(b, truth.k, truth.e, MPFR_RNDN);
            mpfr_sub(a, a, b, MPFR_RNDN);
            mpfr_div(a, a, b, MPFR_RNDN);
            mpfr_abs(a, a, MPFR_RNDN);
            if (!mpfr_zero_p(a)) {
                mpfr_log2(a, a, MPFR_RNDN);
                if (mpfr_get_d(a, MPFR_RNDN) > t->error) {
                    t->error = mpfr_get_d(a, MPFR_RNDN);
                    t->error_at = operand;
                }
            }
        }
        y.low |= 1;
    }
    if (!against_mpfr)
        return;
    if (truth.k->_mp_alloc == 0) {
        ref_value_init(&truth);
        mpfr_inits2(200, a, b, (mpfr_ptr)NULL);
    }
    ref_function(&truth, function, (double)operand, 59);
    static const int kinds[] = {REF_FINITE, REF_FINITE, REF_INFINITE, REF_NAN};
    int same = truth.kind == kinds[y.kind] && (truth.kind == REF_NAN || truth.negative == y.negative) &&
               truth.invalid == (y.exception == CORE_INVALID) && truth.div_by_zero == (y.exception == CORE_DIV_BY_ZERO);
    if (same && truth.kind == REF_FINITE) {
        const long bits = mpz_sgn(truth.k) ? (long)mpz_sizeinbase(truth.k, 2) : 0;
        if (bits == 0 || y.kind == CORE_ZERO) {
            same = bits == 0 && y.kind == CORE_ZERO;
        } else {
            mpz_mul_2exp(truth.k, truth.k, (unsigned long)(60 - bits));
            const long top = truth.e + bits - 1;
            /* so far out, only the side counts */
            same = labs(top) > 1100 ? (top > 0) == (y.top > 0) && abs(y.top) > 1100
                                    : top == y.top && mpz_get_ui(truth.k) == odd60(&y);
        }
    }
    if (!same && t->failures++ < 5)
        printf("FAIL %s(%a): 2^%d * %016llx%016llx, kind %d\n", fpemu_function_name(function), (double)operand, y.top,
               (unsigned long long)y.high, (unsigned long long)y.low, y.kind);
}

/* Odd and even functions, whose code takes the sign off and puts it on again. */
static int symmetric(fpemu_function function)
{
    static const fpemu_function list[] = {FPEMU_FUNCTION_SIN,  FPEMU_FUNCTION_COS,   FPEMU_FUNCTION_TAN,
                                          FPEMU_FUNCTION_ASIN, FPEMU_FUNCTION_ATAN,  FPEMU_FUNCTION_SINH,
                                          FPEMU_FUNCTION_COSH, FPEMU_FUNCTION_ASINH, FPEMU_FUNCTION_ATANH,
                                          FPEMU_FUNCTION_TANH, FPEMU_FUNCTION_ERF};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i] == function)
            return 1;
    return 0;
}

static uint64_t run(fpemu_function function, int every_float)
{
    tally t = {.error = -INFINITY, .distance = INFINITY};
    const clock_t start = clock();
    if (every_float) {
        for (uint64_t u = 0; u < UINT64_C(1) << (32 - symmetric(function)); u++) {
            const float x = lh_float((uint32_t)u);
            if (isfinite(x) && x != 0)
                check(&t, function, x, 0, u % 65521 == 0);
        }
        t.failures += t.distance < t.error + 2;
    } else {
        for (uint32_t u = 0; u < 0x7f800000; u++) {
            if (u >= 0x800000)
                u |= 0xff & (0 - (uint32_t)((u & 0xff) != 0)); /* on to the last that is left out */
            const uint32_t significand = u >= 0x800000 ? (u & 0x7fffff) | 0x800000 : u;
            if (significand == 0 || significand / (significand & (0 - significand)) >= 65536)
                continue;
            check(&t, function, lh_float(u), 1, u % 16384 == 0);
            check(&t, function, lh_float(u | 0x80000000), 1, u % 16384 == 0);
        }
    }
    printf("%-9s %11llu %10llu %11llu %11llu   %8.2f %-16a %8.2f %-16a %6.0f %s\n", fpemu_function_name(function),
           (unsigned long long)t.operands, (unsigned long long)t.exact, (unsigned long long)t.beside,
           (unsigned long long)t.near, t.error, (double)t.error_at, t.distance, (double)t.distance_at,
           (double)(clock() - start) / CLOCKS_PER_SEC, t.failures ? "FAIL" : "ok");
    fflush(stdout);
    return t.failures;
}

int main(int argc, char **argv)
{
    const int every_float = argc > 1 && strcmp(argv[1], "--float") == 0;
    uint64_t failures = 0;
    printf("# %s\n# function    operands      exact      beside        near  log2 error at         log2 distance at"
           "      seconds\n",
           every_float ? "every binary32 number; distance from numbers of 57 bits against the error of one in 65521"
                       : "every number of at most 16 bits in binary32's range, against MPFR at 60 bits");
    for (int i = 1 + every_float; i < argc; i++) {
        fpemu_function function;
        if (fpemu_function_named(argv[i], &function)) {
            fprintf(stderr, "functions_proof: no function '%s'\n", argv[i]);
            return 2;
        }
        failures += run(function, every_float);
    }
    for (int f = 0; f < FPEMU_FUNCTION_COUNT && argc == 1 + every_float; f++)
        failures += run((fpemu_function)f, every_float);
    return failures != 0;
}
