/* SPDX-License-Identifier: BSD-2-Clause */
/* functions.c - elementary functions against GNU MPFR: exact values by functions of the judges, rounded by the slow judge.
 *
 *   every operand of fp16, bf16 and the 8-bit formats, each in some formats and modes, so that neighbours go through
 *   all of them; random floats of 16 significant bits; every function; both carriers, counters, the stochastic modes
 *   with the words given zeros, infinities, NaN, poles, ends of domains; what must be refused; scalar forms
 *
 * usage: functions [--all]: every operand of those formats in every format and mode of the list
 */
#include "../judges/functions.h"
#include "../judges/formats.h"
#include "expected.h"
#include "points.h"

static unsigned long failures, comparisons;

static void fail(const char *text)
{
    failures++;
    printf("FAIL %s\n", text);
}

/* ------------------------------------------------------------------------------------- formats and roundings */

typedef struct subject {
    const char *spec;
    fpemu_format typed, parsed; /* for the judge, by the reference's tables; by the library */
} subject;

enum { SUBJECTS = 12 };
static subject subjects[SUBJECTS];

static void make_subjects(void)
{
    static const char *const named[] = {"e4m3fn", "e5m2", "binary16", "bfloat16", "binary32", "e8m0", "e2m1", "ue4m3"};
    size_t n = 0;
    for (; n < sizeof named / sizeof *named; n++) {
        subjects[n].spec = named[n];
        subjects[n].typed = ref_find(named[n])->f;
    }
    subjects[n].spec = "fp(6,9,0)";
    subjects[n++].typed = ref_float(6, 9, 31, FPEMU_SPECIALS_FINITE, 1);
    subjects[n].spec = "fixed(16,8)";
    subjects[n++].typed = ref_fixed(16, 8, 1);
    subjects[n].spec = "fixed(24,12)";
    subjects[n++].typed = ref_fixed(24, 12, 1);
    subjects[n].spec = "posit(16,2)";
    subjects[n].typed = ref_posit(16, 2);
    for (size_t i = 0; i < SUBJECTS; i++)
        if (fpemu_format_parse(subjects[i].spec, &subjects[i].parsed, NULL))
            fail(subjects[i].spec);
}

static const struct {
    uint8_t mode, variant, bits;
} modes[] = {{FPEMU_MODE_RNE, 0, 0}, {FPEMU_MODE_RTP, 0, 0}, {FPEMU_MODE_RTN, 0, 0}, {FPEMU_MODE_RTZ, 0, 0},
             {FPEMU_MODE_RNA, 0, 0}, {FPEMU_MODE_RNZ, 0, 0}, {FPEMU_MODE_RAZ, 0, 0}, {FPEMU_MODE_RTO, 0, 0},
             {FPEMU_MODE_SR, 0, 0},  {FPEMU_MODE_SR, 1, 32}, {FPEMU_MODE_SR, 2, 32}, {FPEMU_MODE_SR, 0, 8},
             {FPEMU_MODE_SE, 0, 0},  {FPEMU_MODE_RNP, 0, 0}};
enum { MODES = sizeof modes / sizeof *modes, COMBINATIONS = MODES * SUBJECTS };

/* ------------------------------------------------------------------------------------------------- comparison */

enum { MOST = 1 << 12 };
static ref_value truth[MOST];
static double operand[MOST];

static judge_result judge_one(judge *j, unsigned carrier, const ref_value *v, uint32_t random)
{
    if (v->kind == REF_FINITE)
        return judge_exact(j, v->negative, v->k, v->e, random);
    return judge_round(j,
                       carrier_bits(carrier, v->kind == REF_NAN ? NAN
                                             : v->negative      ? -INFINITY
                                                                : INFINITY),
                       random, 0);
}

/* x to nearest even in binary64. */
static double nearest(const ref_value *v)
{
    static judge *j;
    static const fpemu_rounding rne;
    if (!j)
        j = judge_open_slow(&ref_find("binary64")->f, &rne, 64);
    return carrier_value(64, judge_one(j, 64, v, 0).bits);
}

static void expect(fpemu_stats *e, const ref_value *v, unsigned carrier, judge_result answer)
{
    const double x = nearest(v), y = carrier_value(carrier, answer.bits);
    e->count++;
    e->nan += v->kind == REF_NAN;
    e->infinite += v->kind == REF_INFINITE;
    e->invalid += (uint64_t)v->invalid;
    e->div_by_zero += (uint64_t)v->div_by_zero;
    expect_events(e, answer.events, 1);
    expect_extrema(e, x, y);
}

/* Elements first, first + step, ... of n into one format by one rounding. */
static void check(fpemu_function function, size_t combination, unsigned carrier, size_t n, size_t first, size_t step)
{
    const subject *s = &subjects[combination / MODES];
    const size_t m = combination % MODES;
    static float x32[MOST], y32[MOST];
    static double x64[MOST], y64[MOST];
    fpemu_rounding r = fpemu_rounding_stochastic(20261120, combination);
    fpemu_stats have = {0}, want = {0};
    size_t count = 0;
    r.mode = modes[m].mode;
    r.variant = modes[m].variant;
    r.bits = modes[m].bits;
    r.overflow = (uint8_t)(1 + combination % 3);
    r.offset = combination;
    judge *j = judge_open_slow(&s->typed, &r, carrier);
    if (!j || (s->typed.kind == FPEMU_KIND_POSIT && r.mode != FPEMU_MODE_RNE)) {
        judge_close(j);
        return;
    }
    for (size_t i = first; i < n; i += step, count++) {
        x32[count] = (float)operand[i];
        x64[count] = operand[i];
    }
    if (fpemu_apply(&s->parsed, &r, carrier, function, count, carrier == 32 ? (void *)x32 : (void *)x64,
                    carrier == 32 ? (void *)y32 : (void *)y64, &have))
        fail(s->spec);
    for (size_t e = 0; e < count; e++) {
        const ref_value *v = &truth[first + e * step];
        const judge_result answer = judge_one(j, carrier, v, fpemu_random_bits(&r, e));
        const uint64_t got = carrier == 32 ? carrier_bits(32, (double)y32[e]) : lh_double_bits(y64[e]);
        comparisons++;
        if (got != answer.bits && failures++ < 25)
            printf("FAIL %s %s(%a) mode=%u variant=%u bits=%u policy=%u f%u -> %a, judge %a\n", s->spec,
                   fpemu_function_name(function), x64[e], r.mode, r.variant, r.bits, r.overflow, carrier,
                   carrier_value(carrier, got), carrier_value(carrier, answer.bits));
        expect(&want, v, carrier, answer);
    }
    const char *const other = other_counts(&have, &want);
    if (other && failures++ < 25)
        printf("FAIL %s %s mode=%u f%u: counter %s\n", s->spec, fpemu_function_name(function), r.mode, carrier, other);
    judge_close(j);
}

/* Operand i of the list of fp16, bf16, 8-bit formats and random floats of 16 significant bits; 0 past its end. */
static int listed(uint64_t i, double *x)
{
    static const char *const whole[] = {"fp16",     "bf16",     "e4m3fn",      "e5m2",
                                        "e4m3fnuz", "e5m2fnuz", "e4m3b11fnuz", "e8m0"};
    static fpemu_format formats[sizeof whole / sizeof *whole];
    for (size_t f = 0; f < sizeof whole / sizeof *whole; f++) {
        if (formats[f].kind == FPEMU_KIND_INVALID && fpemu_format_parse(whole[f], &formats[f], NULL))
            fail(whole[f]);
        const uint64_t codes = UINT64_C(1) << formats[f].bits;
        if (i < codes) {
            *x = fpemu_decode_one_f64(&formats[f], i);
            return 1;
        }
        i -= codes;
    }
    if (i >= 4096)
        return 0;
    uint64_t seed = i, u = split_mix(&seed);
    if (i % 2) /* near 1 */
        u = (u & 0x807fffff) | ((u >> 32) % 24 + 113) << 23;
    *x = carrier_value(32, u & 0xffffff00); /* 16 significant bits */
    return 1;
}

/* All of the list, or every so many-th; tiles of operands, each in some combinations or all. */
static void check_function(fpemu_function function, uint64_t stride, int all)
{
    uint64_t next = (uint64_t)function % stride;
    size_t tile = (size_t)function * 7, n;
    do {
        for (n = 0; n < MOST && listed(next, &operand[n]); n++, next += stride)
            ref_function(&truth[n], function, operand[n], 70);
        if (all) {
            for (size_t c = 0; c < COMBINATIONS; c++)
                check(function, c, c % 2 ? 32 : 64, n, 0, 1);
        } else {
            enum { PARTS = 39 }; /* a quarter of the combinations a tile */
            for (size_t part = 0; part < PARTS; part++)
                check(function, (tile * PARTS + part) % COMBINATIONS, (tile + part) % 2 ? 32 : 64, n, part, PARTS);
        }
        tile++;
    } while (n == MOST);
}

/* --------------------------------------------------------------------------------------- zeros, ends, refusals */

/* The operands where something stands in a table, in every format and mode. */
static void check_special(fpemu_function function)
{
    static const double list[] = {
        0.0,       -0.0,     INFINITY, -INFINITY,   NAN,          1,          -1,         2,        3,
        -3,        4,        0.25,     0.5,         -0.5,         10,         0x1.2ap33,  38,       -38,
        55,        56,       64,       -64,         100,          -100,       150,        -150,     0x1p-149,
        -0x1p-149, 0x1p-100, 0x1p-40,  -0x1p-40,    0x1p-31,      -0x1p-31,   0x1p-23,    -0x1p-23, 0x1p-21,
        -0x1p-21,  0x1p127,  -0x1p127, 0x1.fffep-1, -0x1.fffep-1, 0x1.0002p0, -0x1.0002p0};
    const size_t n = sizeof list / sizeof *list;
    memcpy(operand, list, sizeof list);
    for (size_t i = 0; i < n; i++)
        ref_function(&truth[i], function, operand[i], 170);
    for (size_t c = 0; c < COMBINATIONS; c++)
        check(function, c, c / 2 % 2 ? 32 : 64, n, 0, 1);
}

static void expect_status(const char *what, fpemu_status have, fpemu_status want)
{
    comparisons++;
    if (have != want)
        fail(what);
}

/* What formats and settings are refused is for tests/unit/check_why.c. */
static void check_arguments(void)
{
    const fpemu_format *f = &subjects[2].parsed;
    const fpemu_rounding rne = fpemu_rounding_nearest();
    fpemu_rounding odd = rne;
    fpemu_function function;
    double x[2] = {1, 0x1.0000001p0}, y[2] = {7, 7};
    float narrow[4] = {1, 2, 3, 4};
    odd.mode = 77;
    expect_status("n = 0", fpemu_apply_f64(NULL, NULL, FPEMU_FUNCTION_EXP, 0, NULL, NULL, NULL), FPEMU_OK);
    expect_status("no operand", fpemu_apply_f64(f, &rne, FPEMU_FUNCTION_EXP, 1, NULL, y, NULL), FPEMU_ERROR_NULL);
    expect_status("no result", fpemu_apply_f64(f, &rne, FPEMU_FUNCTION_EXP, 1, x, NULL, NULL), FPEMU_ERROR_NULL);
    expect_status("no format", fpemu_apply_f64(NULL, &rne, FPEMU_FUNCTION_EXP, 1, x, y, NULL), FPEMU_ERROR_NULL);
    expect_status("function", fpemu_apply_f64(f, &rne, FPEMU_FUNCTION_COUNT, 1, x, y, NULL), FPEMU_ERROR_ARGUMENT);
    expect_status("function -1", fpemu_apply_f64(f, &rne, (fpemu_function)-1, 1, x, y, NULL), FPEMU_ERROR_ARGUMENT);
    expect_status("a function is no operation",
                  fpemu_arith_f64(f, &rne, (fpemu_operation)((int)FPEMU_OPERATION_COUNT + (int)FPEMU_FUNCTION_EXP), 1,
                                  (const double *const[]){x, x, x}, NULL, y, NULL),
                  FPEMU_ERROR_ARGUMENT);
    expect_status("mode", fpemu_apply_f64(f, &odd, FPEMU_FUNCTION_EXP, 1, x, y, NULL), FPEMU_ERROR_ROUNDING);
    expect_status("operand", fpemu_apply_f64(f, &rne, FPEMU_FUNCTION_EXP, 2, x, y, NULL), FPEMU_ERROR_ARGUMENT);
    expect_status("overlap", fpemu_apply_f32(f, &rne, FPEMU_FUNCTION_EXP, 2, narrow, narrow + 1, NULL),
                  FPEMU_ERROR_OVERLAP);
    narrow[3] = 0x1.0001p0f;
    expect_status("17 bits", fpemu_apply_f32(f, &rne, FPEMU_FUNCTION_EXP, 4, narrow, narrow, NULL),
                  FPEMU_ERROR_ARGUMENT);
    narrow[3] = 4;
    if (y[0] != 7 || y[1] != 7 || narrow[1] != 2)
        fail("a refused call wrote");
    expect_status("in place", fpemu_apply_f32(f, &rne, FPEMU_FUNCTION_EXP2, 4, narrow, narrow, NULL), FPEMU_OK);
    if (narrow[0] != 2 || narrow[1] != 4 || narrow[2] != 8 || narrow[3] != 16)
        fail("in place");
    if (!isnan(fpemu_apply_one_f64(f, &rne, FPEMU_FUNCTION_EXP, x[1], 0)) ||
        !isnan(fpemu_apply_one_f64(NULL, &rne, FPEMU_FUNCTION_EXP, 1, 0)) ||
        !isnan(fpemu_apply_one_f32(f, &rne, FPEMU_FUNCTION_COUNT, 1, 0)))
        fail("a scalar form did not refuse");
    for (int i = 0; i < FPEMU_FUNCTION_COUNT; i++)
        if (fpemu_function_named(fpemu_function_name((fpemu_function)i), &function) || function != (fpemu_function)i)
            fail("names");
    expect_status("name", fpemu_function_named("Exp", &function), FPEMU_ERROR_ARGUMENT);
    expect_status("name", fpemu_function_named(NULL, &function), FPEMU_ERROR_NULL);
    if (fpemu_function_name(FPEMU_FUNCTION_COUNT))
        fail("a name past the end");
}

/* Functions that lie just beside a number whose v * 2^N is an integer: the random words on both sides of the step. */
static void check_steps(void)
{
    static const struct {
        fpemu_function function;
        double x;
        uint8_t bits;
        uint32_t last;                                        /* the largest R that does not go up */
    } list[] = {{FPEMU_FUNCTION_COS, 0x1p-23, 23, 0},         /* 1 - 2^-47 + tiny: v = 1 - 2^-23 + tiny */
                {FPEMU_FUNCTION_COSH, 0x1p-23, 24, 0xfffffe}, /* 1 + 2^-47 + tiny: v = 2^-24 + tiny */
                {FPEMU_FUNCTION_EXP, 0x1p-36, 13, 0x1ffe},    /* 1 + 2^-36 + tiny: v = 2^-13 + tiny */
                {FPEMU_FUNCTION_SIN, 0x1p-31, 16, 0},         /* 2^-31 - tiny: v = 1 - tiny */
                {FPEMU_FUNCTION_TAN, 0x1p-31, 16, 0xffff},    /* 2^-31 + tiny: v = tiny */
                {FPEMU_FUNCTION_LOG1P, 0x1p-47, 24, 0},       /* x (1 - 2^-48) + tiny: v = 1 - 2^-24 + tiny */
                {FPEMU_FUNCTION_SILU, 0x1p-31, 9, 0x1ff},     /* x/2 (1 + 2^-32) - tiny: v = 2^-9 - tiny */
                {FPEMU_FUNCTION_SIGMOID, 0x1p-26, 8, 0xf0}};  /* 1/2 + 2^-28 - tiny: v = 2^-4 - tiny */
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (int up = 0; up < 2; up++) {
            fpemu_rounding r = fpemu_rounding_stochastic(5, i);
            const uint32_t wanted = list[i].last + (uint32_t)up;
            uint64_t index = 0;
            r.bits = list[i].bits;
            if (wanted >> r.bits)
                continue;
            while (fpemu_random_bits(&r, index) != wanted)
                index++;
            judge *j = judge_open_slow(&ref_find("binary32")->f, &r, 32);
            ref_function(&truth[0], list[i].function, list[i].x, 170);
            const uint64_t want = judge_one(j, 32, &truth[0], wanted).bits;
            const float have = fpemu_apply_one_f32(&subjects[4].parsed, &r, list[i].function, (float)list[i].x, index);
            comparisons++;
            if (carrier_bits(32, (double)have) != want && failures++ < 25)
                printf("FAIL %s(%a), R = %x of %u bits: %a, judge %a\n", fpemu_function_name(list[i].function),
                       list[i].x, wanted, r.bits, (double)have, carrier_value(32, want));
            judge_close(j);
        }
}

/* One by one as in arrays, stochastic too. */
static void check_scalar(fpemu_function function)
{
    const fpemu_rounding r = fpemu_rounding_stochastic(1, 2);
    float x[64], y[64];
    double wide[64], z[64];
    for (unsigned i = 0; i < 64; i++) {
        uint64_t state = i + 1;
        x[i] = (float)ldexp((double)(split_mix(&state) >> 49), -11) - (i % 2 ? 8 : 0);
        wide[i] = (double)x[i];
    }
    if (fpemu_apply_f32(&subjects[0].parsed, &r, function, 64, x, y, NULL) ||
        fpemu_apply_f64(&subjects[0].parsed, &r, function, 64, wide, z, NULL))
        fail("arrays");
    for (unsigned i = 0; i < 64; i++) {
        comparisons += 2;
        if (carrier_bits(32, (double)fpemu_apply_one_f32(&subjects[0].parsed, &r, function, x[i], i)) !=
                carrier_bits(32, (double)y[i]) ||
            lh_double_bits(fpemu_apply_one_f64(&subjects[0].parsed, &r, function, wide[i], i)) != lh_double_bits(z[i]))
            fail("a scalar form differs from the array");
    }
}

int main(int argc, char **argv)
{
    const int all = argc > 1 && strcmp(argv[1], "--all") == 0;
    make_subjects();
    for (size_t i = 0; i < MOST; i++)
        ref_value_init(&truth[i]);
    for (int f = 0; f < FPEMU_FUNCTION_COUNT; f++) {
        check_special((fpemu_function)f);
        check_scalar((fpemu_function)f);
        check_function((fpemu_function)f, 1, all);
    }
    check_steps();
    check_arguments();
    if (failures)
        printf("%lu of %lu comparisons failed\n", failures, comparisons);
    return failures != 0;
}
