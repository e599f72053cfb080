/* SPDX-License-Identifier: BSD-2-Clause */
/* portable_kernel32.c - the kernel of binary32 without any assumption on the processor. */
#define KERNEL_PART
#include "portable_f32.c"
