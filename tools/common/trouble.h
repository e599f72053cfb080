/* SPDX-License-Identifier: BSD-2-Clause */
/* trouble.h - how a function that does not end the program tells what went wrong. */
#ifndef COMMON_TROUBLE_H
#define COMMON_TROUBLE_H

#include <stdbool.h>

/* A sentence about what is wrong with a file or an option, for functions that return false and change nothing. */
typedef struct trouble {
    char text[512];
} trouble;

/* Writes the sentence; returns false, so that `return fail(why, ...)` reads well. why may be NULL. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
bool fail(trouble *why, const char *format, ...);

/* For what reads one source file at a time (make check-analyzed). */
#if defined(FPEMU_ANALYZED)
#define fail(...) (fail(__VA_ARGS__), false)
#endif

#endif
