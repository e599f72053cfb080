/* SPDX-License-Identifier: BSD-2-Clause */
/* x86_64_v4.c - the loops for x86-64-v4 (AVX-512). */
#include "unfortified.h"

#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512VL__) || !defined(__AVX512CD__)
#error "x86_64_v4.c is compiled with -march=x86-64-v4"
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
