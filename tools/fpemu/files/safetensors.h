/* SPDX-License-Identifier: BSD-2-Clause */
/* safetensors.h - .safetensors files as models; their header is that of common/safetensors.h. Types that are no
 * floating-point numbers of a byte or more are passed over, unknown ones too. */
#ifndef FPEMU_TOOL_SAFETENSORS_H
#define FPEMU_TOOL_SAFETENSORS_H

#include "files/model.h"

/* The floating-point type of this very word; NULL: it is none. */
const dtype *safetensors_type(const char *name);
/* Fills in the list of tensors. */
bool safetensors_open(model *m);

/* Whether the header has a place for every name: `__metadata__` it keeps for itself. */
bool safetensors_takes_names(const model *m);
/* The length and header of a file with `count` tensors of `m` from number `first` on, tensor i with the type types[i]
 * (NULL: as it is). To be freed; NULL when memory runs out. */
unsigned char *safetensors_print(const model *m, size_t first, size_t count, json_t *metadata,
                                 const dtype *const *types, size_t *size);

#endif
