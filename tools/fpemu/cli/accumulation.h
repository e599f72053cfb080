/* SPDX-License-Identifier: BSD-2-Clause */
/* accumulation.h - models of accumulation as gemm and study take them: the library's, and `blas`, whose order of
 * summation is the business of whoever wrote the BLAS. */
#ifndef FPEMU_TOOL_ACCUMULATION_H
#define FPEMU_TOOL_ACCUMULATION_H

#include <stdbool.h>
#include <stdint.h>

#include "fpemu.h"

#ifndef HAVE_CBLAS
#define HAVE_CBLAS 0
#endif
#if HAVE_CBLAS
#define ACCUMULATION_BLAS_HELP                                                                                         \
    "  blas   (plain binary32 or binary64 by the BLAS that fpemu was built with; no counters)\n"
#else
#define ACCUMULATION_BLAS_HELP ""
#endif

enum { ACCUMULATION_TEXT_SIZE = 1024 };

typedef struct accumulation {
    char text[ACCUMULATION_TEXT_SIZE]; /* canonical */
    fpemu_gemm_spec spec;              /* not for blas */
    bool blas;
} accumulation;

/* Reads a model; a usage error that says where it went wrong. Stochastic roundings get the seed, and streams of their
 * own. */
accumulation accumulation_read(const char *text, bool binary64, uint64_t seed);
/* C = op(A) op(B), row-major, without gaps; ends the program if the library refuses. */
void accumulation_gemm_f32(const accumulation *m, const fpemu_gemm_shape *shape, const float *a, const float *b,
                           float *c, fpemu_stats *stats);
void accumulation_gemm_f64(const accumulation *m, const fpemu_gemm_shape *shape, const double *a, const double *b,
                           double *c, fpemu_stats *stats);

#endif
