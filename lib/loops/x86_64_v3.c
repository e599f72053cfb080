/* SPDX-License-Identifier: BSD-2-Clause */
/* x86_64_v3.c - the loops for x86-64-v3 (AVX2). */
#include "unfortified.h"

#if !defined(__AVX2__) || !defined(__BMI2__) || !defined(__FMA__) || !defined(__F16C__)
#error "x86_64_v3.c is compiled with -march=x86-64-v3"
#endif
#define KERNELS fpemu_kernels_v3
#define KERNELS_NAME "x86-64-v3"
#define KERNELS_VALID valid

#include "cpu.h"

/* The compiler's run-time asks the operating system as well as the processor. */
static inline int valid(void)
{
    return cpu_has_lzcnt() && cpu_has_f16c() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("fma");
}

#include "variant.inc.c"
