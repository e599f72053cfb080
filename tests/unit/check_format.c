/* SPDX-License-Identifier: BSD-2-Clause */
/* check_format.c - formats: derived limits against published numbers, refusals, queries against enumeration. */

#include "../judges/bits.h"
#include "../judges/formats.h"
#include "suite.h"

/* ------------------------------------------------------------------------------------- published numbers */

/* FORMATS 1.1 to 1.4 and 1.6, IEEE 754-2019, OCP OFP8 and MX, P3109. */
START_TEST(numbers_of_the_reference)
{
    const ref_format *r;
    for (size_t i = 0; (r = ref_formats(i)) != NULL; i++) {
        const fpemu_format f = format_of(r->spec), *const p = &r->f;
        REQUIRE(f.kind == p->kind && f.bits == p->bits && f.exponent_bits == p->exponent_bits &&
                    f.mantissa_bits == p->mantissa_bits && f.bias == p->bias && f.fraction_bits == p->fraction_bits &&
                    f.is_signed == p->is_signed && f.specials == p->specials && f.subnormals == p->subnormals &&
                    f.scale == p->scale && f.zero_point == p->zero_point,
                "%s: parameters", r->spec);
        REQUIRE(fpemu_format_max(&f) == r->max && f.max_code == r->max_code, "%s: max %a, code %llx", r->spec,
                fpemu_format_max(&f), (unsigned long long)f.max_code);
        REQUIRE(fpemu_format_min_normal(&f) == r->min_normal, "%s: min_normal %a", r->spec,
                fpemu_format_min_normal(&f));
        REQUIRE(fpemu_format_min_positive(&f) == r->min_positive, "%s: min_positive %a", r->spec,
                fpemu_format_min_positive(&f));
        REQUIRE(fpemu_format_nan_count(&f) == r->nan_codes && f.has_nan == (r->nan_codes > 0), "%s: %llu NaNs", r->spec,
                (unsigned long long)fpemu_format_nan_count(&f));
        REQUIRE(f.has_infinity == (r->inf_codes > 0), "%s: has_infinity", r->spec);
        const int is_float = f.kind == FPEMU_KIND_FLOAT;
        REQUIRE(f.precision == (is_float ? (int)p->mantissa_bits + 1 : 0) &&
                    f.emin == (is_float ? ilogb(r->min_normal) : 0) && f.emax == (is_float ? ilogb(r->max) : 0) &&
                    f.quantum == f.emin - (int)p->mantissa_bits - p->fraction_bits,
                "%s: precision %d, emin %d, emax %d, quantum %d", r->spec, f.precision, f.emin, f.emax, f.quantum);
    }
}
END_TEST

/* ---------------------------------------------------------------------------------------------- constructors */

START_TEST(constructors)
{
    fpemu_format f, g;
    GIVES_OK(fpemu_format_float(&f, 4, 3, FPEMU_BIAS_DEFAULT, FPEMU_SPECIALS_FN, 1));
    GIVES_OK(fpemu_format_named(FPEMU_NAME_E4M3FN, &g));
    ck_assert(fpemu_format_equal(&f, &g));
    ck_assert(memcmp(&f, &g, sizeof f) == 0);
    ck_assert_int_eq(f.overflow, FPEMU_OVERFLOW_IEEE);
    ck_assert_int_eq(f.nan, FPEMU_NAN_KEEP);

    g.subnormals = FPEMU_SUBNORMALS_NONE;
    GIVES_OK(fpemu_format_complete(&g));
    ck_assert(!fpemu_format_equal(&f, &g));
    ck_assert(g.min_positive == 0x1p-6 && f.min_positive == 0x1p-9);
    g.subnormals = FPEMU_SUBNORMALS_KEEP;
    g.mantissa_bits = 4; /* the width follows */
    GIVES_OK(fpemu_format_complete(&g));
    ck_assert_uint_eq(g.bits, 9);

    GIVES_OK(fpemu_format_lee(&f, 8, 7, 0));
    fpemu_format_named(FPEMU_NAME_BFLOAT16, &g);
    ck_assert(fpemu_format_equal(&f, &g));
    GIVES_OK(fpemu_format_lee(&f, 3, 2, 0));
    fpemu_format_named(FPEMU_NAME_E3M2, &g);
    ck_assert(fpemu_format_equal(&f, &g));
    GIVES_OK(fpemu_format_p3109(&f, 8, 4, 1, 1));
    ck_assert_int_eq(f.bias, 8);
    GIVES_OK(fpemu_format_p3109(&f, 63, 53, 1, 1));
    ck_assert_uint_eq(f.bits, 63);
    REFUSES(FORMAT, fpemu_format_p3109(&f, 64, 53, 1, 1)); /* smallest value 2^-1075 */
    GIVES_OK(fpemu_format_float(&f, 0, 8, -1022, FPEMU_SPECIALS_FINITE, 1));
    REFUSES(FORMAT, fpemu_format_float(&f, 0, 8, -1023, FPEMU_SPECIALS_FINITE, 1));
    GIVES_OK(fpemu_format_p3109(&f, 8, 8, 0, 0));
    ck_assert_uint_eq(f.exponent_bits, 1);
    GIVES_OK(fpemu_format_fixed(&f, 54, 0, 1));
    ck_assert(f.lowest == -0x1p53 && f.lowest_code == UINT64_C(1) << 53);
    GIVES_OK(fpemu_format_int(&f, 32, 0, 0x1p-1074, 0));
    ck_assert(f.max == 4294967295.0 * 0x1p-1074);
    ck_assert_int_eq(f.fits_f32, 0);
    GIVES_OK(fpemu_format_posit(&f, 16, 2));
    ck_assert_int_eq(f.is_signed, 1);

    /* largest values of affine integers are rounded once, as scale * (q - z) in binary64 */
    GIVES_OK(fpemu_format_int(&f, 32, 1, 0.1, -12345));
    ck_assert(f.max == 0.1 * (2147483647.0 + 12345) && f.lowest == 0.1 * (-2147483648.0 + 12345));
    GIVES_OK(fpemu_format_int(&f, 8, 1, 0x1p121, 0)); /* 127 * scale < 2^128 = 128 * scale */
    ck_assert_int_eq(f.fits_f32, 0);
    GIVES_OK(fpemu_format_int(&f, 8, 1, 0x1.fffffep120, 0));
    ck_assert_int_eq(f.fits_f32, 1);
    GIVES_OK(fpemu_format_int(&f, 8, 1, 0x1.ffffffp120, 0)); /* a tie, to 2^121 */
    ck_assert_int_eq(f.fits_f32, 0);
    GIVES_OK(fpemu_format_int(&f, 8, 1, 0x1p-150, 0)); /* a binary32 scale of zero: tie to even */
    ck_assert_int_eq(f.fits_f32, 0);
    GIVES_OK(fpemu_format_int(&f, 8, 1, 0x1.8p-150, 0));
    ck_assert_int_eq(f.fits_f32, 1);
}
END_TEST

START_TEST(carriers)
{
    static const struct {
        const char *spec;
        int f32;
    } rows[] = LIST({"float(e=8,m=23,bias=127)", 1}, {"float(e=8,m=23,bias=128)", 0}, {"float(e=8,m=22,bias=128)", 1},
                    {"float(e=8,m=23,bias=126)", 0}, {"float(e=8,m=7,bias=126)", 0}, {"fp(8,7,-1)", 0}, {"e7m23", 1},
                    {"e5m24", 0}, {"e9m2", 0},
                    /* m bits of significand where there are no normal numbers */
                    {"float(e=0,m=24,bias=1,specials=finite)", 1}, {"float(e=0,m=25,bias=1,specials=finite)", 0},
                    {"float(e=1,m=3,bias=-126)", 1}, {"float(e=1,m=3,bias=-127)", 0}, /* 1.75 * 2^127, but emin = 128 */
                    {"float(e=0,m=8,bias=-127,specials=finite)", 0}, {"fixed(25,0)", 1}, {"fixed(26,0)", 0},
                    {"ufixed(24,0)", 1}, {"ufixed(25,0)", 0}, {"fixed(8,149)", 1}, {"fixed(8,150)", 0},
                    {"fixed(8,-120)", 1}, {"fixed(8,-121)", 0}, {"fixed(8,-121):symmetric", 1}, {"ufixed(8,-120)", 1},
                    {"ufixed(8,-121)", 0}, {"posit(28,2)", 1}, {"posit(29,2)", 0}, {"posit(32,4)", 0},
                    {"posit(16,3)", 1}, {"p3109(8,1,uf)", 1}, {"p3109(9,1,ue)", 0});
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const fpemu_format f = format_of(rows[i].spec);
        REQUIRE(fpemu_format_fits_f32(&f) == rows[i].f32, "%s", rows[i].spec);
        REQUIRE(fpemu_format_fits_f64(&f) == 1, "%s", rows[i].spec);
        const fpemu_rounding nearest = fpemu_rounding_nearest();
        REQUIRE(fpemu_check(&f, &nearest, 32, NULL) == (rows[i].f32 ? FPEMU_OK : FPEMU_ERROR_CARRIER), "%s",
                rows[i].spec);
        REQUIRE(fpemu_check(&f, &nearest, 64, NULL) == FPEMU_OK, "%s", rows[i].spec);
        REQUIRE(rows[i].f32 || (isnan(fpemu_quantize_one_f32(&f, &nearest, 1, 0)) &&
                                isnan(fpemu_decode_one_f32(&f, 1)) && fpemu_encode_one_f32(&f, &nearest, 1, 0) == 0),
                "%s: one number", rows[i].spec);
    }
}
END_TEST

/* Of a complete format that was changed afterwards; looked_at: calls look at that field again. */
static void refused(fpemu_format f, int looked_at, const char *why)
{
    static const fpemu_format zero;
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    REQUIRE(!looked_at || fpemu_check(&f, &nearest, 64, NULL) == FPEMU_ERROR_FORMAT, "used: %s", why);
    REQUIRE(fpemu_format_complete(&f) == FPEMU_ERROR_FORMAT, "accepted: %s", why);
    REQUIRE(memcmp(&f, &zero, sizeof f) == 0, "not zeroed: %s", why);
}

START_TEST(refusals)
{
    const fpemu_format plain = format_of("e4m3"), fixed = format_of("fixed(8,4)"), integer = format_of("int8"),
                       posit = format_of("posit(8,2)");
    fpemu_format good, f;

#define DAMAGED(base, looked_at, ...) (f = base, __VA_ARGS__, refused(f, looked_at, #base ": " #__VA_ARGS__))
#define REFUSED(base, ...) DAMAGED(base, 0, __VA_ARGS__)
    EACH(DAMAGED(plain, 1, f.kind = 0), DAMAGED(plain, 1, f.kind = 5), DAMAGED(plain, 1, f.exponent_bits = 12),
         REFUSED(plain, f.exponent_bits = UINT32_MAX), DAMAGED(plain, 1, f.mantissa_bits = 53),
         REFUSED(plain, f.bias = 1073), REFUSED(plain, f.bias = -1010), REFUSED(plain, f.bias = INT32_MAX),
         REFUSED(plain, f.bias = INT32_MIN + 1), DAMAGED(plain, 1, f.is_signed = 2), DAMAGED(plain, 1, f.specials = 9),
         DAMAGED(plain, 1, f.subnormals = 4), DAMAGED(plain, 1, f.overflow = 4), DAMAGED(plain, 1, f.nan = 6),
         REFUSED(plain, f.symmetric = 1), REFUSED(plain, f.wrap = 1), REFUSED(plain, f.scale = 1),
         REFUSED(plain, f.zero_point = 1), REFUSED(plain, f.fraction_bits = 1), REFUSED(plain, f.reserved0 = 1),
         REFUSED(plain, f.reserved2[1] = 1), REFUSED(plain, f.reserved3[8] = 1), REFUSED(plain, f.exponent_bits = 0),
         REFUSED(plain, f.exponent_bits = 0, f.specials = FPEMU_SPECIALS_FINITE, f.bias = FPEMU_BIAS_DEFAULT),
         REFUSED(plain, f.exponent_bits = 0, f.specials = FPEMU_SPECIALS_FINITE, f.mantissa_bits = 0),
         REFUSED(plain, f.exponent_bits = 0, f.specials = FPEMU_SPECIALS_FN, f.mantissa_bits = 1),
         REFUSED(plain, f.exponent_bits = 0, f.specials = FPEMU_SPECIALS_FINITE, f.subnormals = FPEMU_SUBNORMALS_NONE),
         REFUSED(plain, f.exponent_bits = 0, f.specials = FPEMU_SPECIALS_P3109F),
         REFUSED(plain, f.exponent_bits = 1, f.mantissa_bits = 0),
         REFUSED(plain, f.exponent_bits = 1, f.subnormals = FPEMU_SUBNORMALS_FLUSH_IN),
         REFUSED(plain, f.exponent_bits = 1, f.mantissa_bits = 0, f.specials = FPEMU_SPECIALS_FN),
         REFUSED(plain, f.exponent_bits = 1, f.mantissa_bits = 0, f.specials = FPEMU_SPECIALS_P3109F),
         REFUSED(plain, f.exponent_bits = 11, f.bias = 1023, f.specials = FPEMU_SPECIALS_FN),
         REFUSED(plain, f.specials = FPEMU_SPECIALS_FNUZ, f.is_signed = 0),
         REFUSED(plain, f.specials = FPEMU_SPECIALS_E8M0),
         REFUSED(plain, f.specials = FPEMU_SPECIALS_E8M0, f.exponent_bits = 8, f.mantissa_bits = 0, f.bias = 127),
         REFUSED(plain, f.specials = FPEMU_SPECIALS_DLFLOAT, f.is_signed = 0),
         REFUSED(plain, f.specials = FPEMU_SPECIALS_DLFLOAT, f.subnormals = FPEMU_SUBNORMALS_NONE));
    EACH(DAMAGED(fixed, 1, f.bits = 0), REFUSED(fixed, f.bits = 55), REFUSED(fixed, f.bits = 54, f.is_signed = 0),
         DAMAGED(fixed, 1, f.bits = 65), REFUSED(fixed, f.bits = UINT32_MAX), REFUSED(fixed, f.fraction_bits = 1075),
         REFUSED(fixed, f.fraction_bits = -1017), REFUSED(fixed, f.fraction_bits = INT32_MIN),
         REFUSED(fixed, f.exponent_bits = 1), REFUSED(fixed, f.bias = 1), REFUSED(fixed, f.specials = 1),
         REFUSED(fixed, f.subnormals = 1), REFUSED(fixed, f.scale = 1), REFUSED(fixed, f.symmetric = 2),
         REFUSED(fixed, f.symmetric = 1, f.wrap = 1), REFUSED(fixed, f.symmetric = 1, f.is_signed = 0),
         REFUSED(fixed, f.symmetric = 1, f.bits = 1), REFUSED(fixed, f.wrap = 1, f.overflow = FPEMU_OVERFLOW_SATURATE));
    EACH(REFUSED(integer, f.bits = 0), DAMAGED(integer, 1, f.bits = 33), DAMAGED(integer, 1, f.scale = 0),
         DAMAGED(integer, 1, f.scale = -1), REFUSED(integer, f.scale = (double)INFINITY),
         DAMAGED(integer, 1, f.scale = (double)NAN), REFUSED(integer, f.scale = 0x1p1017),
         DAMAGED(integer, 1, f.zero_point = 128), REFUSED(integer, f.zero_point = -129),
         REFUSED(integer, f.is_signed = 0, f.zero_point = -1), REFUSED(integer, f.symmetric = 1, f.zero_point = 1),
         REFUSED(integer, f.fraction_bits = 1));
    EACH(DAMAGED(posit, 1, f.bits = 1), DAMAGED(posit, 1, f.bits = 33), DAMAGED(posit, 1, f.exponent_bits = 6),
         REFUSED(posit, f.mantissa_bits = 1), REFUSED(posit, f.wrap = 1));
#undef REFUSED
#undef DAMAGED

    REFUSES(NULL, fpemu_format_complete(NULL), fpemu_format_float(NULL, 4, 3, 7, FPEMU_SPECIALS_IEEE, 1));
    REFUSES(FORMAT, fpemu_format_float(&good, 4, 3, 7, (fpemu_specials)256, 1), fpemu_format_lee(&good, 9, 3, 0),
            fpemu_format_lee(&good, 0, 3, 0), fpemu_format_lee(&good, 4, 3, INT32_MIN),
            fpemu_format_p3109(&good, 2, 1, 1, 1), fpemu_format_p3109(&good, 8, 8, 1, 1),
            fpemu_format_p3109(&good, 8, 9, 0, 1), fpemu_format_p3109(&good, 8, 0, 0, 1),
            fpemu_format_p3109(&good, 64, 3, 1, 1));
    REFUSES(ARGUMENT, fpemu_format_named(FPEMU_NAME_NONE, &good), fpemu_format_named(FPEMU_NAME_COUNT, &good));
    ck_assert_uint_eq(good.kind, 0);
}
END_TEST

START_TEST(names)
{
    for (int name = FPEMU_NAME_NONE + 1; name < FPEMU_NAME_COUNT; name++) {
        fpemu_format f, g;
        GIVES_OK(fpemu_format_named((fpemu_name)name, &f));
        const char *text;
        unsigned count = 0;
        for (; (text = fpemu_format_name((fpemu_name)name, count)) != NULL; count++) {
            g = format_of(text);
            REQUIRE(fpemu_format_equal(&f, &g), "%s is not name %d", text, name);
            for (int other = 1; other < name; other++)
                for (unsigned i = 0; fpemu_format_name((fpemu_name)other, i); i++)
                    REQUIRE(strcmp(text, fpemu_format_name((fpemu_name)other, i)) != 0, "%s twice", text);
        }
        ck_assert_uint_ge(count, 1);
    }
    ck_assert_ptr_null(fpemu_format_name(FPEMU_NAME_NONE, 0));
    ck_assert_ptr_null(fpemu_format_name(FPEMU_NAME_COUNT, 0));
    ck_assert_ptr_null(fpemu_format_name(FPEMU_NAME_BINARY16, UINT32_MAX));
}
END_TEST

START_TEST(invalid_formats)
{
    const fpemu_format zero = {0};
    const fpemu_format *const bad[] = {NULL, &zero};
    size_t count = 1;
    for (int i = 0; i < 2; i++) {
        const fpemu_format *f = bad[i];
        ck_assert(fpemu_format_max(f) == 0 && fpemu_format_lowest(f) == 0 && fpemu_format_min_normal(f) == 0 &&
                  fpemu_format_min_positive(f) == 0);
        ck_assert(fpemu_format_epsilon(f) == 0 && fpemu_format_value_count(f) == 0 && fpemu_format_nan_count(f) == 0);
        ck_assert(fpemu_format_bits_per_element(f) == 0 && fpemu_format_code_size(f) == 0);
        ck_assert(!fpemu_format_fits_f32(f) && !fpemu_format_fits_f64(f) && !fpemu_format_represents(f, 0));
        ck_assert(isnan(fpemu_format_next_up(f, 0)) && isnan(fpemu_format_next_down(f, 0)));
        ck_assert(!fpemu_format_equal(f, f) && !fpemu_format_equal(f, NULL));
    }
    REFUSES(FORMAT, fpemu_format_enumerate(&zero, 0, NULL, NULL, &count));
    REFUSES(NULL, fpemu_format_enumerate(NULL, 0, NULL, NULL, &count));
    const fpemu_format f = format_of("e4m3fn");
    REFUSES(NULL, fpemu_format_enumerate(&f, 253, NULL, NULL, NULL),
            fpemu_format_enumerate(&f, 253, NULL, NULL, &count));
    REFUSES(BUFFER, fpemu_format_enumerate(&f, 252, NULL, NULL, &count));
    ck_assert_uint_eq(count, 253);
}
END_TEST

START_TEST(counts)
{
    static const struct {
        const char *spec;
        uint64_t values;
        size_t size;
        double epsilon;
    } rows[] =
        LIST({"fp16", 63487, 2, 0x1p-10}, {"e4m3fn", 253, 1, 0.125}, {"e2m1", 15, 1, 0.5}, {"e8m0", 255, 1, 1},
             {"ue4m3", 127, 1, 0.125}, {"hif8", 253, 1, 0.125}, {"ue6m2", 255, 1, 0.25}, {"e4m3fnuz", 255, 1, 0.125},
             {"dlfloat16", 65533, 2, 0x1p-9}, {"tf32", 522239, 4, 0x1p-10},
             {"fp64", UINT64_C(0xffdfffffffffffff), 8, 0x1p-52}, {"int8", 256, 1, 0}, {"int8:symmetric", 255, 1, 0},
             {"fixed(54,0)", UINT64_C(1) << 54, 8, 0}, {"uint16", 65536, 2, 0}, {"posit(16,2)", 65535, 2, 0x1p-11},
             {"posit(32,2)", 0xffffffff, 4, 0x1p-27}, {"posit(2,0)", 3, 1, 0}, {"posit(3,4)", 7, 1, 65535},
             {"posit(6,4)", 63, 1, 3}, {"e4m3fn:nosub", 239, 1, 0.125});
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const fpemu_format f = format_of(rows[i].spec);
        REQUIRE(fpemu_format_value_count(&f) == rows[i].values, "%s: %llu values", rows[i].spec,
                (unsigned long long)fpemu_format_value_count(&f));
        REQUIRE(fpemu_format_code_size(&f) == rows[i].size, "%s: code size", rows[i].spec);
        REQUIRE(fpemu_format_epsilon(&f) == rows[i].epsilon, "%s: epsilon %a", rows[i].spec, fpemu_format_epsilon(&f));
        REQUIRE(fpemu_format_bits_per_element(&f) == (double)f.bits, "%s", rows[i].spec);
    }
}
END_TEST

START_TEST(equality)
{
    static const char *const specs[] =
        LIST("e4m3fn", "e4m3", "e4m3fnuz", "ue4m3", "e4m3fn:saturate", "e4m3fn:keepinf", "e4m3fn:nosub",
             "e4m3fn:flushin", "e4m3fn:flushout", "e4m3fn:nan=max", "fp(4,3,0)", "fp(4,3,4)", "p3109(8,4,se)",
             "p3109(8,4,sf)", "fixed(8,4)", "fixed(8,5)", "fixed(9,4)", "ufixed(8,4)", "fixed(8,4):wrap",
             "fixed(8,4):symmetric", "int8", "uint8", "int(8,scale=2)", "int(8,zero=1)", "posit(8,2)", "posit(8,1)",
             "e8m0", "dlfloat16", "e2m1", "mxfp4", "mx(e2m1,block=16)", "mx(e2m1,block=32x32)", "mx(e2m1,block=16x32)",
             "mx(e2m1,row)", "mx(e2m1,tensor)", "mx(e2m1,rule=ceil)", "mx(e2m1,scale=bf16)", "mx(e2m1,scale=e4m3fn)",
             "mx(e2m1,scale=ue4m3)", "mx(e2m1,scale=e4m3)", "mx(e2m1:nan=zero)", "mx(e2m3)", "bfp(7)",
             "bfp(7,exponent=7)", "scaled(e4m3fn)", "scaled(e4m3fn,margin=1)", "nf4", "codebook(nf4)",
             "codebook(dynamic4)", "codebook(udynamic4)", "table(dynamic4)", "table(dynamic5)", "table(nf4)");
    enum { N = sizeof specs / sizeof specs[0] };
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const fpemu_format a = format_of(specs[i]), b = format_of(specs[j]);
            REQUIRE(fpemu_format_equal(&a, &b) == (i == j), "%s and %s", specs[i], specs[j]);
        }
}
END_TEST

START_TEST(library)
{
    ck_assert_int_eq(fpemu_version(), FPEMU_VERSION);
    ck_assert_uint_eq(fpemu_sizeof("format"), sizeof(fpemu_format));
    ck_assert_uint_eq(fpemu_sizeof("rounding"), sizeof(fpemu_rounding));
    ck_assert_uint_eq(fpemu_sizeof("stats"), sizeof(fpemu_stats));
    ck_assert_uint_eq(fpemu_sizeof("formats"), 0);
    ck_assert_uint_eq(fpemu_sizeof(NULL), 0);
    for (int i = -1; i < 14; i++) {
        const char *text = fpemu_status_text((fpemu_status)i);
        ck_assert_ptr_nonnull(text);
        ck_assert_int_eq(strcmp(text, "unknown status") == 0, i < 0 || i > FPEMU_ERROR_ARGUMENT);
        for (int j = 0; j < i && i <= FPEMU_ERROR_ARGUMENT; j++)
            ck_assert_str_ne(text, fpemu_status_text((fpemu_status)j));
    }
}
END_TEST

/* -------------------------------------------------------------------------------- queries by enumeration */

#define MAX_VALUES 65536

/* Every code decoded, sorted and made distinct is what the queries must describe. */
static void check_queries(const fpemu_format *f, const char *spec)
{
    static double want[MAX_VALUES], got[MAX_VALUES];
    static uint64_t codes[MAX_VALUES];
    size_t n = 0, unique = 0, count;
    uint64_t nans = 0;
    int infinite = 0, negative_zero = 0;
    for (uint64_t code = 0; code < UINT64_C(1) << f->bits; code++) {
        const double x = fpemu_decode_one_f64(f, code);
        nans += isnan(x) != 0;
        infinite |= isinf(x) != 0;
        negative_zero |= lh_double_bits(x) == lh_double_bits(-0.0);
        if (isfinite(x))
            want[n++] = x + 0.0; /* -0 to +0 */
    }
    qsort(want, n, sizeof want[0], ascending);
    for (size_t i = 0; i < n; i++)
        if (unique == 0 || want[i] != want[unique - 1])
            want[unique++] = want[i];
    REQUIRE(f->has_nan == (nans > 0 && !f->symmetric) && f->has_infinity == infinite &&
                f->has_negative_zero == negative_zero,
            "%s: specials", spec);
    REQUIRE(fpemu_format_nan_count(f) == nans, "%s: %llu NaN codes, not %llu", spec, (unsigned long long)nans,
            (unsigned long long)fpemu_format_nan_count(f));
    REQUIRE(fpemu_format_value_count(f) == unique, "%s: %zu values, not %llu", spec, unique,
            (unsigned long long)fpemu_format_value_count(f));
    REQUIRE(fpemu_format_enumerate(f, MAX_VALUES, got, codes, &count) == FPEMU_OK && count == unique, "%s: enumerate",
            spec);

    const fpemu_rounding nearest = fpemu_rounding_nearest();
    double min_positive = 0, min_normal = 0;
    for (size_t i = 0; i < unique; i++) {
        const double x = want[i], up = i + 1 < unique ? want[i + 1] : (double)NAN;
        const double down = i > 0 ? want[i - 1] : (double)NAN;
        REQUIRE(lh_double_bits(got[i]) == lh_double_bits(x), "%s: value %zu is %a, not %a", spec, i, got[i], x);
        REQUIRE(fpemu_decode_one_f64(f, codes[i]) == x, "%s: code of %a", spec, x);
        REQUIRE(fpemu_encode_one_f64(f, &nearest, x, 0) == codes[i], "%s: %a codes as %llx, not %llx", spec, x,
                (unsigned long long)fpemu_encode_one_f64(f, &nearest, x, 0), (unsigned long long)codes[i]);
        REQUIRE(fpemu_format_represents(f, x), "%s: %a is a value", spec, x);
        REQUIRE(lh_double_bits(fpemu_format_next_up(f, x)) == lh_double_bits(up), "%s: up from %a", spec, x);
        REQUIRE(lh_double_bits(fpemu_format_next_down(f, x)) == lh_double_bits(down), "%s: down from %a", spec, x);
        if (i + 1 < unique) {
            const double between = x / 2 + up / 2;
            const int apart = x < between && between < up; /* else binary64 has nothing between them */
            REQUIRE(!apart || !fpemu_format_represents(f, between), "%s: %a is no value", spec, between);
            REQUIRE(!apart || (fpemu_format_next_up(f, between) == up && fpemu_format_next_down(f, between) == x),
                    "%s: around %a", spec, between);
        }
        if (x > 0 && min_positive == 0)
            min_positive = x;
        if (x > 0 && min_normal == 0 && f->kind == FPEMU_KIND_FLOAT && fpemu_format_min_normal(f) > 0 &&
            x >= ldexp(1, f->emin))
            min_normal = x;
    }
    REQUIRE(fpemu_format_max(f) == want[unique - 1] &&
                lh_double_bits(fpemu_format_lowest(f)) == lh_double_bits(want[0]),
            "%s: ends", spec);
    REQUIRE(fpemu_decode_one_f64(f, f->max_code) == fpemu_format_max(f), "%s: max_code", spec);
    REQUIRE(fpemu_decode_one_f64(f, f->lowest_code) == fpemu_format_lowest(f), "%s: lowest_code", spec);
    REQUIRE(!f->has_nan || isnan(fpemu_decode_one_f64(f, f->nan_code)), "%s: nan_code", spec);
    REQUIRE(fpemu_format_min_positive(f) == min_positive, "%s: min_positive", spec);
    REQUIRE(fpemu_format_min_normal(f) == (f->kind == FPEMU_KIND_FLOAT ? min_normal : min_positive), "%s: min_normal",
            spec);
    if (f->kind == FPEMU_KIND_POSIT && f->bits > 2)
        REQUIRE(fpemu_format_epsilon(f) == fpemu_format_next_up(f, 1) - 1, "%s: epsilon", spec);

    const double infinity = (double)INFINITY, over = nextafter(want[unique - 1], infinity);
    REQUIRE(isnan(fpemu_format_next_up(f, infinity)) && isnan(fpemu_format_next_up(f, over)), "%s: above the largest",
            spec);
    REQUIRE(fpemu_format_next_down(f, infinity) == want[unique - 1], "%s: below infinity", spec);
    REQUIRE(fpemu_format_next_up(f, -infinity) == want[0], "%s: above -infinity", spec);
    REQUIRE(isnan(fpemu_format_next_down(f, -infinity)) && isnan(fpemu_format_next_up(f, (double)NAN)), "%s: no value",
            spec);
    REQUIRE(fpemu_format_represents(f, infinity) == f->has_infinity, "%s: infinity", spec);
    REQUIRE(fpemu_format_represents(f, -infinity) == (f->has_infinity && f->is_signed), "%s: -infinity", spec);
    REQUIRE(fpemu_format_represents(f, (double)NAN) == f->has_nan, "%s: NaN", spec);
    REQUIRE(fpemu_format_represents(f, -0.0) == f->has_zero, "%s: -0", spec);
}

START_TEST(queries_of_floats)
{
    static const char *const modifiers[] = {"", ":nosub", ":flushin", ":flushout"};
    static const char *const specials[] = {"ieee", "fn", "fnuz", "finite", "p3109e", "p3109f", "dlfloat"};
    int checked = 0;
    for (int e = 0; e <= 6; e++)
        for (int m = 0; m <= 4; m++)
            for (int s = 0; s < 7; s++)
                for (int is_signed = 0; is_signed < 2; is_signed++)
                    for (int i = 0; i < 4; i++) {
                        char spec[96];
                        fpemu_format f;
                        snprintf(spec, sizeof spec, "float(e=%d,m=%d,bias=%d,specials=%s,signed=%d)%s", e, m, e + 1,
                                 specials[s], is_signed, modifiers[i]);
                        if (fpemu_format_parse(spec, &f, NULL) == FPEMU_OK) {
                            check_queries(&f, spec);
                            checked++;
                        }
                    }
    ck_assert_int_gt(checked, 1200);
}
END_TEST

START_TEST(queries_of_named)
{
    for (int name = FPEMU_NAME_NONE + 1; name < FPEMU_NAME_COUNT; name++) {
        fpemu_format named, f;
        fpemu_format_named((fpemu_name)name, &named);
        fpemu_format_element(&named, &f); /* what is asked of a blocked format is its element's */
        REQUIRE(fpemu_format_max(&named) == fpemu_format_max(&f) &&
                    fpemu_format_lowest(&named) == fpemu_format_lowest(&f) &&
                    fpemu_format_value_count(&named) == fpemu_format_value_count(&f) &&
                    lh_double_bits(fpemu_format_next_up(&named, 0.3)) == lh_double_bits(fpemu_format_next_up(&f, 0.3)),
                "%s and its element", fpemu_format_name((fpemu_name)name, 0));
        if (f.bits <= 16)
            check_queries(&f, fpemu_format_name((fpemu_name)name, 0));
    }
}
END_TEST

START_TEST(queries_of_p3109)
{
    for (uint32_t k = 3; k <= 9; k++)
        for (uint32_t p = 1; p <= k; p++)
            for (int domain = 0; domain < 4; domain++) {
                fpemu_format f;
                char spec[32];
                snprintf(spec, sizeof spec, "p3109(%u,%u,%d)", k, p, domain);
                if (fpemu_format_p3109(&f, k, p, domain & 1, domain >> 1) == FPEMU_OK) {
                    check_queries(&f, spec);
                    /* 1.0 stands in the middle of the codes */
                    const uint64_t one = UINT64_C(1) << (k - 1 - (uint32_t)(domain & 1));
                    if (fpemu_format_max(&f) >= 1)
                        REQUIRE(fpemu_decode_one_f64(&f, one) == 1, "%s: code of 1", spec);
                }
            }
}
END_TEST

START_TEST(queries_of_the_rest)
{
    static const char *const specs[] = LIST(
        "fixed(1,0)", "fixed(2,5)", "fixed(8,4)", "fixed(8,-3)", "fixed(8,12)", "fixed(8,4):symmetric", "ufixed(1,0)",
        "ufixed(8,4)", "fixed(12,6):wrap", "fixed(8,1074)", "fixed(8,-1016)", "int(1)", "int(1,zero=-1)",
        "int(8,scale=0.1)", "int(8,scale=0.1,zero=-128)", "uint(8,scale=0.1,zero=255)", "uint(1,scale=3)",
        "int(8,scale=0.3):symmetric", "int(8,scale=4.9406564584124654e-324)", "int(8,scale=1e300,zero=5)");
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        const fpemu_format f = format_of(specs[i]);
        check_queries(&f, specs[i]);
    }
    for (uint32_t n = 2; n <= 10; n++)
        for (uint32_t es = 0; es <= 5; es++) {
            fpemu_format f;
            char spec[32];
            snprintf(spec, sizeof spec, "posit(%u,%u)", n, es);
            GIVES_OK(fpemu_format_posit(&f, n, es));
            check_queries(&f, spec);
        }
    fpemu_format f;
    char text[80];
    for (size_t i = 0; ref_generic(i, &f, text); i++) {
        GIVES_OK(fpemu_format_complete(&f));
        if (f.bits <= 12 || (f.bits <= 16 && i % 4 == 0)) /* 2^16 values take most of the time */
            check_queries(&f, text);
    }
}
END_TEST

int main(void)
{
    return RUN_SUITE("format", NULL, numbers_of_the_reference, constructors, carriers, refusals, names, invalid_formats,
                     counts, equality, library, queries_of_floats, queries_of_named, queries_of_p3109,
                     queries_of_the_rest);
}
