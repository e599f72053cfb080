/* command_estimate.c - fptrain estimate: how long MuPPET's levels would take on given hardware. */
#define _POSIX_C_SOURCE 200809L
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "estimate.h"
#include "muppet.h"
#include "network.h"
#include "report.h"

static const char help[] =
    "Usage: fptrain estimate --hardware FILE.json [OPTION...] [DIR...]\n"
    "Time of a training step on hardware with narrow products, and of whole runs of MuPPET.\n"
    "\n"
    "      --hardware FILE  throughputs and bandwidth (estimate.h says how; share/fptrain/hardware)\n"
    "      --model NAME     the network (default: lenet); --batch N; --data, --config, --set as in run\n"
    "      --shape CxHxW    of the images, --classes N, instead of those of the data\n"
    "      --samples N      of a policy epoch (default: 50000)\n"
    "      --switch A/B/... policy epochs after which the word length grows, instead of runs\n"
    "      --policy-epochs N\n"
    "                       of a run given by --switch, and of the FP32 run that all are compared with\n"
    "                       (default: as many as the run itself)\n"
    "  -h, --help\n"
    "\n"
    "DIR is the directory of a run with --policy muppet. `ideal` leaves out the time that rounding to and\n"
    "from FP32 takes, `current` has it: each tensor read and written once.\n";

typedef struct wish {
    settings run;
    model_shape shape;
    hardware hardware;
    muppet_settings muppet;
    int samples, epochs;
} wish;

static int whole(const char *name, const char *text)
{
    char *end;
    const long x = strtol(text, &end, 10);
    if (end == text || *end || x < 1 || x > 100000000)
        die("estimate: --%s is a whole number from 1, not '%s'", name, text);
    return (int)x;
}

static void read_options(wish *w, int argc, char **argv)
{
    enum { HARDWARE = 256, SHAPE, CLASSES, SAMPLES, SWITCH, EPOCHS };
    static const struct option longs[] = {{"hardware", required_argument, NULL, HARDWARE},
                                          {"shape", required_argument, NULL, SHAPE},
                                          {"classes", required_argument, NULL, CLASSES},
                                          {"samples", required_argument, NULL, SAMPLES},
                                          {"switch", required_argument, NULL, SWITCH},
                                          {"policy-epochs", required_argument, NULL, EPOCHS},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    trouble why;
    char text[128];
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        bool good = true;
        switch (option) {
        case HARDWARE: good = hardware_read(&w->hardware, optarg, &why); break;
        case SHAPE: good = model_shape_read(&w->shape, "shape", optarg, &why); break;
        case CLASSES: good = model_shape_read(&w->shape, "classes", optarg, &why); break;
        case SAMPLES: w->samples = whole("samples", optarg); break;
        case EPOCHS: w->epochs = whole("policy-epochs", optarg); break;
        case SWITCH:
            snprintf(text, sizeof text, "switch=%s", optarg);
            good = muppet_read(&w->muppet, text, &why);
            break;
        case 'h':
            fputs(help, stdout);
            exit(0);
        default: die("estimate: unknown option '%s', or it lacks its value; see 'fptrain estimate --help'",
                     argv[optind - 1]);
        }
        if (!good)
            die("estimate: %s", why.text);
    }
    if (!w->hardware.count)
        die("estimate: --hardware FILE is needed; see 'fptrain estimate --help'");
}

/* ---------------------------------------------------------------------------------------------- runs */

typedef struct schedule {
    int levels, bits[MUPPET_LEVELS + 1], epochs[MUPPET_LEVELS + 1]; /* the last one: FP32, 0 bits */
} schedule;

static schedule schedule_of(const muppet_settings *m, int switches, const int *at, int epochs)
{
    schedule s = {.levels = switches < m->levels ? switches + 1 : m->levels + 1};
    int from = 0;
    for (int i = 0; i < s.levels; i++) {
        const int end = i < switches ? at[i] + 1 : epochs;
        s.bits[i] = i < m->levels ? m->bits[i] : 0;
        s.epochs[i] = end > from ? end - from : 0;
        from = end > from ? end : from;
    }
    return s;
}

/* What the log of a run of MuPPET tells. */
static schedule schedule_read(const char *directory, int *epochs)
{
    trouble why;
    run r;
    if (!run_load(&r, directory, &why))
        die("estimate: %s", why.text);
    if (!r.bits.count)
        die("estimate: the log of %s has no policy epochs, as a run with the policy muppet has", directory);
    schedule s = {0};
    for (size_t j = 0; j < r.bits.count; j++) {
        const int bits = r.bits.y[j] < 32 ? (int)r.bits.y[j] : 0;
        if (!j || bits != s.bits[s.levels - 1]) {
            if (s.levels > MUPPET_LEVELS)
                die("estimate: the log of %s has more than %d word lengths", directory, MUPPET_LEVELS + 1);
            s.bits[s.levels++] = bits;
        }
        s.epochs[s.levels - 1]++;
    }
    *epochs = (int)r.bits.count;
    run_free(&r);
    return s;
}

static void print_run(const wish *w, const char *name, const schedule *s, int epochs, const step_time *t, double steps)
{
    double current = 0, ideal = 0;
    printf("\n%s\n  epochs:", name);
    for (int i = 0; i < s->levels; i++) {
        const double products = t->products[estimate_unit(s->bits[i])] * steps * s->epochs[i];
        ideal += products;
        current += products + (s->bits[i] ? t->rounding * steps * s->epochs[i] : 0);
        if (s->bits[i])
            printf(" %d at %d bits,", s->epochs[i], s->bits[i]);
        else
            printf(" %d in FP32", s->epochs[i]);
    }
    const int baseline = w->epochs ? w->epochs : epochs;
    const double fp32 = t->products[UNIT_FP32] * steps * baseline;
    const double mixed = t->products[UNIT_FP16] * steps * baseline, rounding = t->rounding * steps * baseline;
    printf("\n  FP32, %d epochs       %10.4g s\n", baseline, fp32);
    printf("  mixed precision      %10.4g s current (%.2f x), %.4g s ideal (%.2f x)\n", mixed + rounding,
           fp32 / (mixed + rounding), mixed, fp32 / mixed);
    printf("  MuPPET               %10.4g s current (%.2f x), %.4g s ideal (%.2f x)\n", current, fp32 / current, ideal,
           fp32 / ideal);
}

int command_estimate(int argc, char **argv)
{
    wish w = {.samples = 50000, .muppet = muppet_defaults()};
    trouble why;
    settings_default(&w.run);
    if (!settings_options(&w.run, &argc, argv, &why))
        die("estimate: %s", why.text);
    read_options(&w, argc, argv);
    graph *g = network_of(&w.run, &w.shape, &why);
    if (!g)
        die("estimate: %s", why.text);
    const int batch = w.run.train.batch;
    const step_time t = estimate_step(g, &w.hardware, batch);
    const double steps = (double)((w.samples + batch - 1) / batch);
    printf("%s on %s, batch %d: %.4g multiply-adds and %.4g rounded elements a step\n", w.run.model.name,
           w.hardware.name, batch, t.macs, t.elements);
    printf("%-6s %14s %14s %14s\n", "unit", "products, ms", "rounding, ms", "epoch, s");
    for (int unit = 0; unit < UNITS; unit++) {
        const double rounding = unit == UNIT_FP32 ? 0 : t.rounding;
        printf("%-6s %14.4f %14.4f %14.4f\n", estimate_unit_name(unit), 1e3 * t.products[unit], 1e3 * rounding,
               (t.products[unit] + rounding) * steps);
    }
    if (w.muppet.switches) {
        const int epochs = w.epochs ? w.epochs : w.muppet.switch_at[w.muppet.switches - 1] + 1 + w.muppet.tail;
        const schedule s = schedule_of(&w.muppet, w.muppet.switches, w.muppet.switch_at, epochs);
        print_run(&w, "--switch", &s, epochs, &t, steps);
    }
    for (int i = optind; i < argc; i++) {
        int epochs;
        const schedule s = schedule_read(argv[i], &epochs);
        print_run(&w, argv[i], &s, epochs, &t, steps);
    }
    graph_free(g);
    hardware_free(&w.hardware);
    settings_free(&w.run);
    return 0;
}
