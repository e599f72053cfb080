/* SPDX-License-Identifier: BSD-2-Clause */
/* portable_f64.c - the loops of binary64 without any assumption on the processor. */
#define PART 64
#include "portable.c"
