/* SPDX-License-Identifier: BSD-2-Clause */
/* peers.c - mistakes that other emulators made, each as a small named check that this one does not make them.
 *
 * Names in front: the software, and what went wrong there.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../judges/longhand.h"
#include "../list.h"

typedef struct instance {
    const char *name, *spec, *mode;
    int overflow; /* fpemu_overflow */
    double x, y;
    int only_f64; /* the input has no binary32 */
} instance;

#define IEEE FPEMU_OVERFLOW_IEEE
#define SAT FPEMU_OVERFLOW_SATURATE
#define KEEP_INF FPEMU_OVERFLOW_SATURATE_KEEP_INF

static const instance instances[] = {
    /* CPFloat: "E4M3" has 480 as its largest value */
    {"cpfloat-B", "e4m3fn", "rne", IEEE, 465.0, NAN, 0},
    {"cpfloat-B", "e4m3fn", "rne", IEEE, 480.0, NAN, 0},
    {"cpfloat-B", "e4m3fn", "rne", SAT, 500.0, 448.0, 0},
    {"cpfloat-B", "e4m3fn", "rne", IEEE, 464.0, 448.0, 0},
    {"cpfloat-B", "e4m3fn", "rne", IEEE, 0x1.d00002p8, NAN, 0},
    /* CPFloat: the sign of zero is lost */
    {"cpfloat-C", "fp16", "rtp", IEEE, -0x1p-140, -0.0, 0},
    {"cpfloat-C", "fp16", "rtp", IEEE, -0.0, -0.0, 0},
    {"cpfloat-C", "fp16", "rtn", IEEE, -0.0, -0.0, 0},
    {"cpfloat-C", "fp16", "rtn", IEEE, 0x1p-140, 0.0, 0},
    {"cpfloat-C", "fp16", "rtn", IEEE, 0.0, 0.0, 0},
    /* CPFloat: infinities become finite in a format without infinity */
    {"cpfloat-D", "e4m3fn", "rtz", IEEE, INFINITY, NAN, 0},
    {"cpfloat-D", "e4m3fn", "rto", IEEE, -INFINITY, NAN, 0},
    {"cpfloat-D", "e4m3fn", "rtp", IEEE, -INFINITY, NAN, 0},
    {"cpfloat-D", "e4m3fn", "rtn", IEEE, INFINITY, NAN, 0},
    {"cpfloat-D", "fp16", "rtz", IEEE, -INFINITY, -INFINITY, 0},
    /* CPFloat: subnormals of the format that are subnormals of the carrier too */
    {"cpfloat-E", "float(e=7,m=7,bias=126)", "rne", IEEE, 0x1.013e8p-132, 0x1p-132, 0},
    {"cpfloat-E", "float(e=7,m=7,bias=126)", "rtz", IEEE, 0x1.013e8p-132, 0x1p-132, 0},
    {"cpfloat-E", "float(e=10,m=10,bias=1021)", "rne", IEEE, 0x1p-1030, 0x1p-1030, 1},
    {"cpfloat-E", "float(e=10,m=10,bias=1021)", "rtz", IEEE, 0x1p-1030, 0x1p-1030, 1},
    /* CPFloat, QPyTorch: the carrier's own precision is not "no rounding" */
    {"cpfloat-F", "fp32", "rne", IEEE, 0x1.00076ap-126, 0x1.00076ap-126, 0},
    {"cpfloat-F", "fp32", "rna", IEEE, 0x1.8p0, 0x1.8p0, 0},
    {"qpytorch-#48", "float(e=8,m=23,specials=ieee)", "rna", IEEE, -3.25, -3.25, 0},
    {"qpytorch-#48", "fp32", "rna", IEEE, 0x1.8p-127, 0x1.8p-127, 0},
    {"cpfloat-F", "fp64", "rne", IEEE, 0x1.0000000000001p-1022, 0x1.0000000000001p-1022, 1},
    /* CPFloat: with one bit of precision a tie goes by the parity of the code */
    {"cpfloat-G", "e8m0", "rne", IEEE, 0x1.8p-125, 0x1p-125, 0},
    {"cpfloat-G", "e8m0", "rne", IEEE, 0x1.8p-124, 0x1p-123, 0},
    {"cpfloat-G", "float(e=8,m=0)", "rne", IEEE, 0x1.8p-125, 0x1p-125, 0},
    {"cpfloat-G", "float(e=4,m=0,bias=6,specials=finite)", "rne", IEEE, 1.5, 1.0, 0},
    {"cpfloat-G", "float(e=4,m=0,bias=7,specials=finite)", "rne", IEEE, 1.5, 2.0, 0},
    /* CPFloat: RTZ overflow; FlexFloat: directed modes give infinity from 2^(emax+1) on */
    {"flexfloat-directed", "fp16", "rtz", IEEE, 70000.0, 65504.0, 0},
    {"flexfloat-directed", "fp16", "rtz", IEEE, -1e30, -65504.0, 0},
    {"flexfloat-directed", "fp16", "rtp", IEEE, -70000.0, -65504.0, 0},
    {"flexfloat-directed", "fp16", "rtp", IEEE, 70000.0, INFINITY, 0},
    {"flexfloat-directed", "fp16", "rtn", IEEE, 70000.0, 65504.0, 0},
    {"flexfloat-directed", "fp16", "rtn", IEEE, -70000.0, -INFINITY, 0},
    {"flexfloat-directed", "bf16", "rtz", IEEE, -0x1.ffp+127, -0x1.fep+127, 0},
    /* pychop: overflow gives 65536, 0 or, late, infinity */
    {"pychop-overflow", "fp16", "rne", IEEE, 65520.0, INFINITY, 0},
    {"pychop-overflow", "fp16", "rne", IEEE, 65519.996, 65504.0, 0},
    {"pychop-overflow", "fp16", "rne", IEEE, 65536.0, INFINITY, 0},
    {"pychop-overflow", "fp16", "rne", IEEE, 70000.0, INFINITY, 0},
    {"pychop-overflow", "e4m3", "rne", IEEE, 300.0, INFINITY, 0},
    {"pychop-zero", "fp16", "rne", IEEE, -0.0, -0.0, 0},
    /* QPyTorch: two roundings on the way to a subnormal, and to an integer; no 448 limit; the sign of zero */
    {"qpytorch-subnormal", "fp16", "rne", IEEE, 0x1.ffffep-26, 0.0, 0},
    {"qpytorch-fixed", "fixed(8,0)", "rne", IEEE, 0x1.000002p-1, 1.0, 0},
    {"qpytorch-limit", "e4m3fn", "rne", IEEE, 464.0, 448.0, 0},
    {"qpytorch-zero", "fp(5,2,0)", "rne", IEEE, -0x1p-60, -0.0, 0},
    {"qpytorch-half", "fp16", "rne", IEEE, 0x1.002p0, 1.0, 0},
    /* ml_dtypes: binary64 through binary32; infinity under saturation */
    {"ml_dtypes-double", "e4m3fn", "rne", IEEE, -0x1.affffffffffffp8, -416.0, 1},
    {"ml_dtypes-double", "bf16", "rne", IEEE, 0x1.0100000000001p0, 0x1.02p0, 1},
    {"ml_dtypes-double", "fp16", "rne", IEEE, 0x1.001ffffffffffp0, 0x1p0, 1},
    {"ml_dtypes-saturate", "e5m2", "rne", SAT, INFINITY, 57344.0, 0},
    {"ml_dtypes-saturate", "e5m2", "rne", KEEP_INF, INFINITY, INFINITY, 0},
    {"ml_dtypes-saturate", "e4m3fn", "rne", KEEP_INF, INFINITY, NAN, 0},
    {"ml_dtypes-saturate", "e4m3fn", "rne", KEEP_INF, 1e30, 448.0, 0},
    {"ml_dtypes-#298", "e8m0", "raz", IEEE, 1.1, 2.0, 0},
    {"ml_dtypes-#298", "e8m0", "rtp", IEEE, 1.1, 2.0, 0},
    /* Intel toolkit: through binary16 first; subnormals off the grid; NaN and infinities to the largest */
    {"intel-double", "e4m3fn", "rne", IEEE, 0x1.1001p0, 1.125, 0},
    {"intel-subnormal", "e4m3fn", "rne", IEEE, 0.75 * 0x1p-9, 0x1p-9, 0},
    {"intel-subnormal", "e4m3fn", "rne", IEEE, 1.125 * 0x1p-7, 0x1p-7, 0},
    {"intel-subnormal", "e4m3fn", "rne", IEEE, 1.25 * 0x1p-8, 0x1p-8, 0},
    {"intel-subnormal", "e4m3fn", "rne", IEEE, 1.75 * 0x1p-9, 0x1p-8, 0},
    {"intel-nan", "e4m3fn", "rne", SAT, NAN, NAN, 0},
    {"intel-directed", "e5m2", "rtp", IEEE, 0x1.04p0, 0x1.4p0, 0},
    {"intel-range", "e4m3fn", "rne", SAT, 1e9, 448.0, 0},
    /* gfloat #62: e8m0 below 2^-127; ONNX #7030: its ties; torchao: zero */
    {"gfloat-#62", "e8m0", "rne", IEEE, 0x1p-140, 0x1p-127, 0},
    {"gfloat-#62", "e8m0", "rtz", IEEE, 0x1p-149, 0x1p-127, 0},
    {"e8m0-zero", "e8m0", "rne", IEEE, 0.0, 0x1p-127, 0},
    {"e8m0-negative", "e8m0", "rne", SAT, -1.0, NAN, 0},
    {"e8m0-infinite", "e8m0", "rne", IEEE, INFINITY, NAN, 0},
    {"e8m0-infinite", "e8m0", "rne", SAT, INFINITY, 0x1p127, 0},
    {"e8m0-top", "e8m0", "rne", IEEE, 0x1.8p127, 0x1p127, 0},
    {"e8m0-top", "e8m0", "rne", IEEE, 0x1.800002p127, NAN, 0},
    {"e8m0-top", "e8m0", "rna", IEEE, 0x1.8p127, NAN, 0},
    /* gfloat: overflow to NaN in a finite domain */
    {"gfloat-finite", "p3109(8,4,sf)", "rne", IEEE, 1e6, 240.0, 0},
    {"gfloat-finite", "p3109(8,4,se)", "rne", IEEE, 232.0, 224.0, 0},
    {"gfloat-finite", "p3109(8,4,se)", "rne", IEEE, 240.0, INFINITY, 0},
    /* universal #1133: bfloat16 by truncation; #1302: E4M3 */
    {"universal-bf16", "bf16", "rne", IEEE, 0x1.018p0, 0x1.02p0, 0},
    {"universal-e4m3", "e4m3fn", "rne", IEEE, 447.0, 448.0, 0},
    /* posits: nothing rounds to zero or past maxpos, and the switch is not the mean where exponent bits are cut */
    {"universal-posit", "posit(8,2)", "rne", IEEE, 0x1p-140, 0x1p-24, 0},
    {"universal-posit", "posit(8,2)", "rne", IEEE, -1e30, -0x1p24, 0},
    {"universal-posit", "posit(8,2)", "rne", IEEE, 0x1.8p21, 0x1p20, 0},
    {"universal-posit", "posit(8,2)", "rne", IEEE, 0x1.000002p22, 0x1p24, 0},
};

static int set_mode(const char *name, fpemu_rounding *r)
{
    return lh_check(fpemu_rounding_parse(name, r, NULL) == FPEMU_OK, "no mode %s", name);
}

static void values(void)
{
    for (size_t i = 0; i < sizeof instances / sizeof instances[0]; i++) {
        const instance *c = &instances[i];
        fpemu_format f;
        fpemu_rounding r;
        if (!lh_check(fpemu_format_parse(c->spec, &f, NULL) == FPEMU_OK, "%s: cannot parse %s", c->name, c->spec) ||
            !set_mode(c->mode, &r))
            continue;
        r.overflow = (uint8_t)c->overflow;
        double wide;
        lh_check(fpemu_quantize_f64(&f, &r, 1, &c->x, &wide, NULL) == FPEMU_OK && lh_same_f64(wide, c->y),
                 "%s: %s %s %a is %a, expected %a", c->name, c->spec, c->mode, c->x, wide, c->y);
        float x = (float)c->x, y;
        if (!c->only_f64)
            lh_check(fpemu_quantize_f32(&f, &r, 1, &x, &y, NULL) == FPEMU_OK && lh_same_f32(y, c->y),
                     "%s: %s %s %a is %a in binary32, expected %a", c->name, c->spec, c->mode, (double)x, (double)y,
                     c->y);
    }
}

/* CPFloat A: a NaN with a small payload is rounded like a number, to infinity or -0. */
static void nan_payloads(void)
{
    const char *const specs[] = {"fp16", "bf16", "tf32", "e4m3fn", "e5m2", "e8m0", "fp32", "fixed(8,4)", "posit(16,1)"};
    const uint32_t payloads[] = {0x7f800012, 0x7fffffff, 0x7f800001, 0xff800001,
                                 0xffffffff, 0x7fc00000, 0xffc00000, 0x7fbfffff};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        fpemu_format f = lh_parsed(specs[i]);
        for (int mode = 0; mode < FPEMU_MODE_COUNT; mode++) {
            if (f.kind == FPEMU_KIND_POSIT && mode != FPEMU_MODE_RNE)
                continue;
            float x[800], y[800];
            double x64[800], y64[800];
            for (size_t j = 0; j < 800; j++) {
                x[j] = lh_float(payloads[j % 8]);
                x64[j] = lh_double((uint64_t)(payloads[j % 8] >> 20) << 52 | (payloads[j % 8] & 0xfffff));
                if (!isnan(x64[j])) /* payload within the low 20 bits only by chance */
                    x64[j] = NAN;
            }
            fpemu_rounding r = fpemu_rounding_stochastic(1, 2);
            r.mode = (uint8_t)mode;
            r.overflow = (uint8_t)(mode % 4);
            lh_check(fpemu_quantize_f32(&f, &r, 800, x, y, NULL) == FPEMU_OK, "%s refused", specs[i]);
            lh_check(fpemu_quantize_f64(&f, &r, 800, x64, y64, NULL) == FPEMU_OK, "%s refused", specs[i]);
            for (size_t j = 0; j < 800; j++)
                lh_check(lh_same_f32(y[j], NAN) && lh_same_f64(y64[j], NAN),
                         "cpfloat-A: %s mode %d: NaN %08x gives %a, %a", specs[i], mode, lh_float_bits(x[j]),
                         (double)y[j], y64[j]);
        }
    }
}

/* CPFloat E: every subnormal where format and carrier both have them. */
static void deep_subnormals(void)
{
    fpemu_format narrow, wide;
    if (!lh_check(fpemu_format_parse("float(e=7,m=7,bias=126)", &narrow, NULL) == FPEMU_OK &&
                      fpemu_format_parse("float(e=10,m=10,bias=1021)", &wide, NULL) == FPEMU_OK,
                  "cannot parse"))
        return;
    const lh_format long_narrow = LIST(.kind = FPEMU_KIND_FLOAT, .p = 8, .emin = -125, .bias = 126, .family = LH_IEEE,
                                       .is_signed = 1, .has_nan = 1, .has_negative_zero = 1, .max = 1.9921875);
    const lh_format long_wide = LIST(.kind = FPEMU_KIND_FLOAT, .p = 11, .emin = -1020, .bias = 1021, .family = LH_IEEE,
                                     .is_signed = 1, .has_nan = 1, .has_negative_zero = 1, .max = 0x1.ffcp1);
    for (int mode = 0; mode < FPEMU_MODE_COUNT; mode++) {
        fpemu_rounding r = fpemu_rounding_stochastic(3, 4);
        r.mode = (uint8_t)mode;
        for (uint32_t i = 0; i < 4096; i++) {
            lh_rounding how = {mode, IEEE, FPEMU_NAN_KEEP, 0, 32, lh_bits(FPEMU_GENERATOR_HASH, 3, 4, i, 32)};
            float x = lh_float(i * 2049u + 1), y = fpemu_quantize_one_f32(&narrow, &r, x, i);
            double expected = lh_round(&long_narrow, 32, how, (double)x).y;
            lh_check(lh_same_f32(y, expected), "cpfloat-E: mode %d %a: got %a, expected %a", mode, (double)x, (double)y,
                     expected);
            double x64 = lh_double(((uint64_t)i << 41) + (i % 3 - 1)), y64 = fpemu_quantize_one_f64(&wide, &r, x64, i);
            expected = lh_round(&long_wide, 64, how, x64).y;
            lh_check(lh_same_f64(y64, expected), "cpfloat-E: mode %d %a: got %a, expected %a", mode, x64, y64,
                     expected);
        }
    }
}

/* CPFloat: the law of sr past the largest value is that of the distance, and se leaves what surely overflows alone. */
static void stochastic_overflow(void)
{
    fpemu_format f = lh_parsed("fp16");
    const double inputs[] = {65512, 65520, 65528, 65536, 1e38};
    const unsigned ups_of_256[] = {64, 128, 192, 256, 256};
    for (int i = 0; i < 5; i++) {
        fpemu_rounding r = fpemu_rounding_stochastic(8, 9);
        r.bits = 8;
        unsigned seen[256] = {0}, ups = 0, found = 0;
        for (uint64_t j = 0; found < 256 && j < 1000000; j++) {
            uint32_t random = lh_bits(FPEMU_GENERATOR_HASH, 8, 9, j, 8);
            if (seen[random]++)
                continue;
            found++;
            ups += isinf(fpemu_quantize_one_f32(&f, &r, (float)inputs[i], j)) != 0;
        }
        lh_check(ups == ups_of_256[i], "cpfloat-sr-overflow: %g overflows %u times of 256, expected %u", inputs[i], ups,
                 ups_of_256[i]);
        r.mode = FPEMU_MODE_SE;
        for (uint64_t j = 0; j < 100 && i > 2; j++)
            lh_check(isinf(fpemu_quantize_one_f32(&f, &r, (float)inputs[i], j)), "cpfloat-se-overflow: %g", inputs[i]);
    }
    /* QPyTorch: in fixed point r = 0 moved an odd value */
    lh_check(fpemu_format_parse("fixed(8,4)", &f, NULL) == FPEMU_OK, "fixed(8,4)");
    fpemu_rounding r = fpemu_rounding_stochastic(8, 9);
    r.bits = 1;
    for (uint64_t j = 0; j < 1000; j++)
        lh_check(fpemu_quantize_one_f32(&f, &r, 0.0625f * (float)(j % 128), j) == 0.0625f * (float)(j % 128),
                 "qpytorch-fixed-sr: a value moved");
}

/* FlexFloat #14, PR #11: codes of powers of two among the subnormals, and of zero. */
static void codes(void)
{
    const struct {
        const char *spec;
        double x;
        uint64_t code;
    } all[] =
        LIST({"fp16", 0x1p-24, 1}, {"fp16", 0x1p-15, 0x200}, {"fp16", 0.0, 0}, {"fp16", -0.0, 0x8000},
             {"e5m2", 0x1p-16, 1}, {"e4m3fn", 448, 0x7e}, {"e4m3fnuz", -0.0, 0}, {"e4m3fnuz", NAN, 0x80},
             {"e2m1", -6, 0xf}, {"e8m0", 0x1p-127, 0}, {"e8m0", 1, 127}, {"bf16", NAN, 0x7fc0}, {"fp16", NAN, 0x7e00},
             {"e5m2", -NAN, 0x7f}, {"dlfloat16", INFINITY, 0x7fff}, {"posit(8,2)", NAN, 0x80}, {"posit(8,2)", 1, 0x40},
             {"int8", -128, 0x80}, {"e2m1", NAN, 7}, {"fixed(8,4)", -0.0625, 0xff});
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        fpemu_rounding r = fpemu_rounding_nearest();
        fpemu_format f = lh_parsed(all[i].spec);
        uint64_t code = fpemu_encode_one_f64(&f, &r, all[i].x, 0);
        lh_check(code == all[i].code, "codes: %s %a is %llx, expected %llx", all[i].spec, all[i].x,
                 (unsigned long long)code, (unsigned long long)all[i].code);
    }
}

/* TransformerEngine #2107: an underflow is an underflow when it gives -0, and -0 itself is none. */
static void counts(void)
{
    fpemu_format f;
    fpemu_stats s = {0};
    fpemu_rounding r = fpemu_rounding_nearest();
    float x[6] = {-1e-30f, 1e-30f, -0.0f, 0.0f, 1.0f, -2.0f}, y[6];
    lh_check(fpemu_format_parse("e4m3fn", &f, NULL) == FPEMU_OK, "e4m3fn");
    lh_check(fpemu_quantize_f32(&f, &r, 6, x, y, &s) == FPEMU_OK && s.underflow == 2 && s.inexact == 2,
             "transformer-engine-#2107: %llu underflows", (unsigned long long)s.underflow);
}

/* CPFloat H: a word that is no format is accepted. */
static void nonsense(void)
{
    fpemu_format f;
    fpemu_rounding r;
    lh_check(fpemu_format_parse("nonsense", &f, NULL) == FPEMU_ERROR_SPEC, "cpfloat-H: nonsense is a format");
    lh_check(fpemu_rounding_parse("nonsense", &r, NULL) == FPEMU_ERROR_SPEC, "cpfloat-H: nonsense is a rounding");
}

int main(void)
{
    values();
    nan_payloads();
    deep_subnormals();
    stochastic_overflow();
    codes();
    counts();
    nonsense();
    return lh_report("peers");
}
