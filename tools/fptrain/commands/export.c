/* SPDX-License-Identifier: BSD-2-Clause */
/* export.c - fptrain export: the weights of a checkpoint alone, as a .safetensors file. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "commands/commands.h"
#include "commands/options.h"
#include "run/weights.h"

static const char help[] =
    "Usage: fptrain export CHECKPOINT -o FILE.safetensors [OPTION...]\n"
    "Writes the parameters and running statistics of a checkpoint, without the state of the run, as F32.\n"
    "\n"
    "  CHECKPOINT         a checkpoint, the directory of a run, or any .safetensors file\n"
    "  -o, --output FILE\n"
    "      --names WHOSE  torch (the default): as PyTorch's modules call them; own: as the network does\n"
    "  -h, --help\n"
    "\n"
    "Packed weights are unpacked. WEIGHTS in fptrain(1) has the layout of each parameter.\n";

/* As fpemu: a name that says of another kind of file that this is one. */
static void check_kind(const char *output)
{
    static const char *const others[] = {".npy", ".npz", ".gguf", ".fpk"};
    const char *dot = strrchr(output, '.');
    for (size_t i = 0; dot && i < sizeof others / sizeof *others; i++)
        if (strcasecmp(dot, others[i]) == 0)
            die("export: -o: '%.200s' is named as another kind than what is written, safetensors", output);
}

int command_export(int argc, char **argv)
{
    enum { NAMES = 256 };
    static const struct option longs[] = {{"output", required_argument, NULL, 'o'},
                                          {"names", required_argument, NULL, NAMES},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    const char *output = NULL, *whose = "torch";
    trouble why;
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "o:h", longs, NULL)) != -1) {
        switch (option) {
        case 'o': output = options_output("export", optarg); break;
        case NAMES: whose = optarg; break;
        case 'h': return fputs(help, stdout) < 0;
        default: options_refuse("export", argv[optind - 1], longs, false);
        }
    }
    if (optind + 1 != argc || !output)
        die("export: CHECKPOINT and -o FILE expected; see 'fptrain export --help'");
    check_kind(output);
    const bool torch = strcmp(whose, "torch") == 0;
    if (!torch && strcmp(whose, "own") != 0)
        die("export: --names is torch or own, not '%.50s'", whose);

    const char *from = argv[optind];
    options_apart("export", NULL, 2,
                  (const option_file[]){{"-o", output, OPTION_WRITES}, {"CHECKPOINT", from, OPTION_READS}});
    bool whole;
    checkpoint *c = weights_open(from, &whole, &why);
    if (!c)
        die("export: %s", why.text);
    checkpoint *weights = weights_of(c, whole, &why);
    if (!weights)
        die("export: %.150s: %.340s", from, why.text);
    if (!weights_export(weights, output, torch, &why))
        die("export: %s", why.text);
    checkpoint_free(weights);
    checkpoint_free(c);
    return 0;
}
