/* SPDX-License-Identifier: BSD-2-Clause */
/* csv_field.c - see csv_field.h */
#include "base/csv_field.h"

#include <stdbool.h>
#include <string.h>

#include "common/utf8.h"

void csv_put_field(FILE *out, const char *text)
{
    const bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    fputs(quoted ? "\"" : "", out);
    for (const char *c = text; *c;) {
        const int length = utf8_length(c);
        if (*c == '"')
            fputc('"', out);
        fwrite(length ? c : "?", 1, length ? (size_t)length : 1, out);
        c += length ? length : 1;
    }
    fputs(quoted ? "\"" : "", out);
}
