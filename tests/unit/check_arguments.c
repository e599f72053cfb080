/* SPDX-License-Identifier: BSD-2-Clause */
/* check_arguments.c - what is refused, with which status, and what a refused call leaves: arrays and counters as they
 * were, structs all zero, texts empty. */
#include "suite.h"

enum { N = 40 };

static float x32[2 * N], y32[2 * N];
static double x64[2 * N], y64[2 * N];
static uint8_t codes[2 * N * 8];
static fpemu_stats stats;

static void setup(void)
{
    for (int i = 0; i < 2 * N; i++) {
        x32[i] = (float)i * 0.37f - 5;
        x64[i] = i * 0.37 - 5;
        y32[i] = -77;
        y64[i] = -77;
    }
    memset(codes, 0xab, sizeof codes);
    memset(&stats, 0, sizeof stats);
}

static void nothing_written(void)
{
    static const fpemu_stats none;
    for (int i = 0; i < 2 * N; i++) {
        ck_assert(y32[i] == -77.0f);
        ck_assert(y64[i] == -77.0);
    }
    for (size_t i = 0; i < sizeof codes; i++)
        ck_assert_uint_eq(codes[i], 0xab);
    fpemu_stats counted = stats;
    counted.request.want = 0;
    counted.request.reserved0 = 0;
    memset(counted.reserved1, 0, sizeof counted.reserved1);
    counted.request.histogram = NULL;
    counted.request.histogram_first = 0;
    counted.request.histogram_length = 0;
    ck_assert_int_eq(memcmp(&counted, &none, sizeof none), 0);
}

/* Every array verb refuses with `status` (decode, which takes no rounding and no stats, only if told). */
static void all_refuse(const fpemu_format *f, const fpemu_rounding *r, fpemu_status status, int decode)
{
    ck_assert_int_eq(fpemu_quantize_f32(f, r, N, x32, y32, &stats), status);
    ck_assert_int_eq(fpemu_quantize_f64(f, r, N, x64, y64, &stats), status);
    ck_assert_int_eq(fpemu_check(f, r, 32, NULL), status);
    ck_assert_int_eq(fpemu_check(f, r, 64, NULL), status);
    ck_assert_int_eq(fpemu_encode_f32(f, r, N, x32, codes, &stats), status);
    ck_assert_int_eq(fpemu_encode_f64(f, r, N, x64, codes, &stats), status);
    if (decode) {
        ck_assert_int_eq(fpemu_decode_f32(f, N, codes, y32), status);
        ck_assert_int_eq(fpemu_decode_f64(f, N, codes, y64), status);
        ck_assert(isnan(fpemu_decode_one_f32(f, 1)));
        ck_assert(isnan(fpemu_decode_one_f64(f, 1)));
    }
    ck_assert(isnan(fpemu_quantize_one_f32(f, r, 1.0f, 0)));
    ck_assert(isnan(fpemu_quantize_one_f64(f, r, 1.0, 0)));
    ck_assert_uint_eq(fpemu_encode_one_f32(f, r, 1.0f, 0), 0);
    ck_assert_uint_eq(fpemu_encode_one_f64(f, r, 1.0, 0), 0);
    nothing_written();
}

START_TEST(null_pointers)
{
    fpemu_format f = format_of("e4m3fn");
    fpemu_rounding r = fpemu_rounding_nearest();
    all_refuse(NULL, &r, FPEMU_ERROR_NULL, 1);
    all_refuse(&f, NULL, FPEMU_ERROR_NULL, 0);
    REFUSES(NULL, fpemu_quantize_f32(&f, &r, N, NULL, y32, &stats), fpemu_quantize_f32(&f, &r, N, x32, NULL, &stats),
            fpemu_quantize_f64(&f, &r, N, NULL, y64, &stats), fpemu_quantize_f64(&f, &r, N, x64, NULL, &stats),
            fpemu_encode_f32(&f, &r, N, NULL, codes, &stats), fpemu_encode_f32(&f, &r, N, x32, NULL, &stats),
            fpemu_encode_f64(&f, &r, N, NULL, codes, &stats), fpemu_encode_f64(&f, &r, N, x64, NULL, &stats),
            fpemu_decode_f32(&f, N, NULL, y32), fpemu_decode_f32(&f, N, codes, NULL),
            fpemu_decode_f64(&f, N, NULL, y64), fpemu_decode_f64(&f, N, codes, NULL));
    GIVES_OK(fpemu_quantize_f32(NULL, NULL, 0, NULL, NULL, NULL)); /* nothing to do */
    nothing_written();
}
END_TEST

START_TEST(formats_out_of_range)
{
    fpemu_rounding r = fpemu_rounding_nearest();
    fpemu_format zero = {0}, f;
    all_refuse(&zero, &r, FPEMU_ERROR_FORMAT, 1);
#define TAMPER(spec, field, value) (f = format_of(spec), f.field = value, all_refuse(&f, &r, FPEMU_ERROR_FORMAT, 1))
    /* fpemu_format_complete derives the width of a float; other calls do not */
    EACH(TAMPER("e4m3fn", kind, 0xffffffffu), TAMPER("e4m3fn", mantissa_bits, 53), TAMPER("fixed(8,4)", bits, 65),
         TAMPER("int8", scale, NAN), TAMPER("posit(8,2)", exponent_bits, 6), TAMPER("e4m3fn", bits, 65));
#undef TAMPER
    f = format_of("int(8,scale=0.1)"); /* a scale that binary32 makes zero or infinite of, there */
    f.scale = 1e-60;
    REFUSES(FORMAT, fpemu_quantize_f32(&f, &r, 1, x32, y32, NULL));
    ck_assert(isnan(fpemu_quantize_one_f32(&f, &r, 1, 0)));
    f.scale = 1e60;
    REFUSES(FORMAT, fpemu_quantize_f32(&f, &r, 1, x32, y32, NULL));
}
END_TEST

START_TEST(roundings_out_of_range)
{
    fpemu_format f = format_of("e4m3fn");
    fpemu_rounding r;
#define TAMPER(field, value)                                                                                           \
    (r = fpemu_rounding_nearest(), r.field = value, all_refuse(&f, &r, FPEMU_ERROR_ROUNDING, 0))
    EACH(TAMPER(mode, FPEMU_MODE_COUNT), TAMPER(mode, 255), TAMPER(overflow, 4), TAMPER(nan, 6), TAMPER(variant, 3),
         TAMPER(bits, 33), TAMPER(generator, 2), TAMPER(compat, FPEMU_COMPAT_COUNT), TAMPER(layout, 1),
         TAMPER(words_word, 8), TAMPER(reserved1[2], UINT64_C(1) << 63));
#undef TAMPER
    const uint32_t ones = UINT32_MAX;
    r = (fpemu_rounding){.generator = FPEMU_GENERATOR_WORDS, .layout = FPEMU_WORDS_PTX_X4 + 1, .words = &ones};
    ck_assert_uint_eq(fpemu_random_bits(&r, 0), 0);
}
END_TEST

/* The call goes through, the NaN is reported at the end; formats with a NaN of their own have nothing to report. */
START_TEST(nan_is_an_error)
{
    static const char *const without[] = {"e2m1", "fixed(8,4)", "int8", "fp(4,3,4)"};
    fpemu_rounding r = fpemu_rounding_nearest();
    r.nan = FPEMU_NAN_ERROR;
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++) {
        fpemu_format f = format_of(without[i]);
        for (int at = 0; at < N; at += N - 1) {
            setup();
            GIVES_OK(fpemu_quantize_f32(&f, &r, N, x32, y32, &stats));
            GIVES_OK(fpemu_quantize_f64(&f, &r, N, x64, y64, NULL));
            float expected[N];
            memcpy(expected, y32, sizeof expected);
            x32[at] = -NAN;
            x64[at] = NAN;
            memset(&stats, 0, sizeof stats);
            REFUSES(NAN, fpemu_quantize_f32(&f, &r, N, x32, y32, &stats), fpemu_quantize_f64(&f, &r, N, x64, y64, NULL),
                    fpemu_encode_f32(&f, &r, N, x32, codes, NULL), fpemu_encode_f64(&f, &r, N, x64, codes, NULL));
            ck_assert_uint_eq(stats.nan, 1);
            ck_assert_uint_eq(stats.count, N);
            for (int j = 0; j < N; j++)
                ck_assert(j == at ? isnan(y32[j]) && isnan(y64[j]) : y32[j] == expected[j]);
            /* as keep: the code of the largest value, 0 for integers */
            uint64_t code = fpemu_encode_one_f32(&f, &r, NAN, 0);
            ck_assert_uint_eq(code, f.kind == FPEMU_KIND_FLOAT ? f.max_code : 0);
            ck_assert_uint_eq(codes[at], code);
        }
    }
    fpemu_format with = format_of("e4m3fn");
    setup();
    x32[3] = NAN;
    GIVES_OK(fpemu_quantize_f32(&with, &r, N, x32, y32, NULL));
    ck_assert(isnan(y32[3]));
    fpemu_format by_format = format_of("e2m1:nan=error");
    r = fpemu_rounding_nearest();
    REFUSES(NAN, fpemu_quantize_f32(&by_format, &r, N, x32, y32, NULL));
    r.nan = FPEMU_NAN_ZERO; /* the rounding overrides the format */
    GIVES_OK(fpemu_quantize_f32(&by_format, &r, N, x32, y32, NULL));
    ck_assert(y32[3] == 0.0f);
    fpemu_format blocked = format_of("bfp(7)");
    const fpemu_shape shape = fpemu_shape_vector(N);
    r.nan = FPEMU_NAN_ERROR;
    REFUSES(NAN, fpemu_quantize_tensor_f32(&blocked, &r, &shape, x32, y32, NULL));
    x32[3] = 1;
    GIVES_OK(fpemu_quantize_tensor_f32(&blocked, &r, &shape, x32, y32, NULL));
}
END_TEST

START_TEST(stats_out_of_range)
{
    fpemu_format f = format_of("e4m3fn");
    fpemu_rounding r = fpemu_rounding_nearest();
    uint64_t bins[8] = {0};
    const fpemu_stats none = {0};
#define TAMPER(change)                                                                                                 \
    do {                                                                                                               \
        stats = none;                                                                                                  \
        change;                                                                                                        \
        REFUSES(STATS, fpemu_quantize_f32(&f, &r, N, x32, y32, &stats));                                               \
        REFUSES(STATS, fpemu_quantize_f64(&f, &r, N, x64, y64, &stats));                                               \
        REFUSES(STATS, fpemu_encode_f32(&f, &r, N, x32, codes, &stats));                                               \
        REFUSES(STATS, fpemu_encode_f64(&f, &r, N, x64, codes, &stats));                                               \
        nothing_written();                                                                                             \
        for (int i = 0; i < 8; i++)                                                                                    \
            ck_assert_uint_eq(bins[i], 0);                                                                             \
    } while (0)
    TAMPER(stats.request.want = 4);
    TAMPER(stats.request.want = 0x80000001u);
    TAMPER(stats.request.reserved0 = 1);
    TAMPER(stats.reserved1[2] = 1);
    TAMPER((stats.request.want = FPEMU_STATS_HISTOGRAM, stats.request.histogram_length = 8));
    TAMPER((stats.request.want = FPEMU_STATS_HISTOGRAM, stats.request.histogram = bins,
            stats.request.histogram_length = 2));
    TAMPER((stats.request.want = FPEMU_STATS_HISTOGRAM, stats.request.histogram = bins,
            stats.request.histogram_length = 0));
#undef TAMPER
}
END_TEST

static void all_zero(const void *object, size_t size, const char *what)
{
    for (size_t i = 0; i < size; i++)
        ck_assert_msg(((const unsigned char *)object)[i] == 0, "%s: byte %zu is not 0", what, i);
}

/* The call fails with this status and leaves `object`, full before, all zero. */
#define LEAVES_ZERO(status, object, call)                                                                              \
    do {                                                                                                               \
        memset(&(object), 0x5a, sizeof(object));                                                                       \
        ck_assert_int_eq(call, status);                                                                                \
        all_zero(&(object), sizeof(object), #call);                                                                    \
    } while (0)

START_TEST(structs_after_a_refusal)
{
    fpemu_format f, good = format_of("e4m3fn");
    fpemu_rounding r;
    fpemu_gemm_spec s;
    fpemu_shape shape;
    fpemu_layout layout;
    fpemu_extent extent;
    static const float falling[] = {1, 0, -1};
    static const uint64_t sizes[] = {UINT64_C(1) << 40, UINT64_C(1) << 40};
    LEAVES_ZERO(FPEMU_ERROR_SPEC, f, fpemu_format_parse("fp(4,3", &f, NULL));
    LEAVES_ZERO(FPEMU_ERROR_NULL, f, fpemu_format_parse(NULL, &f, NULL));
    LEAVES_ZERO(FPEMU_ERROR_ARGUMENT, f, fpemu_format_named(FPEMU_NAME_NONE, &f));
    LEAVES_ZERO(FPEMU_ERROR_ARGUMENT, f, fpemu_format_named(FPEMU_NAME_COUNT, &f));
    LEAVES_ZERO(FPEMU_ERROR_FORMAT, f, fpemu_format_float(&f, 12, 3, 0, FPEMU_SPECIALS_IEEE, 1));
    LEAVES_ZERO(FPEMU_ERROR_FORMAT, f, fpemu_format_lee(&f, 9, 3, 0));
    LEAVES_ZERO(FPEMU_ERROR_FORMAT, f, fpemu_format_p3109(&f, 99, 9, 1, 1));
    LEAVES_ZERO(FPEMU_ERROR_FORMAT, f, fpemu_format_fixed(&f, 65, 0, 1));
    LEAVES_ZERO(FPEMU_ERROR_FORMAT, f, fpemu_format_int(&f, 8, 1, NAN, 0));
    LEAVES_ZERO(FPEMU_ERROR_FORMAT, f, fpemu_format_posit(&f, 33, 2));
    LEAVES_ZERO(FPEMU_ERROR_FORMAT, f, fpemu_format_codebook(&f, FPEMU_CODEBOOK_NF4, 5));
    LEAVES_ZERO(FPEMU_ERROR_FORMAT, f, fpemu_format_table(&f, 3, falling));
    LEAVES_ZERO(FPEMU_ERROR_FORMAT, f,
                fpemu_format_blocked(&f, &good, FPEMU_SCALING_COUNT, NULL, 8, FPEMU_BLOCK_RUN, 0, 32));
    LEAVES_ZERO(FPEMU_ERROR_NULL, f, fpemu_format_element(NULL, &f));
    LEAVES_ZERO(FPEMU_ERROR_FORMAT, f, fpemu_format_element(&f, &f));
    LEAVES_ZERO(FPEMU_ERROR_UNSUPPORTED, f, fpemu_format_scale(&good, &f));
    LEAVES_ZERO(FPEMU_ERROR_FORMAT, f, fpemu_format_complete(&f));
    LEAVES_ZERO(FPEMU_ERROR_SPEC, r, fpemu_rounding_parse("up and down", &r, NULL));
    LEAVES_ZERO(FPEMU_ERROR_NULL, r, fpemu_rounding_parse(NULL, &r, NULL));
    LEAVES_ZERO(FPEMU_ERROR_SPEC, s, fpemu_gemm_parse("chunk(64,fp16", &s, NULL));
    LEAVES_ZERO(FPEMU_ERROR_UNSUPPORTED, s, fpemu_gemm_parse("seq(nf4)", &s, NULL));
    LEAVES_ZERO(FPEMU_ERROR_UNSUPPORTED, s,
                fpemu_gemm_tensor_core(&s, FPEMU_GPU_V100, FPEMU_NAME_BFLOAT16, FPEMU_NAME_BINARY32));
    LEAVES_ZERO(FPEMU_ERROR_UNSUPPORTED, s,
                fpemu_gemm_tensor_core(&s, (fpemu_gpu)99, FPEMU_NAME_BINARY16, FPEMU_NAME_BINARY32));
    LEAVES_ZERO(FPEMU_ERROR_ARGUMENT, shape, fpemu_shape_of(2, sizes, -1, &shape));
    LEAVES_ZERO(FPEMU_ERROR_ARGUMENT, shape, fpemu_shape_of(2, sizes, 2, &shape));
    LEAVES_ZERO(FPEMU_ERROR_NULL, shape, fpemu_shape_of(2, NULL, 0, &shape));
    const fpemu_shape large = fpemu_shape_vector(UINT64_C(1) << 60), small = fpemu_shape_vector(8);
    LEAVES_ZERO(FPEMU_ERROR_ARGUMENT, layout, fpemu_packed_layout(&good, &large, &layout));
    LEAVES_ZERO(FPEMU_ERROR_NULL, layout, fpemu_packed_layout(NULL, &small, &layout));
    LEAVES_ZERO(FPEMU_ERROR_ARGUMENT, extent, fpemu_packed_extent(&good, &small, 99, &extent));
    LEAVES_ZERO(FPEMU_ERROR_ARGUMENT, extent, fpemu_packed_extent(&good, &large, 0, &extent));
}
END_TEST

/* The call is refused and leaves one zero byte in `text`, where there is room for it. */
#define EMPTIES(error, call)                                                                                           \
    do {                                                                                                               \
        memset(text, 'x', sizeof text);                                                                                \
        ck_assert_int_eq(call, FPEMU_ERROR_##error);                                                                   \
        for (size_t i = 0; i < sizeof text; i++)                                                                       \
            ck_assert_int_eq(text[i], i == 0 && capacity > 0 ? '\0' : 'x');                                            \
    } while (0)

START_TEST(texts_after_a_refusal)
{
    const fpemu_format good = format_of("e4m3fn:nosub"), none = {0};
    const fpemu_gemm_spec empty = {0}, s = model_of("seq(fp(6,9,0))");
    char text[16];
    for (size_t capacity = 0; capacity < sizeof "e4m3fn:nosub"; capacity++) {
        EMPTIES(BUFFER, fpemu_format_print(&good, text, capacity));
        EMPTIES(FORMAT, fpemu_format_print(&none, text, capacity));
        EMPTIES(NULL, fpemu_format_print(NULL, text, capacity));
        EMPTIES(BUFFER, fpemu_gemm_print(&s, text, capacity));
        EMPTIES(ARGUMENT, fpemu_gemm_print(&empty, text, capacity));
        EMPTIES(NULL, fpemu_gemm_print(NULL, text, capacity));
    }
    GIVES_OK(fpemu_format_print(&good, text, sizeof "e4m3fn:nosub"));
    ck_assert_str_eq(text, "e4m3fn:nosub");
    REFUSES(NULL, fpemu_format_print(&good, NULL, 0), fpemu_format_parse("bf16", NULL, NULL));
}
END_TEST

/* What a verb takes and writes. */
typedef struct places {
    unsigned char out[65536 * 2];
    fpemu_stats stats;
    fpemu_range range;
} places;
static places to, kept;

static void clear(void)
{
    memset(&to, 0, sizeof to);
    memset(to.out, 0x5a, sizeof to.out);
}

static int is_clear(void)
{
    places other;
    memcpy(&other, &to, sizeof to);
    clear();
    return memcmp(&to, &other, sizeof to) == 0;
}

/* The number i/4 - 3, which every type has, for each i. */
static void fill(fpemu_type type, void *x)
{
    fpemu_format word = format_of(type == FPEMU_TYPE_F16 ? "fp16" : "bf16");
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    for (int i = 0; i < N; i++) {
        const double v = i * 0.25 - 3;
        if (type == FPEMU_TYPE_F64)
            ((double *)x)[i] = v;
        else if (type == FPEMU_TYPE_F32)
            ((float *)x)[i] = (float)v;
        else
            ((uint16_t *)x)[i] = (uint16_t)fpemu_encode_one_f64(&word, &nearest, v, 0);
    }
}

#define LISTED(...) __VA_ARGS__
/* The verb with its type as an argument, between `before` and the rest, succeeds and writes; so does the name with the
 * type T, and the same. Other numbers than types are refused, and nothing is written. */
#define SAME(verb, T, type, others, before, ...)                                                                       \
    do {                                                                                                               \
        clear();                                                                                                       \
        ck_assert_int_eq(fpemu_##verb(LISTED before type, __VA_ARGS__), FPEMU_OK);                                     \
        memcpy(&kept, &to, sizeof to);                                                                                 \
        ck_assert(!is_clear());                                                                                        \
        ck_assert_int_eq(fpemu_##verb##_##T(LISTED before __VA_ARGS__), FPEMU_OK);                                     \
        ck_assert_msg(memcmp(&kept, &to, sizeof to) == 0, "fpemu_" #verb "_" #T);                                      \
        clear();                                                                                                       \
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)                                                    \
            ck_assert_int_eq(fpemu_##verb(LISTED before others[k], __VA_ARGS__), FPEMU_ERROR_ARGUMENT);                \
        ck_assert_msg(is_clear(), "fpemu_" #verb " wrote");                                                            \
    } while (0)
#define VERBS_OF_ARRAYS(T, type)                                                                                       \
    do {                                                                                                               \
        fill(type, x);                                                                                                 \
        ck_assert_int_eq(fpemu_format_fits_##T(&wide), fpemu_format_fits(&wide, type));                                \
        SAME(quantize, T, type, none, (&f, &r, ), N, x, out, &to.stats);                                               \
        SAME(encode, T, type, none, (&f, &r, ), N, x, out, &to.stats);                                                 \
        SAME(decode, T, type, none, (&f, ), N, bytes, out);                                                            \
        SAME(measure, T, type, none, (&b, ), N, x, &to.range);                                                         \
        SAME(quantize_tensor, T, type, none, (&b, &r, ), &shape, x, out, &to.stats);                                   \
        SAME(scales, T, type, none, (&b, ), &shape, x, out, second, third);                                            \
        SAME(pack, T, type, none, (&b, &r, ), &shape, x, out, &to.stats);                                              \
        SAME(unpack, T, type, none, (&b, ), &shape, bytes, out);                                                       \
        SAME(pack_blocks, T, type, none, (&b, &r, ), &shape, 1, 1, x, out, &to.stats);                                 \
        SAME(unpack_blocks, T, type, none, (&b, ), &shape, 1, 1, bytes, out);                                          \
        SAME(arith, T, type, none, (&f, &r, ), FPEMU_OPERATION_SUB, N, operands, steps, out, &to.stats);               \
        SAME(arith_scaled, T, type, none, (&f, &r, ), FPEMU_OPERATION_MUL, N, operands, steps, scales, out, NULL);     \
        SAME(apply, T, type, none, (&f, &r, ), FPEMU_FUNCTION_EXP, N, x, out, &to.stats);                              \
        SAME(compare, T, type, none, (), FPEMU_RELATION_LT, N, operands, steps, out);                                  \
        SAME(compare_scaled, T, type, none, (), FPEMU_RELATION_LE, N, operands, steps, scales, out);                   \
    } while (0)
#define VERBS_OF_CARRIERS(T, type)                                                                                     \
    do {                                                                                                               \
        fill(type, x);                                                                                                 \
        SAME(unpack_scales, T, type, none, (&b, ), &shape, 1, 1, bytes, out);                                          \
        SAME(gemm, T, type, words, (&sum, &matrix, ), 2, x, x, 0, out, &to.stats);                                     \
        SAME(gemm_scaled, T, type, words, (&chunks, &matrix, ), 1, x, x, x, NULL, 0, out, NULL);                       \
        SAME(gemv, T, type, words, (&sum, FPEMU_ORDER_ROW_MAJOR, 0, 2, 3, ), 2, x, 3, x, 1, 0, out, 1, NULL);          \
        SAME(dot, T, type, words, (&sum, 5, ), x, 1, x, 2, out, NULL);                                                 \
    } while (0)

START_TEST(types)
{
    static const fpemu_type none[] = {(fpemu_type)0, (fpemu_type)-32, (fpemu_type)33, (fpemu_type)128},
                            words[] = {FPEMU_TYPE_F16, FPEMU_TYPE_BF16, (fpemu_type)0, (fpemu_type)80},
                            carriers[] = {FPEMU_TYPE_F32, FPEMU_TYPE_F64, (fpemu_type)0};
    static double numbers[N];
    void *const x = numbers, *const out = to.out, *const second = to.out + 64, *const third = to.out + 128;
    const void *const both[] = {x, x};
    void *const operands = (void *)(uintptr_t)both;
    const size_t steps[] = {1, 0};
    const fpemu_operand_scales scales[2] = {{.values = x, .length = 3}};
    unsigned char bytes[2 * N];
    const fpemu_format f = format_of("e4m3"), b = format_of("mxfp8"), wide = format_of("e8m7");
    const fpemu_rounding r = fpemu_rounding_stochastic(1, 2);
    const fpemu_shape shape = fpemu_shape_vector(N);
    const fpemu_gemm_shape matrix = {.m = 3, .n = 2, .k = 4};
    fpemu_gemm_spec sum, chunks;
    memset(bytes, 0x31, sizeof bytes);
    ck_assert_int_eq(fpemu_gemm_parse("seq(fp16)", &sum, NULL), FPEMU_OK);
    ck_assert_int_eq(fpemu_gemm_parse("chunk(2,fp16)", &chunks, NULL), FPEMU_OK);
    VERBS_OF_ARRAYS(f32, FPEMU_TYPE_F32);
    VERBS_OF_ARRAYS(f64, FPEMU_TYPE_F64);
    VERBS_OF_ARRAYS(f16, FPEMU_TYPE_F16);
    VERBS_OF_ARRAYS(bf16, FPEMU_TYPE_BF16);
    VERBS_OF_CARRIERS(f32, FPEMU_TYPE_F32);
    VERBS_OF_CARRIERS(f64, FPEMU_TYPE_F64);
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    SAME(function_table, f16, FPEMU_TYPE_F16, carriers, (&f, &nearest, ), FPEMU_FUNCTION_EXP, out);
    SAME(function_table, bf16, FPEMU_TYPE_BF16, carriers, (&f, &nearest, ), FPEMU_FUNCTION_EXP, out);
    ck_assert(!fpemu_format_fits(&wide, FPEMU_TYPE_F16) && fpemu_format_fits(&wide, FPEMU_TYPE_BF16));
    ck_assert(!fpemu_format_fits(&f, none[0]) && !fpemu_format_fits(&f, none[3]));

    /* factors of products of binary32 are such numbers */
    const struct {
        double factor;
        fpemu_status status;
    } factors[] = {
        {0.1, FPEMU_ERROR_ARGUMENT}, {1e39, FPEMU_ERROR_ARGUMENT}, {0x1p-150, FPEMU_ERROR_ARGUMENT}, {0.1f, FPEMU_OK},
        {0x1p-149, FPEMU_OK},        {INFINITY, FPEMU_OK}};
    for (size_t k = 0; k < sizeof factors / sizeof *factors; k++) {
        const double a = factors[k].factor;
        fill(FPEMU_TYPE_F32, x);
        memset(to.out, 0, sizeof to.out);
        ck_assert_int_eq(fpemu_gemm(&sum, &matrix, FPEMU_TYPE_F32, a, x, x, 1, out, NULL), factors[k].status);
        ck_assert_int_eq(fpemu_gemm(&sum, &matrix, FPEMU_TYPE_F32, 1, x, x, a, out, NULL), factors[k].status);
        fill(FPEMU_TYPE_F64, x);
        ck_assert_int_eq(fpemu_gemm(&sum, &matrix, FPEMU_TYPE_F64, a, x, x, a, out, NULL), FPEMU_OK);
    }
}
END_TEST

int main(void)
{
    return RUN_SUITE("arguments", setup, null_pointers, formats_out_of_range, roundings_out_of_range, nan_is_an_error,
                     stats_out_of_range, structs_after_a_refusal, texts_after_a_refusal, types);
}
