/* SPDX-License-Identifier: BSD-2-Clause */
/* experiment.h - one run from its settings to its summary: epochs, log, checkpoints, and what is told on the way. */
#ifndef FPTRAIN_RUN_EXPERIMENT_H
#define FPTRAIN_RUN_EXPERIMENT_H

#include "run/occupied.h"

/* `how`: what becomes of a run that the directory of the output holds (occupied.h). Ends the program on failure: with
 * status 2 where settings, a checkpoint or that directory are wrong, with 1 where a file cannot be written on the way.
 */
void experiment_run(const settings *settings, run_start how, bool quiet);

#endif
