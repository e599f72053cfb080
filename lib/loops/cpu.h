/* SPDX-License-Identifier: BSD-2-Clause */
/* cpu.h - what the compiler's run-time cannot be asked everywhere. x86-64 only. */
#ifndef FPEMU_LOOPS_CPU_H
#define FPEMU_LOOPS_CPU_H

#include <cpuid.h>

/* Where it is missing, lzcnt silently runs as another instruction. */
static inline int cpu_has_lzcnt(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000001u, &a, &b, &c, &d) && (c & bit_LZCNT);
}

static inline int cpu_has_f16c(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

#endif /* FPEMU_LOOPS_CPU_H */
