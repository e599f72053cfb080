/* SPDX-License-Identifier: BSD-2-Clause */
/* error.h - how a command ends: errors, statuses, and a last look at what it wrote. */
#ifndef FPEMU_TOOL_ERROR_H
#define FPEMU_TOOL_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#include "fpemu.h"

#if defined(__GNUC__)
#define CLI_PRINTF_LIKE __attribute__((format(printf, 1, 2)))
#else
#define CLI_PRINTF_LIKE
#endif

/* Exit statuses. */
enum { CLI_OK = 0, CLI_FAILURE = 1, CLI_USAGE = 2, CLI_NOT_COMPARED = 3 };

/* One line on stderr, "fpemu: ...", then the end of the program: with status 2 or 1. Characters that are not
 * printable ASCII come out as '?', so that no argument or file can forge lines or drive a terminal. */
_Noreturn void cli_usage(const char *format, ...) CLI_PRINTF_LIKE;
_Noreturn void cli_fail(const char *format, ...) CLI_PRINTF_LIKE;
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
_Noreturn void cli_end(int status, const char *format, ...);

/* Such a line, and the program goes on. */
void cli_warn(const char *format, ...) CLI_PRINTF_LIKE;

/* Ends the program with the text of a status that is not FPEMU_OK; `what` is what was asked for, usually a spec. */
void cli_check(fpemu_status status, const char *what);

/* Ends the program where the library refuses a format and a rounding for an fpemu_use, and says why. `binary64`: the
 * numbers are that, else binary32. */
void cli_check_use(const fpemu_format *format, const fpemu_rounding *rounding, bool binary64, int use,
                   const char *spec);

/* The same for what a call returned. */
void cli_check_call(fpemu_status status, const fpemu_format *format, const fpemu_rounding *rounding, bool binary64,
                    int use, const char *spec);

/* Ends the program if binary32 is asked for, and of the two types only binary64 holds the format; `remedy` says how to
 * ask for that. */
void cli_check_carrier(const fpemu_format *format, bool binary64, const char *spec, const char *remedy);

void *cli_allocate(uint64_t count, size_t size);

/* Ends the program with an error if anything written to stdout so far was lost. */
void cli_finish_stdout(void);

#endif
