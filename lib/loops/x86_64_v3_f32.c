/* SPDX-License-Identifier: BSD-2-Clause */
/* x86_64_v3_f32.c - the loops of binary32 for x86-64-v3. */
#define PART 32
#include "x86_64_v3.c"
