/* apply.c - fpemu apply: an elementary function of numbers or of an array file, in a format. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "commands.h"
#include "jsonout.h"
#include "number.h"
#include "progress.h"
#include "words.h"

static const char help[] =
    "Usage: fpemu apply FUNCTION SPEC [OPTION...] [VALUE...]\n"
    "       fpemu apply FUNCTION SPEC IN -o OUT [OPTION...]\n"
    "The exact value of a function, correctly rounded once to the format SPEC: of numbers, as\n"
    "'fpemu round' reads and prints them, or of every element of an array file, as 'fpemu quantize'\n"
    "does. Operands are binary32 numbers.\n"
    "\n"
    "Functions: exp exp2 exp10 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh\n"
    "asinh acosh atanh erf erfc rsqrt sigmoid silu gelu softplus.\n"
    "\n"
    "  -o, --output OUT      the file to write\n" ARRAY_RAW_HELP CLI_ROUNDING_HELP
    "      --index N         index of the first number in its stream (default: 0)\n"
    "      --hex             print in hexadecimal, as 0x1.8p+3\n"
    "      --json            print a JSON array of numbers; infinities and NaN are strings\n"
    "\n"
    "Example: fpemu apply gelu bf16 -1 0.5 3\n";

static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                        ARRAY_RAW_LONG,
                                        CLI_ROUNDING_LONG,
                                        {"index", required_argument, NULL, CLI_OPT_INDEX},
                                        {"hex", no_argument, NULL, CLI_OPT_HEX},
                                        {"json", no_argument, NULL, CLI_OPT_JSON},
                                        CLI_HELP_LONG,
                                        {0}};

typedef struct job {
    const char *spec, *output;
    fpemu_function function;
    fpemu_format format;
    fpemu_rounding rounding;
    array_raw raw;
    bool hexadecimal, json;
} job;

static fpemu_status apply_piece(const job *j, bool binary64, size_t count, void *elements)
{
    return binary64 ? fpemu_apply_f64(&j->format, &j->rounding, j->function, count, elements, elements, NULL)
                    : fpemu_apply_f32(&j->format, &j->rounding, j->function, count, elements, elements, NULL);
}

static void apply_to_file(job *j, const char *path)
{
    array_reader in = array_open(path, &j->raw);
    const bool binary64 = in.header.item_size == 8;
    double probe = 0; /* one zero shows, also for an empty file, whether the format and the rounding are accepted */
    cli_check(apply_piece(j, binary64, 1, &probe), j->spec);
    void *elements = cli_allocate(ARRAY_PIECE, in.header.item_size);
    output out = output_open(j->output);
    progress bar = progress_start("apply", in.header.count);
    array_write_header(&out, &in);
    for (size_t count; (count = array_read(&in, elements)) > 0;) {
        const fpemu_status status = apply_piece(j, binary64, count, elements);
        if (status == FPEMU_ERROR_ARGUMENT) {
            cli_fail("%s: an element is no binary32 number; 'fpemu quantize fp32' makes it one", path);
        }
        cli_check(status, j->spec);
        array_write(&out, &in, elements, count);
        j->rounding.offset += count;
        progress_advance(&bar, count);
    }
    progress_hide();
    output_commit(&out);
    free(elements);
    array_close(&in);
}

static void apply_to_numbers(job *j, char **operand, int operands)
{
    words_check_numbers(operand, operands, 2, false);
    words w = words_start(operand, operands, 2);
    jsonout_stream stream = {0};
    for (double x; words_next_number(&w, false, &x); j->rounding.offset++) {
        char result[NUMBER_SIZE];
        float y = (float)x;
        cli_check(apply_piece(j, false, 1, &y), j->spec);
        if (j->json) {
            jsonout_stream_add(&stream, jsonout_real((double)y));
        } else {
            puts(j->hexadecimal ? number_print_hex(result, (double)y) : number_print(result, (double)y));
        }
    }
    if (j->json) {
        jsonout_stream_end(&stream);
    }
}

int cmd_apply(int argc, char **argv)
{
    cli c = cli_start(argc, argv, help);
    cli_rounding asked = {0};
    uint64_t index = 0;
    job j = {0};
    for (int option; (option = cli_next(&c, "o:" CLI_ROUNDING_SHORT, options)) != -1;) {
        if (option == 'o') {
            j.output = output_path(optarg);
        } else if (option == CLI_OPT_INDEX) {
            index = cli_option_u64("--index", optarg, 0, UINT64_MAX);
        } else if (option == CLI_OPT_HEX) {
            j.hexadecimal = true;
        } else if (option == CLI_OPT_JSON) {
            j.json = true;
        } else if (!cli_rounding_take(&asked, option, optarg)) {
            array_raw_take(&j.raw, option, optarg);
        }
    }
    cli_expect_operands(&c, j.output ? 3 : 2, j.output ? 3 : -1,
                        j.output ? "FUNCTION SPEC IN -o OUT" : "FUNCTION SPEC [VALUE...]");
    if (j.hexadecimal && j.json) {
        cli_usage("apply: --hex and --json do not go together");
    }
    if (j.output != NULL && (j.hexadecimal || j.json)) {
        cli_usage("apply: --hex and --json go with numbers, not with -o");
    }
    array_raw_check(&j.raw);
    if (j.output == NULL && j.raw.item_size != 0) {
        cli_usage("apply: --raw goes with -o");
    }
    if (fpemu_function_named(c.operand[0], &j.function) != FPEMU_OK) {
        cli_usage("apply: no function '%s'; see 'fpemu apply --help'", c.operand[0]);
    }
    j.spec = c.operand[1];
    j.format = cli_format(j.spec);
    j.rounding = cli_rounding_get(&asked);
    j.rounding.offset = index;
    if (!fpemu_fits_f32(&j.format)) {
        cli_fail("%s: binary32 cannot hold every value of the format, and no function is known so exactly", j.spec);
    }
    if (j.output != NULL) {
        apply_to_file(&j, c.operand[2]);
    } else {
        apply_to_numbers(&j, c.operand, c.operands);
    }
    return CLI_OK;
}
