/* SPDX-License-Identifier: BSD-2-Clause */
/* csv.h - the logs of runs as a table of comma-separated values, in long form. */
#ifndef FPTRAIN_REPORT_CSV_H
#define FPTRAIN_REPORT_CSV_H

#include <stdio.h>

#include "common/trouble.h"

/* The columns run,step,name,value, with a line for each number of a log in its order; names as in log_values.h, a
 * histogram as histogram/TENSOR/EXPONENT. Values have the digits that make them read back to the same binary64, or are
 * whole, or inf, -inf, nan. Fields are quoted as RFC 4180 has it, lines end in a line feed. tensors: the pattern of
 * those whose numbers are told; NULL: all. Errors of writing are left to the stream. */
bool csv_write(FILE *out, int count, char *const *directories, const char *tensors, trouble *why);

#endif
