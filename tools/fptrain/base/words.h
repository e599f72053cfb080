/* SPDX-License-Identifier: BSD-2-Clause */
/* words.h - what stands in options, settings and tables: numbers, patterns of names, fields of CSV. */
#ifndef FPTRAIN_BASE_WORDS_H
#define FPTRAIN_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The whole text as a number from low to high; else false, and *x is as it was. */
bool number_real(const char *text, double low, double high, double *x);
bool number_whole(const char *text, uint64_t low, uint64_t high, uint64_t *x); /* digits alone */
/* The fewest digits, `least` or more, that read back to the same finite number. */
enum { NUMBER_TEXT = 32 };
const char *number_print(char text[NUMBER_TEXT], int least, double x);

/* Patterns with commas between. Where to begin; NULL: the text is NULL or empty, and has no pattern. */
const char *patterns_begin(const char *text);
/* Copies the next pattern, and goes on behind it; false past the last one. Two commas have an empty one between them,
 * which fits no name. */
bool patterns_next(const char **rest, char *one, size_t size);
/* Whether one of them fits the name, as fnmatch has it. */
bool patterns_fit(const char *text, const char *name);

/* Text of others as a field of comma-separated values, in quotes where RFC 4180 wants them. What is no UTF-8 would stop
 * a reader: it becomes '?', and on a terminal so does what drives one. */
void csv_put_field(FILE *out, const char *text);

#endif
