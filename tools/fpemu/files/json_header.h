/* SPDX-License-Identifier: BSD-2-Clause */
/* json_header.h - what the JSON headers of safetensors and of packed tensors have in common. The readers set the error
 * of the model where they say so. */
#ifndef FPEMU_TOOL_JSON_HEADER_H
#define FPEMU_TOOL_JSON_HEADER_H

#include "files/model.h"

/* The next `length` bytes of the file, to be freed; NULL, with the error set. */
char *json_header_read(model *m, uint64_t length);
/* The header in them; NULL, with the error set. */
json_t *json_header_parse(model *m, const char *text, uint64_t length);
/* Keeps the metadata; false where they are not an object of strings. NULL: there are none. */
bool json_header_metadata(model *m, json_t *entry);
/* The numbers of an array that is short enough; false, with the error set, where they are not whole. */
bool json_header_extents(model *m, const json_t *shape, uint64_t extent[MODEL_MOST_DIMENSIONS]);
/* The shape of a tensor, for the header of a new file. */
json_t *json_header_shape(const tensor *t);

#endif
