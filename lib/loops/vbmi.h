/* SPDX-License-Identifier: BSD-2-Clause */
/* vbmi.h - what is worth writing by hand for processors with AVX-512 VBMI; x86_64_v4.c makes a variant of it. */
#ifndef FPEMU_LOOPS_VBMI_H
#define FPEMU_LOOPS_VBMI_H

#include <stdint.h>

/* The words of 32 Philox counters: first the first of each, then the second, ... */
void fpemu_vbmi_philox(uint64_t seed, uint64_t stream, uint64_t counter, uint32_t *words);

#endif /* FPEMU_LOOPS_VBMI_H */
