/* SPDX-License-Identifier: BSD-2-Clause */
/* options.c - see options.h */
#include "cli/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error.h"
#include "cli/number.h"
#include "common/near.h"

cli cli_start(int argc, char **argv, const char *help)
{
    opterr = 0;
    optind = 1;
    return (cli){.argc = argc, .argv = argv, .help = help, .operand = argv + 1};
}

static bool is_negative_number(const char *text)
{
    double value;
    return text[0] == '-' && number_read_f64(text, &value);
}

static _Noreturn void refuse_option(const cli *c, const char *argument, const struct option *longs)
{
    char word[64];
    const size_t length = strcspn(argument, "=");
    near_search near;
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), argument);
    near = near_start(word + strspn(word, "-"));
    near.before = "--";
    for (const struct option *o = longs; o->name != NULL; o++) {
        if (strcmp(o->name, near.word) == 0)
            cli_usage("%s: option '--%s' takes no argument; see 'fpemu %s --help'", c->argv[0], o->name, c->argv[0]);
        near_try(&near, o->name);
    }
    cli_usage("%s: option '%s' is unknown or ambiguous%s; see 'fpemu %s --help'", c->argv[0], word, near_text(&near),
              c->argv[0]);
}

/* An operand moves to a place of argv that the walk has passed already. */
int cli_next(cli *c, const char *shorts, const struct option *longs)
{
    char letters[64];
    snprintf(letters, sizeof letters, "-:h%s", shorts); /* '-': operands come as option 1, wherever they stand */
    for (;;) {
        if (optind < c->argc && is_negative_number(c->argv[optind])) {
            c->operand[c->operands++] = c->argv[optind++];
            continue;
        }
        const int before = optind;
        const int option = getopt_long(c->argc, c->argv, letters, longs, NULL);
        switch (option) {
        case 1: c->operand[c->operands++] = optarg; break;
        case -1:
            while (optind < c->argc)
                c->operand[c->operands++] = c->argv[optind++];
            return -1;
        case 'h':
            fputs(c->help, stdout);
            cli_finish_stdout();
            exit(CLI_OK);
        case ':': cli_usage("%s: option '%s' needs an argument", c->argv[0], c->argv[before]);
        case '?':
            if (optopt > 0 && optopt < 256 && strncmp(c->argv[before], "--", 2) != 0)
                cli_usage("%s: unknown option '-%c'; see 'fpemu %s --help'", c->argv[0], optopt, c->argv[0]);
            refuse_option(c, c->argv[before], longs);
        default: return option;
        }
    }
}

void cli_expect_operands(const cli *c, int least, int most, const char *names)
{
    if (c->operands < least)
        cli_usage("%s: expected %s; see 'fpemu %s --help'", c->argv[0], names, c->argv[0]);
    if (most >= 0 && c->operands > most)
        cli_usage("%s: unexpected argument '%s'; see 'fpemu %s --help'", c->argv[0], c->operand[most], c->argv[0]);
}

bool cli_read_u64(const char *text, uint64_t *value)
{
    const bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hexadecimal ? text + 2 : text;
    const char *known = hexadecimal ? "0123456789abcdefABCDEF" : "0123456789";
    if (*digits == '\0' || digits[strspn(digits, known)] != '\0')
        return false;
    errno = 0;
    const unsigned long long number = strtoull(digits, NULL, hexadecimal ? 16 : 10);
    if (errno != 0 || number > UINT64_MAX)
        return false;
    *value = number;
    return true;
}

uint64_t cli_option_u64(const char *option, const char *argument, uint64_t least, uint64_t most)
{
    uint64_t value;
    if (!cli_read_u64(argument, &value) || value < least || value > most) {
        cli_usage("%s: '%s' is not a whole number from %llu to %llu", option, argument, (unsigned long long)least,
                  (unsigned long long)most);
    }
    return value;
}
