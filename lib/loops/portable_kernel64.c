/* SPDX-License-Identifier: BSD-2-Clause */
/* portable_kernel64.c - the kernel of binary64 without any assumption on the processor. */
#define KERNEL_PART
#include "portable_f64.c"
