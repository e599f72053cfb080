/* cli.h - what every command shares: options, errors, specs, roundings, checked output.
 *
 * Include it before any system header, for the sake of common/system.h.
 */
#ifndef FPEMU_TOOL_CLI_H
#define FPEMU_TOOL_CLI_H

#include "common/system.h"

#ifndef HAVE_MPFR
#define HAVE_MPFR 0
#endif

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fpemu.h"

#if defined(__GNUC__)
#define CLI_PRINTF_LIKE __attribute__((format(printf, 1, 2)))
#else
#define CLI_PRINTF_LIKE
#endif

/* Exit statuses. */
enum { CLI_OK = 0, CLI_FAILURE = 1, CLI_USAGE = 2 };

/* One line on stderr, "fpemu: ...", then the end of the program: with status 2 or 1. Characters that are not
 * printable ASCII come out as '?', so that no argument or file can forge lines or drive a terminal. */
_Noreturn void cli_usage(const char *format, ...) CLI_PRINTF_LIKE;
_Noreturn void cli_fail(const char *format, ...) CLI_PRINTF_LIKE;

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
    CLI_OPT_OVERFLOW = 256, CLI_OPT_NAN, CLI_OPT_BITS, CLI_OPT_VARIANT, CLI_OPT_GENERATOR, CLI_OPT_SEED, CLI_OPT_STREAM,
    CLI_OPT_INDEX, CLI_OPT_DOUBLE, CLI_OPT_HEX, CLI_OPT_JSON, CLI_OPT_VALUES, CLI_OPT_REPORT, CLI_OPT_RAW,
    CLI_OPT_BYTE_ORDER, CLI_OPT_PERCENT, CLI_OPT_SIZE, CLI_OPT_THREADS, CLI_OPT_COUNTERS, CLI_OPT_VERSION,
    CLI_OPT_AGAINST, CLI_OPT_PROGRAM, CLI_OPT_SIGNATURE, CLI_OPT_FROM, CLI_OPT_INPUTS, CLI_OPT_EXHAUSTIVE,
    CLI_OPT_TIME_LIMIT, CLI_OPT_STRICT_NAN, CLI_OPT_LEVEL, CLI_OPT_AS, CLI_OPT_TENSORS, CLI_OPT_EXCLUDE, CLI_OPT_DTYPE,
    CLI_OPT_AXIS, CLI_OPT_MIN_SQNR, CLI_OPT_PLOT, CLI_OPT_OPERATION, CLI_OPT_LONG, CLI_OPT_LIST
};

/* The options that describe a rounding, for the table of a command, its letters and its help. */
#define CLI_ROUNDING_SHORT "r:"
#define CLI_ROUNDING_LONG \
    {"rounding", required_argument, NULL, 'r'}, {"overflow", required_argument, NULL, CLI_OPT_OVERFLOW}, \
    {"nan", required_argument, NULL, CLI_OPT_NAN}, {"bits", required_argument, NULL, CLI_OPT_BITS}, \
    {"variant", required_argument, NULL, CLI_OPT_VARIANT}, {"generator", required_argument, NULL, CLI_OPT_GENERATOR}, \
    {"seed", required_argument, NULL, CLI_OPT_SEED}, {"stream", required_argument, NULL, CLI_OPT_STREAM}
#define CLI_ROUNDING_HELP \
    "  -r, --rounding MODE   rne rna rnz rtz raz rtp rtn rto sr se, a long name, or a\n" \
    "                        compatibility setting such as qpytorch (default: rne)\n" \
    "      --overflow POLICY ieee, saturate or saturate-keep-inf (default: the format's)\n" \
    "      --nan POLICY      keep, max, signmax, zero or error (default: the format's)\n" \
    "      --bits N          random bits an element, 1 to 32 (sr and se; default: 32)\n" \
    "      --variant V       a, b or c: how random bits decide (sr; default: a)\n" \
    "      --generator G     hash or philox (default: hash)\n" \
    "      --seed N          seed of the random words (default: 0)\n" \
    "      --stream N        stream of the random words (default: 0)\n"

/* A rounding as the options build it: names are read last, so the order of options does not matter. Start from
 * all zero. */
typedef struct cli_rounding {
    const char *mode;
    fpemu_rounding fields;
    bool has_overflow, has_nan;
} cli_rounding;

/* Takes one option of CLI_ROUNDING_LONG; false if `option` is another. */
bool cli_rounding_take(cli_rounding *rounding, int option, const char *argument);
fpemu_rounding cli_rounding_get(const cli_rounding *rounding);

/* The fields of a rounding as words. */
const char *cli_overflow_name(unsigned overflow);
const char *cli_nan_name(unsigned nan);
const char *cli_variant_name(unsigned variant);
const char *cli_generator_name(unsigned generator);
const char *cli_compat_name(unsigned compat);

/* The text as an unsigned number, decimal or 0x...; false if it is not one, or does not fit. */
bool cli_read_u64(const char *text, uint64_t *value);
/* The same for the argument of an option; a usage error otherwise. */
uint64_t cli_option_u64(const char *option, const char *argument, uint64_t least, uint64_t most);

/* A spec string; a usage error that says where it went wrong otherwise. */
fpemu_format cli_format(const char *spec);
/* The canonical spec, in `text` of 256 bytes. */
#define CLI_SPEC_SIZE 256
const char *cli_spec(const fpemu_format *format, char text[CLI_SPEC_SIZE]);
/* Whether its table is one of a file: table(file=PATH), codebook(file=PATH,...). */
bool cli_from_file(const fpemu_format *format);

/* Ends the program with the text of a status that is not FPEMU_OK; `what` is what was asked for, usually a spec. */
void cli_check(fpemu_status status, const char *what);

/* Ends the program if binary32 is asked for, and of the two types only binary64 holds the format; `remedy` says how to
 * ask for that. */
void cli_check_carrier(const fpemu_format *format, bool binary64, const char *spec, const char *remedy);

void *cli_allocate(size_t count, size_t size);

/* Ends the program with an error if anything written to stdout so far was lost. */
void cli_finish_stdout(void);

#endif
