/* SPDX-License-Identifier: BSD-2-Clause */
/* patterns.c - see patterns.h */
#include "base/patterns.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

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
