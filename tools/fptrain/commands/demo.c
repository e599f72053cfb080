/* SPDX-License-Identifier: BSD-2-Clause */
/* demo.c - fptrain demo: one small network in FP32, FP16 and FP8, with loss scaling and without. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "commands/commands.h"
#include "report/chart.h"
#include "report/log_values.h"
#include "report/run_data.h"
#include "run/experiment.h"

static const char help[] = "Usage: fptrain demo [--force] [DIR]\n"
                           "Trains LeNet on drawn digits in FP32, and in FP16 and FP8 without and with loss scaling:\n"
                           "prints a table and draws DIR/curves.svg (default of DIR: fptrain-demo).\n"
                           "What an earlier demo left in DIR is replaced with --force alone.\n";

/* FP8 is E4M3 for all tensors: its range is what makes loss scaling needed. */
typedef struct variant {
    const char *name, *format, *scaler, *scale;
} variant;
static const variant variants[] = {{"fp32", "fp32", "none", "0"},
                                   {"fp16", "fp16", "none", "0"},
                                   {"fp16-scaled", "fp16", "backoff", "65536"},
                                   {"fp8", "e4m3fn:saturate", "none", "0"},
                                   {"fp8-scaled", "e4m3fn:saturate", "backoff", "256"}};
enum { VARIANTS = sizeof variants / sizeof *variants };

static const char *const common[][3] = {{"model", "name", "lenet"},      {"data", "source", "digits"},
                                        {"data", "train_count", "4000"}, {"data", "test_count", "1000"},
                                        {"train", "epochs", "5"},        {"train", "batch", "128"},
                                        {"train", "lr", "0.03"},         {"train", "schedule", "cosine"},
                                        {"output", "log_every", "1"},    {"output", "checkpoint_every", "0"},
                                        {"output", "histograms", "yes"}};

static void train(const variant *v, const char *directory)
{
    static const char *const roles[] = {"v", "w", "dv", "dw"};
    settings s;
    settings_default(&s);
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        settings_fix(&s, common[i][0], common[i][1], common[i][2]);
    for (int i = 0; i < 4; i++)
        settings_fix(&s, "formats", roles[i], v->format);
    settings_fix(&s, "scaler", "name", v->scaler);
    settings_fix(&s, "scaler", "scale", v->scale);
    settings_fix(&s, "output", "directory", directory);
    settings_fix(&s, "train", "diverged", "continue");                            /* that is what is shown */
    experiment_run(&s, &(experiment_options){.start = RUN_FORCE, .quiet = true}); /* it was looked at before */
    settings_free(&s);
}

/* Gradients other than zero, how many of them became zero, and how many overflowed. */
typedef struct tally {
    double elements, vanished, overflow;
} tally;
typedef struct tallies {
    tally first, all; /* of the first steps, of all */
    uint64_t step;
} tallies;
enum { FIRST = 10 };

static void tell_step(void *to, uint64_t step)
{
    ((tallies *)to)->step = step;
}

static void add(tally *t, const char *name, double n)
{
    t->elements += !strncmp(name, "count/", 6) ? n : !strncmp(name, "zeros/", 6) ? -n : 0;
    t->vanished += !strncmp(name, "underflow/", 10) ? n : 0;
    t->overflow += !strncmp(name, "overflow/", 9) ? n : 0;
}

static void tell_value(void *to, const log_value *v)
{
    tallies *t = to;
    if (!v->role || v->role[0] != 'd')
        return;
    add(&t->all, v->name, v->real);
    if (t->step <= FIRST)
        add(&t->first, v->name, v->real);
}

static void print_row(const run *r, const variant *v)
{
    tallies t = {.step = 0};
    trouble why;
    if (!log_visit(r->name, &(log_visitor){&t, tell_step, tell_value, NULL}, &why))
        die("demo: %s", why.text);
    printf("%-12s %7.1f %%  %7.1f %%", v->name, 100 * r->last, 100 * r->last_fp32);
    if (t.all.elements > 0)
        printf("  %9.0f  %7.2f %%  %7.2f %%", t.all.overflow, 100 * t.first.vanished / t.first.elements,
               100 * t.all.vanished / t.all.elements);
    else
        printf("  %9s  %9s  %9s", "-", "-", "-");
    printf("  %7llu\n", (unsigned long long)r->skipped);
    fflush(stdout);
}

static void draw(const char *path, const run *runs)
{
    run named[VARIANTS];
    static const chart charts[] = {
        {.title = "Loss of each step", .place = offsetof(run, loss), .logarithmic = true},
        {.title = "Test accuracy in the formats of training", .place = offsetof(run, accuracy), .percent = true}};
    for (int i = 0; i < VARIANTS; i++) { /* in the legend without the directory that all share */
        named[i] = runs[i];
        named[i].name = strrchr(runs[i].name, '/') + 1;
    }
    atomic_file out = output_open("demo", path);
    charts_write_alone(out.file, 2, charts, &(curves){.count = VARIANTS, .run = named});
    output_commit("demo", &out);
}

/* All of them before the first is trained. */
static void look_first(const char *directory)
{
    char path[SETTINGS_TEXT];
    for (int i = 0; i < VARIANTS; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, variants[i].name);
        if (occupied(path))
            die("demo: %s holds a run already: --force replaces it, another DIR keeps it", path);
    }
}

int command_demo(int argc, char **argv)
{
    run runs[VARIANTS];
    trouble why;
    char path[SETTINGS_TEXT];
    if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
        return fputs(help, stdout) < 0;
    const bool forced = argc > 1 && !strcmp(argv[1], "--force");
    const char *directory = argc > 1 + forced ? argv[1 + forced] : "fptrain-demo";
    if (argc > 2 + forced || !directory[0] || directory[0] == '-' || strlen(directory) > SETTINGS_TEXT - 32)
        die("demo: at most a directory expected; see 'fptrain demo --help'");
    if (!forced)
        look_first(directory);
    (void)mkdir(directory, 0777); /* what goes wrong shows when the first run writes */

    printf("LeNet on 4000 drawn digits, 5 epochs            underflow\n"
           "             accuracy    in FP32   overflow  in %d steps     in all  skipped\n",
           FIRST);
    for (int i = 0; i < VARIANTS; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, variants[i].name);
        train(&variants[i], path);
        if (!run_load(&runs[i], path, &why))
            die("demo: %s", why.text);
        print_row(&runs[i], &variants[i]);
    }
    snprintf(path, sizeof path, "%s/curves.svg", directory);
    draw(path, runs);
    for (int i = 0; i < VARIANTS; i++)
        run_free(&runs[i]);
    printf(
        "\nUnderflow is the share of the gradients other than zero that rounding made zero; a run that collapses has\n"
        "other gradients afterwards, so that its first %d steps tell more than all.\n",
        FIRST);
    printf("\nCurves of loss and accuracy: %s\n", path);
    return 0;
}
