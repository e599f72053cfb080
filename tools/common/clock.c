/* SPDX-License-Identifier: BSD-2-Clause */
/* clock.c - see clock.h */
#include "common/clock.h"

#include <stdio.h>
#include <time.h>

double clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

const char *clock_print(char text[CLOCK_TEXT], double seconds)
{
    static const struct unit {
        double seconds;
        const char *name;
    } units[] = {{86400, "days"}, {3600, "hours"}, {60, "minutes"}, {1, "s"}};
    const struct unit *u = units;
    while (u->seconds > 1 && seconds < 2 * u->seconds)
        u++;
    const double n = seconds / u->seconds;
    if (n < 10)
        snprintf(text, CLOCK_TEXT, "%.2g %s", n, u->name);
    else
        snprintf(text, CLOCK_TEXT, "%.0f %s", n, u->name);
    return text;
}
