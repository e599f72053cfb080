/* SPDX-License-Identifier: BSD-2-Clause */
/* decode.c - fpemu decode: bit patterns to numbers. */
#include "cli/arguments.h"
#include "cli/error.h"
#include "cli/number.h"
#include "cli/options.h"
#include "cli/spec.h"
#include "commands/commands.h"
#include "reports/number_list.h"

static const char help[] =
    "Usage: fpemu decode SPEC [OPTION...] [CODE...]\n"
    "Prints the value of bit patterns of the format SPEC, one a line. Without CODEs, they are\n"
    "read from standard input: 0x7e or 126. Bits above the width of the format are ignored, but\n"
    "a code has to fit in the 1, 2, 4 or 8 bytes that hold the format's codes.\n"
    "\n"
    "      --double          compute in binary64 even if binary32 holds every value (a\n"
    "                        difference only for integers with a scale)\n"
    "      --hex             print in hexadecimal, as 0x1.8p+3\n"
    "      --json            print a JSON array of numbers; infinities and NaN are strings\n"
    "\n"
    "Example: fpemu decode e4m3fn 0x7e 0x7f 0x80\n";

static const struct option options[] = {{"double", no_argument, NULL, CLI_OPT_DOUBLE},
                                        {"hex", no_argument, NULL, CLI_OPT_HEX},
                                        {"json", no_argument, NULL, CLI_OPT_JSON},
                                        CLI_HELP_LONG,
                                        {0}};

static uint64_t read_code(const arguments *a, const char *text, size_t size)
{
    uint64_t code;
    if (!cli_read_u64(text, &code))
        arguments_refuse(a, text, "code");
    if (size < 8 && code >> (8 * size) != 0)
        arguments_refuse(a, text, size == 1 ? "code of 1 byte" : size == 2 ? "code of 2 bytes" : "code of 4 bytes");
    return code;
}

int cmd_decode(int argc, char **argv)
{
    cli c = cli_start(argc, argv, help);
    bool binary64 = false, hexadecimal = false, json = false;
    for (int option; (option = cli_next(&c, "", options)) != -1;) {
        binary64 |= option == CLI_OPT_DOUBLE;
        hexadecimal |= option == CLI_OPT_HEX;
        json |= option == CLI_OPT_JSON;
    }
    cli_expect_operands(&c, 1, -1, "SPEC [CODE...]");
    if (hexadecimal && json)
        cli_usage("decode: --hex and --json do not go together");
    const char *spec = c.operand[0];
    const fpemu_format format = cli_format(spec);
    if (format.scaling != FPEMU_SCALING_NONE) {
        cli_usage(
            "decode: %s shares scales among the numbers of a block, so none has bits of its own; 'fpemu pack' stores "
            "blocks with their scales, 'fpemu unpack' reads them",
            spec);
    }
    const size_t size = fpemu_format_code_size(&format);
    binary64 |= !fpemu_format_fits_f32(&format);

    for (int i = 1; i < c.operands; i++) { /* a bad code among the arguments: nothing is printed */
        arguments a = arguments_start(c.operand, i + 1, i);
        read_code(&a, arguments_next(&a), size);
    }
    arguments a = arguments_start(c.operand, c.operands, 1);
    number_list list = {.json = json, .hexadecimal = hexadecimal};
    for (const char *text; (text = arguments_next(&a)) != NULL;) {
        uint64_t code;
        float narrow;
        double y;
        number_store_code(&code, size, 0, read_code(&a, text, size));
        if (binary64) {
            cli_check(fpemu_decode_f64(&format, 1, &code, &y), spec);
        } else {
            cli_check(fpemu_decode_f32(&format, 1, &code, &narrow), spec);
            y = (double)narrow;
        }
        number_list_add(&list, y);
    }
    number_list_end(&list);
    return CLI_OK;
}
