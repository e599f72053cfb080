/* SPDX-License-Identifier: BSD-2-Clause */
/* number.h - numbers in options and settings. */
#ifndef FPTRAIN_BASE_NUMBER_H
#define FPTRAIN_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* The whole text as a number from low to high; else false, and *x is as it was. */
bool number_real(const char *text, double low, double high, double *x);
bool number_whole(const char *text, uint64_t low, uint64_t high, uint64_t *x); /* digits alone */

#endif
