/* SPDX-License-Identifier: BSD-2-Clause */
/* shown.c - see shown.h */
#include "common/shown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"

/* Ends a line as a newline does, or turns the order of what follows: Unicode's Bidi_Control and separators. */
static bool is_format_control(uint32_t code)
{
    return code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

size_t shown_character(const char *text, bool *is_text)
{
    uint32_t code;
    const int length = utf8_decode((const unsigned char *)text, strnlen(text, 4), &code);
    *is_text = length > 0 && code >= 0x20 && (code < 0x7f || code > 0x9f) && !is_format_control(code);
    return length > 0 ? (size_t)length : 1;
}

void shown_controls(char *text)
{
    bool is_text;
    for (char *c = text; *c != '\0';) {
        const size_t length = shown_character(c, &is_text);
        if (!is_text)
            memset(c, '?', length);
        c += length;
    }
}

void shown_put(FILE *out, const char *text)
{
    bool is_text;
    for (const char *c = text; *c != '\0';) {
        const size_t length = shown_character(c, &is_text);
        fwrite(is_text ? c : "????", 1, length, out);
        c += length;
    }
}

static bool is_inside_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* No character of several bytes is cut in its middle: its start, or what follows it, is up to three bytes away. Where
 * neither is there it is no text, which may be cut anywhere. */
static size_t edge_of_character(const char *line, size_t at, int step)
{
    size_t edge = at;
    for (int i = 0; i < 3 && is_inside_character(line[edge]); i++)
        edge = step > 0 ? edge + 1 : edge - 1;
    return is_inside_character(line[edge]) ? at : edge;
}

const char *shown(const char *text, size_t place, char out[SHOWN_SIZE])
{
    const size_t length = strlen(text);
    const size_t wanted = place < SHOWN_WIDTH * 3 / 4 ? 0 : place - SHOWN_WIDTH / 2;
    const size_t last = length > SHOWN_WIDTH ? length - SHOWN_WIDTH : 0;
    const size_t from = edge_of_character(text, wanted < last ? wanted : last, 1);
    const size_t end = length - from < SHOWN_WIDTH ? length : edge_of_character(text, from + SHOWN_WIDTH, -1);
    snprintf(out, SHOWN_SIZE, "%s%.*s%s", from > 0 ? "..." : "", (int)(end - from), text + from,
             end < length ? "..." : "");
    shown_controls(out);
    return out;
}

/* Where the quoted text ends that begins at `at`: at a quote before a blank, a mark or the end. */
static size_t end_of_quoted(const char *line, size_t at)
{
    while (line[at] != '\0' && !(line[at] == '\'' && strchr(" ,:;.)?", line[at + 1]) != NULL))
        at++;
    return at;
}

/* Takes the middle out of line[from] to line[to - 1] where that is longer than the width; gives its new end. */
static size_t cut_middle(char *line, size_t from, size_t to, size_t width)
{
    static const char dots[] = "...";
    if (to - from <= width)
        return to;
    const size_t first = edge_of_character(line, from + width * 2 / 3, -1);
    const size_t second = edge_of_character(line, to - (width - width * 2 / 3 - strlen(dots)), 1); /* it never grows */
    memcpy(line + first, dots, strlen(dots)); /* NOLINT(bugprone-not-null-terminated-result): the rest follows */
    memmove(line + first + strlen(dots), line + second, strlen(line + second) + 1);
    return first + strlen(dots) + (to - second);
}

static void cut_long(char *line)
{
    for (size_t at = 0; line[at] != '\0';) {
        if (line[at] == '\'' && (at == 0 || strchr(" (=:", line[at - 1]) != NULL)) {
            at = cut_middle(line, at + 1, end_of_quoted(line, at + 1), SHOWN_WIDTH + 6); /* as shown leaves it */
            at += line[at] == '\'';
        } else if (line[at] == ' ') {
            at++;
        } else {
            const size_t length = strcspn(line + at, " ");
            at = cut_middle(line, at, at + length, SHOWN_WORD);
        }
    }
}

void shown_message(char *out, size_t size, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(out, size, format, arguments);
    char *whole = length > 0 ? malloc((size_t)length + 1) : NULL;
    if (whole != NULL) {
        vsnprintf(whole, (size_t)length + 1, format, again);
        cut_long(whole);
        cut_middle(whole, 0, strlen(whole), size - 1);
        snprintf(out, size, "%s", whole);
    }
    va_end(again);
    free(whole);
}
