/* SPDX-License-Identifier: BSD-2-Clause */
/* main.c - the program fptrain: finds the subcommand asked for and runs it. */
#include <fpemu.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "commands/commands.h"
#include "common/near.h"
#include "common/streams.h"
#include "run/settings.h"

typedef struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} command;

static const command commands[] = {
    {"run", command_run, "trains a network, as its settings say"},
    {"models", command_models, "the networks that have a name"},
    {"assign", command_assign, "which tensors a precision assignment makes low"},
    {"estimate", command_estimate, "how long the word lengths of MuPPET take on given hardware"},
    {"tradeoff", command_tradeoff, "accuracy against low-precision ratio over many assignments"},
    {"data", command_data, "what a data set has, in numbers"},
    {"eval", command_eval, "test accuracy of one checkpoint under many formats"},
    {"export", command_export, "the weights of a checkpoint alone, as a .safetensors file"},
    {"report", command_report, "tables and plots that compare runs"},
    {"help", command_help, "this text; help COMMAND; help config: every key of the settings"},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(void)
{
    puts("Usage: fptrain COMMAND [OPTION...] [ARGUMENT...]\n"
         "Trains neural networks in which every tensor has a number format.\n"
         "\n"
         "Commands:");
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-8s %s\n", commands[i].name, commands[i].summary);
    puts("\n"
         "  fptrain help COMMAND    says more about a command\n"
         "  fptrain --version       version of the program\n"
         "\n"
         "Settings come from --config FILE, then --set SECTION.KEY=VALUE and short options such\n"
         "as --model and --lr. Exit status: 0, 1 failure, 2 a wrong option or file,\n"
         "3 a run that diverged.");
}

static void print_keys(void)
{
    settings_key key;
    const char *section = "";
    for (int i = 0; settings_table(i, &key); i++) {
        if (strcmp(section, key.section) != 0)
            printf("%s[%s]\n", i ? "\n" : "", key.section);
        section = key.section;
        printf("%s = %s\n    # %s; %s%s%s%s%s%s\n", key.key, key.normal, key.help, key.type, key.range[0] ? ": " : "",
               key.range, key.option ? " (" : "", key.option ? key.option : "", key.option ? ")" : "");
    }
    puts("\n[formats]\n"
         "# PATTERN = FORMAT [ROUNDING], first the roles, then patterns; the last that fits wins.\n"
         "# PATTERN: a role (v, w, dv, dw) or a pattern of tensor names such as conv1.* or *.bias.\n"
         "# FORMAT: fp32 (left alone) or a format as for fpemu; ROUNDING: rne, sr, rtz... (default: rne)");
}

static const command *find(const char *name)
{
    const bool option = name[0] == '-';
    near_search near = near_start(name);
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
        near_try(&near, commands[i].name);
    }
    if (option) {
        near_try(&near, "--help");
        near_try(&near, "--version");
    }
    die("unknown %s '%.100s'%s; see 'fptrain --help'", option ? "option" : "command", name, near_text(&near));
}

int command_help(int argc, char **argv)
{
    char ask[] = "--help";
    if (argc == 1)
        print_help();
    else if (argc == 2 && strcmp(argv[1], "config") == 0)
        print_keys();
    else if (argc == 2 && strcmp(argv[1], "--help") == 0)
        puts("Usage: fptrain help [COMMAND | config]");
    else if (argc == 2)
        return find(argv[1])->run(2, (char *[]){argv[1], ask, NULL});
    else
        die("help: a command, 'config' or nothing expected; '%.100s' is too much", argv[2]);
    return 0;
}

static int run(const command *c, int argc, char **argv)
{
    die_in(c->name);
    return c->run(argc, argv);
}

int main(int argc, char **argv)
{
    int status = 0;
    trouble why;
    if (!streams_reserve(&why))
        die("%s", why.text);
    signal(SIGXFSZ, SIG_IGN); /* a file beyond its limit: the write fails instead, and says so */
    if (argc < 2)
        die("no command; see 'fptrain --help'");
    const bool help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0;
    const bool version = strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0;
    if ((help || version) && argc > 2)
        die("%s: unexpected argument '%.100s'; see 'fptrain --help'", argv[1], argv[2]);
    if (help)
        print_help();
    else if (version)
        printf("fptrain %d.%d.%d\n", FPEMU_VERSION_MAJOR, FPEMU_VERSION_MINOR, FPEMU_VERSION_PATCH);
    else
        status = run(find(argv[1]), argc - 1, argv + 1);
    if (!streams_finish_output(&why)) {
        fprintf(stderr, "fptrain: %s\n", why.text);
        status = 1;
    }
    return status;
}
