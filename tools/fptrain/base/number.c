/* SPDX-License-Identifier: BSD-2-Clause */
/* number.c - see number.h */
#include "base/number.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

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
