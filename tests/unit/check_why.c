/* SPDX-License-Identifier: BSD-2-Clause */
/* check_why.c - the argument and the words of every reason for which checks refuse, and that calls refuse with the same
 * status. */
#include "suite.h"

enum { QUANTIZE, ENCODE, DECODE, PACK, UNPACK, SCALES, ADD = 64, EXP = 128, TABLE = 192 };

static const struct formats_refused {
    const char *format; /* NULL: none */
    const char *mode;   /* NULL: none */
    int type, use;
    fpemu_status status;
    fpemu_argument argument;
    const char *words;
} formats[] = {
    {NULL, "rne", 32, QUANTIZE, FPEMU_ERROR_NULL, FPEMU_ARGUMENT_FORMAT, "the format is NULL"},
    {"fp16", NULL, 32, ADD, FPEMU_ERROR_NULL, FPEMU_ARGUMENT_ROUNDING, "the rounding is NULL"},
    {"", "rne", 32, QUANTIZE, FPEMU_ERROR_FORMAT, FPEMU_ARGUMENT_FORMAT, "fpemu_format_complete"},
    {"fp16", "bits", 32, QUANTIZE, FPEMU_ERROR_ROUNDING, FPEMU_ARGUMENT_ROUNDING, "the field bits of the rounding"},
    {"fp16", "rne", 8, QUANTIZE, FPEMU_ERROR_ARGUMENT, FPEMU_ARGUMENT_TYPE, "no such type"},
    {"fp16", "rne", 32, TABLE, FPEMU_ERROR_ARGUMENT, FPEMU_ARGUMENT_TYPE, "(tables: these two)"},
    {"fp16", "rne", -16, QUANTIZE, FPEMU_ERROR_CARRIER, FPEMU_ARGUMENT_TYPE, "bfloat16 does not hold every value"},
    {"tf32", "rne", 16, QUANTIZE, FPEMU_ERROR_CARRIER, FPEMU_ARGUMENT_TYPE, "binary32 does"},
    {"fp64", "rne", 16, DECODE, FPEMU_ERROR_CARRIER, FPEMU_ARGUMENT_TYPE, "binary64 does"},
    {"posit(16,1)", "rtz", 32, QUANTIZE, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_ROUNDING, "(mode rne), not by rtz"},
    {"table(nf4)", "rto", 64, ENCODE, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_ROUNDING, "(mode rto)"},
    {"mxfp4", "pytorch-divide", 32, QUANTIZE, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_ROUNDING,
     "have no compatibility setting pytorch-divide"},
    {"bfp(7)", "qpytorch", 64, PACK, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_ROUNDING, "setting qpytorch: take"},
    {"int8", "ggml", 32, ENCODE, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_ROUNDING, "setting ggml is for blocks"},
    {"fp16", "muppet", 64, ADD, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_ROUNDING, "setting muppet is for blocks"},
    {"nvfp4", "rne", 32, ENCODE, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_USE, "no codes apart"},
    {"mxint8", NULL, 64, DECODE, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_USE, "no codes apart"},
    {"e4m3fn", "rne", 32, SCALES, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_USE, "without blocks has no scales"},
    {"s2fp8", NULL, 32, SCALES, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_USE, "blocks of s2fp8 have no scales"},
    {"fp16", "rne", 32, SCALES + 1, FPEMU_ERROR_ARGUMENT, FPEMU_ARGUMENT_USE, "no such use"},
    {"fp16", "rne", 32, EXP + FPEMU_FUNCTION_COUNT, FPEMU_ERROR_ARGUMENT, FPEMU_ARGUMENT_USE, "no such use"},
    {"fp16", "rne", 16, TABLE + FPEMU_FUNCTION_COUNT, FPEMU_ERROR_ARGUMENT, FPEMU_ARGUMENT_USE, "no such use"},
    {"fp16", "sr", 16, TABLE, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_ROUNDING, "have no random bits"},
    {"e2m1:nan=error", "rne", 16, TABLE, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_ROUNDING, "report no NaN"},
    {"e9m23", "rne", 64, EXP, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_FORMAT, "formats that binary32 holds"},
    {"fp16", "cpfloat-sr", 32, ADD, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_ROUNDING, "arithmetic takes a mode alone"},
    {"mxfp8", "rne", 32, ADD, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_FORMAT, "no scales or tables"},
    {"int(8,scale=0.3)", "rne", 32, ADD, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_FORMAT, "0.3 is no power of two"},
    {"int(25)", "rne", 32, ADD, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_FORMAT, "take binary64"},
    {"int(8,scale=0.1)", "rne", 64, EXP, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_FORMAT, "0.1 is no power of two"},
    {"fp16", "qpytorch", 64, EXP, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_ROUNDING, "takes a mode alone"},
    {"fixed(8,4):wrap", "rne", 64, EXP, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_ROUNDING, "let the rounding saturate"},
};

static const struct specs_refused {
    const char *spec; /* NULL: none */
    int damage, type;
    fpemu_status status;
    fpemu_argument argument;
    const char *words;
} specs[] = {
    {NULL, 0, 32, FPEMU_ERROR_NULL, FPEMU_ARGUMENT_SPEC, "the spec is NULL"},
    {"fp32", 0, 16, FPEMU_ERROR_ARGUMENT, FPEMU_ARGUMENT_TYPE, "(products: these two)"},
    {"fp32; a=fp64", 0, 32, FPEMU_ERROR_CARRIER, FPEMU_ARGUMENT_A, "binary64 does"},
    {"fp32; b=posit(8,1)/rtp", 0, 32, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_B, "not by rtp"},
    {"fp32; b=mxfp4", 0, 32, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_B, "quantize them first"},
    {"fp32; product=fixed(8,4):wrap", 0, 32, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_PRODUCT, "saturate"},
    {"seq(int(8,scale=0.1))", 0, 32, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_INNER, "scale 0.1 is no power"},
    {"chunk(8,fp32,int(8,scale=3))", 0, 32, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_OUTER, "scale 3 is no power"},
    {"fp32; out=fp64", 0, 32, FPEMU_ERROR_CARRIER, FPEMU_ARGUMENT_OUT, "binary64 does"},
    {"fp32", 'm', 32, FPEMU_ERROR_ARGUMENT, FPEMU_ARGUMENT_SPEC, "no such model"},
    {"fp32", 'i', 32, FPEMU_ERROR_ARGUMENT, FPEMU_ARGUMENT_INNER, "every other model needs one"},
    {"fp32", 'o', 32, FPEMU_ERROR_ARGUMENT, FPEMU_ARGUMENT_OUTER, "others have none"},
    {"fp32", 'c', 32, FPEMU_ERROR_ARGUMENT, FPEMU_ARGUMENT_SPEC, "need a chunk"},
    {"tc(h100,fp16)", 'c', 32, FPEMU_ERROR_ARGUMENT, FPEMU_ARGUMENT_OUTER, "need a second format"},
    {"tc(h100,fp16,promote=32)", 'c', 32, FPEMU_ERROR_ARGUMENT, FPEMU_ARGUMENT_SPEC, "a chunk: whole steps"},
    {"fp32", 'w', 32, FPEMU_ERROR_ARGUMENT, FPEMU_ARGUMENT_SPEC, "a width of 2..64 bits"},
    {"tc(h100,fp16); product=fp16", 0, 32, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_PRODUCT, "exact products"},
    {"fused(4,23,fp32/rtp); ab=fp16", 0, 32, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_INNER, "by mode rtz or rne"},
    {"tc(h100,fp16); a=fp32", 0, 32, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_A, "12 bits of precision"},
    {"fused(4,23,fp32); a=fp16", 0, 32, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_B, "12 bits of precision"},
    {"tc(b200,mxf4,scales=fp16)", 0, 32, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_OUTER, "an unsigned float with NaN"},
    {"tc(b200,mxf4); ab=e5m2", 0, 32, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_A, "added exactly need few bits"},
    {"int(32,wrap); ab=fp16", 0, 64, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_A, "at most 31 bits"},
    {"tc(h100,fp16); splits=bf16x9", 0, 32, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_A, "the pieces' format"},
    {"fp32; b=bf16/sr; splits=bf16x3", 0, 32, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_B, "or leave it out"},
    {"kahan(fp64); splits=int8x8", 0, 64, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_SPEC, "a sequential sum"},
    {"fp32", 'd', 32, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_INNER, "inner: words of the caller's"},
    {"int(32,wrap); ab=int8; start=c", 0, 32, FPEMU_ERROR_UNSUPPORTED, FPEMU_ARGUMENT_SPEC, "leave start=c out"},
};

static void says(const char *what, fpemu_status status, const fpemu_why *why, fpemu_status expected,
                 fpemu_argument argument, const char *words)
{
    ck_assert_msg(status == expected, "%s: status %d, not %d", what, status, expected);
    ck_assert_msg(why->argument == (uint32_t)argument, "%s: argument %u: %s", what, why->argument, why->message);
    ck_assert_msg(strstr(why->message, words), "%s: '%s' has no '%s'", what, why->message, words);
    ck_assert_msg(memchr(why->message, '\0', sizeof why->message - 1) != NULL, "%s: cut", what);
    ck_assert_msg(!strpbrk(why->message, "*%\n"), "%s: %s", what, why->message);
}

START_TEST(words_for_formats)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const struct formats_refused *const row = &formats[i];
        fpemu_format f = {0};
        fpemu_rounding r;
        fpemu_why why;
        memset(&why, 0x5a, sizeof why);
        ck_assert(!row->format || !*row->format || !fpemu_format_parse(row->format, &f, NULL));
        const int is_mode = row->mode && fpemu_rounding_parse(row->mode, &r, NULL) == FPEMU_OK;
        if (!is_mode)
            r = (fpemu_rounding){.bits = 33};
        const fpemu_format *const format = row->format ? &f : NULL;
        const fpemu_rounding *const rounding = row->mode ? &r : NULL;
        const fpemu_status status = fpemu_check_use(format, rounding, (fpemu_type)row->type, row->use, &why);
        says(row->format ? row->format : "none", status, &why, row->status, row->argument, row->words);
        ck_assert_int_eq(fpemu_check_use(format, rounding, (fpemu_type)row->type, row->use, NULL), row->status);
    }
}
END_TEST

START_TEST(words_for_products)
{
    static const uint32_t word;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        const struct specs_refused *const row = &specs[i];
        fpemu_gemm_spec s;
        fpemu_why why;
        memset(&why, 0x5a, sizeof why);
        ck_assert_msg(!row->spec || fpemu_gemm_parse(row->spec, &s, NULL) == FPEMU_OK, "%s", row->spec);
        switch (row->damage) {
        case 'm': s.sum.model = FPEMU_MODEL_COUNT; break;
        case 'i': memset(&s.sum.inner, 0, sizeof s.sum.inner); break;
        case 'o': s.sum.outer = s.sum.inner; break;
        case 'c': s.sum.chunk = 20; break; /* no multiple of the 16 products of a step */
        case 'w': s.sum.width = 8; break;
        case 'd': s.sum.inner.rounding.generator = FPEMU_GENERATOR_WORDS, s.sum.inner.rounding.words = &word; break;
        default: break;
        }
        const fpemu_gemm_shape one = {.m = 1, .n = 1, .k = 1};
        const fpemu_gemm_spec *const spec = row->spec ? &s : NULL;
        const double x = 0;
        double y = 7;
        const fpemu_status status = fpemu_gemm_check(spec, (fpemu_type)row->type, &why);
        says(row->spec ? row->spec : "none", status, &why, row->status, row->argument, row->words);
        ck_assert_int_eq(fpemu_gemm(spec, &one, (fpemu_type)row->type, 1, &x, &x, 1, &y, NULL), row->status);
        ck_assert(y == 7);
    }
}
END_TEST

/* Whatever is refused has words; whatever is not leaves all zero. The call for the use says the same, and writes nothing
 * where it refuses. 1: it is refused. */
static int refused_alike(const fpemu_format *f, const fpemu_rounding *r, fpemu_type type, int use, const char *name)
{
    static const fpemu_why none;
    static const double noughts[4];
    static uint16_t table[65536];
    const void *const x = noughts, *const operands[] = {x, x, x};
    const fpemu_shape shape = fpemu_shape_vector(1);
    double y[8], untouched[8];
    fpemu_why why;
    memset(y, 0x5a, sizeof y);
    memset(untouched, 0x5a, sizeof untouched);
    const fpemu_status status = fpemu_check_use(f, r, type, use, &why);
    REQUIRE((status == FPEMU_OK) == (memcmp(&why, &none, sizeof why) == 0), "%s", name);
    REQUIRE(status == FPEMU_OK || (why.argument && *why.message), "%s: no words", name);
    REQUIRE(use != QUANTIZE || fpemu_check(f, r, (int)type, NULL) == status, "%s: fpemu_check", name);
    const fpemu_status call = use == QUANTIZE ? fpemu_quantize(f, r, type, 1, x, y, NULL)
                              : use == ENCODE ? fpemu_encode(f, r, type, 1, x, y, NULL)
                              : use == DECODE ? fpemu_decode(f, type, 1, x, y)
                              : use == PACK   ? fpemu_pack(f, r, type, &shape, x, y, NULL)
                              : use == UNPACK ? fpemu_unpack(f, type, &shape, x, y)
                              : use == SCALES ? fpemu_scales(f, type, &shape, x, y, NULL, NULL)
                              : use == ADD    ? fpemu_arith(f, r, type, FPEMU_OPERATION_ADD, 1, operands, NULL, y, NULL)
                              : use == EXP    ? fpemu_apply(f, r, type, FPEMU_FUNCTION_EXP, 1, x, y, NULL)
                                              : fpemu_function_table(f, r, type, FPEMU_FUNCTION_EXP, table);
    REQUIRE(call == status, "%s, type %d, use %d, mode %d: %d, not %d", name, type, use, r->mode, status, call);
    REQUIRE(status == FPEMU_OK || memcmp(y, untouched, sizeof y) == 0, "%s, type %d, use %d, mode %d wrote", name, type,
            use, r->mode);
    return status != FPEMU_OK;
}

/* Every kind of format, every mode and setting, for each use and type; fields out of range too. */
START_TEST(words_for_all)
{
    static const char *const names[] = LIST(
        "fp64", "fp16", "e8m0", "e2m1:nan=error", "e9m23", "fixed(53,4)", "ufixed(8,8):wrap", "int(25)", "uint4",
        "int8", "int(8,scale=0.1)", "posit(16,1)", "posit(32,2)", "table(dynamic8)", "mx(fp64)", "mxfp4",
        "mx(table(dynamic4),block=8)", "nvfp4", "nf4", "s2fp8", "bfp(7)", "bfp(23)", "bfp(7,block=3x5)", "muppet(8)");
    static const int uses[] = {QUANTIZE, ENCODE, DECODE, PACK, UNPACK, SCALES, ADD, EXP, TABLE};
    static const fpemu_type types[] = {FPEMU_TYPE_F16, FPEMU_TYPE_BF16, FPEMU_TYPE_F32, FPEMU_TYPE_F64};
    static const fpemu_rounding others[] = {
        {.overflow = 3}, {.overflow = 4}, {.nan = 5},       {.nan = 6},
        {.bits = 32},    {.bits = 33},    {.generator = 1}, {.reserved1 = {0, 0, 1}}};
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    int refused = 0;
    for (size_t i = 0; i < COUNT(names); i++) {
        const fpemu_format f = format_of(names[i]);
        for (size_t u = 0; u <= 4 * (COUNT(uses) - 1); u++) { /* tables of words of binary16 alone */
            const fpemu_type type = types[u % 4];
            const int use = uses[u / 4];
            for (unsigned m = 0; m < (FPEMU_MODE_COUNT + 1) * (FPEMU_COMPAT_COUNT + 1); m++) {
                const fpemu_rounding r = {.mode = (uint8_t)(m % (FPEMU_MODE_COUNT + 1)),
                                          .compat = (uint8_t)(m / (FPEMU_MODE_COUNT + 1))};
                const int here = refused_alike(&f, &r, type, use, names[i]);
                REQUIRE(here || f.kind != FPEMU_KIND_POSIT || r.mode == 0 || use > ENCODE, "%s: %d", names[i], r.mode);
                refused += here;
            }
            for (size_t k = 0; k < COUNT(others); k++)
                refused += refused_alike(&f, &others[k], type, use, names[i]);
            fpemu_format damaged = f;
            for (size_t byte = 0; use != TABLE && byte < offsetof(fpemu_format, table); byte++) {
                unsigned char *const p = (unsigned char *)&damaged + byte;
                const unsigned char kept = *p;
                /* the library trusts what it derived, and the table's length: damage there is undefined */
                if ((byte >= offsetof(fpemu_format, precision) && byte < offsetof(fpemu_format, scaling)) ||
                    (byte >= offsetof(fpemu_format, codebook_length) && byte < offsetof(fpemu_format, reserved2)))
                    continue;
                *p = 0xff;
                refused += refused_alike(&damaged, &nearest, type, use, names[i]);
                *p = kept;
            }
        }
    }
    ck_assert_int_gt(refused, 1000);
}
END_TEST

int main(void)
{
    return RUN_SUITE("why", NULL, words_for_formats, words_for_products, words_for_all);
}
