/* walk.c - the blocks of a tensor and the order of their elements (doc/blocks.md, 3). */
#include "block.h"

/* *product *= n; 0 if it does not fit. */
static int multiply(uint64_t *product, uint64_t n)
{
    const core_wide w = core_multiply(*product, n);
    *product = w.low;
    return w.high == 0;
}

static int all_zero(const int64_t stride[4])
{
    return (stride[0] | stride[1] | stride[2] | stride[3]) == 0;
}

/* Strides of a contiguous tensor where none are given; FPEMU_ERROR_ARGUMENT where offsets pass the end of memory. */
static fpemu_status take_strides(const uint64_t extent[4], const int64_t given[4], size_t size, int64_t stride[4])
{
    uint64_t step = 1, reach = 0;
    for (int a = 3; a >= 0; a--) {
        stride[a] = all_zero(given) ? (int64_t)step : given[a];
        step *= extent[a];
        uint64_t far = stride[a] < 0 ? 0 - (uint64_t)stride[a] : (uint64_t)stride[a];
        if (!multiply(&far, extent[a] - 1) || far > PTRDIFF_MAX / size || (reach += far) > PTRDIFF_MAX / size)
            return FPEMU_ERROR_ARGUMENT;
    }
    return FPEMU_OK;
}

/* Whether no two elements share a place: each stride passes what the smaller ones reach. */
static int apart(const uint64_t extent[4], const int64_t stride[4])
{
    uint64_t reach = 0;
    int wanted = 0, placed = 0;
    for (int a = 0; a < 4; a++)
        wanted += extent[a] > 1;
    for (int round = 0; round < 4; round++) {
        int next = 4;
        uint64_t least = 0;
        for (int a = 0; a < 4; a++) {
            const uint64_t s = stride[a] < 0 ? 0 - (uint64_t)stride[a] : (uint64_t)stride[a];
            if (extent[a] > 1 && s > reach && (next == 4 || s < least)) {
                next = a;
                least = s;
            }
        }
        if (next < 4) {
            reach += least * (extent[next] - 1);
            placed++;
        }
    }
    return placed == wanted; /* every axis found its place */
}

fpemu_status fpemu_walk_begin(block_walk *w, const fpemu_format *f, const fpemu_shape *shape, size_t size, int lines)
{
    const uint64_t extent[4] = {shape->outer, shape->rows, shape->length, shape->inner};
    const int scalar = f->scaling == FPEMU_SCALING_NONE;
    memset(w, 0, sizeof *w);
    if (shape->reserved0[0] | shape->reserved0[1] | shape->reserved0[2])
        return FPEMU_ERROR_ARGUMENT;
    w->outer = extent[0];
    w->rows = extent[1];
    w->length = extent[2];
    w->inner = extent[3];
    w->block = !scalar ? f->block : lines ? FPEMU_BLOCK_ROW : WALK_INDEX;
    if (extent[0] == 0 || extent[1] == 0 || extent[2] == 0 || extent[3] == 0)
        return FPEMU_OK; /* no blocks */
    w->total = 1;
    for (int a = 0; a < 4; a++)
        if (!multiply(&w->total, extent[a]))
            return FPEMU_ERROR_ARGUMENT;
    if (w->total > PTRDIFF_MAX / size)
        return FPEMU_ERROR_ARGUMENT;
    fpemu_status status = take_strides(extent, shape->x_stride, size, w->x_axis);
    if (!status)
        status = take_strides(extent, shape->y_stride, size, w->y_axis);
    if (status || !apart(extent, w->y_axis))
        return FPEMU_ERROR_ARGUMENT;

    const uint64_t index[4] = {w->rows * w->length * w->inner, w->length * w->inner, w->inner, 1};
    /* which axis each loop of a block runs along, and how far; axis 4: none */
    static const uint8_t axes[][4] = {{4, 4, 4, 2}, {4, 4, 4, 2}, {4, 4, 1, 2},
                                      {4, 0, 1, 3}, {0, 1, 3, 2}, {0, 1, 2, 3}};
    const uint8_t *axis = axes[w->block == WALK_INDEX ? 5 : w->block];
    w->tile_rows = f->block == FPEMU_BLOCK_TILE && f->block_rows < w->rows ? f->block_rows : w->rows;
    w->tile_length = f->block_length && f->block_length < w->length ? f->block_length : w->length;
    for (int k = 0; k < 4; k++) {
        const int a = axis[k];
        w->n[k] = a == 4 ? 1 : extent[a];
        if (a < 4) {
            w->step[k] = index[a];
            w->x[k] = w->x_axis[a];
            w->y[k] = w->y_axis[a];
        }
    }
    w->across = (w->length - 1) / w->tile_length + 1;
    w->down = (w->rows - 1) / w->tile_rows + 1;
    switch (w->block) {
    case FPEMU_BLOCK_RUN:
    case FPEMU_BLOCK_ROW:
        w->n[3] = w->tile_length;
        w->blocks = w->outer * w->rows * w->inner * w->across;
        return FPEMU_OK;
    case FPEMU_BLOCK_TILE:
        w->n[2] = w->tile_rows;
        w->n[3] = w->tile_length;
        w->blocks = w->outer * w->inner * w->down * w->across;
        return FPEMU_OK;
    case FPEMU_BLOCK_CHANNEL: w->blocks = w->length; break;
    default: w->blocks = 1; break;
    }
    /* every block is a full one: loops that go on where the next one ends become one */
    int m = 3;
    for (int k = 2; k >= 0; k--) {
        const uint64_t n = w->n[k];
        const int64_t last = (int64_t)w->n[m];
        if (n == 1)
            continue;
        if (last > 1 && w->step[k] == w->step[m] * w->n[m] && w->x[k] == w->x[m] * last && w->y[k] == w->y[m] * last) {
            w->n[m] *= n;
            w->n[k] = 1;
            continue;
        }
        m -= last > 1;
        w->n[k] = 1;
        w->n[m] = n;
        w->step[m] = w->step[k];
        w->x[m] = w->x[k];
        w->y[m] = w->y[k];
    }
    return FPEMU_OK;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void fpemu_walk_block(const block_walk *w, uint64_t b, block_place *p)
{
    uint64_t at[4] = {0, 0, 0, 0}; /* outer, rows, length, inner */
    memcpy(p->n, w->n, sizeof p->n);
    if (w->block == FPEMU_BLOCK_RUN || w->block == FPEMU_BLOCK_ROW) {
        at[2] = b % w->across * w->tile_length;
        b /= w->across;
        if (w->inner > 1) {
            at[3] = b % w->inner;
            b /= w->inner;
        }
        at[1] = b % w->rows;
        at[0] = b / w->rows;
        p->n[3] = smaller(w->n[3], w->length - at[2]);
    } else if (w->block == FPEMU_BLOCK_TILE) {
        at[2] = b % w->across * w->tile_length;
        b /= w->across;
        at[1] = b % w->down * w->tile_rows;
        b /= w->down;
        at[3] = b % w->inner;
        at[0] = b / w->inner;
        p->n[2] = smaller(w->n[2], w->rows - at[1]);
        p->n[3] = smaller(w->n[3], w->length - at[2]);
    } else if (w->block == FPEMU_BLOCK_CHANNEL) {
        at[2] = b;
    }
    p->elements = p->n[0] * p->n[1] * p->n[2] * p->n[3];
    p->first = ((at[0] * w->rows + at[1]) * w->length + at[2]) * w->inner + at[3];
    p->x = p->y = 0;
    for (int a = 0; a < 4; a++) {
        p->x += (int64_t)at[a] * w->x_axis[a];
        p->y += (int64_t)at[a] * w->y_axis[a];
    }
}

block_span fpemu_walk_span(const block_walk *w, const block_place *p, uint64_t position, uint64_t most)
{
    block_span s = {p->n[3] - position, p->first, w->step[3], p->x, w->x[3], p->y, w->y[3]};
    uint64_t at[4] = {0, 0, 0, position};
    if (p->n[3] != p->elements) {
        for (int k = 3; k > 0; k--) {
            at[k - 1] = at[k] / p->n[k];
            at[k] %= p->n[k];
        }
        s.n = p->n[3] - at[3];
    }
    for (int k = 0; k < 4; k++) {
        s.first += at[k] * w->step[k];
        s.x += (int64_t)at[k] * w->x[k];
        s.y += (int64_t)at[k] * w->y[k];
    }
    s.n = smaller(s.n, most);
    return s;
}
