/* SPDX-License-Identifier: BSD-2-Clause */
/* overflow.c - the five values and parameters of which, at some step, the largest shares lay out of range: what
 * promotion looks at, and how a run diverges for want of range.
 */
#include <stddef.h>
#include <string.h>

#include "report/chart.h"
#include "report/views.h"

enum { MOST = 5 };

static const chart look = {
    .title = "Share out of range: the five tensors with the largest", .place = offsetof(run, outside), .percent = true};

static double peak(const track *t)
{
    double most = 0;
    for (size_t i = 0; i < t->outside_share.count; i++)
        most = t->outside_share.y[i] > most ? t->outside_share.y[i] : most;
    return most;
}

/* Each as a run that has its name and this curve alone, by decreasing peak; of equal ones the first of the log. */
static int choose(const run *r, run line[MOST])
{
    double peaks[MOST];
    int count = 0;
    for (size_t i = 0; i < r->track_count; i++) {
        const track *t = &r->tracks[i];
        const double own = peak(t);
        int at = count;
        if (own <= 0 || (strcmp(t->role, "v") != 0 && strcmp(t->role, "w") != 0))
            continue;
        while (at > 0 && peaks[at - 1] < own)
            at--;
        if (at == MOST)
            continue;
        count += count < MOST;
        memmove(&line[at + 1], &line[at], (size_t)(count - 1 - at) * sizeof *line);
        memmove(&peaks[at + 1], &peaks[at], (size_t)(count - 1 - at) * sizeof *peaks);
        line[at] = (run){.name = t->name, .outside = t->outside_share};
        peaks[at] = own;
    }
    return count;
}

bool has_overflows(const run *r)
{
    run line[MOST];
    return choose(r, line) > 0;
}

void overflows_write(FILE *out, const run *r)
{
    run line[MOST];
    chart_write(out, &look, &(curves){.count = choose(r, line), .run = line});
}
