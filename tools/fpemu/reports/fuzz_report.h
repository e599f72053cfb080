/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_report.h - what `fpemu fuzz` says in the end. */
#ifndef FPEMU_TOOL_FUZZ_REPORT_H
#define FPEMU_TOOL_FUZZ_REPORT_H

#include "testing/search.h"

/* Prints what was found. Returns the exit status; ends the command where there are failures, or nothing was compared. */
int fuzz_report(search *s, bool json);

#endif
