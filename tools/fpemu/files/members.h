/* SPDX-License-Identifier: BSD-2-Clause */
/* members.h - the members of a .npz archive (common/npz.h) as tensors of a model. */
#ifndef FPEMU_TOOL_MEMBERS_H
#define FPEMU_TOOL_MEMBERS_H

#include "files/model.h"

/* Fills in the list of tensors. */
bool members_open(model *m);
/* The data of one, from its beginning. */
bool members_begin(model *m, const tensor *t);
/* Reads up to `size` bytes; false after an error. */
bool members_read(model *m, void *bytes, size_t size, size_t *got);
void members_close(model *m);

#endif
