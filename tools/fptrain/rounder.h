/* rounder.h - the one place where tensors are rounded: which format each has now, how, and what rounding it did. */
#ifndef FPTRAIN_ROUNDER_H
#define FPTRAIN_ROUNDER_H

#include <fpemu.h>

#include "graph.h"

typedef struct rule {
    fpemu_format format;     /* kind 0: FP32, left alone, not counted */
    fpemu_rounding rounding; /* seed and stream are set for every call from (seed, step, role, index) */
} rule;

typedef struct rounder {
    rounds calls; /* first, so that a rounder is a rounds */
    graph *g;
    uint64_t seed, step;
    unsigned want;               /* of fpemu_stats: sums, histograms */
    rule *rule[ROLES];           /* by value (V, DV) or parameter (W, DW) */
    fpemu_stats *seen[ROLES];    /* counters of the current step; cleared by rounder_begin */
} rounder;

rounder *rounder_new(graph *g, uint64_t seed);
void rounder_free(rounder *r);
void rounder_begin(rounder *r, uint64_t step);

/* Name of a tensor for logs and patterns: "conv1.v", "conv1.dv", "conv1.weight", "conv1.dweight"; "input.v". */
void tensor_name(graph *g, role which, int index, size_t capacity, char *text);

#endif
