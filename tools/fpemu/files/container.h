/* SPDX-License-Identifier: BSD-2-Clause */
/* container.h - packed tensors in a file; doc/container.md describes it byte by byte.
 *
 * A tensor of it has either a spec and an axis, and its data are the bytes of fpemu_pack; or neither, and its data are
 * as they came, little-endian. A checksum follows the data of every tensor and is checked when they have been read.
 */
#ifndef FPEMU_TOOL_CONTAINER_H
#define FPEMU_TOOL_CONTAINER_H

#include "files/model.h"

#define CONTAINER_MAGIC_SIZE 8
extern const unsigned char container_magic[CONTAINER_MAGIC_SIZE];

/* Fills in the list of tensors. */
bool container_open(model *m);
/* The checksum after the data of a tensor, which come next in the file. */
bool container_check(model *m);

/* What is said of one tensor. */
typedef struct container_entry {
    const char *dtype; /* of the tensor before it was packed, as in safetensors */
    const char *spec;  /* NULL: not packed */
    int axis;
    uint64_t bytes; /* of the data */
} container_entry;

/* Everything before the data, for a file with the names and shapes of `count` tensors of `m` from number `first` on;
 * entries[i] is of tensor i of the model. To be freed; NULL when memory runs out. */
unsigned char *container_print(const model *m, size_t first, size_t count, json_t *metadata,
                               const container_entry *entries, size_t *size);
/* The checksum of more bytes, from 0. */
uint32_t container_crc(uint32_t crc, const void *bytes, size_t size);
/* What follows `bytes` of data: the checksum and zeros up to where the next data begin, none after the last. */
#define CONTAINER_TAIL_SIZE 68
size_t container_tail(unsigned char tail[CONTAINER_TAIL_SIZE], uint32_t crc, uint64_t bytes, bool last);

/* Of a packed tensor, its format and shape; false where they make no sense. */
bool container_format(const tensor *t, fpemu_format *format, fpemu_shape *shape);

#endif
