/* SPDX-License-Identifier: BSD-2-Clause */
/* x86_64_v4.c - the loops for x86-64-v4 (AVX-512). */
#include "unfortified.h"

#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512VL__) || !defined(__AVX512CD__)
#error "x86_64_v4.c is compiled with -march=x86-64-v4"
#endif
#ifdef HAVE_CONFIG_H
#include "variants.h"
#endif

#define KERNELS fpemu_kernels_v4
#define KERNELS_NAME "x86-64-v4"
#define KERNELS_VALID valid

#include "cpu.h"

/* The compiler's run-time asks the operating system as well as the processor. */
static inline int valid(void)
{
    return cpu_has_lzcnt() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512cd");
}

#include "variant.inc.c"

#if FPEMU_HAVE_VBMI

#include "vbmi.h"

static int valid_vbmi(void)
{
    return valid() && __builtin_cpu_supports("avx512vbmi");
}

PHILOX_SOURCE(philox_source_vbmi, fpemu_vbmi_philox)

static void philox_vbmi(uint64_t seed, uint64_t stream, int per_word, int n_bits, uint64_t first, size_t n, uint32_t *r)
{
    const word_source s = {.seed = seed,
                           .stream = stream,
                           .per_word = per_word,
                           .group = (size_t)128 << per_word,
                           .mask = (uint32_t)(~UINT64_C(0) << (32 - n_bits))};
    fill_groups(&s, philox_source_vbmi, first, n, r);
}

#if PART == 0
const kernels fpemu_vbmi = KERNELS_TABLE("x86-64-v4-vbmi", valid_vbmi, &LOOPS_OF(KERNELS, 32), philox_vbmi);
#endif

#endif
