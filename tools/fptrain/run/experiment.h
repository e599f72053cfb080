/* SPDX-License-Identifier: BSD-2-Clause */
/* experiment.h - one run from its settings to its summary: epochs, log, checkpoints, and what is told on the way. */
#ifndef FPTRAIN_RUN_EXPERIMENT_H
#define FPTRAIN_RUN_EXPERIMENT_H

#include "run/occupied.h"

typedef struct experiment_options {
    run_start start; /* what becomes of a run that the directory of the output holds (occupied.h) */
    bool quiet;
    bool allow_different_machine; /* a run that goes on may do so where its bits can be others (machine.h) */
} experiment_options;

/* False: the run ended with a loss that is no number, and was to stop at that. Ends the program on failure: with status
 * 2 where settings, a checkpoint or that directory are wrong, with 1 where a file cannot be written on the way. */
bool experiment_run(const settings *settings, const experiment_options *how);

#endif
