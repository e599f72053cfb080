/* SPDX-License-Identifier: BSD-2-Clause */
/* tiles.h - a prepared call, tile by tile. */
#ifndef FPEMU_GEMM_TILES_H
#define FPEMU_GEMM_TILES_H

#include "call.h"

/* All tiles, on as many threads as are worth it; chooses the shape of a tile. Returns whether a NaN met the policy
 * `error`. */
int fpemu_gemm_run(gemm_call *c, fpemu_stats *stats);

#endif /* FPEMU_GEMM_TILES_H */
