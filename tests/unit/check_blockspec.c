/* SPDX-License-Identifier: BSD-2-Clause */
/* check_blockspec.c - blocked and codebook formats: tables worked out again, specs, constructors, refusals, queries. */

#include "suite.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Prints, parses, prints again. */
static void check_round_trip(const fpemu_format *f, const char *what, char text[256])
{
    char again[256];
    fpemu_format g;
    fpemu_parse_error error;
    REQUIRE(fpemu_format_print(f, text, 256) == FPEMU_OK, "%s: print", what);
    REQUIRE(fpemu_format_parse(text, &g, &error) == FPEMU_OK, "%s: %s: at %u: %s", what, text, error.position,
            error.message);
    REQUIRE(memcmp(f, &g, sizeof g) == 0 && fpemu_format_equal(f, &g), "%s and %s differ", what, text);
    REQUIRE(fpemu_format_print(&g, again, 256) == FPEMU_OK && strcmp(text, again) == 0, "%s, then %s", text, again);
}

/* ----------------------------------------------------------------------------------------------------- tables */

/* p/q rounded once to binary32, nearest even: integers of 64 bits hold all that is needed. */
static float ratio(uint64_t p, uint64_t q)
{
    int e = 0;
    while (p < q << 23) {
        p *= 2;
        e--;
    }
    while (p >= q << 24) {
        q *= 2;
        e++;
    }
    uint64_t k = p / q;
    const uint64_t rest = p % q;
    k += 2 * rest > q || (2 * rest == q && (k & 1));
    return (float)ldexp((double)k, e);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* 10^(i-(bits-2)) * (1/10 + 9/10 * (k+1/2)/n) = (2n + 18k + 9) / (20n * 10^(bits-2-i)) */
START_TEST(dynamic_tables)
{
    for (unsigned is_signed = 0; is_signed < 2; is_signed++)
        for (uint32_t bits = 4; bits <= 8; bits++) {
            double want[256], got[256];
            uint64_t codes[256];
            size_t count = 0, n_values;
            uint64_t power = 1;
            for (uint32_t i = bits - 1; i-- > 0; power *= 10) {
                const uint64_t n = UINT64_C(1) << (i + !is_signed);
                for (uint64_t k = 0; k < n; k++) {
                    const double x = (double)ratio(2 * n + 18 * k + 9, 20 * n * power);
                    want[count++] = x;
                    if (is_signed)
                        want[count++] = -x;
                }
            }
            want[count++] = 0;
            want[count++] = 1;
            ck_assert_uint_eq(count, (size_t)1 << bits);
            qsort(want, count, sizeof want[0], ascending);
            fpemu_format f;
            const fpemu_codebook_name name = is_signed ? FPEMU_CODEBOOK_DYNAMIC : FPEMU_CODEBOOK_UDYNAMIC;
            GIVES_OK(fpemu_format_codebook(&f, name, bits));
            ck_assert_uint_eq(f.bits, bits);
            ck_assert_uint_eq(f.is_signed, is_signed);
            GIVES_OK(fpemu_format_enumerate(&f, 256, got, codes, &n_values));
            ck_assert_uint_eq(n_values, count);
            for (size_t i = 0; i < count; i++)
                REQUIRE(want[i] == got[i] && codes[i] == i, "%u bits, value %zu: %a, not %a", bits, i, got[i], want[i]);
        }
    /* the published 8-bit map (Dettmers 2015; bitsandbytes), as printed there */
    const fpemu_format f = format_of("table(dynamic8)"), u = format_of("table(udynamic8)");
    double v[256], w[256];
    size_t count;
    GIVES_OK(fpemu_format_enumerate(&f, 256, v, NULL, &count));
    GIVES_OK(fpemu_format_enumerate(&u, 256, w, NULL, &count));
    ck_assert(v[0] == (double)-0.99296875f && v[127] == 0 && v[128] == (double)5.5e-7f);
    ck_assert(v[254] == (double)0.99296875f && v[255] == 1);
    ck_assert(w[0] == 0 && w[1] == (double)3.25e-7f && w[2] == (double)7.75e-7f && w[3] == (double)2.125e-6f);
    ck_assert(w[253] == (double)0.989453125f && w[254] == (double)0.996484375f && w[255] == 1);
}
END_TEST

START_TEST(nf4_table)
{
    static const char *const published[16] =
        LIST("-1.0", "-0.6961928009986877", "-0.5250730514526367", "-0.39491748809814453", "-0.28444138169288635",
             "-0.18477343022823334", "-0.09105003625154495", "0.0", "0.07958029955625534", "0.16093020141124725",
             "0.24611230194568634", "0.33791524171829224", "0.44070982933044434", "0.5626170039176941",
             "0.7229568362236023", "1.0");
    fpemu_format f;
    double v[16];
    size_t count;
    GIVES_OK(fpemu_format_codebook(&f, FPEMU_CODEBOOK_NF4, 4));
    GIVES_OK(fpemu_format_enumerate(&f, 16, v, NULL, &count));
    for (int i = 0; i < 16; i++)
        ck_assert(v[i] == strtod(published[i], NULL));
    ck_assert(fpemu_format_max(&f) == 1 && fpemu_format_lowest(&f) == -1 && fpemu_format_min_positive(&f) == v[8]);
    ck_assert(f.max_code == 15 && f.lowest_code == 0 && f.has_zero && !f.has_nan && !f.has_negative_zero);
}
END_TEST

START_TEST(tables_of_a_caller)
{
    static const float good[5] = {-3, -0.5f, 0x1p-149f, 7, 0x1.fffffep127f};
    float bad[3] = {1, 2, 3};
    fpemu_format f, g;
    char text[256];
    double v[8];
    uint64_t codes[8];
    size_t count;
    GIVES_OK(fpemu_format_table(&f, 5, good));
    ck_assert_uint_eq(f.bits, 3);
    ck_assert(f.is_signed && !f.has_zero && f.max_code == 4);
    ck_assert(f.max == 0x1.fffffep127 && f.lowest == -3 && f.min_positive == 0x1p-149);
    ck_assert_uint_eq(fpemu_format_value_count(&f), 5);
    ck_assert_uint_eq(fpemu_format_nan_count(&f), 3); /* codes 5, 6, 7 */
    ck_assert_uint_eq(fpemu_format_code_size(&f), 1);
    ck_assert(fpemu_format_fits_f32(&f) && fpemu_format_fits_f64(&f));
    ck_assert(fpemu_format_epsilon(&f) == 0);
    GIVES_OK(fpemu_format_enumerate(&f, 8, v, codes, &count));
    for (size_t i = 0; i < 5; i++)
        ck_assert(v[i] == (double)good[i] && codes[i] == i);
    ck_assert(fpemu_format_next_up(&f, 0) == 0x1p-149 && fpemu_format_next_down(&f, 0) == -0.5 &&
              fpemu_format_next_up(&f, -0.5) == 0x1p-149);
    ck_assert(isnan(fpemu_format_next_down(&f, -3)) && isnan(fpemu_format_next_up(&f, 1e39)));
    ck_assert(fpemu_format_represents(&f, 7) && !fpemu_format_represents(&f, 0) && !fpemu_format_represents(&f, NAN) &&
              !fpemu_format_represents(&f, INFINITY));
    REFUSES(UNSUPPORTED, fpemu_format_print(&f, text, sizeof text));
    float copy[5];
    memcpy(copy, good, sizeof copy);
    GIVES_OK(fpemu_format_table(&g, 5, copy));
    ck_assert_int_eq(fpemu_format_equal(&f, &g), 1);
    copy[3] = 8;
    ck_assert_int_eq(fpemu_format_equal(&f, &g), 0);
    GIVES_OK(fpemu_format_table(&g, 4, good));
    ck_assert_uint_eq(g.bits, 2);
    ck_assert_int_eq(fpemu_format_equal(&f, &g), 0);
    /* a built-in table is not the same format as a copy of it, though it has the same values */
    GIVES_OK(fpemu_format_blocked(&g, &f, FPEMU_SCALING_CEIL, NULL, 8, FPEMU_BLOCK_ROW, 0, 0));
    REFUSES(UNSUPPORTED, fpemu_format_print(&g, text, sizeof text));

    const fpemu_format zero = {0};
    const float wrong[] = {1, -0.0f, NAN, INFINITY, -INFINITY, 3, 2};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        bad[0] = i == 1 || i == 4 ? -5 : 1;
        bad[1] = wrong[i];
        bad[2] = i == 6 ? 2 : 3;
        REFUSES(FORMAT, fpemu_format_table(&g, 3, bad));
        ck_assert(memcmp(&g, &zero, sizeof g) == 0);
    }
    REFUSES(FORMAT, fpemu_format_table(&g, 1, good));
    REFUSES(FORMAT, fpemu_format_table(&g, 65537, good));
    REFUSES(NULL, fpemu_format_table(&g, 5, NULL));
    REFUSES(NULL, fpemu_format_table(NULL, 5, good));
    REFUSES(NULL, fpemu_format_codebook(NULL, FPEMU_CODEBOOK_NF4, 4));
    for (int name = -1; name < 5; name++)
        for (uint32_t bits = 0; bits < 12; bits++) {
            const int exists = name == 1 ? bits == 4 : (name == 2 || name == 3) && bits >= 4 && bits <= 8;
            ck_assert_int_eq(fpemu_format_codebook(&g, (fpemu_codebook_name)name, bits),
                             exists ? FPEMU_OK : FPEMU_ERROR_FORMAT);
        }
    static float most[65536];
    for (int i = 0; i < 65536; i++)
        most[i] = (float)(i - 32768);
    GIVES_OK(fpemu_format_table(&g, 65536, most));
    ck_assert_uint_eq(g.bits, 16);
    ck_assert_uint_eq(fpemu_format_nan_count(&g), 0);
    ck_assert(fpemu_format_represents(&g, 32767) && !fpemu_format_represents(&g, 0.5));
}
END_TEST

/* ------------------------------------------------------------------------------------------------------ specs */

START_TEST(canonical_form)
{
    static const struct {
        const char *spec, *canonical;
    } rows[] = LIST(
        {"mxfp8", "mxfp8_e4m3"}, {"MXFP4", "mxfp4"}, {"mx(e2m1)", "mxfp4"},
        {"mx(e2m1,block=32,scale=e8m0,rule=floor)", "mxfp4"}, {" mx ( fp(2,1,0) , block = 32 ) ", "mxfp4"},
        {"block(e2m1,block=32,scale=e8m0,rule=floor)", "mxfp4"}, {"mx(e2m1,16)", "mx(e2m1,block=16)"},
        {"mx(e2m1,row,e8m0,rceil)", "mx(e2m1,block=row,rule=rceil)"},
        {"mx(e2m1,rule=ceil,block=tensor)", "mx(e2m1,block=tensor,rule=ceil)"},
        {"mx(e2m1,scale=e4m3fn)", "mx(e2m1,scale=e4m3fn)"}, {"mx(e4m3fn,scale=ue8m0)", "mxfp8_e4m3"},
        {"mx(e5m2:flushout,block=16x16)", "mx(e5m2:flushout,block=16x16)"},
        {"mx(e5m2,block=16x16):flushout", "mx(e5m2:flushout,block=16x16)"},
        {"mxfp8_e5m2:flushout", "mxfp8_e5m2:flushout"}, {"mx(e5m2:flushout)", "mxfp8_e5m2:flushout"},
        {"mx(e2m1:saturate)", "mxfp4:saturate"}, {"mx(fixed(8,6):symmetric)", "mxint8"},
        {"mx(fixed(8,6))", "mx(fixed(8,6))"}, {"mx(fixed(8,6)):symmetric", "mxint8"},
        {"mx(int8,rule=even)", "mx(int8,rule=even)"}, {"mx(int12)", "mx(int(12))"},
        {"mx(posit(8,1))", "mx(posit(8,1))"}, {"mx(table(nf4))", "mx(table(nf4))"}, {"nvfp4", "nvfp4"},
        {"nvfp4(e2m1)", "nvfp4"}, {"nvfp4(block=16x16)", "nvfp4(block=16x16)"},
        {"nvfp4(rule=nvfp4-ao)", "nvfp4(rule=nvfp4-ao)"}, {"nvfp4(e2m3,32,ue4m3)", "nvfp4(e2m3,block=32,scale=ue4m3)"},
        {"bfp(3,16,8,hbfp)", "msfp12"}, {"bfp(7,rule=hbfp)", "msfp16"}, {"hbfp(7,16,8)", "msfp16"},
        {"bfp(m=8,block=16)", "bfp(8)"},
        {"bfp(7,block=row,exponent=5,rule=ceil)", "bfp(7,block=row,exponent=5,rule=ceil)"},
        {"bfp(7):nan=zero", "bfp(7):nan=zero"}, {"block(fixed(8,7):symmetric,16,exponent=8,rule=floor)", "bfp(7)"},
        {"block(fixed(8,7),16,exponent=8,rule=floor)", "block(fixed(8,7),block=16,exponent=8,rule=floor)"},
        {"hbfp(8)", "hbfp(8)"}, {"hbfp(8,24x24)", "hbfp(8,block=24x24)"},
        {"bfp(8,24x24,12,hbfp)", "hbfp(8,block=24x24)"}, {"bm(2,5)", "bm(2,5)"},
        {"bm(e=4,m=3,block=48x48)", "bm(4,3,block=48x48)"},
        {"block(float(2,5,2,finite),32,exponent=8,rule=floor)", "bm(2,5)"}, {"group(int12,2048)", "group(int(12))"},
        {"group(int4:symmetric,128)", "group(int4,block=128)"},
        {"group(int8,128,bf16)", "group(int8,block=128,scale=bf16)"}, {"group(uint8)", "group(uint8)"},
        {"group(fixed(8,0))", "group(fixed(8,0))"}, {"group(int(8,scale=0.5))", "group(int(8,scale=0.5))"},
        {"block(int8,2048,scale=fp32,rule=absmax)", "block(int8,block=2048,scale=fp32,rule=absmax)"},
        {"codebook(dynamic8,2048)", "codebook(dynamic8,block=2048)"}, {"codebook(UDynamic4)", "codebook(udynamic4)"},
        {"codebook(nf4,64)", "nf4"}, {"group(table(nf4),64)", "nf4"}, {"nf4", "nf4"}, {"table(nf4)", "table(nf4)"},
        {"table(table=dynamic6):nan=zero", "table(dynamic6):nan=zero"},
        {"codebook(dynamic5):nan=max", "codebook(dynamic5):nan=max"}, {"scaled(e4m3fn)", "scaled(e4m3fn)"},
        {"scaled(e5m2,row,2,recipe-pow2)", "scaled(e5m2,block=row,margin=2,rule=recipe-pow2)"},
        {"block(e4m3fn,tensor,scale=fp32,rule=recipe,margin=1)", "scaled(e4m3fn,margin=1)"}, {"muppet(8)", "muppet(8)"},
        {"muppet(12,exponent=8)", "muppet(12,exponent=8)"}, {"muppet(8):symmetric", "muppet(8):symmetric"},
        {"block(fixed(8,4),tensor,exponent=10,rule=muppet)", "block(fixed(8,4),block=tensor,exponent=10,rule=muppet)"},
        {"s2fp8(e5m2)", "s2fp8"}, {"s2fp8(e4m3fn)", "s2fp8(e4m3fn)"},
        {"block(e5m2,tensor,scale=fp32,rule=s2fp8)", "s2fp8"}, {"msfp12", "msfp12"},
        {"bfp(3,block=4294967295)", "bfp(3,block=4294967295)"}, {"uint1", "uint(1)"}, {"INT32", "int(32)"},
        {"int8", "int8"});
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];
        const fpemu_format f = format_of(rows[i].spec);
        check_round_trip(&f, rows[i].spec, text);
        REQUIRE(strcmp(text, rows[i].canonical) == 0, "%s prints as %s", rows[i].spec, text);
    }
}
END_TEST

START_TEST(bad_specs)
{
    static const struct {
        const char *spec;
        unsigned position;
        const char *message;
    } rows[] = LIST(
        {"mx", 2, "'(' and arguments element="}, {"mx(", 3, "element="}, {"mx()", 3, "element="},
        {"mx(block=32)", 11, "element="}, {"mx(e2m1,)", 8, "argument"}, {"mx(e2m1,block=0)", 14, "block of 1"},
        {"mx(e2m1,block=4294967296)", 14, "block of 1"}, {"mx(e2m1,block=16x0)", 14, "block of 1"},
        {"mx(e2m1,block=16x)", 17, "length of the rows"}, {"mx(e2m1,block=16y16)", 14, "RxC"},
        {"mx(e2m1,block=column)", 14, "channel"}, {"mx(e2m1,exponent=8)", 8, "scale="},
        {"mx(e2m1,scale=int8)", 14, "a float"}, {"mx(e2m1,scale=fp64)", 14, "32 bits"},
        {"mx(e2m1,scale=e4m3fn:saturate)", 14, "policies"}, {"mx(e2m1,scale=e4m3fn:nosub)", 14, "policies"},
        {"mx(e2m1,scale=mxfp4)", 14, "without blocks"},
        {"block(int8,2048,exponent=8,rule=absmax)", 32, "a float as scale with the rule absmax"},
        {"block(e2m1,16,scale=bf16,rule=nvfp4)", 30, "a scale whose largest value"},
        {"nvfp4(e2m1,scale=e8m0,rule=nvfp4-ao)", 27, "a scale whose largest value"},
        {"nvfp4(e2m1,scale=fp32)", 17, "a scale whose largest value"},
        {"mx(e2m1,rule=absmax)", 13, "floor, ceil, even or rceil"}, {"mx(e2m1,rule=flor)", 13, "nvfp4[-ao]"},
        {"mx(e2m1,rule=nvfp4-)", 13, "nvfp4[-ao]"}, {"mx(e2m1,rule=)", 13, "floor"}, {"mx(mxfp4)", 3, "without blocks"},
        {"mx(mx(e2m1))", 3, "without blocks"}, {"mx(mx)", 3, "without blocks"}, {"mx(e2m1:wrap)", 8, "saturate"},
        {"mx(int8:wrap)", 3, "does not wrap"}, {"mx(int8):wrap", 9, "does not wrap"}, {"mx(e2m1", 7, "',' or ')'"},
        {"mx(e2m1 e3m2)", 8, "',' or ')'"}, {"mx(e2m1))", 8, "the end"}, {"mx(posit(8,1),rule=even)", 19, "precision"},
        {"mx(fixed(1,0))", 3, "positive value"}, {"mxfp4(e2m1)", 5, "':' or the end"},
        {"nvfp4(block=row)", 12, "N or RxC"}, {"nvfp4(rule=floor)", 11, "nvfp4 or nvfp4-ao"},
        {"bfp(0)", 4, "word length"}, {"bfp(-1)", 4, "word length"}, {"bfp(60)", 4, "word length"},
        {"bfp(7,exponent=1)", 15, "2 to 12"}, {"bfp(7,exponent=13)", 15, "2 to 12"},
        {"bfp(7,exponent=-9)", 15, "2 to 12"}, {"bfp(7,rule=recipe)", 11, "hbfp"},
        {"bfp(7,scale=e8m0)", 6, "exponent="}, {"hbfp(7,rule=floor)", 7, "exponent="}, {"bm(2)", 4, "m="},
        {"bm(0,5)", 3, "a bias"}, {"mx(element=e2m1,32)", 16, "named argument"}, {"codebook(nf5)", 9, "dynamic8"},
        {"codebook(dynamic9)", 9, "dynamic8"}, {"codebook(dynamic)", 9, "dynamic8"}, {"codebook(e2m1)", 9, "dynamic8"},
        {"table(nf4,3)", 10, "no further"}, {"scaled(e4m3fn,margin=65)", 21, "margin"},
        {"scaled(e4m3fn,margin=-1)", 21, "margin"}, {"scaled(e4m3fn,rule=floor)", 19, "recipe"},
        {"muppet(33)", 7, "1 to 32"}, {"s2fp8(int8)", 6, "a float"}, {"block(e2m1,block=32,rule=floor)", 0, "scale="},
        {"block(e2m1,block=32,scale=e8m0)", 30, "rule="},
        {"block(e2m1,block=32,scale=e8m0,exponent=8,rule=floor)", 40, "one of them"},
        {"block(e2m1,block=32,scale=bf16,rule=recipe)", 36, "fp32"},
        {"block(e2m1,block=32,exponent=8,rule=recipe)", 36, "fp32"},
        {"block(e2m1,block=32,exponent=8,rule=nvfp4)", 36, "a float"},
        {"block(e2m1,block=32,scale=e8m0,rule=floor,margin=1)", 49, "margin"},
        {"block(int8,block=32,scale=e8m0,rule=muppet)", 36, "power of two"},
        {"block(int(8,scale=0.3),block=32,exponent=8,rule=muppet)", 48, "power of two"},
        {"block(e5m2,block=32,scale=fp32,rule=s2fp8)", 36, "tensor"},
        {"block(e5m2,block=tensor,scale=fp32,rule=none)", 40, "floor"}, {"int33", 3, "1 to 32"}, {"int0", 3, "1 to 32"},
        {"uint99999999999999999999", 4, "1 to 32"}, {"int5x", 0, "format"}, {"sint5", 0, "format"});
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        static const fpemu_format zero;
        fpemu_format f;
        fpemu_parse_error error;
        char text[256] = "";
        const fpemu_status status = fpemu_format_parse(rows[i].spec, &f, &error);
        if (status == FPEMU_OK)
            fpemu_format_print(&f, text, sizeof text);
        REQUIRE(status == FPEMU_ERROR_SPEC, "%s: accepted as %s", rows[i].spec, text);
        REQUIRE(memcmp(&f, &zero, sizeof f) == 0, "%s: not zeroed", rows[i].spec);
        REQUIRE(error.position == rows[i].position && strstr(error.message, rows[i].message), "%s: at %u: %s",
                rows[i].spec, error.position, error.message);
    }
}
END_TEST

/* Every combination of element, scale, rule, shape and margin: what the constructor takes prints and reads back, and
 * block(...) takes and refuses the same. */
START_TEST(combinations)
{
    static const char *const elements[] =
        LIST("e2m1", "e4m3fn:flushin", "fp64", "float(2,5,2,finite)", "fixed(8,7):symmetric", "fixed(4,-3):nan=zero",
             "int4", "int(8,scale=0.3,zero=-3)", "int12:symmetric:saturate", "uint8", "posit(16,1)", "table(nf4)",
             "table(udynamic7):nan=max", "e8m0", "fixed(1,0)", "int8:wrap");
    static const char *const scales[] = {
        "e8m0", "fp32", "e4m3fn", "ue4m3", "bf16", "float(11,20)", "p3109(8,3,ue)", "fixed(8,4)",
        "fp64", NULL,   NULL,     NULL,    NULL};
    static const char *const rules[] = {"none",  "floor",    "ceil",   "even",        "rceil",  "hbfp",  "absmax",
                                        "nvfp4", "nvfp4-ao", "recipe", "recipe-pow2", "muppet", "s2fp8", "reciprocal"};
    static const unsigned exponents[] = {8, 12, 2, 13};
    static const struct {
        const char *text;
        fpemu_block block;
        uint32_t rows, length;
    } shapes[] = {{"32", FPEMU_BLOCK_RUN, 0, 32},         {"1", FPEMU_BLOCK_RUN, 0, 1},
                  {"row", FPEMU_BLOCK_ROW, 0, 0},         {"16x32", FPEMU_BLOCK_TILE, 16, 32},
                  {"channel", FPEMU_BLOCK_CHANNEL, 0, 0}, {"tensor", FPEMU_BLOCK_TENSOR, 0, 0}};
    int good = 0;
    for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e++)
        for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++)
            for (int rule = 1; rule < FPEMU_SCALING_COUNT; rule++)
                for (size_t b = 0; b < sizeof shapes / sizeof shapes[0]; b++)
                    for (int margin = 0; margin < 65; margin += 32) {
                        const fpemu_format element = format_of(elements[e]);
                        const unsigned exponent = exponents[s >= 9 ? s - 9 : 0];
                        fpemu_format scale, f, g, back;
                        char spec[256], number[32], text[256];
                        if (scales[s])
                            scale = format_of(scales[s]);
                        fpemu_status status =
                            fpemu_format_blocked(&f, &element, (fpemu_scaling)rule, scales[s] ? &scale : NULL, exponent,
                                                 shapes[b].block, shapes[b].rows, shapes[b].length);
                        if (status == FPEMU_OK && margin) {
                            f.margin = margin;
                            status = fpemu_format_complete(&f);
                        }
                        snprintf(number, sizeof number, "%u", exponent);
                        snprintf(spec, sizeof spec, "block(%s,block=%s,%s=%s,rule=%s,margin=%d)", elements[e],
                                 shapes[b].text, scales[s] ? "scale" : "exponent", scales[s] ? scales[s] : number,
                                 rules[rule], margin);
                        const fpemu_status parsed = fpemu_format_parse(spec, &g, NULL);
                        REQUIRE((status == FPEMU_OK) == (parsed == FPEMU_OK), "%s: %d, constructor %d", spec, parsed,
                                status);
                        if (status)
                            continue;
                        good++;
                        REQUIRE(memcmp(&f, &g, sizeof f) == 0, "%s: not what the constructor makes", spec);
                        check_round_trip(&f, spec, text);
                        REQUIRE(fpemu_format_element(&f, &back) == FPEMU_OK &&
                                    memcmp(&back, &element, sizeof back) == 0,
                                "%s: element", spec);
                        const int has_scale = scales[s] && rule != FPEMU_SCALING_S2FP8;
                        REQUIRE(fpemu_format_scale(&f, &back) == (has_scale ? FPEMU_OK : FPEMU_ERROR_UNSUPPORTED),
                                "%s: scale", spec);
                        REQUIRE(!has_scale || memcmp(&back, &scale, sizeof back) == 0, "%s: scale", spec);
                        REQUIRE(fpemu_format_max(&f) == fpemu_format_max(&element) &&
                                    fpemu_format_code_size(&f) == fpemu_format_code_size(&element),
                                "%s: element's limits", spec);
                        REQUIRE(fpemu_format_fits_f32(&f) == (fpemu_format_fits_f32(&element) &&
                                                              (!scales[s] || fpemu_format_fits_f32(&scale))) &&
                                    fpemu_format_fits_f64(&f),
                                "%s: fits", spec);
                        const double per_block = shapes[b].rows ? 16 * 32 : shapes[b].length;
                        const double width = !scales[s] ? exponent : rule == FPEMU_SCALING_S2FP8 ? 0 : scale.bits;
                        const double bits = element.bits + (per_block > 0 ? width / per_block : 0);
                        REQUIRE(fpemu_format_bits_per_element(&f) == bits, "%s: %g bits", spec,
                                fpemu_format_bits_per_element(&f));
                    }
    ck_assert_int_gt(good, 4000);
}
END_TEST

START_TEST(named)
{
    static const struct {
        fpemu_name name;
        const char *element;
        const char *scale; /* NULL: a power of two */
        fpemu_scaling scaling;
        uint32_t exponent, length;
        double bits;
    } rows[] = {
        {FPEMU_NAME_MXFP8_E4M3, "e4m3fn", "e8m0", FPEMU_SCALING_FLOOR, 0, 32, 8.25},
        {FPEMU_NAME_MXFP8_E5M2, "e5m2", "e8m0", FPEMU_SCALING_FLOOR, 0, 32, 8.25},
        {FPEMU_NAME_MXFP6_E2M3, "e2m3", "e8m0", FPEMU_SCALING_FLOOR, 0, 32, 6.25},
        {FPEMU_NAME_MXFP6_E3M2, "e3m2", "e8m0", FPEMU_SCALING_FLOOR, 0, 32, 6.25},
        {FPEMU_NAME_MXFP4, "e2m1", "e8m0", FPEMU_SCALING_FLOOR, 0, 32, 4.25},
        {FPEMU_NAME_MXINT8, "fixed(8,6):symmetric", "e8m0", FPEMU_SCALING_FLOOR, 0, 32, 8.25},
        {FPEMU_NAME_NVFP4, "e2m1", "e4m3fn", FPEMU_SCALING_NVFP4, 0, 16, 4.5},
        {FPEMU_NAME_MSFP12, "fixed(4,3):symmetric", NULL, FPEMU_SCALING_HBFP, 8, 16, 4.5},
        {FPEMU_NAME_MSFP16, "fixed(8,7):symmetric", NULL, FPEMU_SCALING_HBFP, 8, 16, 8.5},
        {FPEMU_NAME_NF4, "table(nf4)", "fp32", FPEMU_SCALING_ABSMAX, 0, 64, 4.5},
        {FPEMU_NAME_S2FP8, "e5m2", "fp32", FPEMU_SCALING_S2FP8, 0, 0, 8},
        {FPEMU_NAME_Q8_0, "int8:symmetric", "fp16", FPEMU_SCALING_RECIPROCAL, 0, 32, 8.5},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const fpemu_format element = format_of(rows[i].element);
        fpemu_format scale, f, g;
        if (rows[i].scale)
            scale = format_of(rows[i].scale);
        const char *const name = fpemu_format_name(rows[i].name, 0);
        GIVES_OK(fpemu_format_named(rows[i].name, &f));
        GIVES_OK(fpemu_format_blocked(&g, &element, rows[i].scaling, rows[i].scale ? &scale : NULL, rows[i].exponent,
                                      rows[i].length ? FPEMU_BLOCK_RUN : FPEMU_BLOCK_TENSOR, 0, rows[i].length));
        REQUIRE(memcmp(&f, &g, sizeof f) == 0, "%s", name);
        REQUIRE(fpemu_format_bits_per_element(&f) == rows[i].bits, "%s", name);
    }
}
END_TEST

START_TEST(constructor)
{
    static const fpemu_format zero;
    const fpemu_format element = format_of("e2m1"), scale = format_of("e8m0"), blocked = format_of("mxfp4");
    fpemu_format f = element, g;
    /* the result may be the element or the scale itself */
    GIVES_OK(fpemu_format_blocked(&f, &f, FPEMU_SCALING_FLOOR, &scale, 0, FPEMU_BLOCK_RUN, 0, 32));
    ck_assert_int_eq(fpemu_format_equal(&f, &blocked), 1);
    ck_assert_int_eq(fpemu_format_equal(&f, &element), 0);
    f = scale;
    GIVES_OK(fpemu_format_blocked(&f, &element, FPEMU_SCALING_FLOOR, &f, 0, FPEMU_BLOCK_RUN, 0, 32));
    ck_assert_int_eq(fpemu_format_equal(&f, &blocked), 1);
    GIVES_OK(fpemu_format_element(&f, &f));
    ck_assert_int_eq(fpemu_format_equal(&f, &element), 1);
    f = blocked;
    GIVES_OK(fpemu_format_scale(&f, &f));
    ck_assert_int_eq(fpemu_format_equal(&f, &scale), 1);
    GIVES_OK(fpemu_format_element(&element, &g));
    ck_assert_int_eq(fpemu_format_equal(&g, &element), 1);
    REFUSES(UNSUPPORTED, fpemu_format_scale(&element, &g));
    REFUSES(NULL, fpemu_format_element(NULL, &g));
    REFUSES(FORMAT, fpemu_format_element(&zero, &g));
    REFUSES(NULL, fpemu_format_element(&element, NULL));
    REFUSES(NULL, fpemu_format_scale(NULL, &g));
    REFUSES(FORMAT, fpemu_format_scale(&zero, &g));
    REFUSES(NULL, fpemu_format_scale(&blocked, NULL));
    REFUSES(NULL, fpemu_format_blocked(NULL, &element, FPEMU_SCALING_FLOOR, &scale, 0, FPEMU_BLOCK_RUN, 0, 32));
    g = element;
    REFUSES(NULL, fpemu_format_blocked(&g, NULL, FPEMU_SCALING_FLOOR, &scale, 0, FPEMU_BLOCK_RUN, 0, 32));
    ck_assert(memcmp(&g, &zero, sizeof g) == 0);

#define REFUSED(element, rule, scale, exponent, block, rows, length)                                                   \
    do {                                                                                                               \
        g = blocked;                                                                                                   \
        ck_assert_int_eq(fpemu_format_blocked(&g, element, (fpemu_scaling)(rule), scale, exponent,                     \
                                              (fpemu_block)(block), rows, length),                                     \
                         FPEMU_ERROR_FORMAT);                                                                          \
        ck_assert(memcmp(&g, &zero, sizeof g) == 0);                                                                   \
    } while (0)
    REFUSED(&blocked, FPEMU_SCALING_FLOOR, &scale, 0, FPEMU_BLOCK_RUN, 0, 32);
    REFUSED(&element, FPEMU_SCALING_FLOOR, &blocked, 0, FPEMU_BLOCK_RUN, 0, 32);
    REFUSED(&element, FPEMU_SCALING_FLOOR, &zero, 0, FPEMU_BLOCK_RUN, 0, 32);
    REFUSED(&zero, FPEMU_SCALING_FLOOR, &scale, 0, FPEMU_BLOCK_RUN, 0, 32);
    REFUSED(&element, FPEMU_SCALING_NONE, &scale, 0, FPEMU_BLOCK_RUN, 0, 32);
    REFUSED(&element, FPEMU_SCALING_COUNT, &scale, 0, FPEMU_BLOCK_RUN, 0, 32);
    REFUSED(&element, 256 + FPEMU_SCALING_FLOOR, &scale, 0, FPEMU_BLOCK_RUN, 0, 32);
    REFUSED(&element, FPEMU_SCALING_FLOOR, &scale, 0, 5, 0, 32);
    REFUSED(&element, FPEMU_SCALING_FLOOR, &scale, 0, 256, 0, 32);
    REFUSED(&element, FPEMU_SCALING_FLOOR, &scale, 0, FPEMU_BLOCK_RUN, 0, 0);
    REFUSED(&element, FPEMU_SCALING_FLOOR, &scale, 0, FPEMU_BLOCK_RUN, 1, 32);
    REFUSED(&element, FPEMU_SCALING_FLOOR, &scale, 0, FPEMU_BLOCK_ROW, 0, 32);
    REFUSED(&element, FPEMU_SCALING_FLOOR, &scale, 0, FPEMU_BLOCK_TILE, 0, 32);
    REFUSED(&element, FPEMU_SCALING_FLOOR, &scale, 0, FPEMU_BLOCK_TENSOR, 0, 1);
    REFUSED(&element, FPEMU_SCALING_FLOOR, NULL, 1, FPEMU_BLOCK_RUN, 0, 32);
    REFUSED(&element, FPEMU_SCALING_FLOOR, NULL, 13, FPEMU_BLOCK_RUN, 0, 32);
    REFUSED(&element, FPEMU_SCALING_FLOOR, NULL, 256 + 8, FPEMU_BLOCK_RUN, 0, 32);

    /* by hand, then completed; twice over changes nothing */
    f = blocked;
    GIVES_OK(fpemu_format_complete(&f));
    ck_assert(memcmp(&f, &blocked, sizeof f) == 0);
    f.nan = FPEMU_NAN_ZERO;
    f.block_length = 16;
    GIVES_OK(fpemu_format_complete(&f));
    ck_assert_int_eq(fpemu_format_equal(&f, &blocked), 0);
#define SPOILED(base, change)                                                                                          \
    do {                                                                                                               \
        f = (base);                                                                                                    \
        change;                                                                                                        \
        REFUSES(FORMAT, fpemu_format_complete(&f));                                                                    \
        ck_assert(memcmp(&f, &zero, sizeof f) == 0);                                                                   \
    } while (0)
    const fpemu_format bfp = format_of("bfp(7)"), table = format_of("table(nf4)");
    SPOILED(element, f.block = 1);
    SPOILED(element, f.block_length = 1);
    SPOILED(element, f.margin = 1);
    SPOILED(element, f.codebook = 1);
    SPOILED(element, f.codebook_length = 16);
    SPOILED(element, f.table_word = 1);
    SPOILED(table, f.codebook = 4);
    SPOILED(table, f.bits = 5);
    SPOILED(table, f.codebook = 0); /* no table */
    SPOILED(table, f.wrap = 1);
    SPOILED(table, f.symmetric = 1);
    SPOILED(blocked, f.scaling = FPEMU_SCALING_COUNT);
    SPOILED(blocked, f.scale_power = 2);
    SPOILED(blocked, f.scale_mantissa_bits = 24);
    SPOILED(blocked, f.scale_specials = 9);
    SPOILED(blocked, f.scale_signed = 2);
    SPOILED(blocked, f.margin = -1);
    SPOILED(bfp, f.scale_bias = 1);
    SPOILED(bfp, f.scale_mantissa_bits = 1);
    SPOILED(bfp, f.scale_signed = 1);
    SPOILED(bfp, f.reserved2 = 1);
    SPOILED(bfp, f.reserved3[0] = 1);
    f = table;
    f.codebook_length = 0; /* follows from the width */
    GIVES_OK(fpemu_format_complete(&f));
    ck_assert(memcmp(&f, &table, sizeof f) == 0);
}
END_TEST

START_TEST(different)
{
    static const char *const specs[] =
        LIST("e2m1", "mxfp4", "mx(e2m1,block=16)", "mx(e2m1,block=32x32)", "mx(e2m1,block=16x32)", "mx(e2m1,row)",
             "mx(e2m1,tensor)", "mx(e2m1,rule=ceil)", "mx(e2m1,scale=bf16)", "mx(e2m1,scale=e4m3fn)",
             "mx(e2m1,scale=ue4m3)", "mx(e2m1,scale=e4m3)", "mx(e2m1:nan=zero)", "mx(e2m3)", "bfp(7)",
             "bfp(7,exponent=7)", "scaled(e4m3fn)", "scaled(e4m3fn,margin=1)", "nf4", "codebook(nf4)",
             "codebook(dynamic4)", "codebook(udynamic4)", "table(dynamic4)", "table(dynamic5)", "table(nf4)");
    const size_t n = sizeof specs / sizeof specs[0];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const fpemu_format a = format_of(specs[i]), b = format_of(specs[j]);
            REQUIRE(fpemu_format_equal(&a, &b) == (i == j), "%s and %s", specs[i], specs[j]);
        }
}
END_TEST

/* Good texts with bytes changed, cut out and doubled. */
START_TEST(noise)
{
    static const char *const good[] = LIST(
        "mx(e2m1,block=16,scale=e8m0,rule=rceil)", "bfp(7,block=16x16,exponent=8,rule=hbfp):nan=zero",
        "group(int12,2048)", "codebook(dynamic8,block=channel)", "scaled(float(e=4,m=3),row,margin=2,rule=recipe-pow2)",
        "block(fixed(8,7):symmetric,block=tensor,exponent=8,rule=floor,margin=0)", "nvfp4(block=16x16)", "uint12");
    static const char likely[] = "emfnuzpbias=(),:.0123456789 -x_rowtl";
    random_state = 4;
    int accepted = 0;
    for (int i = 0; i < 100000; i++) {
        static const fpemu_format zero;
        char text[300], canonical[256];
        const char *const from = good[below(sizeof good / sizeof good[0])];
        size_t n = strlen(from);
        memcpy(text, from, n);
        for (uint32_t changes = 1 + below(3); changes > 0 && n > 1; changes--) {
            const size_t at = below((uint32_t)n);
            switch (below(3)) {
            case 0: text[at] = likely[below(sizeof likely - 1)]; break;
            case 1: memmove(text + at, text + at + 1, --n - at); break;
            default: memmove(text + at + 1, text + at, n++ - at); break;
            }
        }
        text[n] = '\0';
        fpemu_format f;
        fpemu_parse_error error;
        if (fpemu_format_parse(text, &f, &error) == FPEMU_OK) {
            accepted++;
            check_round_trip(&f, text, canonical);
        } else {
            REQUIRE(error.position <= n && error.message[0] && memcmp(&f, &zero, sizeof f) == 0, "%s", text);
            REQUIRE(strlen(error.message) < sizeof error.message - 1, "%s: %s", text, error.message);
        }
    }
    ck_assert_int_gt(accepted, 1000);
}
END_TEST

int main(void)
{
    return RUN_SUITE("blockspec", NULL, dynamic_tables, nf4_table, tables_of_a_caller, canonical_form, bad_specs,
                     combinations, named, constructor, different, noise);
}
