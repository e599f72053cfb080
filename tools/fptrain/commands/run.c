/* SPDX-License-Identifier: BSD-2-Clause */
/* run.c - fptrain run: one experiment from its settings to its summary. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"
#include "commands/options.h"
#include "run/experiment.h"
#include "run/shelf.h"

static const char help[] =
    "Usage: fptrain run [--config FILE]... [--set SECTION.KEY=VALUE]... [OPTION]...\n"
    "Trains a network in which every tensor has a number format.\n"
    "\n"
    "  --config FILE            settings from a file, or by the name of an experiment that comes\n"
    "                           with the program; 'fptrain help config' has all keys\n"
    "  --list                   the names of these experiments\n"
    "  --set SECTION.KEY=VALUE  one setting; formats are keys too: --set formats.dv=e5m2\n"
    "  --model NAME             the network; 'fptrain models' lists them; or a file NAME.net\n"
    "  --data SOURCE            digits, shapes, mnist:DIR, npz:FILE, text:FILE, others that\n"
    "                           'fptrain data --help' names, or a path\n"
    "  --init-from FILE         weights to start from: a checkpoint, a directory of a run, a .safetensors file\n"
    "  --epochs N  --batch N  --lr RATE  --schedule NAME  --optimizer NAME\n"
    "  --policy NAME  --scaler NAME  --seed N  --threads N (never changes a result)\n"
    "  --out DIR                log.jsonl, summary.json, settings.ini and the checkpoint go there\n"
    "  --resume                 goes on from the checkpoint in DIR, if there is one, with the settings that are\n"
    "                           there; with more --epochs also where it was finished\n"
    "  --force                  replaces the run that DIR holds; without either, that is refused\n"
    "  --allow-different-machine  resumes where version, libraries or processor are others\n"
    "  --quiet                  no lines about the way\n"
    "  -h, --help\n"
    "\n"
    "The same settings give the same bits on one machine, run after run, resumed or not.\n"
    "Exit status 3: the loss was no number any more (train.diverged = continue goes on).\n";

enum { STATUS_DIVERGED = 3 };

static int list(void)
{
    trouble why;
    if (!shelf_list(stdout, &why))
        die("run: %s", why.text);
    return 0;
}

/* What the options leave open is as the run in --out has it. */
static void go_on(settings *s, int argc, char **argv)
{
    trouble why;
    char *path = path_join(s->output.directory, "settings.ini");
    if (s->output.directory[0] && access(path, F_OK) == 0) {
        settings_free(s);
        settings_default(s);
        if (!settings_read(s, path, &why) || !settings_options(s, &argc, argv, &why))
            die("run: %s", why.text);
    }
    free(path);
}

int command_run(int argc, char **argv)
{
    settings s;
    static const struct option own[] = {{"resume", no_argument, NULL, 0},
                                        {"force", no_argument, NULL, 0},
                                        {"quiet", no_argument, NULL, 0},
                                        {"list", no_argument, NULL, 0},
                                        {"allow-different-machine", no_argument, NULL, 0},
                                        {"help", no_argument, NULL, 0},
                                        {NULL, 0, NULL, 0}};
    bool resumed = false, forced = false;
    experiment_options how = {.start = RUN_FRESH};
    const int all = argc;
    char **arguments = options_copy(argc, argv);
    options_settings("run", &s, &argc, argv);
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--resume"))
            resumed = true;
        else if (!strcmp(argv[i], "--force"))
            forced = true;
        else if (!strcmp(argv[i], "--list") && argc > 2)
            die("run: --list stands alone");
        else if (!strcmp(argv[i], "--list"))
            return list();
        else if (!strcmp(argv[i], "--quiet"))
            how.quiet = true;
        else if (!strcmp(argv[i], "--allow-different-machine"))
            how.allow_different_machine = true;
        else if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            return fputs(help, stdout) < 0;
        else if (argv[i][0] != '-')
            die("run: nothing but options expected, not '%s'; the directory of a run: --out %s", argv[i], argv[i]);
        else
            options_refuse("run", argv[i], own, true);
    if (resumed && forced)
        die("run: --resume goes on with a run and --force replaces it: one of them");
    if (resumed)
        go_on(&s, all, arguments);
    free(arguments);
    how.start = resumed ? RUN_RESUME : forced ? RUN_FORCE : RUN_FRESH;
    const bool good = experiment_run(&s, &how);
    settings_free(&s);
    return good ? 0 : STATUS_DIVERGED;
}
