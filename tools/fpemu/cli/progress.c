/* SPDX-License-Identifier: BSD-2-Clause */
/* progress.c - see progress.h */
#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "common/clock.h"

static bool visible; /* there is one terminal, so one bar */

progress progress_start(const char *label, uint64_t total)
{
    progress p = {.label = label, .total = total, .terminal = isatty(STDERR_FILENO) != 0};
    p.started = p.drawn = p.terminal ? clock_seconds() : 0;
    return p;
}

static void draw(const progress *p, double elapsed)
{
    static const char full[] = "##############################";
    enum { WIDTH = sizeof full - 1 };
    if (p->total == 0) {
        fprintf(stderr, "\r%s %" PRIu64 "  %.0f s", p->label, p->done, elapsed);
        return;
    }
    const double share = (double)p->done / (double)p->total;
    const int filled = share < 1 ? (int)(share * WIDTH) : WIDTH;
    char left[CLOCK_TEXT];
    fprintf(stderr, "\r%s [%.*s%*s] %3d %%  %s left   ", p->label, filled, full, WIDTH - filled, "", (int)(100 * share),
            clock_print(left, share > 0 ? elapsed / share - elapsed : 0.0));
}

void progress_advance(progress *p, uint64_t steps)
{
    p->done += steps;
    if (!p->terminal)
        return;
    const double time = clock_seconds();
    if (time - p->started > 0.5 && time - p->drawn > 0.1) {
        draw(p, time - p->started);
        p->drawn = time;
        visible = true;
    }
}

void progress_hide(void)
{
    if (visible) {
        fputs("\r\033[K", stderr);
        visible = false;
    }
}
