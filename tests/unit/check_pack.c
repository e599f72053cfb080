/* SPDX-License-Identifier: BSD-2-Clause */
/* check_pack.c - packed bytes: against quantize_tensor, against a slow reading of the described layout, and the calls
 * around them. */
#include "fpemu.h"

#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#define REQUIRE(condition, ...)                                                                                        \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            ck_abort_msg(__VA_ARGS__);                                                                                 \
    } while (0)

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static uint64_t random_state = 1;

static uint32_t below(uint32_t n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % n;
}

static fpemu_format parse(const char *spec)
{
    fpemu_format f;
    fpemu_parse_error error;
    REQUIRE(fpemu_format_parse(spec, &f, &error) == FPEMU_OK, "%s: at %u: %s", spec, error.position, error.message);
    return f;
}

static void *allocate(size_t n)
{
    void *p = malloc(n ? n : 1);
    ck_assert_ptr_nonnull(p);
    return p;
}

/* A number of some magnitude, now and then a zero or a number at an end. */
static double sample(int wide)
{
    switch (below(24)) {
    case 0: return 0;
    case 1: return -0.0;
    case 2: return wide ? 0x1p-149 : 0x1p-20;
    case 3: return wide ? -0x1.fffffep127 : -100;
    default:
        return ldexp((double)(int32_t)(below(UINT32_C(1) << 24) - (UINT32_C(1) << 23)) * 0x1p-23,
                     (int)below(wide ? 60 : 8) - (wide ? 30 : 4));
    }
}

/* --------------------------------------------------------------------------------- the layout, read slowly */

/* The indices of the elements of block b, in order (doc/blocks.md, 3): found by going through every element of the
 * tensor and asking which block it belongs to. Returns how many. */
static size_t slow_block(const fpemu_format *f, const fpemu_shape *s, uint64_t b, uint64_t *indices)
{
    const int scalar = f->scaling == FPEMU_SCALING_NONE;
    const fpemu_block kind = scalar ? FPEMU_BLOCK_ROW : (fpemu_block)f->block;
    const uint64_t k = kind == FPEMU_BLOCK_RUN || kind == FPEMU_BLOCK_TILE ? f->block_length : s->length;
    const uint64_t rows = kind == FPEMU_BLOCK_TILE ? f->block_rows : 1;
    const uint64_t across = (s->length + k - 1) / k, down = (s->rows + rows - 1) / rows;
    size_t n = 0;
    /* the order of elements within a block: o, r, l, i with i fastest, but l fastest for whole-tensor blocks */
    for (uint64_t o = 0; o < s->outer; o++)
        for (uint64_t r = 0; r < s->rows; r++)
            for (uint64_t u = 0; u < s->length * s->inner; u++) {
                const int line_first = kind == FPEMU_BLOCK_TENSOR;
                const uint64_t l = line_first ? u % s->length : u / s->inner;
                const uint64_t i = line_first ? u / s->length : u % s->inner;
                uint64_t of;
                switch (kind) {
                case FPEMU_BLOCK_RUN:
                case FPEMU_BLOCK_ROW: of = ((o * s->rows + r) * s->inner + i) * across + l / k; break;
                case FPEMU_BLOCK_TILE: of = ((o * s->inner + i) * down + r / rows) * across + l / k; break;
                case FPEMU_BLOCK_CHANNEL: of = l; break;
                default: of = 0; break;
                }
                if (of == b)
                    indices[n++] = ((o * s->rows + r) * s->length + l) * s->inner + i;
            }
    return n;
}

static uint64_t bits_at(const unsigned char *bytes, uint64_t first, uint64_t n)
{
    uint64_t code = 0;
    for (uint64_t i = 0; i < n; i++)
        code |= (uint64_t)(bytes[(first + i) / 8] >> ((first + i) % 8) & 1) << i;
    return code;
}

static double decode(const fpemu_format *f, uint64_t code)
{
    return fpemu_decode_one_f64(f, code);
}

/* Where every block lies, its padding, and, for scales that multiply plainly, its values. */
static void check_layout(const char *spec, const fpemu_format *f, const fpemu_shape *s, const unsigned char *bytes,
                         const float *y)
{
    fpemu_layout layout;
    fpemu_extent extent;
    fpemu_format element, scale;
    static uint64_t indices[4096];
    const uint64_t total = s->outer * s->rows * s->length * s->inner;
    const int has_float_scale = fpemu_format_scale(f, &scale) == FPEMU_OK;
    ck_assert_int_eq(fpemu_format_element(f, &element), FPEMU_OK);
    ck_assert_int_eq(fpemu_packed_layout(f, s, &layout), FPEMU_OK);
    ck_assert_uint_eq(fpemu_packed_size(f, s), layout.bytes);
    const int nvfp4 = f->scaling == FPEMU_SCALING_NVFP4 || f->scaling == FPEMU_SCALING_NVFP4_AO;
    const int s2fp8 = f->scaling == FPEMU_SCALING_S2FP8;
    const uint64_t tensor = total && (nvfp4 || s2fp8) ? 8 : 0;
    const unsigned scale_bits = f->scale_power ? f->scale_exponent_bits : has_float_scale ? scale.bits : 0;
    const uint64_t scale_bytes = !total || scale_bits == 0 ? 0 : scale_bits <= 8 ? 1 : scale_bits <= 16 ? 2 : 4;
    REQUIRE(layout.tensor_offset == 0 && layout.tensor_bytes == tensor && layout.scales_offset == tensor, "%s", spec);
    REQUIRE(layout.scale_bytes == scale_bytes, "%s: scales of %u bytes", spec, (unsigned)layout.scale_bytes);
    REQUIRE(layout.elements_offset == tensor + scale_bytes * layout.blocks, "%s", spec);
    REQUIRE(layout.element_bits == f->bits, "%s", spec);
    uint64_t seen = 0, offset = layout.elements_offset;
    for (uint64_t b = 0; b < layout.blocks; b++) {
        const size_t n = slow_block(f, s, b, indices);
        ck_assert_int_eq(fpemu_packed_extent(f, s, b, &extent), FPEMU_OK);
        REQUIRE(n > 0 && extent.elements == n && extent.first == indices[0], "%s: block %u: %u elements", spec,
                (unsigned)b, (unsigned)extent.elements);
        REQUIRE(extent.offset == offset && extent.scale == layout.scales_offset + b * scale_bytes, "%s: block %u", spec,
                (unsigned)b);
        if (b == 0)
            REQUIRE(layout.block_elements == n && layout.block_bytes == (n * f->bits + 7) / 8, "%s: full block", spec);
        offset += (n * f->bits + 7) / 8;
        seen += n;
        const uint64_t padding = 8 * (offset - extent.offset) - n * f->bits;
        REQUIRE(padding < 8 && bits_at(bytes + extent.offset, n * f->bits, padding) == 0, "%s: padding", spec);
        if (s2fp8)
            continue;
        double factor = 1; /* binary64 holds every scale, and the products exactly */
        float whole = 1;
        const uint64_t code = bits_at(bytes + extent.scale, 0, 8 * scale_bytes);
        REQUIRE(code >> scale_bits == 0, "%s: scale code %x", spec, (unsigned)code);
        if (f->scale_power)
            factor = ldexp(1, (int)code - (code >> (scale_bits - 1) ? 1 << scale_bits : 0));
        else if (has_float_scale)
            factor = decode(&scale, code);
        if (nvfp4) {
            const uint32_t u = (uint32_t)bits_at(bytes, 32, 32);
            memcpy(&whole, &u, 4);
        }
        for (size_t j = 0; j < n; j++) {
            const double p = decode(&element, bits_at(bytes + extent.offset, j * f->bits, f->bits));
            const float product = (float)(p * factor);
            float want = nvfp4 ? product * whole : product;
            want = isinf(want) && !isinf(p) ? copysignf(0x1.fffffep127f, want) : want;
            const float have = y[indices[j]];
            REQUIRE(memcmp(&want, &have, 4) == 0 || (isnan(want) && isnan(have)) || isnan(have),
                    "%s: block %u, element %zu: %a from the bytes, %a", spec, (unsigned)b, j, (double)want,
                    (double)have);
        }
    }
    REQUIRE(seen == total && offset == layout.bytes, "%s: %u elements of %u", spec, (unsigned)seen, (unsigned)total);
    ck_assert_int_eq(fpemu_packed_extent(f, s, layout.blocks, &extent), FPEMU_ERROR_ARGUMENT);
}

/* ------------------------------------------------------------------------------------------------- formats */

static const char *const specs[] = {"mxfp8_e4m3",
                                    "mxfp8_e5m2",
                                    "mxfp6_e2m3",
                                    "mxfp6_e3m2",
                                    "mxfp4",
                                    "mxint8",
                                    "nvfp4",
                                    "msfp12",
                                    "msfp16",
                                    "nf4",
                                    "s2fp8",
                                    "mx(e2m1,5)",
                                    "mx(e3m2,3x4)",
                                    "mx(e2m1,2x100,rule=rceil)",
                                    "mx(e2m3,row,rule=even)",
                                    "mx(e5m2,channel)",
                                    "mx(e2m1,tensor,rule=ceil)",
                                    "mx(e2m1,7,scale=e4m3fn)",
                                    "mx(e4m3fn,7,scale=bf16)",
                                    "nvfp4(block=4x4)",
                                    "nvfp4(e2m3,8,rule=nvfp4-ao)",
                                    "bfp(1,4)",
                                    "bfp(2,9,12)",
                                    "bfp(4,3x3,2)",
                                    "hbfp(9)",
                                    "hbfp(14,channel,5)",
                                    "bm(2,5)",
                                    "bm(4,0,6)",
                                    "group(int2,16)",
                                    "group(int4,row)",
                                    "group(int12,2048)",
                                    "group(uint3,10)",
                                    "group(int16,33,bf16)",
                                    "group(int(31),9,fp16)",
                                    "group(posit(8,1),11)",
                                    "codebook(dynamic8,2048)",
                                    "codebook(dynamic5,12)",
                                    "codebook(udynamic6,2x7)",
                                    "scaled(e4m3fn)",
                                    "scaled(e5m2,row,margin=3)",
                                    "scaled(e4m3fn,channel,rule=recipe-pow2)",
                                    "muppet(8)",
                                    "muppet(12,row)",
                                    "s2fp8(e4m3fn)",
                                    "e4m3fn",
                                    "e2m1",
                                    "fp16",
                                    "fp32",
                                    "fixed(10,4)",
                                    "int4",
                                    "uint5",
                                    "int(17)",
                                    "posit(16,1)",
                                    "table(dynamic7)",
                                    "ue4m3",
                                    "tf32",
                                    "e8m0"};

static const struct {
    uint64_t outer, rows, length, inner;
} shapes[] = {{1, 1, 1, 1},  {1, 1, 16, 1}, {1, 1, 33, 1},  {1, 1, 700, 1}, {2, 3, 17, 1}, {1, 5, 9, 3},
              {2, 4, 32, 2}, {3, 1, 1, 7},  {1, 13, 64, 1}, {2, 2, 3, 5},   {0, 3, 4, 1},  {2, 3, 0, 2}};

static int same32(const fpemu_format *element, float x, float y, float z)
{
    if (isnan(y) && !isnan(z))
        return isnan(x) && !element->has_nan; /* a NaN without a code */
    return memcmp(&y, &z, sizeof y) == 0;
}

/* bytes of pack = what quantize_tensor says, in every format, shape and mode; surroundings untouched. */
START_TEST(unpack_of_pack)
{
    static float x[4096], y[4096], z[4096];
    static double x64[4096], y64[4096], z64[4096];
    static unsigned char store[65536];
    for (size_t f = 0; f < COUNT(specs); f++)
        for (size_t s = 0; s < COUNT(shapes); s++)
            for (int round = 0; round < 3; round++) {
                const fpemu_format format = parse(specs[f]);
                fpemu_format element;
                fpemu_format_element(&format, &element);
                const fpemu_shape shape = {
                    shapes[s].outer, shapes[s].rows, shapes[s].length, shapes[s].inner, {0}, {0}, {NULL}, {0}};
                const size_t n = (size_t)(shape.outer * shape.rows * shape.length * shape.inner);
                fpemu_rounding r = fpemu_rounding_nearest();
                const int other = format.kind != FPEMU_KIND_POSIT;
                if (round == 1 && other)
                    r = fpemu_rounding_stochastic(7, 3);
                if (round == 2 && other)
                    r.mode = FPEMU_MODE_RTZ;
                r.offset = round == 1 ? 5 : 0;
                for (size_t i = 0; i < n; i++) {
                    x[i] = (float)sample(round == 0);
                    if (round == 2 && below(50) == 0)
                        x[i] = below(2) ? (float)NAN : (float)INFINITY * (below(2) ? 1.0f : -1.0f);
                    x64[i] = x[i] * (1 + ldexp(below(1000), -40));
                }
                const size_t size = (size_t)fpemu_packed_size(&format, &shape), at = 1 + below(7);
                REQUIRE(size + 16 < sizeof store && n <= 4096, "%s: %zu bytes", specs[f], size);
                memset(store, 0xff, sizeof store);
                REQUIRE(fpemu_quantize_tensor_f32(&format, &r, &shape, x, y, NULL) == FPEMU_OK, "%s", specs[f]);
                REQUIRE(fpemu_pack_f32(&format, &r, &shape, x, store + at, NULL) == FPEMU_OK, "%s", specs[f]);
                for (size_t i = 0; i < sizeof store; i++)
                    REQUIRE((i >= at && i < at + size) || store[i] == 0xff, "%s: byte %zu", specs[f], i);
                check_layout(specs[f], &format, &shape, store + at, y);
                memset(z, 0x55, sizeof z);
                REQUIRE(fpemu_unpack_f32(&format, &shape, store + at, z) == FPEMU_OK, "%s", specs[f]);
                for (size_t i = 0; i < n; i++)
                    REQUIRE(same32(&element, x[i], y[i], z[i]), "%s, shape %zu: %a gives %a, unpacked %a", specs[f], s,
                            (double)x[i], (double)y[i], (double)z[i]);
                REQUIRE(fpemu_quantize_tensor_f64(&format, &r, &shape, x64, y64, NULL) == FPEMU_OK, "%s", specs[f]);
                REQUIRE(fpemu_pack_f64(&format, &r, &shape, x64, store + at, NULL) == FPEMU_OK, "%s", specs[f]);
                REQUIRE(fpemu_unpack_f64(&format, &shape, store + at, z64) == FPEMU_OK, "%s", specs[f]);
                for (size_t i = 0; i < n; i++)
                    REQUIRE(memcmp(y64 + i, z64 + i, 8) == 0 ||
                                (isnan(y64[i]) && !isnan(z64[i]) && isnan(x64[i]) && !element.has_nan),
                            "%s, shape %zu, binary64: %a gives %a, unpacked %a", specs[f], s, x64[i], y64[i], z64[i]);
            }
}
END_TEST

/* Elements of every width, at every length around words: unsigned integers are their own codes. */
START_TEST(widths)
{
    static double x[200], z[200];
    static unsigned char store[2048];
    for (uint32_t bits = 1; bits <= 53; bits++)
        for (size_t n = 0; n < 140; n += n < 70 ? 1 : 7) {
            fpemu_format f;
            if (bits <= 32)
                ck_assert_int_eq(fpemu_format_int(&f, bits, 0, 1, 0), FPEMU_OK);
            else
                ck_assert_int_eq(fpemu_format_fixed(&f, bits, 0, 0), FPEMU_OK);
            const fpemu_shape shape = fpemu_shape_vector(n);
            const fpemu_rounding r = fpemu_rounding_nearest();
            for (size_t i = 0; i < n; i++)
                x[i] = (double)((((uint64_t)below(1u << 30) << 30) | below(1u << 30)) & ((UINT64_C(1) << bits) - 1));
            const size_t size = (n * bits + 7) / 8, at = below(8);
            ck_assert_uint_eq(fpemu_packed_size(&f, &shape), size);
            memset(store, 0xa5, sizeof store);
            ck_assert_int_eq(fpemu_pack_f64(&f, &r, &shape, x, store + at, NULL), FPEMU_OK);
            for (size_t i = 0; i < n; i++)
                REQUIRE((double)bits_at(store + at, i * bits, bits) == x[i], "%u bits, element %zu of %zu", bits, i, n);
            REQUIRE(bits_at(store + at, n * bits, 8 * size - n * bits) == 0, "%u bits, %zu: padding", bits, n);
            REQUIRE(store[at + size] == 0xa5 && (at == 0 || store[at - 1] == 0xa5), "%u bits, %zu: beyond", bits, n);
            /* what lies between blocks is ignored; no byte beyond the end is read (sanitizers see it) */
            unsigned char *exact = allocate(size);
            memcpy(exact, store + at, size);
            if (n * bits % 8)
                exact[size - 1] |= (unsigned char)(0xffu << (n * bits % 8));
            ck_assert_int_eq(fpemu_unpack_f64(&f, &shape, exact, z), FPEMU_OK);
            free(exact);
            REQUIRE(memcmp(x, z, n * sizeof *x) == 0, "%u bits, %zu: unpacked", bits, n);
        }
}
END_TEST

/* Strided arrays on either side give what contiguous ones give. */
START_TEST(strides)
{
    static float x[4096], y[4096], z[4096], packed_from[4096];
    static unsigned char want[16384], have[16384];
    const uint64_t n[4] = {2, 3, 19, 4};
    for (size_t f = 0; f < COUNT(specs); f++) {
        const fpemu_format format = parse(specs[f]);
        const fpemu_rounding r =
            format.kind == FPEMU_KIND_POSIT ? fpemu_rounding_nearest() : fpemu_rounding_stochastic(1, 2);
        fpemu_shape shape = {n[0], n[1], n[2], n[3], {0}, {0}, {NULL}, {0}};
        const size_t total = 2 * 3 * 19 * 4;
        for (size_t i = 0; i < total; i++)
            packed_from[i] = (float)sample(0);
        const size_t size = (size_t)fpemu_packed_size(&format, &shape);
        ck_assert_uint_lt(size, sizeof want);
        ck_assert_int_eq(fpemu_pack_f32(&format, &r, &shape, packed_from, want, NULL), FPEMU_OK);
        ck_assert_int_eq(fpemu_unpack_f32(&format, &shape, want, y), FPEMU_OK);
        /* length fastest, rows backward, every other element */
        const int64_t stride[4] = {2 * 3 * 19 * 4, -2 * 19 * 4, 2, 2 * 19};
        const int64_t origin = 2 * 2 * 19 * 4;
        size_t i = 0;
        for (uint64_t o = 0; o < n[0]; o++)
            for (uint64_t q = 0; q < n[1]; q++)
                for (uint64_t l = 0; l < n[2]; l++)
                    for (uint64_t k = 0; k < n[3]; k++)
                        x[origin + (int64_t)o * stride[0] + (int64_t)q * stride[1] + (int64_t)l * stride[2] +
                          (int64_t)k * stride[3]] = packed_from[i++];
        memcpy(shape.x_stride, stride, sizeof stride);
        memcpy(shape.y_stride, stride, sizeof stride);
        ck_assert_uint_eq(fpemu_packed_size(&format, &shape), size);
        ck_assert_int_eq(fpemu_pack_f32(&format, &r, &shape, x + origin, have, NULL), FPEMU_OK);
        REQUIRE(memcmp(want, have, size) == 0, "%s: bytes", specs[f]);
        memset(z, 0, sizeof z);
        ck_assert_int_eq(fpemu_unpack_f32(&format, &shape, have, z + origin), FPEMU_OK);
        i = 0;
        for (uint64_t o = 0; o < n[0]; o++)
            for (uint64_t q = 0; q < n[1]; q++)
                for (uint64_t l = 0; l < n[2]; l++)
                    for (uint64_t k = 0; k < n[3]; k++, i++)
                        REQUIRE(memcmp(&y[i],
                                       &z[origin + (int64_t)o * stride[0] + (int64_t)q * stride[1] +
                                          (int64_t)l * stride[2] + (int64_t)k * stride[3]],
                                       4) == 0,
                                "%s: element %zu", specs[f], i);
    }
}
END_TEST

/* Blocks alone: packed one by one, or by runs, they make the bytes of the whole; unpacked, its values. */
START_TEST(blocks)
{
    static float x[4096], y[4096], flat[4096], back[4096];
    static uint64_t indices[4096];
    static unsigned char want[65536], have[65536];
    for (size_t f = 0; f < COUNT(specs); f++)
        for (size_t s = 0; s < COUNT(shapes); s++) {
            const fpemu_format format = parse(specs[f]);
            fpemu_rounding r =
                format.kind == FPEMU_KIND_POSIT ? fpemu_rounding_nearest() : fpemu_rounding_stochastic(1, 2);
            fpemu_shape shape = {
                shapes[s].outer, shapes[s].rows, shapes[s].length, shapes[s].inner, {0}, {0}, {NULL}, {0}};
            const size_t n = (size_t)(shape.outer * shape.rows * shape.length * shape.inner);
            fpemu_layout layout;
            fpemu_range range = {0};
            r.offset = 1000;
            for (size_t i = 0; i < n; i++)
                x[i] = (float)sample(0);
            ck_assert_int_eq(fpemu_packed_layout(&format, &shape, &layout), FPEMU_OK);
            ck_assert_int_eq(fpemu_pack_f32(&format, &r, &shape, x, want, NULL), FPEMU_OK);
            ck_assert_int_eq(fpemu_unpack_f32(&format, &shape, want, y), FPEMU_OK);
            memset(have, 0xff, sizeof have);
            ck_assert_int_eq(fpemu_measure_f32(&format, n, x, &range), FPEMU_OK);
            shape.whole = &range;
            ck_assert_int_eq(fpemu_pack_tensor_scales(&format, &shape, have), FPEMU_OK);
            REQUIRE(memcmp(want, have, (size_t)layout.tensor_bytes) == 0 && have[layout.tensor_bytes] == 0xff,
                    "%s: numbers of the tensor", specs[f]);
            for (uint64_t b = 0; b < layout.blocks;) {
                const uint64_t count = 1 + below(4) % (layout.blocks - b);
                size_t m = 0;
                for (uint64_t k = b; k < b + count; k++)
                    m += slow_block(&format, &shape, k, indices + m);
                for (size_t i = 0; i < m; i++)
                    flat[i] = x[indices[i]];
                ck_assert_int_eq(fpemu_pack_blocks_f32(&format, &r, &shape, b, count, flat, have, NULL), FPEMU_OK);
                memset(back, 0x55, sizeof back);
                ck_assert_int_eq(fpemu_unpack_blocks_f32(&format, &shape, b, count, have, back), FPEMU_OK);
                for (size_t i = 0; i < m; i++)
                    REQUIRE(memcmp(back + i, y + indices[i], 4) == 0, "%s: block %u: %a, not %a", specs[f], (unsigned)b,
                            (double)back[i], (double)y[indices[i]]);
                b += count;
            }
            REQUIRE(memcmp(want, have, (size_t)layout.bytes) == 0 && have[layout.bytes] == 0xff, "%s, shape %zu: bytes",
                    specs[f], s);
        }
}
END_TEST

/* Bytes and values do not depend on threads, also with an offset that is no multiple of anything. */
START_TEST(threads)
{
#ifdef _OPENMP
    static const char *const some[] = {"mxfp4",          "nvfp4", "nf4",  "mx(e3m2,tensor)", "hbfp(4,channel)",
                                       "scaled(e4m3fn)", "s2fp8", "int4", "e4m3fn",          "mx(e2m1,3x100000)",
                                       "fixed(3,1)"};
    const size_t n = 300007;
    float *x = allocate(n * sizeof *x), *y = allocate(n * sizeof *y), *z = allocate(n * sizeof *z);
    unsigned char *one = allocate(4 * n), *three = allocate(4 * n);
    const int before = omp_get_max_threads();
    for (size_t i = 0; i < n; i++)
        x[i] = (float)sample(0);
    for (size_t f = 0; f < COUNT(some); f++) {
        const fpemu_format format = parse(some[f]);
        fpemu_rounding r = fpemu_rounding_stochastic(1, 2);
        r.offset = 77;
        const fpemu_shape shape = {1, 1, n, 1, {0}, {0}, {NULL}, {0}};
        const size_t size = (size_t)fpemu_packed_size(&format, &shape);
        omp_set_num_threads(1);
        ck_assert_int_eq(fpemu_pack_f32(&format, &r, &shape, x, one, NULL), FPEMU_OK);
        ck_assert_int_eq(fpemu_unpack_f32(&format, &shape, one, y), FPEMU_OK);
        omp_set_num_threads(3);
        ck_assert_int_eq(fpemu_pack_f32(&format, &r, &shape, x, three, NULL), FPEMU_OK);
        ck_assert_int_eq(fpemu_unpack_f32(&format, &shape, one, z), FPEMU_OK);
        REQUIRE(memcmp(one, three, size) == 0, "%s: bytes", some[f]);
        REQUIRE(memcmp(y, z, n * sizeof *y) == 0, "%s: values", some[f]);
        ck_assert_int_eq(fpemu_quantize_tensor_f32(&format, &r, &shape, x, z, NULL), FPEMU_OK);
        REQUIRE(memcmp(y, z, n * sizeof *y) == 0, "%s: quantised", some[f]);
    }
    omp_set_num_threads(before);
    free(x);
    free(y);
    free(z);
    free(one);
    free(three);
#endif
}
END_TEST

/* The counters are those of quantize_tensor. */
START_TEST(counters)
{
    static float x[700], y[700];
    static unsigned char bytes[8192];
    for (size_t f = 0; f < COUNT(specs); f++) {
        const fpemu_format format = parse(specs[f]);
        if (format.scaling == FPEMU_SCALING_NONE)
            continue; /* value to code counts the decoded code, and its lines are summed apart */
        const fpemu_shape shape = fpemu_shape_vector(COUNT(x));
        const fpemu_rounding r = fpemu_rounding_nearest();
        fpemu_stats a = {.request.want = FPEMU_STATS_SUMS}, b = {.request.want = FPEMU_STATS_SUMS};
        for (size_t i = 0; i < COUNT(x); i++)
            x[i] = (float)sample(1);
        ck_assert_int_eq(fpemu_quantize_tensor_f32(&format, &r, &shape, x, y, &a), FPEMU_OK);
        ck_assert_int_eq(fpemu_pack_f32(&format, &r, &shape, x, bytes, &b), FPEMU_OK);
        REQUIRE(memcmp(&a, &b, sizeof a) == 0, "%s", specs[f]);
        ck_assert_uint_eq(a.count, COUNT(x));
        if (format.block != FPEMU_BLOCK_TENSOR)
            continue;
        /* the one block again, by the numbers in the bytes */
        fpemu_stats c = {.request.want = FPEMU_STATS_SUMS};
        ck_assert_int_eq(fpemu_pack_blocks_f32(&format, &r, &shape, 0, 1, x, bytes, &c), FPEMU_OK);
        ck_assert_uint_eq(c.blocks, 1);
        ck_assert_uint_eq(c.zero_blocks, 0);
        ck_assert_uint_eq(c.nan_blocks, a.nan_blocks);
    }
}
END_TEST

/* ------------------------------------------------------------------------------------------------- refusals */

START_TEST(refusals)
{
    static float x[64], y[64];
    static unsigned char bytes[64 * 8];
    const fpemu_format f = parse("mxfp4"), wide = parse("group(fp64)"), nvfp4 = parse("nvfp4"), none = {0};
    const fpemu_rounding r = fpemu_rounding_nearest();
    fpemu_rounding bad = r;
    const fpemu_shape shape = fpemu_shape_vector(64), empty = fpemu_shape_vector(0);
    fpemu_shape odd = shape;
    fpemu_layout layout;
    fpemu_extent extent;
    bad.mode = FPEMU_MODE_COUNT;
    odd.reserved0[1] = 1;
    ck_assert_int_eq(fpemu_packed_layout(NULL, &shape, &layout), FPEMU_ERROR_NULL);
    ck_assert_int_eq(fpemu_packed_layout(&f, NULL, &layout), FPEMU_ERROR_NULL);
    ck_assert_int_eq(fpemu_packed_layout(&f, &shape, NULL), FPEMU_ERROR_NULL);
    ck_assert_int_eq(fpemu_packed_layout(&none, &shape, &layout), FPEMU_ERROR_FORMAT);
    ck_assert_int_eq(fpemu_packed_layout(&f, &odd, &layout), FPEMU_ERROR_ARGUMENT);
    ck_assert_uint_eq(layout.bytes, 0);
    ck_assert_uint_eq(fpemu_packed_size(NULL, &shape), 0);
    ck_assert_uint_eq(fpemu_packed_size(&none, &shape), 0);
    ck_assert_int_eq(fpemu_packed_extent(&f, &shape, 0, NULL), FPEMU_ERROR_NULL);
    ck_assert_int_eq(fpemu_packed_extent(&f, &shape, 2, &extent), FPEMU_ERROR_ARGUMENT);
    ck_assert_int_eq(fpemu_packed_extent(&f, &empty, 0, &extent), FPEMU_ERROR_ARGUMENT);
    ck_assert_int_eq(fpemu_pack_f32(NULL, &r, &shape, x, bytes, NULL), FPEMU_ERROR_NULL);
    ck_assert_int_eq(fpemu_pack_f32(&f, NULL, &shape, x, bytes, NULL), FPEMU_ERROR_NULL);
    ck_assert_int_eq(fpemu_pack_f32(&f, &r, NULL, x, bytes, NULL), FPEMU_ERROR_NULL);
    ck_assert_int_eq(fpemu_pack_f32(&f, &r, &shape, NULL, bytes, NULL), FPEMU_ERROR_NULL);
    ck_assert_int_eq(fpemu_pack_f32(&f, &r, &shape, x, NULL, NULL), FPEMU_ERROR_NULL);
    ck_assert_int_eq(fpemu_pack_f32(&f, &bad, &shape, x, bytes, NULL), FPEMU_ERROR_ROUNDING);
    ck_assert_int_eq(fpemu_pack_f32(&wide, &r, &shape, x, bytes, NULL), FPEMU_ERROR_CARRIER);
    ck_assert_int_eq(fpemu_pack_f32(&f, &r, &empty, NULL, NULL, NULL), FPEMU_OK);
    ck_assert_int_eq(fpemu_pack_f32(&nvfp4, &r, &empty, NULL, NULL, NULL), FPEMU_OK);
    ck_assert_int_eq(fpemu_unpack_f32(&nvfp4, &empty, NULL, NULL), FPEMU_OK);
    ck_assert_int_eq(fpemu_unpack_f32(&wide, &shape, bytes, x), FPEMU_ERROR_CARRIER);
    ck_assert_int_eq(fpemu_unpack_f32(&f, &shape, NULL, y), FPEMU_ERROR_NULL);
    ck_assert_int_eq(fpemu_unpack_f32(&f, &shape, bytes, NULL), FPEMU_ERROR_NULL);
    ck_assert_int_eq(fpemu_pack_f32(&f, &r, &shape, x, x, NULL), FPEMU_ERROR_OVERLAP);
    ck_assert_int_eq(fpemu_pack_f32(&f, &r, &shape, x, (char *)(x + 63) + 3, NULL), FPEMU_ERROR_OVERLAP);
    ck_assert_int_eq(fpemu_unpack_f32(&f, &shape, y, y), FPEMU_ERROR_OVERLAP);
    ck_assert_int_eq(fpemu_pack_blocks_f32(&f, &r, &shape, 0, 3, x, bytes, NULL), FPEMU_ERROR_ARGUMENT);
    ck_assert_int_eq(fpemu_pack_blocks_f32(&f, &r, &shape, 3, 0, x, bytes, NULL), FPEMU_ERROR_ARGUMENT);
    ck_assert_int_eq(fpemu_pack_blocks_f32(&f, &r, &shape, 1, UINT64_MAX, x, bytes, NULL), FPEMU_ERROR_ARGUMENT);
    ck_assert_int_eq(fpemu_pack_blocks_f32(&f, &r, &shape, 2, 0, NULL, NULL, NULL), FPEMU_OK);
    ck_assert_int_eq(fpemu_unpack_blocks_f32(&f, &shape, 1, 2, bytes, y), FPEMU_ERROR_ARGUMENT);
    ck_assert_int_eq(fpemu_unpack_blocks_f32(&f, &shape, 0, 2, bytes, NULL), FPEMU_ERROR_NULL);
    ck_assert_int_eq(fpemu_pack_tensor_scales(&nvfp4, &shape, bytes), FPEMU_ERROR_NULL);
    ck_assert_int_eq(fpemu_pack_tensor_scales(&f, &shape, NULL), FPEMU_OK);
    const fpemu_range none_has = {.amax = NAN}; /* said of a tensor of no elements too */
    fpemu_shape told[] = {shape, empty};
    for (size_t i = 0; i < 2; i++) {
        told[i].whole = &none_has;
        ck_assert_int_eq(fpemu_pack_f32(&nvfp4, &r, &told[i], x, bytes, NULL), FPEMU_ERROR_ARGUMENT);
        ck_assert_int_eq(fpemu_pack_blocks_f32(&nvfp4, &r, &told[i], 0, 0, x, bytes, NULL), FPEMU_ERROR_ARGUMENT);
        ck_assert_int_eq(fpemu_quantize_tensor_f32(&nvfp4, &r, &told[i], x, y, NULL), FPEMU_ERROR_ARGUMENT);
    }
    ck_assert_int_eq(fpemu_pack_tensor_scales(&nvfp4, &told[0], bytes), FPEMU_ERROR_ARGUMENT);
    ck_assert_int_eq(fpemu_pack_tensor_scales(&f, &told[0], bytes), FPEMU_ERROR_ARGUMENT);
    for (size_t i = 0; i < sizeof bytes; i++)
        ck_assert_uint_eq(bytes[i], 0);

    /* sizes that do not fit, and those that just do */
    const fpemu_shape huge = {UINT64_C(1) << 32, UINT64_C(1) << 32, 1, 1, {0}, {0}, {NULL}, {0}};
    ck_assert_int_eq(fpemu_packed_layout(&f, &huge, &layout), FPEMU_ERROR_ARGUMENT);
    const fpemu_shape large = fpemu_shape_vector((UINT64_C(1) << 59) + 1);
    ck_assert_int_eq(fpemu_packed_layout(&f, &large, &layout), FPEMU_ERROR_ARGUMENT);
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
            const fpemu_format format = parse(most[i].spec);
            const fpemu_shape fits = fpemu_shape_vector(most[i].elements);
            const fpemu_shape passes = fpemu_shape_vector(most[i].elements + 1);
            ck_assert_int_eq(fpemu_packed_layout(&format, &fits, &layout),
                             most[i].bytes ? FPEMU_OK : FPEMU_ERROR_ARGUMENT);
            ck_assert_uint_eq(layout.bytes, most[i].bytes);
            ck_assert_int_eq(fpemu_packed_layout(&format, &passes, &layout), FPEMU_ERROR_ARGUMENT);
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
    const fpemu_shape zero = {0};
    static const struct {
        size_t dimensions;
        int axis;
        uint64_t outer, rows, length, inner;
    } rows[] = {{1, 0, 1, 1, 2, 1},  {1, -1, 1, 1, 2, 1},   {2, 0, 1, 1, 2, 3}, {2, 1, 1, 2, 3, 1},
                {3, 2, 2, 3, 5, 1},  {3, -1, 2, 3, 5, 1},   {3, 1, 1, 2, 3, 5}, {5, 4, 30, 7, 11, 1},
                {5, 2, 2, 3, 5, 77}, {5, -5, 1, 1, 2, 1155}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        ck_assert_int_eq(fpemu_shape_of(rows[i].dimensions, sizes, rows[i].axis, &s), FPEMU_OK);
        ck_assert(s.outer == rows[i].outer && s.rows == rows[i].rows && s.length == rows[i].length &&
                  s.inner == rows[i].inner && !s.whole && s.x_stride[0] == 0 && s.y_stride[3] == 0);
    }
    ck_assert_int_eq(fpemu_shape_of(3, sizes, 3, &s), FPEMU_ERROR_ARGUMENT);
    ck_assert(memcmp(&s, &zero, sizeof s) == 0);
    ck_assert_int_eq(fpemu_shape_of(3, sizes, -4, &s), FPEMU_ERROR_ARGUMENT);
    ck_assert_int_eq(fpemu_shape_of(0, sizes, 0, &s), FPEMU_ERROR_ARGUMENT);
    ck_assert_int_eq(fpemu_shape_of(3, NULL, 0, &s), FPEMU_ERROR_NULL);
    ck_assert_int_eq(fpemu_shape_of(3, sizes, 0, NULL), FPEMU_ERROR_NULL);
    const uint64_t many[4] = {UINT64_C(1) << 32, 2, UINT64_C(1) << 31, 3};
    ck_assert_int_eq(fpemu_shape_of(3, many, 1, &s), FPEMU_ERROR_ARGUMENT);
    ck_assert_int_eq(fpemu_shape_of(2, many, 1, &s), FPEMU_OK);
    const uint64_t empty[2][4] = {{0, UINT64_C(1) << 40, UINT64_C(1) << 24, 1},
                                  {UINT64_C(1) << 40, UINT64_C(1) << 23, 0, 1}};
    for (int axis = 0; axis < 4; axis++) {
        ck_assert_int_eq(fpemu_shape_of(4, empty[0], axis, &s), FPEMU_ERROR_ARGUMENT);
        ck_assert_int_eq(fpemu_shape_of(4, empty[1], axis, &s), FPEMU_OK);
        ck_assert_uint_eq(s.outer * s.rows * s.length * s.inner, 0);
    }
    s = fpemu_shape_vector(9);
    ck_assert(s.outer == 1 && s.rows == 1 && s.length == 9 && s.inner == 1 && !s.whole);
}
END_TEST

/* pack writes no such code, but bytes may come from elsewhere: an infinity stays one under every scale that is a number
 * above zero (doc/blocks.md, 1.1), on every path; finite codes beside it are cut to the carrier's largest number. */
typedef struct infinity {
    const char *spec;
    uint8_t up, down, high; /* codes of the infinities, and of the largest number */
    int least, most;        /* scale codes, as signed numbers */
    int scale_bits;
} infinity;

static void put_code(uint8_t *bytes, uint64_t bits, uint64_t i, unsigned code)
{
    for (uint64_t k = 0; k < bits; k++) {
        const uint64_t at = i * bits + k;
        bytes[at / 8] = (uint8_t)((bytes[at / 8] & ~(1u << at % 8)) | (code >> k & 1) << at % 8);
    }
}

START_TEST(codes_of_infinity)
{
    enum { N = 8192 };
    static const infinity cases[] = {
        {"block(e5m2,block=32,exponent=5,rule=ceil)", 0x7c, 0xfc, 0x7b, -16, 15, 5},
        {"block(e5m2,block=32,exponent=9,rule=ceil)", 0x7c, 0xfc, 0x7b, -256, 255, 9},
        {"mxfp8_e5m2", 0x7c, 0xfc, 0x7b, 0, 254, 8},
        {"mx(p3109(6,3,se))", 0x1f, 0x3f, 0x1e, 0, 254, 8},
        {"mx(p3109(4,2,se),block=16)", 7, 15, 6, 0, 254, 8},
        {"block(e5m2,block=16,scale=fp32,rule=absmax)", 0x7c, 0xfc, 0x7b, 1, 0x7f7fffff, 32},
        {"nvfp4(p3109(4,2,se))", 7, 15, 6, 1, 0x7e, 8},
        {"s2fp8", 0x7c, 0xfc, 0x7b, 0, 0, 8}};
    static uint8_t bytes[N + 4 * N / 16], kept[sizeof bytes];
    static float y[N], far[2 * N];
    static double z[N];
    static uint16_t half[N], brain[N];
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        fpemu_format f, element;
        ck_assert_int_eq(fpemu_format_parse(cases[c].spec, &f, NULL), FPEMU_OK);
        ck_assert_int_eq(fpemu_format_element(&f, &element), FPEMU_OK);
        for (int step = 0; step < 24; step++) {
            const size_t n = step % 2 ? N : 96;
            const int64_t width = (int64_t)cases[c].most - cases[c].least;
            const int64_t code = cases[c].least + width * (step / 2) / 11;
            fpemu_shape s = fpemu_shape_vector(n), apart = s;
            fpemu_layout l;
            apart.x_stride[2] = 1;
            apart.y_stride[2] = 2;
            ck_assert_int_eq(fpemu_packed_layout(&f, &s, &l), FPEMU_OK);
            ck_assert_uint_le(l.bytes, sizeof bytes);
            memset(bytes, 0, sizeof bytes);
            for (uint64_t k = 0; k < l.tensor_bytes; k += 4) /* 1, of the whole tensor */
                memcpy(bytes + l.tensor_offset + k, "\0\0\x80\x3f", 4);
            for (uint64_t b = 0; b < l.blocks; b++)
                for (uint64_t k = 0; k < l.scale_bytes; k++)
                    bytes[l.scales_offset + b * l.scale_bytes + k] =
                        (uint8_t)((uint64_t)code >> 8 * k & (cases[c].scale_bits < 8 ? 31 : 255));
            if (cases[c].scale_bits == 9) /* bits above the exponent's stay clear */
                for (uint64_t b = 0; b < l.blocks; b++)
                    bytes[l.scales_offset + b * l.scale_bytes + 1] &= 1;
            for (uint64_t i = 0; i < n; i++)
                put_code(bytes + l.elements_offset, l.element_bits, i,
                         i % 3 == 0   ? cases[c].up
                         : i % 3 == 1 ? cases[c].down
                                      : cases[c].high);
            memcpy(kept, bytes, sizeof bytes);
            ck_assert_int_eq(fpemu_unpack_f32(&f, &s, bytes, y), FPEMU_OK);
            ck_assert_int_eq(fpemu_unpack_f64(&f, &s, bytes, z), FPEMU_OK);
            ck_assert_int_eq(fpemu_unpack_f32(&f, &apart, bytes, far), FPEMU_OK);
            const int f16 = fpemu_unpack_f16(&f, &s, bytes, half) == FPEMU_OK;
            const int bf16 = fpemu_unpack_bf16(&f, &s, bytes, brain) == FPEMU_OK;
            for (size_t i = 0; i < n; i++) {
                const double end = i % 3 == 0 ? (double)INFINITY : -(double)INFINITY;
                if (i % 3 == 2)
                    ck_assert(isfinite(y[i]) && y[i] >= 0 && isfinite(z[i]) && far[2 * i] == y[i]);
                else
                    REQUIRE((double)y[i] == end && z[i] == end && (double)far[2 * i] == end &&
                                (!f16 || half[i] == (end > 0 ? 0x7c00 : 0xfc00)) &&
                                (!bf16 || brain[i] == (end > 0 ? 0x7f80 : 0xff80)),
                            "%s, scale %lld, element %zu: %g %g %g %04x %04x", cases[c].spec, (long long)code, i,
                            (double)y[i], z[i], (double)far[2 * i], half[i], brain[i]);
            }
            const uint64_t block = l.blocks > 1;
            ck_assert_int_eq(fpemu_unpack_blocks_f32(&f, &s, block, 1, bytes, y), FPEMU_OK);
            const size_t first = (size_t)(block * f.block_length % 3);
            ck_assert(isinf(y[(3 - first) % 3]) && isinf(y[(4 - first) % 3]) && isfinite(y[(5 - first) % 3]));
            ck_assert(memcmp(bytes, kept, sizeof bytes) == 0);
        }
    }
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
            ck_assert_int_eq(fpemu_swizzle_scales(m, n, plain, tiled), FPEMU_OK);
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
            ck_assert_int_eq(fpemu_unswizzle_scales(m, n, tiled, back), FPEMU_OK);
            ck_assert(memcmp(back, plain, m * n) == 0);
        }
    ck_assert_uint_eq(fpemu_swizzled_size(0, 5), 0);
    ck_assert_uint_eq(fpemu_swizzled_size(UINT64_MAX, 1), 0);
    ck_assert_uint_eq(fpemu_swizzled_size(UINT64_C(1) << 40, UINT64_C(1) << 40), 0);
    ck_assert_int_eq(fpemu_swizzle_scales(0, 5, NULL, NULL), FPEMU_OK);
    ck_assert_int_eq(fpemu_unswizzle_scales(3, 0, NULL, NULL), FPEMU_OK);
    ck_assert_int_eq(fpemu_swizzle_scales(1, 1, NULL, tiled), FPEMU_ERROR_NULL);
    ck_assert_int_eq(fpemu_swizzle_scales(1, 1, plain, NULL), FPEMU_ERROR_NULL);
    ck_assert_int_eq(fpemu_swizzle_scales(1, 1, tiled + 511, tiled), FPEMU_ERROR_OVERLAP);
    ck_assert_int_eq(fpemu_unswizzle_scales(1, 1, tiled, tiled + 511), FPEMU_ERROR_OVERLAP);
    ck_assert_int_eq(fpemu_swizzle_scales(1, 1, tiled + 512, tiled), FPEMU_OK);
    ck_assert_int_eq(fpemu_swizzle_scales(UINT64_MAX, 1, plain, tiled), FPEMU_ERROR_ARGUMENT);
}
END_TEST

/* ------------------------------------------------------------------------------------------ delayed scaling */

START_TEST(delayed)
{
    double history[3] = {0, 0, 0};
    fpemu_delayed d = {.history = history, .length = 3};
    const fpemu_format f = parse("scaled(e4m3fn,rule=recipe-pow2)");
    const fpemu_rounding r = fpemu_rounding_nearest();
    fpemu_shape shape = fpemu_shape_vector(2);
    const float x[2] = {3, -700};
    float y[2];
    shape.whole = &d.range;
    ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, x, y, NULL), FPEMU_OK);
    ck_assert(y[0] == 3 && y[1] == -448); /* nothing seen: the scale is 1 */
    static const double seen[] = {7, 2, 0.5, 1, 1, 1};
    static const double most[] = {7, 7, 7, 2, 1, 1};
    for (size_t i = 0; i < COUNT(seen); i++) {
        const fpemu_range range = {.count = 10, .nonzero = 9, .amax = seen[i]};
        ck_assert_int_eq(fpemu_delayed_update(&d, &range), FPEMU_OK);
        ck_assert(d.range.amax == most[i] && d.range.max == most[i] && d.range.min == -most[i]);
        ck_assert(d.filled == (i < 3 ? i + 1 : 3) && d.next == (i + 1) % 3);
    }
    ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, x, y, NULL), FPEMU_OK);
    ck_assert(y[0] == 1.75f && y[1] == -1.75f); /* 448 / 2^8: the multiplier of amax 1 is 448, cut to 2^8 */
    const fpemu_delayed before = d;
    const fpemu_range bad[] = {{.count = 1},
                               {.count = 1, .nonfinite = 1, .amax = 9},
                               {.count = 1, .amax = INFINITY},
                               {.count = 1, .amax = NAN}};
    for (size_t i = 0; i < COUNT(bad); i++) {
        ck_assert_int_eq(fpemu_delayed_update(&d, &bad[i]), FPEMU_OK);
        ck_assert(memcmp(&d, &before, sizeof d) == 0);
    }
    d = (fpemu_delayed){.history = history, .length = 3, .latest = 1};
    for (size_t i = 0; i < COUNT(seen); i++) {
        const fpemu_range range = {.count = 10, .nonzero = 9, .amax = seen[i]};
        ck_assert_int_eq(fpemu_delayed_update(&d, &range), FPEMU_OK);
        ck_assert(d.range.amax == seen[i]);
    }
    ck_assert_int_eq(fpemu_delayed_update(NULL, &bad[0]), FPEMU_ERROR_NULL);
    ck_assert_int_eq(fpemu_delayed_update(&d, NULL), FPEMU_ERROR_NULL);
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
    const fpemu_format f = parse("e4m3fn:saturate");
    const fpemu_rounding r = fpemu_rounding_nearest();
    fpemu_shape shape = fpemu_shape_vector(LENGTH);
    shape.outer = LINES;
    for (int i = 0; i < N; i++)
        x[i] = (float)below(1u << 20) / 8191 - 50;
    packed.request.want = lines.request.want = whole.request.want = FPEMU_STATS_SUMS;
    ck_assert_int_eq(fpemu_pack_f32(&f, &r, &shape, x, bytes, &packed), FPEMU_OK);
    ck_assert_int_eq(fpemu_quantize_tensor_f32(&f, &r, &shape, x, y, &whole), FPEMU_OK);
    for (int k = 0; k < LINES; k++)
        ck_assert_int_eq(fpemu_quantize_f32(&f, &r, LENGTH, x + k * LENGTH, y + k * LENGTH, &lines), FPEMU_OK);
    ck_assert(memcmp(&packed, &lines, sizeof packed) == 0);
    ck_assert(packed.count == whole.count && packed.inexact == whole.inexact && packed.clipped == whole.clipped &&
              packed.overflow == whole.overflow && packed.subnormal == whole.subnormal &&
              packed.underflow == whole.underflow && packed.max_error == whole.max_error);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pack");
    TCase *tests = tcase_create("pack");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, unpack_of_pack);
    tcase_add_test(tests, widths);
    tcase_add_test(tests, strides);
    tcase_add_test(tests, blocks);
    tcase_add_test(tests, threads);
    tcase_add_test(tests, counters);
    tcase_add_test(tests, refusals);
    tcase_add_test(tests, shape_of);
    tcase_add_test(tests, codes_of_infinity);
    tcase_add_test(tests, swizzle);
    tcase_add_test(tests, delayed);
    tcase_add_test(tests, sums_by_line);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
