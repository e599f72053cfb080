/* SPDX-License-Identifier: BSD-2-Clause */
/* schedule.c - the learning rate of an epoch; see optimizer.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/schedule.h"

/* "30,60": how many of these epochs have come; -1 where it is no list of numbers. */
static int steps_passed(const char *list, int epoch)
{
    int passed = 0;
    for (const char *at = list;; at++) {
        char *end;
        const long step = strtol(at, &end, 10);
        if (end == at || step < 0 || (*end != ',' && *end != '\0'))
            return -1;
        passed += epoch >= step;
        if (*end == '\0')
            return passed;
        at = end;
    }
}

double schedule_lr(const char *schedule, double lr, int epoch, int epochs, int warmup, trouble *why)
{
    double factor;
    if (!strcmp(schedule, "constant")) {
        factor = 1;
    } else if (!strcmp(schedule, "cosine")) {
        const int rest = epochs - warmup;
        const double passed = rest > 0 ? (double)(epoch - warmup) / rest : 0;
        factor = (1 + cos(3.141592653589793 * passed)) / 2;
    } else if (!strncmp(schedule, "step:", 5) && steps_passed(schedule + 5, epoch) >= 0) {
        factor = pow(0.1, steps_passed(schedule + 5, epoch));
    } else {
        fail(why, "no schedule is called '%s' (constant, step:EPOCH,EPOCH,..., cosine)", schedule);
        return -1;
    }
    return epoch < warmup ? lr * (epoch + 1) / (warmup + 1) : lr * factor;
}
