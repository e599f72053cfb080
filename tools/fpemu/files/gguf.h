/* SPDX-License-Identifier: BSD-2-Clause */
/* gguf.h - the header of GGUF files, versions 2 and 3, little-endian (ggml's docs/gguf.md).
 *
 *   magic    "GGUF"
 *   version, how many tensors, how many keys
 *   keys     a name, a type, a value; of these only general.alignment means something here
 *   tensors  a name, extents (the fastest first), a type (ggml.h), the place of the data
 *   data     each at a multiple of the alignment, 32 unless said, where those before end
 *
 * Plain numbers are read as they are, blocks as F32 (stored.h).
 */
#ifndef FPEMU_TOOL_GGUF_H
#define FPEMU_TOOL_GGUF_H

#include "files/model.h"

/* Fills in the list of tensors. */
bool gguf_open(model *m);

#endif
