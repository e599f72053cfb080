/* SPDX-License-Identifier: BSD-2-Clause */
/* overflow.h - the values and parameters of a run of which most lay out of range. */
#ifndef FPTRAIN_REPORT_OVERFLOW_H
#define FPTRAIN_REPORT_OVERFLOW_H

#include "report/run_data.h"

bool has_overflows(const run *r); /* where the log has them */
/* alone: a file of its own, else a figure of the page. */
void overflows_write(FILE *out, const run *r, bool alone);

#endif
