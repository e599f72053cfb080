/* SPDX-License-Identifier: BSD-2-Clause */
/* schedule.h - the learning rate of a step.
 *
 * A schedule counts epochs, or steps (by_step); t is how many have passed after the warm-up, T how many there are after
 * it, and W those of the warm-up, at least 1:
 *
 *     constant     lr
 *     step:30,60   lr 0.1^k, k the number of these epochs (steps), from the start of the run, that have come
 *     cosine       lr (1 + cos(pi t / T)) / 2: ends at 0
 *     linear       lr (1 - t / T)
 *     rsqrt        lr sqrt(W / (W + t)): from Vaswani et al. 2017, so that the warm-up ends at lr
 *
 * Two kinds of warm-up, of which one can be asked for:
 *     by epoch     lr (epoch + 1) / (warmup + 1) in the first `warmup` epochs
 *     by step      start + (lr - start) step / warmup_steps in the first warmup_steps steps (the LinearLR of PyTorch).
 *                  A schedule that counts epochs then counts them from the start of the run.
 * A step that the loss scaler skips counts as one.
 */
#ifndef FPTRAIN_RUN_SCHEDULE_H
#define FPTRAIN_RUN_SCHEDULE_H

#include "base/base.h"

typedef struct schedule {
    const char *name;
    double lr;
    uint64_t epochs, steps; /* of the run, of an epoch */
    bool by_step;
    uint64_t warmup; /* epochs */
    uint64_t warmup_steps;
    double start; /* the rate with which the warm-up by step begins */
} schedule;

bool schedule_check(const schedule *s, trouble *why);
/* Of step 0, 1, ... of the run, which lies in epoch 0, 1, ...; of one that has been checked. */
double schedule_rate(const schedule *s, uint64_t epoch, uint64_t step);

#endif
