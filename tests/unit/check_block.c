/* SPDX-License-Identifier: BSD-2-Clause */
/* check_block.c - quantising with scales: what is refused, and what is rare. Values, shapes, strides and pieces are the judge's
 * (tests/against_judges/blocks.c), as are counters (blocks_stats.c), environments tests/surroundings'. */
#include "suite.h"
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

enum { N = 3000 };

static float x[N], y[N], z[N];

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
    const fpemu_format f = format_of("mxfp4");
    const fpemu_rounding r = fpemu_rounding_nearest();
    fpemu_shape shape = {2, 2, 40, 2, {0}, {0}, {NULL}, {NULL}, {0}};
    fpemu_stats stats = {0};
    fpemu_range range = {0};
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = z[i] = -77;
    }
    REFUSES(NULL, fpemu_quantize_tensor_f32(NULL, &r, &shape, x, y, NULL),
            fpemu_quantize_tensor_f32(&f, NULL, &shape, x, y, NULL),
            fpemu_quantize_tensor_f32(&f, &r, NULL, x, y, NULL),
            fpemu_quantize_tensor_f32(&f, &r, &shape, NULL, y, NULL),
            fpemu_quantize_tensor_f32(&f, &r, &shape, x, NULL, NULL));
    REFUSES(OVERLAP, fpemu_quantize_tensor_f32(&f, &r, &shape, x, x + 1, NULL),
            fpemu_quantize_f32(&f, &r, 100, x, x + 99, NULL));
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
    ck_assert(isnan(fpemu_quantize_one_f32(&f, &r, 1, 0)) && isnan(fpemu_decode_one_f64(&f, 1)));
    ck_assert_int_eq(memcmp(y, z, sizeof y), 0);
    ck_assert_uint_eq(stats.count, 0);
    REFUSES(NULL, fpemu_measure_f32(&f, 1, NULL, &range));
    REFUSES(ARGUMENT, fpemu_measure_f32(&f, 1, x, &range));
}
END_TEST

/* Worked by hand: a range that is told, and is not that of the elements; scales at the carrier's end; codes that fill
 * the carrier; bytes that end an array. */
START_TEST(rare)
{
    const float three[] = {-0x1p-16f, 0, 0x1p-16f};
    const fpemu_rounding r = fpemu_rounding_nearest();
    const fpemu_rounding away = {.mode = FPEMU_MODE_RNA};
    const fpemu_format wide = format_of("float(7,20)"), two = format_of("group(int2,block=256)");
    fpemu_format f = format_of("mx(e4m3fn,block=tensor,scale=dlfloat16)"), table;
    const fpemu_format single = format_of("fp32");
    fpemu_range range = {0};
    fpemu_shape shape = fpemu_shape_vector(33);
    fpemu_stats stats = {0};
    uint32_t codes[64];
    uint8_t bytes[2 * 68 + 4];
    shape.whole = &range;
    for (int i = 0; i < N; i++)
        x[i] = -0x1.9p-23f;
    GIVES_OK(fpemu_quantize_tensor_f32(&f, &away, &shape, x, y, NULL));
    ck_assert(y[0] == -0x1.80cp-23f && y[32] == y[0]); /* -384 times the smallest scale, which is no power of two */
    f = format_of("hbfp(7)");
    shape.length = 1024;
    range.count = 1;
    range.amax = range.max = 1;
    for (int i = 0; i < N; i++)
        x[i] = 0x1p30f;
    GIVES_OK(fpemu_quantize_tensor_f32(&f, &r, &shape, x, y, &stats));
    ck_assert(y[0] == 127 / 128.f && stats.max_error == 0x1p30 - 127 / 128.);
    GIVES_OK(fpemu_format_table(&table, 3, three));
    GIVES_OK(fpemu_format_blocked(&f, &table, FPEMU_SCALING_ABSMAX, &single, 0, FPEMU_BLOCK_RUN, 0, 16));
    for (int i = 0; i < N; i++)
        x[i] = i % 2 ? 0x1p115f : -0x1p115f; /* over 2^-16 it is beyond the largest number, which is the scale */
    GIVES_OK(fpemu_quantize_f32(&f, &r, N, x, y, NULL));
    ck_assert(y[0] == -0x1.fffffep111f && y[N - 1] == 0x1.fffffep111f);
    for (int i = 0; i < 64; i++)
        x[i] = (float)(1 << i % 2);
    GIVES_OK(fpemu_encode_f32(&wide, &r, 64, x, codes, NULL));
    ck_assert(codes[0] == 63 << 20 && codes[63] == 64 << 20);
    shape = fpemu_shape_vector(512);
    memset(bytes, 0xaa, sizeof bytes);
    ck_assert_uint_eq(fpemu_packed_size(&two, &shape), sizeof bytes - 4);
    GIVES_OK(fpemu_pack_f32(&two, &r, &shape, x, bytes, NULL));
    for (size_t i = sizeof bytes - 4; i < sizeof bytes; i++)
        ck_assert_uint_eq(bytes[i], 0xaa);
}
END_TEST

int main(void)
{
    return RUN_SUITE("block", NULL, flushing, refused, rare);
}
