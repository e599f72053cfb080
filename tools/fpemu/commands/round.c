/* SPDX-License-Identifier: BSD-2-Clause */
/* round.c - fpemu round: numbers to the nearest values of a format. */
#include "cli/arguments.h"
#include "cli/error.h"
#include "cli/options.h"
#include "cli/rounding.h"
#include "cli/spec.h"
#include "commands/commands.h"
#include "files/dtype.h"
#include "reports/number_list.h"

static const char help[] =
    "Usage: fpemu round SPEC [OPTION...] [VALUE...]\n"
    "Rounds numbers to the format SPEC, one result a line: the shortest decimal that reads back\n"
    "exactly. Without VALUEs, numbers are read from standard input. They are read, correctly\n"
    "rounded, as binary32: decimal, hexadecimal (0x1.8p3), inf, nan. Of a format with scales\n"
    "they are one vector, cut into its blocks.\n"
    "\n" CLI_ROUNDING_HELP "      --index N         index of the first number in its stream (default: 0)\n"
    "      --double          read and round binary64\n"
    "      --hex             print in hexadecimal, as 0x1.8p+3\n"
    "      --json            print a JSON array of numbers; infinities and NaN are strings\n"
    "\n"
    "Example: fpemu round e4m3fn 464 465 0.3 -0\n";

static const struct option options[] = {CLI_ROUNDING_LONG,
                                        {"index", required_argument, NULL, CLI_OPT_INDEX},
                                        {"double", no_argument, NULL, CLI_OPT_DOUBLE},
                                        {"hex", no_argument, NULL, CLI_OPT_HEX},
                                        {"json", no_argument, NULL, CLI_OPT_JSON},
                                        CLI_HELP_LONG,
                                        {0}};

/* All numbers as one vector, whose blocks share scales. */
static void round_vector(arguments *a, const fpemu_prepared *call, const fpemu_place *place, bool binary64,
                         const char *spec, number_list *list)
{
    double *numbers = NULL;
    size_t count = 0;
    for (double x; arguments_next_number(a, binary64, &x); count++) {
        if ((count & (count - 1)) == 0) { /* room for twice as many */
            double *const grown = realloc(numbers, (count ? 2 * count : 1) * sizeof *grown);
            if (!grown)
                cli_fail("out of memory");
            numbers = grown;
        }
        numbers[count] = x;
    }
    float *const narrow = binary64 ? NULL : malloc((count + 1) * sizeof *narrow);
    if (!binary64 && !narrow)
        cli_fail("out of memory");
    for (size_t i = 0; i < count && narrow; i++)
        narrow[i] = (float)numbers[i];
    const size_t size = binary64 ? sizeof *numbers : sizeof *narrow;
    void *const all = binary64 ? (void *)numbers : narrow, *const rounded = cli_allocate(count, size);
    cli_check(fpemu_run(call, place, count, all, rounded, NULL), spec);
    for (size_t i = 0; i < count; i++)
        number_list_add(list, binary64 ? ((double *)rounded)[i] : (double)((float *)rounded)[i]);
    free(rounded);
    free(narrow);
    free(numbers);
}

int cmd_round(int argc, char **argv)
{
    cli c = cli_start(argc, argv, help);
    cli_rounding asked = {0};
    uint64_t index = 0;
    bool binary64 = false, hexadecimal = false, json = false;
    for (int option; (option = cli_next(&c, CLI_ROUNDING_SHORT, options)) != -1;) {
        if (option == CLI_OPT_INDEX) {
            index = cli_option_u64("--index", optarg, 0, UINT64_MAX);
            asked.random = "--index";
        } else if (option == CLI_OPT_DOUBLE) {
            binary64 = true;
        } else if (option == CLI_OPT_HEX) {
            hexadecimal = true;
        } else if (option == CLI_OPT_JSON) {
            json = true;
        } else {
            cli_rounding_take(&asked, option, optarg);
        }
    }
    cli_expect_operands(&c, 1, -1, "SPEC [VALUE...]");
    if (hexadecimal && json)
        cli_usage("round: --hex and --json do not go together");
    const char *spec = c.operand[0];
    const fpemu_format format = cli_format(spec);
    fpemu_rounding rounding = cli_rounding_get(&asked);
    cli_rounding_refuse_idle(&asked, &format);

    cli_check_carrier(&format, binary64, spec, "use --double");
    arguments_check_numbers(c.operand, c.operands, 1, binary64);
    fpemu_prepared call;
    cli_check_call(fpemu_prepare(&call, &format, &rounding, dtype_carrier(binary64), FPEMU_USE_QUANTIZE, NULL), &format,
                   &rounding, binary64, FPEMU_USE_QUANTIZE, spec);
    arguments a = arguments_start(c.operand, c.operands, 1);
    number_list list = {.json = json, .hexadecimal = hexadecimal};
    fpemu_place place = {rounding.seed, rounding.stream, index};
    if (format.scaling)
        round_vector(&a, &call, &place, binary64, spec, &list);
    for (double x; !format.scaling && arguments_next_number(&a, binary64, &x); place.offset++) {
        float narrow = (float)x;
        void *const at = binary64 ? (void *)&x : &narrow;
        cli_check(fpemu_run(&call, &place, 1, at, at, NULL), spec);
        number_list_add(&list, binary64 ? x : (double)narrow);
    }
    number_list_end(&list);
    return CLI_OK;
}
