/* SPDX-License-Identifier: BSD-2-Clause */
/* safetensors.h - the header of .safetensors files.
 *
 *   length   8 bytes, little-endian
 *   header   JSON, padded with spaces: {"__metadata__": {"key": "text"},
 *            "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
 *   data     elements little-endian, in the order of the last axis first; offsets count from here
 *
 * As the format demands, names are unique, data neither overlap nor leave gaps, and the file ends with them. Types that
 * are no floating-point numbers of a byte or more are passed over, unknown ones too.
 */
#ifndef FPEMU_TOOL_SAFETENSORS_H
#define FPEMU_TOOL_SAFETENSORS_H

#include "files/model.h"

enum { SAFETENSORS_LONGEST_HEADER = 100000000 }; /* as the format's own library */

/* Fills in the list of tensors. */
bool safetensors_open(model *m);

/* The length and header of a file with `count` tensors of `m` from number `first` on, tensor i with the type types[i]
 * (NULL: as it is). To be freed; NULL when memory runs out. */
unsigned char *safetensors_print(const model *m, size_t first, size_t count, json_t *metadata,
                                 const dtype *const *types, size_t *size);
/* The same for a header that is made already. */
unsigned char *safetensors_frame(const json_t *header, size_t *size);

#endif
