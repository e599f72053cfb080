/* SPDX-License-Identifier: BSD-2-Clause */
/* events.h - what one element counts for (doc/numerics.md, 6 and 9.4): the rule that every path asks. The loops in
 * lib/loops add it up as it stands, or, where a tile holds nothing past the ends, in shorter forms beside it. */
#ifndef FPEMU_CORE_EVENTS_H
#define FPEMU_CORE_EVENTS_H

#include "exact.h"

/* What an element may count as. */
enum core_event_name {
    CORE_EVENT_NAN,
    CORE_EVENT_INFINITE,
    CORE_EVENT_CLIPPED,
    CORE_EVENT_OVERFLOW,
    CORE_EVENT_INVALID,
    CORE_EVENT_UNDERFLOW,
    CORE_EVENT_SUBNORMAL,
    CORE_EVENT_INEXACT
};

#include "carrier32.h"
#include "events.inc.h"
#include "carrier_end.h"
#include "carrier64.h"
#include "events.inc.h"
#include "carrier_end.h"

/* Events and extrema of several elements. */
typedef struct core_counts {
    uint64_t nan, infinite, clipped, overflow, invalid, underflow, subnormal, inexact;
    uint64_t min_abs, max_abs; /* bits of the carrier; min_abs 0 = none */
    double max_error;          /* in: the largest so far; out: the larger of that and the counted ones */
} core_counts;

FPEMU_FN void core_counts_add(core_counts *c, core_events64 e)
{
    c->nan += e.nan;
    c->infinite += e.infinite;
    c->clipped += e.clipped;
    c->overflow += e.overflow;
    c->invalid += e.invalid;
    c->underflow += e.underflow;
    c->subnormal += e.subnormal;
    c->inexact += e.inexact;
}

FPEMU_FN void core_counts_extend(core_counts *c, core_extent64 e)
{
    const double error = core_value64(e.error);
    c->max_abs = e.magnitude > c->max_abs ? e.magnitude : c->max_abs;
    c->min_abs = e.magnitude && (c->min_abs == 0 || e.magnitude < c->min_abs) ? e.magnitude : c->min_abs;
    c->max_error = error > c->max_error ? error : c->max_error;
}

/* Counts one result y of the exact x; g: its magnitude on the grid without ends. */
FPEMU_FN void core_count_exact(const core_plan64 *p, const core_exact *x, double y, uint64_t g, core_counts *c)
{
    const uint64_t u = core_exact_binary64(x, FPEMU_MODE_RTZ), nearest = core_exact_binary64(x, FPEMU_MODE_RNE);
    /* every result is a binary64 number: where x is none, the result differs */
    const uint64_t lost = core_exact_binary64(x, FPEMU_MODE_RAZ) != u, v = core_bits64(y), max = p->max[x->negative];
    const uint64_t past = (u & ~CORE_SIGN64) + lost > max;
    core_counts_add(c, core_events_of64(p->min_normal, u, lost, v, v, past, g > max));
    core_counts_extend(c, core_extent_of64(nearest, v));
}

#endif /* FPEMU_CORE_EVENTS_H */
