/* SPDX-License-Identifier: BSD-2-Clause */
/* pack.c - tensors as dense bytes: where what lies (doc/blocks.md, 4), values to bytes and back, the order of scales
 * that tensor cores read, delayed scaling. blocks.c says what a value becomes, core/pack.h how bits lie together. */
#include "blocks.h"
#include "core/packed_layout.h"
#include "core/pack.h"
#include "threads.h"
#include "format/blocking.h"

#include <limits.h>

/* Codes that are unpacked at a time. Many: some loops of codes first fill tables. */
#define UNPACK_BYTES 8192
/* Values that lie in a tile before they become words. */
#define UNPACK_TILE 2048
/* A table of values is worth it for this many times as many codes as there are. */
#define UNPACK_WORTH 8

/* ---------------------------------------------------------------------------------------------------- shapes */

/* With at most so many elements, 8 bytes and a scale each, no product of bytes below passes 2^64. Bits can: a tensor of
 * more than MOST_BYTES is refused too, so that every bit has a number. */
#define MOST_ELEMENTS (UINT64_C(1) << 59)
#define MOST_BYTES ((UINT64_C(1) << 61) - 1)

fpemu_shape fpemu_shape_vector(uint64_t n)
{
    const fpemu_shape shape = {.outer = 1, .rows = 1, .length = n, .inner = 1};
    return shape;
}

fpemu_status fpemu_shape_of(size_t dimensions, const uint64_t *sizes, int axis, fpemu_shape *shape)
{
    if (!shape)
        return FPEMU_ERROR_NULL;
    memset(shape, 0, sizeof *shape);
    if (!sizes)
        return FPEMU_ERROR_NULL;
    core_reach e;
    if (dimensions > INT_MAX || axis >= (int)dimensions || axis < -(int)dimensions ||
        !core_reach_array(&e, sizes, dimensions, sizeof *sizes))
        return FPEMU_ERROR_ARGUMENT;
    const size_t along = (size_t)(axis < 0 ? axis + (int)dimensions : axis);
    fpemu_shape s = {.outer = 1, .rows = 1, .length = 1, .inner = 1};
    uint64_t total = 1; /* of the sizes that are not 0: else the order of sizes would decide */
    for (size_t i = 0; i < dimensions; i++) {
        const core_wide all = core_multiply(total, sizes[i] ? sizes[i] : 1);
        if (all.high)
            return FPEMU_ERROR_ARGUMENT;
        total = all.low;
        *(i > along ? &s.inner : i == along ? &s.length : i + 1 == along ? &s.rows : &s.outer) *= sizes[i];
    }
    *shape = s;
    return FPEMU_OK;
}

/* ---------------------------------------------------------------------------------------------------- layout */

/* A tensor's packed bytes. */
typedef struct packing {
    core_walk walk;
    fpemu_layout layout;
    core_layout blocks;
} packing;

/* Bytes before block b where an element takes `bits`. */
static uint64_t bytes_before(const packing *p, uint64_t b, uint64_t bits)
{
    return core_layout_before(&p->blocks, b, bits);
}

static uint64_t offset_of(const packing *p, uint64_t b)
{
    return p->layout.elements_offset + bytes_before(p, b, p->layout.element_bits);
}

/* `size`: of an element of the other array, whose strides are then checked too; 0: there is none. */
static fpemu_status plan_packing(packing *p, const fpemu_format *f, const fpemu_shape *shape, size_t size)
{
    fpemu_layout *l = &p->layout;
    fpemu_shape s = *shape;
    memset(p, 0, sizeof *p);
    if (!size) {
        memset(s.x_stride, 0, sizeof s.x_stride);
        memset(s.y_stride, 0, sizeof s.y_stride);
    }
    const fpemu_status status = fpemu_walk_begin(&p->walk, f, &s, size ? size : 1, 1);
    if (status)
        return status;
    const core_walk *w = &p->walk;
    if (w->total > MOST_ELEMENTS)
        return FPEMU_ERROR_ARGUMENT;
    const uint32_t scale_bits = fpemu_scale_bits(f);
    l->element_bits = f->bits;
    if (w->blocks == 0) /* no elements, no bytes */
        return FPEMU_OK;
    l->blocks = w->blocks;
    l->scale_bytes = scale_bits ? code_size(scale_bits) : 0;
    l->tensor_bytes = core_has_tensor(f) ? 8 * (f->outer ? w->blocks / w->across : 1) : 0;
    l->scales_offset = l->tensor_bytes;
    l->elements_offset = l->scales_offset + l->blocks * l->scale_bytes;
    p->blocks = core_layout_make(w);
    l->block_elements = p->blocks.elements[0][0];
    if (l->block_elements > MOST_BYTES * 8 / l->element_bits)
        return FPEMU_ERROR_ARGUMENT;
    l->block_bytes = core_layout_bytes(l->block_elements, l->element_bits);
    l->bytes = offset_of(p, l->blocks);
    return l->bytes <= MOST_BYTES ? FPEMU_OK : FPEMU_ERROR_ARGUMENT;
}

/* The same for public callers that need no array. */
static fpemu_status plan_checked(packing *p, const fpemu_format *f, const fpemu_shape *shape)
{
    if (!f || !shape)
        return FPEMU_ERROR_NULL;
    const fpemu_status status = fpemu_check_call(f, NULL, 64, NULL);
    return status ? status : plan_packing(p, f, shape, 0);
}

fpemu_status fpemu_packed_layout(const fpemu_format *format, const fpemu_shape *shape, fpemu_layout *layout)
{
    packing p;
    if (!layout)
        return FPEMU_ERROR_NULL;
    const fpemu_status status = plan_checked(&p, format, shape);
    memset(layout, 0, sizeof *layout);
    if (!status)
        *layout = p.layout;
    return status;
}

uint64_t fpemu_packed_size(const fpemu_format *format, const fpemu_shape *shape)
{
    packing p;
    return plan_checked(&p, format, shape) ? 0 : p.layout.bytes;
}

fpemu_status fpemu_packed_extent(const fpemu_format *format, const fpemu_shape *shape, uint64_t block,
                                 fpemu_extent *extent)
{
    packing p;
    core_place place;
    if (!extent)
        return FPEMU_ERROR_NULL;
    fpemu_status status = plan_checked(&p, format, shape);
    memset(extent, 0, sizeof *extent);
    if (!status && block >= p.layout.blocks)
        status = FPEMU_ERROR_ARGUMENT;
    if (status)
        return status;
    fpemu_walk_block(&p.walk, block, &place);
    extent->elements = place.elements;
    extent->offset = offset_of(&p, block);
    extent->scale = p.layout.scales_offset + block * p.layout.scale_bytes;
    extent->first = place.first;
    return FPEMU_OK;
}

/* ----------------------------------------------------------------------------------------- codes and bytes */

/* Codes that fill their bytes are moved as they are. */
static int codes_fill(size_t size, int bits)
{
    return bits == 8 || (CORE_LITTLE_ENDIAN && (size_t)bits == 8 * size);
}

static void pack_codes(size_t size, int bits, size_t n, const void *codes, unsigned char *bytes)
{
    if (codes_fill(size, bits)) {
        memcpy(bytes, codes, n * size);
        return;
    }
    switch (size) {
    case 1: fpemu_kernels()->loops32->join(bits, n, codes, bytes); break;
    case 2: core_pack_codes(2, bits, n, codes, bytes); break;
    case 4: core_pack_codes(4, bits, n, codes, bytes); break;
    default: core_pack_codes(8, bits, n, codes, bytes); break;
    }
}

static void unpack_codes(size_t size, int bits, size_t n, const unsigned char *bytes, void *codes)
{
    if (codes_fill(size, bits)) {
        memcpy(codes, bytes, n * size);
        return;
    }
    switch (size) {
    case 1: fpemu_kernels()->loops32->part(bits, n, bytes, codes); break;
    case 2: core_unpack_codes(2, bits, n, bytes, codes); break;
    case 4: core_unpack_codes(4, bits, n, bytes, codes); break;
    default: core_unpack_codes(8, bits, n, bytes, codes); break;
    }
}

/* What the engine gives goes straight to its place. */
typedef struct packer {
    const packing *packing;
    unsigned char *bytes;
} packer;

static void store_tensor(void *context, uint64_t line, core_tensor t)
{
    const packer *p = context;
    core_store_bytes(p->bytes + 8 * line, 4, core_bits32(t.a));
    core_store_bytes(p->bytes + 8 * line + 4, 4, core_bits32(t.b));
}

static core_tensor load_tensor(const unsigned char *bytes)
{
    const core_tensor t = {core_value32((uint32_t)core_load_bytes(bytes, 4)),
                           core_value32((uint32_t)core_load_bytes(bytes + 4, 4)), 0, 0};
    return t;
}

static void store_scale(void *context, uint64_t block, uint64_t code)
{
    const packer *p = context;
    const fpemu_layout *l = &p->packing->layout;
    core_store_bytes(p->bytes + l->scales_offset + block * l->scale_bytes, (size_t)l->scale_bytes, code);
}

/* position is a multiple of BLOCK_TILE, and so of 8: the piece begins on a byte. */
static void store_elements(void *context, uint64_t block, uint64_t position, size_t n, size_t size, const void *codes)
{
    const packer *p = context;
    const uint64_t bits = p->packing->layout.element_bits;
    pack_codes(size, (int)bits, n, codes, p->bytes + offset_of(p->packing, block) + position / 8 * bits);
}

static void store_runs(void *context, uint64_t block, size_t count, size_t length, size_t scale_size,
                       const void *scales, size_t size, const void *codes)
{
    const packer *p = context;
    const fpemu_layout *l = &p->packing->layout;
    unsigned char *const bytes = p->bytes + offset_of(p->packing, block);
    unsigned char *const to = p->bytes + l->scales_offset + block * l->scale_bytes;
    const int bits = (int)l->element_bits;
    const int as_they_are = scale_size == 1 || CORE_LITTLE_ENDIAN;
    if (as_they_are)
        memcpy(to, scales, count * scale_size);
    for (size_t b = 0; b < count && !as_they_are; b++)
        core_store_bytes(to + b * scale_size, scale_size, load_code(scales, scale_size, b));
    if (length * l->element_bits % 8 == 0) {
        pack_codes(size, bits, count * length, codes, bytes);
        return;
    }
    for (size_t b = 0; b < count; b++)
        pack_codes(size, bits, length, (const char *)codes + b * length * size, bytes + b * l->block_bytes);
}

/* ------------------------------------------------------------------------------------------------- calls */

/* A tensor's packed bytes and the other array, x or y of these strides: apart. compact: that is `elements` in a row. */
static fpemu_status check_packed(const packing *p, const void *bytes, const void *array, const int64_t axis[4],
                                 size_t size, int compact, uint64_t elements)
{
    core_reach packed, other;
    if (!core_reach_array(&packed, bytes, p->layout.bytes, 1) ||
        !(compact ? core_reach_array(&other, array, elements, size)
                  : core_walk_reach(&p->walk, array, axis, size, &other)))
        return FPEMU_ERROR_ARGUMENT;
    return core_reaches_meet(&packed, &other) ? FPEMU_ERROR_OVERLAP : FPEMU_OK;
}

fpemu_status fpemu_pack_tensor_scales(const fpemu_format *format, const fpemu_shape *shape, void *bytes)
{
    packing p;
    core_reach packed;
    core_tensor t;
    const fpemu_status status = plan_checked(&p, format, shape);
    if (!status && !core_told_range_is_sane(shape))
        return FPEMU_ERROR_ARGUMENT;
    if (status || p.layout.tensor_bytes == 0 || format->outer)
        return status;
    if (!shape->whole || !bytes)
        return FPEMU_ERROR_NULL;
    if (!core_reach_array(&packed, bytes, p.layout.bytes, 1))
        return FPEMU_ERROR_ARGUMENT;
    const packer to = {&p, bytes};
    fp_environment environment;
    fpemu_environment_enter(&environment);
    if (fpemu_block_tensor(format, shape->whole, &t))
        store_tensor((void *)&to, 0, t);
    fpemu_environment_leave(&environment);
    return FPEMU_OK;
}

/* Where blocks go: to their places in the tensor, or one after the other from block `first` on. */
typedef struct unpack_to {
    int carrier, compact;
    uint64_t before; /* compact: elements before the first */
    void *y;
    const float *zeros; /* NULL, or one a block */
} unpack_to;

#include "core/carrier32.h"
#include "pack.inc.c"
#include "core/carrier_end.h"

#include "core/carrier64.h"
#include "pack.inc.c"
#include "core/carrier_end.h"

/* ---------------------------------------------------------------------------------------- order of scales */

/* Tiles of 128 x 4 bytes; 0 if that passes 2^64. */
uint64_t fpemu_swizzled_size(uint64_t rows, uint64_t columns)
{
    if (rows == 0 || columns == 0 || rows > UINT64_MAX - 127 || columns > UINT64_MAX - 3)
        return 0;
    const core_wide size = core_multiply((rows + 127) / 128 * 128, (columns + 3) / 4 * 4);
    return size.high ? 0 : size.low;
}

static fpemu_status check_swizzle(uint64_t rows, uint64_t columns, const uint8_t *plain, const uint8_t *tiled)
{
    const uint64_t size = fpemu_swizzled_size(rows, columns);
    if (size == 0)
        return rows == 0 || columns == 0 ? FPEMU_OK : FPEMU_ERROR_ARGUMENT;
    if (!plain || !tiled)
        return FPEMU_ERROR_NULL;
    core_reach from, to;
    if (!core_reach_array(&from, plain, rows * columns, 1) || !core_reach_array(&to, tiled, size, 1))
        return FPEMU_ERROR_ARGUMENT;
    return core_reaches_meet(&from, &to) ? FPEMU_ERROR_OVERLAP : FPEMU_OK;
}

fpemu_status fpemu_swizzle_scales(uint64_t rows, uint64_t columns, const uint8_t *from, uint8_t *to)
{
    const fpemu_status status = check_swizzle(rows, columns, from, to);
    if (status || rows == 0 || columns == 0)
        return status;
    memset(to, 0, (size_t)fpemu_swizzled_size(rows, columns));
    for (uint64_t r = 0; r < rows; r++)
        for (uint64_t c = 0; c < columns; c++)
            to[core_swizzled(r, c, columns)] = *from++;
    return FPEMU_OK;
}

fpemu_status fpemu_unswizzle_scales(uint64_t rows, uint64_t columns, const uint8_t *from, uint8_t *to)
{
    const fpemu_status status = check_swizzle(rows, columns, to, from);
    if (status)
        return status;
    for (uint64_t r = 0; r < rows; r++)
        for (uint64_t c = 0; c < columns; c++)
            *to++ = from[core_swizzled(r, c, columns)];
    return FPEMU_OK;
}

/* ---------------------------------------------------------------------------------------- delayed scaling */

fpemu_status fpemu_delayed_update(fpemu_delayed *state, const fpemu_range *seen)
{
    if (!state || !seen || !state->history)
        return FPEMU_ERROR_NULL;
    core_reach e;
    if (state->length == 0 || state->filled > state->length || state->next >= state->length || state->latest > 1 ||
        !core_reach_array(&e, state->history, state->length, sizeof *state->history))
        return FPEMU_ERROR_ARGUMENT;
    /* bits order positive numbers, whatever the environment flushes */
    uint64_t most = core_bits64(seen->amax);
    if (seen->nonfinite || most == 0 || most >= UINT64_C(0x7ff) << 52)
        return FPEMU_OK;
    state->history[state->next] = seen->amax;
    state->next = (state->next + 1) % state->length;
    state->filled += state->filled < state->length;
    for (uint32_t i = 0; i < state->filled && !state->latest; i++) {
        const uint64_t u = core_bits64(state->history[i]);
        most = u > most ? u : most;
    }
    fpemu_range told; /* *seen may be state->range */
    memset(&told, 0, sizeof told);
    told.count = seen->count;
    told.nonzero = seen->nonzero;
    told.amax = told.max = core_value64(most);
    told.min = core_value64(most | UINT64_C(1) << 63);
    state->range = told;
    return FPEMU_OK;
}

fpemu_status fpemu_pack(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                        const fpemu_shape *shape, const void *x, void *bytes, fpemu_stats *stats)
{
    return FOR_TYPE(type, fpemu_pack_run, NULL, format, rounding, shape, 0, 0, 0, x, bytes, stats);
}

fpemu_status fpemu_pack_blocks(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                               const fpemu_shape *shape, uint64_t first, uint64_t count, const void *x, void *bytes,
                               fpemu_stats *stats)
{
    return FOR_TYPE(type, fpemu_pack_run, NULL, format, rounding, shape, first, count, 1, x, bytes, stats);
}

fpemu_status fpemu_unpack(const fpemu_format *format, fpemu_type type, const fpemu_shape *shape, const void *bytes,
                          void *y)
{
    return FOR_TYPE(type, fpemu_unpack_run, NULL, format, shape, 0, 0, 0, bytes, y);
}

fpemu_status fpemu_unpack_blocks(const fpemu_format *format, fpemu_type type, const fpemu_shape *shape, uint64_t first,
                                 uint64_t count, const void *bytes, void *y)
{
    return FOR_TYPE(type, fpemu_unpack_run, NULL, format, shape, first, count, 1, bytes, y);
}
