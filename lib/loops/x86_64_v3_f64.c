/* SPDX-License-Identifier: BSD-2-Clause */
/* x86_64_v3_f64.c - the loops of binary64 for x86-64-v3. */
#define PART 64
#include "x86_64_v3.c"
