/* SPDX-License-Identifier: BSD-2-Clause */
/* common.h - what every test in C has: the headers of the C library; lists of short things, which the formatter fills
 * lines with, while in braces each would stand on one of its own. */
#ifndef TESTS_COMMON_H
#define TESTS_COMMON_H

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST(...) {__VA_ARGS__}

/* Frees all of these. */
#define FREE(...) free_all((void *[]){__VA_ARGS__}, sizeof (void *[]){__VA_ARGS__} / sizeof(void *))

static inline void free_all(void *const *p, size_t n)
{
    while (n > 0)
        free(p[--n]);
}

#endif
