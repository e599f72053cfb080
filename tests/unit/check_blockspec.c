/* SPDX-License-Identifier: BSD-2-Clause */
/* check_blockspec.c - blocked and codebook formats: tables worked out again, constructors, refusals, queries. Their
 * texts are in check_spec.c. */

#include "suite.h"

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
    REFUSES(FORMAT, fpemu_format_table(&g, 1, good), fpemu_format_table(&g, 65537, good));
    REFUSES(NULL, fpemu_format_table(&g, 5, NULL), fpemu_format_table(NULL, 5, good),
            fpemu_format_codebook(NULL, FPEMU_CODEBOOK_NF4, 4));
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
    static const char *const rules[] = {"none",   "floor",      "ceil",     "even",       "rceil",       "hbfp",
                                        "absmax", "nvfp4",      "nvfp4-ao", "recipe",     "recipe-pow2", "muppet",
                                        "s2fp8",  "reciprocal", "4over6",   "4over6-mse", "nvfp4-clamp", "pairs",
                                        "hif4",   "asymmetric", "minmax",   "tinygemm",   "hqq",         "ggml-1",
                                        "ggml-0", "eden",       "ggml-1k",  "ggml-0k",    "absmean"};
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
                        REQUIRE(round_trip(spec, text), "%s: refused", spec);
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
                        const double levels =
                            rule == FPEMU_SCALING_PAIRS ? (shapes[b].length + 1) / 2
                            : rule == FPEMU_SCALING_ASYMMETRIC || rule == FPEMU_SCALING_MINMAX ? element.bits
                            : rule == FPEMU_SCALING_GGML_1K /* both numbers once in eight blocks */
                                ? 12 + scale.bits / 4.0 - scale.bits
                                : rule > FPEMU_SCALING_MINMAX && rule < FPEMU_SCALING_GGML_0 ? scale.bits : 0;
                        const double width = levels + (!scales[s]                    ? exponent
                                                       : rule == FPEMU_SCALING_S2FP8 ? 0
                                                                                     : scale.bits);
                        const double bits = element.bits + (per_block > 0 ? width / per_block : 0);
                        REQUIRE(fpemu_format_bits_per_element(&f) == bits, "%s: %g bits", spec,
                                fpemu_format_bits_per_element(&f));
                    }
    ck_assert_int_gt(good, 4000);
}
END_TEST

/* The table of doc/blocks.md, section 8, typed in. */
START_TEST(named)
{
#define ROW(spec, element, scale, rule, exponent, block, rows, length, bits)                                           \
    {                                                                                                                  \
        spec, element, scale, FPEMU_SCALING_##rule, exponent, FPEMU_BLOCK_##block, rows, length, bits                  \
    }
    static const struct {
        const char *spec, *element, *scale; /* scale NULL: a power of two of so many bits */
        fpemu_scaling rule;
        uint32_t exponent;
        fpemu_block block;
        uint32_t rows, length;
        double bits; /* per element; 0: not said */
    } rows[] = LIST(
        ROW("mxfp8", "e4m3fn", "e8m0", FLOOR, 0, RUN, 0, 32, 0),
        ROW("mxfp8_e4m3", "e4m3fn", "e8m0", FLOOR, 0, RUN, 0, 32, 8.25),
        ROW("mxfp8_e5m2", "e5m2", "e8m0", FLOOR, 0, RUN, 0, 32, 8.25),
        ROW("mxfp6_e2m3", "e2m3", "e8m0", FLOOR, 0, RUN, 0, 32, 6.25),
        ROW("mxfp6_e3m2", "e3m2", "e8m0", FLOOR, 0, RUN, 0, 32, 6.25),
        ROW("mxfp4", "e2m1", "e8m0", FLOOR, 0, RUN, 0, 32, 4.25),
        ROW("mxint8", "fixed(8,6):symmetric", "e8m0", FLOOR, 0, RUN, 0, 32, 8.25),
        ROW("nvfp4", "e2m1", "e4m3fn", NVFP4, 0, RUN, 0, 16, 4.5),
        ROW("msfp12", "fixed(4,3):symmetric", NULL, HBFP, 8, RUN, 0, 16, 4.5),
        ROW("msfp16", "fixed(8,7):symmetric", NULL, HBFP, 8, RUN, 0, 16, 8.5),
        ROW("nf4", "table(nf4)", "fp32", ABSMAX, 0, RUN, 0, 64, 4.5),
        ROW("s2fp8", "e5m2", "fp32", S2FP8, 0, TENSOR, 0, 0, 8),
        ROW("mx(e3m2)", "e3m2", "e8m0", FLOOR, 0, RUN, 0, 32, 0),
        ROW("mx(e4m3fn,block=16,scale=e5m2,rule=even)", "e4m3fn", "e5m2", EVEN, 0, RUN, 0, 16, 0),
        ROW("bfp(7)", "fixed(8,7):symmetric", NULL, FLOOR, 8, RUN, 0, 16, 0),
        ROW("bfp(m=10,block=row,exponent=12,rule=rceil)", "fixed(11,10):symmetric", NULL, RCEIL, 12, ROW, 0, 0, 0),
        ROW("hbfp(8)", "fixed(9,8):symmetric", NULL, HBFP, 12, TENSOR, 0, 0, 0),
        ROW("hbfp(4,block=24x24,exponent=10)", "fixed(5,4):symmetric", NULL, HBFP, 10, TILE, 24, 24, 0),
        ROW("bm(2,5)", "float(2,5,bias=2,specials=finite)", NULL, FLOOR, 8, RUN, 0, 32, 8.25),
        ROW("bm(4,3,block=channel)", "float(4,3,bias=8,specials=finite)", NULL, FLOOR, 8, CHANNEL, 0, 0, 0),
        ROW("nvfp4(block=16x16)", "e2m1", "e4m3fn", NVFP4, 0, TILE, 16, 16, 0),
        ROW("nvfp4(rule=nvfp4-ao)", "e2m1", "e4m3fn", NVFP4_AO, 0, RUN, 0, 16, 0),
        ROW("nvfp4(rule=4over6-mse)", "e2m1", "e4m3fn", 4OVER6_MSE, 0, RUN, 0, 16, 0),
        ROW("amdfp4", "e2m1", "ue5m3", NVFP4_CLAMP, 0, RUN, 0, 16, 0),
        ROW("nvfp4(rule=eden)", "e2m1", "e4m3fn", EDEN, 0, RUN, 0, 16, 0),
        ROW("mx9", "fixed(8,6):symmetric", "e8m0", PAIRS, 0, RUN, 0, 16, 9),
        ROW("mx6", "fixed(5,3):symmetric", "e8m0", PAIRS, 0, RUN, 0, 16, 6),
        ROW("mx4", "fixed(3,1):symmetric", "e8m0", PAIRS, 0, RUN, 0, 16, 4),
        ROW("hif4", "fixed(4,2):symmetric", "ue6m2", HIF4, 0, RUN, 0, 64, 4.5),
        ROW("group(int12)", "int12:symmetric", "fp32", ABSMAX, 0, RUN, 0, 2048, 0),
        ROW("group(int4,128,scale=bf16)", "int4:symmetric", "bf16", ABSMAX, 0, RUN, 0, 128, 0),
        ROW("q8_0", "int8:symmetric", "fp16", RECIPROCAL, 0, RUN, 0, 32, 8.5),
        ROW("q4_0", "int4", "fp16", GGML_0, 0, RUN, 0, 32, 4.5),
        ROW("q5_1", "uint(5)", "fp16", GGML_1, 0, RUN, 0, 32, 6),
        ROW("q4_k", "uint4", "fp16", GGML_1K, 0, RUN, 0, 32, 4.5),
        ROW("q5_k", "uint(5)", "fp16", GGML_1K, 0, RUN, 0, 32, 5.5),
        ROW("q6_k", "int(6)", "fp16", GGML_0K, 0, RUN, 0, 16, 6.5625),
        ROW("group(uint4,64,rule=asymmetric)", "uint4", "fp32", ASYMMETRIC, 0, RUN, 0, 64, 4.5625),
        ROW("group(int2,tensor,rule=absmean)", "int2:symmetric", "fp32", ABSMEAN, 0, TENSOR, 0, 0, 0),
        ROW("group(int4,16,scale=e4m3fn,rule=reciprocal)", "int4:symmetric", "e4m3fn", RECIPROCAL, 0, RUN, 0, 16, 0),
        ROW("codebook(dynamic8)", "table(dynamic8)", "fp32", ABSMAX, 0, RUN, 0, 256, 0),
        ROW("codebook(udynamic4,2048)", "table(udynamic4)", "fp32", ABSMAX, 0, RUN, 0, 2048, 0),
        ROW("scaled(e4m3fn)", "e4m3fn", "fp32", RECIPE, 0, TENSOR, 0, 0, 0),
        ROW("scaled(e5m2,block=row,rule=recipe-pow2)", "e5m2", "fp32", RECIPE_POW2, 0, ROW, 0, 0, 0),
        ROW("muppet(8)", "int8", NULL, MUPPET, 10, TENSOR, 0, 0, 0),
        ROW("muppet(14,block=row,exponent=8)", "int(14)", NULL, MUPPET, 8, ROW, 0, 0, 0),
        ROW("s2fp8(e4m3fn)", "e4m3fn", "fp32", S2FP8, 0, TENSOR, 0, 0, 0));
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *const spec = rows[i].spec;
        const fpemu_format f = format_of(spec), element = format_of(rows[i].element);
        fpemu_format scale, g;
        if (rows[i].scale)
            scale = format_of(rows[i].scale);
        GIVES_OK(fpemu_format_blocked(&g, &element, rows[i].rule, rows[i].scale ? &scale : NULL, rows[i].exponent,
                                      rows[i].block, rows[i].rows, rows[i].length));
        REQUIRE(memcmp(&f, &g, sizeof f) == 0, "%s", spec);
        REQUIRE(rows[i].bits == 0 || fpemu_format_bits_per_element(&f) == rows[i].bits, "%s", spec);
    }
}
END_TEST

static void spoiled(fpemu_format *f, const char *why)
{
    static const fpemu_format zero;
    REQUIRE(fpemu_format_complete(f) == FPEMU_ERROR_FORMAT && memcmp(f, &zero, sizeof zero) == 0, "%s", why);
}

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
    REFUSES(NULL, fpemu_format_element(&element, NULL), fpemu_format_scale(NULL, &g));
    REFUSES(FORMAT, fpemu_format_scale(&zero, &g));
    REFUSES(NULL, fpemu_format_scale(&blocked, NULL),
            fpemu_format_blocked(NULL, &element, FPEMU_SCALING_FLOOR, &scale, 0, FPEMU_BLOCK_RUN, 0, 32));
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
#define SPOILED(base, change) (f = (base), change, spoiled(&f, #base ": " #change))
    const fpemu_format nvfp4 = format_of("nvfp4"), bfp = format_of("bfp(7)"), table = format_of("table(nf4)");
    EACH(SPOILED(element, f.block = 1), SPOILED(element, f.block_length = 1), SPOILED(element, f.margin = 1),
         SPOILED(element, f.codebook = 1), SPOILED(element, f.codebook_length = 16), SPOILED(element, f.table_word = 1),
         SPOILED(table, f.codebook = 4), SPOILED(table, f.bits = 5), SPOILED(table, f.codebook = 0),
         SPOILED(table, f.wrap = 1), SPOILED(table, f.symmetric = 1), SPOILED(blocked, f.scaling = FPEMU_SCALING_COUNT),
         SPOILED(blocked, f.scale_power = 2), SPOILED(blocked, f.scale_mantissa_bits = 24),
         SPOILED(blocked, f.scale_specials = 9), SPOILED(blocked, f.scale_signed = 2), SPOILED(blocked, f.margin = -1),
         SPOILED(element, f.target = 1), SPOILED(blocked, f.target = NAN), SPOILED(blocked, f.target = -448),
         SPOILED(blocked, f.target = (float)blocked.max / 17), SPOILED(blocked, f.target = (float)blocked.max * 17),
         SPOILED(blocked, f.bound = 448), SPOILED(nvfp4, f.bound = 449), SPOILED(nvfp4, f.bound = 0x1p-7f),
         SPOILED(nvfp4, f.bound = NAN), SPOILED(bfp, f.scale_bias = 1), SPOILED(bfp, f.scale_mantissa_bits = 1),
         SPOILED(bfp, f.scale_signed = 1), SPOILED(bfp, f.reserved2[1] = 1), SPOILED(nvfp4, f.correct = 1),
         SPOILED(bfp, f.outer = 1), SPOILED(nvfp4, f.search_last = 256), SPOILED(nvfp4, f.search_first = -256),
         SPOILED(nvfp4, f.search_grid = 1), SPOILED(nvfp4, f.search_error = 1), SPOILED(element, f.search_last = 1),
         SPOILED(nvfp4, f.outer = 2), SPOILED(element, f.outer = 1), SPOILED(bfp, f.reserved3[0] = 1));
    f = table;
    f.codebook_length = 0; /* follows from the width */
    GIVES_OK(fpemu_format_complete(&f));
    ck_assert(memcmp(&f, &table, sizeof f) == 0);
}
END_TEST

int main(void)
{
    return RUN_SUITE("blockspec", NULL, dynamic_tables, nf4_table, tables_of_a_caller, combinations, named,
                     constructor);
}
