/* SPDX-License-Identifier: BSD-2-Clause */
/* words.c - see words.h */
#include "base/words.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/shown.h"
#include "common/utf8.h"

bool number_real(const char *text, double low, double high, double *x)
{
    char *end;
    const double value = strtod(text, &end);
    if (end == text || isspace((unsigned char)*text) || *end || !(value >= low && value <= high))
        return false;
    *x = value;
    return true;
}

bool number_whole(const char *text, uint64_t low, uint64_t high, uint64_t *x)
{
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || value < low || value > high)
        return false;
    *x = value;
    return true;
}

const char *number_print(char text[NUMBER_TEXT], int least, double x)
{
    int digits = least;
    do
        snprintf(text, NUMBER_TEXT, "%.*g", digits, x);
    while (strtod(text, NULL) != x && ++digits <= 17);
    return text;
}

const char *patterns_begin(const char *text)
{
    return text && *text ? text : NULL;
}

bool patterns_next(const char **rest, char *one, size_t size)
{
    if (!*rest)
        return false;
    const size_t length = strcspn(*rest, ",");
    (void)snprintf(one, size, "%.*s", (int)length, *rest);
    *rest = (*rest)[length] ? *rest + length + 1 : NULL;
    return true;
}

bool patterns_fit(const char *text, const char *name)
{
    char one[256];
    for (const char *rest = patterns_begin(text); patterns_next(&rest, one, sizeof one);)
        if (fnmatch(one, name, 0) == 0)
            return true;
    return false;
}

void csv_put_field(FILE *out, const char *text)
{
    const bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    fputs(quoted ? "\"" : "", out);
    for (const char *c = text; *c;) {
        bool is_text;
        const size_t length = shown_character(c, &is_text);
        const bool kept = is_text || (utf8_length(c) > 0 && !isatty(fileno(out)));
        if (*c == '"')
            fputc('"', out);
        fwrite(kept ? c : "????", 1, length, out);
        c += length;
    }
    fputs(quoted ? "\"" : "", out);
}
