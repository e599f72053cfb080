/* SPDX-License-Identifier: BSD-2-Clause */
/* check_block.c - quantising with scales: what is refused, and that neither counting nor cutting changes a bit. Values,
 * shapes and strides are the judge's (tests/against_judges/blocks.c), environments tests/surroundings'. */
#include "suite.h"
#include <math.h>
#include <string.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

enum { N = 3000 };

static const char *const specs[] =
    LIST("mxfp8", "mxfp8_e5m2", "mxfp6_e2m3", "mxfp6_e3m2", "mxfp4", "mxint8", "msfp12", "msfp16", "nvfp4", "nf4",
         "s2fp8", "mx(e4m3fn,rule=ceil)", "mx(e2m1,rule=even)", "mx(e3m2,rule=rceil,block=16)", "mx(e4m3fnuz)",
         "mx(bf16,block=8)", "mx(e2m1,scale=e4m3fn)", "bfp(7,block=5,exponent=4)", "bfp(12,block=64,rule=hbfp)",
         "bfp(3,block=row)", "bm(2,5)", "bfp(4,block=tensor)", "bfp(4,block=channel)", "bfp(4,block=3x4)", "hbfp(8)",
         "group(int4,24)", "group(e4m3fn,7)", "codebook(dynamic8,100)", "scaled(e5m2,block=row)",
         "scaled(e4m3fn,rule=recipe-pow2)", "muppet(8)", "muppet(8,block=9)", "nvfp4(e2m1,rule=nvfp4-ao)", "table(nf4)",
         "e4m3fn", "mx(uint4,block=8)", "mx(int8,block=16)", "group(e2m1,block=8,scale=e8m0)");
enum { SPECS = sizeof specs / sizeof specs[0] };

static float x[N], y[N], z[N];
static double x64[N], y64[N], z64[N];

/* Numbers of every size: kind 0 a few binades, 1 every exponent, 2 with zeros, NaN and infinities among them. */
static void fill(int kind)
{
    for (int i = 0; i < N; i++) {
        uint32_t u = random_word() << 1 ^ random_word();
        if (kind == 0)
            u = (u & 0x807fffffu) | (120 + random_word() % 10) << 23;
        if (kind == 2 && random_word() % 3 == 0)
            u = (u & 0x80000000u) | (random_word() % 4 ? 0 : random_word() % 2 ? 0x7f800000u : 0x7fc00000u);
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
            const fpemu_format f = format_of(specs[i]);
            const fpemu_rounding r = rounding(k / 2);
            const size_t n = (size_t)(k % 2 ? N : 1 + random_word() % 300);
            fpemu_stats stats = {0};
            const fpemu_status status = fpemu_quantize_f32(&f, &r, n, x, y, NULL);
            ck_assert_int_eq(status, fpemu_quantize_f32(&f, &r, n, x, z, &stats));
            ck_assert_msg(status == FPEMU_OK && same(y, z, n * sizeof *y), "%s", specs[i]);
            stats = (fpemu_stats){0};
            GIVES_OK(fpemu_quantize_f64(&f, &r, n, x64, y64, NULL));
            GIVES_OK(fpemu_quantize_f64(&f, &r, n, x64, z64, &stats));
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
        const fpemu_format f = format_of(specs[i]);
        fpemu_range range = {0};
        GIVES_OK(fpemu_measure_f32(&f, N, x, &range));
        for (int k = 0; k < 60; k++) {
            const float special = k % 3 == 1 ? NAN : INFINITY, given = k % 3 ? special : -1;
            const size_t n = 1 + random_word() % (k % 2 ? 12 : 256), from = random_word() % (N - 300),
                         at = from + random_word() % n;
            const float kept = x[at];
            fpemu_shape shape = fpemu_shape_vector(n);
            fpemu_rounding r = rounding(k / 4);
            fpemu_stats stats = {0};
            x[at] = given;
            shape.whole = k % 5 ? &range : NULL;
            r.offset = (uint64_t)k;
            GIVES_OK(fpemu_quantize_tensor_f32(&f, &r, &shape, x + from, y, NULL));
            GIVES_OK(fpemu_quantize_tensor_f32(&f, &r, &shape, x + from, z, &stats));
            ck_assert_msg(same(y, z, n * sizeof *y), "%s", specs[i]);
            const size_t whole = f.block_length ? n / f.block_length * f.block_length : n;
            shape.length = N - from;
            if (shape.whole && (f.block_length || f.block == FPEMU_BLOCK_TENSOR)) {
                GIVES_OK(fpemu_quantize_tensor_f32(&f, &r, &shape, x + from, z, NULL));
                ck_assert_msg(same(y, z, whole * sizeof *y), "%s, among many", specs[i]);
            }
            x[at] = kept;
        }
    }
}
END_TEST

/* Slices that begin at a block, with the range of the whole, give the bits and the counters of one call. */
START_TEST(slices)
{
    static uint64_t bins[2][30];
    fill(2);
    for (int i = 0; i < SPECS; i++) {
        const fpemu_format f = format_of(specs[i]);
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
        GIVES_OK(fpemu_quantize_tensor_f32(&f, &r, &shape, x, y, &one));
        GIVES_OK(fpemu_measure_f32(&f, 1000, x + 2000, &range));
        GIVES_OK(fpemu_measure_f32(&f, 2000, x, &range));
        shape = fpemu_shape_vector(first);
        shape.whole = &range;
        GIVES_OK(fpemu_quantize_tensor_f32(&f, &r, &shape, x, z, &two));
        shape.length = N - first;
        r.offset += first;
        GIVES_OK(fpemu_quantize_tensor_f32(&f, &r, &shape, x + first, z + first, &two));
        ck_assert_msg(same(y, z, sizeof y), "%s", specs[i]);
        ck_assert(same(bins[0], bins[1], sizeof bins[0]));
        two.request.scale_histogram = one.request.scale_histogram;
        ck_assert_msg(same(&one, &two, sizeof one), "%s", specs[i]);
    }
}
END_TEST

/* Subnormals in a format's own numbers, where the caller has them flushed. */
START_TEST(flushing)
{
#ifdef __SSE2__
    const float values[2] = {0, 0x1p-140f};
    const fpemu_format steps = format_of("int(8,scale=1e-310)");
    const fpemu_shape shape = fpemu_shape_vector(N);
    const uint8_t code = 1;
    fpemu_format table;
    double decoded = 0;
    GIVES_OK(fpemu_format_table(&table, 2, values));
    const uint64_t size = fpemu_packed_size(&steps, &shape);
    const unsigned kept = _mm_getcsr();
    _mm_setcsr(kept | 0x8040); /* FTZ, DAZ */
    const uint64_t flushed = fpemu_packed_size(&steps, &shape);
    const fpemu_status status = fpemu_decode_f64(&table, 1, &code, &decoded);
    const double one = fpemu_decode_one_f64(&table, 1);
    _mm_setcsr(kept);
    ck_assert(size == N && flushed == size);
    ck_assert(status == FPEMU_OK && decoded == 0x1p-140 && one == 0x1p-140);
#endif
}
END_TEST

START_TEST(refused)
{
    const fpemu_format f = format_of("mxfp4"), table = format_of("table(nf4)");
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
    REFUSES(NULL, fpemu_quantize_tensor_f32(NULL, &r, &shape, x, y, NULL));
    REFUSES(NULL, fpemu_quantize_tensor_f32(&f, NULL, &shape, x, y, NULL));
    REFUSES(NULL, fpemu_quantize_tensor_f32(&f, &r, NULL, x, y, NULL));
    REFUSES(NULL, fpemu_quantize_tensor_f32(&f, &r, &shape, NULL, y, NULL));
    REFUSES(NULL, fpemu_quantize_tensor_f32(&f, &r, &shape, x, NULL, NULL));
    REFUSES(OVERLAP, fpemu_quantize_tensor_f32(&f, &r, &shape, x, x + 1, NULL));
    REFUSES(OVERLAP, fpemu_quantize_f32(&f, &r, 100, x, x + 99, NULL));
    stats.request.want = 8;
    REFUSES(STATS, fpemu_quantize_tensor_f32(&f, &r, &shape, x, y, &stats));
    stats.request.want = FPEMU_STATS_SCALES;
    REFUSES(STATS, fpemu_quantize_tensor_f32(&f, &r, &shape, x, y, &stats));
    shape.reserved0[1] = 1;
    REFUSES(ARGUMENT, fpemu_quantize_tensor_f32(&f, &r, &shape, x, y, NULL));
    shape.reserved0[1] = 0;
    shape.y_stride[3] = 1; /* the others 0: elements on top of one another */
    REFUSES(ARGUMENT, fpemu_quantize_tensor_f32(&f, &r, &shape, x, y, NULL));
    shape.y_stride[3] = 0;
    shape.inner = UINT64_C(1) << 62;
    REFUSES(ARGUMENT, fpemu_quantize_tensor_f32(&f, &r, &shape, x, y, NULL));
    shape.inner = 0;
    GIVES_OK(fpemu_quantize_tensor_f32(&f, &r, &shape, NULL, NULL, NULL));
    shape.inner = 2;
    range.amax = -1;
    shape.whole = &range;
    REFUSES(ARGUMENT, fpemu_quantize_tensor_f32(&f, &r, &shape, x, y, NULL));
    other.compat = FPEMU_COMPAT_QPYTORCH;
    REFUSES(UNSUPPORTED, fpemu_quantize_f32(&f, &other, N, x, y, NULL));
    other = r;
    other.mode = FPEMU_MODE_RNA;
    REFUSES(UNSUPPORTED, fpemu_quantize_f32(&table, &other, N, x, y, NULL));
    REFUSES(UNSUPPORTED, fpemu_encode_f32(&f, &r, N, x, codes, NULL));
    REFUSES(UNSUPPORTED, fpemu_decode_f32(&f, N, codes, y));
    REFUSES(UNSUPPORTED, fpemu_arith_f32(&f, &r, FPEMU_OPERATION_ADD, N, pair, NULL, y, NULL));
    REFUSES(UNSUPPORTED, fpemu_arith_f32(&table, &r, FPEMU_OPERATION_ADD, N, pair, NULL, y, NULL));
    ck_assert(isnan(fpemu_quantize_one_f32(&f, &r, 1, 0)) && isnan(fpemu_decode_one_f64(&f, 1)));
    ck_assert(same(y, z, sizeof y));
    ck_assert_uint_eq(stats.count, 0);
    REFUSES(NULL, fpemu_measure_f32(&f, 1, NULL, &range));
    REFUSES(ARGUMENT, fpemu_measure_f32(&f, 1, x, &range));
}
END_TEST

/* Scalar forms, codes and arrays of a codebook agree. */
START_TEST(codebooks)
{
    const fpemu_format f = format_of("table(dynamic8)");
    uint8_t codes[N];
    fill(0);
    for (int k = 0; k < 2; k++) {
        const fpemu_rounding r = rounding(k);
        GIVES_OK(fpemu_quantize_f32(&f, &r, N, x, y, NULL));
        GIVES_OK(fpemu_encode_f32(&f, &r, N, x, codes, NULL));
        GIVES_OK(fpemu_decode_f32(&f, N, codes, z));
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
    return RUN_SUITE("block", NULL, short_ways, few, slices, flushing, refused, codebooks);
}
