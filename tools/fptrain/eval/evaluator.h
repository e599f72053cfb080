/* SPDX-License-Identifier: BSD-2-Clause */
/* evaluator.h - post-training quantisation: the network of a checkpoint, tested under many assignments of formats.
 *
 * An assignment is a text:
 *
 *     fp32                  nothing is rounded
 *     own                   as the run of the checkpoint had it when that was written
 *     e4m3fn                this format for all values and parameters
 *     w=e4m3fn,v=fp16 sr,conv1.*=fp32
 *                           PATTERN=FORMAT[ ROUNDING] with commas between, as lines of [formats]
 */
#ifndef FPTRAIN_EVAL_EVALUATOR_H
#define FPTRAIN_EVAL_EVALUATOR_H

#include "base/checkpoint.h"
#include "run/trainer.h"

typedef struct eval_row {
    char *formats;         /* the assignment; for free() */
    double bits_w, bits_v; /* a parameter, an element of a value; 32 where nothing is rounded */
    double loss, accuracy;
} eval_row;

typedef struct evaluator evaluator;

/* The settings are those of the run, where they should be, changed; `whole` and the checkpoint as of weights_open. Of
 * a file that is no checkpoint there are no own formats but those of the settings. NULL and a sentence on failure. */
evaluator *evaluator_new(const settings *s, const checkpoint *c, bool whole, trouble *why);
void evaluator_free(evaluator *e);
bool evaluator_is_text(const evaluator *e); /* accuracy is of characters, and loss a matter of bits */
size_t evaluator_samples(const evaluator *e);

/* Tests under one assignment. false and a sentence where it is wrong. */
bool evaluator_test(evaluator *e, const char *formats, eval_row *row, trouble *why);

#endif
