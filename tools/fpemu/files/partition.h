/* SPDX-License-Identifier: BSD-2-Clause */
/* partition.h - a tensor of a file taken through a format in pieces: blocks stay whole, and what belongs to the whole
 * tensor is measured first. Memory stays bounded: by pieces of neighbours where few blocks make one, else by boxes. */
#ifndef FPEMU_TOOL_PARTITION_H
#define FPEMU_TOOL_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#include "files/file.h"
#include "fpemu.h"

/* Where the blocks of a tensor lie so far apart that a piece without gaps would be too large, it is taken in boxes: a
 * part of every axis of the shape, in rows of neighbours. */
typedef struct box {
    uint64_t from[4], count[4]; /* outer, rows, length, inner */
} box;

typedef struct partition {
    fpemu_shape shape; /* of the whole tensor, in the order of the data */
    uint64_t total;    /* elements */
    uint64_t unit;     /* neighbours that stay together; 1 for scalar formats */
    uint64_t period;   /* a piece is some of these, or some units within one; the last unit of one may be short */
    bool as_vector;    /* pieces may be taken for vectors */
    bool needs_range;  /* there is a scale of the whole tensor, and pieces want it said */
    bool boxes;        /* in boxes, not in pieces */
    uint64_t step[4];  /* their size */
    fpemu_range range;
} partition;

/* A piece without gaps has at most so many elements, and so has a box, unless a single block is larger. */
enum { PARTITION_MOST = 1 << 20 };

/* Whether scales come from the whole tensor, whose range a call on a piece of it must then be told. */
bool partition_needs_range(const fpemu_format *f);
/* Blocks run along `axis` (negative: from the end). Ends the program where the tensor has no such axis. Boxes are not
 * for stochastic rounding, whose random bits go by neighbours. */
partition partition_of(const file *f, size_t i, const fpemu_format *format, const fpemu_rounding *rounding, int axis);
/* The same for the bytes of `fpemu pack`, which begin anew with each line; `whole`: only as one piece. */
partition partition_packed(const file *f, size_t i, const fpemu_format *format, int axis, bool *whole);
/* The piece of `count` elements that begins at `index`. */
fpemu_shape partition_piece(const partition *a, uint64_t index, uint64_t count);
/* Rounds it; carriers as in fpemu_quantize. */
fpemu_status partition_quantize(const partition *a, const fpemu_format *format, const fpemu_rounding *rounding,
                                uint64_t index, size_t count, bool binary64, const void *x, void *y,
                                fpemu_stats *stats);
/* Packs one, of the shape of partition_piece. */
fpemu_status partition_pack(const fpemu_format *format, const fpemu_rounding *rounding, const fpemu_shape *shape,
                            uint64_t index, bool binary64, const void *x, void *bytes, fpemu_stats *stats);
/* Boxes, the first and the next; false past the last. */
box partition_first_box(const partition *a);
bool partition_next_box(const partition *a, box *box);
uint64_t partition_box_count(const box *box);
/* Rounds one, its elements without gaps in x and y. */
fpemu_status partition_quantize_box(const partition *a, const fpemu_format *format, const fpemu_rounding *rounding,
                                    const box *box, bool binary64, const void *x, void *y, fpemu_stats *stats);
fpemu_status partition_measure(partition *a, const fpemu_format *format, size_t count, bool binary64, const void *x);

/* Bits an element takes in the bytes of fpemu_pack, with its share of the scales. Those that the format has by itself
 * where there are no elements, and where they cannot be packed, which *packed then says. */
double partition_bits(const file *f, size_t i, const fpemu_format *format, int axis, bool *packed);

/* The smallest number of elements that both units divide; UINT64_MAX where it is larger. */
uint64_t partition_common(uint64_t a, uint64_t b);

/* The argument of --axis. */
int partition_axis(const char *argument);

#endif
