/* SPDX-License-Identifier: BSD-2-Clause */
/* vbmi.h - the few loops that are worth writing by hand, for processors with AVX-512 VBMI; x86_64_v4.c makes a
 * variant of them. */
#ifndef FPEMU_LOOPS_VBMI_H
#define FPEMU_LOOPS_VBMI_H

#include <stddef.h>
#include <stdint.h>

#include "core/unpack_fast.h"

struct core_planes;
struct core_codebook;
struct core_direct32;
struct core_few;

/* y[i] = (high[c] << 24 | low[c] << 16) as bits of a float, c = codes[i]: tables of values with 16 bits at most.
 * streaming: y, at a multiple of 64, by stores that pass the caches by. */
void fpemu_vbmi_decode(const uint8_t low[256], const uint8_t high[256], size_t n, const uint8_t *codes, int streaming,
                       void *y);

/* The words of 32 Philox counters: first the first of each, then the second, ... */
void fpemu_vbmi_philox(uint64_t seed, uint64_t stream, uint64_t counter, uint32_t *words);

/* y = the values nearest to n numbers x of a table; of a NaN nan, by its sign. */
void fpemu_vbmi_codebook(const struct core_planes *p, const uint32_t nan[2], size_t n, const void *x, void *y);
/* y = the values that n numbers x go to by random bits r, p being made for the nearest values. */
void fpemu_vbmi_codebook_random(const struct core_planes *p, const struct core_codebook *table, size_t n, const void *x,
                                const uint32_t *r, void *y);
/* y = scales[b] times the values nearest to [x / down[b]] of `count` blocks of `length` finite elements; an infinite
 * product becomes the largest number. */
void fpemu_vbmi_codebook_runs(const struct core_planes *p, size_t length, size_t count, const float *down,
                              const float *scales, const void *x, void *y);

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
/* As pack_few of struct kernels, in blocks of a multiple of 64 numbers under scales that core_few_holds, by a table that
 * is_even and fused. */
void fpemu_vbmi_pack_few(const struct core_few *f, size_t length, size_t count, const float *scales, const float *x,
                         unsigned char *bytes);

#endif /* FPEMU_LOOPS_VBMI_H */
