/* SPDX-License-Identifier: BSD-2-Clause */
/* patterns.h - patterns of names with commas between, as settings have them. */
#ifndef FPTRAIN_BASE_PATTERNS_H
#define FPTRAIN_BASE_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>

/* Where to begin; NULL: the text is NULL or empty, and has no pattern. */
const char *patterns_begin(const char *text);
/* Copies the next pattern, and goes on behind it; false past the last one. Two commas have an empty one between them,
 * which fits no name. */
bool patterns_next(const char **rest, char *one, size_t size);
/* Whether one of them fits the name, as fnmatch has it. */
bool patterns_fit(const char *text, const char *name);

#endif
