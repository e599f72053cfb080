/* SPDX-License-Identifier: BSD-2-Clause */
/* compare.h - the library against a judge, over an array of inputs; for the tests and for `fpemu validate`. */
#ifndef COMPARE_H
#define COMPARE_H

#include "../judges/judge.h"

/* Short name of a mode, "ieee" and the like for a policy. */
const char *compare_mode(unsigned mode);
const char *compare_policy(unsigned policy);

/* One line that says what the library made of an input and what the judge did, with enough to run it again. */
typedef struct compare_mismatch {
    const char *spec;
    const fpemu_rounding *rounding;
    unsigned carrier;
    const char *what; /* "value", "code", "counter ..." */
    uint64_t x, index, judge, library;
} compare_mismatch;
typedef void compare_report(void *context, const compare_mismatch *m);

/* Prints a mismatch on stdout. */
void compare_print(void *context, const compare_mismatch *m);

/* Passes x[0..n-1] (bits of the carrier) through fpemu_quantize, fpemu_encode and their counters, and asks the judge
 * for each. Returns the number of mismatches, of which at most `most` are reported; a refused call counts as one. */
unsigned long compare_array(const char *spec, const fpemu_format *format, const fpemu_rounding *rounding,
                            unsigned carrier, const uint64_t *x, size_t n, judge *j, unsigned most,
                            compare_report *report, void *context);

#endif
