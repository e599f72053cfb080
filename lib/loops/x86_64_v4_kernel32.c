/* SPDX-License-Identifier: BSD-2-Clause */
/* x86_64_v4_kernel32.c - the kernel of binary32 for x86-64-v4. */
#define KERNEL_PART
#include "x86_64_v4_f32.c"
