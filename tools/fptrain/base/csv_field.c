/* SPDX-License-Identifier: BSD-2-Clause */
/* csv_field.c - see csv_field.h */
#include "base/csv_field.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "common/shown.h"
#include "common/utf8.h"

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
