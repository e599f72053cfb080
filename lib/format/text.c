/* SPDX-License-Identifier: BSD-2-Clause */
/* text.c - text.h. */
#include "text.h"

#include <stdio.h>

int fpemu_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

int fpemu_is_word(char c)
{
    return fpemu_is_digit(c) || (fpemu_lower(c) >= 'a' && fpemu_lower(c) <= 'z') || c == '_';
}

int fpemu_word_is(const char *text, size_t length, const char *word)
{
    for (size_t i = 0; i < length; i++)
        if (fpemu_lower(text[i]) != word[i]) /* stops at the end of `word`, since no text holds a zero */
            return 0;
    return word[length] == '\0';
}

size_t fpemu_spec_length(const char *text)
{
    size_t n = 0;
    while (n <= FPEMU_SPEC_LENGTH && text[n])
        n++;
    return n;
}

/* What stands at the position. */
static void find(char found[32], const char *text, size_t length, size_t position)
{
    const unsigned char c = position < length ? (unsigned char)text[position] : 0;
    if (position >= length) {
        snprintf(found, 32, "the end");
    } else if (c < ' ' || c > '~') {
        snprintf(found, 32, "byte \\x%02x", c);
    } else {
        size_t n = 1;
        while (n < 20 && position + n < length && (fpemu_is_word((char)c) || c == '-' || c == '+') &&
               (fpemu_is_word(text[position + n]) || text[position + n] == '.'))
            n++;
        snprintf(found, 32, "'%.*s'", (int)n, text + position);
    }
}

/* "found WHAT, " and a word before and after what was expected or meant. */
static fpemu_status store(fpemu_parse_error *error, const char *text, size_t length, size_t position,
                          const char *before, const char *what, const char *after)
{
    char found[32];
    if (!error)
        return FPEMU_ERROR_SPEC;
    find(found, text, length, position);
    error->position = (uint32_t)position;
    snprintf(error->message, sizeof error->message, "found %s, %s %s%s", found, before, what, after);
    return FPEMU_ERROR_SPEC;
}

fpemu_status fpemu_spec_error(fpemu_parse_error *error, const char *text, size_t length, size_t position,
                              const char *expected)
{
    return store(error, text, length, position, "expected", expected, "");
}

fpemu_status fpemu_spec_hint(fpemu_parse_error *error, const char *text, size_t length, size_t position,
                             const char *meant)
{
    return store(error, text, length, position, "did you mean", meant, "?");
}
