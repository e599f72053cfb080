/* block.h - what block.c, walk.c and the packing share: the blocks of a tensor, and the verb behind quantising and
 * packing. */
#ifndef FPEMU_BLOCK_H
#define FPEMU_BLOCK_H

#include "core/block.h"
#include "internal.h"

/* ------------------------------------------------------------------------------------- where elements lie */

/* The blocks of a tensor. A block is four nested loops, the fastest last; steps are in elements. */
typedef struct block_walk {
    uint64_t outer, rows, length, inner;
    uint64_t tile_rows, tile_length; /* of a full run or tile */
    uint64_t across, down;           /* runs or tiles along the line; rows of tiles */
    uint64_t blocks;
    uint64_t total;                  /* elements */
    uint64_t n[4], step[4];          /* loops of a full block; step: of indices */
    int64_t x[4], y[4];              /* and of the arrays */
    int64_t x_axis[4], y_axis[4];    /* strides of outer, rows, length, inner */
    uint8_t block;                   /* fpemu_block, or WALK_INDEX */
} block_walk;

/* Elements handled at a time. */
#define BLOCK_TILE 256

/* The whole tensor as one block in the order of indices: scalar formats. */
#define WALK_INDEX 255

/* One block. */
typedef struct block_place {
    uint64_t elements;
    uint64_t first;   /* index of its first element */
    int64_t x, y;     /* where that lies */
    uint64_t n[4];    /* its loops */
} block_place;

/* Elements of a block that follow one another in equal steps. */
typedef struct block_span {
    uint64_t n, first, step;
    int64_t x, x_step, y, y_step;
} block_span;

/* Checks the shape; size: bytes of an element; lines: scalar formats have a line as block, not all of the tensor. */
fpemu_status fpemu_walk_begin(block_walk *w, const fpemu_format *f, const fpemu_shape *shape, size_t size, int lines);
/* Block b. */
void fpemu_walk_block(const block_walk *w, uint64_t b, block_place *p);
/* The elements from place `position` of the block on: at least one, at most `most`. */
block_span fpemu_walk_span(const block_walk *w, const block_place *p, uint64_t position, uint64_t most);

/* -------------------------------------------------------------------------------------------- the engine */

/* Where codes go instead of values. Called from several threads at a time, for different blocks, or for pieces of one
 * block that begin at a multiple of BLOCK_TILE; `scale` not for scalar formats and s2fp8. */
typedef struct block_sink {
    void *context;
    /* the numbers of the whole tensor, before anything else; only where the format has them */
    void (*tensor)(void *context, core_tensor t);
    void (*scale)(void *context, uint64_t block, uint64_t code);
    /* n codes of `size` bytes (fpemu_code_size) from place `position` of the block on */
    void (*codes)(void *context, uint64_t block, uint64_t position, size_t n, size_t size, const void *codes);
} block_sink;

/* Everything that quantises or packs with scales: blocks [first, first + count) of the tensor; all of it, count =
 * UINT64_MAX. y: values out, or NULL; sink: codes out, or NULL. flat: x holds just those blocks' elements one after the
 * other (then y is NULL). tensor: the numbers of the whole tensor if they are known, else NULL. Arguments are checked,
 * save for overlap of x with what the sink writes. */
typedef struct block_call {
    const fpemu_format *format;
    const fpemu_rounding *rounding;
    const fpemu_shape *shape;
    uint64_t first, count;
    int flat, lines; /* lines: as in fpemu_walk_begin */
    const core_tensor *tensor;
    const block_sink *sink;
    fpemu_stats *stats;
} block_call;

fpemu_status fpemu_block_run_f32(const block_call *call, const float *x, float *y);
fpemu_status fpemu_block_run_f64(const block_call *call, const double *x, double *y);

/* The numbers of the whole tensor that follow from a range; 0 if the format has none. */
int fpemu_block_tensor(const fpemu_format *f, const fpemu_range *range, core_tensor *t);

/* Codes to values. */
typedef struct block_reader_f32 {
    core_block32 block;
    core_coder32 coder;
    const float *values; /* of a codebook, else NULL */
    uint32_t length;     /* of the codebook */
    size_t size;         /* bytes of a code */
    uint8_t scaled;
} block_reader_f32;
typedef struct block_reader_f64 {
    core_block64 block;
    core_coder64 coder;
    const float *values;
    uint32_t length;
    size_t size;
    uint8_t scaled;
} block_reader_f64;

/* tensor may be NULL where the format has no numbers of the whole tensor. Call these in the default floating-point
 * environment. */
fpemu_status fpemu_reader_begin_f32(block_reader_f32 *r, const fpemu_format *f, const core_tensor *tensor);
fpemu_status fpemu_reader_begin_f64(block_reader_f64 *r, const fpemu_format *f, const core_tensor *tensor);
/* n values of a block from its scale's code (0 where there is none) and codes of r->size bytes. */
void fpemu_reader_values_f32(const block_reader_f32 *r, uint64_t scale, size_t n, const void *codes, float *y);
void fpemu_reader_values_f64(const block_reader_f64 *r, uint64_t scale, size_t n, const void *codes, double *y);

#endif /* FPEMU_BLOCK_H */
