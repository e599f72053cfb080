/* SPDX-License-Identifier: BSD-2-Clause */
/* vbmi.h - the few loops that are worth writing by hand, for processors with AVX-512 VBMI; x86_64_v4.c makes a
 * variant of them. */
#ifndef FPEMU_LOOPS_VBMI_H
#define FPEMU_LOOPS_VBMI_H

#include <stddef.h>
#include <stdint.h>

struct core_planes;
struct core_codebook;

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

#endif /* FPEMU_LOOPS_VBMI_H */
