/* SPDX-License-Identifier: BSD-2-Clause */
/* api_packing.c - tensors as packed bytes, whole and block by block, and their scales. */
#include "../../tools/common/system.h"

#include "api.h"

/* The same bytes and values block by block. */
static void pack_by_blocks(draw *d, int carrier, const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *s,
                           const fpemu_layout *layout, const array *x, const array *bytes, const array *y)
{
    const size_t size = carrier_size(carrier);
    array again = array_new(d, bytes->bytes, 1);
    fpemu_range range = {0};
    fpemu_shape measured = *s;
    measured.whole = &range;
    INSIST(fpemu_measure(f, carrier, shape_elements(s), x->data, &range) == FPEMU_OK, "not measured");
    INSIST(fpemu_pack_tensor_scales(f, &measured, again.data) == FPEMU_OK, "no numbers of the tensor");
    INSIST(f->outer || memcmp(again.data, bytes->data, (size_t)layout->scales_offset) == 0,
           "other numbers of the tensor");
    const int by_line = f->outer || FPEMU_CORRECTED(f);
    const uint64_t drawn = 1 + draw_below(d, 5), each = by_line ? (s->length - 1) / f->block_length + 1 : 1;
    const uint64_t step = (layout->blocks > 4096 ? layout->blocks / each / drawn + 1 : drawn) * each; /* whole lines */
    for (uint64_t first = 0; first < layout->blocks; first += step) {
        const uint64_t count = first + step <= layout->blocks ? step : layout->blocks - first;
        size_t most = 0;
        for (uint64_t b = first; b < first + count; b++) {
            fpemu_extent extent;
            INSIST(fpemu_packed_extent(f, s, b, &extent) == FPEMU_OK, "a block without an extent");
            INSIST(extent.first < shape_elements(s) && extent.elements > 0, "a block outside of its tensor");
            INSIST(extent.offset >= layout->elements_offset && extent.offset < layout->bytes,
                   "a block outside of the bytes");
            most += (size_t)extent.elements;
        }
        array u = array_new(d, most * size, size), v = array_new(d, most * size, size);
        INSIST(fpemu_unpack_blocks(f, carrier, s, first, count, bytes->data, v.data) == FPEMU_OK,
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
                INSIST(index < shape_elements(s), "an element outside of its tensor");
                INSIST(memcmp(v.data + at * size, y->data + index * size, size) == 0, "a block unpacks otherwise");
                memcpy(u.data + at++ * size, x->data + index * size, size);
            }
        }
        const fpemu_status status = fpemu_pack_blocks(f, r, carrier, s, first, count, u.data, again.data, NULL);
        INSIST(status == FPEMU_OK || status == FPEMU_ERROR_NAN, "blocks are not packed");
    }
    INSIST(memcmp(again.data, bytes->data, bytes->bytes) == 0, "block by block gives other bytes");
}

static void same_codes_of_scales(const fpemu_layout *layout, const array *codes, const array *bytes)
{
    const size_t width = (size_t)layout->scale_bytes;
    for (size_t b = 0; b < layout->blocks && width > 0; b++) { /* the file is little-endian */
        uint64_t code = 0, wide = 0;
        for (size_t i = 0; i < width; i++)
            code |= (uint64_t)bytes->data[layout->scales_offset + b * width + i] << 8 * i;
        const unsigned char *c = codes->data + b * width;
        uint16_t half = 0;
        uint32_t word = 0;
        memcpy(&half, c, width >= 2 ? 2 : 0);
        memcpy(&word, c, width == 4 ? 4 : 0);
        memcpy(&wide, c, width == 8 ? 8 : 0);
        INSIST(code == (width == 1   ? *c
                        : width == 2 ? half
                        : width == 4 ? word
                                     : wide),
               "scales have other codes than packed bytes");
    }
}

/* The two numbers of the whole tensor are those that its packed bytes begin with, or 1 and 1. */
static void same_tensor_numbers(const fpemu_layout *layout, const array *tensor, const array *bytes)
{
    for (size_t i = 0; i < tensor->bytes / 4; i++) {
        uint32_t packed = 0x3f800000, found;
        memcpy(&found, tensor->data + 4 * i, 4);
        if (layout->tensor_bytes > 0) {
            packed = 0;
            for (size_t k = 0; k < 4; k++)
                packed |= (uint32_t)bytes->data[layout->tensor_offset + 4 * i + k] << 8 * k;
        }
        INSIST(found == packed, "other numbers of the whole tensor than in packed bytes");
    }
}

/* Some of the three outputs alone. */
static void scales_apart(draw *d, int carrier, const fpemu_format *f, const fpemu_shape *s, const array *x,
                         array outputs[3])
{
    const uint32_t asked = f->scaling == FPEMU_SCALING_S2FP8 ? 4 : 1 + draw_below(d, 6);
    array again[3];
    void *at[3];
    for (int i = 0; i < 3; i++) {
        again[i] = array_new(d, outputs[i].bytes, 8);
        at[i] = asked >> i & 1 ? again[i].data : NULL;
    }
    INSIST(fpemu_scales(f, carrier, s, x->data, at[0], at[1], at[2]) == FPEMU_OK, "one output alone is refused");
    for (int i = 0; i < 3; i++) {
        INSIST(at[i] == NULL || memcmp(again[i].data, outputs[i].data, again[i].bytes) == 0,
               "one output alone differs");
    }
}

/* What is asked for scales where the format has none, or where the carrier does not hold it, is refused. */
static void scales_status(draw *d, int carrier, const fpemu_format *f, const fpemu_shape *s, const array *x)
{
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    const int none = f->scaling == FPEMU_SCALING_NONE || f->scaling == FPEMU_SCALING_S2FP8;
    fpemu_status expected = fpemu_check(f, &nearest, carrier == F64 ? 64 : 32, NULL);
    if (expected == FPEMU_OK && none)
        expected = FPEMU_ERROR_UNSUPPORTED;
    const size_t n = shape_elements(s), size = carrier == F64 ? 8 : 4;
    array scales = array_new(d, n * size, size), codes = array_new(d, 4 * n, 4);
    array tensor = array_new(d, f->outer ? 8 * n : 8, 4);
    fpemu_range range;
    fpemu_shape told = *s;
    const int told_wrong = expected == FPEMU_OK && !draw_range(d, f, &range);
    if (told_wrong) {
        told.whole = &range;
        expected = FPEMU_ERROR_ARGUMENT;
    }
    INSIST(fpemu_scales(f, carrier, &told, x->data, scales.data, codes.data, (void *)tensor.data) == expected,
           "scales where there are none, or none where there are");
    if (expected != FPEMU_OK || n == 0) {
        array_untouched(&scales, "refused scales were written");
        array_untouched(&codes, "refused scales were written");
        array_untouched(&tensor, "refused numbers of the tensor were written");
    }
}

static void pack_scales(draw *d, int carrier, const fpemu_format *f, const fpemu_shape *s, const fpemu_layout *layout,
                        const array *x, const array *bytes)
{
    const size_t wide = carrier == F64 ? 8 : 4, blocks = (size_t)layout->blocks;
    const int alone = f->scaling == FPEMU_SCALING_S2FP8; /* numbers of the whole tensor without scales */
    if (f->scaling == FPEMU_SCALING_NONE)
        return;
    array outputs[3] = {array_new(d, alone ? 0 : blocks * wide, wide), {0}, {0}};
    outputs[1] = array_new(d, blocks * (size_t)layout->scale_bytes, 4);
    outputs[2] = array_new(d, layout->tensor_bytes ? (size_t)layout->tensor_bytes : 8, 4);
    INSIST(fpemu_scales(f, carrier, s, x->data, alone ? NULL : outputs[0].data, alone ? NULL : outputs[1].data,
                        (void *)outputs[2].data) == FPEMU_OK,
           "no scales");
    api_digest(outputs[0].data, outputs[0].bytes);
    same_codes_of_scales(layout, &outputs[1], bytes);
    same_tensor_numbers(layout, &outputs[2], bytes);
    scales_apart(d, carrier, f, s, x, outputs);
    if (!alone) {
        array again = array_new(d, blocks * wide, wide);
        INSIST(fpemu_unpack_scales(f, carrier, s, 0, blocks, bytes->data, again.data) == FPEMU_OK,
               "scales are not unpacked");
        INSIST(memcmp(outputs[0].data, again.data, again.bytes) == 0, "packed scales are others");
    }
}

/* Packed with the tensor's own range told, and with one that cannot be. */
static void pack_told(draw *d, int carrier, const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *s,
                      const array *x, const array *bytes, fpemu_status status, uint32_t want)
{
    counted c;
    fpemu_range range = {0};
    fpemu_shape told = *s;
    told.whole = &range;
    array again = array_new(d, bytes->bytes, 1);
    fpemu_measure(f, carrier, shape_elements(s), x->data, &range);
    INSIST(fpemu_pack(f, r, carrier, &told, x->data, again.data, NULL) == status, "other status with the range told");
    INSIST(memcmp(again.data, bytes->data, bytes->bytes) == 0, "the range told differs from the range measured");
    if (!draw_range(d, f, &range)) {
        again = array_new(d, bytes->bytes, 1);
        INSIST(fpemu_pack(f, r, carrier, &told, x->data, again.data, count_into(&c, want)) == FPEMU_ERROR_ARGUMENT,
               "a range that cannot be is taken");
        array_untouched(&again, "a refused call wrote");
        counted_untouched(&c, want);
        INSIST(fpemu_pack_tensor_scales(f, &told, again.data) == FPEMU_ERROR_ARGUMENT,
               "a range that cannot be is taken");
        array_untouched(&again, "a refused call wrote");
    }
}

/* What was packed is what quantising gives, with the same counters. */
static void pack_same(draw *d, int carrier, const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *s,
                      const fpemu_layout *layout, const array *x, const array *bytes, fpemu_status status,
                      const counted *c)
{
    const size_t n = shape_elements(s), size = carrier_size(carrier);
    array y = array_new(d, x->bytes, size), z = array_new(d, x->bytes, size);
    counted plain;
    INSIST(fpemu_quantize_tensor(f, r, carrier, s, x->data, y.data, count_into(&plain, c->stats.request.want)) ==
               status,
           "pack and quantise have two statuses");
    INSIST(fpemu_unpack(f, carrier, s, bytes->data, z.data) == FPEMU_OK, "packed bytes are not unpacked");
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
}

/* The same bytes by the next wider carrier, or those of the numbers that doc/blocks.md, 2.1 says are the same. */
static void pack_wider(draw *d, int carrier, const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *s,
                       const fpemu_layout *layout, const array *x, const array *bytes, fpemu_status status,
                       const counted *c)
{
    const int wider = carrier == F32 ? F64 : F32, codes = carrier != F32 || same_codes(f, r);
    if (carrier == F64 || (!codes && (r->compat != FPEMU_COMPAT_NONE || layout->tensor_bytes == 0)))
        return;
    counted again;
    array u = array_widened(d, carrier, wider, x), other = array_new(d, bytes->bytes, 1);
    INSIST(fpemu_pack(f, r, wider, s, u.data, other.data, count_into(&again, c->stats.request.want)) == status,
           "other status by the wider carrier");
    INSIST(memcmp(other.data, bytes->data, codes ? bytes->bytes : (size_t)layout->scales_offset) == 0,
           "the wider carrier gives other bytes");
    if (carrier != F32) {
        INSIST(counted_same(c, &again, 1), "the wider carrier counts otherwise");
    } else if (codes && fpemu_format_fits(f, F32)) {
        array y = array_new(d, x->bytes, 4), v = array_new(d, u.bytes, 8);
        INSIST(fpemu_unpack_f32(f, s, bytes->data, (void *)y.data) == FPEMU_OK, "packed bytes are not unpacked");
        INSIST(fpemu_unpack_f64(f, s, bytes->data, (void *)v.data) == FPEMU_OK, "packed bytes are not unpacked");
        INSIST(!wider_values(carrier, wider, f, shape_elements(s), &y, &v) || counted_same(c, &again, 1),
               "the wider carrier counts otherwise");
    }
}

static void packed_of(draw *d, const fpemu_format *f, int complete)
{
    fpemu_rounding r;
    counted c;
    const int carrier = draw_carrier(d, CARRIERS);
    draw_rounding(d, &r);
    const fpemu_shape shape = draw_shape(d, f, fpemu_check(f, &r, carrier, NULL) == FPEMU_OK);
    const size_t n = shape_elements(&shape), size = carrier_size(carrier);
    const uint32_t want = draw_want(d, f);
    fpemu_layout layout;
    api_describe("pack", f, &r, carrier, n);
    if (fpemu_packed_layout(f, &shape, &layout) != FPEMU_OK) {
        INSIST(!complete, "a complete format without a layout");
        return;
    }
    INSIST(layout.bytes == fpemu_packed_size(f, &shape), "two sizes");
    array x = draw_array(d, carrier, f, n), z = array_new(d, x.bytes, size);
    array bytes = array_new(d, (size_t)layout.bytes, 1);
    const fpemu_status status = fpemu_pack(f, &r, carrier, &shape, x.data, bytes.data, count_into(&c, want));
    if (api_done(status, &bytes, &c, want) && n > 0) {
        if (fpemu_format_fits(f, carrier)) {
            pack_same(d, carrier, f, &r, &shape, &layout, &x, &bytes, status, &c);
        } else {
            array_untouched(&z, "nothing was unpacked yet");
            INSIST(fpemu_unpack(f, carrier, &shape, bytes.data, z.data) == FPEMU_ERROR_CARRIER,
                   "values that the carrier does not hold");
            array_untouched(&z, "a refused call wrote");
        }
        pack_wider(d, carrier, f, &r, &shape, &layout, &x, &bytes, status, &c);
        pack_told(d, carrier, f, &r, &shape, &x, &bytes, status, want);
        /* strangers' bytes are numbers too */
        for (size_t i = 0; i < bytes.bytes; i++)
            bytes.data[i] = (unsigned char)draw_word(d, 1);
        fpemu_unpack(f, carrier, &shape, bytes.data, z.data);
        api_digest(z.data, z.bytes);
    }
    scales_status(d, carrier, f, &shape, &x);
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
