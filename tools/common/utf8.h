/* SPDX-License-Identifier: BSD-2-Clause */
/* utf8.h - characters in UTF-8, as RFC 3629 has it: no longer than needed, no surrogates. */
#ifndef COMMON_UTF8_H
#define COMMON_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UTF8_CODE_POINTS = 0x110000 };

/* How many bytes the character has that begins here, with `left` bytes from there on, at least one; *code is its
 * number. 0: none begins here. */
int utf8_decode(const unsigned char *at, size_t left, uint32_t *code);

/* How many bytes the character at the start of the text has, 1..4; 0: it begins with no valid UTF-8, or has ended. */
int utf8_length(const char *text);
/* Whether all of the text is UTF-8. */
bool utf8_is(const char *text, size_t length);

#endif
