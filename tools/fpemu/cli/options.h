/* SPDX-License-Identifier: BSD-2-Clause */
/* options.h - the walk over the options and operands of a command. */
#ifndef FPEMU_TOOL_OPTIONS_H
#define FPEMU_TOOL_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

/* A walk over the arguments of a command. Operands may stand between options; an argument that reads as a negative
 * number ("-0", "-inf") is an operand. */
typedef struct cli {
    int argc;
    char **argv;      /* argv[0] is the name of the command */
    const char *help; /* what --help prints */
    char **operand;   /* the operands, in order, at the front of argv; complete once cli_next has returned -1 */
    int operands;
} cli;

cli cli_start(int argc, char **argv, const char *help);
/* The next option (its `val` in `longs`, or its letter), -1 at the end. --help and errors end the program. `shorts` as
 * for getopt, without 'h'. The argument of the option is `optarg`. */
int cli_next(cli *c, const char *shorts, const struct option *longs);
/* Ends the program with a usage error unless there are between `least` and `most` operands (most < 0: no limit);
 * `names` says what is expected, as in "SPEC VALUE...". */
void cli_expect_operands(const cli *c, int least, int most, const char *names);

#define CLI_HELP_LONG {"help", no_argument, NULL, 'h'}

/* Values of long options without a letter. */
enum {
    CLI_OPT_OVERFLOW = 256,
    CLI_OPT_NAN,
    CLI_OPT_BITS,
    CLI_OPT_VARIANT,
    CLI_OPT_GENERATOR,
    CLI_OPT_SEED,
    CLI_OPT_STREAM,
    CLI_OPT_INDEX,
    CLI_OPT_DOUBLE,
    CLI_OPT_HEX,
    CLI_OPT_JSON,
    CLI_OPT_VALUES,
    CLI_OPT_REPORT,
    CLI_OPT_RAW,
    CLI_OPT_BYTE_ORDER,
    CLI_OPT_PERCENT,
    CLI_OPT_SIZE,
    CLI_OPT_THREADS,
    CLI_OPT_COUNTERS,
    CLI_OPT_VERSION,
    CLI_OPT_AGAINST,
    CLI_OPT_PROGRAM,
    CLI_OPT_SIGNATURE,
    CLI_OPT_FROM,
    CLI_OPT_INPUTS,
    CLI_OPT_EXHAUSTIVE,
    CLI_OPT_TIME_LIMIT,
    CLI_OPT_STRICT_NAN,
    CLI_OPT_LEVEL,
    CLI_OPT_AS,
    CLI_OPT_TENSORS,
    CLI_OPT_EXCLUDE,
    CLI_OPT_DTYPE,
    CLI_OPT_AXIS,
    CLI_OPT_MIN_SQNR,
    CLI_OPT_PLOT,
    CLI_OPT_OPERATION,
    CLI_OPT_LONG,
    CLI_OPT_LIST,
    CLI_OPT_CARRIER,
    CLI_OPT_LAYOUT,
    CLI_OPT_CONFIG,
    CLI_OPT_MIN_DIMS,
    CLI_OPT_FORCE,
    CLI_OPT_MAP,
    CLI_OPT_PLAN,
    CLI_OPT_WRITE_PLAN,
    CLI_OPT_MAX_BITS,
    CLI_OPT_AS_NUMBERS,
    CLI_OPT_HANG,
    CLI_OPT_SCALE,
    CLI_OPT_ZERO,
    CLI_OPT_ZERO_ORDER,
    CLI_OPT_RECIPROCAL,
    CLI_OPT_TENSOR_SCALE
};

/* The text as an unsigned number, decimal or 0x...; false if it is not one, or does not fit. */
bool cli_read_u64(const char *text, uint64_t *value);
/* The same for the argument of an option; a usage error otherwise. */
uint64_t cli_option_u64(const char *option, const char *argument, uint64_t least, uint64_t most);

#endif
