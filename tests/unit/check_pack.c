/* SPDX-License-Identifier: BSD-2-Clause */
/* check_pack.c - packed bytes: what is refused, codes that pack writes nowhere, and the calls around them. Layout,
 * bytes, widths, strides and single blocks are for tests/against_judges/packing.c, threads for fuzz/api.sh. */

#include "suite.h"

/* The one block of a tensor, by the numbers in its bytes, counts as that of the whole does. What pack counts is for
 * tests/against_judges/blocks_stats.c and, of s2fp8, fuzz/api.sh. */
START_TEST(counters)
{
    static const char *const specs[] =
        LIST("mx(e2m1,tensor,rule=ceil)", "hbfp(9)", "scaled(e4m3fn)", "muppet(8)", "s2fp8", "s2fp8(e4m3fn)");
    static float x[700];
    static unsigned char bytes[8192];
    const fpemu_shape shape = fpemu_shape_vector(COUNT(x));
    const fpemu_rounding r = fpemu_rounding_nearest();
    for (size_t f = 0; f < COUNT(specs); f++) {
        const fpemu_format format = format_of(specs[f]);
        fpemu_stats whole = {0}, again = {0};
        for (size_t i = 0; i < COUNT(x); i++)
            x[i] = ldexpf((float)below(1u << 24) - 0x1p23f, (int)below(60) - 53);
        GIVES_OK(fpemu_pack_f32(&format, &r, &shape, x, bytes, &whole));
        GIVES_OK(fpemu_pack_blocks_f32(&format, &r, &shape, 0, 1, x, bytes, &again));
        REQUIRE(again.blocks == 1 && again.zero_blocks == 0 && again.nan_blocks == whole.nan_blocks, "%s", specs[f]);
    }
}
END_TEST

/* ------------------------------------------------------------------------------------------------- refusals */

START_TEST(refusals)
{
    static float x[64], y[64];
    static unsigned char bytes[64 * 8];
    const fpemu_format f = format_of("mxfp4"), wide = format_of("group(fp64)"), nvfp4 = format_of("nvfp4"), none = {0};
    const fpemu_rounding r = fpemu_rounding_nearest();
    fpemu_rounding bad = r;
    const fpemu_shape shape = fpemu_shape_vector(64), empty = fpemu_shape_vector(0);
    fpemu_shape odd = shape;
    fpemu_layout layout;
    fpemu_extent extent;
    bad.mode = FPEMU_MODE_COUNT;
    odd.reserved0[1] = 1;
    REFUSES(NULL, fpemu_packed_layout(NULL, &shape, &layout), fpemu_packed_layout(&f, NULL, &layout),
            fpemu_packed_layout(&f, &shape, NULL));
    REFUSES(FORMAT, fpemu_packed_layout(&none, &shape, &layout));
    REFUSES(ARGUMENT, fpemu_packed_layout(&f, &odd, &layout));
    ck_assert_uint_eq(layout.bytes, 0);
    ck_assert_uint_eq(fpemu_packed_size(NULL, &shape), 0);
    ck_assert_uint_eq(fpemu_packed_size(&none, &shape), 0);
    REFUSES(NULL, fpemu_packed_extent(&f, &shape, 0, NULL));
    REFUSES(ARGUMENT, fpemu_packed_extent(&f, &shape, 2, &extent), fpemu_packed_extent(&f, &empty, 0, &extent));
    REFUSES(NULL, fpemu_pack_f32(NULL, &r, &shape, x, bytes, NULL), fpemu_pack_f32(&f, NULL, &shape, x, bytes, NULL),
            fpemu_pack_f32(&f, &r, NULL, x, bytes, NULL), fpemu_pack_f32(&f, &r, &shape, NULL, bytes, NULL),
            fpemu_pack_f32(&f, &r, &shape, x, NULL, NULL));
    REFUSES(ROUNDING, fpemu_pack_f32(&f, &bad, &shape, x, bytes, NULL));
    REFUSES(CARRIER, fpemu_pack_f32(&wide, &r, &shape, x, bytes, NULL));
    GIVES_OK(fpemu_pack_f32(&f, &r, &empty, NULL, NULL, NULL));
    GIVES_OK(fpemu_pack_f32(&nvfp4, &r, &empty, NULL, NULL, NULL));
    GIVES_OK(fpemu_unpack_f32(&nvfp4, &empty, NULL, NULL));
    REFUSES(CARRIER, fpemu_unpack_f32(&wide, &shape, bytes, x));
    REFUSES(NULL, fpemu_unpack_f32(&f, &shape, NULL, y), fpemu_unpack_f32(&f, &shape, bytes, NULL));
    REFUSES(OVERLAP, fpemu_pack_f32(&f, &r, &shape, x, x, NULL),
            fpemu_pack_f32(&f, &r, &shape, x, (char *)(x + 63) + 3, NULL), fpemu_unpack_f32(&f, &shape, y, y));
    REFUSES(ARGUMENT, fpemu_pack_blocks_f32(&f, &r, &shape, 0, 3, x, bytes, NULL),
            fpemu_pack_blocks_f32(&f, &r, &shape, 3, 0, x, bytes, NULL),
            fpemu_pack_blocks_f32(&f, &r, &shape, 1, UINT64_MAX, x, bytes, NULL));
    GIVES_OK(fpemu_pack_blocks_f32(&f, &r, &shape, 2, 0, NULL, NULL, NULL));
    REFUSES(ARGUMENT, fpemu_unpack_blocks_f32(&f, &shape, 1, 2, bytes, y));
    REFUSES(NULL, fpemu_unpack_blocks_f32(&f, &shape, 0, 2, bytes, NULL),
            fpemu_pack_tensor_scales(&nvfp4, &shape, bytes));
    GIVES_OK(fpemu_pack_tensor_scales(&f, &shape, NULL));
    const fpemu_range none_has = {.amax = NAN}; /* said of a tensor of no elements too */
    fpemu_shape told[] = {shape, empty};
    for (size_t i = 0; i < 2; i++) {
        told[i].whole = &none_has;
        REFUSES(ARGUMENT, fpemu_pack_f32(&nvfp4, &r, &told[i], x, bytes, NULL),
                fpemu_pack_blocks_f32(&nvfp4, &r, &told[i], 0, 0, x, bytes, NULL),
                fpemu_quantize_tensor_f32(&nvfp4, &r, &told[i], x, y, NULL));
    }
    REFUSES(ARGUMENT, fpemu_pack_tensor_scales(&nvfp4, &told[0], bytes), fpemu_pack_tensor_scales(&f, &told[0], bytes));
    for (size_t i = 0; i < sizeof bytes; i++)
        ck_assert_uint_eq(bytes[i], 0);

    /* sizes that do not fit, and those that just do */
    const fpemu_shape huge = {UINT64_C(1) << 32, UINT64_C(1) << 32, 1, 1, {0}, {0}, {NULL}, {NULL}, {0}};
    REFUSES(ARGUMENT, fpemu_packed_layout(&f, &huge, &layout));
    const fpemu_shape large = fpemu_shape_vector((UINT64_C(1) << 59) + 1);
    REFUSES(ARGUMENT, fpemu_packed_layout(&f, &large, &layout));
    if (SIZE_MAX > UINT32_MAX) {
        static const struct {
            const char *spec;
            uint64_t elements, bytes; /* the most, and what they take: fewer than 2^64 bits */
        } most[] = {{"group(fp64,1)", ((UINT64_C(1) << 61) - 1) / 12, ((UINT64_C(1) << 61) - 1) / 12 * 12},
                    {"fp64", (UINT64_C(1) << 58) - 1, (UINT64_C(1) << 61) - 8},
                    {"mx(fp32,block=1)", ((UINT64_C(1) << 61) - 1) / 5, ((UINT64_C(1) << 61) - 1) / 5 * 5},
                    {"fp32", UINT64_C(1) << 59, 0}, /* 2^61 bytes are one too many, 2^59 elements are not */
                    {"int4", UINT64_C(1) << 59, UINT64_C(1) << 58}};
        for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
            const fpemu_format format = format_of(most[i].spec);
            const fpemu_shape fits = fpemu_shape_vector(most[i].elements);
            const fpemu_shape passes = fpemu_shape_vector(most[i].elements + 1);
            ck_assert_int_eq(fpemu_packed_layout(&format, &fits, &layout),
                             most[i].bytes ? FPEMU_OK : FPEMU_ERROR_ARGUMENT);
            ck_assert_uint_eq(layout.bytes, most[i].bytes);
            REFUSES(ARGUMENT, fpemu_packed_layout(&format, &passes, &layout));
            ck_assert_uint_eq(fpemu_packed_size(&format, &passes), 0);
        }
    }
}
END_TEST

/* --------------------------------------------------------------------------------------------------- shapes */

START_TEST(shape_of)
{
    const uint64_t sizes[5] = {2, 3, 5, 7, 11};
    fpemu_shape s;
    REFUSES(ARGUMENT, fpemu_shape_of(3, sizes, 3, &s), fpemu_shape_of(3, sizes, -4, &s),
            fpemu_shape_of(0, sizes, 0, &s));
    REFUSES(NULL, fpemu_shape_of(3, NULL, 0, &s), fpemu_shape_of(3, sizes, 0, NULL));
    const uint64_t many[4] = {UINT64_C(1) << 32, 2, UINT64_C(1) << 31, 3};
    REFUSES(ARGUMENT, fpemu_shape_of(3, many, 1, &s));
    GIVES_OK(fpemu_shape_of(2, many, 1, &s));
    const uint64_t empty[2][4] = {{0, UINT64_C(1) << 40, UINT64_C(1) << 24, 1},
                                  {UINT64_C(1) << 40, UINT64_C(1) << 23, 0, 1}};
    for (int axis = 0; axis < 4; axis++) {
        REFUSES(ARGUMENT, fpemu_shape_of(4, empty[0], axis, &s));
        GIVES_OK(fpemu_shape_of(4, empty[1], axis, &s));
        ck_assert_uint_eq(s.outer * s.rows * s.length * s.inner, 0);
    }
    s = fpemu_shape_vector(9);
    ck_assert(s.outer == 1 && s.rows == 1 && s.length == 9 && s.inner == 1 && !s.whole);
}
END_TEST

/* pack writes no such code, but bytes may come from elsewhere: an infinity stays one, and the largest number does not
 * become one. Of formats with other scales that is for tests/against_judges/packing.c. */
START_TEST(infinities_of_s2fp8)
{
    const uint8_t bytes[11] = {0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f, 0x7c, 0xfc, 0x7b}; /* alpha and beta are 1 */
    const fpemu_format f = format_of("s2fp8");
    const fpemu_shape s = fpemu_shape_vector(3);
    float y[3];
    double z[3];
    GIVES_OK(fpemu_unpack_f32(&f, &s, bytes, y));
    GIVES_OK(fpemu_unpack_f64(&f, &s, bytes, z));
    ck_assert(isinf(y[0]) && y[0] > 0 && isinf(y[1]) && y[1] < 0 && isfinite(y[2]));
    ck_assert(isinf(z[0]) && z[0] > 0 && isinf(z[1]) && z[1] < 0 && isfinite(z[2]));
}
END_TEST

START_TEST(swizzle)
{
    static uint8_t plain[300 * 20], tiled[512 * 20], back[300 * 20];
    static const uint64_t rows[] = {1, 31, 32, 33, 127, 128, 129, 300}, columns[] = {1, 3, 4, 5, 16, 17};
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t j = 0; j < COUNT(columns); j++) {
            const uint64_t m = rows[i], n = columns[j], across = (n + 3) / 4;
            const uint64_t size = (m + 127) / 128 * across * 512;
            ck_assert_uint_eq(fpemu_swizzled_size(m, n), size);
            for (size_t k = 0; k < m * n; k++)
                plain[k] = (uint8_t)(1 + below(255));
            memset(tiled, 0xee, sizeof tiled);
            GIVES_OK(fpemu_swizzle_scales(m, n, plain, tiled));
            uint64_t zeros = 0;
            for (uint64_t k = 0; k < size; k++) { /* from the place to the scale */
                const uint64_t tile = k / 512, inside = k % 512;
                const uint64_t r = tile / across * 128 + inside % 16 / 4 * 32 + inside / 16;
                const uint64_t c = tile % across * 4 + inside % 4;
                const unsigned want = r < m && c < n ? plain[r * n + c] : 0;
                REQUIRE(tiled[k] == want, "%u x %u: byte %u", (unsigned)m, (unsigned)n, (unsigned)k);
                zeros += tiled[k] == 0;
            }
            ck_assert_uint_eq(zeros, size - m * n);
            ck_assert_uint_eq(tiled[size < sizeof tiled ? size : 0], size < sizeof tiled ? 0xee : tiled[0]);
            memset(back, 0, sizeof back);
            GIVES_OK(fpemu_unswizzle_scales(m, n, tiled, back));
            ck_assert(memcmp(back, plain, m * n) == 0);
        }
    ck_assert_uint_eq(fpemu_swizzled_size(0, 5), 0);
    ck_assert_uint_eq(fpemu_swizzled_size(UINT64_MAX, 1), 0);
    ck_assert_uint_eq(fpemu_swizzled_size(UINT64_C(1) << 40, UINT64_C(1) << 40), 0);
    GIVES_OK(fpemu_swizzle_scales(0, 5, NULL, NULL));
    GIVES_OK(fpemu_unswizzle_scales(3, 0, NULL, NULL));
    REFUSES(NULL, fpemu_swizzle_scales(1, 1, NULL, tiled), fpemu_swizzle_scales(1, 1, plain, NULL));
    REFUSES(OVERLAP, fpemu_swizzle_scales(1, 1, tiled + 511, tiled), fpemu_unswizzle_scales(1, 1, tiled, tiled + 511));
    GIVES_OK(fpemu_swizzle_scales(1, 1, tiled + 512, tiled));
    REFUSES(ARGUMENT, fpemu_swizzle_scales(UINT64_MAX, 1, plain, tiled));
}
END_TEST

/* ------------------------------------------------------------------------------------------ delayed scaling */

START_TEST(delayed)
{
    double history[3] = {0, 0, 0};
    fpemu_delayed d = {.history = history, .length = 3};
    const fpemu_format f = format_of("scaled(e4m3fn,rule=recipe-pow2)");
    const fpemu_rounding r = fpemu_rounding_nearest();
    fpemu_shape shape = fpemu_shape_vector(2);
    const float x[2] = {3, -700};
    float y[2];
    shape.whole = &d.range;
    GIVES_OK(fpemu_quantize_tensor_f32(&f, &r, &shape, x, y, NULL));
    ck_assert(y[0] == 3 && y[1] == -448); /* nothing seen: the scale is 1 */
    static const double seen[] = {7, 2, 0.5, 1, 1, 1};
    static const double most[] = {7, 7, 7, 2, 1, 1};
    for (size_t i = 0; i < COUNT(seen); i++) {
        const fpemu_range range = {.count = 10, .nonzero = 9, .amax = seen[i]};
        GIVES_OK(fpemu_delayed_update(&d, &range));
        ck_assert(d.range.amax == most[i] && d.range.max == most[i] && d.range.min == -most[i]);
        ck_assert(d.filled == (i < 3 ? i + 1 : 3) && d.next == (i + 1) % 3);
    }
    GIVES_OK(fpemu_quantize_tensor_f32(&f, &r, &shape, x, y, NULL));
    ck_assert(y[0] == 1.75f && y[1] == -1.75f); /* 448 / 2^8: the multiplier of amax 1 is 448, cut to 2^8 */
    const fpemu_delayed before = d;
    const fpemu_range bad[] = {{.count = 1},
                               {.count = 1, .nonfinite = 1, .amax = 9},
                               {.count = 1, .amax = INFINITY},
                               {.count = 1, .amax = NAN}};
    for (size_t i = 0; i < COUNT(bad); i++) {
        GIVES_OK(fpemu_delayed_update(&d, &bad[i]));
        ck_assert(memcmp(&d, &before, sizeof d) == 0);
    }
    d = (fpemu_delayed){.history = history, .length = 3, .latest = 1};
    for (size_t i = 0; i < COUNT(seen); i++) {
        const fpemu_range range = {.count = 10, .nonzero = 9, .amax = seen[i]};
        GIVES_OK(fpemu_delayed_update(&d, &range));
        ck_assert(d.range.amax == seen[i]);
    }
    REFUSES(NULL, fpemu_delayed_update(NULL, &bad[0]), fpemu_delayed_update(&d, NULL));
#define SPOILED(change, status)                                                                                        \
    do {                                                                                                               \
        fpemu_delayed e = before;                                                                                      \
        change;                                                                                                        \
        ck_assert_int_eq(fpemu_delayed_update(&e, &bad[0]), status);                                                   \
    } while (0)
    SPOILED(e.history = NULL, FPEMU_ERROR_NULL);
    SPOILED(e.length = 0, FPEMU_ERROR_ARGUMENT);
    SPOILED(e.next = 3, FPEMU_ERROR_ARGUMENT);
    SPOILED(e.filled = 4, FPEMU_ERROR_ARGUMENT);
    SPOILED(e.latest = 2, FPEMU_ERROR_ARGUMENT);
}
END_TEST

/* Of a scalar format: the sums are those of its lines, the counters and extrema those of the whole. */
START_TEST(sums_by_line)
{
    enum { LINES = 3, LENGTH = 5000, N = LINES * LENGTH };
    static float x[N], y[N];
    static unsigned char bytes[N];
    static fpemu_stats packed, lines, whole;
    const fpemu_format f = format_of("e4m3fn:saturate");
    const fpemu_rounding r = fpemu_rounding_nearest();
    fpemu_shape shape = fpemu_shape_vector(LENGTH);
    shape.outer = LINES;
    for (int i = 0; i < N; i++)
        x[i] = (float)below(1u << 20) / 8191 - 50;
    packed.request.want = lines.request.want = whole.request.want = FPEMU_STATS_SUMS;
    GIVES_OK(fpemu_pack_f32(&f, &r, &shape, x, bytes, &packed));
    GIVES_OK(fpemu_quantize_tensor_f32(&f, &r, &shape, x, y, &whole));
    for (int k = 0; k < LINES; k++)
        GIVES_OK(fpemu_quantize_f32(&f, &r, LENGTH, x + k * LENGTH, y + k * LENGTH, &lines));
    ck_assert(memcmp(&packed, &lines, sizeof packed) == 0);
    ck_assert(packed.count == whole.count && packed.inexact == whole.inexact && packed.clipped == whole.clipped &&
              packed.overflow == whole.overflow && packed.subnormal == whole.subnormal &&
              packed.underflow == whole.underflow && packed.max_error == whole.max_error);
}
END_TEST

int main(void)
{
    return RUN_SUITE("pack", NULL, counters, refusals, shape_of, infinities_of_s2fp8, swizzle, delayed, sums_by_line);
}
