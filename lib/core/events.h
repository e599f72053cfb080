/* count.h - what one arithmetic result counts for (doc/numerics.md, 6 and 9.4). */
#ifndef FPEMU_CORE_COUNT_H
#define FPEMU_CORE_COUNT_H

#include "exact.h"

typedef struct core_counts {
    uint64_t nan, infinite, clipped, overflow, invalid, underflow, subnormal, inexact;
    uint64_t min_abs, max_abs; /* bits of the carrier; min_abs 0 = none */
    double max_error;          /* in: the largest so far; out: the larger of that and the counted ones */
} core_counts;

/* Counts one result y of the exact x; g: its magnitude on the grid without ends. */
FPEMU_FN void core_count_exact(const core_plan64 *p, const core_exact *x, double y, uint64_t g, core_counts *c)
{
    const double nearest = core_value64(core_exact_binary64(x, FPEMU_MODE_RNE));
    const double cut = core_value64(core_exact_binary64(x, FPEMU_MODE_RTZ));
    /* every result is a binary64 number: where x is none, the result differs */
    const int finite = x->kind <= CORE_FINITE, lost = core_exact_binary64(x, FPEMU_MODE_RAZ) != core_bits64(cut);
    const uint64_t a = core_bits64(cut) & ~CORE_SIGN64, b = core_bits64(y) & ~CORE_SIGN64;
    const uint64_t max = p->max[x->negative];
    const int over = finite && g > max;
    c->nan += x->kind == CORE_NOT_A_NUMBER;
    c->infinite += x->kind == CORE_INFINITE;
    c->clipped += finite && (a > max || (a == max && lost));
    c->overflow += (unsigned)over;
    c->invalid += y != y && x->kind != CORE_NOT_A_NUMBER && !over;
    c->underflow += x->kind == CORE_FINITE && b == 0;
    c->subnormal += b != 0 && b < p->min_normal;
    c->inexact += finite && (lost || (core_bits64(y) != core_bits64(cut) && (a | b) != 0));
    const uint64_t kept = core_bits64(nearest) & ~CORE_SIGN64;
    if (!finite || kept >= CORE_INF64)
        return;
    if (kept > c->max_abs)
        c->max_abs = kept;
    if (kept && (c->min_abs == 0 || kept < c->min_abs))
        c->min_abs = kept;
    const double difference = nearest - y, error = difference < 0 ? -difference : difference;
    if (b < CORE_INF64 && error > c->max_error)
        c->max_error = error;
}

#endif /* FPEMU_CORE_COUNT_H */
