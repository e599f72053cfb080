/* SPDX-License-Identifier: BSD-2-Clause */
/* record.h - what a run leaves behind in its directory: settings.ini, log.jsonl (a JSON object a line), summary.json.
 *
 * A line of the log is a step (`loss` and what else record_step has), the end of an epoch (`test_loss`) or of a policy
 * epoch (`policy_epoch`); with counters a step has `tensors`, and each of these name, role, what its rounding
 * counted and, of gradients, what they are multiplied by (`alpha`) and how they are spread; and it has what became of
 * the `updates` and, of an emulated backend, of the `sums`. Numbers that JSON has not are the strings "inf", "-inf" and
 * "nan". Lines are written whole, the other files appear complete or not at all.
 */
#ifndef FPTRAIN_RUN_RECORD_H
#define FPTRAIN_RUN_RECORD_H

#include "engine/backend.h"
#include "numerics/dispersion.h"
#include "optimizer/clipping.h"
#include "policies/policy.h"
#include "run/settings.h"

typedef struct record record;

/* Makes the directory where there is none, writes settings.ini, and keeps of an older log the lines up to `step` (0:
 * none), since those after the checkpoint come again. NULL and a sentence on failure. */
record *record_open(const settings *s, uint64_t step, trouble *why);
void record_close(record *r);

typedef struct record_step {
    uint64_t step;
    int epoch;
    double loss, lr, scale, accuracy; /* accuracy: of the batch, 0..1 */
    bool skipped;                     /* the optimiser did not take the step */
    uint64_t skipped_so_far;
    double seconds;                   /* since the run began */
} record_step;
void record_begin(record *r, const record_step *step);
/* Counters, and with histograms the exponents, of one tensor in this step or since the last line. */
void record_tensor(record *r, const char *name, role which, const fpemu_stats *stats);
/* Of the tensor of the last record_tensor, a gradient: what it is multiplied by; its dispersion unless count is 0. */
void record_gradient(record *r, double alpha, const dispersion *s);
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

/* One more number for summary.json, by which runs can be compared; a key again replaces the value. */
void record_note(record *r, const char *key, double value);
void record_policy_notes(record *r, const policy *p); /* those of the policy */
/* finished: all epochs done; else stopped on the way, e.g. since it diverged. Steps of the run, of which the log need
 * not have the last; how many of them were skipped. Best and last accuracy are known. */
bool record_summary(record *r, bool finished, uint64_t steps, uint64_t skipped, trouble *why);

#endif
