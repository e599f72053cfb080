/* SPDX-License-Identifier: BSD-2-Clause */
/* trainer.h - the training of one network: steps, epochs, evaluation, and all of its state in a checkpoint.
 *
 *     trainer *t = trainer_new(&settings, &why);
 *     while (!trainer_over(t)) {
 *         step_result step;
 *         while (trainer_step(t, &step))
 *             ...;
 *         evaluation e = trainer_evaluate(t);
 *         trainer_end_epoch(t);
 *     }
 *
 * The bits of everything but the clock are a function of the settings, threads and output apart.
 */
#ifndef FPTRAIN_RUN_TRAINER_H
#define FPTRAIN_RUN_TRAINER_H

#include "base/checkpoint.h"
#include "data/dataset.h"
#include "data/loader.h"
#include "engine/backend.h"
#include "numerics/scaler.h"
#include "optimizer/optimizer.h"
#include "policies/policy.h"
#include "run/settings.h"

/* Where a run stands; part of a checkpoint as it is. */
typedef struct position {
    uint64_t step; /* so far, each of train.micro_batches gradient computations */
    uint64_t epoch;
    uint64_t next;        /* sample of the epoch, in its order */
    uint64_t skipped;     /* steps that the optimiser did not take */
    uint64_t adrift;      /* the last so many steps had a loss that is not finite */
    uint64_t not_finite;  /* the first step of the run with such a loss; 0: none */
    uint64_t test_adrift; /* 1: the last evaluation had such a loss */
    double loss;          /* sums over the rows of this epoch */
    uint64_t correct, rows;
    double best;           /* of output.best: the best test accuracy or loss so far; NaN: none yet */
    uint64_t best_epoch;   /* of which epoch, from 0 */
    uint64_t outside;      /* sums of gradient computations that lay outside 32 bits, where the backend counts them */
    update_counts updates; /* of all steps that were counted */
    sum_counts sums;       /* of the gradient computations of these, where the backend counts them */
} position;

typedef struct trainer {
    const settings *settings;
    dataset data;
    loader training, testing;
    const backend *backend;
    graph *g;
    rounder *r;
    policy *policy;
    scaler *scaler;
    optimizer *optimizer;
    float *inputs;
    int *labels;
    position at;
    bool begun; /* this epoch */
} trainer;

typedef struct step_result {
    double loss, accuracy, lr, scale;
    int samples;
    bool skipped;
    bool lost;       /* its loss is not finite, and nothing leads back: trainer.c */
    sum_counts sums; /* of its gradients, where they were counted */
} step_result;

typedef struct evaluation {
    double loss, accuracy; /* in the formats of the moment */
    double accuracy_fp32;  /* of the master weights */
} evaluation;

/* What the settings say of the optimiser; its words are theirs. */
optimizer_settings optimizer_settings_of(const settings *s);

/* Opens the data and builds the network. The settings must outlive it. NULL and a sentence on failure. */
trainer *trainer_new(const settings *s, trouble *why);
/* The same, if `accepts` takes its data and its network, which has no memory yet: more than a file that brought these
 * settings can have is not taken on its word. NULL: all are taken. */
typedef bool trainer_accepts(void *who, trainer *t, trouble *why);
trainer *trainer_new_if(const settings *s, trainer_accepts *accepts, void *who, trouble *why);
void trainer_free(trainer *t);

/* The next step of the epoch; false: it is over, and nothing was done. Counters are in t->r->seen, with what `want` (of
 * fpemu_stats) adds; counted: the counts of updates and of sums too. */
bool trainer_step(trainer *t, unsigned want, bool counted, step_result *result);
size_t trainer_steps(const trainer *t); /* of an epoch */
bool trainer_over(const trainer *t); /* all epochs are done, or at the end of one the policy says that it is enough */
/* Whether the learning rates of the steps so far are those that the settings `then` gave. */
bool trainer_rates_agree(const trainer *t, const settings *then);
evaluation trainer_evaluate(trainer *t);
/* Loss and accuracy of the test samples alone, in the formats of the moment or with the weights as they are kept. */
void trainer_test(trainer *t, bool rounded, double *loss, double *accuracy);
void trainer_end_epoch(trainer *t);

/* Whether the last epoch, which has ended, was the best so far by output.best; if so it is kept in mind. */
bool trainer_is_best(trainer *t, const evaluation *e);
/* Between steps; after the last step of an epoch, not before trainer_end_epoch. */
void trainer_save(const trainer *t, checkpoint *to);
/* False and a sentence where the checkpoint is of other settings, or not whole; the trainer is then of no use. More
 * epochs than then are taken where the learning rates of the steps so far are as they would have been with so many. */
bool trainer_load(trainer *t, const checkpoint *from, trouble *why);

#endif
