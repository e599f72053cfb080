/* SPDX-License-Identifier: BSD-2-Clause */
/* portable_f32.c - the loops of binary32 without any assumption on the processor. */
#define PART 32
#include "portable.c"
