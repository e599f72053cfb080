/* SPDX-License-Identifier: BSD-2-Clause */
/* x86_64_v4_f64.c - the loops of binary64 for x86-64-v4. */
#define PART 64
#include "x86_64_v4.c"
