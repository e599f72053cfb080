/* SPDX-License-Identifier: BSD-2-Clause */
/* reader.h - files of named tensors, read one tensor after the other in bounded memory.
 *
 *   raw           numbers without a header
 *   .npy          one array without a name (npy.h)
 *   .npz          a zip archive of .npy files, stored or deflated; members of other kinds count as tensors of no type
 *   .safetensors  a JSON header, then the data (safetensors.h); blocks in other software's layouts (layout.h)
 *   .gguf         blocks as ggml has them (gguf.h)
 *   container     packed tensors (container.h); only where it is asked for
 */
#ifndef FPEMU_TOOL_READER_H
#define FPEMU_TOOL_READER_H

#include "files/model.h"

/* Takes the file over, also on failure. `name` is that of the file, or NULL. Raw data need the type and order. */
typedef struct reader_raw {
    const dtype *type;
    bool big_endian;
} reader_raw;
bool reader_open(model *m, FILE *file, model_kind kind, const char *name, const reader_raw *raw);
/* The data of one tensor, from its beginning; from a pipe only once. */
bool reader_begin(model *m, tensor *t);
/* The next bytes: as many as asked for or as there are left; less than asked for means the end. */
bool reader_read(model *m, tensor *t, void *bytes, size_t size, size_t *got);
/* `size` bytes of the data from byte `from`, all of them there, without a trace on what is read next. Only where
 * reader_random_access says so: not from pipes, archives and containers. */
bool reader_random_access(const model *m);
bool reader_read_at(model *m, const tensor *t, uint64_t from, void *bytes, size_t size);
void reader_close(model *m);

#endif
