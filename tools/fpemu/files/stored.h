/* SPDX-License-Identifier: BSD-2-Clause */
/* stored.h - tensors that lie in a file as blocks with scales and are read as F32: those of GGUF (ggml.h), and the
 * layouts of other software in safetensors (layout.h, grid.h). */
#ifndef FPEMU_TOOL_STORED_H
#define FPEMU_TOOL_STORED_H

#include "files/model.h"

/* `size` bytes of the little-endian F32 numbers from byte `from`, all of them there. */
bool stored_read(model *m, const tensor *t, uint64_t from, void *bytes, size_t size);
/* `size` bytes of the file as they are; or as many as there are, `least` or more. */
bool stored_bytes(model *m, uint64_t place, void *bytes, size_t size);
bool stored_some(model *m, uint64_t place, void *bytes, size_t size, size_t least);

#endif
