/* SPDX-License-Identifier: BSD-2-Clause */
/* spec_reader.h - how specs are read and written: what spec.c and, for the calls of blocked formats, spec_blocks.c
 * need. */
#ifndef FPEMU_FORMAT_SPEC_READER_H
#define FPEMU_FORMAT_SPEC_READER_H

#include "decimal.h"
#include "parameters.h"
#include "text.h"

#include "core/port.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static inline int fail_problem(reader *r, const fpemu_problem *problem)
{
    size_t position = r->start;
    for (int i = 0; i < FPEMU_PARAMETER_COUNT; i++)
        if (problem->parameters & r->given & 1u << i)
            position = r->place[i] > position ? r->place[i] : position;
    return fail(r, position, problem->expected);
}

static inline void note_place(reader *r, uint32_t parameter, size_t place)
{
    r->place[core_log2_32(parameter)] = place;
    r->given |= parameter;
}

static inline int take_integer(reader *r, int64_t *value)
{
    size_t at = r->at;
    const int minus = peek(r) == '-';
    at += minus || peek(r) == '+';
    if (at >= r->length || !fpemu_is_digit(r->text[at]))
        return fail(r, at, "a whole number");
    *value = take_digits(r, &at);
    *value = minus ? -*value : *value;
    r->at = at;
    return 1;
}

static inline int take_decimal(reader *r, double *value)
{
    size_t at = r->at, digits = 0;
    for (; at < r->length && fpemu_is_digit(r->text[at]); at++)
        digits++;
    if (at < r->length && r->text[at] == '.')
        for (at++; at < r->length && fpemu_is_digit(r->text[at]); at++)
            digits++;
    if (digits == 0)
        return fail(r, at, "a positive decimal number");
    if (at < r->length && fpemu_lower(r->text[at]) == 'e') {
        at++;
        at += at < r->length && (r->text[at] == '-' || r->text[at] == '+');
        if (at >= r->length || !fpemu_is_digit(r->text[at]))
            return fail(r, at, "the digits of an exponent");
        while (at < r->length && fpemu_is_digit(r->text[at]))
            at++;
    }
    *value = fpemu_decimal_read(r->text + r->at, at - r->at);
    r->at = at;
    return 1;
}

/* One of the words of a list that ends with NULL; its index. */
static inline int take_choice(reader *r, const char *const *words, const char *expected, int64_t *index)
{
    const size_t start = r->at, length = take_word(r);
    for (int i = 0; words[i]; i++)
        if (fpemu_word_is(r->text + start, length, words[i])) {
            *index = i;
            return 1;
        }
    return fail(r, start, expected);
}

/* ----------------------------------------------------------------------------------------------------- calls */

enum argument_type { INTEGER, DECIMAL, SPECIALS, DOMAIN, FLAG, ELEMENT, TABLE, BLOCK, RULE, RATIO, OUTER, SPAN, NORM };

typedef struct argument {
    const char *name; /* NULL ends a list */
    uint32_t parameter;
    enum argument_type type;
    int optional;
} argument;

enum call_kind {
    CALL_FLOAT,
    CALL_LEE,
    CALL_P3109,
    CALL_FIXED,
    CALL_UFIXED,
    CALL_INT,
    CALL_UINT,
    CALL_POSIT,
    CALL_TABLE,
    CALL_BLOCKED
};

#define MAX_ARGUMENTS 13

typedef struct call {
    const char *name;
    enum call_kind kind;
    argument arguments[MAX_ARGUMENTS + 1];
} call;

typedef struct value {
    int64_t number;
    double decimal;
    uint32_t rows, length; /* a block shape; rows: what the number of a fraction is divided by, 0 where it is whole */
    fpemu_format format;   /* an element, a table, a scale */
} value;

/* ---------------------------------------------------------------------------------------------------- writer */

/* Text that grows within a buffer that is large enough for every spec. */
typedef struct writer {
    void (*write_format)(struct writer *w, const fpemu_format *f); /* any complete format but a caller's table */
    char text[FPEMU_SPEC_LENGTH + 1];
    size_t length;
} writer;

static inline void write_text(writer *w, const char *text)
{
    const size_t n = strlen(text);
    assert(w->length + n < sizeof w->text);
    memcpy(w->text + w->length, text, n + 1);
    w->length += n;
}

/* before number */
static inline void write_number(writer *w, const char *before, int64_t number)
{
    char digits[24];
    write_text(w, before);
    snprintf(digits, sizeof digits, "%lld", (long long)number);
    write_text(w, digits);
}

/* Numbers that do not fit become numbers that are refused. */
static inline uint32_t to_unsigned(int64_t x)
{
    return x < 0 || x > INT32_MAX ? UINT32_MAX : (uint32_t)x;
}

static inline int32_t to_signed(int64_t x)
{
    return x > INT32_MAX ? INT32_MAX : x <= INT32_MIN ? INT32_MIN + 1 : (int32_t)x;
}

#endif /* FPEMU_FORMAT_SPEC_READER_H */
