/* SPDX-License-Identifier: BSD-2-Clause */
/* must.h - a call of the CUDA runtime that a test cannot do without. */
#ifndef TEST_MUST_H
#define TEST_MUST_H

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

static inline void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

#endif
