/* SPDX-License-Identifier: BSD-2-Clause */
/* encode.c - fpemu encode: numbers to bit patterns. */
#include "cli/arguments.h"
#include "cli/error.h"
#include "cli/number.h"
#include "cli/options.h"
#include "cli/rounding.h"
#include "cli/spec.h"
#include "commands/commands.h"
#include "reports/number_list.h"

static const char help[] =
    "Usage: fpemu encode SPEC [OPTION...] [VALUE...]\n"
    "Rounds numbers to the format SPEC and prints the bit pattern of each, as 0x7e. Numbers are\n"
    "read as by 'fpemu round'.\n"
    "\n" CLI_ROUNDING_HELP "      --index N         index of the first number in its stream (default: 0)\n"
    "      --double          read and round binary64\n"
    "      --json            print a JSON array of whole numbers\n"
    "\n"
    "Example: fpemu encode e4m3fn 448 -1.5 nan\n";

static const struct option options[] = {CLI_ROUNDING_LONG,
                                        {"index", required_argument, NULL, CLI_OPT_INDEX},
                                        {"double", no_argument, NULL, CLI_OPT_DOUBLE},
                                        {"json", no_argument, NULL, CLI_OPT_JSON},
                                        CLI_HELP_LONG,
                                        {0}};

int cmd_encode(int argc, char **argv)
{
    cli c = cli_start(argc, argv, help);
    cli_rounding asked = {0};
    uint64_t index = 0;
    bool binary64 = false, json = false;
    for (int option; (option = cli_next(&c, CLI_ROUNDING_SHORT, options)) != -1;) {
        if (option == CLI_OPT_INDEX) {
            index = cli_option_u64("--index", optarg, 0, UINT64_MAX);
            asked.random = "--index";
        } else if (option == CLI_OPT_DOUBLE) {
            binary64 = true;
        } else if (option == CLI_OPT_JSON) {
            json = true;
        } else {
            cli_rounding_take(&asked, option, optarg);
        }
    }
    cli_expect_operands(&c, 1, -1, "SPEC [VALUE...]");
    const char *spec = c.operand[0];
    const fpemu_format format = cli_format(spec);
    if (format.scaling != FPEMU_SCALING_NONE) {
        cli_usage(
            "encode: %s shares scales among the numbers of a block, so none has bits of its own; 'fpemu pack' stores "
            "blocks with their scales, 'fpemu info' names its element format",
            spec);
    }
    fpemu_rounding rounding = cli_rounding_get(&asked);
    cli_rounding_refuse_idle(&asked, &format);

    cli_check_carrier(&format, binary64, spec, "use --double");
    arguments_check_numbers(c.operand, c.operands, 1, binary64);
    arguments a = arguments_start(c.operand, c.operands, 1);
    number_list list = {.json = json};
    for (double x; arguments_next_number(&a, binary64, &x); index++) {
        const float narrow = (float)x;
        uint64_t code = 0;
        rounding.offset = index;
        cli_check_call(binary64 ? fpemu_encode_f64(&format, &rounding, 1, &x, &code, NULL)
                                : fpemu_encode_f32(&format, &rounding, 1, &narrow, &code, NULL),
                       &format, &rounding, binary64, FPEMU_USE_ENCODE, spec);
        code = number_load_code(&code, fpemu_format_code_size(&format), 0);
        number_list_add_code(&list, code, &format);
    }
    number_list_end(&list);
    return CLI_OK;
}
