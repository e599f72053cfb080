/* SPDX-License-Identifier: BSD-2-Clause */
/* vbmi.h - the few loops that are worth writing by hand, for processors with AVX-512 VBMI; x86_64_v4.c makes a
 * variant of them. */
#ifndef FPEMU_LOOPS_VBMI_H
#define FPEMU_LOOPS_VBMI_H

#include <stddef.h>
#include <stdint.h>

#include "core/unpack_fast.h"

struct core_direct32;

/* y[i] = (high[c] << 24 | low[c] << 16) as bits of a float, c = codes[i]: tables of values with 16 bits at most.
 * streaming: y, at a multiple of 64, by stores that pass the caches by. */
void fpemu_vbmi_decode(const uint8_t low[256], const uint8_t high[256], size_t n, const uint8_t *codes, int streaming,
                       void *y);

/* The words of 32 Philox counters: first the first of each, then the second, ... */
void fpemu_vbmi_philox(uint64_t seed, uint64_t stream, uint64_t counter, uint32_t *words);

/* As unpack32 of struct kernels, of codes of 8 bits. */
void fpemu_vbmi_unpack_8(const core_unpack *u, enum unpack_type type, size_t length, size_t count,
                         const unsigned char *bytes, const float *s, float second, int tame, void *y);
/* y[i] = words high[c] << 8 | low[c], c = codes[i]. */
void fpemu_vbmi_decode_words(const uint8_t low[256], const uint8_t high[256], size_t n, const uint8_t *codes,
                             uint16_t *y);

/* As pack32 of struct kernels. */
void fpemu_vbmi_pack_4(const struct core_direct32 *d, int divide, const uint32_t *amax, size_t length, size_t count,
                       const float *down, const float *inverse, enum unpack_type type, const void *x,
                       unsigned char *bytes);
void fpemu_vbmi_pack_6(const struct core_direct32 *d, int divide, const uint32_t *amax, size_t length, size_t count,
                       const float *down, const float *inverse, enum unpack_type type, const void *x,
                       unsigned char *bytes);
void fpemu_vbmi_pack_8(const struct core_direct32 *d, int divide, const uint32_t *amax, size_t length, size_t count,
                       const float *down, const float *inverse, enum unpack_type type, const void *x,
                       unsigned char *bytes);

#endif /* FPEMU_LOOPS_VBMI_H */
