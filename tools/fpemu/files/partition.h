/* partition.h - a tensor of a file taken through a format in pieces: blocks stay whole, and what belongs to the whole
 * tensor is measured first. Memory stays bounded: by pieces of neighbours where few blocks make one, else by boxes. */
#ifndef FPEMU_TOOL_ALONG_H
#define FPEMU_TOOL_ALONG_H

#include <stdbool.h>
#include <stdint.h>

#include "files/file.h"
#include "fpemu.h"

/* Where the blocks of a tensor lie so far apart that a piece without gaps would be too large, it is taken in boxes: a
 * part of every axis of the shape, in rows of neighbours. */
typedef struct along_box {
    uint64_t from[4], count[4]; /* outer, rows, length, inner */
} along_box;

typedef struct along {
    fpemu_shape shape; /* of the whole tensor, in the order of the data */
    uint64_t total;    /* elements */
    uint64_t unit;     /* neighbours that stay together; 1 for scalar formats */
    uint64_t period;   /* a piece is some of these, or some units within one; the last unit of one may be short */
    bool flat;         /* pieces may be taken for vectors */
    bool needs_range;  /* there is a scale of the whole tensor, and pieces want it said */
    bool boxes;        /* in boxes, not in pieces */
    uint64_t step[4];  /* their size */
    fpemu_range range;
} along;

/* A piece without gaps has at most so many elements, and so has a box, unless a single block is larger. */
enum { ALONG_MOST = 1 << 20 };

/* Blocks run along `axis` (negative: from the end). Ends the program where the tensor has no such axis. Boxes are not
 * for stochastic rounding, whose random bits go by neighbours. */
along along_of(const file *f, size_t i, const fpemu_format *format, const fpemu_rounding *rounding, int axis);
/* The same for the bytes of `fpemu pack`, which begin anew with each line; `whole`: only as one piece. */
along along_packed(const file *f, size_t i, const fpemu_format *format, int axis, bool *whole);
/* The piece of `count` elements that begins at `index`. */
fpemu_shape along_piece(const along *a, uint64_t index, uint64_t count);
/* Rounds it; carriers as in fpemu_quantize. */
fpemu_status along_quantize(const along *a, const fpemu_format *format, const fpemu_rounding *rounding, uint64_t index,
                            size_t count, bool binary64, const void *x, void *y, fpemu_stats *stats);
/* Packs one, of the shape of along_piece. */
fpemu_status along_pack(const fpemu_format *format, const fpemu_rounding *rounding, const fpemu_shape *shape,
                        uint64_t index, bool binary64, const void *x, void *bytes, fpemu_stats *stats);
/* Boxes, the first and the next; false past the last. */
along_box along_first_box(const along *a);
bool along_next_box(const along *a, along_box *box);
uint64_t along_box_count(const along_box *box);
/* Rounds one, its elements without gaps in x and y. */
fpemu_status along_quantize_box(const along *a, const fpemu_format *format, const fpemu_rounding *rounding,
                                const along_box *box, bool binary64, const void *x, void *y, fpemu_stats *stats);
fpemu_status along_measure(along *a, const fpemu_format *format, size_t count, bool binary64, const void *x);

/* Bits an element takes in the bytes of fpemu_pack, with its share of the scales. Those that the format has by itself
 * where there are no elements, and where they cannot be packed, which *packed then says. */
double along_bits(const file *f, size_t i, const fpemu_format *format, int axis, bool *packed);

/* The smallest number of elements that both units divide; UINT64_MAX where it is larger. */
uint64_t along_common(uint64_t a, uint64_t b);

/* The argument of --axis. */
int along_axis(const char *argument);

#endif
