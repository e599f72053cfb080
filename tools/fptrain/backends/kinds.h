/* SPDX-License-Identifier: BSD-2-Clause */
/* kinds.h - one maker for each backend; backends.h finds them by name. */
#ifndef FPTRAIN_BACKENDS_KINDS_H
#define FPTRAIN_BACKENDS_KINDS_H

#include "engine/backend.h"

/* NULL and a sentence where it cannot be. model: what follows "emulated:". */
backend *backend_blas(trouble *why);
backend *backend_onednn(trouble *why);
backend *backend_emulated(const char *model, trouble *why);
backend *backend_exact(const char *option, trouble *why); /* "" or "saturate" */

#endif
