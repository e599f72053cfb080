/* SPDX-License-Identifier: BSD-2-Clause */
/* ggml.h - the block types of ggml, which GGUF files hold: how large a block is, and the numbers in it.
 *
 * Every value is that of ggml's own reference (dequantize_row_... of ggml-quants.c), in binary32, operation by
 * operation in its order: scale times code, then less or plus the minimum. Two codes differ from the standards of their
 * names, as ggml has them: a scale 0xff of MXFP4 is 2^128 and no NaN; a scale 0x7f of NVFP4 is 0.
 */
#ifndef FPEMU_TOOL_GGML_H
#define FPEMU_TOOL_GGML_H

#include <stddef.h>
#include <stdint.h>

typedef struct ggml_type {
    const char *name;
    const char *dtype;        /* as safetensors name it, of plain numbers; NULL: blocks */
    unsigned count, size;     /* elements of a block, and its bytes; 0: it is not read */
    unsigned halves, half[2]; /* how many binary16 numbers it has, and where */
    void (*decode)(const unsigned char *b, const float *halves, float *y); /* one block */
} ggml_type;

/* By the number that stands in the file; NULL where there is none. */
const ggml_type *ggml_type_numbered(uint32_t number);
/* The numbers of n blocks. */
void ggml_decode(const ggml_type *type, size_t n, const unsigned char *bytes, float *y);

#endif
