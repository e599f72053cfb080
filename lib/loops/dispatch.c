/* SPDX-License-Identifier: BSD-2-Clause */
/* dispatch.c - which instruction set's loops run. Compiled without any of their flags: it must run everywhere. */
#ifdef HAVE_CONFIG_H
#include "variants.h"
#endif

#include <stdatomic.h>
#include <stdlib.h>

#include "loops.h"

#ifndef FPEMU_HAVE_V3
#define FPEMU_HAVE_V3 0
#endif
#ifndef FPEMU_HAVE_V4
#define FPEMU_HAVE_V4 0
#endif

/* Best first; the portable loops are always there. */
static const kernels *const variants[] = {
#if FPEMU_HAVE_V4
    &fpemu_kernels_v4,
#endif
#if FPEMU_HAVE_V3
    &fpemu_kernels_v3,
#endif
    &fpemu_kernels_portable,
};

#define VARIANTS (sizeof variants / sizeof variants[0])

/* every thread would choose the same, so a race is harmless */
static _Atomic(const kernels *) chosen;
static atomic_int at_run_time;

/* Apart: with it, every call would save what registers this uses. */
static __attribute__((noinline)) const kernels *choose(void)
{
    static const char prefix[] = "general-"; /* for tests: the set that follows, without the kernel's rows */
    const char *forced = getenv("FPEMU_VARIANT");
    const int general = forced && strncmp(forced, prefix, sizeof prefix - 1) == 0;
    if (general)
        forced += sizeof prefix - 1;
    const kernels *k = NULL;
    for (size_t i = 0; i < VARIANTS && !k; i++)
        if (forced && strcmp(forced, variants[i]->name) == 0 && variants[i]->valid())
            k = variants[i];
    for (size_t i = 0; !k; i++)
        if (i + 1 == VARIANTS || variants[i]->valid())
            k = variants[i];
    atomic_store_explicit(&at_run_time, general, memory_order_relaxed);
    atomic_store_explicit(&chosen, k, memory_order_release);
    return k;
}

const kernels *fpemu_kernels(void)
{
    const kernels *k = atomic_load_explicit(&chosen, memory_order_acquire);
    return k ? k : choose();
}

int fpemu_choices_at_run_time(void)
{
    return atomic_load_explicit(&at_run_time, memory_order_relaxed);
}

const char *fpemu_variant(void)
{
    return fpemu_kernels()->name;
}

const char *fpemu_variant_available(unsigned i)
{
    for (size_t v = 0; v < VARIANTS; v++)
        if (variants[v]->valid() && i-- == 0)
            return variants[v]->name;
    return NULL;
}
