/* SPDX-License-Identifier: BSD-2-Clause */
/* main.c - the fpemu command: finds the command asked for and runs it. */
#include "common/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error.h"
#include "commands/commands.h"
#include "common/near.h"
#include "common/shown.h"
#include "common/streams.h"

#ifndef HAVE_MPFR
#define HAVE_MPFR 0
#endif

typedef struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} command;

#if !HAVE_MPFR
int cmd_validate(int argc, char **argv)
{
    (void)argc;
    cli_fail("%s: built without GNU MPFR, which is the judge", argv[0]);
}
#endif

static int cmd_help(int argc, char **argv);

static const command commands[] = {
    {"formats", cmd_formats, "list the named formats"},
    {"info", cmd_info, "everything about one format"},
    {"round", cmd_round, "round numbers to a format"},
    {"apply", cmd_apply, "elementary functions, rounded to a format"},
    {"encode", cmd_encode, "numbers to bit patterns"},
    {"decode", cmd_decode, "bit patterns to numbers"},
    {"quantize", cmd_quantize, "round a file of tensors to a format"},
    {"compare", cmd_compare, "what several formats do to a file of tensors"},
    {"pack", cmd_pack, "pack the tensors of a file to the bits of a format"},
    {"unpack", cmd_unpack, "get packed tensors back as numbers"},
    {"judge", cmd_judge, "say by which rule somebody's codes and scales were made"},
    {"gemm", cmd_gemm, "multiply matrices as hardware adds up"},
    {"study", cmd_study, "error of dot products by accumulator and length"},
    {"sample", cmd_sample, "make an array file shaped like a trained layer's"},
    {"validate", cmd_validate, "check the library against GNU MPFR"},
    {"bench", cmd_bench, "measure speed, as a ratio to memcpy"},
    {"fuzz", cmd_fuzz, "find where somebody else's conversion differs"},
    {"vectors", cmd_vectors, "test vectors for a simulator's bench"},
    {"help", cmd_help, "this text; help COMMAND: more about a command"},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(void)
{
    puts("Usage: fpemu COMMAND [OPTION...] [ARGUMENT...]\n"
         "What would this computation do in that number format?\n"
         "\n"
         "Commands:");
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-10s %s\n", commands[i].name, commands[i].summary);
    puts("\n"
         "  fpemu help COMMAND  says more about a command, as fpemu COMMAND --help does\n"
         "  fpemu --version     versions of the command and the library\n"
         "\n"
         "A format is a SPEC such as e4m3fn, bf16, e4m3fn:saturate, fp(4,3,4), fixed(8,4) or\n"
         "posit(16,2); fpemu-formats(7) has the grammar. Exit status: 0, 1 failure, 2 usage\n"
         "(fuzz: 3 where it could not compare).\n"
         "\n"
         "Examples:\n"
         "  fpemu round e4m3fn 464 465 0.3\n"
         "  fpemu sample weights -o weights.npy\n"
         "  fpemu compare weights.npy e4m3fn e5m2 'fixed(8,7)'");
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
    cli_usage("unknown %s '%.100s'%s; see 'fpemu --help'", option ? "option" : "command", name, near_text(&near));
}

static int cmd_help(int argc, char **argv)
{
    char ask[] = "--help";
    if (argc > 2)
        cli_usage("help: a command or nothing expected; '%.100s' is too much", argv[2]);
    if (argc == 2 && strcmp(argv[1], "--help") != 0 && strcmp(argv[1], "-h") != 0)
        return find(argv[1])->run(2, (char *[]){argv[1], ask, NULL});
    print_help();
    return CLI_OK;
}

static void print_version(void)
{
    const int linked = fpemu_version();
    printf("fpemu %d.%d.%d\n", FPEMU_VERSION_MAJOR, FPEMU_VERSION_MINOR, FPEMU_VERSION_PATCH);
    printf("libfpemu %d.%d.%d, %s loops, %s GNU MPFR\n", linked / 10000, linked / 100 % 100, linked % 100,
           fpemu_variant(), HAVE_MPFR ? "with" : "without");
}

/* A wrong name would leave the loops as they are, and changes no bit that could tell. */
static void check_variant(void)
{
    const char *asked = getenv("FPEMU_VARIANT"), *name;
    if (asked == NULL || asked[0] == '\0' || strcmp(asked, fpemu_variant()) == 0)
        return;
    char cut[SHOWN_SIZE];
    fprintf(stderr, "fpemu: FPEMU_VARIANT: no loops '%s' here, those of %s run; there are:", shown(asked, 0, cut),
            fpemu_variant());
    for (unsigned i = 0; (name = fpemu_variant_available(i)) != NULL; i++)
        fprintf(stderr, " %s", name);
    fputc('\n', stderr);
}

int main(int argc, char **argv)
{
    trouble why;
    if (!streams_reserve(&why))
        cli_fail("%s", why.text);
    check_variant();
    if (argc < 2)
        cli_usage("no command; see 'fpemu --help'");
    const char *name = argv[1];
    const bool help = strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
    const bool version = strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0;
    int status = CLI_OK;
    if ((help || version) && argc > 2)
        cli_usage("%s: unexpected argument '%s'; see 'fpemu --help'", name, argv[2]);
    if (help)
        print_help();
    else if (version)
        print_version();
    else
        status = find(name)->run(argc - 1, argv + 1);
    cli_finish_stdout();
    return status;
}
