/* SPDX-License-Identifier: BSD-2-Clause */
/* shown.c - see shown.h */
#include "common/shown.h"

#include <stdio.h>
#include <string.h>

void shown_clean(char *line)
{
    for (char *c = line; *c != '\0'; c++) {
        if (*c < 0x20 || *c > 0x7e) {
            *c = '?';
        }
    }
}

const char *shown(const char *text, size_t place, char out[SHOWN_SIZE])
{
    const size_t length = strlen(text);
    const size_t wanted = place < SHOWN_WIDTH * 3 / 4 ? 0 : place - SHOWN_WIDTH / 2;
    const size_t last = length > SHOWN_WIDTH ? length - SHOWN_WIDTH : 0, from = wanted < last ? wanted : last;
    const int taken = (int)(length - from < SHOWN_WIDTH ? length - from : SHOWN_WIDTH);
    snprintf(out, SHOWN_SIZE, "%s%.*s%s", from > 0 ? "..." : "", taken, text + from,
             from + (size_t)taken < length ? "..." : "");
    shown_clean(out);
    return out;
}
