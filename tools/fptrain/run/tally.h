/* SPDX-License-Identifier: BSD-2-Clause */
/* tally.h - what the roundings of tensors counted, of one step or summed over several, and as a line of the log.
 *
 * As text it is a JSON array with an element for each tensor: 0 where nothing was counted, else an array of the numbers
 * that tally_counter names, zeros at its end left out, and then maybe an object with what only some tensors have:
 * `alpha` of a gradient where it is not the scale of the loss, `deviation` and `quantile`, `sqnr_db`, `histogram`.
 */
#ifndef FPTRAIN_RUN_TALLY_H
#define FPTRAIN_RUN_TALLY_H

#include <fpemu.h>
#include <stdbool.h>

#include "numerics/dispersion.h"

typedef struct tally tally;

tally *tally_new(int tensors);
void tally_free(tally *t);
/* Adds; all of one tally ask for the same. */
void tally_add(tally *t, int tensor, const fpemu_stats *stats);
/* Of the last step alone: what a gradient is multiplied by, and how its values are spread unless count is 0. */
void tally_gradient(tally *t, int tensor, double alpha, const dispersion *spread);
bool tally_empty(const tally *t);
/* The text, for free(); the tally is then empty. scale: of the loss. */
char *tally_print(tally *t, double scale);

/* Names of the numbers in their order; NULL past the end. */
const char *tally_counter(int i);

#endif
