/* SPDX-License-Identifier: BSD-2-Clause */
/* rounder.h - the one place where tensors are rounded: which format each has now, how, and what rounding it did. */
#ifndef FPTRAIN_NUMERICS_ROUNDER_H
#define FPTRAIN_NUMERICS_ROUNDER_H

#include "engine/graph.h"
#include "numerics/dispersion.h"
#include "numerics/rule.h"

/* Blocked formats take an axis. Values and their gradients are (N, C, H, W): blocks run along C. In parameters and
 * their gradients they run along the input dimension, the second of (K, C, R, S) and of (out, in), or the only one. So
 * both operands of a product in the forward pass are blocked along what is summed over. */
typedef struct rounder {
    rounds calls; /* first, so that a rounder is a rounds */
    graph *g;
    uint64_t seed, step;
    unsigned want;                 /* of fpemu_stats: sums, histograms; ROUNDER_DISPERSION; read by rounder_begin */
    rule *rule[ROLES];             /* by value (V, DV) or parameter (W, DW) */
    fpemu_stats *seen[ROLES];      /* counters of the current step; cleared by rounder_begin */
    dispersion *dispersion[ROLES]; /* of dv and dw before their last rounding, where it is wanted; else all zero */
    double *step_of[ROLES];        /* of the last rounding to a format with steps of MuPPET's; else 0 */
    uint64_t *bins;                /* histograms, ROUNDER_BINS for every tensor; NULL until they are wanted */
} rounder;

/* Beside what fpemu_stats can want: the dispersion of gradients, of those too that are not rounded. */
#define ROUNDER_DISPERSION (1u << 31)

/* Bins of a histogram: one for each exponent that a float can have, and one below and above. */
enum { ROUNDER_FIRST = -149, ROUNDER_BINS = 279 };

/* How many tensors a role may have: values or parameters. */
int rounder_count(const rounder *r, role which);
/* False for what is no tensor of its own (a rearrangement, numbers of tokens), and for the dv of the fed batch. */
bool rounder_rounds(const rounder *r, role which, int index);

rounder *rounder_new(graph *g, uint64_t seed);
void rounder_free(rounder *r);
void rounder_begin(rounder *r, uint64_t step);

/* max |x| and finiteness of a tensor after the last rounding of this step, n elements at x: from the counters where
 * they tell it exactly, else from the elements. */
void rounder_extent(const rounder *r, role which, int index, size_t n, const float *x, double *largest,
                    bool *not_finite);

/* Name of a tensor for logs and patterns: "conv1.v", "conv1.dv", "conv1.weight", "conv1.dweight"; "input.v". */
void tensor_name(graph *g, role which, int index, size_t capacity, char *text);

#endif
