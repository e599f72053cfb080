/* SPDX-License-Identifier: BSD-2-Clause */
/* check_block.c - quantising with scales: what is refused, shapes and strides, and that no path, split, number of
 * threads or floating-point environment changes a bit. The values themselves are the judge's
 * (tests/against_judges/blocks.c). */
#include <check.h>
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "fpemu.h"

enum { N = 3000 };

static const char *const specs[] = {
    "mxfp8",
    "mxfp8_e5m2",
    "mxfp6_e2m3",
    "mxfp6_e3m2",
    "mxfp4",
    "mxint8",
    "msfp12",
    "msfp16",
    "nvfp4",
    "nf4",
    "s2fp8",
    "mx(e4m3fn,rule=ceil)",
    "mx(e2m1,rule=even)",
    "mx(e3m2,rule=rceil,block=16)",
    "mx(e4m3fnuz)",
    "mx(bf16,block=8)",
    "mx(e2m1,scale=e4m3fn)",
    "bfp(7,block=5,exponent=4)",
    "bfp(12,block=64,rule=hbfp)",
    "bfp(3,block=row)",
    "bm(2,5)",
    "bfp(4,block=tensor)",
    "bfp(4,block=channel)",
    "bfp(4,block=3x4)",
    "hbfp(8)",
    "group(int4,24)",
    "group(e4m3fn,7)",
    "codebook(dynamic8,100)",
    "scaled(e5m2,block=row)",
    "scaled(e4m3fn,rule=recipe-pow2)",
    "muppet(8)",
    "muppet(8,block=9)",
    "nvfp4(e2m1,rule=nvfp4-ao)",
    "table(nf4)",
    "e4m3fn",
    "mx(uint4,block=8)",
    "mx(int8,block=16)",
    "group(e2m1,block=8,scale=e8m0)",
};
enum { SPECS = sizeof specs / sizeof specs[0] };

static float x[N], y[N], z[N];
static double x64[N], y64[N], z64[N];

static fpemu_format format(const char *spec)
{
    fpemu_format f;
    ck_assert_msg(fpemu_format_parse(spec, &f, NULL) == FPEMU_OK, "cannot parse %s", spec);
    return f;
}

static uint64_t state;

static uint32_t next(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33);
}

/* Numbers of every size: kind 0 a few binades, 1 every exponent, 2 with zeros, NaN and infinities among them. */
static void fill(int kind)
{
    for (int i = 0; i < N; i++) {
        uint32_t u = next() << 1 ^ next();
        if (kind == 0)
            u = (u & 0x807fffffu) | (120 + next() % 10) << 23;
        if (kind == 2 && next() % 3 == 0)
            u = (u & 0x80000000u) | (next() % 4 ? 0 : next() % 2 ? 0x7f800000u : 0x7fc00000u);
        if (kind == 1 && (u & 0x7f800000u) == 0x7f800000u)
            u ^= 0x40000000u;
        if (kind == 1 && i / 50 % 5 == 0)
            u &= 0x80000000u;
        memcpy(x + i, &u, sizeof u);
        x64[i] = (double)x[i];
    }
}

static int same(const void *a, const void *b, size_t n)
{
    return memcmp(a, b, n) == 0;
}

static fpemu_rounding rounding(int k)
{
    fpemu_rounding r = k % 3 == 0 ? fpemu_rounding_nearest() : fpemu_rounding_stochastic(7, 3);
    r.mode = k % 3 == 2 ? FPEMU_MODE_RTP : r.mode;
    r.bits = k % 3 == 1 && k % 2 ? 9 : 0;
    return r;
}

/* Without counters some formats take a shorter way: it gives the same bits. */
START_TEST(short_ways)
{
    for (int k = 0; k < 12; k++) {
        fill(k % 4 % 3);
        for (int i = 0; i < SPECS; i++) {
            const fpemu_format f = format(specs[i]);
            const fpemu_rounding r = rounding(k / 2);
            const size_t n = (size_t)(k % 2 ? N : 1 + next() % 300);
            fpemu_stats stats = {0};
            const fpemu_status status = fpemu_quantize_f32(&f, &r, n, x, y, NULL);
            ck_assert_int_eq(status, fpemu_quantize_f32(&f, &r, n, x, z, &stats));
            ck_assert_msg(status == FPEMU_OK && same(y, z, n * sizeof *y), "%s", specs[i]);
            stats = (fpemu_stats){0};
            ck_assert_int_eq(fpemu_quantize_f64(&f, &r, n, x64, y64, NULL), FPEMU_OK);
            ck_assert_int_eq(fpemu_quantize_f64(&f, &r, n, x64, z64, &stats), FPEMU_OK);
            ck_assert_msg(same(y64, z64, n * sizeof *y64), "%s", specs[i]);
            ck_assert_uint_eq(stats.count, n);
        }
    }
}
END_TEST

/* A few elements, none or some of them NaN or infinite, beside the range of another tensor: counted or not, and as the
 * first of many. */
START_TEST(few)
{
    fill(0);
    for (int i = 0; i < SPECS; i++) {
        const fpemu_format f = format(specs[i]);
        fpemu_range range = {0};
        ck_assert_int_eq(fpemu_measure_f32(&f, N, x, &range), FPEMU_OK);
        for (int k = 0; k < 60; k++) {
            const float special = k % 3 == 1 ? NAN : INFINITY, given = k % 3 ? special : -1;
            const size_t n = 1 + next() % (k % 2 ? 12 : 256), from = next() % (N - 300), at = from + next() % n;
            const float kept = x[at];
            fpemu_shape shape = fpemu_shape_vector(n);
            fpemu_rounding r = rounding(k / 4);
            fpemu_stats stats = {0};
            x[at] = given;
            shape.whole = k % 5 ? &range : NULL;
            r.offset = (uint64_t)k;
            ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, x + from, y, NULL), FPEMU_OK);
            ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, x + from, z, &stats), FPEMU_OK);
            ck_assert_msg(same(y, z, n * sizeof *y), "%s", specs[i]);
            const size_t whole = f.block_length ? n / f.block_length * f.block_length : n;
            shape.length = N - from;
            if (shape.whole && (f.block_length || f.block == FPEMU_BLOCK_TENSOR)) {
                ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, x + from, z, NULL), FPEMU_OK);
                ck_assert_msg(same(y, z, whole * sizeof *y), "%s, among many", specs[i]);
            }
            x[at] = kept;
        }
    }
}
END_TEST

START_TEST(in_place)
{
    fill(2);
    for (int i = 0; i < SPECS; i++) {
        const fpemu_format f = format(specs[i]);
        const fpemu_rounding r = rounding(i);
        const fpemu_shape shape = {2, 30, 10, 5, {0}, {0}, {NULL}, {0}};
        ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, x, y, NULL), FPEMU_OK);
        memcpy(z, x, sizeof z);
        ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, z, z, NULL), FPEMU_OK);
        ck_assert_msg(same(y, z, sizeof y), "%s", specs[i]);
    }
}
END_TEST

/* A tensor stored in another order of axes, backwards along one of them, with gaps in the output. */
START_TEST(strides)
{
    static float wide[2 * N];
    fill(0);
    for (int i = 0; i < SPECS; i++) {
        const fpemu_format f = format(specs[i]);
        const fpemu_rounding r = rounding(i);
        fpemu_shape shape = {3, 20, 10, 5, {0}, {0}, {NULL}, {0}};
        ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, x, y, NULL), FPEMU_OK);
        for (int o = 0; o < 3; o++)
            for (int q = 0; q < 20; q++)
                for (int l = 0; l < 10; l++)
                    for (int e = 0; e < 5; e++)
                        z[(e * 10 + l) * 60 + o * 20 + (19 - q)] = x[((o * 20 + q) * 10 + l) * 5 + e];
        const int64_t from[4] = {20, -1, 60, 600}, to[4] = {2000, 100, 10, 2};
        memcpy(shape.x_stride, from, sizeof from);
        memcpy(shape.y_stride, to, sizeof to);
        for (int k = 0; k < 2 * N; k++)
            wide[k] = -77;
        ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, z + 19, wide, NULL), FPEMU_OK);
        for (int k = 0; k < N; k++) {
            ck_assert_msg(same(wide + 2 * k, y + k, sizeof *y), "%s, element %d", specs[i], k);
            ck_assert(wide[2 * k + 1] == -77.0f);
        }
        memset(shape.x_stride, 0, sizeof shape.x_stride); /* one run of elements, but for the gaps */
        memset(wide, 0, sizeof wide);
        ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, x, wide, NULL), FPEMU_OK);
        for (int k = 0; k < N; k++)
            ck_assert_msg(same(wide + 2 * k, y + k, sizeof *y), "%s, element %d in order", specs[i], k);
    }
}
END_TEST

/* Slices that begin at a block, with the range of the whole, give the bits and the counters of one call. */
START_TEST(slices)
{
    static uint64_t bins[2][30];
    fill(2);
    for (int i = 0; i < SPECS; i++) {
        const fpemu_format f = format(specs[i]);
        fpemu_rounding r = rounding(i);
        fpemu_range range = {0};
        fpemu_stats one = {0}, two = {0};
        const uint64_t cut = f.scaling && f.block == FPEMU_BLOCK_RUN ? (uint64_t)f.block_length : 1;
        const size_t first = (size_t)(2048 / cut * cut);
        if (f.scaling && f.block != FPEMU_BLOCK_RUN)
            continue; /* one block */
        one.request.want = two.request.want = (f.scaling ? FPEMU_STATS_SUMS | FPEMU_STATS_SCALES : 0);
        one.request.scale_histogram = bins[0];
        two.request.scale_histogram = bins[1];
        one.request.scale_first = two.request.scale_first = -20;
        one.request.scale_length = two.request.scale_length = 30;
        memset(bins, 0, sizeof bins);
        fpemu_shape shape = fpemu_shape_vector(N);
        ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, x, y, &one), FPEMU_OK);
        ck_assert_int_eq(fpemu_measure_f32(&f, 1000, x + 2000, &range), FPEMU_OK);
        ck_assert_int_eq(fpemu_measure_f32(&f, 2000, x, &range), FPEMU_OK);
        shape = fpemu_shape_vector(first);
        shape.whole = &range;
        ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, x, z, &two), FPEMU_OK);
        shape.length = N - first;
        r.offset += first;
        ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, x + first, z + first, &two), FPEMU_OK);
        ck_assert_msg(same(y, z, sizeof y), "%s", specs[i]);
        ck_assert(same(bins[0], bins[1], sizeof bins[0]));
        two.request.scale_histogram = one.request.scale_histogram;
        ck_assert_msg(same(&one, &two, sizeof one), "%s", specs[i]);
    }
}
END_TEST

/* Large enough for several threads, if there are several, against pieces that one thread does. */
START_TEST(threads)
{
    enum { M = 1 << 19, PIECE = 1 << 16 };
    float *const a = malloc(3 * M * sizeof *a), *const b = a + M, *const c = b + M;
    const char *const cases[] = {"mxfp4", "bfp(7,block=row)", "group(int4,64)", "bfp(7,block=channel)"};
    ck_assert_ptr_nonnull(a);
    for (int i = 0; i < M; i++)
        a[i] = (float)next() / 2147483648.0f - 0.5f;
    for (int i = 0; i < 4; i++) {
        const fpemu_format f = format(cases[i]);
        fpemu_rounding r = fpemu_rounding_stochastic(1, 2);
        fpemu_stats one = {0}, two = {0};
        fpemu_shape shape = {8, 1, PIECE, 1, {0}, {0}, {NULL}, {0}};
        one.request.want = two.request.want = FPEMU_STATS_SUMS;
        if (i == 3) {
            shape.outer = 1;
            shape.length = 8;
            shape.inner = PIECE;
        }
        ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, a, b, &one), FPEMU_OK);
        shape.outer = 1;
        shape.length = i == 3 ? 1 : PIECE;
        for (int k = 0; k < 8; k++, r.offset += PIECE)
            ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, a + k * PIECE, c + k * PIECE, &two), FPEMU_OK);
        ck_assert_msg(same(b, c, M * sizeof *b), "%s", cases[i]);
        ck_assert_msg(same(&one, &two, sizeof one), "%s", cases[i]);
    }
    /* a block of the whole tensor: the same bits with and without the pass that finds its scale */
    const fpemu_format f = format("s2fp8");
    const fpemu_rounding r = fpemu_rounding_nearest();
    fpemu_range range = {0};
    fpemu_shape shape = fpemu_shape_vector(M);
    ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, a, b, NULL), FPEMU_OK);
    for (int k = 0; k < 8; k++)
        ck_assert_int_eq(fpemu_measure_f32(&f, PIECE, a + k * PIECE, &range), FPEMU_OK);
    shape.whole = &range;
    shape.length = PIECE;
    for (int k = 0; k < 8; k++)
        ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, a + k * PIECE, c + k * PIECE, NULL), FPEMU_OK);
    ck_assert(same(b, c, M * sizeof *b));
    free(a);
}
END_TEST

START_TEST(environment)
{
    fill(1);
    for (int i = 0; i < SPECS; i++) {
        const fpemu_format f = format(specs[i]);
        const fpemu_rounding r = rounding(i);
        fpemu_range one = {0}, two = {0};
        ck_assert_int_eq(fpemu_quantize_f32(&f, &r, N, x, y, NULL), FPEMU_OK);
        ck_assert_int_eq(fpemu_measure_f64(&f, N, x64, &one), FPEMU_OK);
        ck_assert_int_eq(fesetround(FE_UPWARD), 0);
        const fpemu_status status = fpemu_quantize_f32(&f, &r, N, x, z, NULL);
        const fpemu_status measured = fpemu_measure_f64(&f, N, x64, &two);
        ck_assert_int_eq(fegetround(), FE_UPWARD);
        fesetround(FE_TONEAREST);
        ck_assert(status == FPEMU_OK && measured == FPEMU_OK);
        ck_assert_msg(same(y, z, sizeof y) && same(&one, &two, sizeof one), "%s", specs[i]);
    }
}
END_TEST

#ifdef __SSE2__
/* Subnormals in a format's own numbers, where the caller has them flushed. */
START_TEST(flushing)
{
    const float values[2] = {0, 0x1p-140f};
    const fpemu_format steps = format("int(8,scale=1e-310)");
    const fpemu_shape shape = fpemu_shape_vector(N);
    const uint8_t code = 1;
    fpemu_format table;
    double decoded = 0;
    ck_assert_int_eq(fpemu_format_table(&table, 2, values), FPEMU_OK);
    const uint64_t size = fpemu_packed_size(&steps, &shape);
    const unsigned kept = _mm_getcsr();
    _mm_setcsr(kept | 0x8040); /* FTZ, DAZ */
    const uint64_t flushed = fpemu_packed_size(&steps, &shape);
    const fpemu_status status = fpemu_decode_f64(&table, 1, &code, &decoded);
    const double one = fpemu_decode_one_f64(&table, 1);
    _mm_setcsr(kept);
    ck_assert(size == N && flushed == size);
    ck_assert(status == FPEMU_OK && decoded == 0x1p-140 && one == 0x1p-140);
}
END_TEST
#endif

START_TEST(refused)
{
    const fpemu_format f = format("mxfp4"), table = format("table(nf4)");
    const fpemu_rounding r = fpemu_rounding_nearest();
    fpemu_rounding other = r;
    fpemu_shape shape = {2, 2, 40, 2, {0}, {0}, {NULL}, {0}};
    fpemu_stats stats = {0};
    fpemu_range range = {0};
    const float *const pair[] = {x, x};
    uint8_t codes[N];
    fill(0);
    for (int i = 0; i < N; i++)
        y[i] = z[i] = -77;
    ck_assert_int_eq(fpemu_quantize_tensor_f32(NULL, &r, &shape, x, y, NULL), FPEMU_ERROR_NULL);
    ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, NULL, &shape, x, y, NULL), FPEMU_ERROR_NULL);
    ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, NULL, x, y, NULL), FPEMU_ERROR_NULL);
    ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, NULL, y, NULL), FPEMU_ERROR_NULL);
    ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, x, NULL, NULL), FPEMU_ERROR_NULL);
    ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, x, x + 1, NULL), FPEMU_ERROR_OVERLAP);
    ck_assert_int_eq(fpemu_quantize_f32(&f, &r, 100, x, x + 99, NULL), FPEMU_ERROR_OVERLAP);
    stats.request.want = 8;
    ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, x, y, &stats), FPEMU_ERROR_STATS);
    stats.request.want = FPEMU_STATS_SCALES;
    ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, x, y, &stats), FPEMU_ERROR_STATS);
    shape.reserved0[1] = 1;
    ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, x, y, NULL), FPEMU_ERROR_ARGUMENT);
    shape.reserved0[1] = 0;
    shape.y_stride[3] = 1; /* the others 0: elements on top of one another */
    ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, x, y, NULL), FPEMU_ERROR_ARGUMENT);
    shape.y_stride[3] = 0;
    shape.inner = UINT64_C(1) << 62;
    ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, x, y, NULL), FPEMU_ERROR_ARGUMENT);
    shape.inner = 0;
    ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, NULL, NULL, NULL), FPEMU_OK);
    shape.inner = 2;
    range.amax = -1;
    shape.whole = &range;
    ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, x, y, NULL), FPEMU_ERROR_ARGUMENT);
    other.compat = FPEMU_COMPAT_QPYTORCH;
    ck_assert_int_eq(fpemu_quantize_f32(&f, &other, N, x, y, NULL), FPEMU_ERROR_UNSUPPORTED);
    other = r;
    other.mode = FPEMU_MODE_RNA;
    ck_assert_int_eq(fpemu_quantize_f32(&table, &other, N, x, y, NULL), FPEMU_ERROR_UNSUPPORTED);
    ck_assert_int_eq(fpemu_encode_f32(&f, &r, N, x, codes, NULL), FPEMU_ERROR_UNSUPPORTED);
    ck_assert_int_eq(fpemu_decode_f32(&f, N, codes, y), FPEMU_ERROR_UNSUPPORTED);
    ck_assert_int_eq(fpemu_arith_f32(&f, &r, FPEMU_OPERATION_ADD, N, pair, NULL, y, NULL), FPEMU_ERROR_UNSUPPORTED);
    ck_assert_int_eq(fpemu_arith_f32(&table, &r, FPEMU_OPERATION_ADD, N, pair, NULL, y, NULL), FPEMU_ERROR_UNSUPPORTED);
    ck_assert(isnan(fpemu_quantize_one_f32(&f, &r, 1, 0)) && isnan(fpemu_decode_one_f64(&f, 1)));
    ck_assert(same(y, z, sizeof y));
    ck_assert_uint_eq(stats.count, 0);
    ck_assert_int_eq(fpemu_measure_f32(&f, 1, NULL, &range), FPEMU_ERROR_NULL);
    ck_assert_int_eq(fpemu_measure_f32(&f, 1, x, &range), FPEMU_ERROR_ARGUMENT);
}
END_TEST

/* Scalar forms, codes and arrays of a codebook agree. */
START_TEST(codebooks)
{
    const fpemu_format f = format("table(dynamic8)");
    uint8_t codes[N];
    fill(0);
    for (int k = 0; k < 2; k++) {
        const fpemu_rounding r = rounding(k);
        ck_assert_int_eq(fpemu_quantize_f32(&f, &r, N, x, y, NULL), FPEMU_OK);
        ck_assert_int_eq(fpemu_encode_f32(&f, &r, N, x, codes, NULL), FPEMU_OK);
        ck_assert_int_eq(fpemu_decode_f32(&f, N, codes, z), FPEMU_OK);
        ck_assert(same(y, z, sizeof y));
        for (int i = 0; i < N; i++) {
            ck_assert(fpemu_quantize_one_f32(&f, &r, x[i], (uint64_t)i) == y[i]);
            ck_assert_uint_eq(fpemu_encode_one_f32(&f, &r, x[i], (uint64_t)i), codes[i]);
            ck_assert(fpemu_decode_one_f64(&f, codes[i]) == (double)y[i]);
        }
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("block");
    TCase *t = tcase_create("block");
    tcase_set_timeout(t, 240);
    tcase_add_test(t, short_ways);
    tcase_add_test(t, few);
    tcase_add_test(t, in_place);
    tcase_add_test(t, strides);
    tcase_add_test(t, slices);
    tcase_add_test(t, threads);
    tcase_add_test(t, environment);
#ifdef __SSE2__
    tcase_add_test(t, flushing);
#endif
    tcase_add_test(t, refused);
    tcase_add_test(t, codebooks);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
