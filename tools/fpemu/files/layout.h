/* SPDX-License-Identifier: BSD-2-Clause */
/* layout.h - tensors in blocks as other software keeps them in safetensors: elements, scales and what belongs to the
 * whole tensor are tensors of their own. doc/files.md has the table.
 *
 *   compressed-tensors  X_packed and X_scale, for NVFP4 X_global_scale; MXFP8: X and X_scale
 *   gpt-oss             X_blocks and X_scales, MXFP4
 *   ModelOpt            X, X_scale, X_scale_2, NVFP4
 *   torchao             A._B_qdata, A._B_scale, A._B_per_tensor_scale for a tensor A.B; the metadata say more
 *
 * Matrices with scales of the tensor, rows, groups and squares are written here and read by grid.h, which has their
 * names.
 */
#ifndef FPEMU_TOOL_LAYOUT_H
#define FPEMU_TOOL_LAYOUT_H

#include "files/grid.h"
#include "files/model.h"

/* How matrices are kept: with scales of which blocks. */
typedef struct layout_matrix {
    const char *software, *element; /* of codes */
    unsigned blocks;                /* 1 << fpemu_block, for each that there is */
    const char *scale;              /* its format */
    const grid_names *names;
    const char *elements_type, *scales_type, *zeros_type;
    bool bare;          /* the scale of a tensor has no axis */
    const char *method; /* as that of a layout */
} layout_matrix;

/* How one of these keeps one format. */
typedef struct layout {
    const char *software;
    const char *spec;                     /* what the bytes are; any rule for the scales makes such */
    unsigned block;                       /* elements of one, along a row; 0: all of them */
    unsigned bits;                        /* of an element */
    const char *elements, *elements_type; /* end of the name, type */
    const char *scales, *scales_type;
    const char *global;          /* of the number of the whole tensor, F32; NULL: there is none */
    bool global_divides;         /* it is 1/d, not d (blocks.md, 2.1) */
    bool global_is_array;        /* of one number */
    bool split;                  /* elements have an axis more: of blocks, and of the bytes of one */
    bool underscore;             /* A._B_... for a tensor A.B */
    const char *method;          /* "format" of compressed-tensors, class of torchao */
    const layout_matrix *matrix; /* NULL: there are blocks of one size, and the rest is of no use */
    fpemu_block kind;
    bool zeros; /* zero points */
} layout;

/* What the layouts are called, for messages. */
#define LAYOUT_NAMES "compressed-tensors, DeepSeek, gpt-oss, ModelOpt, torchao"

/* The formats that some software has a layout for, in words; NULL: it is not known. */
const char *layout_formats(const char *software);
/* The layout of some software for a format; NULL: it has none. Those of matrices lie in made[], which has room for one
 * more than there are, and ends where there is no software. */
const layout *layout_find(const char *software, const fpemu_format *format, layout *made);
/* Puts tensors that belong together in place of their parts. */
bool layout_join(model *m);
/* Of codes that have scales otherwise: what a layout of rows, groups and matrices (grid.h) lacks there, or where the
 * layouts are. */
#define LAYOUT_NEAREST_SIZE 512
const char *layout_nearest(model *m, const tensor *codes, char text[LAYOUT_NEAREST_SIZE]);
/* n blocks of such a tensor as numbers. */
bool layout_decode(model *m, const tensor *t, uint64_t first, size_t n, float *y);

/* The scales of n blocks, and the two numbers of the whole tensor (1 and 1: it has none). */
bool layout_scales(model *m, const tensor *t, uint64_t first, size_t n, float *scales, float whole[2]);

/* Why a tensor cannot be kept so, blocks along its last axis; NULL: it can. The second: as it is, beside those. */
const char *layout_objection(const layout *l, const tensor *t);
const char *layout_objection_to_copy(const char *software, const tensor *t);
/* Of a tensor: its number of the whole tensor among the two that fpemu_pack wrote; NULL: none. */
const unsigned char *layout_global(const layout *l, const unsigned char tensor_bytes[8]);

/* The bytes of a tensor in all, and of its zero points and shape, which come last. */
uint64_t layout_bytes(const layout *l, const tensor *t);
uint64_t layout_tail_bytes(const layout *l, const tensor *t);
/* Makes of the bytes that fpemu_pack wrote for blocks from number `block` on those of the file, in place: `scales` of
 * them, which takes as many bytes as is returned (0: memory ran out), and elements. Zero points and shape go to `tail`, of
 * zeros before. */
size_t layout_arrange(const layout *l, const tensor *t, const fpemu_layout *packed, const fpemu_shape *shape,
                      uint64_t block, unsigned char *bytes, unsigned char *tail);

/* The length and header of a file of `count` tensors from number `first` on, in which tensor i is kept as layouts[i]
 * has it (NULL: as it is; one at least of the model is not), the data of one in the order number of the whole tensor,
 * scales, elements, zero points, shape. To be freed; NULL, with *twice a tensor one of whose names would come twice, or NULL when memory
 * runs out. */
unsigned char *layout_print(const model *m, size_t first, size_t count, json_t *metadata, const layout *const *layouts,
                            size_t *size, const char **twice);
/* Of a model in parts, in which of them each name lies then; NULL as for layout_print. */
json_t *layout_weight_map(const model *m, const layout *const *layouts, const char **twice);
/* Whether config.json has to say something of it; then {"quantization_config": ...}, NULL when memory runs out. */
bool layout_has_config(const char *software);
/* Whether it has one word for all of them. */
bool layout_one_format(const char *software);
json_t *layout_config(const model *m, const layout *const *layouts);

#endif
