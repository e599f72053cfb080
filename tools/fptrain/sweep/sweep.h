/* SPDX-License-Identifier: BSD-2-Clause */
/* sweep.h - a sweep: assignments of one network, each trained with several seeds, each in a directory of its own.
 *
 * Under the directory of the sweep, NAME-sSEED is the directory of a run and NAME-sSEED.ini its settings. A run whose
 * summary says that it is finished is not repeated; one that was stopped goes on from its checkpoint. A run with
 * promotion in which nothing was promoted has the bits that it has without, and with a higher threshold; it stands for
 * those, which are not run.
 */
#ifndef FPTRAIN_SWEEP_SWEEP_H
#define FPTRAIN_SWEEP_SWEEP_H

#include "policies/assignment_settings.h"
#include "run/trainer.h"

typedef struct spread {
    double mean, low, high;
} spread;

typedef struct trial {
    char name[64];  /* of its directories */
    char label[96]; /* "ratio 0.2 0.3": all that give this assignment */
    char policy[SETTINGS_TEXT];
    scheme scheme;
    bool promote, promotable;      /* promotable: some forward tensor is low */
    double asked;                  /* of a scheme by ratio: r */
    double threshold, ratio, bits; /* before any promotion */
    assignment *assignment;        /* which tensors are low; its network is gone */
    int finished;                  /* seeds of which there is a run; what follows is over these */
    spread best, last, mean_ratio, promotions, promoted_share;
    double seconds; /* of a run */
} trial;

typedef struct sweep {
    settings base;
    const char *out;
    int seeds, jobs;
    double memory; /* bytes; 0: what is free */
    int count;
    trial *trials;
    uint64_t steps; /* of an epoch */
    double bits_fp32;
    double run_bytes; /* about what a run needs */
} sweep;

/* paper: schemes by ratio and by group, not the baselines. */
typedef enum promoting { PROMOTE_PAPER, PROMOTE_ALL, PROMOTE_NONE, PROMOTE_BOTH } promoting;

/* Which assignments; those that are equal to one before only add their name to its label. */
typedef struct wishes {
    double first, last, step; /* of the ratios */
    bool schemes[SCHEMES];
    promoting promote;
    int thresholds;
    double threshold[8];
    int orders;      /* of ratio-random */
    bool exhaustive; /* every set of groups */
} wishes;
void sweep_plan(sweep *s, const wishes *w, trainer *t);
void sweep_free(sweep *s);

/* The settings of one run; for settings_free. */
settings sweep_settings(const sweep *s, const trial *t, int seed);
/* The directory of a run, for free(). */
char *sweep_directory(const sweep *s, const trial *t, int seed);

/* Runs what is not finished, `jobs` side by side as far as memory goes. How many failed. */
int sweep_missing(const sweep *s);
int sweep_run(const sweep *s);
/* Reads the summaries. */
void sweep_collect(sweep *s);

/* DIR/table.txt, also on standard output, and DIR/tradeoff.svg. */
void sweep_table(const sweep *s);
void sweep_plot(const sweep *s);

/* The finished one with the best accuracy (mean over the seeds) of those by ratio or by group with at least the
 * low-precision ratio of t, and promotion as there, or any where one of both has nothing to promote; of equal ones the
 * first. */
const trial *sweep_best(const sweep *s, const trial *t);
/* Of the scheme ratio, finished, and whose best accuracy lies at most `drop` points below that of FP32 (means over the
 * seeds), the one with the largest low-precision ratio; NULL: there is none. */
const trial *sweep_choose(const sweep *s, double drop);
/* What was chosen on the first part of the training data, and what it loses on each; `parts`: a sweep for each, those
 * after the first of FP32 and the chosen ratio alone. OUT/parts.txt, also on standard output. */
void sweep_parts_table(const char *out, const sweep *parts, int count, const trial *chosen, double drop);

#endif
