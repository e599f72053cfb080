/* SPDX-License-Identifier: BSD-2-Clause */
/* grid.h - matrices of codes of at most 8 bits with scales, and zero points, of rows, columns or rectangles, as
 * compressed-tensors, ModelOpt, Quark, DeepSeek, torchao, GPTQ, AWQ and bitsandbytes keep them in safetensors.
 * doc/files.md has the table. A value is [[code - zero] * scale] in binary32, then rounded to the type that the layout
 * computes in.
 */
#ifndef FPEMU_TOOL_GRID_H
#define FPEMU_TOOL_GRID_H

#include "files/model.h"

enum { GRID_MOST_PARTS = 8, GRID_TEXT = 64 };

/* Where the bits of a code lie. */
typedef enum grid_way {
    GRID_ROW,   /* a row is a string of bits, the low ones first */
    GRID_HIGH,  /* as that, but the high nibble first */
    GRID_WORDS, /* a row goes down a column of 32-bit words */
    GRID_AWQ    /* a 32-bit word has eight neighbouring rows of one column, in nibbles, in AWQ's order */
} grid_way;

typedef struct grid_codes {
    grid_way way;
    bool turned;                  /* row and column change places */
    unsigned bits;                /* 0: there are none */
    uint64_t place, pitch, slice; /* bytes: where they begin, from row to row, from matrix to matrix */
    float value[256];
} grid_codes;

/* Numbers of a type, or codes of 8 bits. */
typedef struct grid_numbers {
    const dtype *type; /* NULL: `value` has them */
    uint64_t place;
    bool any;
    float value[256];
} grid_numbers;

typedef struct grid {
    const char *software;
    char element[16], blocks[GRID_TEXT]; /* of codes, and what has a scale, for people */
    uint64_t rows, columns;              /* of a matrix; a tensor is some of them */
    uint64_t block[2], scales[2];        /* rows and columns: of a block, of the scales of a matrix */
    bool turned;                         /* the scales lie column by column */
    grid_codes code, zero_code;
    grid_numbers scale, zero, outer; /* outer: of 256 scales, which are codes themselves */
    float offset, factor;            /* added to the scale; and the last factor of a value */
    uint64_t outer_block, order;     /* order: where I32 say the block of each column; 0: there are none */
    const char *scale_spec;          /* of scales that are U8 */
    const dtype *result;             /* NULL: binary32 */
} grid;

/* What the parts of a tensor are called behind its name, or behind its module, where codes have a word of their own: as
 * they are read, and as layout.c writes them. NULL: there is no such part. */
typedef struct grid_names {
    const char *codes, *scale, *zero, *shape;
} grid_names;

extern const grid_names grid_scaled, grid_words, grid_inverse, grid_module;

/* The tensor of a name; NULL: there is none that could be a part. */
typedef const tensor *grid_look_up(const void *directory, const char *name);

typedef struct grid_found {
    grid *grid; /* to be freed; NULL: tensor e is no such codes */
    char *name; /* of the tensor that they make, to be freed */
    const tensor *part[GRID_MOST_PARTS];
    unsigned parts, dimensions;
    uint64_t extent[MODEL_MOST_DIMENSIONS];
    char why[2 * GRID_TEXT]; /* names fit a layout, and this it has otherwise; "": no names do */
} grid_found;

/* False where memory runs out, or the file cannot be read. */
bool grid_find(model *m, grid_look_up *look_up, const void *directory, const tensor *e, grid_found *found);
/* n elements of such a tensor from element `first` on. */
bool grid_decode(model *m, const tensor *t, uint64_t first, size_t n, float *y);
/* The number that a block's codes are multiplied by, and its zero point, of n blocks of the tensor in the order of the
 * rows. */
bool grid_scales(model *m, const tensor *t, uint64_t first, size_t n, float *scales, float *zeros);

#endif
