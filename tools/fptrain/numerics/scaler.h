/* SPDX-License-Identifier: BSD-2-Clause */
/* scaler.h - loss scaling: none, fixed, backoff, logmax, adaptive. All scales are powers of two.
 *
 * none          1; every step is taken
 * fixed         a constant; a step with a dw that is not finite is skipped
 * backoff       halved after a bad step, which is skipped; doubled after `interval` clean ones in a row
 * logmax        a normal distribution of log2 max |dw| keeps clear of overflow (Kuchaiev et al. 2018)
 * adaptive      a scale for each operator, from the statistics of its gradient and its weights (Zhao et al.)
 *
 * A step is bad when a dv or dw of a format without scales overflowed, or a dw is not finite.
 */
#ifndef FPTRAIN_NUMERICS_SCALER_H
#define FPTRAIN_NUMERICS_SCALER_H

#include "numerics/rounder.h"

typedef struct scaler scaler;

/* What the scaler sees of a gradient computation. */
typedef struct gradient_report {
    bool overflowed;    /* some dv or dw of a format without scales overflowed, by the counters */
    bool dw_not_finite; /* some rounded dw is infinite or NaN */
    double largest_dw;  /* max |dw / its multiplier| over all parameters; 0: all zero */
    double max_finite;  /* of the format of dw (the smallest, where they differ) */
} gradient_report;

typedef struct scaler_settings {
    const char *name;           /* "none", "fixed", "backoff", "logmax", "adaptive" */
    double scale;               /* fixed: s; backoff: s0 (0: 2^16) */
    uint64_t interval;          /* backoff: growth interval (0: 2000); adaptive: statistics (0: 100) */
    double underflow_target;    /* adaptive: Tuf (0: 1e-3) */
    bool fan;                   /* adaptive: sigma_p times sqrt(fan/2), upper bound divided by fan */
    double beta_cap, alpha_cap; /* adaptive: 0: none */
} scaler_settings;

/* NULL and a sentence where a setting makes no sense. scale and caps are powers of two. */
scaler *scaler_new(const scaler_settings *settings, graph *g, rounder *r, trouble *why);
void scaler_free(scaler *s);
double scaler_scale(const scaler *s);                         /* by which the loss of the next step is multiplied */
layer_scaling *scaler_layers(scaler *s);                      /* NULL but for adaptive */
bool scaler_update(scaler *s, const gradient_report *report); /* true: the optimiser takes the step */
/* Of adaptive, for the record: the factor of an operator, 1 where it has none. */
double scaler_beta(const scaler *s, int op);
/* Of adaptive: the time that its statistics have taken in this process. */
double scaler_seconds(const scaler *s);
/* The state in a checkpoint. save returns its length and writes where capacity holds it. */
size_t scaler_save(const scaler *s, void *bytes, size_t capacity);
bool scaler_load(scaler *s, const void *bytes, size_t length, trouble *why);

#endif
