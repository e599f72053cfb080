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

/* Bits, any NaN being one. */
static int same(double a, double b)
{
    return a != a ? b != b : a == b && signbit(a) == signbit(b);
}

static int is_nan_code(const fpemu_format *f, uint64_t code)
{
    const double value = fpemu_decode_one_f64(f, code);
    return value != value;
}

/* The counters of a table that is a float's are the float's, but that all that is clipped counts as overflow. */
static void try_counters(const char *spec, const fpemu_format *f, const fpemu_format *table, const fpemu_rounding *r,
                         size_t n, const float *in)
{
    static float y[9 * 256 + 40];
    fpemu_stats want = {0}, got = {0};
    GIVES_OK(fpemu_quantize_f32(f, r, n, in, y, &want));
    GIVES_OK(fpemu_quantize_f32(table, r, n, in, y, &got));
    ck_assert_msg(got.nan == want.nan && got.infinite == want.infinite && got.clipped == want.clipped &&
                      got.overflow == want.clipped && got.invalid == want.invalid && got.underflow == want.underflow &&
                      got.inexact == want.inexact && same((float)got.max_error, (float)want.max_error),
                  "%s mode %d policy %d, counters of %zu", spec, r->mode, r->overflow, n);
}

/* The values of a float's codes, as a table, round and encode as the float does, alone and in arrays: numbers in and
 * between values, around the middles and past the ends, but for bits of negative numbers, which mean the neighbour
 * above, and past the end of hif8, whose step there is another than the table has. */
static void try_codes(const char *spec, const fpemu_format *f, const fpemu_format *table)
{
    enum { MOST = 9 * 256 + 40 };
    static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, -NAN, 1e30, -1e30, 1e-30, -1e-30};
    static const float far[] = {1e30f, 2e30f};
    static float in[MOST], want[MOST], got[MOST];
    static uint8_t codes[MOST];
    const uint32_t length = UINT32_C(1) << f->bits, n = 9 * length + 40;
    const int is_hif8 = strcmp(spec, "hif8") == 0;
    for (uint32_t i = 0; i < n; i++) {
        const double a = i < 9 * length ? fpemu_decode_one_f64(f, i / 9) : special[i % 10];
        const double next =
            i % 9 < 5 && a < f->max ? fpemu_format_next_up(f, a) : a + (a - fpemu_format_next_down(f, a));
        in[i] = (float)(i < 9 * length && a - a == 0 && i % 9 ? a + (next - a) * (double)(i % 3 + 1) / 4 : a);
        if (i % 9 == 6 || i % 9 == 7)
            in[i] = nextafterf(in[i], i % 9 == 6 ? INFINITY : -INFINITY);
    }
    for (int mode = 0; mode < FPEMU_MODE_COUNT; mode++)
        for (int policy = 0; policy <= FPEMU_OVERFLOW_SATURATE_KEEP_INF && mode != FPEMU_MODE_RTO; policy++) {
            fpemu_rounding r = fpemu_rounding_nearest();
            r.mode = (uint8_t)mode;
            r.overflow = (uint8_t)policy;
            r.nan = (uint8_t)((mode + policy) % FPEMU_NAN_ERROR);
            GIVES_OK(fpemu_quantize_f32(f, &r, n, in, want, NULL));
            GIVES_OK(fpemu_quantize_f32(table, &r, n, in, got, NULL));
            GIVES_OK(fpemu_encode_f32(table, &r, n, in, codes, NULL));
            if (!FPEMU_MODE_DRAWS(mode) && !is_hif8) {
                try_counters(spec, f, table, &r, n, in);
                try_counters(spec, f, table, &r, 2, far);
            }
            for (uint32_t i = 0; i < n; i++) {
                if ((FPEMU_MODE_DRAWS(mode) && in[i] < 0) ||
                    (is_hif8 && in[i] - in[i] == 0 && fabs((double)in[i]) > f->max))
                    continue;
                ck_assert_msg(same(want[i], got[i]) && same(want[i], fpemu_quantize_one_f64(table, &r, in[i], i)),
                              "%s mode %d policy %d: %a becomes %a, not %a", spec, mode, policy, in[i], got[i],
                              want[i]);
                ck_assert_msg(codes[i] == fpemu_encode_one_f64(table, &r, in[i], i) &&
                                  (want[i] != want[i] && f->has_nan
                                       ? is_nan_code(table, codes[i])
                                       : codes[i] == fpemu_encode_one_f64(f, &r, in[i], i)),
                              "%s mode %d policy %d: %a has the code %x", spec, mode, policy, in[i], codes[i]);
            }
        }
}

START_TEST(codes)
{
    static const char *const specs[] = {"e5m2",          "e4m3",          "e4m3fn", "e4m3fnuz", "e5m2fnuz",
                                        "e4m3b11fnuz",   "e3m4",          "e2m1",   "e3m2",     "ue4m3",
                                        "p3109(8,4,se)", "p3109(7,3,ue)", "hif8"};
    static float values[256], memory[FPEMU_CODES_MEMORY(256)], other[FPEMU_CODES_MEMORY(256)];
    fpemu_format table;
    for (unsigned k = 0; k < sizeof specs / sizeof *specs; k++) {
        const fpemu_format f = format_of(specs[k]);
        const uint32_t length = UINT32_C(1) << f.bits;
        for (uint32_t i = 0; i < length; i++)
            values[i] = (float)fpemu_decode_one_f64(&f, i);
        GIVES_OK(fpemu_format_codes(&table, length, values, memory));
        ck_assert(table.max == f.max && table.lowest == f.lowest && table.min_positive == f.min_positive);
        ck_assert(table.max_code == f.max_code && table.has_nan == f.has_nan && table.has_infinity == f.has_infinity &&
                  table.has_zero == f.has_zero && table.has_negative_zero == f.has_negative_zero);
        ck_assert_uint_eq(fpemu_format_value_count(&table), fpemu_format_value_count(&f));
        ck_assert_uint_eq(fpemu_format_nan_count(&table), fpemu_format_nan_count(&f));
        for (uint32_t i = 0; i < length; i++)
            ck_assert(same(fpemu_decode_one_f64(&table, i), fpemu_decode_one_f64(&f, i)));
        try_codes(specs[k], &f, &table);
    }
    /* any order, and values that stand there twice */
    static const float mixed[] = {2, NAN, -1, 0, 2, INFINITY, NAN, -INFINITY, 5, -1};
    const float in[] = {2, -1.5f, 3.4f, 8, 6, NAN, -INFINITY, 0.1f};
    const uint64_t want[] = {0, 2, 0, 5, 8, 1, 7, 3};
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    GIVES_OK(fpemu_format_codes(&table, 10, mixed, memory));
    for (int i = 0; i < 8; i++)
        ck_assert_uint_eq(fpemu_encode_one_f32(&table, &nearest, in[i], 0), want[i]);
    ck_assert(fpemu_format_nan_count(&table) == 8 && fpemu_format_value_count(&table) == 4);
    fpemu_format again = table;
    GIVES_OK(fpemu_format_codes(&again, 10, mixed, other));
    ck_assert(fpemu_format_equal(&table, &again));
    static const float wrong[][3] = {
        {NAN, 1, INFINITY}, {1, 1, 1}, {-0.0f, 1, 2}, {-1, 1, INFINITY}, {1, 2, -INFINITY}};
    for (int i = 0; i < 5; i++)
        REFUSES(FORMAT, fpemu_format_codes(&table, 3, wrong[i], memory));
    REFUSES(FORMAT, fpemu_format_codes(&table, 1, mixed, memory), fpemu_format_codes(&table, 65537, mixed, memory));
    REFUSES(NULL, fpemu_format_codes(NULL, 3, mixed, memory), fpemu_format_codes(&table, 3, NULL, memory),
            fpemu_format_codes(&table, 3, mixed, NULL));
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
    return RUN_SUITE("block", NULL, flushing, codes, refused, rare);
}
