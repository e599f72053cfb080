/* shards.h - safetensors files in a directory that are one model.
 *
 *   DIR/model.safetensors.index.json   {"metadata": {"total_size": 8}, "weight_map": {"a": "model-00001-of-2.safetensors",
 *                                      ...}}, or another name that ends in .safetensors.index.json
 *   DIR/?*.safetensors                 all of them, where there is no index
 *
 * The index and the files have to agree: every tensor lies in the file that the index names, and in no other. Files are
 * named without a directory; they are opened one at a time. Whatever else lies in the directory is left alone.
 */
#ifndef FPEMU_TOOL_SHARDS_H
#define FPEMU_TOOL_SHARDS_H

#include "files/model.h"

/* Whether the path is that of a directory, or of an index: then shards_open is for it. */
bool shards_named(const char *path);
/* Fills in the tensors and the parts. */
bool shards_open(model *m, const char *path);
/* Makes the file of a part the one that is read. Models without parts are as they are. */
bool shards_turn_to(model *m, size_t part);
/* The index of a model whose tensors have the types types[i] (NULL: as they are), to be freed; NULL when memory runs
 * out. Other metadata stay, total_size is that of the new data. */
char *shards_print_index(const model *m, const dtype *const *types);

#endif
