/* SPDX-License-Identifier: BSD-2-Clause */
/* record.h - what a run leaves behind in its directory: settings.ini, log.jsonl (a JSON object a line), summary.json.
 *
 * A run has an id, made when it starts, which the log, the checkpoint and the summary share: what does not belong
 * together is not put together. The first line of the log (`log`: 2) has the id, the machine and the names of all
 * tensors by role. The others are a step (`loss` and what else record_step has), the end of an epoch (`test_loss`) or
 * of a policy epoch (`policy_epoch`), another machine (`machine`), or why the run was stopped (`stopped`). With
 * counters a step has `tensors` (tally.h), in the order of the first line; it has what became of the `updates` and, of
 * an emulated backend, of the `sums`. Numbers that JSON has not are the strings "inf", "-inf" and "nan".
 *
 * The first 500 steps of the log have counters each; then every second has those of two, 1000 steps later every fourth
 * those of four, and so on: sums stay exact, and the log of a long run short. A checkpoint knows how long the log was,
 * and its checksum; the log is on the disk before the checkpoint is, and is cut to that length when the run goes on.
 */
#ifndef FPTRAIN_RUN_RECORD_H
#define FPTRAIN_RUN_RECORD_H

#include "base/checkpoint.h"
#include "engine/backend.h"
#include "numerics/dispersion.h"
#include "optimizer/clipping.h"
#include "policies/policy.h"
#include "run/machine.h"
#include "run/settings.h"

enum {
    LOG_VERSION = 2,
    RECORD_LARGEST = 1 << 26 /* bytes of a summary, and of a line of a log: one with the histograms of four thousand
                              * tensors has some four million */
};

typedef struct record record;

/* Names of the tensors of each role. */
typedef struct record_names {
    int count[ROLES];
    const char *const *name[ROLES];
} record_names;

/* Of a run that begins: makes the directory where there is none, a new id, settings.ini and a log of one line. NULL and
 * a sentence on failure. */
record *record_start(const settings *s, const machine *here, const record_names *names, trouble *why);
/* Of a run that goes on from this checkpoint: says so where log or summary are of another run, or the log is shorter
 * than it was. another: on another machine than before, if this is one. */
record *record_resume(const settings *s, const machine *here, bool another, const record_names *names,
                      const checkpoint *from, trouble *why);
void record_close(record *r);

/* The log is on the disk; the checkpoint gets an entry "run" with the id and all that record_resume needs. */
bool record_save(record *r, checkpoint *to, trouble *why);

typedef struct record_step {
    uint64_t step;
    int epoch;
    double loss, lr, scale, accuracy; /* accuracy: of the batch, 0..1 */
    bool skipped;                     /* the optimiser did not take the step */
    uint64_t skipped_so_far;
    double seconds; /* since the run began */
} record_step;
void record_begin(record *r, const record_step *step);
/* Counters, and with histograms the exponents, of tensor `index` of a role in this step. */
void record_tensor(record *r, role which, int index, const fpemu_stats *stats);
/* Of such a tensor, a gradient: what it is multiplied by; its dispersion unless count is 0. */
void record_gradient(record *r, role which, int index, double alpha, const dispersion *s);
/* What became of the updates of this step, and how large they were beside the steps of packed weights. */
void record_updates(record *r, const update_counts *counts, bool packed);
/* What clipping did in this step, and in how many so far. */
void record_clipping(record *r, const clipper *c);
/* What adding up the products of this step rounded. */
void record_sums(record *r, const sum_counts *counts);
bool record_end(record *r, trouble *why);

typedef struct record_epoch {
    uint64_t step;
    int epoch;
    double test_loss, test_accuracy; /* in the formats of the moment */
    double test_accuracy_fp32;       /* of the master weights in FP32 */
    double seconds;
} record_epoch;
bool record_epoch_end(record *r, const record_epoch *epoch, trouble *why);

/* The end of a policy epoch, of a policy that has such. */
bool record_policy_end(record *r, uint64_t step, const policy_epoch *end, trouble *why);
/* The run ends here, for this reason; record_summary says it again. */
bool record_stop(record *r, uint64_t step, const char *reason, trouble *why);

/* The next line of a log with its end, in `text`, which grows (NULL and 0 at first) and is the caller's. *length: 0 after
 * the last one; a line without an end is one that is being written, and left out. */
bool record_read_line(FILE *log, const char *path, char **text, size_t *room, size_t *length, trouble *why);

/* One more number for summary.json, by which runs can be compared; a key again replaces the value. */
void record_note(record *r, const char *key, double value);
void record_policy_notes(record *r, const policy *p); /* those of the policy */

typedef struct record_ending {
    bool finished;           /* all epochs done; else stopped on the way */
    bool diverged;           /* the run ends with a loss that is no number */
    uint64_t not_finite;     /* the first step whose loss was none; 0: there was none */
    uint64_t steps, skipped; /* of the run, of which the log need not have the last; how many of them were skipped */
} record_ending;
/* The log is on the disk before the summary is. Best and last accuracy are known. */
bool record_summary(record *r, const record_ending *ending, trouble *why);

#endif
