/* along.h - a tensor of a file taken through a format in pieces: blocks stay whole, and what belongs to the whole
 * tensor is measured first. */
#ifndef FPEMU_TOOL_ALONG_H
#define FPEMU_TOOL_ALONG_H

#include <stdbool.h>
#include <stdint.h>

#include "file.h"
#include "fpemu.h"

typedef struct along {
    fpemu_shape shape; /* of the whole tensor, in the order of the data */
    uint64_t total;    /* elements */
    uint64_t unit;     /* elements that stay together; 1 for scalar formats */
    bool flat;         /* pieces may be taken for vectors */
    bool needs_range;  /* there is a scale of the whole tensor, and pieces want it said */
    fpemu_range range;
} along;

/* Blocks run along `axis` (negative: from the end). Ends the program where the tensor has no such axis. */
along along_of(const file *f, size_t i, const fpemu_format *format, int axis);
/* Whether the data of a file can be walked twice; where not, a tensor that is measured first is taken in one piece. */
void along_in_one_piece(along *a);
/* Rounds the piece of `count` elements that begins at `index`; carriers as in fpemu_quantize. */
fpemu_status along_quantize(const along *a, const fpemu_format *format, const fpemu_rounding *rounding, uint64_t index,
                            size_t count, bool binary64, const void *x, void *y, fpemu_stats *stats);
fpemu_status along_measure(along *a, const fpemu_format *format, size_t count, bool binary64, const void *x);

/* The smallest number of elements that both units divide; at most `total`. */
uint64_t along_common(uint64_t a, uint64_t b, uint64_t total);

/* The argument of --axis. */
int along_axis(const char *argument);

#endif
