/* model.h - files of named tensors, read one tensor after the other in bounded memory.
 *
 *   raw           numbers without a header
 *   .npy          one array without a name (npy.h)
 *   .npz          a zip archive of .npy files, stored or deflated; members of other kinds count as tensors of no type
 *   .safetensors  a JSON header, then the data (safetensors.h)
 *   container     packed tensors (container.h); only where it is asked for
 *
 * Whatever a file says is checked before it is used. Nothing here ends the program: functions return false, and
 * `error` says why.
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
    MODEL_CONTAINER
} model_kind;

enum { MODEL_MOST_DIMENSIONS = 64 }; /* as NumPy 2 */
#define MODEL_ERROR_SIZE 256
#define MODEL_TYPE_SIZE 33

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
    char *spec;     /* container: how the data are packed, along which axis; NULL: they are not */
    int axis;
} tensor;

typedef struct model {
    model_kind kind;
    tensor *tensor; /* in the order of the data */
    size_t count;
    json_t *metadata; /* safetensors: __metadata__; or NULL */
    FILE *file;
    struct zip *zip;
    struct zip_file *member;
    bool walkable; /* no pipe */
    bool endless;  /* raw data of unknown length, from a pipe: the count of the tensor is that of what was read */
    uint64_t left; /* bytes to come of the tensor that is being read */
    uint32_t crc;  /* container: of those that came */
    bool checked;  /* what follows them has been looked at */
    char error[MODEL_ERROR_SIZE];
} model;

/* Takes the file over, also on failure. `name` is that of the file, or NULL. Raw data need the type and order. */
typedef struct model_raw {
    const dtype *type;
    bool big_endian;
} model_raw;
bool model_open(model *m, FILE *file, model_kind kind, const char *name, const model_raw *raw);
/* The data of one tensor, from its beginning; from a pipe only once. */
bool model_begin(model *m, tensor *t);
/* The next bytes: as many as asked for or as there are left; less than asked for means the end. */
bool model_read(model *m, tensor *t, void *bytes, size_t size, size_t *got);
/* `size` bytes of the data from byte `from`, all of them there, without a trace on what is read next. Only where
 * model_scattered says so: not from pipes, archives and containers. */
bool model_scattered(const model *m);
bool model_read_at(model *m, const tensor *t, uint64_t from, void *bytes, size_t size);
void model_close(model *m);

/* ".npy" and so on; MODEL_DETECT for another suffix. */
model_kind model_kind_of_name(const char *name);
const char *model_kind_name(model_kind kind);

/* For the readers: sets the error, and returns false. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
bool model_refuse(model *m, const char *format, ...);
/* Another tensor at the end of the list, all zero but its name; NULL, with the error set, when memory runs out. */
tensor *model_add(model *m, const char *name);
/* Copies the extents and sets count and bytes for elements of so many bits; false if they make more than 2^63 bytes, or
 * no whole number of them. As in NumPy, the extents other than 0 have to stay below that even in an empty array. */
bool model_set_shape(model *m, tensor *t, unsigned dimensions, const uint64_t *extent, unsigned bits);
/* Of the kinds, in files of their own: fill in the list of tensors. */
bool safetensors_open(model *m);
bool container_open(model *m);
bool container_check(model *m); /* the checksum after the data of a tensor */
bool npz_open(model *m);
bool npz_begin(model *m, const tensor *t);
/* Reads up to `size` bytes; false after an error. */
bool npz_read(model *m, void *bytes, size_t size, size_t *got);
void npz_close(model *m);

#endif
