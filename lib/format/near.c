/* SPDX-License-Identifier: BSD-2-Clause */
/* near.c - near.h. */
#include "near.h"

#include "named.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

int fpemu_is_near(const char *text, size_t length, const char *word)
{
    const size_t other = strlen(word);
    size_t same = 0;
    while (same < length && same < other && fpemu_lower(text[same]) == word[same])
        same++;
    if (same == length && length > 1)
        return 1;
    if (length < 2)
        return 0;
    /* from the first letter that differs on: changed, too many, missing, swapped */
    const char *const rest = text + same;
    const size_t left = length - same;
    if (left == 0 || other + 1 < length || length + 1 < other)
        return 0;
    return (other == length && fpemu_word_is(rest + 1, left - 1, word + same + 1)) ||
           (other + 1 == length && fpemu_word_is(rest + 1, left - 1, word + same)) ||
           (other == length + 1 && fpemu_word_is(rest, left, word + same + 1)) ||
           (other == length && left > 1 && fpemu_lower(rest[0]) == word[same + 1] &&
            fpemu_lower(rest[1]) == word[same] && fpemu_word_is(rest + 2, left - 2, word + same + 2));
}

/* -------------------------------------------------------------------------------------------------- a list */

void fpemu_near_add(near_list *list, const char *word)
{
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->words[i], word) == 0)
            return;
    if (list->count < 4)
        list->words[list->count++] = word;
}

const char *fpemu_near_print(const near_list *list, char text[NEAR_SIZE])
{
    size_t n = 0;
    text[0] = '\0';
    for (int i = 0; i < list->count && n < NEAR_SIZE; i++)
        n += (size_t)snprintf(text + n, NEAR_SIZE - n, "%s%s",
                              i == 0                ? ""
                              : i + 1 < list->count ? ", "
                                                    : " or ",
                              list->words[i]);
    return text;
}

/* ------------------------------------------------------------------------------------------------- formats */

/* Widths that several formats have. */
static const struct width {
    const char *words[4], *scalars, *all;
} widths[] = {
    {{"fp8", "float8", "f8", "fp8e"},
     "e4m3fn or e5m2 (OCP), e4m3fnuz or e5m2fnuz",
     "e4m3fn or e5m2 (OCP), e4m3fnuz, e5m2fnuz, mxfp8_e4m3 or mxfp8_e5m2"},
    {{"fp6", "float6", "f6", "fp6e"}, "e2m3 or e3m2", "e2m3, e3m2, mxfp6_e2m3 or mxfp6_e3m2"},
    {{"fp4", "float4", "f4", "fp4e"}, "e2m1", "e2m1, mxfp4 or nvfp4"},
};

/* posit8, posit16: the posits of the standard of 2022. */
static int read_posit(const char *word, size_t length, char text[NEAR_SIZE])
{
    const size_t prefix = strlen("posit");
    if (length <= prefix || length > prefix + 2 || !fpemu_word_is(word, prefix, "posit"))
        return 0;
    for (size_t i = prefix; i < length; i++)
        if (!fpemu_is_digit(word[i]))
            return 0;
    snprintf(text, NEAR_SIZE, "posit(%.*s,2)", (int)(length - prefix), word + prefix);
    return 1;
}

const char *fpemu_near_width(const char *word, size_t length, int scalar, char text[NEAR_SIZE])
{
    text[0] = '\0';
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        for (int k = 0; k < 4; k++)
            if (fpemu_word_is(word, length, widths[i].words[k]))
                snprintf(text, NEAR_SIZE, "%s", scalar ? widths[i].scalars : widths[i].all);
    if (!text[0])
        read_posit(word, length, text);
    return text;
}

void fpemu_near_names(near_list *list, const char *word, size_t length, int scalar)
{
    for (int name = FPEMU_NAME_NONE + 1; name < FPEMU_NAME_COUNT; name++) {
        const char *other;
        for (unsigned i = 0; (other = fpemu_format_name((fpemu_name)name, i)) != NULL; i++)
            if (!(scalar && fpemu_named_spec((fpemu_name)name)) && fpemu_is_near(word, length, other)) {
                fpemu_near_add(list, fpemu_format_name((fpemu_name)name, 0));
                break;
            }
    }
}

/* --------------------------------------------------------------------------------------------------- calls */

/* The length of an argument: up to a comma outside of parentheses, the parenthesis that closes the call, or the end. */
static size_t argument_length(const char *text, size_t length)
{
    int depth = 0;
    size_t n = 0;
    while (n < length && (depth > 0 || (text[n] != ',' && text[n] != ')'))) {
        depth += (text[n] == '(') - (text[n] == ')');
        n++;
    }
    return n;
}

/* The length of "name=" at the start of an argument; 0: it has no name. */
static size_t name_length(const char *text, size_t length)
{
    size_t n = 0;
    while (n < length && fpemu_is_word(text[n]))
        n++;
    return n < length && text[n] == '=' ? n + 1 : 0;
}

/* Whether one of the arguments has the name that `text` begins with. */
static int is_given(const char *arguments, size_t length, const char *text, size_t name)
{
    for (size_t at = 0; at < length && arguments[at] != ')';) {
        const size_t n = argument_length(arguments + at, length - at);
        const size_t own = name_length(arguments + at, n);
        if ((own == name && strncmp(arguments + at, text, name) == 0) || (own == 0 && !strncmp(text, "block=", name)))
            return 1;
        at += n + (at + n < length && arguments[at + n] == ',');
    }
    return 0;
}

/* The spec of the name, less what is given, then what is given, then the rest of the text. */
int fpemu_near_call(fpemu_name name, const char *arguments, size_t length, char call[NEAR_CALL_SIZE])
{
    const char *const spec = fpemu_named_spec(name);
    if (!spec || length > FPEMU_SPEC_LENGTH)
        return 0;
    const size_t own = strlen(spec), open = strcspn(spec, "(") + 1;
    size_t at = open + argument_length(spec + open, own - open), n = at;
    memcpy(call, spec, at);
    while (at < own && spec[at] == ',') {
        const size_t one = argument_length(spec + at + 1, own - at - 1), key = name_length(spec + at + 1, one);
        if (!is_given(arguments, length, spec + at + 1, key)) {
            memcpy(call + n, spec + at, one + 1);
            n += one + 1;
        }
        at += one + 1;
    }
    for (at = 0; at < length && arguments[at] != ')';) {
        const size_t one = argument_length(arguments + at, length - at);
        const char *const key = name_length(arguments + at, one) == 0 ? "block=" : "";
        n += (size_t)snprintf(call + n, NEAR_CALL_SIZE - n, ",%s%.*s", key, (int)one, arguments + at);
        at += one + (at + one < length && arguments[at + one] == ',');
        if (n >= NEAR_CALL_SIZE || one == 0)
            return 0;
    }
    n += (size_t)snprintf(call + n, NEAR_CALL_SIZE - n, "%.*s", (int)(length - at), arguments + at);
    return n < NEAR_CALL_SIZE;
}
