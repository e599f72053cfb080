/* experiment.h - one run from its settings to its summary: epochs, log, checkpoints, and what is told on the way. */
#ifndef FPTRAIN_RUN_EXPERIMENT_H
#define FPTRAIN_RUN_EXPERIMENT_H

#include "run/settings.h"

/* resumed: goes on from the checkpoint in the directory of the output, where there is one. Ends the program on failure:
 * with status 2 where settings or a checkpoint are wrong, with 1 where a file cannot be written on the way. */
void experiment_run(const settings *settings, bool resumed, bool quiet);

#endif
