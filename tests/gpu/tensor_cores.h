/* SPDX-License-Identifier: BSD-2-Clause */
/* tensor_cores.h - what mma.cu and wgmma.cu share. Operands, c and results lie in device memory: rows of a and columns
 * of b of 32 bytes, tiles of 64 x 8 outputs; c is binary32, or binary16 where `half` is set, and is overwritten. */
#ifndef TENSOR_CORES_H
#define TENSOR_CORES_H

/* The warpgroup's instruction of sm_90a; kind as in tensor_operands.h. */
void wgmma(int kind, int half, unsigned tiles, const unsigned char *d_a, const unsigned char *d_b, void *d_c);

#endif
