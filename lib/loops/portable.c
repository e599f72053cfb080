/* SPDX-License-Identifier: BSD-2-Clause */
/* portable.c - the loops without any assumption on the processor: the reference for the other variants. */
#include "unfortified.h"

#define KERNELS fpemu_kernels_portable
#define KERNELS_NAME "portable"
#define KERNELS_VALID valid

static inline int valid(void)
{
    return 1;
}

#include "variant.inc.c"
