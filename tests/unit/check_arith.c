/* SPDX-License-Identifier: BSD-2-Clause */
/* check_arith.c - operations and comparisons: arguments, signs of NaN, error sums. What results are right, of special
 * values, of operands with scales, in slices and threads, in place and of one number for a whole array, is for
 * tests/against_judges and tests/fuzz/api.sh. */
#include "suite.h"

enum { N = 3000 };

static float a32[N], b32[N], c32[N], y32[N], z32[N];
static double a64[N], b64[N], c64[N], y64[N], z64[N];
static uint8_t truth[N];
static fpemu_stats stats;
static void setup(void)
{
    random_state = 1;
    for (int i = 0; i < N; i++) {
        a32[i] = ldexpf((float)(int32_t)random_word(), (int)(random_word() % 40) - 50);
        b32[i] = ldexpf((float)(int32_t)random_word(), (int)(random_word() % 40) - 50);
        c32[i] = ldexpf((float)(int32_t)random_word(), (int)(random_word() % 40) - 50);
        a64[i] = (double)a32[i] * 1.0000001;
        b64[i] = (double)b32[i] * 0.9999999;
        c64[i] = (double)c32[i] * 1.0000003;
        y32[i] = -77;
        y64[i] = -77;
        truth[i] = 77;
    }
    memset(&stats, 0, sizeof stats);
}

static void nothing_written(void)
{
    static const fpemu_stats none;
    for (int i = 0; i < N; i++)
        ck_assert(y32[i] == -77.0f && y64[i] == -77.0 && truth[i] == 77);
    ck_assert_int_eq(memcmp(&stats, &none, sizeof none), 0);
}

/* An operation on arrays, a relation of two. */
#define OPERANDS(...) ((const void *const[]){__VA_ARGS__})
#define one_f64(operation, f, r, n, a, y, s) fpemu_arith(f, r, FPEMU_TYPE_F64, operation, n, OPERANDS(a), NULL, y, s)
#define TWO(type, operation, f, r, n, a, b, y, s) fpemu_arith(f, r, type, operation, n, OPERANDS(a, b), NULL, y, s)
#define two_f32(...) TWO(FPEMU_TYPE_F32, __VA_ARGS__)
#define two_f64(...) TWO(FPEMU_TYPE_F64, __VA_ARGS__)
#define three_f64(operation, f, r, n, a, b, c, y, s)                                                                   \
    fpemu_arith(f, r, FPEMU_TYPE_F64, operation, n, OPERANDS(a, b, c), NULL, y, s)
#define relation_f32(relation, n, a, b, y) fpemu_compare(FPEMU_TYPE_F32, relation, n, OPERANDS(a, b), NULL, y)
#define relation_f64(relation, n, a, b, y) fpemu_compare(FPEMU_TYPE_F64, relation, n, OPERANDS(a, b), NULL, y)

static void all_refuse(const fpemu_format *f, const fpemu_rounding *r, fpemu_status status)
{
    const float *const o32[] = {a32, b32, c32};
    const double *const o64[] = {a64, b64, c64};
    for (int operation = 0; operation < FPEMU_OPERATION_COUNT; operation++) {
        ck_assert_int_eq(fpemu_arith_f32(f, r, (fpemu_operation)operation, N, o32, NULL, y32, &stats), status);
        ck_assert_int_eq(fpemu_arith_f64(f, r, (fpemu_operation)operation, N, o64, NULL, y64, &stats), status);
    }
    ck_assert(isnan(fpemu_arith_one_f32(f, r, FPEMU_OPERATION_ADD, 1, 2, 0, 0)));
    ck_assert(isnan(fpemu_arith_one_f64(f, r, FPEMU_OPERATION_ADD, 1, 2, 0, 0)));
    nothing_written();
}

START_TEST(refused)
{
    fpemu_format f = format_of("e4m3fn"), wrong;
    fpemu_rounding r = fpemu_rounding_nearest();
    const float *o32[] = {a32, b32, c32};
    const double *const o64[] = {a64, b64, c64};
    size_t steps[] = {1, 1, 1};
    all_refuse(NULL, &r, FPEMU_ERROR_NULL);
    all_refuse(&f, NULL, FPEMU_ERROR_NULL);
    memset(&wrong, 0, sizeof wrong);
    all_refuse(&wrong, &r, FPEMU_ERROR_FORMAT);
    r.mode = FPEMU_MODE_COUNT;
    all_refuse(&f, &r, FPEMU_ERROR_ROUNDING);
    r = fpemu_rounding_nearest();
    r.compat = FPEMU_COMPAT_QPYTORCH;
    all_refuse(&f, &r, FPEMU_ERROR_UNSUPPORTED);
    r = fpemu_rounding_nearest();

    REFUSES(NULL, two_f32(FPEMU_OPERATION_ADD, &f, &r, N, NULL, b32, y32, &stats),
            two_f32(FPEMU_OPERATION_ADD, &f, &r, N, a32, NULL, y32, &stats),
            two_f32(FPEMU_OPERATION_ADD, &f, &r, N, a32, b32, NULL, &stats),
            three_f64(FPEMU_OPERATION_FMA, &f, &r, N, a64, b64, NULL, y64, &stats),
            one_f64(FPEMU_OPERATION_SQRT, &f, &r, N, NULL, y64, &stats),
            fpemu_arith_f32(&f, &r, FPEMU_OPERATION_ADD, N, NULL, NULL, y32, &stats));
    REFUSES(ARGUMENT, fpemu_arith_f32(&f, &r, FPEMU_OPERATION_COUNT, N, o32, NULL, y32, &stats),
            fpemu_arith_f64(&f, &r, (fpemu_operation)-1, N, o64, NULL, y64, &stats));
    steps[1] = 2;
    REFUSES(ARGUMENT, fpemu_arith_f32(&f, &r, FPEMU_OPERATION_ADD, N, o32, steps, y32, &stats),
            fpemu_compare_f32(FPEMU_RELATION_LT, N, o32, steps, truth));
    steps[1] = 1;
    steps[2] = 9; /* the operation has no third operand */
    o32[2] = NULL;
    GIVES_OK(fpemu_arith_f32(&f, &r, FPEMU_OPERATION_ADD, N, o32, steps, z32, NULL));
    REFUSES(ARGUMENT, fpemu_compare_f32(FPEMU_RELATION_COUNT, N, o32, NULL, truth));
    REFUSES(NULL, relation_f32(FPEMU_RELATION_EQ, N, NULL, b32, truth),
            relation_f64(FPEMU_RELATION_LT, N, a64, NULL, truth), relation_f32(FPEMU_RELATION_LE, N, a32, b32, NULL));
    stats.request.want = 8;
    REFUSES(STATS, two_f32(FPEMU_OPERATION_ADD, &f, &r, N, a32, b32, y32, &stats));
    stats.request.want = 0;
    REFUSES(OVERLAP, two_f32(FPEMU_OPERATION_ADD, &f, &r, N - 1, a32, b32, a32 + 1, &stats),
            two_f32(FPEMU_OPERATION_ADD, &f, &r, N - 1, a32, b32 + 1, b32, &stats),
            three_f64(FPEMU_OPERATION_FMA, &f, &r, N - 1, a64, b64, c64 + 1, c64, &stats),
            relation_f32(FPEMU_RELATION_EQ, 4, a32, b32, (uint8_t *)(a32 + 3)));
    nothing_written();

    GIVES_OK(two_f32(FPEMU_OPERATION_ADD, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    GIVES_OK(fpemu_arith_f64(NULL, NULL, FPEMU_OPERATION_FMA, 0, NULL, NULL, NULL, NULL));
    GIVES_OK(fpemu_compare_f64(FPEMU_RELATION_EQ, 0, NULL, NULL, NULL));
    GIVES_OK(relation_f32(FPEMU_RELATION_EQ, 0, NULL, NULL, NULL));
}
END_TEST

static void same64(double y, double want)
{
    ck_assert_msg(memcmp(&y, &want, sizeof y) == 0, "%a, should be %a", y, want);
}

/* What is counted of exceptions is for tests/against_judges/arith.c. */
START_TEST(nan_results)
{
    const float a[] = {INFINITY, 0, 3, 0, -4}, b[] = {-INFINITY, 0, 0, 3, 0};
    fpemu_rounding r = fpemu_rounding_nearest();
    /* NaN results have sign +, whatever the operands or the processor say */
    fpemu_format by_sign = format_of("e2m1:nan=signmax");
    const float minus_nan = -NAN;
    const float *const operands[] = {&minus_nan, b};
    GIVES_OK(two_f32(FPEMU_OPERATION_ADD, &by_sign, &r, 1, a, b, y32, NULL));
    ck_assert(y32[0] == 6);
    GIVES_OK(fpemu_arith_f32(&by_sign, &r, FPEMU_OPERATION_ADD, 1, operands, NULL, y32, NULL));
    ck_assert(y32[0] == 6);
    ck_assert(fpemu_arith_one_f32(&by_sign, &r, FPEMU_OPERATION_ADD, minus_nan, 1, 0, 0) == 6);

    /* the NaN policy `error` reports what the operation makes, too */
    fpemu_format finite = format_of("e2m1:nan=error");
    REFUSES(NAN, two_f32(FPEMU_OPERATION_ADD, &finite, &r, 1, a, b, y32, NULL));
    GIVES_OK(two_f32(FPEMU_OPERATION_ADD, &finite, &r, 4, a + 1, b + 1, y32, NULL));
}
END_TEST

/* Sums are those of the exact result as binary64 rounds it. */
START_TEST(error_sums)
{
    fpemu_format f = format_of("e4m3fn");
    fpemu_rounding r = fpemu_rounding_nearest();
    stats.request.want = FPEMU_STATS_SUMS;
    const double a = 1, b = 3, third = 1.0 / 3.0, y = fpemu_quantize_one_f64(&f, &r, third, 0), error = fabs(third - y);
    const float a_f32 = 1, b_f32 = 3;
    GIVES_OK(two_f64(FPEMU_OPERATION_DIV, &f, &r, 1, &a, &b, z64, &stats));
    same64(fpemu_stats_sum_error(&stats), error);
    same64(fpemu_stats_sum_error2(&stats), error * error);
    same64(fpemu_stats_sum_square(&stats), third * third);
    same64(stats.max_abs, third);
    memset(&stats, 0, sizeof stats);
    stats.request.want = FPEMU_STATS_SUMS;
    GIVES_OK(two_f32(FPEMU_OPERATION_DIV, &f, &r, 1, &a_f32, &b_f32, z32, &stats));
    same64(fpemu_stats_sum_error(&stats), error);
    same64(stats.max_abs, third);
    /* a finite result beyond binary64 is counted, but has no place among extrema and sums */
    fpemu_format wide = format_of("fp64");
    const double big = 0x1p1000;
    memset(&stats, 0, sizeof stats);
    stats.request.want = FPEMU_STATS_SUMS;
    GIVES_OK(two_f64(FPEMU_OPERATION_MUL, &wide, &r, 1, &big, &big, z64, &stats));
    ck_assert(stats.overflow == 1 && stats.clipped == 1 && stats.infinite == 0 && stats.max_abs == 0);
    ck_assert(stats.inexact == 1 && fpemu_stats_sum_square(&stats) == 0);
}
END_TEST

START_TEST(scaled_refused)
{
    fpemu_format f = format_of("bf16");
    fpemu_rounding r = fpemu_rounding_nearest();
    const float *const o32[] = {a32, b32, c32};
    const double *const o64[] = {a64, b64, c64};
    const fpemu_operand_scales_f32 over[] = {{{NULL}, 0, 0}, {{y32 + N - 1}, 1, 1}, {{NULL}, 0, 0}};
    const fpemu_operand_scales_f32 past[] = {{{a32 + 5}, SIZE_MAX, SIZE_MAX}, {{NULL}, 3, 4}, {{NULL}, 0, 0}};
    fpemu_operand_scales_f64 wide[] = {{{NULL}, 0, 0}, {{a64}, 1, 0}, {{NULL}, 0, 0}};
    REFUSES(OVERLAP, fpemu_arith_scaled_f32(&f, &r, FPEMU_OPERATION_ADD, N, o32, NULL, over, y32, &stats),
            fpemu_compare_scaled_f32(FPEMU_RELATION_EQ, 4 * N, o32, (const size_t[]){0, 0}, over, (uint8_t *)y32));
    const fpemu_operand_scales_f32 below[] = {
        {{NULL}, 0, 0}, {{y32 + 1}, 500, 0}, {{NULL}, 0, 0}}; /* 6 scales, the last before y */
    REFUSES(OVERLAP, fpemu_arith_scaled_f32(&f, &r, FPEMU_OPERATION_ADD, N - 6, o32, NULL, below, y32 + 6, &stats));
    /* products of 106 bits; and one below binary64's smallest number */
    REFUSES(ARGUMENT, fpemu_arith_scaled_f64(&f, &r, FPEMU_OPERATION_ADD, N, o64, NULL, wide, y64, &stats),
            fpemu_compare_scaled_f64(FPEMU_RELATION_EQ, N, o64, NULL, wide, truth));
    const double tiny = 0x1p-600, huge = 0x1p600;
    const double *const small[] = {&tiny, &tiny}, *const large[] = {&huge, &huge};
    wide[1].values = &tiny;
    REFUSES(ARGUMENT, fpemu_arith_scaled_f64(&f, &r, FPEMU_OPERATION_MUL, 1, small, NULL, wide, y64, &stats));
    wide[1].values = &huge;
    REFUSES(ARGUMENT, fpemu_arith_scaled_f64(&f, &r, FPEMU_OPERATION_MUL, 1, large, NULL, wide, y64, &stats));
    REFUSES(NULL, fpemu_arith_scaled_f32(&f, &r, FPEMU_OPERATION_ADD, N, NULL, NULL, past, y32, &stats));
    REFUSES(ARGUMENT, fpemu_arith_scaled_f32(&f, &r, FPEMU_OPERATION_COUNT, N, o32, NULL, past, y32, &stats));
    REFUSES(NULL, fpemu_compare_scaled_f32(FPEMU_RELATION_EQ, N, NULL, NULL, past, truth));
    nothing_written();
    GIVES_OK(fpemu_arith_scaled_f64(&f, &r, FPEMU_OPERATION_MUL, 1, small, NULL,
                                    (const fpemu_operand_scales_f64[2]){{{NULL}, 0, 0}}, y64, NULL));
    GIVES_OK(fpemu_arith_scaled_f32(&f, &r, FPEMU_OPERATION_ADD, N, o32, NULL, past, y32, NULL));
    GIVES_OK(fpemu_arith_scaled_f32(&f, &r, FPEMU_OPERATION_ADD, N - 7, o32, NULL, below, y32 + 7, NULL));
    GIVES_OK(fpemu_arith_scaled_f32(NULL, NULL, FPEMU_OPERATION_ADD, 0, NULL, NULL, NULL, NULL, NULL));
    GIVES_OK(fpemu_compare_scaled_f64(FPEMU_RELATION_EQ, 0, NULL, NULL, NULL, NULL));
}
END_TEST

int main(void)
{
    return RUN_SUITE("arith", setup, refused, nan_results, error_sums, scaled_refused);
}
