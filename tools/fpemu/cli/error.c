/* SPDX-License-Identifier: BSD-2-Clause */
/* error.c - see error.h. Every error ends the program here, in one place and one shape. */
#include "cli/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/progress.h"
#include "common/shown.h"
#include "common/streams.h"

static void print_error(const char *format, va_list arguments)
{
    char line[1024];
    shown_message(line, sizeof line, format, arguments);
    shown_controls(line);
    progress_hide();
    fprintf(stderr, "fpemu: %s\n", line);
}

void cli_usage(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_error(format, arguments);
    va_end(arguments);
    exit(CLI_USAGE);
}

void cli_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_error(format, arguments);
    va_end(arguments);
    exit(CLI_FAILURE);
}

void cli_end(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_error(format, arguments);
    va_end(arguments);
    exit(status);
}

void cli_warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_error(format, arguments);
    va_end(arguments);
}

void cli_check(fpemu_status status, const char *what)
{
    if (status == FPEMU_ERROR_NAN)
        cli_fail("%s: a NaN came, and the NaN policy is 'error'", what);
    if (status != FPEMU_OK)
        cli_fail("%s: %s", what, fpemu_status_text(status));
}

void cli_check_use(const fpemu_format *format, const fpemu_rounding *rounding, bool binary64, int use, const char *spec)
{
    char cut[SHOWN_SIZE];
    fpemu_why why;
    if (fpemu_check_use(format, rounding, binary64 ? FPEMU_TYPE_F64 : FPEMU_TYPE_F32, use, &why))
        cli_fail("%s: %s", shown(spec, 0, cut), why.message);
}

void cli_check_call(fpemu_status status, const fpemu_format *format, const fpemu_rounding *rounding, bool binary64,
                    int use, const char *spec)
{
    if (status != FPEMU_OK)
        cli_check_use(format, rounding, binary64, use, spec);
    cli_check(status, spec);
}

void cli_check_carrier(const fpemu_format *format, bool binary64, const char *spec, const char *remedy)
{
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    fpemu_why why;
    if (!binary64 && fpemu_check(format, &nearest, FPEMU_TYPE_F32, &why) == FPEMU_ERROR_CARRIER)
        cli_fail("%s: %s; %s", spec, why.message, remedy);
}

void *cli_allocate(uint64_t count, size_t size)
{
    void *memory = count > SIZE_MAX ? NULL : calloc(count > 0 ? (size_t)count : 1, size);
    if (memory == NULL)
        cli_fail("out of memory");
    return memory;
}

void cli_finish_stdout(void)
{
    trouble why;
    if (!streams_finish_output(&why))
        cli_fail("%s", why.text);
}
