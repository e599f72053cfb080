/* SPDX-License-Identifier: BSD-2-Clause */
/* partition.c - see partition.h */
#include "files/partition.h"

#include <stdlib.h>
#include <string.h>

#include "cli/error.h"
#include "cli/options.h"

static uint64_t product(const uint64_t *extent, unsigned count)
{
    uint64_t n = 1;
    for (unsigned i = 0; i < count; i++)
        n *= extent[i];
    return n;
}

/* Rows count for tiles only. Arrays in Fortran order have their first axis where others have the last. */
static fpemu_shape shape_of(const tensor *t, const fpemu_format *format, unsigned axis)
{
    uint64_t extent[MODEL_MOST_DIMENSIONS];
    for (unsigned i = 0; i < t->dimensions; i++)
        extent[i] = t->extent[t->fortran_order ? t->dimensions - 1 - i : i];
    axis = t->fortran_order ? t->dimensions - 1 - axis : axis;
    const bool tiles = format->block == FPEMU_BLOCK_TILE && axis > 0;
    fpemu_shape shape = fpemu_shape_vector(extent[axis]);
    shape.outer = product(extent, tiles ? axis - 1 : axis);
    shape.rows = tiles ? extent[axis - 1] : 1;
    shape.inner = product(extent + axis + 1, t->dimensions - axis - 1);
    return shape;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t at_least_1(uint64_t n)
{
    return n > 0 ? n : 1;
}

/* How many of `size` elements are at most PARTITION_MOST, at least one and at most `all`. */
static uint64_t as_many(uint64_t size, uint64_t all)
{
    return least(at_least_1(PARTITION_MOST / at_least_1(size)), all);
}

static void choose_boxes(partition *a, const fpemu_format *format)
{
    const fpemu_shape *s = &a->shape;
    const uint64_t run = format->block == FPEMU_BLOCK_ROW ? s->length : least(format->block_length, s->length);
    const uint64_t rows = format->block == FPEMU_BLOCK_TILE ? least(format->block_rows, s->rows) : 1;
    uint64_t *step = a->step;
    if (format->block == FPEMU_BLOCK_CHANNEL) {
        const uint64_t outer = s->outer * s->rows;
        step[0] = s->outer, step[1] = s->rows, step[2] = as_many(outer * s->inner, s->length), step[3] = s->inner;
        return;
    }
    step[0] = 1, step[1] = rows, step[2] = run, step[3] = as_many(rows * run, s->inner);
    if (step[3] == s->inner && run < s->length)
        step[2] = least(run * as_many(rows * run * s->inner, UINT64_MAX / run), s->length);
}

/* Units and periods of neighbours, by the order of the axes. */
static void choose_pieces(partition *a, const fpemu_format *format, uint64_t run, bool random)
{
    const fpemu_shape *s = &a->shape;
    const uint64_t line = s->length * s->inner;
    bool gaps = s->inner > 1; /* between the elements of a block */
    a->period = line;
    a->unit = line;
    switch (format->block) {
    case FPEMU_BLOCK_RUN:
        a->as_vector = s->inner == 1 && (s->outer == 1 || s->length % run == 0);
        a->unit = least(run, s->length) * s->inner;
        break;
    case FPEMU_BLOCK_TILE:
        a->unit = least(format->block_rows, s->rows) * line;
        a->period = s->rows * line;
        gaps = true;
        break;
    case FPEMU_BLOCK_CHANNEL:
        gaps = s->outer * s->rows > 1;
        a->unit = gaps ? a->total : s->inner;
        a->period = a->total;
        break;
    case FPEMU_BLOCK_TENSOR: a->as_vector = true; break;
    default: break;
    }
    if (a->as_vector) {
        a->unit = format->block == FPEMU_BLOCK_TENSOR ? 1 : run;
        a->period = UINT64_MAX;
    }
    a->unit = at_least_1(least(a->unit, a->total));
    a->period = at_least_1(a->period);
    a->boxes = gaps && !random && !a->as_vector && a->unit > PARTITION_MOST;
    if (a->boxes)
        choose_boxes(a, format);
}

static int axis_of(const file *f, const tensor *t, int axis)
{
    const int dimensions = (int)t->dimensions, from_start = axis < 0 ? dimensions + axis : axis;
    if (dimensions > 0 && (from_start < 0 || from_start >= dimensions)) {
        cli_fail("%s: %s has %d dimension%s, no axis %d", f->path, t->name[0] != '\0' ? t->name : "the array",
                 dimensions, dimensions == 1 ? "" : "s", axis);
    }
    return from_start;
}

bool partition_needs_range(const fpemu_format *f)
{
    const fpemu_shape one = fpemu_shape_vector(1);
    fpemu_layout bytes;
    return !f->outer && (f->block == FPEMU_BLOCK_TENSOR ||
                         (fpemu_packed_layout(f, &one, &bytes) == FPEMU_OK && bytes.tensor_bytes > 0));
}

partition partition_of(const file *f, size_t i, const fpemu_format *format, const fpemu_rounding *rounding, int axis)
{
    const tensor *t = &f->model.tensor[i];
    partition a = {.total = t->count, .unit = 1, .period = UINT64_MAX, .as_vector = true};
    a.shape = fpemu_shape_vector(t->count);
    if (format->scaling == FPEMU_SCALING_NONE)
        return a;
    if (f->model.endless)
        cli_fail("%s: how much raw data a pipe brings has to be known for formats with blocks", f->path);
    const int from_start = axis_of(f, t, axis);
    if (t->dimensions > 0 && t->count > 0)
        a.shape = shape_of(t, format, (unsigned)from_start);
    fpemu_format pieces = *format;
    const bool corrected = FPEMU_CORRECTED(format);
    if (corrected && format->block == FPEMU_BLOCK_TILE) /* all rows are taken together */
        pieces.block_rows = UINT32_MAX;
    else if (format->outer || corrected) /* lines are taken whole */
        pieces.block = FPEMU_BLOCK_ROW;
    a.needs_range = partition_needs_range(format);
    a.as_vector = false;
    choose_pieces(&a, &pieces, format->block_length, corrected || FPEMU_MODE_DRAWS(rounding->mode));
    return a;
}

/* Scalar formats have lines, which pieces of 8 elements, whole bytes, make up. Blocks along another axis than the last,
 * and channels, lie in the bytes in another order than in the data. */
partition partition_packed(const file *f, size_t i, const fpemu_format *format, int axis, bool *whole)
{
    const tensor *t = &f->model.tensor[i];
    const fpemu_rounding plain = {0};
    fpemu_format lines = *format;
    if (format->scaling == FPEMU_SCALING_NONE) {
        lines.block = FPEMU_BLOCK_RUN;
        axis = -1;
    }
    partition a = partition_of(f, i, format, &plain, axis);
    if (format->scaling == FPEMU_SCALING_NONE && t->dimensions > 0 && t->count > 0) {
        a.shape = shape_of(t, &lines, t->dimensions - 1);
        choose_pieces(&a, &lines, 8, false);
    }
    const bool in_order =
        a.shape.inner == 1 && format->block != FPEMU_BLOCK_CHANNEL && !format->outer && !FPEMU_CORRECTED(format);
    *whole = !in_order;
    if (*whole) {
        a.unit = at_least_1(t->count);
        a.period = UINT64_MAX;
        a.as_vector = a.needs_range = false;
    }
    a.boxes = false;
    return a;
}

fpemu_shape partition_piece(const partition *a, uint64_t index, uint64_t count)
{
    fpemu_shape shape = a->shape;
    if (count < a->total) {
        const uint64_t line = a->shape.length * a->shape.inner;
        if (a->as_vector) {
            shape = fpemu_shape_vector(count);
        } else if (count >= a->period && index % a->period == 0) {
            shape.outer = count / a->period;
        } else if (shape.rows > 1) {
            shape.outer = 1;
            shape.rows = count / line;
        } else {
            shape.outer = 1;
            shape.length = count / shape.inner;
        }
    }
    shape.whole = a->needs_range ? &a->range : NULL;
    return shape;
}

/* Pieces of a block that is the whole tensor would each count it. */
typedef struct block_counters {
    bool held;
    uint64_t blocks, zero_blocks, nan_blocks, saturated_scales;
    unsigned want;
} block_counters;

static block_counters hold_blocks(fpemu_stats *s, const fpemu_format *format, uint64_t index)
{
    block_counters c = {.held = s != NULL && format->block == FPEMU_BLOCK_TENSOR && index > 0};
    if (c.held) {
        c = (block_counters){true, s->blocks, s->zero_blocks, s->nan_blocks, s->saturated_scales, s->request.want};
        s->request.want &= ~FPEMU_STATS_SCALES;
    }
    return c;
}

static void restore_blocks(fpemu_stats *s, const block_counters *c)
{
    if (c->held) {
        s->blocks = c->blocks;
        s->zero_blocks = c->zero_blocks;
        s->nan_blocks = c->nan_blocks;
        s->saturated_scales = c->saturated_scales;
        s->request.want = c->want;
    }
}

/* From a copy of x where blocks that share a correction are to be rounded in place, which is refused. */
static fpemu_status quantize_apart(const fpemu_format *format, const fpemu_rounding *rounding, const fpemu_shape *shape,
                                   uint64_t count, bool binary64, const void *x, void *y, fpemu_stats *stats)
{
    const size_t size = binary64 ? sizeof(double) : sizeof(float);
    void *const copy = x == y && FPEMU_CORRECTED(format) ? cli_allocate(count, size) : NULL;
    if (copy != NULL)
        memcpy(copy, x, count * size);
    const fpemu_status status =
        fpemu_quantize_tensor(format, rounding, dtype_carrier(binary64), shape, copy != NULL ? copy : x, y, stats);
    free(copy);
    return status;
}

fpemu_status partition_quantize(const partition *a, const fpemu_format *format, const fpemu_rounding *rounding,
                                uint64_t index, size_t count, bool binary64, const void *x, void *y, fpemu_stats *stats)
{
    const fpemu_shape shape = partition_piece(a, index, count);
    fpemu_rounding r = *rounding;
    r.offset += index;
    if (format->scaling == FPEMU_SCALING_NONE)
        return fpemu_quantize(format, &r, dtype_carrier(binary64), count, x, y, stats);
    const block_counters held = hold_blocks(stats, format, index);
    const fpemu_status status = quantize_apart(format, &r, &shape, count, binary64, x, y, stats);
    restore_blocks(stats, &held);
    return status;
}

fpemu_status partition_pack(const fpemu_format *format, const fpemu_rounding *rounding, const fpemu_shape *shape,
                            uint64_t index, bool binary64, const void *x, void *bytes, fpemu_stats *stats)
{
    fpemu_rounding r = *rounding;
    r.offset += index;
    const block_counters held = hold_blocks(stats, format, index);
    const fpemu_status status = fpemu_pack(format, &r, dtype_carrier(binary64), shape, x, bytes, stats);
    restore_blocks(stats, &held);
    return status;
}

static void cut_box(const partition *a, box *box)
{
    const uint64_t extent[4] = {a->shape.outer, a->shape.rows, a->shape.length, a->shape.inner};
    for (int i = 0; i < 4; i++)
        box->count[i] = least(a->step[i], extent[i] - box->from[i]);
}

box partition_first_box(const partition *a)
{
    box box = {0};
    cut_box(a, &box);
    return box;
}

bool partition_next_box(const partition *a, box *box)
{
    const uint64_t extent[4] = {a->shape.outer, a->shape.rows, a->shape.length, a->shape.inner};
    for (int i = 3; i >= 0; i--) {
        box->from[i] += box->count[i];
        if (box->from[i] < extent[i]) {
            cut_box(a, box);
            return true;
        }
        box->from[i] = 0;
    }
    return false;
}

uint64_t partition_box_count(const box *box)
{
    return product(box->count, 4);
}

fpemu_status partition_quantize_box(const partition *a, const fpemu_format *format, const fpemu_rounding *rounding,
                                    const box *box, bool binary64, const void *x, void *y, fpemu_stats *stats)
{
    fpemu_shape shape = fpemu_shape_vector(0);
    shape.outer = box->count[0];
    shape.rows = box->count[1];
    shape.length = box->count[2];
    shape.inner = box->count[3];
    shape.whole = a->needs_range ? &a->range : NULL;
    return quantize_apart(format, rounding, &shape, partition_box_count(box), binary64, x, y, stats);
}

fpemu_status partition_measure(partition *a, const fpemu_format *format, size_t count, bool binary64, const void *x)
{
    return fpemu_measure(format, dtype_carrier(binary64), count, x, &a->range);
}

double partition_bits(const file *f, size_t i, const fpemu_format *format, int axis, bool *packed)
{
    const tensor *t = &f->model.tensor[i];
    fpemu_shape shape = fpemu_shape_vector(t->count);
    fpemu_layout layout;
    *packed = !(t->fortran_order && t->dimensions > 1);
    if (t->count == 0)
        return fpemu_format_bits_per_element(format);
    if (*packed && t->dimensions > 0) {
        const int last = format->scaling == FPEMU_SCALING_NONE ? -1 : axis;
        *packed = fpemu_shape_of(t->dimensions, t->extent, last, &shape) == FPEMU_OK;
    }
    *packed = *packed && fpemu_packed_layout(format, &shape, &layout) == FPEMU_OK;
    return *packed ? 8 * (double)layout.bytes / (double)t->count : fpemu_format_bits_per_element(format);
}

uint64_t partition_common(uint64_t a, uint64_t b)
{
    uint64_t divisor = a;
    for (uint64_t rest = b; rest != 0;) {
        const uint64_t next = divisor % rest;
        divisor = rest;
        rest = next;
    }
    const uint64_t factor = b / divisor;
    return factor > UINT64_MAX / a ? UINT64_MAX : a * factor;
}

int partition_axis(const char *argument)
{
    uint64_t axis = 0;
    const bool negative = argument[0] == '-';
    if (!cli_read_u64(argument + negative, &axis) || axis > MODEL_MOST_DIMENSIONS)
        cli_usage("--axis: '%s' is not the number of an axis: 0, 1, ... or, from the end, -1, -2, ...", argument);
    return negative ? -(int)axis : (int)axis;
}
