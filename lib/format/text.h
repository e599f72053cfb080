/* SPDX-License-Identifier: BSD-2-Clause */
/* text.h - characters and words of specs, and the error that says where one went wrong. */
#ifndef FPEMU_FORMAT_TEXT_H
#define FPEMU_FORMAT_TEXT_H

#include "fpemu.h"

#define FPEMU_SPEC_LENGTH 255 /* longest text that is read */

/* ASCII only, whatever the locale. */
int fpemu_is_space(char c);
int fpemu_is_word(char c);
static inline int fpemu_is_digit(char c)
{
    return c >= '0' && c <= '9';
}
static inline char fpemu_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}
/* 1 if the `length` bytes at `text` spell the lower-case `word`, in any case. */
int fpemu_word_is(const char *text, size_t length, const char *word);
/* Length of a text, FPEMU_SPEC_LENGTH + 1 for all that are too long. */
size_t fpemu_spec_length(const char *text);

/* Fills `error` (may be NULL): what stands at `position`, and what was expected. Returns FPEMU_ERROR_SPEC. */
fpemu_status fpemu_spec_error(fpemu_parse_error *error, const char *text, size_t length, size_t position,
                              const char *expected);

/* The same with what may have been meant: "found 'fp4', did you mean e2m1?". */
fpemu_status fpemu_spec_hint(fpemu_parse_error *error, const char *text, size_t length, size_t position,
                             const char *meant);

#endif /* FPEMU_FORMAT_TEXT_H */
