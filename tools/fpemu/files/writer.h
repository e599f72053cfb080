/* SPDX-License-Identifier: BSD-2-Clause */
/* writer.h - writes a file of tensors like another one: the same kind, names, shapes and order, in as many files. Of
 * packed tensors safetensors are made, but of one without a name a .npy file. */
#ifndef FPEMU_TOOL_WRITER_H
#define FPEMU_TOOL_WRITER_H

#include "cli/progress.h"
#include "files/file.h"
#include "files/output.h"

/* Where the data come from. Tensors are asked for one after the other, in the order of the file. */
typedef struct writer_source {
    const dtype *const *type;                        /* of each tensor in the new file; NULL: it is copied as it is */
    void (*begin)(void *state, size_t i);            /* tensor i comes next; not for those that are copied */
    size_t (*next)(void *state, const void **bytes); /* its next bytes; 0 at its end */
    progress *bar; /* counts the elements that are copied; the others the source counts */
    void *state;
} writer_source;

/* Writes the file, or the directory of files where `in` is one; `force`: also into one that is there. Ends the program
 * with an error that names the file when it fails. */
void writer_write(const char *path, bool force, file *in, const writer_source *source);
/* One file of a directory: the tensors of a part of the model, and what it says of itself. */
typedef void (*writer_part)(void *state, output *out, size_t first, size_t count, json_t *metadata);
/* Writes a directory with a file of this kind for each part of a model, and the index, which it frees (NULL: there is
 * none); the index is the last to appear. */
void writer_write_parts(const char *path, bool force, const model *m, model_kind kind, char *index, writer_part write,
                        void *state);
/* A usage error where another file of the command, of an option, is one of those that writing the model to `output`
 * makes; path may be NULL. */
void writer_refuse_same(const char *option, const char *path, const char *output, const model *m, model_kind kind);
/* Ends the program where a safetensors file has no place for a name. */
void writer_refuse_names(const file *in);
/* The header of a .npy file, for an array of little- or big-endian elements. */
void writer_npy_header(output *out, const tensor *like, const dtype *type);

#endif
