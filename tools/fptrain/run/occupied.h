/* SPDX-License-Identifier: BSD-2-Clause */
/* occupied.h - the one rule about directories of runs: what a run left behind is never replaced unasked.
 *
 * A directory holds a run where it has one of the files that a run writes (record.h, and the checkpoint). Into such a
 * directory a run goes only to continue what is there (--resume), which has to be a run of the same settings, or to
 * replace it (--force). Other files of the directory are left alone.
 */
#ifndef FPTRAIN_RUN_OCCUPIED_H
#define FPTRAIN_RUN_OCCUPIED_H

#include "run/settings.h"

#define RUN_CHECKPOINT "checkpoint.safetensors" /* in the directory of a run: all that is needed to go on */
#define RUN_BEST "best.safetensors"             /* the same, as it was when the run was best so far */

typedef enum run_start {
    RUN_FRESH,  /* nothing may be there */
    RUN_RESUME, /* what is there goes on; without a checkpoint it begins again */
    RUN_FORCE   /* what is there goes away */
} run_start;

/* Whether the directory holds a run; one that cannot be looked into holds none. */
bool occupied(const char *directory);
/* False and a sentence where a run with these settings may not go into its directory. Changes nothing. */
bool occupied_check(const settings *s, run_start how, trouble *why);
/* False and a sentence where the output of a command would take the place of such a file, be it there yet or not. */
bool occupied_spares(const char *output, trouble *why);
/* Takes away what writers that were killed have left under temporary names; for who holds the lock (lock.h). */
void occupied_tidy(const char *directory);
/* Takes the files of a run away: no part of it can be taken for one of the run that comes. */
bool occupied_clear(const char *directory, trouble *why);

/* Whether a run with the settings `now` may go on with one of `then`: all but [output], the number of threads and what
 * becomes of a run that diverged are alike, and there may be more epochs. `what` (a checkpoint, a directory) begins the
 * sentence. */
bool occupied_continues(const settings *now, const settings *then, const char *what, trouble *why);

#endif
