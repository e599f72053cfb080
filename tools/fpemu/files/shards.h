/* SPDX-License-Identifier: BSD-2-Clause */
/* shards.h - safetensors files in a directory that are one model, or files of packed tensors made of them.
 *
 *   DIR/model.safetensors.index.json   {"metadata": {"total_size": 8}, "weight_map": {"a": "model-00001-of-2.safetensors",
 *                                      ...}}, or another name that ends in .safetensors.index.json
 *   DIR/?*.safetensors                 all of them, where there is no index
 *
 * Where there are none of these, the same with .fpk for .safetensors: files of packed tensors.
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
/* Reads the config.json in a directory, or beside a file, where there is one; false where memory runs out. */
bool shards_read_config(model *m, const char *path);
/* Makes the file of a part the one that is read. Models without parts are as they are. */
bool shards_turn_to(model *m, size_t part);
/* The name of a part or an index when the parts are of this kind: .fpk for .safetensors, or the other way round. To be
 * freed; NULL when memory runs out. */
char *shards_name_as(const char *name, model_kind kind);
/* The index of a model whose parts are written as this kind, with `total` bytes of data, to be freed; NULL when memory
 * runs out. Where tensors get other names, weight_map says where they lie, else NULL. Other metadata stay. */
char *shards_print_index(const model *m, model_kind kind, uint64_t total, json_t *weight_map);

#endif
