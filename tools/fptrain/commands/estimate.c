/* SPDX-License-Identifier: BSD-2-Clause */
/* estimate.c - fptrain estimate: how long MuPPET's levels would take on given hardware, and how wide a network
 * may be in a given memory. */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/options.h"
#include "common/shown.h"
#include "estimate/memory.h"
#include "estimate/time.h"
#include "policies/muppet.h"
#include "report/estimate_plot.h"
#include "report/group.h"
#include "report/run_data.h"
#include "run/network.h"

static const char help[] =
    "Usage: fptrain estimate --hardware FILE.json [OPTION...] [DIR...]\n"
    "       fptrain estimate --memory BYTES [OPTION...]\n"
    "Time of a training step on hardware with narrow products, and of whole runs of MuPPET; or how wide\n"
    "a network may be in a memory.\n"
    "\n"
    "      --hardware FILE  throughputs and bandwidth (JSON; share/fptrain/hardware)\n"
    "      --model NAME     the network (default: lenet); --batch N; --data, --config, --set as in run\n"
    "      --shape CxHxW    of the images, or 'text', --classes N, instead of those of the data\n"
    "      --samples N      of a policy epoch (default: 50000)\n"
    "      --switch A/B/... policy epochs after which the word length grows, instead of runs\n"
    "      --policy-epochs N\n"
    "                       of a run given by --switch, and of the FP32 run that all are compared with\n"
    "                       (default: as many as the run itself)\n"
    "      --plot FILE      SVG of the runs: time over that of the FP32 run against accuracy\n"
    "      --memory BYTES   (or with K, M, G) the largest width, in steps of 0.01 up to 16, whose parameters,\n"
    "                       gradients, optimiser and their workspace fit: momentum and adam, FP32 and packed\n"
    "  -h, --help\n"
    "\n"
    "DIR is the directory of a run with --policy muppet, in FP32, or with muppet(N) for every tensor, of the model\n"
    "and the batch of the options, which --config DIR/settings.ini takes from it. `ideal` leaves out the time\n"
    "that rounding to and from FP32 takes, `current` has it: each tensor read and written once. Runs whose\n"
    "directories differ in a last number (random-1, random-2) belong together.\n";

typedef struct wish {
    settings run;
    model_shape shape;
    bool shape_given;
    hardware hardware;
    muppet_settings muppet;
    int samples, epochs; /* 0: not said */
    uint64_t memory;
    const char *plot, *table; /* NULL: none; of the hardware */
    run *runs;                /* those of the directories */
} wish;

/* A whole number, then maybe a unit of 1024, 1024^2 or 1024^3. */
static uint64_t read_bytes(const char *text)
{
    static const char units[] = "KMG";
    char *end;
    const unsigned long long x = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    const int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (*text < '0' || *text > '9' || end[unit != NULL] || x < 1 || x > UINT64_C(1) << (50 - shift))
        die("estimate: --memory is a number of bytes up to 2^50, such as 11G, not '%s'", text);
    return (uint64_t)x << shift;
}

static void read_options(wish *w, int argc, char **argv)
{
    enum { HARDWARE = 256, SHAPE, CLASSES, SAMPLES, SWITCH, EPOCHS, PLOT, MEMORY };
    static const struct option longs[] = {{"hardware", required_argument, NULL, HARDWARE},
                                          {"shape", required_argument, NULL, SHAPE},
                                          {"classes", required_argument, NULL, CLASSES},
                                          {"samples", required_argument, NULL, SAMPLES},
                                          {"switch", required_argument, NULL, SWITCH},
                                          {"policy-epochs", required_argument, NULL, EPOCHS},
                                          {"plot", required_argument, NULL, PLOT},
                                          {"memory", required_argument, NULL, MEMORY},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    trouble why;
    char text[128];
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        bool good = true;
        switch (option) {
        case HARDWARE: /* the last one counts */
            hardware_free(&w->hardware);
            w->table = optarg;
            good = hardware_read(&w->hardware, optarg, &why);
            break;
        case SHAPE: good = model_shape_read(&w->shape, "shape", optarg, &why); break;
        case CLASSES: good = model_shape_read(&w->shape, "classes", optarg, &why); break;
        case SAMPLES: w->samples = options_whole("estimate", "samples", optarg, 100000000); break;
        case EPOCHS: w->epochs = options_whole("estimate", "policy-epochs", optarg, 100000000); break;
        case PLOT: w->plot = options_output("estimate", optarg); break;
        case MEMORY: w->memory = read_bytes(optarg); break;
        case SWITCH:
            snprintf(text, sizeof text, "switch=%s", optarg);
            good = muppet_read(&w->muppet, text, &why);
            break;
        case 'h': fputs(help, stdout); exit(0);
        default: options_refuse("estimate", argv[optind - 1], longs, true);
        }
        if (!good)
            die("estimate: %s", why.text);
    }
    if (!w->hardware.count && !w->memory)
        die("estimate: --hardware FILE is needed; see 'fptrain estimate --help'");
    if (w->memory && (w->hardware.count || w->plot || w->muppet.switches || w->samples || w->epochs || optind < argc))
        die("estimate: --memory goes with a network and its formats alone");
    if (w->plot && (optind == argc || !w->epochs))
        die("estimate: --plot takes directories of runs, and --policy-epochs N of the FP32 run");
    if (w->epochs && !w->muppet.switches && optind == argc)
        die("estimate: --policy-epochs is for --switch or directories of runs");
    options_apart("estimate", &w->run, 2,
                  (const option_file[]){{"--plot", w->plot, OPTION_WRITES}, {"--hardware", w->table, OPTION_READS}});
}

/* ---------------------------------------------------------------------------------------------- runs */

typedef struct schedule {
    int levels, bits[MUPPET_LEVELS + 1]; /* the last one: FP32, 0 bits */
    double epochs[MUPPET_LEVELS + 1];
} schedule;

/* Of a run that ends after so many policy epochs, maybe before its last switches. */
static schedule schedule_of(const muppet_settings *m, int switches, const int *at, int epochs)
{
    const int levels = switches < m->levels ? switches + 1 : m->levels + 1;
    schedule s = {.levels = 0};
    int from = 0;
    while (s.levels < levels && from < epochs) {
        const int i = s.levels++, end = i < switches && at[i] < epochs ? at[i] + 1 : epochs;
        s.bits[i] = i < m->levels ? m->bits[i] : 0;
        s.epochs[i] = end > from ? end - from : 0;
        from = end > from ? end : from;
    }
    return s;
}

/* The one word length of all tensors of a run without policy epochs; 0: FP32. */
static int fixed_bits(const run *r)
{
    const settings *s = &r->settings;
    bool named[ROLES] = {false};
    int bits = 0, more;
    for (int i = 0; i < s->format_count; i++) {
        int end = 0; /* stays where no bracket closes */
        const char *spec = s->formats[i].spec;
        const bool plain = sscanf(spec, "muppet(%5d)%n", &more, &end) == 1 && end && !spec[end];
        if (!plain || (i && more != bits))
            return -1;
        bits = more;
        for (int k = 0; k < ROLES; k++)
            named[k] = named[k] || !strcmp(s->formats[i].pattern, role_name((role)k));
    }
    if (strcmp(s->policy.name, "fixed") || (bits && !(named[0] && named[1] && named[2] && named[3])))
        return -1;
    return bits;
}

/* What the log of a run tells. `steps` are those of a policy epoch. */
static schedule schedule_of_run(const run *r, double steps, double *epochs)
{
    schedule s = {0};
    if (!r->bits.count) {
        const int bits = fixed_bits(r);
        if (bits < 0)
            die("estimate: %s has neither policy epochs, as a run with the policy muppet has, nor one word length for "
                "all tensors",
                r->name);
        *epochs = (double)r->steps / steps;
        return (schedule){.levels = 1, .bits = {bits}, .epochs = {*epochs}};
    }
    for (size_t j = 0; j < r->bits.count; j++) {
        const int bits = r->bits.y[j] < 32 ? (int)r->bits.y[j] : 0;
        if (!j || bits != s.bits[s.levels - 1]) {
            if (s.levels > MUPPET_LEVELS)
                die("estimate: the log of %s has more than %d word lengths", r->name, MUPPET_LEVELS + 1);
            s.bits[s.levels++] = bits;
        }
        s.epochs[s.levels - 1]++;
    }
    *epochs = (double)r->bits.count;
    return s;
}

static bool makes_the_time(const settings_key *key)
{
    return (!strcmp(key->section, "model") && strcmp(key->key, "last") != 0) ||
           (!strcmp(key->section, "train") && !strcmp(key->key, "batch"));
}

/* Data that are not here tell nothing, and a shape that is given is believed. */
static void refuse_other_shape(const wish *w, const run *r)
{
    model_shape own = {0};
    const model_shape *wanted = &w->shape;
    trouble why;
    if (w->shape_given || !network_shape(&r->settings, &own, &why))
        return;
    if (own.c != wanted->c || own.h != wanted->h || own.w != wanted->w || own.classes != wanted->classes ||
        own.steps != wanted->steps)
        die("estimate: %s is of data of another shape: %dx%dx%d in %d classes, not %dx%dx%d in %d", r->name, own.c,
            own.h, own.w, own.classes, wanted->c, wanted->h, wanted->w, wanted->classes);
}

/* The time of a step is that of the options: of another network or batch it says nothing. */
static void refuse_other(const wish *w, const run *r)
{
    char its[SETTINGS_TEXT], wanted[SETTINGS_TEXT];
    settings_key key;
    const int i = settings_difference(&r->settings, &w->run, makes_the_time);
    if (i >= 0 && settings_table(i, &key))
        die("estimate: %s has %s.%s = %s, not %s; '--config DIR/settings.ini' takes what a run had", r->name,
            key.section, key.key, settings_value(&r->settings, i, its), settings_value(&w->run, i, wanted));
    if (!settings_same_network(&r->settings, &w->run))
        die("estimate: %s is of another text of the network %s", r->name, w->run.model.name);
    refuse_other_shape(w, r);
}

static void load_runs(wish *w, int count, char **directory)
{
    trouble why;
    w->runs = need((size_t)count + 1, sizeof *w->runs);
    for (int i = 0; i < count; i++) {
        run *const r = &w->runs[i];
        if (!run_load(r, directory[i], &why))
            die("estimate: %s", why.text);
        refuse_other(w, r);
        for (int j = 0; j < i; j++)
            if (group_same_run(r, &w->runs[j]))
                die("estimate: '%s' and '%s' are one run", w->runs[j].name, r->name);
    }
}

/* Its times over those of FP32 go to `to`. */
static void print_run(const wish *w, const char *name, const schedule *s, double epochs, const step_time *t,
                      double steps, estimated_run *to)
{
    double current = 0, ideal = 0;
    putchar('\n');
    shown_put(stdout, name);
    fputs("\n  epochs:", stdout);
    for (int i = 0; i < s->levels; i++) {
        const double products = t->products[estimate_unit(s->bits[i])] * steps * s->epochs[i];
        ideal += products;
        current += products + (s->bits[i] ? t->rounding * steps * s->epochs[i] : 0);
        if (s->bits[i])
            printf(" %g at %d bits%s", s->epochs[i], s->bits[i], i + 1 < s->levels ? "," : "");
        else
            printf(" %g in FP32", s->epochs[i]);
    }
    const double baseline = w->epochs ? w->epochs : epochs;
    const double fp32 = t->products[UNIT_FP32] * steps * baseline;
    const double mixed = t->products[UNIT_FP16] * steps * baseline, rounding = t->rounding * steps * baseline;
    printf("\n  FP32, %g epochs       %10.4g s\n", baseline, fp32);
    printf("  mixed precision      %10.4g s current (%.2f x), %.4g s ideal (%.2f x)\n", mixed + rounding,
           fp32 / (mixed + rounding), mixed, fp32 / mixed);
    printf("  %-6s               %10.4g s current (%.2f x), %.4g s ideal (%.2f x)\n",
           s->levels == 1 && !s->bits[0] ? "run" : "MuPPET", current, fp32 / current, ideal, fp32 / ideal);
    to->ideal = ideal / fp32;
    to->current = current / fp32;
}

static void print_runs(const wish *w, int count, const step_time *t, double steps)
{
    run *const runs = w->runs;
    trouble why;
    estimated_run *done = need((size_t)count + 1, sizeof *done);
    for (int i = 0; i < count; i++) {
        double epochs;
        const schedule s = schedule_of_run(&runs[i], steps, &epochs);
        done[i] = (estimated_run){.name = runs[i].name, .best = runs[i].best, .last = runs[i].last};
        print_run(w, runs[i].name, &s, epochs, t, steps, &done[i]);
    }
    if (count > 1 && w->epochs) {
        puts("");
        estimate_table(stdout, done, count);
    }
    char title[256];
    snprintf(title, sizeof title, "%s, width %g, on %s", w->run.model.name, w->run.model.width, w->hardware.name);
    if (w->plot && !estimate_plot(w->plot, title, done, count, &why))
        die("estimate: %s", why.text);
    free(done);
    for (int i = 0; i < count; i++)
        run_free(&runs[i]);
}

/* -------------------------------------------------------------------------------------------- memory */

static void print_widths(wish *w)
{
    static const memory_choice choices[] = {{"momentum", false}, {"momentum", true}, {"adam", false}, {"adam", true}};
    enum { CHOICES = sizeof choices / sizeof *choices };
    memory_fit fit[CHOICES];
    trouble why;
    if (!network_shape(&w->run, &w->shape, &why) ||
        !memory_largest_widths(&w->run, &w->shape, w->memory, CHOICES, choices, fit, &why))
        die("estimate: %s", why.text);
    shown_put(stdout, w->run.model.name);
    printf(" in %" PRIu64 " bytes for parameters, gradients, optimiser and their workspace\n", w->memory);
    printf("%-9s %-7s %6s %12s %14s %10s %14s\n", "optimiser", "kept", "width", "parameters", "stored, bytes",
           "bits each", "workspace");
    for (int i = 0; i < CHOICES; i++) {
        printf("%-9s %-7s ", choices[i].name, choices[i].packed ? "packed" : "fp32");
        if (fit[i].width > 0)
            printf("%6.2f %12" PRIu64 " %14" PRIu64 " %10.3f %14" PRIu64 "\n", fit[i].width, fit[i].parameters,
                   fit[i].memory.stored, 8 * (double)fit[i].memory.stored / (double)fit[i].parameters,
                   fit[i].memory.workspace);
        else
            puts("  none");
    }
    graph *g = network_build(&w->run, &w->shape, &why);
    const int threads = w->run.train.threads > 0 ? w->run.train.threads : 1;
    const double all = g ? memory_of_training(&w->run, g, threads, &why) : NAN;
    if (!isfinite(all))
        die("estimate: %s", why.text);
    printf("a training at width %g: about %.0f MB with all values, batch %d, %d thread%s, without the data\n",
           w->run.model.width, all / 1e6, w->run.train.batch, threads, threads > 1 ? "s" : "");
    graph_free(g);
}

int command_estimate(int argc, char **argv)
{
    wish w = {.muppet = muppet_defaults()};
    trouble why;
    options_settings("estimate", &w.run, &argc, argv);
    read_options(&w, argc, argv);
    if (w.memory) {
        print_widths(&w);
        settings_free(&w.run);
        return 0;
    }
    w.shape_given = w.shape.c != 0;
    graph *g = network_shape(&w.run, &w.shape, &why) ? network_build(&w.run, &w.shape, &why) : NULL;
    if (!g)
        die("estimate: %s", why.text);
    const int batch = w.run.train.batch, count = argc - optind;
    load_runs(&w, count, argv + optind);
    const step_time t = estimate_step(g, &w.hardware, batch);
    const int samples = w.samples ? w.samples : 50000;
    const double steps = (double)((samples + batch - 1) / batch);
    shown_put(stdout, w.run.model.name);
    fputs(" on ", stdout);
    shown_put(stdout, w.hardware.name);
    printf(", batch %d: %.4g multiply-adds and %.4g rounded elements a step\n", batch, t.macs, t.elements);
    printf("%-6s %14s %14s %14s\n", "unit", "products, ms", "rounding, ms", "epoch, s");
    for (int unit = 0; unit < UNITS; unit++) {
        const double rounding = unit == UNIT_FP32 ? 0 : t.rounding;
        printf("%-6s %14.4f %14.4f %14.4f\n", estimate_unit_name(unit), 1e3 * t.products[unit], 1e3 * rounding,
               (t.products[unit] + rounding) * steps);
    }
    if (w.muppet.switches) {
        const int epochs = w.epochs ? w.epochs : w.muppet.switch_at[w.muppet.switches - 1] + 1 + w.muppet.tail;
        const schedule s = schedule_of(&w.muppet, w.muppet.switches, w.muppet.switch_at, epochs);
        print_run(&w, "--switch", &s, epochs, &t, steps, &(estimated_run){0});
    }
    if (count)
        print_runs(&w, count, &t, steps);
    free(w.runs);
    graph_free(g);
    hardware_free(&w.hardware);
    settings_free(&w.run);
    return 0;
}
