/* SPDX-License-Identifier: BSD-2-Clause */
/* model.h - named tensors in a file, or in several files that are one model: what their headers say of them, and where
 * their data lie.
 *
 * The reader of each kind of file fills it in; reader.h calls them, and shards.h reads models of several files. What a
 * file says is checked before it is used. Nothing here ends the program: functions return false, and `error` says why.
 */
#ifndef FPEMU_TOOL_MODEL_H
#define FPEMU_TOOL_MODEL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "files/dtype.h"

typedef enum model_kind {
    MODEL_DETECT = 0, /* by the content; where that leaves a doubt, by the name of the file */
    MODEL_RAW,
    MODEL_NPY,
    MODEL_NPZ,
    MODEL_SAFETENSORS,
    MODEL_GGUF,
    MODEL_CONTAINER,
    MODEL_PACKED /* to be opened: a container, or what MODEL_DETECT finds */
} model_kind;

enum { MODEL_MOST_DIMENSIONS = 64 }; /* as NumPy 2 */
#define MODEL_ERROR_SIZE 256
#define MODEL_TYPE_SIZE 33

/* Data in blocks with scales, which are read as F32 (stored.h); all zero: they are as their type says. */
typedef struct tensor_stored {
    const char *name;             /* how: "Q4_K", "mxfp4" */
    const struct ggml_type *ggml; /* of GGUF files */
    const char *software;         /* whose layout it is; NULL: of a file of its own kind */
    const struct layout *layout;  /* of safetensors, with the tensors there that make this one */
    struct grid *grid;            /* as that */
    struct tensor *part;
    unsigned parts;
    unsigned count, size; /* elements of a block, and their bytes */
    uint64_t bytes;       /* of all in the file */
} tensor_stored;

typedef struct tensor {
    char *name;                      /* UTF-8; of a member of a .npz without its ".npy"; "" where there is but one */
    const dtype *type;               /* NULL: no floating-point type, of no use but to be copied */
    char type_text[MODEL_TYPE_SIZE]; /* as the file says it */
    bool big_endian, fortran_order;
    unsigned dimensions;
    uint64_t *extent;
    uint64_t count; /* elements: the product of the extents */
    uint64_t bytes; /* size of the data, in a container as they are packed; below 2^63 */
    uint64_t place; /* offset of the data in the file; npz: number of the member */
    uint64_t skip;  /* npz: bytes of the member before the data */
    tensor_stored stored;
    char *spec; /* container: how the data are packed, along which axis; NULL: they are not */
    int axis;
    size_t part; /* of the model, where it has parts */
} tensor;

/* One of the files of a model. Its tensors lie one after the other in the list. */
typedef struct model_part {
    char *name, *path;
    size_t first, count;
    json_t *metadata; /* its own __metadata__; or NULL */
} model_part;

typedef struct model {
    model_kind kind;
    tensor *tensor; /* in the order of the data */
    size_t count;
    json_t *metadata; /* safetensors: __metadata__; of several files what they say, the first first; or NULL */
    model_part
        *part; /* the files of a model that is a directory, in the order of their names; NULL: there is but one */
    size_t parts, turned; /* turned: the one that `file` is */
    json_t *index;        /* what the index of such files says; NULL: there is none */
    char *index_name, *index_path;
    json_t *config; /* the config.json beside them, `false` where it is no JSON; or NULL */
    void *pages;    /* what grid.c read last; or NULL */
    FILE *file;
    struct npz *npz;
    bool walkable; /* no pipe */
    bool endless;  /* raw data of unknown length, from a pipe: the count of the tensor is that of what was read */
    uint64_t left; /* bytes to come of the tensor that is being read */
    uint32_t crc;  /* container: of those that came */
    bool checked;  /* what follows them has been looked at */
    char error[MODEL_ERROR_SIZE];
} model;

/* ".npy" and so on; MODEL_DETECT for another suffix. */
model_kind model_kind_of_name(const char *name);
const char *model_kind_name(model_kind kind);
/* The kind of a file that is written after the model of one of this kind. */
model_kind model_kind_written(model_kind kind);

/* For the readers: sets the error, and returns false. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
bool model_refuse(model *m, const char *format, ...);
#if defined(FPEMU_ANALYZED) /* see fail() */
#define model_refuse(...) (model_refuse(__VA_ARGS__), false)
#endif
/* Another tensor at the end of the list, all zero but its name; NULL, with the error set, when memory runs out. */
tensor *model_add(model *m, const char *name);
/* Moves the tensors of another model to the end of the list, as those of part `part`. */
bool model_move(model *m, model *from, size_t part);
/* Copies the extents and sets count and bytes for elements of so many bits; false if they make more than 2^63 bytes, or
 * no whole number of them. As in NumPy, the extents other than 0 have to stay below that even in an empty array. */
bool model_set_shape(model *m, tensor *t, unsigned dimensions, const uint64_t *extent, unsigned bits);
/* The type for people, that of blocks where they are read as F32; the bytes in the file, and the bits an element takes
 * there, with its scales. */
const char *model_type_text(const tensor *t);
uint64_t model_bytes(const tensor *t);
double model_type_bits(const tensor *t);
/* Says before the error which tensor or member it is about; returns false. */
bool model_blame(model *m, const char *what, const char *name);
/* Whether no two tensors have one name; else `*twice` is such a name, or NULL when memory runs out. */
bool model_names_differ(const model *m, const char **twice);
void model_free(model *m);

#endif
