/* SPDX-License-Identifier: BSD-2-Clause */
/* shown.h - text of others on a terminal: a part of it that a line holds, without what drives a terminal. */
#ifndef COMMON_SHOWN_H
#define COMMON_SHOWN_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { SHOWN_WIDTH = 60, SHOWN_SIZE = SHOWN_WIDTH + 8 };

/* The text, or of a long one some SHOWN_WIDTH characters, the one at `place` among them, with "..." for the rest. */
const char *shown(const char *text, size_t place, char out[SHOWN_SIZE]);
/* Control characters become '?', in place, also those of two bytes that some terminals obey, those that turn the order
 * of a line (U+202E and its like), and bytes that are no UTF-8: no argument or file can forge lines or drive a
 * terminal. Other text stays, in every locale. */
void shown_controls(char *text);
/* The same while it is written, of any length. */
void shown_put(FILE *out, const char *text);
/* How many bytes the character has that begins here, before the text's end, and whether it stays as it is. */
size_t shown_character(const char *text, bool *is_text);

/* A message as printf makes it, of any length. Of what stands in quotes in it SHOWN_WIDTH characters stay, of a word
 * such as a path SHOWN_WORD, with "..." in the middle, and all of it is cut so to the size: what comes behind is seen.
 */
enum { SHOWN_WORD = 240 };
#if defined(__GNUC__)
__attribute__((format(printf, 3, 0)))
#endif
void shown_message(char *out, size_t size, const char *format, va_list arguments);

#endif
