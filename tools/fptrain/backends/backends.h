/* SPDX-License-Identifier: BSD-2-Clause */
/* backends.h - the backends by name. */
#ifndef FPTRAIN_BACKENDS_BACKENDS_H
#define FPTRAIN_BACKENDS_BACKENDS_H

#include "engine/backend.h"

/* "auto" takes the first that was built in: onednn, blas. NULL and a sentence where the name is unknown or left out.
 * "emulated" takes the accumulator as in `fpemu gemm`, e.g. "emulated:fp16" (backends.c lists all). */
const backend *backend_named(const char *name, trouble *why);
void backend_free(const backend *b);

#endif
