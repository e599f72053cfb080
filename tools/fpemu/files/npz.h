/* SPDX-License-Identifier: BSD-2-Clause */
/* npz.h - zip archives of .npy files, by libzip. */
#ifndef FPEMU_TOOL_NPZ_H
#define FPEMU_TOOL_NPZ_H

#include "files/model.h"

/* Fills in the list of tensors: its members. */
bool npz_open(model *m);
/* The data of one, from its beginning. */
bool npz_begin(model *m, const tensor *t);
/* Reads up to `size` bytes; false after an error. */
bool npz_read(model *m, void *bytes, size_t size, size_t *got);
void npz_close(model *m);

#endif
