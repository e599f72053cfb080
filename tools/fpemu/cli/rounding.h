/* SPDX-License-Identifier: BSD-2-Clause */
/* rounding.h - the options that describe a rounding, and its fields as words. */
#ifndef FPEMU_TOOL_ROUNDING_H
#define FPEMU_TOOL_ROUNDING_H

#include <stdbool.h>

#include "cli/options.h"
#include "fpemu.h"

/* The options that describe a rounding, for the table of a command, its letters and its help. */
#define CLI_ROUNDING_SHORT "r:"
#define CLI_ROUNDING_LONG                                                                                              \
    {"rounding", required_argument, NULL, 'r'}, {"overflow", required_argument, NULL, CLI_OPT_OVERFLOW},               \
        {"nan", required_argument, NULL, CLI_OPT_NAN}, {"bits", required_argument, NULL, CLI_OPT_BITS},                \
        {"variant", required_argument, NULL, CLI_OPT_VARIANT},                                                         \
        {"generator", required_argument, NULL, CLI_OPT_GENERATOR}, {"seed", required_argument, NULL, CLI_OPT_SEED},    \
    {                                                                                                                  \
        "stream", required_argument, NULL, CLI_OPT_STREAM                                                              \
    }
#define CLI_ROUNDING_HELP                                                                                              \
    "  -r, --rounding MODE   rne rna rnz rnp rtz raz rtp rtn rto sr se, a long name, or\n"                             \
    "                        a compatibility setting such as qpytorch (default: rne)\n"                                \
    "      --overflow POLICY ieee, saturate or saturate-keep-inf (default: the format's)\n"                            \
    "      --nan POLICY      keep, max, signmax, zero or error (default: the format's)\n"                              \
    "      --bits N          random bits an element, 1 to 32 (sr, se, rule=eden; default: 32)\n"                       \
    "      --variant V       a, b or c: how random bits decide (sr, rule=eden; default: a)\n"                          \
    "      --generator G     hash or philox (default: hash)\n"                                                         \
    "      --seed N          seed of the random words (default: 0)\n"                                                  \
    "      --stream N        stream of the random words (default: 0)\n"

/* A rounding as the options build it: names are read last, so the order of options does not matter. Start from
 * all zero. */
typedef struct cli_rounding {
    const char *mode;
    fpemu_rounding fields;
    bool has_overflow, has_nan;
    const char *random; /* the last option about random bits; NULL: none */
    bool has_variant;
} cli_rounding;

/* Takes one option of CLI_ROUNDING_LONG; false if `option` is another. */
bool cli_rounding_take(cli_rounding *rounding, int option, const char *argument);
fpemu_rounding cli_rounding_get(const cli_rounding *rounding);
/* A usage error where options are about random bits, and rounding to the format draws none or takes no variant; for
 * commands on single numbers, as those on files are called for many roundings by scripts. */
void cli_rounding_refuse_idle(const cli_rounding *rounding, const fpemu_format *format);

/* The fields of a rounding as words. */
const char *cli_overflow_name(unsigned overflow);
const char *cli_nan_name(unsigned nan);
const char *cli_variant_name(unsigned variant);
const char *cli_generator_name(unsigned generator);
const char *cli_compat_name(unsigned compat);

#endif
