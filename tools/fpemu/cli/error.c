/* SPDX-License-Identifier: BSD-2-Clause */
/* error.c - see error.h. Every error ends the program here, in one place and one shape. */
#include "common/system.h"

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

/* What a format and a rounding lack for a call, which is told from the same call with another rounding. */
static _Noreturn void refuse_call(const fpemu_format *format, const fpemu_rounding *rounding, bool binary64,
                                  const char *spec)
{
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    const int bits = binary64 ? 64 : 32;
    char cut[SHOWN_SIZE];
    const char *text = shown(spec, 0, cut);
    if (fpemu_check(format, rounding, bits, NULL) == FPEMU_ERROR_UNSUPPORTED &&
        fpemu_check(format, &nearest, bits, NULL) == FPEMU_OK) {
        if (rounding->compat != FPEMU_COMPAT_NONE) {
            cli_fail("%s: this compatibility setting does not go with this format: it says how software rounds formats "
                     "without scales",
                     text);
        }
        cli_fail("%s: the mode %s does not go with this format: a %s", text,
                 fpemu_mode_name((fpemu_mode)rounding->mode),
                 format->kind == FPEMU_KIND_POSIT ? "posit is rounded to nearest, rne"
                                                  : "table of values is rounded to nearest, towards zero, up or down, "
                                                    "or at random");
    }
    if (format->scaling != FPEMU_SCALING_NONE) {
        cli_fail("%s: a format with scales has no codes of single numbers, for which this is; 'fpemu pack' packs whole "
                 "blocks, 'fpemu quantize' rounds them",
                 text);
    }
    if (rounding->compat != FPEMU_COMPAT_NONE)
        cli_fail("%s: a compatibility setting says how other software rounds numbers, not what it computes", text);
    cli_fail("%s: this is not for such a format", text);
}

void cli_check_call(fpemu_status status, const fpemu_format *format, const fpemu_rounding *rounding, bool binary64,
                    const char *spec)
{
    if (status == FPEMU_ERROR_UNSUPPORTED)
        refuse_call(format, rounding, binary64, spec);
    cli_check(status, spec);
}

void cli_check_carrier(const fpemu_format *format, bool binary64, const char *spec, const char *remedy)
{
    if (!binary64 && !fpemu_format_fits_f32(format) && fpemu_format_fits_f64(format))
        cli_fail("%s: binary32 cannot hold every value of the format, binary64 can: %s", spec, remedy);
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
