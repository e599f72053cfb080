/* SPDX-License-Identifier: BSD-2-Clause */
/* sweep.h - all 2^32 binary32 inputs of one format and rounding, library against judge.
 *
 * The judge is monotone (save past the ends, where the answer is one constant each side), so it need not be asked for
 * every input: wherever the library's answer changes from one magnitude to the next it is asked on both sides, and at
 * both ends of each sign; equal answers at the ends of a run of equal outputs prove the run. Infinities and NaNs are
 * taken apart. Formats that wrap are not monotone: there every answer is computed by a plain integer formula, itself
 * held against the judge at a spread of inputs.
 */
#ifndef SWEEP_H
#define SWEEP_H

#include "compare.h"

typedef struct sweep {
    uint64_t runs; /* stretches of equal outputs among finite inputs, both signs */
    uint64_t judge_calls, failures;
    /* Sum over all inputs i of (mix(i + 1) - mix(i)) * mix(output bits + 9e3779b97f4a7c15) modulo 2^64, mix being the
     * finaliser of splitmix64: in any order, and a run of equal outputs at once. */
    uint64_t digest;
} sweep;

/* `progress` (may be NULL) hears how many inputs came in since the last time. Returns 0 where this proves nothing: for
 * the stochastic modes and for affine integers that wrap. */
int sweep_f32(sweep *s, const char *spec, const fpemu_format *format, const fpemu_rounding *rounding, judge *j,
              unsigned most, compare_report *report, void *context, void (*progress)(void *context, uint64_t inputs));

#endif
