/* SPDX-License-Identifier: BSD-2-Clause */
/* clock.c - see clock.h */
#include "common/system.h"

#include "common/clock.h"

#include <time.h>

double clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
