/* SPDX-License-Identifier: BSD-2-Clause */
/* failure.h - inputs for which the tested code gives no result: it crashes, hangs, or prints what is none. */
#ifndef FPEMU_TOOL_FAILURE_H
#define FPEMU_TOOL_FAILURE_H

#include "testing/search.h"

extern const char *const failure_names[EXTERNAL_FAILINGS];

/* Puts down what the last run says of the `length` elements of the batch from `i` on: of one, or of a batch whose
 * elements pass one by one. False: there were so many that the search gives up. */
bool failure_take(search *s, size_t i, size_t length);
/* The first element of the batch in [first, end) that was put down before, which is not tried again; `end`: none. */
size_t failure_find(const search *s, size_t first, size_t end);
/* The first of the ways in which it failed, NULL where it did not; a batch may fail though each input has a result. */
const failure *failure_any(const search *s);
/* Inputs without a result. */
uint64_t failure_count(const search *s);

/* Looks for an input with fewer bits set on which the code fails in the same way, for each way. `run` runs the code on
 * element 0 of the batch alone, which is overwritten. */
void failure_shrink(search *s, external_end (*run)(search *s));

#endif
