/* SPDX-License-Identifier: BSD-2-Clause */
/* adaptive.h - adaptive scaling, layer by layer: the part of a scaler that a backward pass asks. */
#ifndef FPTRAIN_NUMERICS_ADAPTIVE_H
#define FPTRAIN_NUMERICS_ADAPTIVE_H

#include "numerics/rounder.h"

typedef struct adaptive adaptive;

typedef struct adaptive_settings {
    uint64_t interval;          /* of statistics, in steps; 0: 100 */
    double underflow_target;    /* the share that may underflow; 0: 1e-3 */
    bool fan;                   /* deviation of a product times sqrt(fan/2), upper bound divided by fan */
    double beta_cap, alpha_cap; /* 0: none */
} adaptive_settings;

adaptive *adaptive_new(const adaptive_settings *settings, graph *g, rounder *r);
void adaptive_free(adaptive *l);
layer_scaling *adaptive_calls(adaptive *l);
double adaptive_beta(const adaptive *l, int op);
void adaptive_update(adaptive *l, bool bad);
size_t adaptive_size(const adaptive *l);
void adaptive_save(const adaptive *l, unsigned char *bytes);
void adaptive_load(adaptive *l, const unsigned char *bytes);

#endif
