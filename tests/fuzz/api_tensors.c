/* SPDX-License-Identifier: BSD-2-Clause */
/* api_tensors.c - calls on tensors: quantise with strides and in slices, packed bytes, scales, ranges. */
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

/* Whether the format has something of the whole tensor, which shape.whole tells (doc/blocks.md, 1.2). */
static int reads_whole(const fpemu_format *f)
{
    return f->scaling != FPEMU_SCALING_NONE &&
           (f->block == FPEMU_BLOCK_TENSOR || f->scaling == FPEMU_SCALING_S2FP8 || f->scaling == FPEMU_SCALING_NVFP4 ||
            f->scaling == FPEMU_SCALING_NVFP4_AO);
}

/* The range of another tensor; 0: one that no tensor has. */
static int draw_range(draw *d, const fpemu_format *f, fpemu_range *range)
{
    memset(range, 0, sizeof *range);
    const uint32_t kind = draw_below(d, 16), broken = draw_below(d, 8);
    if (kind == 0) {
        return 1; /* delayed scaling begins with it */
    }
    const double x = fabs(draw_number(d, f));
    range->amax = range->max = isfinite(x) ? x : 1;
    range->min = -range->max;
    range->count = draw_word(d, 2);
    range->nonzero = draw_word(d, 2);
    range->nonfinite = draw_below(d, 4) == 0;
    range->log2_max = (int16_t)draw_word(d, 2) % 1075;
    range->log2_low = draw_word(d, 8);
    range->log2_high = (int64_t)draw_word(d, draw_below(d, 9));
    if (kind < 12) {
        return 1;
    }
    switch (broken) {
    case 0: range->amax = NAN; break;
    case 1: range->amax = -1; break;
    case 2: range->amax = INFINITY; break;
    case 3: range->max = -0x1p-1074; break;
    case 4: range->min = 0x1p-1074; break;
    case 5: range->max = INFINITY; break;
    case 6: range->log2_max = NAN; break;
    default: range->reserved0[draw_below(d, 3)] = 1;
    }
    return 0;
}

/* Slices along `outer` that are told the range of the whole. Channels lie across them. */
static void tensor_slices(draw *d, int carrier, const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *s,
                          const fpemu_range *range, const array *x, const array *y, uint32_t want, const counted *c)
{
    const int blocked = f->scaling != FPEMU_SCALING_NONE;
    if (blocked && f->block == FPEMU_BLOCK_CHANNEL) {
        return;
    }
    const uint64_t cut = draw_below(d, (uint32_t)s->outer + 1);
    const size_t size = carrier_size[carrier], at = (size_t)(cut * (s->rows * s->length * s->inner));
    counted first, second;
    fpemu_shape slice = *s;
    fpemu_rounding later = *r;
    array z = array_new(d, y->bytes, size);
    slice.whole = range;
    slice.outer = cut;
    quantize(carrier, f, r, &slice, x->data, z.data, count_into(&first, want));
    slice.outer = s->outer - cut;
    later.offset += at;
    quantize(carrier, f, &later, &slice, x->data + at * size, z.data + at * size, count_into(&second, want));
    INSIST(memcmp(z.data, y->data, y->bytes) == 0, "two slices and the whole differ");
    if (!blocked || f->block != FPEMU_BLOCK_TENSOR) { /* each slice is a block of its own there */
        counted_pieces(&first, &second, c, blocked || cut == 0 || cut == s->outer || later.offset % 4096 == 0);
    }
    array_free(&z);
}

/* The tensor's own range when it is told, and any other. */
static void tensor_told(draw *d, int carrier, const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *s,
                        const array *x, const array *y, fpemu_status status, uint32_t want, const counted *c)
{
    counted again;
    fpemu_range range = {0};
    fpemu_shape told = *s;
    told.whole = &range;
    array z = array_new(d, y->bytes, carrier_size[carrier]);
    INSIST(OF_CARRIER(carrier, measure, f, sizes_of(s), (const void *)x->data, &range) == FPEMU_OK, "not measured");
    INSIST(quantize(carrier, f, r, &told, x->data, z.data, count_into(&again, want)) == status,
           "other status with the range told");
    INSIST(memcmp(z.data, y->data, y->bytes) == 0, "the range told differs from the range measured");
    INSIST(counted_same(c, &again, 1), "the range told counts otherwise");
    tensor_slices(d, carrier, f, r, s, &range, x, y, want, c);
    array_free(&z);

    z = array_new(d, y->bytes, carrier_size[carrier]);
    const int can_be = draw_range(d, f, &range);
    const fpemu_status other = quantize(carrier, f, r, &told, x->data, z.data, count_into(&again, want));
    if (!can_be) {
        INSIST(other == FPEMU_ERROR_ARGUMENT, "a range that cannot be is taken");
        array_untouched(&z, "a refused call wrote");
        counted_untouched(&again, want);
    } else {
        INSIST(other == FPEMU_OK || other == FPEMU_ERROR_NAN, "a range is refused");
        INSIST(reads_whole(f) || memcmp(z.data, y->data, y->bytes) == 0, "a range that nothing needs changes results");
        api_digest(z.data, z.bytes);
        counted_digest(&again);
    }
    array_free(&z);
}

/* Output and input that overlap, by their places or by strides. */
static void tensor_overlap(draw *d, int carrier, const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *s,
                           const array *x, uint32_t want)
{
    const size_t size = carrier_size[carrier];
    counted c;
    overlapped o = overlap_new(d, x, x->bytes, size, 1);
    overlap_end(&o, quantize(carrier, f, r, s, o.in, o.out, count_into(&c, want)), &c, want);

    fpemu_shape strided = *s;
    size_t first;
    const size_t places = draw_strides(d, s, strided.x_stride, &first);
    const int64_t dense[4] = {(int64_t)(s->rows * s->length * s->inner), (int64_t)(s->length * s->inner),
                              (int64_t)s->inner, 1};
    if (memcmp(strided.x_stride, dense, sizeof dense) != 0) {
        array z = array_new(d, places * size + x->bytes, size);
        INSIST(quantize(carrier, f, r, &strided, z.data + first * size, z.data + first * size, count_into(&c, want)) ==
                   FPEMU_ERROR_OVERLAP,
               "an array in place with other strides is taken");
        array_untouched(&z, "a refused call wrote");
        counted_untouched(&c, want);
        array_free(&z);
    }
}

/* A format that reads shape.whole: draw_format seldom gives one. */
static int draw_whole(draw *d, fpemu_format *f)
{
    static const char *const texts[] = {"nvfp4", "nvfp4(e2m1,block=16,scale=e4m3fn,rule=nvfp4-ao)", "s2fp8"};
    static const fpemu_name names[] = {FPEMU_NAME_E4M3FN, FPEMU_NAME_E2M1, FPEMU_NAME_E5M2};
    fpemu_format element, scale;
    const uint32_t which = draw_below(d, 6), rule = draw_below(d, FPEMU_SCALING_COUNT), power = draw_below(d, 2);
    if (which < 3) {
        INSIST(fpemu_format_parse(texts[which], f, NULL) == FPEMU_OK, texts[which]);
        return 1;
    }
    fpemu_format_named(names[which - 3], &element);
    fpemu_format_named(FPEMU_NAME_BINARY32, &scale);
    return fpemu_format_blocked(f, &element, (fpemu_scaling)rule, power ? NULL : &scale, power ? 8 : 0,
                                FPEMU_BLOCK_TENSOR, 0, 0) == FPEMU_OK;
}

enum { FEW_BYTES = 1024 }; /* of what is tried for overlaps: copies of more take as long as the calls */

static void tensor_of(draw *d, const fpemu_format *f, int complete)
{
    fpemu_rounding r;
    counted c;
    const int carrier = (int)draw_below(d, CARRIERS);
    draw_rounding(d, &r);
    const fpemu_status expected = fpemu_check(f, &r, carrier_bits[carrier]);
    const fpemu_shape shape = draw_shape(d, f, expected == FPEMU_OK);
    const size_t n = sizes_of(&shape), size = carrier_size[carrier];
    const uint32_t want = wanted(d, f);
    array x = draw_array(d, carrier, complete ? f : NULL, n), y = array_new(d, x.bytes, size);
    api_describe("tensor", f, &r, carrier, n);
    const fpemu_status status = quantize(carrier, f, &r, &shape, x.data, y.data, count_into(&c, want));
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
            tensor_strided(d, carrier, f, &r, &shape, &x, &y, want, &c);
            tensor_told(d, carrier, f, &r, &shape, &x, &y, status, want, &c);
        }
        if (n > 0 && x.bytes <= FEW_BYTES) {
            tensor_overlap(d, carrier, f, &r, &shape, &x, want);
        }
        array z = array_copy(d, &x, size);
        quantize(carrier, f, &r, &shape, z.data, z.data, NULL);
        INSIST(memcmp(z.data, y.data, y.bytes) == 0, "in place differs");
        array_free(&z);
        tensor_wider(d, carrier, f, &r, &shape, &x, &y, status, &c);
        if (shape.outer == 1 && shape.rows == 1 && shape.inner == 1) {
            z = array_new(d, x.bytes, size);
            OF_CARRIER(carrier, quantize, f, &r, n, (const void *)x.data, (void *)z.data, NULL);
            INSIST(memcmp(z.data, y.data, y.bytes) == 0, "the call on arrays differs");
            array_free(&z);
        }
    }
    array_free(&x);
    array_free(&y);
}

void api_tensor(draw *d)
{
    fpemu_format f;
    const int complete = draw_format(d, &f);
    tensor_of(d, &f, complete);
    if (draw_below(d, 8) == 0) {
        const int whole = draw_whole(d, &f);
        tensor_of(d, &f, whole);
    }
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

static fpemu_status find_scales(int carrier, const fpemu_format *f, const fpemu_shape *s, const void *x, void *scales,
                                void *codes, float *tensor)
{
    return OF_CARRIER(carrier, scales, f, s, x, scales, codes, tensor);
}

static void same_codes_of_scales(const fpemu_layout *layout, const array *codes, const array *bytes)
{
    const size_t width = (size_t)layout->scale_bytes;
    for (size_t b = 0; b < layout->blocks && width > 0; b++) { /* the file is little-endian */
        uint32_t code = 0;
        for (size_t i = 0; i < width; i++) {
            code |= (uint32_t)bytes->data[layout->scales_offset + b * width + i] << 8 * i;
        }
        const unsigned char *c = codes->data + b * width;
        uint16_t half = 0;
        uint32_t word = 0;
        memcpy(&half, c, width >= 2 ? 2 : 0);
        memcpy(&word, c, width == 4 ? 4 : 0);
        INSIST(code == (width == 1 ? *c : width == 2 ? half : word), "scales have other codes than packed bytes");
    }
}

/* The two numbers of the whole tensor are those that its packed bytes begin with, or 1 and 1. */
static void same_tensor_numbers(const fpemu_layout *layout, const array *tensor, const array *bytes)
{
    for (size_t i = 0; i < 2; i++) {
        uint32_t packed = 0x3f800000, found;
        memcpy(&found, tensor->data + 4 * i, 4);
        if (layout->tensor_bytes > 0) {
            packed = 0;
            for (size_t k = 0; k < 4; k++) {
                packed |= (uint32_t)bytes->data[layout->tensor_offset + 4 * i + k] << 8 * k;
            }
        }
        INSIST(found == packed, "other numbers of the whole tensor than in packed bytes");
    }
}

/* Some of the three outputs alone, and outputs that overlap x, the packed bytes, or one another. */
static void scales_apart(draw *d, int carrier, const fpemu_format *f, const fpemu_shape *s, const fpemu_layout *layout,
                         const array *x, const array *bytes, array outputs[3])
{
    const size_t wide = carrier == F64 ? 8 : 4;
    const uint32_t asked = f->scaling == FPEMU_SCALING_S2FP8 ? 4 : 1 + draw_below(d, 6), which = draw_below(d, 3);
    array again[3];
    void *at[3];
    for (int i = 0; i < 3; i++) {
        again[i] = array_new(d, outputs[i].bytes, 8);
        at[i] = asked >> i & 1 ? again[i].data : NULL;
    }
    INSIST(find_scales(carrier, f, s, x->data, at[0], at[1], at[2]) == FPEMU_OK, "one output alone is refused");
    for (int i = 0; i < 3; i++) {
        INSIST(at[i] == NULL || memcmp(again[i].data, outputs[i].data, again[i].bytes) == 0,
               "one output alone differs");
        array_free(&again[i]);
    }
    if (x->bytes > FEW_BYTES) {
        return;
    }
    const size_t steps[3] = {wide, layout->scale_bytes > 0 ? (size_t)layout->scale_bytes : 1, 4};
    if (f->scaling != FPEMU_SCALING_S2FP8) {
        overlapped o = overlap_new(d, x, outputs[which].bytes, steps[which], 0);
        memset(at, 0, sizeof at);
        at[which] = o.out;
        overlap_end(&o, find_scales(carrier, f, s, o.in, at[0], at[1], at[2]), NULL, 0);
        again[0] = array_new(d, outputs[0].bytes + 8, 8);
        INSIST(find_scales(carrier, f, s, x->data, again[0].data, NULL, (void *)again[0].data) == FPEMU_ERROR_OVERLAP,
               "two outputs in one place");
        array_untouched(&again[0], "a refused call wrote");
        array_free(&again[0]);
        o = overlap_new(d, bytes, outputs[0].bytes, wide, 0);
        overlap_end(&o,
                    carrier == F64 ? fpemu_unpack_scales_f64(f, s, 0, layout->blocks, o.in, (void *)o.out)
                                   : fpemu_unpack_scales_f32(f, s, 0, layout->blocks, o.in, (void *)o.out),
                    NULL, 0);
    }
}

/* What is asked for scales where the format has none, or where the carrier does not hold it, is refused. */
static void scales_status(draw *d, int carrier, const fpemu_format *f, const fpemu_shape *s, const array *x)
{
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    const int none = f->scaling == FPEMU_SCALING_NONE || f->scaling == FPEMU_SCALING_S2FP8;
    fpemu_status expected = fpemu_check(f, &nearest, carrier == F64 ? 64 : 32);
    if (expected == FPEMU_OK && none) {
        expected = FPEMU_ERROR_UNSUPPORTED;
    }
    const size_t n = sizes_of(s), size = carrier == F64 ? 8 : 4;
    array scales = array_new(d, n * size, size), codes = array_new(d, 4 * n, 4), tensor = array_new(d, 8, 4);
    fpemu_range range;
    fpemu_shape told = *s;
    const int told_wrong = expected == FPEMU_OK && !draw_range(d, f, &range);
    if (told_wrong) {
        told.whole = &range;
        expected = FPEMU_ERROR_ARGUMENT;
    }
    INSIST(find_scales(carrier, f, &told, x->data, scales.data, codes.data, (void *)tensor.data) == expected,
           "scales where there are none, or none where there are");
    if (expected != FPEMU_OK || n == 0) {
        array_untouched(&scales, "refused scales were written");
        array_untouched(&codes, "refused scales were written");
        array_untouched(&tensor, "refused numbers of the tensor were written");
    }
    array_free(&scales);
    array_free(&codes);
    array_free(&tensor);
}

static void pack_scales(draw *d, int carrier, const fpemu_format *f, const fpemu_shape *s, const fpemu_layout *layout,
                        const array *x, const array *bytes)
{
    const size_t wide = carrier == F64 ? 8 : 4, blocks = (size_t)layout->blocks;
    const int alone = f->scaling == FPEMU_SCALING_S2FP8; /* numbers of the whole tensor without scales */
    if (f->scaling == FPEMU_SCALING_NONE) {
        return;
    }
    array outputs[3] = {array_new(d, alone ? 0 : blocks * wide, wide), {0}, {0}};
    outputs[1] = array_new(d, blocks * (size_t)layout->scale_bytes, 4);
    outputs[2] = array_new(d, 8, 4);
    INSIST(find_scales(carrier, f, s, x->data, alone ? NULL : outputs[0].data, alone ? NULL : outputs[1].data,
                       (void *)outputs[2].data) == FPEMU_OK,
           "no scales");
    api_digest(outputs[0].data, outputs[0].bytes);
    same_codes_of_scales(layout, &outputs[1], bytes);
    same_tensor_numbers(layout, &outputs[2], bytes);
    scales_apart(d, carrier, f, s, layout, x, bytes, outputs);
    if (!alone) {
        array again = array_new(d, blocks * wide, wide);
        INSIST((carrier == F64 ? fpemu_unpack_scales_f64(f, s, 0, blocks, bytes->data, (void *)again.data)
                               : fpemu_unpack_scales_f32(f, s, 0, blocks, bytes->data, (void *)again.data)) == FPEMU_OK,
               "scales are not unpacked");
        INSIST(memcmp(outputs[0].data, again.data, again.bytes) == 0, "packed scales are others");
        array_free(&again);
    }
    for (int i = 0; i < 3; i++) {
        array_free(&outputs[i]);
    }
}

/* Packed with the tensor's own range told, with one that cannot be, and with overlaps. */
static void pack_told(draw *d, int carrier, const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *s,
                      const array *x, const array *bytes, fpemu_status status, uint32_t want)
{
    const size_t size = carrier_size[carrier];
    counted c;
    fpemu_range range = {0};
    fpemu_shape told = *s;
    told.whole = &range;
    array again = array_new(d, bytes->bytes, 1);
    OF_CARRIER(carrier, measure, f, sizes_of(s), (const void *)x->data, &range);
    INSIST(pack(carrier, f, r, &told, x->data, again.data, NULL) == status, "other status with the range told");
    INSIST(memcmp(again.data, bytes->data, bytes->bytes) == 0, "the range told differs from the range measured");
    array_free(&again);
    if (!draw_range(d, f, &range)) {
        again = array_new(d, bytes->bytes, 1);
        INSIST(pack(carrier, f, r, &told, x->data, again.data, count_into(&c, want)) == FPEMU_ERROR_ARGUMENT,
               "a range that cannot be is taken");
        array_untouched(&again, "a refused call wrote");
        counted_untouched(&c, want);
        fpemu_layout l;
        INSIST(fpemu_packed_layout(f, s, &l) == FPEMU_OK &&
                   fpemu_pack_tensor_scales(f, &told, again.data) ==
                       (l.tensor_bytes > 0 ? FPEMU_ERROR_ARGUMENT : FPEMU_OK),
               "a range that cannot be is taken");
        array_untouched(&again, "a refused call wrote");
        array_free(&again);
    }
    if (x->bytes <= FEW_BYTES) {
        overlapped o = overlap_new(d, x, bytes->bytes, 1, 0);
        overlap_end(&o, pack(carrier, f, r, s, o.in, o.out, count_into(&c, want)), &c, want);
        if (carrier_fits(f, carrier)) {
            o = overlap_new(d, bytes, x->bytes, size, 0);
            overlap_end(&o, OF_CARRIER(carrier, unpack, f, s, (const void *)o.in, (void *)o.out), NULL, 0);
        }
    }
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

static void packed_of(draw *d, const fpemu_format *f, int complete)
{
    fpemu_rounding r;
    counted c;
    const int carrier = (int)draw_below(d, CARRIERS);
    draw_rounding(d, &r);
    const fpemu_shape shape = draw_shape(d, f, fpemu_check(f, &r, carrier_bits[carrier]) == FPEMU_OK);
    const size_t n = sizes_of(&shape), size = carrier_size[carrier];
    const uint32_t want = wanted(d, f);
    fpemu_layout layout;
    api_describe("pack", f, &r, carrier, n);
    if (fpemu_packed_layout(f, &shape, &layout) != FPEMU_OK) {
        INSIST(!complete, "a complete format without a layout");
        return;
    }
    INSIST(layout.bytes == fpemu_packed_size(f, &shape), "two sizes");
    array x = draw_array(d, carrier, f, n), z = array_new(d, x.bytes, size);
    array bytes = array_new(d, (size_t)layout.bytes, 1);
    const fpemu_status status = pack(carrier, f, &r, &shape, x.data, bytes.data, count_into(&c, want));
    api_digest(&status, sizeof status);
    if (status != FPEMU_OK && status != FPEMU_ERROR_NAN) {
        array_untouched(&bytes, "a refused call wrote");
        counted_untouched(&c, want);
    } else if (n > 0) {
        api_digest(bytes.data, bytes.bytes);
        counted_digest(&c);
        if (carrier_fits(f, carrier)) {
            pack_same(d, carrier, f, &r, &shape, &layout, &x, &bytes, status, &c);
        } else {
            array_untouched(&z, "nothing was unpacked yet");
            INSIST(OF_CARRIER(carrier, unpack, f, &shape, (const void *)bytes.data, (void *)z.data) ==
                       FPEMU_ERROR_CARRIER,
                   "values that the carrier does not hold");
            array_untouched(&z, "a refused call wrote");
        }
        pack_wider(d, carrier, f, &r, &shape, &layout, &x, &bytes, status, &c);
        pack_told(d, carrier, f, &r, &shape, &x, &bytes, status, want);
        /* strangers' bytes are numbers too */
        for (size_t i = 0; i < bytes.bytes; i++) {
            bytes.data[i] = (unsigned char)draw_word(d, 1);
        }
        OF_CARRIER(carrier, unpack, f, &shape, (const void *)bytes.data, (void *)z.data);
        api_digest(z.data, z.bytes);
    }
    scales_status(d, carrier, f, &shape, &x);
    array_free(&x);
    array_free(&z);
    array_free(&bytes);
}

void api_pack(draw *d)
{
    fpemu_format f;
    const int complete = draw_format(d, &f);
    packed_of(d, &f, complete);
    if (draw_below(d, 8) == 0) {
        const int whole = draw_whole(d, &f);
        packed_of(d, &f, whole);
    }
}

/* ------------------------------------------------------------------------------------------------------- ranges */
void api_measure(draw *d)
{
    fpemu_format f;
    const int complete = draw_format(d, &f), carrier = (int)draw_below(d, CARRIERS);
    int many;
    const uint32_t some = draw_seldom(d, 200, &many);
    const size_t n = many ? LONG + some : some, size = carrier_size[carrier];
    const size_t cut = n > 0 ? draw_below(d, (uint32_t)n + 1) : 0;
    fpemu_range whole = {0}, pieces = {0}, other;
    fpemu_rounding r = fpemu_rounding_nearest();
    api_describe("measure", &f, &r, carrier, n);
    array x = draw_array(d, carrier, complete ? &f : NULL, n);
    const fpemu_status status = OF_CARRIER(carrier, measure, &f, n, (const void *)x.data, &whole);
    INSIST(status == fpemu_check(&f, &r, carrier == F64 ? 64 : 32), "fpemu_check and measuring disagree");
    const int can_be = draw_range(d, &f, &other);
    const fpemu_range before = other;
    const fpemu_status added = OF_CARRIER(carrier, measure, &f, n, (const void *)x.data, &other);
    INSIST(added == (status == FPEMU_OK && !can_be ? FPEMU_ERROR_ARGUMENT : status), "a range that cannot be");
    INSIST(added == FPEMU_OK || memcmp(&other, &before, sizeof before) == 0, "a refused call changed the range");
    if (status != FPEMU_OK) {
        INSIST(memcmp(&whole, &pieces, sizeof whole) == 0, "a refused call changed the range");
    } else {
        OF_CARRIER(carrier, measure, &f, n - cut, (const void *)(x.data + cut * size), &pieces);
        OF_CARRIER(carrier, measure, &f, cut, (const void *)x.data, &pieces);
        INSIST(memcmp(&whole, &pieces, sizeof whole) == 0, "pieces measure otherwise");
        double max = 0, min = 0;
        uint64_t nonzero = 0, nonfinite = 0;
        for (size_t i = 0; i < n; i++) {
            const double v = carrier_load(carrier, x.data, i);
            max = isfinite(v) && v > max ? v : max;
            min = isfinite(v) && v < min ? v : min;
            nonzero += isfinite(v) && v != 0;
            nonfinite += isfinite(v) ? 0 : 1;
        }
        INSIST(whole.max == max && whole.min == min && whole.amax == fmax(max, -min), "other ends than C's");
        INSIST(whole.count == n && whole.nonzero == nonzero && whole.nonfinite == nonfinite, "other counts than C's");
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
