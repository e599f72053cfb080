/* SPDX-License-Identifier: BSD-2-Clause */
/* backends.h - the backends by name. */
#ifndef FPTRAIN_BACKENDS_BACKENDS_H
#define FPTRAIN_BACKENDS_BACKENDS_H

#include "engine/backend.h"

/* "auto" takes the first that was built in: onednn, blas. NULL and a sentence where the name is unknown or left out.
 * "emulated" takes the accumulator as in `fpemu gemm`, e.g. "emulated:fp16" (backends.c lists all). */
const backend *backend_named(const char *name, trouble *why);
void backend_free(const backend *b);

/* One maker for each. NULL and a sentence where it cannot be. model: what follows "emulated:". */
backend *backend_blas(trouble *why);
backend *backend_onednn(trouble *why);
backend *backend_emulated(const char *model, trouble *why);
backend *backend_exact(const char *option, trouble *why); /* "" or "saturate" */

#endif
