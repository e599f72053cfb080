/* SPDX-License-Identifier: BSD-2-Clause */
/* x86_64_v4_kernel64.c - the kernel of binary64 for x86-64-v4. */
#define KERNEL_PART
#include "x86_64_v4_f64.c"
