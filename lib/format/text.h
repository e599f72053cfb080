/* SPDX-License-Identifier: BSD-2-Clause */
/* text.h - characters and words of specs, the reader that takes them, and the error that says where one went wrong. */
#ifndef FPEMU_FORMAT_TEXT_H
#define FPEMU_FORMAT_TEXT_H

#include "parameters.h"

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

typedef struct reader {
    const char *text;
    size_t length, at;
    size_t place[FPEMU_PARAMETER_COUNT]; /* where each parameter was given */
    uint32_t given;                      /* which were, as a mask */
    size_t start;                        /* of the name: where to point for parameters that were not given */
    int nested;                          /* an element or a scale within a call: a scalar format */
    int (*read_scalar)(struct reader *r, fpemu_format *f); /* reads such a one */
    fpemu_status status;                                   /* of what fails */
    fpemu_parse_error *error;
} reader;

/* All readers return 1, or 0 after an error was stored. */
static inline int fail(reader *r, size_t position, const char *expected)
{
    fpemu_spec_error(r->error, r->text, r->length, position, expected);
    return 0;
}

static inline char peek(const reader *r)
{
    return r->at < r->length ? r->text[r->at] : '\0';
}

static inline void skip_space(reader *r)
{
    while (r->at < r->length && fpemu_is_space(r->text[r->at]))
        r->at++;
}

/* Takes the punctuation c, white space around it included, if it stands next. */
static inline int take(reader *r, char c)
{
    skip_space(r);
    if (peek(r) != c)
        return 0;
    r->at++;
    skip_space(r);
    return 1;
}

/* Takes a word; its length, 0 if there is none. */
static inline size_t take_word(reader *r)
{
    const size_t start = r->at;
    while (r->at < r->length && fpemu_is_word(r->text[r->at]))
        r->at++;
    return r->at - start;
}

/* Digits of a number, from *at on, as far as they go below 10^12: that is beyond every range. */
static inline int64_t take_digits(const reader *r, size_t *at)
{
    int64_t value = 0;
    for (; *at < r->length && fpemu_is_digit(r->text[*at]); ++*at)
        if (value < INT64_C(1000000000000))
            value = value * 10 + (r->text[*at] - '0');
    return value;
}

#endif /* FPEMU_FORMAT_TEXT_H */
