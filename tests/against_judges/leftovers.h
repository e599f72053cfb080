/* SPDX-License-Identifier: BSD-2-Clause */
/* leftovers.h - what earlier calls have left on the stack. */
#ifndef LEFTOVERS_H
#define LEFTOVERS_H

#include <string.h>

/* Fills what the next call has as its stack with a byte of 0 to 15, which could be a mode or a rule of it. A call that
 * uses what it has not set then goes wrong sooner or later, whatever came before it. */
__attribute__((noinline, unused)) static void leave_on_stack(unsigned long long seed)
{
    unsigned char room[160 << 10];
    memset(room, (int)(seed % 16), sizeof room);
    __asm__ volatile("" : : "r"(room) : "memory");
}

#endif
