/* SPDX-License-Identifier: BSD-2-Clause */
/* check_gemm.c - dot products, gemv, gemm: arguments, text, each model and counter by hand. The judge of models,
 * layouts, batches, calls and threads is tests/against_judges/gemm.c. */
#include "suite.h"

/* ------------------------------------------------------------------------------------------------- matrices */

enum { MOST = 30000 };

static float a32[MOST], b32[MOST], c32[MOST];
static double a64[MOST], b64[MOST], c64[MOST];

static void same_bits(double got, double want, const char *what, size_t i)
{
    if (memcmp(&got, &want, sizeof got) != 0) /* Check takes note of every assertion that holds */
        ck_abort_msg("%s: output %zu is %a, not %a", what, i, got, want);
}

/* alpha times the sum of x y, which is the same number everywhere, plus beta times c. Where a tie decides: numbers of
 * fp16 from 2048 on are even. */
START_TEST(models_by_hand)
{
    static const struct {
        const char *text;
        size_t k;
        float x[5], y;
        double alpha, beta;
        float c, want;
    } rows[] = LIST(
        {"fp32", 3, {1, 2, 3}, 0.5f, 2, 3, 4, 18}, {"fp32", 3, {1, 2, NAN}, 1, 0, 3, 4, 12},
        {"fp32; ab=e4m3fn", 2, {1.0625f, 2}, 1, 1, 0, 7, 3}, {"fp32; out=fp16", 2, {2048, 1}, 1, 1, 0, 7, 2048},
        {"fp32; product=fp16", 1, {1 + 0x1p-10f}, 1 + 0x1p-10f, 1, 0, 7, 1 + 0x1p-9f},
        {"seq(fp16)", 4, {2048, 1, 1, 1}, 1, 1, 0, 7, 2048}, {"seq(fp16/raz)", 2, {2048, 1}, 1, 1, 0, 7, 2050},
        {"seq(fp16); start=c", 1, {1}, 1, 1, 1, 2049, 2048}, {"kahan(fp16); start=c", 2, {1, 1}, 1, 1, 1, 2048, 2050},
        {"chunk(2,fp16,fp32)", 4, {2048, 1, 1, 1}, 1, 1, 0, 7, 2050},
        {"chunk(2,fp16,fp32); start=c", 3, {1, 1, 1}, 1, 1, 1, 4097, 4100},
        {"pairwise(fp16)", 4, {2048, 1, 1, 1}, 1, 1, 0, 7, 2050}, {"pairwise(fp16)", 3, {2048, 1, 1}, 1, 1, 0, 7, 2048},
        {"pairwise(fp16); start=c", 2, {1, 1}, 1, 1, 1, 2048, 2048}, {"kahan(fp16)", 2, {2048, 1}, 1, 1, 0, 7, 2048},
        {"kahan(fp16)", 3, {2048, 1, 1}, 1, 1, 0, 7, 2050}, {"kahan(fp16)", 4, {2048, 1, 1, 1}, 1, 1, 0, 7, 2052},
        {"tc(v100,fp16)", 2, {2048, 0x1p-13f}, 1, 1, 0, 7, 2048},
        {"tc(v100,fp16,fp16)", 2, {2048, 3}, 1, 1, 0, 7, 2052}, {"tc(v100,fp16); start=c", 1, {1}, 1, 1, 1, 2048, 2049},
        {"fused(2,3,fp32,promote=2); ab=fp16", 4, {8, 1.75f, 0.5f, 1}, 1, 1, 0, 7, 10.5f},
        {"fused(2,3,fp32,least=4); ab=fp16", 2, {3, 1}, 1, 1, 0, 7, 2},
        /* 2^24 + 1 - 2^24 exactly, in one chain, in two, by steps of two that the odd product begins */
        {"fused(4,exact,fp32); ab=bf16", 3, {0x1p24f, 1, -0x1p24f}, 1, 1, 0, 7, 1},
        {"fused(4,chained,fp32); ab=bf16", 3, {0x1p24f, 1, -0x1p24f}, 1, 1, 0, 7, 0},
        {"tc(amx,bf16)", 3, {0x1p24f, 1, -0x1p24f}, 1, 1, 0, 7, 1},
        {"tc(cdna2,fp16)", 3, {0x1p15f, 0x1p-10f, -0x1p15f}, 1, 1, 0, 7, 0},
        {"tc(avx512,bf16)", 4, {1, 0x1p24f, -0x1p24f, 1}, 1, 1, 0, 7, 0},
        {"tc(avx512,bf16); start=c", 1, {0}, 1, 1, 1, 0x1p-127f, 0},
        {"fused(1,chained,fp32/rtz,flush); ab=bf16; start=c", 1, {0x1p-76f}, -0x1p-76f, 1, 1, 0x1p-126f, 0},
        {"fused(1,chained,fp32,flush); ab=bf16; start=c", 1, {0x1p-76f}, -0x1p-76f, 1, 1, 0x1p-126f, 0x1p-126f},
        {"fused(1,chained,fp32,flush); ab=bf16; start=c", 1, {0x1.8p-76f}, -0x1p-75f, 1, 1, 0x1p-126f, 0},
        /* past the 53 bits of binary64 */
        {"fused(4,exact,fp32); ab=bf16", 4, {0x1p60f, 1, 1, -0x1p60f}, 1, 1, 0, 7, 2},
        /* c is floored in units of 2^-24: down below zero alone */
        {"tc(cdna3,fp16); start=c", 1, {1}, 1, 1, 1, 0x1p-30f, 1},
        {"tc(cdna3,fp16); start=c", 1, {1}, 1, 1, 1, -0x1p-30f, 1 - 0x1p-24f},
        {"tc(cdna3,e4m3fnuz); start=c", 1, {1}, 1, 1, 1, -0x1p-30f, 1},
        /* products that cancel are aligned as the scales are, here 1: in units of 2^-35 */
        {"tc(b200,mxf4); start=c", 2, {4, -4}, 1, 1, 1, 0x1p-35f, 0x1p-35f},
        /* the first step of four has the products 0 1 4 5 */
        {"fused(4,3,fp32,order=0145); ab=fp16", 5, {8, 0.5f, 1, 0.5f, -8}, 1, 1, 0, 7, 1.5f},
        /* bf16 leaves 2^-8, a tie, to the second piece: both of them as a product are left out, and taken in */
        {"fp32; splits=bf16x3", 1, {1 + 0x1p-8f}, 1 + 0x1p-8f, 1, 0, 7, 1 + 0x1p-7f},
        {"fp32; splits=bf16x6", 1, {1 + 0x1p-8f}, 1 + 0x1p-8f, 1, 0, 7, 1 + 0x1p-7f + 0x1p-16f},
        {"fp32; splits=bf16x3/1", 2, {1 + 0x1p-8f, 1 + 0x1p-8f}, 1 + 0x1p-8f, 1, 0, 7, 2 + 0x1p-6f},
        {"fp32; splits=bf16x3", 1, {INFINITY}, 1, 1, 0, 7, NAN},
        {"fp64; splits=int8x2", 2, {1 + 0x1p-8f, 0x1p-14f}, 1 + 0x1p-8f, 1, 1, 7, 8 + 0x1p-7f},
        {"fp64; splits=int8x2", 2, {INFINITY, 1}, 0, 1, 0, 7, NAN},
        /* 3.515625 + 2 * 0.05859375 is a tie, which sums in bfloat16 pass by */
        {"seq(bf16); ab=e4m3fn; splits=int8x2", 3, {1.875f, 0.03125f, 0.03125f}, 1.875f, 1, 0, 7, 3.625f},
        {"int(8,saturate); ab=int8", 2, {100, 100}, 1, 1, 0, 7, 127},
        {"int(8,wrap); ab=int8", 2, {100, 100}, 1, -1, 0, 7, 56});
    for (size_t i = 0; i < COUNT(rows); i++) {
        const fpemu_gemm_spec s = model_of(rows[i].text);
        for (int way = 0; way < 4; way++) { /* one output goes another way than the second of two */
            const int wide = way & 1, last = way >> 1;
            const fpemu_gemm_shape shape = {.m = 1, .n = (size_t)last + 1, .k = rows[i].k};
            for (size_t k = 0; k < 2 * rows[i].k; k++) {
                a64[k] = (double)(a32[k] = k < rows[i].k ? rows[i].x[k] : 0);
                b64[k] = (double)(b32[k] = rows[i].y);
            }
            c64[last] = c64[0] = (double)(c32[last] = c32[0] = rows[i].c);
            GIVES_OK(wide ? fpemu_gemm_f64(&s, &shape, rows[i].alpha, a64, b64, rows[i].beta, c64, NULL)
                          : fpemu_gemm_f32(&s, &shape, (float)rows[i].alpha, a32, b32, (float)rows[i].beta, c32, NULL));
            same_bits(wide ? c64[last] : (double)c32[last], (double)rows[i].want, rows[i].text, i);
            fpemu_prepared_gemm prepared;
            GIVES_OK(fpemu_prepare_gemm(&prepared, &s, wide ? 64 : 32, NULL));
            c64[last] = c64[0] = (double)(c32[last] = c32[0] = rows[i].c);
            GIVES_OK(fpemu_run_gemm(&prepared, &shape, rows[i].alpha, wide ? (void *)a64 : a32, NULL,
                                    wide ? (void *)b64 : b32, NULL, rows[i].beta, wide ? (void *)c64 : c32, NULL));
            same_bits(wide ? c64[last] : (double)c32[last], (double)rows[i].want, rows[i].text, i);
            c64[0] = (double)(c32[0] = rows[i].c);
            GIVES_OK(fpemu_run_dot(&prepared, rows[i].k, wide ? (void *)a64 : a32, 1, wide ? (void *)b64 : b32, 1,
                                   wide ? (void *)c64 : c32, NULL));
            if (rows[i].alpha == 1 && (rows[i].beta == 0 || s.start_from_c))
                same_bits(wide ? c64[0] : (double)c32[0], (double)rows[i].want, rows[i].text, i);
        }
    }
}
END_TEST

/* ----------------------------------------------------------------------------------------------------- text */

START_TEST(text)
{
    static const char *const canonical[][2] = {
        {"FP32", "seq(fp32)"},
        {"seq( half / RNE )", "seq(fp16)"},
        {"chunk(64,fp(6,9,0),fp(6,9,0)) ; ab = e5m2", "chunk(64,fp(6,9,0)); ab=e5m2"},
        {"chunk(64,fp(6,9,0),fp16/sr)", "chunk(64,fp(6,9,0),fp16/sr)"},
        {"tc(h200, float8_e4m3fn, promote=128, outer=fp32)", "tc(h100,e4m3fn,promote=128)"},
        {"tc(l40s,fp16,fp16); start=c", "tc(a100,fp16,fp16); start=c"},
        {"tc(ada,e5m2); b=e4m3fn", "tc(ada,e5m2); b=e4m3fn"},
        {"fused(4,23,fp32/rtz); ab=fp16", "tc(v100,fp16)"},
        {"fused(4,23,fp32/rtz); a=fp16", "fused(4,23,fp32/rtz); a=fp16"},
        {"fused(32,25,fp32/rtz,least=-133,group=1,scales=e8m0,every=32)",
         "fused(32,25,fp32/rtz,least=-133,group=1,scales=e8m0,every=32)"},
        {"fused(32, chained, fp32, flush, late=1, ways=2); ab=bf16:flushin", "tc(amx,bf16)"},
        {"tc(cdna2,float16)", "tc(cdna2,fp16)"},
        {"fused(32,chained,fp32,ways=2,late=1,flush); ab=fp16", "tc(amx,fp16)"},
        {"fused(4,exact,fp32); ab=fp16", "tc(cdna1,fp16)"},
        {"fused(2,exact,fp32); ab=bf16", "tc(cdna1,bf16)"},
        {"fused(4,chained,fp32,ways=4,late=1,flush); ab=bf16:flushin", "tc(cdna2,bf16)"},
        {"fused(8,24,fp32,late=31); ab=fp16", "tc(cdna3,fp16)"},
        {"fused(4,24,fp32,late=31); ab=tf32", "tc(cdna3,tf32)"},
        {"fused(16,24,fp32,ways=2,late=31); ab=e5m2fnuz", "tc(cdna3,e5m2fnuz)"},
        {"fused(2,chained,fp32,order=1032,flush); ab=bf16:flushin", "tc(avx512,bf16)"},
        {"fused(2,chained,fp32,ways=2,late=1,flush); ab=bf16:flushin", "tc(cdna2old,bf16)"},
        {"FP32; splits = BF16x9 / 16; ab=bf16", "seq(fp32); splits=bf16x9/16"},
        {"tc(amx,bf16); splits=bf16x6; start=c", "tc(amx,bf16); splits=bf16x6; start=c"},
        {"fp64; splits=int8x18; out=fp16", "seq(fp64); out=fp16; splits=int8x18"},
        {"tc(cdna3,e5m2fnuz,promote=32); b=e4m3fnuz", "tc(cdna3,e5m2fnuz,promote=32); b=e4m3fnuz"},
        {"tc(b200,mxfp6_e2m3)", "tc(b200,mxf8f6f4); ab=e2m3"},
        {"tc(b200,nvfp4)", "tc(b200,mxf4nvf4)"},
        {"tc(b200, mxf4nvf4, scales=float(5,3,15,fn,0), every=32)", "tc(b200,mxf4,scales=ue5m3)"},
        {"tc(b200,mxf4nvf4,scales=e8m0)", "tc(b200,mxf4,every=16)"},
        {"fused(8,exact,fp32,order=1032); ab=e5m2", "fused(8,exact,fp32,order=1032); ab=e5m2"},
        {"fused(8,20,fp32,group=8,every=8,scales=e8m0); ab=e2m1",
         "fused(8,20,fp32,group=8,scales=e8m0,every=8); ab=e2m1"},
        {"fused(4,23,fp32/rtz,least=-9,promote=8); ab=fp16", "fused(4,23,fp32/rtz,least=-9,promote=8); ab=fp16"},
        {"int(32, wrap); a=fixed(8,4); b=int(8,scale=0.5)", "int(32,wrap); a=fixed(8,4); b=int(8,scale=0.5)"},
        {"kahan(bf16/stochastic); product=fp16; out=e4m3fn:saturate",
         "kahan(bf16/sr); product=fp16; out=e4m3fn:saturate"},
    };
    static const struct {
        const char *text;
        uint32_t position;
    } wrong[] = LIST(
        {"", 0}, {"sequence(fp16)", 0}, {"seq(fp17)", 4}, {"seq(fp16", 8}, {"seq(fp16/up)", 9}, {"chunk(0,fp16)", 6},
        {"tc(k80,fp16)", 3}, {"tc(v100,bf16)", 8}, {"int(32)", 6}, {"int(1,wrap)", 4}, {"seq(fp16); c=fp16", 11},
        {"seq(fp16); ab=fp16; a=fp16", 20}, {"fp32 fp32", 5}, {"tc(h100,fp16,promote=17)", 13}, {"seq(fp(6,9))", 10},
        {"tc(b200,mxf4,promote=64)", 12}, {"tc(h100,mxf4)", 8}, {"tc(amx,fp16,fp16)", 7},
        {"fused(4,24,fp32,ways=2)", 15}, {"fused(4,24,fp32,flush)", 15}, {"fused(4,24,fp32,group=2)", 15},
        {"fused(4,chained,fp32,least=-9)", 20}, {"fused(4,24,fp32,order=12)", 22}, {"fused(5,24,fp32,order=1032)", 15},
        {"fused(4,24,fp32,scales=e8m0,every=4)", 15}, {"fp32; splits=bf16x4", 13}, {"fp64; splits=int8x19", 18},
        {"fp64; splits=int8x", 18}, {"fp32; splits=tf32x3/0", 20}, {"fp32; splits=bf16x3; splits=bf16x3", 21});
    char got[1024];
    fpemu_parse_error e;
    fpemu_gemm_spec s;
    for (size_t i = 0; i < sizeof canonical / sizeof canonical[0]; i++) {
        s = model_of(canonical[i][0]);
        GIVES_OK(fpemu_gemm_print(&s, got, sizeof got));
        ck_assert_str_eq(got, canonical[i][1]);
        s = model_of(got);
        REFUSES(BUFFER, fpemu_gemm_print(&s, got, strlen(got)));
        GIVES_OK(fpemu_gemm_print(&s, got, strlen(canonical[i][1]) + 1));
        ck_assert_str_eq(got, canonical[i][1]);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        static const fpemu_gemm_spec nothing;
        REFUSES(SPEC, fpemu_gemm_parse(wrong[i].text, &s, &e));
        ck_assert_msg(e.position == wrong[i].position, "%s: at %u: %s", wrong[i].text, e.position, e.message);
        ck_assert_int_eq(memcmp(&s, &nothing, sizeof s), 0);
    }
    s = model_of("int(32,wrap)"); /* numbers that no model has */
    s.sum.width = 0;
    REFUSES(ARGUMENT, fpemu_gemm_print(&s, got, sizeof got));
    s = model_of("chunk(64,fp16)");
    s.sum.chunk = 0;
    REFUSES(ARGUMENT, fpemu_gemm_print(&s, got, sizeof got));
    char long_text[1100];
    memset(long_text, ' ', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    REFUSES(SPEC, fpemu_gemm_parse(long_text, &s, &e));
    ck_assert_uint_eq(e.position, 1023);
    REFUSES(NULL, fpemu_gemm_parse(NULL, &s, NULL), fpemu_gemm_parse("fp32", NULL, NULL));
    static const char *const long_sums[] = {"chunk(3000000000,fp16)", "tc(h100,fp16,promote=4294967280)"};
    for (size_t i = 0; i < sizeof long_sums / sizeof *long_sums; i++) {
        GIVES_OK(fpemu_gemm_parse(long_sums[i], &s, NULL));
        ck_assert_uint_eq(s.sum.chunk, i ? 4294967280u : 3000000000u);
        GIVES_OK(fpemu_gemm_print(&s, got, sizeof got));
        ck_assert_str_eq(got, long_sums[i]);
    }
    s.sum.chunk = 20; /* no multiple of 16 products */
    REFUSES(ARGUMENT, fpemu_gemm_check(&s, 32, NULL), fpemu_gemm_print(&s, got, sizeof got));
    s.sum.chunk = 32;
    s.sum.least_exponent = 701;
    REFUSES(ARGUMENT, fpemu_gemm_check(&s, 32, NULL), fpemu_gemm_print(&s, got, sizeof got));
}
END_TEST

/* ------------------------------------------------------------------------------------------------- arguments */

/* What specs are refused is in check_why.c too. */
static void refuses(const fpemu_gemm_spec *s, fpemu_status status)
{
    const fpemu_gemm_shape shape = {.m = 2, .n = 2, .k = 2};
    float c[4] = {7, 7, 7, 7}, r = 7;
    double d = 7;
    fpemu_prepared_gemm prepared;
    ck_assert_int_eq(fpemu_prepare_gemm(&prepared, s, 32, NULL), status);
    ck_assert_int_eq(fpemu_run_dot(&prepared, 2, a32, 1, b32, 1, &r, NULL), FPEMU_ERROR_ARGUMENT);
    ck_assert_int_eq(fpemu_run_gemm(&prepared, &shape, 1, a32, NULL, b32, NULL, 1, c, NULL), FPEMU_ERROR_ARGUMENT);
    ck_assert_int_eq(fpemu_gemm_f32(s, &shape, 1, a32, b32, 1, c, NULL), status);
    ck_assert_int_eq(fpemu_gemv_f32(s, FPEMU_ORDER_ROW_MAJOR, 0, 2, 2, 1, a32, 0, b32, 1, 1, c, 1, NULL), status);
    ck_assert_int_eq(fpemu_dot_f32(s, 2, a32, 1, b32, 1, &r, NULL), status);
    ck_assert_int_eq(fpemu_dot_f64(s, 2, a64, 1, b64, 1, &d, NULL), status);
    ck_assert_int_eq(fpemu_gemm_check(s, 32, NULL), status);
    ck_assert(r == 7.0f && d == 7.0 && c[0] == 7.0f && c[3] == 7.0f);
}

/* The last of three additions of a tree rounds 2049, a tie, by its number, 2: doc/accumulation.md, 1.1. */
START_TEST(random_words_of_a_tree)
{
    enum { OUTPUTS = 32 };
    const fpemu_gemm_spec s = model_of("pairwise(fp16/sr)");
    const fpemu_gemm_shape shape = {.m = 1, .n = OUTPUTS, .k = 4};
    const float a[4] = {2048, 0, 1, 0};
    fpemu_rounding r = s.sum.inner.rounding;
    uint64_t z = r.stream + 3 * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    r.stream = z ^ z >> 31;
    for (size_t i = 0; i < 4 * OUTPUTS; i++)
        b32[i] = 1;
    GIVES_OK(fpemu_gemm_f32(&s, &shape, 1, a, b32, 0, c32, NULL));
    for (size_t j = 0; j < OUTPUTS; j++)
        same_bits((double)c32[j], (double)fpemu_quantize_one_f32(&s.sum.inner.format, &r, 2049, j), "pairwise", j);
}
END_TEST

/* A format with scales or a table rounds no single number: refused as a target of sums, products and results by every
 * model, read from text or made as a struct. Plain formats of every kind are taken, or refused for another reason. */
START_TEST(blocks_are_no_targets)
{
    static const char *const blocked[] =
        LIST("mxfp4", "mxint8", "nvfp4", "nf4", "codebook(dynamic8)", "group(int8,128)", "scaled(e4m3fn)", "bfp(8)",
             "hbfp(4)", "msfp12", "bm(2,3)", "muppet(8)", "s2fp8", "mx(fixed(8,6),block=16)",
             "block(int8,block=4,exponent=8,rule=floor)");
    static const char *const texts[] =
        LIST("seq(%s)", "pairwise(%s)", "kahan(%s)", "chunk(8,%s)", "chunk(8,fp32,%s)", "fused(4,23,%s); ab=fp16",
             "fused(4,23,fp32,promote=8,outer=%s); ab=fp16", "tc(h100,e4m3fn,promote=128,outer=%s)", "fp32; product=%s",
             "fp32; out=%s", "int(32,wrap); ab=int8; out=%s", "tc(v100,fp16); out=%s", "chunk(8,fp32); product=%s");
    static const char *const taken[] = {"fp16", "e4m3fn:saturate", "posit(16,1)", "fixed(16,8)", "int8", "ufixed(8,4)"};
    char text[256], back[1024];
    fpemu_gemm_spec s;
    fpemu_parse_error error;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        const size_t before = (size_t)(strchr(texts[t], '%') - texts[t]);
        for (size_t f = 0; f < sizeof blocked / sizeof *blocked; f++) {
            snprintf(text, sizeof text, texts[t], blocked[f]);
            ck_assert_msg(fpemu_gemm_parse(text, &s, &error) == FPEMU_ERROR_UNSUPPORTED, "%s", text);
            ck_assert_uint_eq(error.position, before);
            fpemu_target refused;
            memset(&refused, 0, sizeof refused);
            GIVES_OK(fpemu_format_parse(blocked[f], &refused.format, NULL));
            snprintf(text, sizeof text, texts[t], "fp32");
            s = model_of(text);
            fpemu_target *const all[] = {&s.product, &s.out, &s.sum.inner, &s.sum.outer};
            for (int i = 0; i < 4; i++) {
                s = model_of(text);
                *all[i] = refused;
                refuses(&s, FPEMU_ERROR_UNSUPPORTED);
                REFUSES(UNSUPPORTED, fpemu_gemm_check(&s, 64, NULL), fpemu_gemm_print(&s, back, sizeof back));
            }
        }
        for (size_t f = 0; f < sizeof taken / sizeof *taken; f++) {
            snprintf(text, sizeof text, texts[t], taken[f]);
            ck_assert_msg(fpemu_gemm_parse(text, &s, &error) == FPEMU_OK, "%s: %s", text, error.message);
        }
    }
}
END_TEST

START_TEST(specs_refused)
{
    refuses(NULL, FPEMU_ERROR_NULL);
    fpemu_gemm_spec s;
    memset(&s, 0, sizeof s);
    refuses(&s, FPEMU_ERROR_ARGUMENT);
    s = model_of("fp32");
    s.reserved1[6] = 1;
    refuses(&s, FPEMU_ERROR_ARGUMENT);
    s = model_of("fp32");
    s.sum.reserved1[3] = 1;
    refuses(&s, FPEMU_ERROR_ARGUMENT);
    s = model_of("fp64; splits=int8x8");
    REFUSES(ARGUMENT, fpemu_dot_f64(&s, (1 << 29) + 1, a64, 1, b64, 1, c64, NULL));
    for (int i = 0; i < 3; i++) {
        s = model_of("fp64; splits=int8x8");
        s.splits = i ? s.splits : FPEMU_SPLITS_COUNT;
        s.slices = i == 1 ? 1 : s.slices;
        s.split_block = i == 2;
        refuses(&s, FPEMU_ERROR_ARGUMENT);
        REFUSES(ARGUMENT, fpemu_gemm_print(&s, (char[99]){""}, 99));
    }
    s = model_of("fp32; splits=bf16x3");
    memset(&s.b, 0, sizeof s.b); /* read back, it would be bf16 */
    REFUSES(UNSUPPORTED, fpemu_gemm_print(&s, (char[99]){""}, 99));
    s = model_of("fp32");
    s.product.rounding.mode = 3; /* neither none nor a format */
    refuses(&s, FPEMU_ERROR_FORMAT);
    s = model_of("fp32");
    s.sum.inner.rounding.mode = FPEMU_MODE_COUNT;
    refuses(&s, FPEMU_ERROR_ROUNDING);
    s = model_of("fp32");
    s.sum.inner.rounding.compat = FPEMU_COMPAT_CPFLOAT;
    refuses(&s, FPEMU_ERROR_UNSUPPORTED);
    static const char *const unsupported[] =
        LIST("seq(fixed(8,4):wrap)", "seq(fp16); b=nf4", "tc(h100,fp16); a=posit(8,1)", "fused(4,23,e4m3fn); ab=fp16",
             "int(32,wrap); a=fixed(8,4); b=fp16", "int(32,wrap); ab=int(8,scale=0.1)",
             "fused(16,35,fp32,group=16,scales=ue4m3,every=16); ab=e5m2");
    for (size_t i = 0; i < COUNT(unsupported); i++) {
        s = model_of(unsupported[i]);
        refuses(&s, FPEMU_ERROR_UNSUPPORTED);
    }
    s = model_of("fused(4,23,fp32,least=-700); ab=fp16");
    s.sum.least_exponent = -701;
    refuses(&s, FPEMU_ERROR_ARGUMENT);
    s.sum.least_exponent = 701;
    refuses(&s, FPEMU_ERROR_ARGUMENT);
    REFUSES(SPEC, fpemu_gemm_parse("fused(4,23,fp32,least=701); ab=fp16", &s, NULL));
    REFUSES(UNSUPPORTED, fpemu_gemm_tensor_core(&s, FPEMU_GPU_V100, FPEMU_NAME_BFLOAT16, FPEMU_NAME_BINARY32),
            fpemu_gemm_tensor_core(&s, FPEMU_GPU_A100, FPEMU_NAME_E5M2, FPEMU_NAME_BINARY32),
            fpemu_gemm_tensor_core(&s, FPEMU_GPU_A100, FPEMU_NAME_TF32, FPEMU_NAME_BINARY16),
            fpemu_gemm_tensor_core(&s, FPEMU_GPU_CDNA3, FPEMU_NAME_BINARY16, FPEMU_NAME_BINARY16),
            fpemu_gemm_tensor_core(&s, FPEMU_GPU_B200, FPEMU_NAME_MXFP4, FPEMU_NAME_BINARY16),
            fpemu_gemm_tensor_core(&s, FPEMU_GPU_AVX512, FPEMU_NAME_NONE, FPEMU_NAME_BINARY32),
            fpemu_gemm_tensor_core(&s, FPEMU_GPU_H100, FPEMU_NAME_BFLOAT16, FPEMU_NAME_BINARY16),
            fpemu_gemm_tensor_core(&s, (fpemu_gpu)11, FPEMU_NAME_BINARY16, FPEMU_NAME_BINARY32));
    REFUSES(NULL, fpemu_gemm_tensor_core(NULL, FPEMU_GPU_A100, FPEMU_NAME_TF32, FPEMU_NAME_BINARY32));
}
END_TEST

/* Aligned far below all of its bits, a product is lost, and that is seen. */
START_TEST(lost_products_are_counted)
{
    const float x = 0x1p-133f; /* bfloat16's smallest */
    const fpemu_gemm_spec s = model_of("fused(4,0,fp32/rtz,least=700); ab=bf16");
    fpemu_stats stats = {0};
    float y = 1;
    GIVES_OK(fpemu_dot_f32(&s, 1, &x, 1, &x, 1, &y, &stats));
    ck_assert(y == 0);
    ck_assert_uint_eq(stats.inexact, 1);
    ck_assert_uint_eq(stats.swamped, 1);
    /* 2^-24 less a product that binary64 lacks becomes 0, which is neither of them */
    const double a[2] = {0x1p-24, 0x1p-600}, b[4] = {1, 1, -0x1p-600, -0x1p-600};
    const fpemu_gemm_spec cut = model_of("seq(fp16/rtz)");
    const fpemu_gemm_shape shape = {.m = 1, .n = 2, .k = 2};
    double c[2] = {1, 1};
    GIVES_OK(fpemu_gemm_f64(&cut, &shape, 1, a, b, 0, c, &stats));
    ck_assert(c[0] == 0 && c[1] == 0 && stats.underflow == 2 && stats.swamped == 1);
    /* in binary64: 2^53 + 2^23 and one more, a tie; a product of 61 bits, 1 more; 1 + 2^-30 and 2^-60 more */
    const double p[] = {1 + 0x1p-30, 1}, q[] = {0x1p53, 1 + 0x1p-30, 1, 1, 1, 0x1p-60};
    const fpemu_gemm_spec plain = model_of("fp64");
    const fpemu_gemm_shape three = {.m = 1, .n = 3, .k = 2};
    memset(&stats, 0, sizeof stats);
    GIVES_OK(fpemu_gemm_f64(&plain, &three, 1, p, q, 0, c64, &stats));
    ck_assert(c64[0] == 0x1p53 + 0x1p23 && c64[1] == 2 + 0x1p-29 && c64[2] == 1 + 0x1p-30);
    ck_assert(stats.count == 6 && stats.inexact == 3 && stats.swamped == 2 && stats.max_abs == c64[0]);
}
END_TEST

static fpemu_status gemm(const fpemu_gemm_shape *shape, float beta, const float *a, const float *b, float *c)
{
    static fpemu_gemm_spec s;
    s = model_of("fp32");
    return fpemu_gemm_f32(&s, shape, 1, a, b, beta, c, NULL);
}

START_TEST(shapes_refused)
{
    const fpemu_gemm_shape good = {.m = 3, .n = 4, .k = 5};
    fpemu_gemm_shape x = good;
    REFUSES(NULL, gemm(NULL, 0, a32, b32, c32), gemm(&x, 0, NULL, b32, c32), gemm(&x, 0, a32, NULL, c32),
            gemm(&x, 0, a32, b32, NULL));
    REFUSES(OVERLAP, gemm(&x, 0, a32, b32, a32 + 14), gemm(&x, 0, a32, a32 + 15, a32 + 34));
    GIVES_OK(gemm(&x, 0, a32, a32 + 15, a32 + 35));
    GIVES_OK(gemm(&x, 0, a32, a32, b32));
#define REFUSED(field, value, status)                                                                                  \
    x = good;                                                                                                          \
    x.field = value;                                                                                                   \
    ck_assert_int_eq(gemm(&x, 0, a32, b32, c32), status)
    REFUSED(lda, 4, FPEMU_ERROR_ARGUMENT);
    REFUSED(ldb, 3, FPEMU_ERROR_ARGUMENT);
    REFUSED(ldc, 3, FPEMU_ERROR_ARGUMENT);
    REFUSED(order, 2, FPEMU_ERROR_ARGUMENT);
    REFUSED(transpose_a, 2, FPEMU_ERROR_ARGUMENT);
    REFUSED(transpose_b, 2, FPEMU_ERROR_ARGUMENT);
    REFUSED(reserved0[4], 1, FPEMU_ERROR_ARGUMENT);
    REFUSED(reserved1[4], 1, FPEMU_ERROR_ARGUMENT);
    REFUSED(batch, 2, FPEMU_ERROR_ARGUMENT); /* stride_c = 0 */
    REFUSED(k, UINT64_MAX, FPEMU_ERROR_ARGUMENT);
    REFUSED(m, UINT64_MAX / 2, FPEMU_ERROR_ARGUMENT);
    REFUSED(lda, UINT64_MAX / 16, FPEMU_ERROR_ARGUMENT);
    REFUSED(m, 0, FPEMU_OK);
    REFUSED(n, 0, FPEMU_OK);
#undef REFUSED
    x = good;
    x.batch = 2;
    x.stride_c = 11;
    REFUSES(ARGUMENT, gemm(&x, 0, a32, b32, c32));
    x.stride_c = 12;
    GIVES_OK(gemm(&x, 0, a32, b32, c32));
    x.order = FPEMU_ORDER_COLUMN_MAJOR;
    x.lda = 2;
    REFUSES(ARGUMENT, gemm(&x, 0, a32, b32, c32));

    x = good; /* nothing to add up: neither array is read */
    x.k = 0;
    c32[0] = 3;
    GIVES_OK(gemm(&x, 1, NULL, NULL, c32));
    ck_assert(c32[0] == 3.0f);
    GIVES_OK(gemm(&x, 0, NULL, NULL, c32));
    ck_assert(c32[0] == 0.0f && !signbit(c32[0]));

    fpemu_gemm_spec s = model_of("fp32");
    float r = 7;
    REFUSES(ARGUMENT, fpemu_dot_f32(&s, 3, a32, 0, b32, 1, &r, NULL));
    REFUSES(NULL, fpemu_dot_f32(&s, 3, a32, 1, b32, 1, NULL, NULL));
    REFUSES(OVERLAP, fpemu_dot_f32(&s, 3, a32, 1, b32, 1, a32 + 2, NULL));
    REFUSES(ARGUMENT, fpemu_dot_f32(&s, SIZE_MAX / 2, a32, 1, b32, 1, &r, NULL));
    GIVES_OK(fpemu_dot_f32(&s, 0, NULL, 1, NULL, 1, &r, NULL));
    ck_assert(r == 0.0f);
    for (int k = 0; k < 200; k++)
        a32[k] = (float)k, b32[2 * (199 - k)] = 1 + (float)(k == 150);
    GIVES_OK(fpemu_dot_f32(&s, 200, a32, 1, b32, -2, &r, NULL));
    ck_assert(r == 199 * 100 + 150);
    REFUSES(NULL, fpemu_prepare_gemm(NULL, &s, 32, NULL), fpemu_run_dot(NULL, 3, a32, 1, b32, 1, &r, NULL),
            fpemu_run_gemm(NULL, &good, 1, a32, NULL, b32, NULL, 0, c32, NULL));
    REFUSES(ARGUMENT, fpemu_gemv_f32(&s, FPEMU_ORDER_ROW_MAJOR, 2, 2, 2, 1, a32, 0, b32, 1, 0, c32, 1, NULL),
            fpemu_gemv_f32(&s, FPEMU_ORDER_ROW_MAJOR, 0, 2, 2, 1, a32, 1, b32, 1, 0, c32, 1, NULL));
    fpemu_stats stats;
    memset(&stats, 0, sizeof stats);
    stats.request.want = FPEMU_STATS_SUMS;
    REFUSES(STATS, fpemu_dot_f32(&s, 3, a32, 1, b32, 1, &r, &stats));
    s.start_from_c = 1;
    REFUSES(ARGUMENT, fpemu_gemm_f32(&s, &good, 1, a32, b32, 0, c32, NULL));
}
END_TEST

START_TEST(nan_is_an_error_where_asked)
{
    fpemu_gemm_spec s = model_of("seq(fp(6,9,0):nan=error); ab=fp16");
    const float x[] = {1, INFINITY}, y[] = {1, 0};
    float r = 7;
    REFUSES(NAN, fpemu_dot_f32(&s, 2, x, 1, y, 1, &r, NULL));
    ck_assert(isnan(r));
    GIVES_OK(fpemu_dot_f32(&s, 1, x, 1, y, 1, &r, NULL));
    ck_assert(r == 1.0f);
}
END_TEST

/* ------------------------------------------------------------------------------------------- vectors refused */

static fpemu_status gemv(size_t m, size_t n, const float *a, size_t lda, const float *x, int64_t incx, float *y,
                         int64_t incy)
{
    static fpemu_gemm_spec s;
    s = model_of("fp32");
    return fpemu_gemv_f32(&s, FPEMU_ORDER_ROW_MAJOR, 0, m, n, 1, a, lda, x, incx, 0, y, incy, NULL);
}

START_TEST(vectors_refused)
{
    fpemu_gemm_spec s = model_of("fp32");
    const int64_t far = PTRDIFF_MAX / 4;
    float r = 7;
    c32[0] = c32[1] = 7;
    REFUSES(ARGUMENT, gemv(2, 3, a32, 3, b32, 0, c32, 1), gemv(2, 3, a32, 3, b32, 1, c32, 0),
            gemv(2, 3, a32, 2, b32, 1, c32, 1), gemv(2, 3, a32, SIZE_MAX, b32, 1, c32, 1));
    REFUSES(ARGUMENT, gemv(2, 3, a32, (size_t)far, b32, 1, c32, 1)); /* the last row */
    REFUSES(ARGUMENT, gemv(SIZE_MAX, 3, a32, 3, b32, 1, c32, 1), gemv(2, SIZE_MAX, a32, SIZE_MAX, b32, 1, c32, 1),
            gemv(2, 3, a32, 3, b32, INT64_MIN, c32, 1), gemv(2, 3, a32, 3, b32, 1, c32, INT64_MIN),
            gemv(2, 3, a32, 3, b32, far, c32, 1), gemv(2, 3, a32, 3, b32, -far, c32, 1),
            gemv(2, 3, a32, 3, b32, 1, c32, -far));
    REFUSES(NULL, gemv(2, 3, NULL, 3, b32, 1, c32, 1), gemv(2, 3, a32, 3, NULL, -1, c32, 1),
            gemv(2, 3, a32, 3, b32, 1, NULL, -1));
    /* y lies where x, read backwards, ends; and where the last row of a does */
    REFUSES(OVERLAP, gemv(2, 3, a32, 3, c32, -2, c32 + 4, 1), gemv(2, 3, c32, 5, b32, 1, c32 + 7, -1));
    REFUSES(ARGUMENT, fpemu_dot_f32(&s, 3, a32, INT64_MIN, b32, 1, &r, NULL),
            fpemu_dot_f32(&s, 3, a32, 1, b32, far, &r, NULL));
    REFUSES(NULL, fpemu_dot_f32(&s, 3, NULL, 1, b32, 1, &r, NULL));
    REFUSES(ARGUMENT, fpemu_dot_f32(&s, 0, NULL, 1, NULL, 0, &r, NULL));
    ck_assert(r == 7.0f && c32[0] == 7.0f && c32[1] == 7.0f);

    /* nothing to compute, or nothing to add up: no array is read, none is written that has no element */
    GIVES_OK(gemv(0, 3, NULL, 3, NULL, 1, NULL, -1));
    GIVES_OK(gemv(0, 0, NULL, 0, NULL, -1, NULL, 1));
    GIVES_OK(gemv(2, 0, NULL, 0, NULL, -1, c32, 1));
    ck_assert(c32[0] == 0.0f && c32[1] == 0.0f);
    const fpemu_gemm_shape nothing = {.m = 0, .n = 4, .k = 5}, batches = {.m = 0, .n = 4, .k = 5, .batch = 9};
    GIVES_OK(gemm(&nothing, 0, NULL, NULL, NULL));
    GIVES_OK(gemm(&batches, 0, NULL, NULL, NULL));
    /* one element may be any step away from the next that is not there */
    GIVES_OK(fpemu_dot_f32(&s, 1, a32, far, b32, -far, &r, NULL));
    ck_assert(r == a32[0] * b32[0]);
    /* a batch that runs past the end of memory */
    const fpemu_gemm_shape past = {.m = 1, .n = 1, .k = 1, .batch = (uint64_t)1 << 62, .stride_c = 1};
    const fpemu_gemm_shape wide = {.m = 1, .n = 1, .k = 1, .batch = 3, .stride_a = (uint64_t)far, .stride_c = 1};
    REFUSES(ARGUMENT, gemm(&past, 0, a32, b32, c32), gemm(&wide, 0, a32, b32, c32));
}
END_TEST

/* ---------------------------------------------------------------------------------------------------- scales */

START_TEST(scaled_by_hand)
{
    /* r * X * Y of 72 bits, 22960 above a tie and 23652 below one, on which their first 53 bits lie */
    const float r[] = {16710512, 16042820}, x[] = {11207161, 16080319}, y[] = {16013925, 9719177}, unit = 1;
    const float want[] = {10654753, 8907689};
    const fpemu_gemm_shape single = {.m = 1, .n = 1, .k = 1};
    fpemu_gemm_spec s = model_of("chunk(1,fp32)");
    float c;
    for (int i = 0; i < 2; i++) {
        GIVES_OK(fpemu_gemm_scaled_f32(&s, &single, 1, r + i, x + i, &unit, y + i, 0, &c, NULL));
        ck_assert(c == want[i] * 0x1p48f);
    }
    /* a tensor core of E4M3: 448 * 448 * 2^127 * 2^127 is beyond binary32, 448 * 448 * 2^-127 * 2^127 is not */
    s = model_of("tc(b200,e4m3fn,promote=32)");
    const float top = 448, high = 0x1p127f, low = 0x1p-127f;
    GIVES_OK(fpemu_gemm_scaled_f32(&s, &single, 1, &top, &high, &top, &high, 0, &c, NULL));
    ck_assert(isinf(c));
    GIVES_OK(fpemu_gemm_scaled_f32(&s, &single, 1, &top, &high, &top, &low, 0, &c, NULL));
    ck_assert(c == 448.0f * 448.0f);
}
END_TEST

/* Scales inside steps: 448 * 448 * 2^127 * 2^-127, a significand of 1.875 twice on a group, where 36 * 3.515625 loses
 * nothing to 2^-26; what is no scale. Counted: a step is one rounding. */
START_TEST(scaled_inside)
{
    float a[64] = {0}, b[64] = {0}, c = 0, x[2] = {0x1p127f, 1}, y[2] = {0x1p-127f, 1}, four[4] = {1.875f, 1, 1, 1};
    fpemu_gemm_shape shape = {.m = 1, .n = 1, .k = 33};
    fpemu_stats stats = {0};
    a[0] = b[0] = 448;
    fpemu_gemm_spec s = model_of("tc(b200,mxf8f6f4)");
    GIVES_OK(fpemu_gemm_scaled_f32(&s, &shape, 1, a, x, b, y, 0, &c, &stats));
    ck_assert(c == 448.0f * 448.0f && stats.count == 2 && stats.inexact == 0);
    s = model_of("tc(b200,mxf4nvf4)");
    shape.k = 64;
    a[0] = b[0] = 6;
    a[16] = b[16] = 0.5f;
    GIVES_OK(fpemu_gemm_scaled_f32(&s, &shape, 1, a, four, b, four, 0, &c, NULL));
    ck_assert(c == 36 * 1.875f * 1.875f + 0.25f);
    four[1] = 2;
    four[0] = 0x1p-9f; /* the smallest scale: 36 * 2^-18 and 1 */
    GIVES_OK(fpemu_gemm_scaled_f32(&s, &shape, 1, a, four, b, four, 0, &c, NULL));
    ck_assert(c == 1 + 36 * 0x1p-18f);
    for (int i = 0; i < 3; i++) {
        four[1] = i == 0 ? 1.0625f : i == 1 ? -1.0f : 480;
        REFUSES(ARGUMENT, fpemu_gemm_scaled_f32(&s, &shape, 1, a, four, b, NULL, 0, &c, NULL));
    }
    s = model_of("fused(1,0,fp32,group=1,scales=e8m0,every=1); ab=bf16"); /* no exponent is too small */
    memset(&stats, 0, sizeof stats);
    a[0] = b[0] = 0x1p-100f;
    shape.k = 1;
    GIVES_OK(fpemu_gemm_scaled_f32(&s, &shape, 1, a, y, b, y, 0, &c, &stats));
    ck_assert(c == 0 && stats.swamped == 0 && stats.min_abs == 0x1p-454);
}
END_TEST

START_TEST(scaled_refused)
{
    static const char *const without[] = {"fp32", "pairwise(fp16)", "tc(h100,fp16)", "int(32,wrap); ab=int8"};
    const fpemu_gemm_shape shape = {.m = 2, .n = 2, .k = 4};
    const double tenth[4] = {0.1, 1, 1, 1}, huge[4] = {1, 1, 1, 1e200}, fine[4] = {0.5, INFINITY, NAN, 0x1p-149};
    double c[4] = {7, 7, 7, 7};
    for (size_t i = 0; i < 4; i++) {
        fpemu_gemm_spec s = model_of(without[i]);
        REFUSES(UNSUPPORTED, fpemu_gemm_scaled_f32(&s, &shape, 1, a32, b32, a32, NULL, 0, c32, NULL),
                fpemu_gemm_scaled_f32(&s, &shape, 1, a32, NULL, a32, b32, 0, c32, NULL));
        GIVES_OK(fpemu_gemm_scaled_f32(&s, &shape, 1, a32, NULL, a32, NULL, 0, c32, NULL));
    }
    fpemu_gemm_spec s = model_of("chunk(2,fp32)");
    /* four scales each; c has four numbers */
    REFUSES(OVERLAP, fpemu_gemm_scaled_f32(&s, &shape, 1, a32, c32 + 3, b32, NULL, 0, c32, NULL),
            fpemu_gemm_scaled_f32(&s, &shape, 1, a32, NULL, b32, c32, 0, c32 + 3, NULL));
    GIVES_OK(fpemu_gemm_scaled_f32(&s, &shape, 1, a32, c32 + 4, b32, b32, 0, c32, NULL));
    GIVES_OK(fpemu_gemm_scaled_f32(&s, &shape, 1, a32, b32, b32, c32, 0, c32 + 4, NULL));
    GIVES_OK(fpemu_gemm_scaled_f32(&s, &shape, 0, NULL, c32, NULL, c32, 0, c32, NULL)); /* not read */
    REFUSES(ARGUMENT, fpemu_gemm_scaled_f64(&s, &shape, 1, a64, tenth, b64, NULL, 0, c, NULL),
            fpemu_gemm_scaled_f64(&s, &shape, 1, a64, NULL, b64, huge, 0, c, NULL));
    ck_assert(c[0] == 7.0 && c[3] == 7.0);
    GIVES_OK(fpemu_gemm_scaled_f64(&s, &shape, 1, a64, fine, b64, fine, 0, c, NULL));
    REFUSES(NULL, fpemu_gemm_scaled_f32(NULL, &shape, 1, a32, a32, b32, b32, 0, c32, NULL));
}
END_TEST

int main(void)
{
    return RUN_SUITE("gemm", NULL, models_by_hand, text, random_words_of_a_tree, blocks_are_no_targets, specs_refused,
                     lost_products_are_counted, shapes_refused, nan_is_an_error_where_asked, vectors_refused,
                     scaled_by_hand, scaled_inside, scaled_refused);
}
