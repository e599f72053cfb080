/* SPDX-License-Identifier: BSD-2-Clause */
/* check_block.c - quantising with scales: what is refused. Values, shapes, strides and pieces are the judge's
 * (tests/against_judges/blocks.c), as are counters (blocks_stats.c), environments tests/surroundings'. */
#include "suite.h"
#include <math.h>
#include <string.h>
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
    const fpemu_format f = format_of("mxfp4"), table = format_of("table(nf4)");
    const fpemu_rounding r = fpemu_rounding_nearest();
    fpemu_rounding other = r;
    fpemu_shape shape = {2, 2, 40, 2, {0}, {0}, {NULL}, {0}};
    fpemu_stats stats = {0};
    fpemu_range range = {0};
    const float *const pair[] = {x, x};
    uint8_t codes[N];
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = z[i] = -77;
    }
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
    ck_assert_int_eq(memcmp(y, z, sizeof y), 0);
    ck_assert_uint_eq(stats.count, 0);
    REFUSES(NULL, fpemu_measure_f32(&f, 1, NULL, &range));
    REFUSES(ARGUMENT, fpemu_measure_f32(&f, 1, x, &range));
}
END_TEST

int main(void)
{
    return RUN_SUITE("block", NULL, flushing, refused);
}
