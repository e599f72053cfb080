/* SPDX-License-Identifier: BSD-2-Clause */
/* json.h - files of JSON, none longer than the reader wants; numbers that JSON, or jansson, has no way to write.
 *
 * An infinity or a NaN is a string: "inf", "-inf", "nan". Whole numbers have all their digits, also above 2^63 - 1, if
 * the text is made by json_to_text or json_to_shown.
 */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/trouble.h"

/* What a file has up to its end: one text of at most `most` bytes, with no name twice in an object. NULL and what is
 * wrong; the path, where it is opened here, stands before that. */
json_t *json_read(FILE *file, size_t most, trouble *why);
json_t *json_read_path(const char *path, size_t most, trouble *why);

/* NULL when memory runs out, which jansson's setters take for an error of theirs. */
json_t *json_of_double(double value);
json_t *json_of_count(uint64_t value);

/* A whole number that is not negative; else false. */
bool json_to_count(const json_t *value, uint64_t *count);
/* The same of every element of an array; of what is no array nothing. */
bool json_to_counts(const json_t *array, uint64_t *counts);

/* json_dumps, for free; NULL when memory runs out. */
char *json_to_text(const json_t *value, size_t flags);
/* The same in printable ASCII, the rest as \uXXXX, which reads back to the same: for a terminal. */
char *json_to_shown(const json_t *value, size_t flags);

#endif
