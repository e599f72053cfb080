/* SPDX-License-Identifier: BSD-2-Clause */
/* blocks.h - what quantize.c, blocks.c, walk.c and pack.c have in common: the blocks of a tensor, and the calls of both
 * carriers. */
#ifndef FPEMU_ARRAY_BLOCKS_H
#define FPEMU_ARRAY_BLOCKS_H

#include "core/block.h"
#include "core/walk.h"
#include "array.h"

/* ------------------------------------------------------------------------------------- where elements lie */

/* Elements handled at a time. */
#define BLOCK_TILE 256

fpemu_status fpemu_walk_begin(core_walk *w, const fpemu_format *f, const fpemu_shape *shape, size_t size, int lines);
void fpemu_walk_block(const core_walk *w, uint64_t b, core_place *p);
core_span fpemu_walk_span(const core_walk *w, const core_place *p, uint64_t position, uint64_t most);

/* Whether loops of codes take several blocks of so many elements. */
static inline int is_group(uint64_t length)
{
    return length >= 16 && (length & (length - 1)) == 0;
}

/* -------------------------------------------------------------------------------------------- the engine */

/* Where codes go instead of values. Called from several threads at a time, for different blocks, or for pieces of one
 * block that begin at a multiple of BLOCK_TILE; `scale` not for scalar formats and s2fp8. */
typedef struct block_sink {
    void *context;
    /* the numbers of the whole tensor (line 0), or of each line, before its blocks; only where the format has them */
    void (*tensor)(void *context, uint64_t line, core_tensor t);
    void (*scale)(void *context, uint64_t block, uint64_t code);
    /* n codes of `size` bytes (fpemu_format_code_size) from place `position` of the block on; NULL: the scales are all
     * that is asked for, and no element is rounded */
    void (*codes)(void *context, uint64_t block, uint64_t position, size_t n, size_t size, const void *codes);
    /* NULL, or scales of scale_size bytes and codes of `count` full blocks of `length` elements, which follow one
     * another in bytes too */
    void (*runs)(void *context, uint64_t block, size_t count, size_t length, size_t scale_size, const void *scales,
                 size_t size, const void *codes);
} block_sink;

/* Everything that quantises or packs with scales: blocks [first, first + count) of the tensor; all of it, count =
 * UINT64_MAX. y: values out, or NULL; sink: codes out, or NULL. compact: x holds just those blocks' elements one
 * after the other (then y is NULL). tensor: the numbers of the whole tensor if they are known, else NULL. Arguments are
 * checked, save for overlap of x with what the sink writes. */
typedef struct block_call {
    const fpemu_format *format;
    const fpemu_rounding *rounding;
    const fpemu_shape *shape;
    uint64_t first, count;
    int compact, lines; /* lines: as in fpemu_walk_begin */
    const core_tensor *tensor;
    const block_sink *sink;
    fpemu_stats *stats;
    int carrier; /* of x and y */
    /* where format and rounding are checked and the walk is begun already, the format of the scales and that walk; or
     * NULL */
    const fpemu_format *scale;
    const core_walk *walk;
    const void *plan; /* what fpemu_block_plan made of format, rounding and carrier, for values or codes; or NULL */
} block_call;

/* The numbers of the whole tensor that follow from a range; 0 if the format has none. */
int fpemu_block_tensor(const fpemu_format *f, const fpemu_range *range, core_tensor *t);

/* fpemu_scales, in the default floating-point environment; plan: NULL, or what fpemu_block_plan made for codes. */
fpemu_status fpemu_scales_run(const void *plan, const fpemu_format *f, int type, const fpemu_shape *shape,
                              const void *x, void *scales, void *codes, float *tensor);

#include "core/carrier32.h"
#include "calls.inc.h"
#include "core/carrier_end.h"

#include "core/carrier64.h"
#include "calls.inc.h"
#include "core/carrier_end.h"

#endif /* FPEMU_ARRAY_BLOCKS_H */
