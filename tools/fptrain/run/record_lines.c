/* SPDX-License-Identifier: BSD-2-Clause */
/* record_lines.c - the part of record.h that reads a log, and needs no run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/record.h"

bool record_read_line(FILE *log, const char *path, char **text, size_t *room, size_t *length, trouble *why)
{
    int c = 0;
    *length = 0;
    while (c != '\n' && (c = getc_unlocked(log)) != EOF) {
        if (*length == *room) {
            if (*room >= RECORD_LARGEST)
                return fail(why, "%s: a line of more than %d bytes", path, RECORD_LARGEST);
            *room = *room ? 2 * *room : 1 << 12;
            char *larger = realloc(*text, *room);
            if (!larger)
                return fail(why, "%s: out of memory", path);
            *text = larger;
        }
        (*text)[(*length)++] = (char)c;
    }
    if (ferror(log))
        return fail(why, "%s: %s", path, strerror(errno));
    if (c != '\n')
        *length = 0;
    return true;
}
