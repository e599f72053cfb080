/* SPDX-License-Identifier: BSD-2-Clause */
/* schedule.c - see schedule.h */
#include "run/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "30,60": how many of these numbers have come; -1 where it is no list of numbers. */
static int steps_passed(const char *list, uint64_t now)
{
    int passed = 0;
    for (const char *at = list;; at++) {
        char *end;
        const long long step = strtoll(at, &end, 10);
        if (*at < '0' || *at > '9' || (*end != ',' && *end != '\0'))
            return -1;
        passed += now >= (uint64_t)step;
        if (*end == '\0')
            return passed;
        at = end;
    }
}

/* What the rate is multiplied by where `passed` of `all` have passed after a warm-up of `before`; -1: no schedule. */
static double factor_of(const char *name, uint64_t now, uint64_t before, uint64_t all)
{
    const double rest = all > before ? (double)(all - before) : 0, passed = (double)now - (double)before;
    const double share = rest > 0 ? passed / rest : 0;
    if (!strcmp(name, "constant"))
        return 1;
    if (!strcmp(name, "cosine"))
        return (1 + cos(3.141592653589793 * share)) / 2;
    if (!strcmp(name, "linear"))
        return 1 - share;
    if (!strcmp(name, "rsqrt")) {
        const double warm = before > 0 ? (double)before : 1;
        return sqrt(warm / (warm + passed));
    }
    if (!strncmp(name, "step:", 5) && steps_passed(name + 5, now) >= 0)
        return pow(0.1, steps_passed(name + 5, now));
    return -1;
}

bool schedule_check(const schedule *s, trouble *why)
{
    if (factor_of(s->name, 0, 0, 1) < 0)
        return fail(why, "no schedule is called '%s' (constant, step:EPOCH,EPOCH,..., cosine, linear, rsqrt)", s->name);
    if (s->warmup > 0 && s->warmup_steps > 0)
        return fail(why, "the rate grows over epochs or over steps, not both: train.warmup or train.warmup_steps");
    if (s->start > 0 && s->warmup_steps == 0)
        return fail(why, "the first rate of a warm-up needs its steps: train.warmup_steps");
    return true;
}

double schedule_rate(const schedule *s, uint64_t epoch, uint64_t step)
{
    if (epoch < s->warmup)
        return s->lr * (double)(epoch + 1) / (double)(s->warmup + 1);
    if (step < s->warmup_steps)
        return s->start + (s->lr - s->start) * ((double)step / (double)s->warmup_steps);
    if (!s->by_step)
        return s->lr * factor_of(s->name, epoch, s->warmup, s->epochs);
    const uint64_t before = s->warmup * s->steps + s->warmup_steps;
    return s->lr * factor_of(s->name, step, before, s->epochs * s->steps);
}
