/* SPDX-License-Identifier: BSD-2-Clause */
/* lowered.h - convolutions as products of matrices. */
#ifndef FPTRAIN_BACKENDS_LOWERED_H
#define FPTRAIN_BACKENDS_LOWERED_H

#include "engine/backend.h"

/* By the backend's own gemm: fills in the functions of convolutions. */
void backend_lower(backend *b);
void backend_lower_free(backend *b); /* what that made */

#endif
