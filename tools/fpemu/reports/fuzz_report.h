/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_report.h - what `fpemu fuzz` says in the end. */
#ifndef FPEMU_TOOL_FUZZ_REPORT_H
#define FPEMU_TOOL_FUZZ_REPORT_H

#include "testing/search.h"

uint64_t fuzz_report_inputs(const search *s); /* how many were compared */
void fuzz_report_table(const search *s);
void fuzz_report_json(const search *s);
/* Ends the command with this status: the tested code crashed, hung or gave nonsense; what was found is printed. */
_Noreturn void fuzz_report_failure(const search *s, int status);

/* Tensors and stochastic rounding: prints what was found. Returns the exit status; ends the command where there are
 * failures. */
int fuzz_report_outcomes(search *s, bool json);

#endif
