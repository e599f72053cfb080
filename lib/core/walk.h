/* SPDX-License-Identifier: BSD-2-Clause */
/* walk.h - the blocks of a tensor and the order of their elements (doc/blocks.md, 3). */
#ifndef FPEMU_CORE_WALK_H
#define FPEMU_CORE_WALK_H

#include <stddef.h>

#include "reach.h"
#include "fpemu.h"
#include "port.h"
#include "scale.h"

/* The blocks of a tensor. A block is four nested loops, the fastest last; steps are in elements. */
typedef struct core_walk {
    uint64_t outer, rows, length, inner;
    uint64_t tile_rows, tile_length; /* of a full run or tile */
    uint64_t across, down;           /* runs or tiles along the line; rows of tiles */
    uint64_t blocks;
    uint64_t total;               /* elements */
    uint64_t n[4], step[4];       /* loops of a full block; step: of indices */
    int64_t x[4], y[4];           /* and of the arrays */
    int64_t x_axis[4], y_axis[4]; /* strides of outer, rows, length, inner */
    uint8_t block;                /* fpemu_block, or CORE_WALK_INDEX */
    uint8_t array;                /* the elements are neighbours, in x and in y */
} core_walk;

/* The whole tensor as one block in the order of indices: scalar formats. */
#define CORE_WALK_INDEX 255

/* One block. */
typedef struct core_place {
    uint64_t elements;
    uint64_t first; /* index of its first element */
    int64_t x, y;   /* where that lies */
    uint64_t n[4];  /* its loops */
} core_place;

/* Elements of a block that follow one another in equal steps. */
typedef struct core_span {
    uint64_t n, first, step;
    int64_t x, x_step, y, y_step;
} core_span;

/* *product *= n; 0 if it does not fit. */
FPEMU_FN int core_walk_multiply(uint64_t *product, uint64_t n)
{
    const core_wide w = core_multiply(*product, n);
    *product = w.low;
    return w.high == 0;
}

FPEMU_FN int core_walk_all_zero(const int64_t stride[4])
{
    return (stride[0] | stride[1] | stride[2] | stride[3]) == 0;
}

/* Strides of a contiguous tensor, whose indices have the steps `index`, where none are given; 0 where offsets of
 * those given pass the end of memory, or `apart` is asked and two elements have one place. */
FPEMU_FN int core_walk_strides(const uint64_t extent[4], const uint64_t index[4], const int64_t given[4], size_t size,
                               int apart, int64_t stride[4])
{
    const void *const middle = (const void *)(uintptr_t)PTRDIFF_MAX; /* anywhere */
    const int dense = core_walk_all_zero(given);
    core_reach r;
    for (int a = 0; a < 4; a++)
        stride[a] = dense ? (int64_t)index[a] : given[a];
    return dense || (core_reach_strided(&r, middle, size, 4, extent, stride) && (!apart || core_reach_is_apart(&r)));
}

/* Whether it is an array whose elements are neighbours, cut into runs or not at all. */
FPEMU_FN int core_walk_is_array(const core_walk *w, const fpemu_shape *shape)
{
    return w->length == w->total && w->block != FPEMU_BLOCK_TILE && w->block != FPEMU_BLOCK_CHANNEL &&
           core_walk_all_zero(shape->x_stride) && core_walk_all_zero(shape->y_stride);
}

/* Fills in what follows for one, as the long way would: calls on few elements feel it. */
FPEMU_FN void core_walk_array(core_walk *w)
{
    const int runs = w->block == FPEMU_BLOCK_RUN || w->block == FPEMU_BLOCK_ROW;
    w->array = 1;
    w->x_axis[0] = w->x_axis[1] = w->y_axis[0] = w->y_axis[1] = (int64_t)w->length;
    w->x_axis[2] = w->x_axis[3] = w->y_axis[2] = w->y_axis[3] = 1;
    w->n[0] = w->n[1] = w->n[2] = w->down = 1;
    w->n[3] = runs ? w->tile_length : w->length;
    w->step[3] = 1;
    w->x[3] = w->y[3] = 1;
    w->across = w->tile_length == w->length ? 1 : (w->length - 1) / w->tile_length + 1;
    w->blocks = runs ? w->across : 1;
}

/* FPEMU_OK if the format takes given scales and zero points and the fields of *g go together, or why not. */
FPEMU_FN fpemu_status core_given_check(const fpemu_format *f, const fpemu_given *g)
{
    const int plain = f->scaling == FPEMU_SCALING_ABSMAX || f->scaling == FPEMU_SCALING_RECIPROCAL;
    const int integers = f->kind == FPEMU_KIND_INT && f->scale == 1 && f->zero_point == 0 && f->bits <= 16 && !f->wrap;
    uint32_t reserved = 0;
    for (size_t i = 0; i < sizeof g->reserved0; i++)
        reserved |= g->reserved0[i];
    if (!f->scaling || f->scaling == FPEMU_SCALING_S2FP8 || f->scaling == FPEMU_SCALING_PAIRS ||
        f->scaling == FPEMU_SCALING_HIF4 || core_order(f) || core_rule_is_affine(f->scaling) ||
        (g->zeros && !(plain && integers)))
        return FPEMU_ERROR_UNSUPPORTED;
    if (!g->scales)
        return FPEMU_ERROR_NULL;
    return reserved || (g->zeros ? g->order - 1u > 1 : g->order) || !(g->tensor >= 0 && g->tensor <= FLT_MAX) ||
                   (g->tensor != 0 && (!core_rule_is_nvfp4(f->scaling) || f->outer))
               ? FPEMU_ERROR_ARGUMENT
               : FPEMU_OK;
}

/* Checks the shape; size: bytes of an element; lines: scalar formats have a line as block, not all of the tensor. */
FPEMU_FN fpemu_status core_walk_begin(core_walk *w, const fpemu_format *f, const fpemu_shape *shape, size_t size,
                                      int lines)
{
    const uint64_t extent[4] = {shape->outer, shape->rows, shape->length, shape->inner};
    const int scalar = f->scaling == FPEMU_SCALING_NONE;
    memset(w, 0, sizeof *w);
    if (shape->reserved0[0] | shape->reserved0[1])
        return FPEMU_ERROR_ARGUMENT;
    const fpemu_status status = shape->given ? core_given_check(f, shape->given) : FPEMU_OK;
    if (status)
        return status;
    w->outer = extent[0];
    w->rows = extent[1];
    w->length = extent[2];
    w->inner = extent[3];
    w->block = !scalar ? f->block : lines ? FPEMU_BLOCK_ROW : CORE_WALK_INDEX;
    if (extent[0] == 0 || extent[1] == 0 || extent[2] == 0 || extent[3] == 0)
        return FPEMU_OK; /* no blocks */
    w->total = extent[2];
    if ((extent[0] | extent[1] | extent[3]) != 1) /* else it is the length: short arrays feel products */
        for (int a = 0; a < 4; a++)
            if (a != 2 && !core_walk_multiply(&w->total, extent[a]))
                return FPEMU_ERROR_ARGUMENT;
    if (w->total > PTRDIFF_MAX / size)
        return FPEMU_ERROR_ARGUMENT;
    w->tile_rows = f->block == FPEMU_BLOCK_TILE && f->block_rows < w->rows ? f->block_rows : w->rows;
    w->tile_length = f->block_length && f->block_length < w->length ? f->block_length : w->length;
    if (core_walk_is_array(w, shape)) {
        core_walk_array(w);
        return FPEMU_OK;
    }
    const uint64_t index[4] = {w->rows * w->length * w->inner, w->length * w->inner, w->inner, 1};
    if (!core_walk_strides(extent, index, shape->x_stride, size, 0, w->x_axis) ||
        !core_walk_strides(extent, index, shape->y_stride, size, 1, w->y_axis))
        return FPEMU_ERROR_ARGUMENT;

    /* which axis each loop of a block runs along, and how far; axis 4: none */
    static const uint8_t axes[][4] = {{4, 4, 4, 2}, {4, 4, 4, 2}, {4, 4, 1, 2},
                                      {4, 0, 1, 3}, {0, 1, 3, 2}, {0, 1, 2, 3}};
    const uint8_t *axis = axes[w->block == CORE_WALK_INDEX ? 5 : w->block];
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

/* Devices divide 32 bits much faster than 64. */
FPEMU_FN uint64_t core_walk_quotient(uint64_t a, uint64_t b)
{
    return (a | b) >> 32 ? a / b : (uint64_t)((uint32_t)a / (uint32_t)b);
}

/* The remainder of *a by b; *a becomes the quotient. */
FPEMU_FN uint64_t core_walk_split(uint64_t *a, uint64_t b)
{
    const uint64_t whole = *a, quotient = b == 1 ? whole : core_walk_quotient(whole, b);
    *a = quotient;
    return whole - quotient * b;
}

FPEMU_FN uint64_t core_smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Which blocks share what block b has with its neighbours: the first, how many along the line and, of tiles, rows of them,
 * which are w->across apart. */
typedef struct core_sharing {
    uint64_t first, along, rows;
} core_sharing;

FPEMU_FN core_sharing core_walk_sharing(const core_walk *w, uint64_t b, uint64_t share)
{
    uint64_t rest = b;
    const uint64_t column = core_walk_split(&rest, w->across), before = column % share;
    core_sharing s = {b - before, core_smaller(share, w->across - column + before), 1};
    if (w->block == FPEMU_BLOCK_TILE) {
        const uint64_t row = core_walk_split(&rest, w->down), above = row % share;
        s.first -= above * w->across;
        s.rows = core_smaller(share, w->down - row + above);
    }
    return s;
}

/* Block b. */
FPEMU_FN void core_walk_block(const core_walk *w, uint64_t b, core_place *p)
{
    uint64_t at[4] = {0, 0, 0, 0}; /* outer, rows, length, inner */
    memcpy(p->n, w->n, sizeof p->n);
    if (w->block == FPEMU_BLOCK_RUN || w->block == FPEMU_BLOCK_ROW) {
        at[2] = core_walk_split(&b, w->across) * w->tile_length;
        at[3] = core_walk_split(&b, w->inner);
        at[1] = core_walk_split(&b, w->rows);
        at[0] = b;
        p->n[3] = core_smaller(w->n[3], w->length - at[2]);
    } else if (w->block == FPEMU_BLOCK_TILE) {
        at[2] = core_walk_split(&b, w->across) * w->tile_length;
        at[1] = core_walk_split(&b, w->down) * w->tile_rows;
        at[3] = core_walk_split(&b, w->inner);
        at[0] = b;
        p->n[2] = core_smaller(w->n[2], w->rows - at[1]);
        p->n[3] = core_smaller(w->n[3], w->length - at[2]);
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

/* The elements from place `position` of the block on: at least one, at most `most`. */
FPEMU_FN core_span core_walk_span(const core_walk *w, const core_place *p, uint64_t position, uint64_t most)
{
    core_span s = {p->n[3] - position, p->first, w->step[3], p->x, w->x[3], p->y, w->y[3]};
    uint64_t at[4] = {0, 0, 0, position};
    if (p->n[3] != p->elements) {
        for (int k = 3; k > 0; k--) {
            at[k - 1] = core_walk_quotient(at[k], p->n[k]);
            at[k] -= at[k - 1] * p->n[k];
        }
        s.n = p->n[3] - at[3];
    }
    for (int k = 0; k < 4; k++) {
        s.first += at[k] * w->step[k];
        s.x += (int64_t)at[k] * w->x[k];
        s.y += (int64_t)at[k] * w->y[k];
    }
    s.n = core_smaller(s.n, most);
    return s;
}

/* The block that is visited as number v: neighbours in memory one after the other where blocks cross them. */
FPEMU_FN uint64_t core_walk_visited(const core_walk *w, uint64_t v)
{
    if ((w->block != FPEMU_BLOCK_RUN && w->block != FPEMU_BLOCK_ROW) || w->inner == 1)
        return v;
    const uint64_t i = core_walk_split(&v, w->inner), j = core_walk_split(&v, w->across);
    return (v * w->inner + i) * w->across + j;
}

/* The array at p that strides reach; 0 where memory does not have it. */
FPEMU_FN int core_walk_reach(const core_walk *w, const void *p, const int64_t stride[4], size_t size, core_reach *r)
{
    const uint64_t extent[4] = {w->outer, w->rows, w->length, w->inner};
    return core_reach_strided(r, p, size, 4, extent, stride);
}

/* Whether the elements of x and y at one address have the same places. */
FPEMU_FN int core_walk_is_same(const core_walk *w)
{
    const uint64_t extent[4] = {w->outer, w->rows, w->length, w->inner};
    int same = 1;
    for (int a = 0; a < 4; a++)
        same &= extent[a] == 1 || w->x_axis[a] == w->y_axis[a];
    return same;
}

#endif /* FPEMU_CORE_WALK_H */
