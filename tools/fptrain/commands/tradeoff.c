/* SPDX-License-Identifier: BSD-2-Clause */
/* tradeoff.c - fptrain tradeoff: accuracy against low-precision ratio, over a sweep of assignments. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "common/atomic_file.h"
#include "data/origin.h"
#include "run/lock.h"
#include "sweep/sweep.h"

static const char help[] =
    "Usage: fptrain tradeoff --out DIR [OPTION...]\n"
    "Trains a network under many precision assignments; a table and a plot of accuracy against\n"
    "low-precision ratio. Run again, it goes on where it was stopped.\n"
    "\n"
    "      --out DIR             a directory for each run, table.txt and tradeoff.svg\n"
    "      --ratios FROM:TO:STEP for the schemes by ratio (default: 0:1:0.1)\n"
    "      --schemes LIST        of fp32, uniform, op, op+out, ratio, ratio-increasing and\n"
    "                            ratio-random (default: fp32,uniform,op,op+out,ratio)\n"
    "      --promote WHICH       paper (default: schemes by ratio and by group), on, off or both\n"
    "      --thresholds LIST     of promotion (default: 0.01)\n"
    "      --orders N            of ratio-random (default: 3)\n"
    "      --exhaustive          every set of low groups, in networks of at most 8 groups\n"
    "      --parts N             chooses a ratio on part 1 of N of the training data (data.part), and\n"
    "                            trains with it and in FP32 on each of the others; parts.txt\n"
    "      --drop POINTS         of accuracy that the chosen ratio may lose to FP32 (default: 1)\n"
    "      --seeds N             runs of each assignment (default: 4)\n"
    "      --jobs N              runs side by side, as far as memory goes (default: 1)\n"
    "      --memory MB           that they may use (default: what is free)\n"
    "      --plan                says what would be run, and ends\n"
    "      --config FILE, --set SECTION.KEY=VALUE, --model NAME and other options of run\n"
    "      --policy assign:TEXT  settings that all assignments share: formats, roundings\n"
    "  -h, --help\n"
    "\n"
    "fp32 is trained without loss scaling; the others with that of the settings, or where they\n"
    "say none with backoff, which grows after an epoch of clean steps.\n";

typedef struct order { /* what the command line says */
    sweep sweep;
    wishes wishes;
    int parts;   /* 0: all data at once */
    double drop; /* below 0: not said */
    bool plan;
    int lock; /* of --out, up to the end; below 0: not taken, or none on this file system */
} order;

static void read_ratios(wishes *w, const char *text)
{
    int end = 0;
    const bool plain = strspn(text, "0123456789.eE+-:") == strlen(text); /* sscanf() takes blanks, too */
    if (!plain || sscanf(text, "%lf:%lf:%lf%n", &w->first, &w->last, &w->step, &end) < 3 || text[end] ||
        !(w->first >= 0) || !(w->last >= w->first && w->last <= 1) || !(w->step >= 0.001))
        die("tradeoff: --ratios: '%s' is not FROM:TO:STEP with 0 <= FROM <= TO <= 1 and STEP >= 0.001", text);
}

/* The words of a list, one at a time; the list is used up. */
static bool next_word(const char **list, char *word, size_t capacity)
{
    const size_t length = strcspn(*list, ",");
    if (!**list)
        return false;
    snprintf(word, capacity, "%.*s", (int)(length < capacity ? length : capacity - 1), *list);
    *list += length + ((*list)[length] == ',');
    return true;
}

static void read_schemes(wishes *w, const char *list)
{
    char word[32];
    memset(w->schemes, 0, sizeof w->schemes);
    while (next_word(&list, word, sizeof word)) {
        int i = 0;
        while (i < SCHEME_GROUPS && strcmp(word, scheme_name((scheme)i)) != 0)
            i++;
        if (i == SCHEME_GROUPS)
            die("tradeoff: --schemes: '%s' is none of fp32, uniform, op, op+out, ratio, ratio-increasing, ratio-random",
                word);
        w->schemes[i] = true;
    }
}

static void read_thresholds(wishes *w, const char *list)
{
    char word[32];
    w->thresholds = 0;
    while (next_word(&list, word, sizeof word))
        if (w->thresholds == 8 || !number_real(word, 0, 1, &w->threshold[w->thresholds++]))
            die("tradeoff: --thresholds: at most 8 numbers from 0 to 1, not '%s'", word);
    if (!w->thresholds)
        die("tradeoff: --thresholds: a number is missing");
}

static void read_promote(wishes *w, const char *word)
{
    static const char *const words[] = {
        [PROMOTE_PAPER] = "paper", [PROMOTE_ALL] = "on", [PROMOTE_NONE] = "off", [PROMOTE_BOTH] = "both"};
    for (int i = 0; i < 4; i++)
        if (!strcmp(word, words[i])) {
            w->promote = (promoting)i;
            return;
        }
    die("tradeoff: --promote: '%s' is none of paper, on, off, both", word);
}

static double read_drop(const char *text)
{
    double drop;
    if (!number_real(text, 0, 100, &drop))
        die("tradeoff: --drop: '%s' is not from 0 to 100", text);
    return drop;
}

static void read_own_options(order *o, int argc, char **argv)
{
    enum { RATIOS = 256, SCHEME_LIST, PROMOTE, THRESHOLDS, ORDERS, EXHAUSTIVE, PARTS, DROP, SEEDS, JOBS, MEMORY, PLAN };
    static const struct option longs[] = {{"ratios", required_argument, NULL, RATIOS},
                                          {"schemes", required_argument, NULL, SCHEME_LIST},
                                          {"promote", required_argument, NULL, PROMOTE},
                                          {"thresholds", required_argument, NULL, THRESHOLDS},
                                          {"orders", required_argument, NULL, ORDERS},
                                          {"exhaustive", no_argument, NULL, EXHAUSTIVE},
                                          {"seeds", required_argument, NULL, SEEDS},
                                          {"jobs", required_argument, NULL, JOBS},
                                          {"memory", required_argument, NULL, MEMORY},
                                          {"plan", no_argument, NULL, PLAN},
                                          {"parts", required_argument, NULL, PARTS},
                                          {"drop", required_argument, NULL, DROP},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        switch (option) {
        case RATIOS: read_ratios(&o->wishes, optarg); break;
        case SCHEME_LIST: read_schemes(&o->wishes, optarg); break;
        case PROMOTE: read_promote(&o->wishes, optarg); break;
        case THRESHOLDS: read_thresholds(&o->wishes, optarg); break;
        case ORDERS: o->wishes.orders = options_whole("tradeoff", "orders", optarg, 1000); break;
        case EXHAUSTIVE: o->wishes.exhaustive = true; break;
        case PARTS: o->parts = options_whole("tradeoff", "parts", optarg, 1000); break;
        case DROP: o->drop = read_drop(optarg); break;
        case SEEDS: o->sweep.seeds = options_whole("tradeoff", "seeds", optarg, 1000); break;
        case JOBS: o->sweep.jobs = options_whole("tradeoff", "jobs", optarg, 1024); break;
        case MEMORY: o->sweep.memory = 1e6 * options_whole("tradeoff", "memory", optarg, 1 << 30); break;
        case PLAN: o->plan = true; break;
        case 'h': fputs(help, stdout); exit(fflush(stdout) != 0);
        default: options_refuse("tradeoff", argv[optind - 1], longs, true);
        }
    }
    if (optind < argc)
        die("tradeoff: nothing but options expected, not '%s'", argv[optind]);
}

/* What a sweep writes beside its runs is none of what they read. */
static void spare_what_is_read(const order *o)
{
    static const char *const names[] = {"table.txt", "tradeoff.svg", "parts.txt"};
    const settings *s = &o->sweep.base;
    const char *directory = s->output.directory;
    if (origin_reads_all_of(s->data.source, s->data.test, directory))
        die("tradeoff: --out: what lies in '%.200s' is read as texts", directory);
    for (int i = 0; i < 3; i++) {
        char *path = path_join(directory, names[i]);
        options_apart("tradeoff", s, 1, &(option_file){"--out", path, OPTION_WRITES});
        free(path);
    }
}

static order read_options(int argc, char **argv)
{
    order o = {.sweep = {.seeds = 4, .jobs = 1},
               .drop = -1,
               .lock = -1,
               .wishes = {.last = 1, .step = 0.1, .thresholds = 1, .threshold = {0.01}}};
    read_schemes(&o.wishes, "fp32,uniform,op,op+out,ratio");
    options_settings("tradeoff", &o.sweep.base, &argc, argv);
    read_own_options(&o, argc, argv);
    const char *policy = o.sweep.base.policy.name;
    if (strcmp(policy, "fixed") && strncmp(policy, "assign:", 7))
        die("tradeoff: what the assignments share is 'assign:SETTINGS', not '%s'", policy);
    if (o.sweep.base.format_count)
        die("tradeoff: [formats] says nothing here; formats are settings of --policy assign:...");
    if (!o.sweep.base.output.directory[0])
        die("tradeoff: --out DIR is missing");
    spare_what_is_read(&o);
    if (o.parts && (o.parts < 2 || o.sweep.base.data.part[0]))
        die("tradeoff: --parts takes at least 2, and sets data.part itself");
    if (o.drop >= 0 && !o.parts)
        die("tradeoff: --drop is for --parts");
    if (o.wishes.orders && !o.wishes.schemes[SCHEME_RATIO_RANDOM])
        die("tradeoff: --orders is for the scheme ratio-random");
    o.drop = o.drop >= 0 ? o.drop : 1;
    o.wishes.orders = o.wishes.orders ? o.wishes.orders : 3;
    if (!strcmp(o.sweep.base.scaler.name, "none")) /* Lee et al.; but for FP32 */
        memcpy(o.sweep.base.scaler.name, "backoff", sizeof "backoff");
    if (!strcmp(policy, "fixed"))
        memcpy(o.sweep.base.policy.name, "assign:", sizeof "assign:");
    return o;
}

/* ---------------------------------------------------------------------------------------------- time */

/* Seconds of a run, from a few steps, with forward passes over the test data as a third of a step. */
static double time_of_run(const sweep *s, trainer *t)
{
    enum { STEPS = 4 };
    step_result result;
    if (!trainer_step(t, 0, false, &result))
        return 0;
    const double began = clock_seconds();
    int steps = 0;
    while (steps < STEPS && trainer_step(t, 0, false, &result))
        steps++;
    const double step = steps ? (clock_seconds() - began) / steps : clock_seconds() - began;
    const double tests = (double)loader_batches(&t->testing) * 2 / 3; /* rounded and in FP32 */
    return step * ((double)s->steps + tests) * s->base.train.epochs;
}

static void say_plan(const sweep *s, trainer *t)
{
    const int missing = sweep_missing(s), all = s->count * s->seeds;
    printf("%d assignments, %d seed%s: %d runs, of which %d are finished\n", s->count, s->seeds,
           s->seeds > 1 ? "s" : "", all, all - missing);
    if (missing) {
        const double run = time_of_run(s, t);
        char one[CLOCK_TEXT], all[CLOCK_TEXT];
        printf("about %s for a run, at most %s for the %d that are missing, %d side by side\n", clock_print(one, run),
               clock_print(all, run * ceil((double)missing / s->jobs)), missing, s->jobs);
    }
    fflush(stdout);
}

/* ---------------------------------------------------------------------------------------------- sweeps */

/* Before anything is said of what is there: a second sweep would start the same runs. */
static void take_lock(order *o)
{
    trouble why;
    const char *directory = o->sweep.base.output.directory;
    if (o->lock < 0 && (!directory_make(directory, &why) || !lock_take(directory, &o->lock, &why)))
        die("tradeoff: %s", why.text);
}

/* Plans a sweep, says so, and unless that is all, runs it. How many runs failed. */
static int run_sweep(order *o, sweep *s, const wishes *w)
{
    trouble why;
    trainer *t = trainer_new(&s->base, &why);
    if (!t)
        die("tradeoff: %s", why.text);
    sweep_plan(s, w, t);
    if (!o->plan)
        take_lock(o);
    say_plan(s, t);
    trainer_free(t);
    if (o->plan)
        return 0;
    const int failed = sweep_run(s);
    sweep_collect(s);
    sweep_table(s);
    sweep_plot(s);
    return failed;
}

/* The sweep over part k (from 1), in a directory of its own below that of the whole. */
static sweep part_sweep(const order *o, int k)
{
    sweep s = o->sweep;
    s.base = settings_copy(&o->sweep.base);
    char part[32], directory[SETTINGS_TEXT + 32];
    snprintf(part, sizeof part, "%d/%d", k, o->parts);
    snprintf(directory, sizeof directory, "%s/part-%d", o->sweep.base.output.directory, k);
    settings_fix(&s.base, "data", "part", part);
    settings_fix(&s.base, "output", "directory", directory);
    return s;
}

/* FP32 and what was chosen. */
static wishes only(const wishes *all, const trial *chosen)
{
    wishes w = *all;
    memset(w.schemes, 0, sizeof w.schemes);
    w.schemes[SCHEME_FP32] = w.schemes[SCHEME_RATIO] = true;
    w.exhaustive = false;
    w.first = w.last = chosen->asked;
    w.promote = chosen->promote ? PROMOTE_ALL : PROMOTE_NONE;
    w.thresholds = 1;
    w.threshold[0] = chosen->threshold;
    return w;
}

static int run_parts(order *o)
{
    sweep *parts = need((size_t)o->parts, sizeof *parts);
    wishes first = o->wishes;
    const trial *chosen = NULL;
    int failed = 0, done = 0;
    first.schemes[SCHEME_FP32] = first.schemes[SCHEME_RATIO] = true;
    for (int k = 0; k < o->parts && !failed && (k == 0 || chosen); k++, done++) {
        const wishes later = chosen ? only(&o->wishes, chosen) : first;
        parts[k] = part_sweep(o, k + 1);
        parts[k].out = parts[k].base.output.directory;
        printf("%spart %d of %d\n", k ? "\n" : "", k + 1, o->parts);
        failed = run_sweep(o, &parts[k], &later);
        if (k == 0)
            chosen = sweep_choose(&parts[0], o->drop);
    }
    if (chosen && !failed)
        sweep_parts_table(o->sweep.base.output.directory, parts, o->parts, chosen, o->drop);
    else if (o->plan)
        printf("then FP32 and the chosen ratio on each of the other %d parts: %d runs\n", o->parts - 1,
               2 * o->sweep.seeds * (o->parts - 1));
    else if (!failed)
        fprintf(stderr, "fptrain: tradeoff: no ratio is within %g points of FP32 on part 1\n", o->drop);
    for (int k = 0; k < done; k++)
        sweep_free(&parts[k]);
    free(parts);
    return failed || (!chosen && !o->plan);
}

int command_tradeoff(int argc, char **argv)
{
    order o = read_options(argc, argv);
    if (o.parts) {
        const int stopped = run_parts(&o);
        lock_release(o.lock);
        settings_free(&o.sweep.base);
        return stopped;
    }
    char out[SETTINGS_TEXT];
    memcpy(out, o.sweep.base.output.directory, sizeof out);
    o.sweep.out = out;
    const int failed = run_sweep(&o, &o.sweep, &o.wishes);
    if (failed)
        fprintf(stderr, "fptrain: tradeoff: %d runs failed\n", failed);
    lock_release(o.lock);
    sweep_free(&o.sweep);
    return failed > 0;
}
