/* SPDX-License-Identifier: BSD-2-Clause */
/* api_tensors.c - calls on tensors: quantise with strides, packed bytes, scales, ranges. */
#include "../../tools/common/system.h"

#include "api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OF_CARRIER(carrier, name, ...)                                                                                 \
    ((carrier) == F32   ? fpemu_##name##_f32(__VA_ARGS__)                                                              \
     : (carrier) == F64 ? fpemu_##name##_f64(__VA_ARGS__)                                                              \
     : (carrier) == F16 ? fpemu_##name##_f16(__VA_ARGS__)                                                              \
                        : fpemu_##name##_bf16(__VA_ARGS__))

static fpemu_status quantize(int carrier, const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *shape,
                             const void *x, void *y, fpemu_stats *stats)
{
    return OF_CARRIER(carrier, quantize_tensor, f, r, shape, x, y, stats);
}

/* ------------------------------------------------------------------------------------------------------ the shapes */
static size_t sizes_of(const fpemu_shape *s)
{
    return (size_t)(s->outer * s->rows * s->length * s->inner);
}

/* Two threads share the tensor: one of its sizes grows. Blocks that are as long as an axis, or all others, are shared
 * themselves. */
static void grow(fpemu_shape *s, const fpemu_format *f, uint32_t axis)
{
    const int blocked = f->scaling != FPEMU_SCALING_NONE;
    uint64_t *const sizes[] = {&s->outer, &s->rows, &s->length, &s->inner};
    if (blocked && f->block == FPEMU_BLOCK_ROW) {
        axis = 2;
        s->outer = s->rows = s->inner = 1;
    } else if (blocked && f->block == FPEMU_BLOCK_CHANNEL) {
        axis = axis == 2 ? 3 : axis;
        s->length = 1;
    }
    *sizes[axis] *= LONG / sizes_of(s) + 1;
}

/* Up to some thousand elements; 0 now and then. `used`: the call is none that will be refused, and one in 16 has many
 * elements, of lines and channels three in four. */
static fpemu_shape draw_shape(draw *d, const fpemu_format *f, int used)
{
    fpemu_shape s = fpemu_shape_vector(0);
    const uint32_t any = draw_below(d, 256), kind = any % 4;
    s.outer = draw_below(d, 4) + 1;
    s.rows = draw_below(d, kind == 1 ? 12 : 3) + 1;
    s.length = draw_below(d, kind == 2 ? 200 : 40);
    s.inner = draw_below(d, kind == 3 ? 20 : 2) + 1;
    const int lines = f->scaling != FPEMU_SCALING_NONE &&
                      (f->block == FPEMU_BLOCK_ROW || f->block == FPEMU_BLOCK_CHANNEL); /* seldom drawn */
    if (used && any >= (lines ? 64 : 240) && s.length > 0) {
        grow(&s, f, kind);
    }
    return s;
}

/* Strides of the four axes in some order, with gaps, from one end or the other; *first is the place of element 0, and
 * the result how many places there are. */
static size_t draw_strides(draw *d, const fpemu_shape *s, int64_t stride[4], size_t *first)
{
    const uint64_t sizes[4] = {s->outer, s->rows, s->length, s->inner};
    int order[4] = {3, 2, 1, 0};
    size_t places = 1;
    *first = 0;
    for (int i = 3; i > 0; i--) {
        const int j = (int)draw_below(d, (uint32_t)i + 1), keep = order[i];
        order[i] = order[j];
        order[j] = keep;
    }
    for (int i = 0; i < 4; i++) {
        const uint32_t flags = draw_below(d, 256);
        const int axis = order[i];
        places += flags & 3 ? 0 : flags >> 4 & 3; /* a gap */
        stride[axis] = (int64_t)places;
        const size_t span = sizes[axis] > 0 ? places * (size_t)(sizes[axis] - 1) : 0;
        if (flags & 4) {
            stride[axis] = -stride[axis];
            *first += span;
        }
        places += span;
    }
    return places;
}

static size_t place(const fpemu_shape *s, const int64_t stride[4], size_t first, size_t index)
{
    const size_t i = index % s->inner, l = index / s->inner % s->length, r = index / s->inner / s->length % s->rows;
    const size_t o = index / s->inner / s->length / s->rows;
    return (size_t)((int64_t)first + (int64_t)o * stride[0] + (int64_t)r * stride[1] + (int64_t)l * stride[2] +
                    (int64_t)i * stride[3]);
}

static void scatter(int carrier, const fpemu_shape *s, const int64_t stride[4], size_t first, const array *from,
                    array *to)
{
    const size_t size = carrier_size[carrier], n = sizes_of(s);
    for (size_t i = 0; i < n; i++) {
        memcpy(to->data + place(s, stride, first, i) * size, from->data + i * size, size);
    }
}

/* ------------------------------------------------------------------------------------------------------- quantise */
static uint32_t wanted(draw *d, const fpemu_format *f)
{
    return draw_below(d, 8) & (f->scaling != FPEMU_SCALING_NONE && f->scaling != FPEMU_SCALING_S2FP8 ? 7 : 3);
}

/* The same elements elsewhere in memory give the same, and nothing between them is written. */
static void tensor_strided(draw *d, int carrier, const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *s,
                           const array *x, const array *y, uint32_t want, const counted *c)
{
    const size_t size = carrier_size[carrier];
    fpemu_shape strided = *s;
    size_t x_first, y_first;
    const size_t x_places = draw_strides(d, s, strided.x_stride, &x_first);
    const size_t y_places = draw_strides(d, s, strided.y_stride, &y_first);
    counted again;
    array u = array_new(d, x_places * size, size), v = array_new(d, y_places * size, size);
    array expected = array_new(d, v.bytes, size);
    memcpy(expected.data, v.data, v.bytes);
    scatter(carrier, s, strided.x_stride, x_first, x, &u);
    scatter(carrier, s, strided.y_stride, y_first, y, &expected);
    quantize(carrier, f, r, &strided, u.data + x_first * size, v.data + y_first * size, count_into(&again, want));
    INSIST(memcmp(v.data, expected.data, v.bytes) == 0, "strides change a result, or a gap was written");
    INSIST(counted_same(c, &again, 1), "strides change the counters");
    array_free(&u);
    array_free(&v);
    array_free(&expected);
}

/* 1: the carriers binary32 and binary64 hold the same steps on the way to a block's codes (doc/blocks.md, 1.1, 2.4):
 * powers of two scale exactly, and s2fp8 works in binary64 for both. The other rules divide, and absmax, reciprocal,
 * rceil and the nvfp4 rules so find their scales, by the carrier's arithmetic. Left out too: codebooks, whose midpoints
 * a carrier rounds, settings of other software, which are of binary32, and integers whose steps a carrier rounds. */
static int same_codes(const fpemu_format *f, const fpemu_rounding *r)
{
    if (r->compat != FPEMU_COMPAT_NONE || f->kind == FPEMU_KIND_CODEBOOK || !exact_steps(f)) {
        return 0;
    }
    switch (f->scaling) {
    case FPEMU_SCALING_NONE:
    case FPEMU_SCALING_S2FP8: return 1;
    case FPEMU_SCALING_FLOOR:
    case FPEMU_SCALING_CEIL:
    case FPEMU_SCALING_EVEN:
    case FPEMU_SCALING_HBFP:
    case FPEMU_SCALING_MUPPET: return f->scale_power || f->scale_mantissa_bits == 0;
    default: return 0;
    }
}

/* w is the word of 16 bits nearest to y, ties to even; finite if y is. */
static int nearest_word(int carrier, uint16_t w, double y)
{
    const uint16_t above = (uint16_t)(w + 1), below = (uint16_t)(w - 1);
    const double v = carrier_load(carrier, &w, 0);
    if (!isfinite(y) || v == y) {
        return api_same(v, y);
    }
    const double up = carrier_load(carrier, &above, 0), away = fabs(v - y);
    const double down = w & 0x7fff ? carrier_load(carrier, &below, 0) : up; /* of zero: away from it only */
    if (!isfinite(v) || !signbit(v) != !signbit(y)) {
        return 0;
    }
    if (!isfinite(up) && fabs(y) > fabs(v)) {
        return 1;
    }
    return (away < fabs(up - y) || (away == fabs(up - y) && !(w & 1))) &&
           (away < fabs(down - y) || (away == fabs(down - y) && !(w & 1)));
}

/* The results y of a carrier against v of the next wider one: rounded once to the narrower; what is blocked stays
 * finite (doc/numerics.md, 1.3; doc/blocks.md, 1.1). 1: none was rounded, so that both count the same. */
static int wider_values(int carrier, int wider, const fpemu_format *f, size_t n, const array *y, const array *v)
{
    int same = 1;
    for (size_t i = 0; i < n; i++) {
        const double a = carrier_load(carrier, y->data, i), b = carrier_load(wider, v->data, i);
        if (api_same(a, b)) {
            continue;
        }
        same = 0;
        if (carrier == F32) {
            const float narrow = (float)b;
            const int cut = isinf(narrow) && isfinite(b) && f->scaling != FPEMU_SCALING_NONE;
            INSIST(f->scaling != FPEMU_SCALING_NONE, "two carriers give different numbers");
            INSIST(api_same(a, cut ? copysign(0x1.fffffep127, b) : (double)narrow), "a result is not the wider one's");
        } else {
            uint16_t word;
            memcpy(&word, y->data + 2 * i, 2);
            INSIST(nearest_word(carrier, word, b), "a word is not the nearest");
        }
    }
    return same;
}

/* The same numbers by the next wider carrier; of words of 16 bits by binary32, of which they are defined. */
static void tensor_wider(draw *d, int carrier, const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *s,
                         const array *x, const array *y, fpemu_status status, const counted *c)
{
    const int wider = carrier == F32 ? F64 : F32;
    if (carrier == F64 || x->bytes == 0 || (carrier == F32 && !same_codes(f, r))) {
        return;
    }
    counted again;
    array u = array_widened(d, carrier, wider, x), v = array_new(d, u.bytes, carrier_size[wider]);
    INSIST(quantize(wider, f, r, s, u.data, v.data, count_into(&again, c->stats.request.want)) == status,
           "other status by the wider carrier");
    const int same = wider_values(carrier, wider, f, sizes_of(s), y, &v);
    INSIST(!(same || carrier != F32) || counted_same(c, &again, 1), "the wider carrier counts otherwise");
    array_free(&u);
    array_free(&v);
}

void api_tensor(draw *d)
{
    fpemu_format f;
    fpemu_rounding r;
    counted c;
    const int complete = draw_format(d, &f), carrier = (int)draw_below(d, CARRIERS);
    draw_rounding(d, &r);
    const fpemu_status expected = fpemu_check(&f, &r, carrier_bits[carrier]);
    const fpemu_shape shape = draw_shape(d, &f, expected == FPEMU_OK);
    const size_t n = sizes_of(&shape), size = carrier_size[carrier];
    const uint32_t want = wanted(d, &f);
    array x = draw_array(d, carrier, complete ? &f : NULL, n), y = array_new(d, x.bytes, size);
    api_describe("tensor", &f, &r, carrier, n);
    const fpemu_status status = quantize(carrier, &f, &r, &shape, x.data, y.data, count_into(&c, want));
    api_digest(&status, sizeof status);
    if (status != FPEMU_OK && status != FPEMU_ERROR_NAN) {
        INSIST(expected == status, "fpemu_check and the call disagree");
        array_untouched(&y, "a refused call wrote");
        counted_untouched(&c, want);
    } else {
        INSIST(expected == FPEMU_OK || n == 0, "fpemu_check and the call disagree");
        api_digest(y.data, y.bytes);
        counted_digest(&c);
        if (n > 0) {
            tensor_strided(d, carrier, &f, &r, &shape, &x, &y, want, &c);
        }
        array z = array_copy(d, &x, size);
        quantize(carrier, &f, &r, &shape, z.data, z.data, NULL);
        INSIST(memcmp(z.data, y.data, y.bytes) == 0, "in place differs");
        array_free(&z);
        tensor_wider(d, carrier, &f, &r, &shape, &x, &y, status, &c);
        if (shape.outer == 1 && shape.rows == 1 && shape.inner == 1) {
            z = array_new(d, x.bytes, size);
            OF_CARRIER(carrier, quantize, &f, &r, n, (const void *)x.data, (void *)z.data, NULL);
            INSIST(memcmp(z.data, y.data, y.bytes) == 0, "the call on arrays differs");
            array_free(&z);
        }
    }
    array_free(&x);
    array_free(&y);
}

/* ----------------------------------------------------------------------------------------------------------- packed */
static fpemu_status pack(int carrier, const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *s,
                         const void *x, void *bytes, fpemu_stats *stats)
{
    return OF_CARRIER(carrier, pack, f, r, s, x, bytes, stats);
}

/* The same bytes and values block by block. */
static void pack_by_blocks(draw *d, int carrier, const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *s,
                           const fpemu_layout *layout, const array *x, const array *bytes, const array *y)
{
    const size_t size = carrier_size[carrier];
    array again = array_new(d, bytes->bytes, 1);
    fpemu_range range = {0};
    fpemu_shape measured = *s;
    measured.whole = &range;
    INSIST(OF_CARRIER(carrier, measure, f, sizes_of(s), (const void *)x->data, &range) == FPEMU_OK, "not measured");
    INSIST(fpemu_pack_tensor_scales(f, &measured, again.data) == FPEMU_OK, "no numbers of the tensor");
    INSIST(memcmp(again.data, bytes->data, (size_t)layout->scales_offset) == 0, "other numbers of the tensor");
    const uint64_t drawn = 1 + draw_below(d, 5);
    const uint64_t step = layout->blocks > 4096 ? layout->blocks / drawn + 1 : drawn;
    for (uint64_t first = 0; first < layout->blocks; first += step) {
        const uint64_t count = first + step <= layout->blocks ? step : layout->blocks - first;
        size_t most = 0;
        for (uint64_t b = first; b < first + count; b++) {
            fpemu_extent extent;
            INSIST(fpemu_packed_extent(f, s, b, &extent) == FPEMU_OK, "a block without an extent");
            INSIST(extent.first < sizes_of(s) && extent.elements > 0, "a block outside of its tensor");
            INSIST(extent.offset >= layout->elements_offset && extent.offset < layout->bytes,
                   "a block outside of the bytes");
            most += (size_t)extent.elements;
        }
        array u = array_new(d, most * size, size), v = array_new(d, most * size, size);
        INSIST(OF_CARRIER(carrier, unpack_blocks, f, s, first, count, (const void *)bytes->data, (void *)v.data) ==
                   FPEMU_OK,
               "blocks are not unpacked");
        /* where the blocks' elements lie is told by unpacking values that are their own indices: by the extents */
        size_t at = 0;
        for (uint64_t b = first; b < first + count; b++) {
            fpemu_extent extent;
            fpemu_packed_extent(f, s, b, &extent);
            const int tile = f->scaling != FPEMU_SCALING_NONE && f->block == FPEMU_BLOCK_TILE;
            const int channel = f->scaling != FPEMU_SCALING_NONE && f->block == FPEMU_BLOCK_CHANNEL;
            const size_t left = tile ? (size_t)(s->length - extent.first / s->inner % s->length) : 0;
            const size_t width = tile ? (left < f->block_length ? left : f->block_length) : 1;
            for (size_t e = 0; e < extent.elements; e++) {
                size_t index = (size_t)extent.first;
                if (f->scaling != FPEMU_SCALING_NONE && f->block == FPEMU_BLOCK_TENSOR) {
                    const size_t line = e / s->length;
                    index = (line / s->inner * s->length + e % s->length) * s->inner + line % s->inner;
                } else if (channel) {
                    index += e / s->inner * (s->length * s->inner) + e % s->inner;
                } else if (tile) {
                    index += (e / width * s->length + e % width) * s->inner;
                } else {
                    index += e * s->inner;
                }
                INSIST(index < sizes_of(s), "an element outside of its tensor");
                INSIST(memcmp(v.data + at * size, y->data + index * size, size) == 0, "a block unpacks otherwise");
                memcpy(u.data + at++ * size, x->data + index * size, size);
            }
        }
        const fpemu_status status =
            OF_CARRIER(carrier, pack_blocks, f, r, s, first, count, (const void *)u.data, (void *)again.data, NULL);
        INSIST(status == FPEMU_OK || status == FPEMU_ERROR_NAN, "blocks are not packed");
        array_free(&u);
        array_free(&v);
    }
    INSIST(memcmp(again.data, bytes->data, bytes->bytes) == 0, "block by block gives other bytes");
    array_free(&again);
}

static void pack_scales(draw *d, int carrier, const fpemu_format *f, const fpemu_shape *s, const fpemu_layout *layout,
                        const array *x, const array *bytes)
{
    const size_t wide = carrier == F64 ? 8 : 4, blocks = (size_t)layout->blocks;
    array scales = array_new(d, blocks * wide, wide), again = array_new(d, blocks * wide, wide);
    array codes = array_new(d, blocks * (size_t)layout->scale_bytes, 4);
    float tensor[2] = {0, 0};
    const int none = f->scaling == FPEMU_SCALING_NONE || f->scaling == FPEMU_SCALING_S2FP8;
    fpemu_status status;
    switch (carrier) {
    case F32: status = fpemu_scales_f32(f, s, (const void *)x->data, (void *)scales.data, codes.data, tensor); break;
    case F64: status = fpemu_scales_f64(f, s, (const void *)x->data, (void *)scales.data, codes.data, tensor); break;
    case F16: status = fpemu_scales_f16(f, s, (const void *)x->data, (void *)scales.data, codes.data, tensor); break;
    default: status = fpemu_scales_bf16(f, s, (const void *)x->data, (void *)scales.data, codes.data, tensor);
    }
    INSIST((status == FPEMU_OK) == !none, "scales where there are none, or none where there are");
    if (status == FPEMU_OK) {
        const size_t width = (size_t)layout->scale_bytes;
        api_digest(scales.data, scales.bytes);
        for (size_t b = 0; b < blocks; b++) { /* the file is little-endian */
            uint32_t code = 0;
            for (size_t i = 0; i < width; i++) {
                code |= (uint32_t)bytes->data[layout->scales_offset + b * width + i] << 8 * i;
            }
            const unsigned char *c = codes.data + b * width;
            uint16_t half = 0;
            uint32_t word = 0;
            memcpy(&half, c, width >= 2 ? 2 : 0);
            memcpy(&word, c, width == 4 ? 4 : 0);
            INSIST(code == (width == 1 ? *c : width == 2 ? half : word), "scales have other codes than packed bytes");
        }
        status = carrier == F64 ? fpemu_unpack_scales_f64(f, s, 0, blocks, bytes->data, (void *)again.data)
                                : fpemu_unpack_scales_f32(f, s, 0, blocks, bytes->data, (void *)again.data);
        INSIST(status == FPEMU_OK, "scales are not unpacked");
        INSIST(memcmp(scales.data, again.data, again.bytes) == 0, "packed scales are others");
    }
    array_free(&scales);
    array_free(&again);
    array_free(&codes);
}

/* What was packed is what quantising gives, with the same counters. */
static void pack_same(draw *d, int carrier, const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *s,
                      const fpemu_layout *layout, const array *x, const array *bytes, fpemu_status status,
                      const counted *c)
{
    const size_t n = sizes_of(s), size = carrier_size[carrier];
    array y = array_new(d, x->bytes, size), z = array_new(d, x->bytes, size);
    counted plain;
    INSIST(quantize(carrier, f, r, s, x->data, y.data, count_into(&plain, c->stats.request.want)) == status,
           "pack and quantise have two statuses");
    INSIST(OF_CARRIER(carrier, unpack, f, s, (const void *)bytes->data, (void *)z.data) == FPEMU_OK,
           "packed bytes are not unpacked");
    for (size_t i = 0; i < n; i++) {
        const double v = carrier_load(carrier, y.data, i);
        INSIST(isnan(v) || r->compat != FPEMU_COMPAT_NONE || api_same(v, carrier_load(carrier, z.data, i)),
               "unpack of pack is not quantise");
    }
    /* a scalar format is packed line by line, each of which has sums of its own */
    INSIST(c->stats.nan != 0 || c->stats.invalid != 0 || r->compat != FPEMU_COMPAT_NONE ||
               counted_same(c, &plain, f->scaling != FPEMU_SCALING_NONE),
           "pack counts otherwise than quantise");
    pack_by_blocks(d, carrier, f, r, s, layout, x, bytes, &z);
    pack_scales(d, carrier, f, s, layout, x, bytes);
    array_free(&y);
    array_free(&z);
}

/* The same bytes by the next wider carrier, or those of the numbers that doc/blocks.md, 2.1 says are the same. */
static void pack_wider(draw *d, int carrier, const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *s,
                       const fpemu_layout *layout, const array *x, const array *bytes, fpemu_status status,
                       const counted *c)
{
    const int wider = carrier == F32 ? F64 : F32, codes = carrier != F32 || same_codes(f, r);
    if (carrier == F64 || (!codes && (r->compat != FPEMU_COMPAT_NONE || layout->tensor_bytes == 0))) {
        return;
    }
    counted again;
    array u = array_widened(d, carrier, wider, x), other = array_new(d, bytes->bytes, 1);
    INSIST(pack(wider, f, r, s, u.data, other.data, count_into(&again, c->stats.request.want)) == status,
           "other status by the wider carrier");
    INSIST(memcmp(other.data, bytes->data, codes ? bytes->bytes : (size_t)layout->scales_offset) == 0,
           "the wider carrier gives other bytes");
    if (carrier != F32) {
        INSIST(counted_same(c, &again, 1), "the wider carrier counts otherwise");
    } else if (codes && carrier_fits(f, F32)) {
        array y = array_new(d, x->bytes, 4), v = array_new(d, u.bytes, 8);
        INSIST(fpemu_unpack_f32(f, s, bytes->data, (void *)y.data) == FPEMU_OK, "packed bytes are not unpacked");
        INSIST(fpemu_unpack_f64(f, s, bytes->data, (void *)v.data) == FPEMU_OK, "packed bytes are not unpacked");
        INSIST(!wider_values(carrier, wider, f, sizes_of(s), &y, &v) || counted_same(c, &again, 1),
               "the wider carrier counts otherwise");
        array_free(&y);
        array_free(&v);
    }
    array_free(&u);
    array_free(&other);
}

void api_pack(draw *d)
{
    fpemu_format f;
    fpemu_rounding r;
    counted c;
    const int complete = draw_format(d, &f), carrier = (int)draw_below(d, CARRIERS);
    draw_rounding(d, &r);
    const fpemu_shape shape = draw_shape(d, &f, fpemu_check(&f, &r, carrier_bits[carrier]) == FPEMU_OK);
    const size_t n = sizes_of(&shape), size = carrier_size[carrier];
    const uint32_t want = wanted(d, &f);
    fpemu_layout layout;
    api_describe("pack", &f, &r, carrier, n);
    if (fpemu_packed_layout(&f, &shape, &layout) != FPEMU_OK) {
        INSIST(!complete, "a complete format without a layout");
        return;
    }
    INSIST(layout.bytes == fpemu_packed_size(&f, &shape), "two sizes");
    array x = draw_array(d, carrier, &f, n), z = array_new(d, x.bytes, size);
    array bytes = array_new(d, (size_t)layout.bytes, 1);
    const fpemu_status status = pack(carrier, &f, &r, &shape, x.data, bytes.data, count_into(&c, want));
    api_digest(&status, sizeof status);
    if (status != FPEMU_OK && status != FPEMU_ERROR_NAN) {
        array_untouched(&bytes, "a refused call wrote");
        counted_untouched(&c, want);
    } else if (n > 0) {
        api_digest(bytes.data, bytes.bytes);
        counted_digest(&c);
        if (carrier_fits(&f, carrier)) {
            pack_same(d, carrier, &f, &r, &shape, &layout, &x, &bytes, status, &c);
        } else {
            array_untouched(&z, "nothing was unpacked yet");
            INSIST(OF_CARRIER(carrier, unpack, &f, &shape, (const void *)bytes.data, (void *)z.data) ==
                       FPEMU_ERROR_CARRIER,
                   "values that the carrier does not hold");
            array_untouched(&z, "a refused call wrote");
        }
        pack_wider(d, carrier, &f, &r, &shape, &layout, &x, &bytes, status, &c);
        /* strangers' bytes are numbers too */
        for (size_t i = 0; i < bytes.bytes; i++) {
            bytes.data[i] = (unsigned char)draw_word(d, 1);
        }
        OF_CARRIER(carrier, unpack, &f, &shape, (const void *)bytes.data, (void *)z.data);
        api_digest(z.data, z.bytes);
    }
    array_free(&x);
    array_free(&z);
    array_free(&bytes);
}

/* ----------------------------------------------------------------------------------- shapes without elements */
/* Sizes of any magnitude: the layout is consistent or refused. */
void api_shape(draw *d)
{
    fpemu_format f;
    fpemu_layout layout;
    fpemu_extent extent;
    uint64_t sizes[6];
    fpemu_shape shape;
    const int complete = draw_format(d, &f);
    const uint32_t dimensions = draw_below(d, 7), axis = draw_below(d, 10);
    for (int i = 0; i < 6; i++) {
        sizes[i] = draw_word(d, draw_below(d, 9));
    }
    CASE("shape_of %u sizes, axis %d", dimensions, (int)axis - 3);
    if (fpemu_shape_of(dimensions, sizes, (int)axis - 3, &shape) != FPEMU_OK) {
        memcpy(&shape, &(fpemu_shape){0}, sizeof shape);
        shape.outer = sizes[0];
        shape.rows = sizes[1];
        shape.length = sizes[2];
        shape.inner = sizes[3];
    }
    char text[300] = "";
    fpemu_format_print(&f, text, sizeof text);
    CASE("layout of %s: %llu x %llu x %llu x %llu", text, (unsigned long long)shape.outer,
         (unsigned long long)shape.rows, (unsigned long long)shape.length, (unsigned long long)shape.inner);
    const fpemu_status status = fpemu_packed_layout(&f, &shape, &layout);
    api_digest(&status, sizeof status);
    if (status != FPEMU_OK) {
        INSIST(fpemu_packed_size(&f, &shape) == 0, "a size of what is refused");
        return;
    }
    INSIST(complete, "a layout for a refused format");
    api_digest(&layout, sizeof layout);
    if (layout.blocks == 0) {
        INSIST(layout.bytes == 0, "bytes without blocks");
        return;
    }
    INSIST(fpemu_packed_extent(&f, &shape, layout.blocks, &extent) == FPEMU_ERROR_ARGUMENT, "a block past the last");
    uint64_t end = layout.elements_offset;
    const uint64_t some[] = {0, layout.blocks / 2, layout.blocks - 1};
    for (int i = 0; i < 3; i++) {
        INSIST(fpemu_packed_extent(&f, &shape, some[i], &extent) == FPEMU_OK, "a block without an extent");
        INSIST(i == 0 || some[i] == some[i - 1] || extent.offset >= end, "blocks that overlap");
        const uint64_t bits = extent.elements * layout.element_bits;
        INSIST(extent.elements <= UINT64_MAX / layout.element_bits, "a block of 2^64 bits");
        end = extent.offset + bits / 8 + (bits % 8 != 0);
        INSIST(end <= layout.bytes && end >= extent.offset, "a block past the bytes");
    }
    INSIST(end == layout.bytes, "bytes after the last block");
}

/* -------------------------------------------------------------------------------------- order of scales, and ranges */
void api_swizzle(draw *d)
{
    const uint64_t rows = draw_below(d, 300), columns = draw_below(d, 20);
    CASE("swizzle %llu x %llu", (unsigned long long)rows, (unsigned long long)columns);
    const uint64_t huge[2] = {draw_word(d, 8), draw_word(d, 8)};
    const uint64_t any = fpemu_swizzled_size(huge[0], huge[1]), size = fpemu_swizzled_size(rows, columns);
    INSIST(any == 0 || (any >= huge[0] && any >= huge[1] && any % 512 == 0), "a size that wraps");
    array from = array_new(d, (size_t)(rows * columns), 1), to = array_new(d, (size_t)size, 1);
    array back = array_new(d, from.bytes, 1);
    if (rows > 0 && columns > 0) {
        INSIST(size >= rows * columns, "fewer places than scales");
        INSIST(fpemu_swizzle_scales(rows, columns, from.data, to.data) == FPEMU_OK, "not swizzled");
        INSIST(fpemu_unswizzle_scales(rows, columns, to.data, back.data) == FPEMU_OK, "not unswizzled");
        INSIST(memcmp(from.data, back.data, from.bytes) == 0, "there and back differs");
        api_digest(to.data, to.bytes);
    }
    array_free(&from);
    array_free(&to);
    array_free(&back);
}

void api_measure(draw *d)
{
    fpemu_format f;
    const int complete = draw_format(d, &f), carrier = (int)draw_below(d, CARRIERS);
    int many;
    const uint32_t some = draw_seldom(d, 200, &many);
    const size_t n = many ? LONG + some : some, size = carrier_size[carrier];
    const size_t cut = n > 0 ? draw_below(d, (uint32_t)n + 1) : 0;
    fpemu_range whole = {0}, pieces = {0};
    fpemu_rounding r = fpemu_rounding_nearest();
    api_describe("measure", &f, &r, carrier, n);
    array x = draw_array(d, carrier, complete ? &f : NULL, n);
    const fpemu_status status = OF_CARRIER(carrier, measure, &f, n, (const void *)x.data, &whole);
    if (status == FPEMU_OK) {
        OF_CARRIER(carrier, measure, &f, n - cut, (const void *)(x.data + cut * size), &pieces);
        OF_CARRIER(carrier, measure, &f, cut, (const void *)x.data, &pieces);
        INSIST(memcmp(&whole, &pieces, sizeof whole) == 0, "pieces measure otherwise");
        double amax = 0;
        for (size_t i = 0; i < n; i++) {
            const double v = fabs(carrier_load(carrier, x.data, i));
            amax = isfinite(v) && v > amax ? v : amax;
        }
        INSIST(whole.count == n && whole.amax == amax, "another amax than C's");
        double history[4] = {0};
        fpemu_delayed delayed = {.length = draw_below(d, 5), .latest = draw_below(d, 3)};
        delayed.history = draw_below(d, 8) ? history : NULL;
        for (int i = 0; i < 6; i++) {
            if (fpemu_delayed_update(&delayed, &whole) != FPEMU_OK) {
                INSIST(delayed.length == 0 || delayed.latest > 1 || delayed.history == NULL, "an update is refused");
                break;
            }
        }
        api_digest(&whole, sizeof whole);
        api_digest(history, sizeof history);
    }
    array_free(&x);
}
