/* along.c - see along.h */
#include "cli.h"

#include "along.h"

#include <stdlib.h>
#include <string.h>

static uint64_t product(const uint64_t *extent, unsigned count)
{
    uint64_t n = 1;
    for (unsigned i = 0; i < count; i++) {
        n *= extent[i];
    }
    return n;
}

/* Rows count for tiles only. Arrays in Fortran order have their first axis where others have the last. */
static fpemu_shape shape_of(const tensor *t, const fpemu_format *format, unsigned axis)
{
    uint64_t extent[MODEL_MOST_DIMENSIONS];
    for (unsigned i = 0; i < t->dimensions; i++) {
        extent[i] = t->extent[t->fortran_order ? t->dimensions - 1 - i : i];
    }
    axis = t->fortran_order ? t->dimensions - 1 - axis : axis;
    const bool tiles = format->block == FPEMU_BLOCK_TILE && axis > 0;
    fpemu_shape shape = fpemu_vector(extent[axis]);
    shape.outer = product(extent, tiles ? axis - 1 : axis);
    shape.rows = tiles ? extent[axis - 1] : 1;
    shape.inner = product(extent + axis + 1, t->dimensions - axis - 1);
    return shape;
}

along along_of(const file *f, size_t i, const fpemu_format *format, int axis)
{
    const tensor *t = &f->model.tensor[i];
    along a = {.total = t->count, .unit = 1, .flat = true};
    const int dimensions = (int)t->dimensions, from_start = axis < 0 ? dimensions + axis : axis;
    a.shape = fpemu_vector(t->count);
    if (format->scaling == FPEMU_SCALING_NONE) {
        return a;
    }
    if (f->model.endless) {
        cli_fail("%s: how much raw data a pipe brings has to be known for formats with blocks", f->path);
    }
    if (dimensions > 0 && (from_start < 0 || from_start >= dimensions)) {
        cli_fail("%s: %s has %d dimension%s, no axis %d", f->path, t->name[0] != '\0' ? t->name : "the array",
                 dimensions, dimensions == 1 ? "" : "s", axis);
    }
    if (dimensions > 0 && t->count > 0) {
        a.shape = shape_of(t, format, (unsigned)from_start);
    }
    const fpemu_shape *s = &a.shape;
    const uint64_t slab = s->rows * s->length * s->inner;
    const bool one_line = slab == s->length && s->outer == 1;
    a.needs_range = format->block == FPEMU_BLOCK_TENSOR || format->scaling == FPEMU_SCALING_NVFP4 ||
                    format->scaling == FPEMU_SCALING_NVFP4_AO;
    a.flat = format->block == FPEMU_BLOCK_TENSOR || (format->block == FPEMU_BLOCK_RUN && one_line);
    if (format->block == FPEMU_BLOCK_CHANNEL) {
        a.unit = t->count;
    } else if (format->block == FPEMU_BLOCK_RUN && one_line) {
        a.unit = format->block_length < t->count ? format->block_length : t->count;
    } else if (format->block != FPEMU_BLOCK_TENSOR) {
        a.unit = slab;
    }
    a.unit = a.unit > 0 ? a.unit : 1;
    return a;
}

void along_in_one_piece(along *a)
{
    a->unit = a->total > 0 ? a->total : 1;
    a->needs_range = false;
    a->flat = false;
}

/* A slice of whole slabs, or of a vector. */
static fpemu_shape piece_of(const along *a, size_t count)
{
    fpemu_shape shape = a->shape;
    if (a->flat) {
        shape = fpemu_vector(count);
    } else if (count < a->total) {
        shape.outer = count / (shape.rows * shape.length * shape.inner);
    }
    shape.whole = a->needs_range ? &a->range : NULL;
    return shape;
}

fpemu_status along_quantize(const along *a, const fpemu_format *format, const fpemu_rounding *rounding, uint64_t index,
                            size_t count, bool binary64, const void *x, void *y, fpemu_stats *stats)
{
    const fpemu_shape shape = piece_of(a, count);
    fpemu_rounding r = *rounding;
    r.offset += index;
    if (format->scaling == FPEMU_SCALING_NONE) {
        return binary64 ? fpemu_quantize_f64(format, &r, count, x, y, stats)
                        : fpemu_quantize_f32(format, &r, count, x, y, stats);
    }
    return binary64 ? fpemu_quantize_along_f64(format, &r, &shape, x, y, stats)
                    : fpemu_quantize_along_f32(format, &r, &shape, x, y, stats);
}

fpemu_status along_measure(along *a, const fpemu_format *format, size_t count, bool binary64, const void *x)
{
    return binary64 ? fpemu_measure_f64(format, count, x, &a->range) : fpemu_measure_f32(format, count, x, &a->range);
}

uint64_t along_common(uint64_t a, uint64_t b, uint64_t total)
{
    uint64_t divisor = a;
    for (uint64_t rest = b; rest != 0;) {
        const uint64_t next = divisor % rest;
        divisor = rest;
        rest = next;
    }
    const uint64_t factor = b / divisor;
    return factor > total / a ? (total > 0 ? total : 1) : a * factor;
}

int along_axis(const char *argument)
{
    uint64_t axis = 0;
    const bool negative = argument[0] == '-';
    if (!cli_read_u64(argument + negative, &axis) || axis > MODEL_MOST_DIMENSIONS) {
        cli_usage("--axis: '%s' is not the number of an axis: 0, 1, ... or, from the end, -1, -2, ...", argument);
    }
    return negative ? -(int)axis : (int)axis;
}
