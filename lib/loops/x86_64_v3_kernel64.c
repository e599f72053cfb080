/* SPDX-License-Identifier: BSD-2-Clause */
/* x86_64_v3_kernel64.c - the kernel of binary64 for x86-64-v3. */
#define KERNEL_PART
#include "x86_64_v3_f64.c"
