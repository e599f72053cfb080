/* SPDX-License-Identifier: BSD-2-Clause */
/* schedule.h - the learning rate of an epoch. */
#ifndef FPTRAIN_RUN_SCHEDULE_H
#define FPTRAIN_RUN_SCHEDULE_H

#include "base/base.h"

/* Of epoch 0, 1, ...: "constant"; "step:30,60", times 0.1 from each of these epochs on; "cosine",
 * lr (1 + cos(pi t)) / 2 with t the share of the epochs after the warm-up that has passed, so that it ends at 0. Each
 * after a linear warm-up: lr (epoch + 1) / (warmup + 1) in the first `warmup` epochs. -1 for another schedule. */
double schedule_lr(const char *schedule, double lr, int epoch, int epochs, int warmup, trouble *why);

#endif
