/* SPDX-License-Identifier: BSD-2-Clause */
/* given.c - see given.h */
#include "files/given.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/error.h"
#include "cli/number.h"
#include "common/byte_order.h"
#include "files/output.h"
#include "files/writer.h"

bool given_take(given *g, int option, const char *argument)
{
    switch (option) {
    case CLI_OPT_SCALE: g->scale_text = argument; return true;
    case CLI_OPT_ZERO: g->zero_text = argument; return true;
    case CLI_OPT_ZERO_ORDER: g->order_text = argument; return true;
    case CLI_OPT_RECIPROCAL: g->reciprocal = true; return true;
    case CLI_OPT_TENSOR_SCALE: g->tensor_text = argument; return true;
    default: return false;
    }
}

/* As binary32, which scales and zero points are. */
static float to_single(const char *option, double x)
{
    const float y = (float)x;
    if ((y == 0 && x != 0) || (isinf(y) && !isinf(x)))
        cli_fail("%s: %g is %s for binary32, which scales and zero points are", option, x,
                 y == 0 ? "too small" : "too large");
    return y;
}

static void read_integers(file *f, size_t i, unsigned size, bool is_signed, float *y)
{
    const tensor *t = &f->model.tensor[i];
    unsigned char bytes[8];
    file_begin(f, i);
    for (uint64_t k = 0; k < t->count && file_read(f, i, bytes, size) == size; k++) {
        if (t->big_endian)
            byte_order_swap(bytes, size, 1);
        const uint64_t code = bytes_load(bytes, (int)size), sign = UINT64_C(1) << (8 * size - 1);
        y[k] = is_signed && (code & sign) != 0 ? -(float)(2 * sign - code) : (float)code;
    }
}

/* A number, FILE, or FILE:NAME of one with several tensors. */
static given_numbers read_numbers(const char *option, const char *text, const file *in, const char *output)
{
    given_numbers n = {.value = cli_allocate(1, sizeof *n.value), .count = 1};
    file_options plain = {0};
    double number;
    if (number_read_f64(text, &number)) {
        (void)to_single(option, number);
        number_read_f32(text, n.value); /* rounded once */
        return n;
    }
    char *path = strdup(text), *colon = path != NULL && access(path, F_OK) != 0 ? strrchr(path, ':') : NULL;
    if (colon != NULL)
        *colon = '\0';
    if (strcmp(text, "-") == 0 && in->model.file == stdin)
        cli_usage("%s: standard input brings the tensors already", option);
    file f = file_open(path, &plain);
    if (output != NULL) {
        file_refuse_output(&f, "-o", output);
        writer_refuse_same(option, f.path, output, &in->model, model_kind_written(in->model.kind));
    }
    size_t i = 0;
    while (colon != NULL && i < f.model.count && strcmp(f.model.tensor[i].name, colon + 1) != 0)
        i++;
    if (colon != NULL && i == f.model.count)
        cli_fail("%s: %s has no tensor '%s'", option, f.path, colon + 1);
    if (colon == NULL && f.model.count != 1)
        cli_fail("%s: name one of the %zu tensors of %s, as in FILE:NAME", option, f.model.count, f.path);
    const tensor *t = &f.model.tensor[i];
    bool is_signed = false;
    const unsigned size = t->type == NULL ? dtype_integer(t->type_text, &is_signed) : t->type->size;
    if (size == 0 || (t->fortran_order && t->dimensions > 1))
        cli_fail("%s: %s is %s: write numbers in C order", option, text, size == 0 ? t->type_text : "in Fortran order");
    n.dimensions = t->dimensions;
    n.count = t->count;
    memcpy(n.extent, t->extent, t->dimensions * sizeof *t->extent);
    free(n.value);
    n.value = cli_allocate(t->count, sizeof *n.value);
    if (t->type == NULL) {
        read_integers(&f, i, size, is_signed, n.value);
    } else {
        const bool wide = size == 8;
        walk w = walk_begin(&f, i, !wide, wide, 1, UINT64_MAX);
        while (walk_next(&w))
            for (size_t k = 0; k < w.count; k++)
                n.value[w.index + k] = wide ? to_single(option, w.x64[k]) : w.x32[k];
        walk_end(&w);
    }
    file_close(&f);
    n.path = path;
    return n;
}

static const char *shape_text(char text[FILE_SHAPE_SIZE], const uint64_t *extent, unsigned dimensions)
{
    uint64_t copy[MODEL_MOST_DIMENSIONS];
    const tensor t = {.dimensions = dimensions, .extent = memcpy(copy, extent, dimensions * sizeof *extent)};
    return file_shape_text(text, &t);
}

/* The number that belongs to each element of a shape: each extent of n stands for as many neighbours along its axis. */
static float *spread(const given_numbers *n, const uint64_t *extent, unsigned dimensions)
{
    uint64_t count = 1;
    for (unsigned d = 0; d < dimensions; d++)
        count *= extent[d];
    float *y = cli_allocate(count, sizeof *y);
    for (uint64_t k = 0; k < count; k++) {
        uint64_t rest = k, step = 1, at = 0;
        for (unsigned d = 1; d <= n->dimensions; d++) {
            const uint64_t whole = extent[dimensions - d], own = n->extent[n->dimensions - d];
            at += rest % whole * own / whole * step;
            rest /= whole;
            step *= own;
        }
        y[k] = n->value[at];
    }
    return y;
}

/* Whether NumPy broadcasts n to a shape. */
static bool broadcasts(const given_numbers *n, const uint64_t *extent, unsigned dimensions)
{
    bool good = n->dimensions <= dimensions;
    for (unsigned d = 1; good && d <= n->dimensions; d++)
        good = n->extent[n->dimensions - d] == 1 || n->extent[n->dimensions - d] == extent[dimensions - d];
    return good;
}

/* An extent of what two numbers broadcast to. */
static uint64_t common_extent(const given_numbers n[2], unsigned d)
{
    return n[n[0].extent[d] == 1].extent[d];
}

/* Gives scales and zero points as many axes, 1 where one of them has none, and looks whether they go together. */
static void match_zeros(given *g)
{
    given_numbers *const n[2] = {&g->scale, &g->zero};
    char text[2][FILE_SHAPE_SIZE];
    bool good = true;
    for (int k = 0; k < 2; k++)
        shape_text(text[k], n[k]->extent, n[k]->dimensions);
    for (int k = 0; k < 2; k++)
        for (; n[k]->dimensions < n[!k]->dimensions; n[k]->dimensions++) {
            memmove(n[k]->extent + 1, n[k]->extent, n[k]->dimensions * sizeof *n[k]->extent);
            n[k]->extent[0] = 1;
        }
    for (unsigned d = 0; d < g->scale.dimensions; d++)
        good = good && (n[0]->extent[d] == n[1]->extent[d] || n[0]->extent[d] == 1 || n[1]->extent[d] == 1);
    if (!good)
        cli_fail("--zero of shape %s does not broadcast with --scale of shape %s", text[1], text[0]);
}

void given_open(given *g, const file *in, const char *output)
{
    const char *order = g->order_text;
    if (g->scale_text == NULL && (g->zero_text != NULL || order != NULL || g->reciprocal || g->tensor_text != NULL))
        cli_usage("--zero, --zero-order, --reciprocal and --tensor-scale go with --scale");
    if (order != NULL && (g->zero_text == NULL || (strcmp(order, "after") != 0 && strcmp(order, "before") != 0)))
        cli_usage("--zero-order: %s", g->zero_text == NULL ? "goes with --zero" : "after or before");
    if (g->tensor_text != NULL && (!number_read_f32(g->tensor_text, &g->call.tensor) ||
                                   !(g->call.tensor > 0 && g->call.tensor <= 0x1.fffffep127f)))
        cli_usage("--tensor-scale: '%s' is no finite number above 0", g->tensor_text);
    if (g->scale_text != NULL)
        g->scale = read_numbers("--scale", g->scale_text, in, output);
    if (g->zero_text != NULL)
        g->zero = read_numbers("--zero", g->zero_text, in, output);
    match_zeros(g);
    if (g->zero_text != NULL)
        g->call.order = order != NULL && order[0] == 'b' ? FPEMU_ZERO_BEFORE : FPEMU_ZERO_AFTER;
}

/* Whether the library takes so much of *g for a format with blocks. */
static bool takes(const given *g, const fpemu_format *f, bool zeros, bool tensor)
{
    static const fpemu_rounding nearest;
    const float any = 1;
    fpemu_shape none = fpemu_shape_vector(0);
    const fpemu_given call = {.scales = &any,
                              .zeros = zeros ? &any : NULL,
                              .order = zeros ? g->call.order : FPEMU_ZERO_NONE,
                              .tensor = tensor ? g->call.tensor : 0};
    none.given = &call;
    return fpemu_quantize_tensor(f, &nearest, FPEMU_TYPE_F64, &none, NULL, NULL, NULL) == FPEMU_OK;
}

/* Ends the program where a format with blocks does not take it. */
static void check_format(const given *g, const fpemu_format *f, const char *spec)
{
    if (!takes(g, f, false, false))
        cli_fail("%s: --scale is not for rules with more numbers than a scale: take int4, or group(int4,32)", spec);
    if (g->call.order != FPEMU_ZERO_NONE && !takes(g, f, true, false))
        cli_fail("%s: --zero is for int(B) and uint(B), B at most 16, alone or in a group: leave it out", spec);
    if (!takes(g, f, false, true))
        cli_fail("%s: --tensor-scale is for formats with a scale of the whole tensor, as nvfp4: leave it out", spec);
}

/* The blocks of a format without any, as the shape of the scales cuts the tensor: `grid`, of how many axes is returned;
 * *n loses axes that cut nothing. */
static unsigned cut_tensor(given_numbers n[2], bool reciprocal, const tensor *t, const char *name, const char *spec,
                           fpemu_format *own, fpemu_shape *shape, uint64_t *grid)
{
    const fpemu_format element = *own;
    const unsigned more = t->dimensions - n->dimensions;
    unsigned some = 0, last = 0;
    uint64_t inner = 1, wide[MODEL_MOST_DIMENSIONS];
    fpemu_block kind = FPEMU_BLOCK_TENSOR;
    fpemu_format single;
    bool fits = n->dimensions <= t->dimensions;
    for (unsigned d = 0; d < n->dimensions; d++)
        wide[d] = common_extent(n, d);
    for (unsigned d = 0; fits && d < n->dimensions; d++) {
        fits = wide[d] > 0 && t->extent[more + d] % wide[d] == 0;
        some += wide[d] > 1;
        last = wide[d] > 1 ? d : last;
    }
    if (!fits) {
        char a[FILE_SHAPE_SIZE], b[FILE_SHAPE_SIZE];
        cli_fail("a scale of shape %s does not go with %s of shape %s: each of its sizes divides the tensor's, and "
                 "stands for as many neighbours",
                 shape_text(a, wide, n->dimensions), name, file_shape_text(b, t));
    }
    const uint64_t cut = some > 0 ? wide[last] : 1;
    const bool channel = some == 1 && cut == t->extent[more + last];
    for (unsigned d = more + last + 1; d < t->dimensions; d++)
        inner *= t->extent[d];
    *shape = fpemu_shape_vector(t->count);
    if (channel) {
        shape->outer = t->count / inner / cut;
        shape->length = cut;
        shape->inner = inner;
    }
    const unsigned before = some == 0 || channel ? 0 : more + last, axes = some > 0 ? before + 1 : 0;
    for (unsigned d = 0; d < before; d++)
        grid[d] = t->extent[d];
    if (some > 0)
        grid[before] = cut;
    for (int k = 0; k < 2; k++) {
        n[k].dimensions = some == 0 ? 0 : channel ? 1 : last + 1;
        n[k].extent[0] = n[k].extent[channel ? last : 0];
    }
    kind = some == 0 ? kind : channel ? FPEMU_BLOCK_CHANNEL : FPEMU_BLOCK_RUN;
    const uint64_t run = kind == FPEMU_BLOCK_RUN ? t->extent[more + last] * inner / cut : 0;
    cli_check(fpemu_format_named(FPEMU_NAME_BINARY32, &single), "--scale");
    if (run > UINT32_MAX)
        cli_fail("--scale: a scale of more than %" PRIu32 " neighbours", UINT32_MAX);
    if (fpemu_format_blocked(own, &element, reciprocal ? FPEMU_SCALING_RECIPROCAL : FPEMU_SCALING_ABSMAX, &single, 0,
                             kind, 0, (uint32_t)run) != FPEMU_OK) {
        cli_fail("%s: --scale is not for formats that wrap: leave :wrap out", spec);
    }
    return axes;
}

/* The blocks of a format that has some, in an order that is C order of `grid`. */
static unsigned grid_of(const fpemu_format *f, const tensor *t, int axis_, uint64_t *grid)
{
    const uint64_t one = 1, *extent = t->dimensions > 0 ? t->extent : &one;
    const unsigned D = t->dimensions > 0 ? t->dimensions : 1;
    const unsigned axis = t->dimensions == 0 ? 0 : axis_ < 0 ? (unsigned)((int)D + axis_) : (unsigned)axis_;
    const bool tile = f->block == FPEMU_BLOCK_TILE, channel = f->block == FPEMU_BLOCK_CHANNEL;
    unsigned n = 0;
    if (f->block == FPEMU_BLOCK_TENSOR)
        return 0;
    for (unsigned d = 0; d < D; d++)
        if (channel ? d == axis : d != axis && !(tile && d + 1 == axis))
            grid[n++] = extent[d];
    if (tile)
        grid[n++] = axis > 0 ? (extent[axis - 1] - 1) / f->block_rows + 1 : 1;
    if (tile || f->block == FPEMU_BLOCK_RUN)
        grid[n++] = (extent[axis] - 1) / f->block_length + 1;
    return n;
}

static void free_call(given *g)
{
    free((void *)(uintptr_t)g->call.scales);
    free((void *)(uintptr_t)g->call.zeros);
}

partition given_partition(given *g, const file *f, size_t i, fpemu_format *own, const char *spec,
                          const fpemu_rounding *rounding, int axis)
{
    const tensor *t = &f->model.tensor[i];
    const char *name = t->name[0] != '\0' ? t->name : "the array";
    partition a = partition_of(f, i, own, rounding, axis);
    given_numbers n[2] = {g->scale, g->zero};
    uint64_t grid[MODEL_MOST_DIMENSIONS + 1];
    if (g->scale_text == NULL || t->count == 0)
        return a;
    if (g->reciprocal && own->scaling != FPEMU_SCALING_NONE)
        cli_fail("%s: --reciprocal is for formats without scales: write rule=reciprocal in it", spec);
    if (rounding->compat != FPEMU_COMPAT_NONE)
        cli_fail("compatibility settings do not go with --scale: take a mode, such as rne");
    if (t->fortran_order && t->dimensions > 1 && (g->scale.count > 1 || g->zero.count > 1))
        cli_fail("%s: %s is in Fortran order, --scale in C order: save it so", f->path, name);
    const bool cut = own->scaling == FPEMU_SCALING_NONE;
    const unsigned axes =
        cut ? cut_tensor(n, g->reciprocal, t, name, spec, own, &a.shape, grid) : grid_of(own, t, axis, grid);
    check_format(g, own, spec);
    for (int k = 0; k < 2 && !cut; k++) {
        char text[2][FILE_SHAPE_SIZE];
        if (!broadcasts(&n[k], grid, axes))
            cli_fail("a %s of shape %s does not broadcast to the blocks of %s, of shape %s",
                     k == 0 ? "scale" : "zero point", shape_text(text[0], n[k].extent, n[k].dimensions), name,
                     shape_text(text[1], grid, axes));
    }
    free_call(g);
    g->call.scales = spread(&n[0], grid, axes);
    g->call.zeros = g->call.order != 0 ? spread(&n[1], grid, axes) : NULL;
    a.shape.given = &g->call;
    a.unit = a.total;
    a.period = UINT64_MAX;
    a.as_vector = a.boxes = a.needs_range = false;
    return a;
}

void given_refuse_output(const given *g, const char *option, const char *path)
{
    output_refuse_same(option, path, "the file of --scale", g->scale.path);
    output_refuse_same(option, path, "the file of --zero", g->zero.path);
}

void given_close(given *g)
{
    free(g->scale.path);
    free(g->zero.path);
    free(g->scale.value);
    free(g->zero.value);
    free_call(g);
}
