/* SPDX-License-Identifier: BSD-2-Clause */
/* data.c - fptrain data: what is there, how often each class occurs, mean and deviation, pictures. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "data/contact_sheet.h"
#include "run/settings.h"

static const char help[] =
    "Usage: fptrain data [WHERE] [OPTION...]\n"
    "What a data set has: samples, classes, mean and deviation of each channel; its pictures.\n"
    "\n"
    "WHERE is digits, shapes, mnist:DIR, cifar10:DIR, cifar100:DIR, text:FILE or a path whose\n"
    "content decides (default: the setting data.source).\n"
    "\n"
    "      --png FILE        the first samples of the training part as a picture\n"
    "      --show            the same in the terminal, in characters of 24-bit colour\n"
    "      --test            of the test part instead\n"
    "      --columns N       samples side by side (default: 10, with --show 4)\n"
    "      --rows N          rows of samples (default: 10, with --show 2)\n"
    "      --config FILE     settings; of these the section [data] counts\n"
    "      --set data.KEY=VALUE\n"
    "  -h, --help\n";

typedef struct wish {
    const char *png;
    bool show, test;
    int columns, rows;
} wish;

static int small_number(const char *option, const char *text)
{
    uint64_t n;
    if (!number_whole(text, 1, 1000, &n))
        die("data: --%s: '%s' is not in 1..1000", option, text);
    return (int)n;
}

static wish read_options(int argc, char **argv)
{
    static const struct option longs[] = {
        {"png", required_argument, NULL, 'p'},  {"show", no_argument, NULL, 's'}, {"test", no_argument, NULL, 't'},
        {"columns", required_argument, NULL, 'c'}, {"rows", required_argument, NULL, 'r'},
        {"help", no_argument, NULL, 'h'},       {NULL, 0, NULL, 0}};
    wish w = {NULL, false, false, 0, 0};
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        switch (option) {
        case 'p': w.png = options_output("data", optarg); break;
        case 's': w.show = true; break;
        case 't': w.test = true; break;
        case 'c': w.columns = small_number("columns", optarg); break;
        case 'r': w.rows = small_number("rows", optarg); break;
        case 'h':
            fputs(help, stdout);
            exit(fflush(stdout) != 0);
        default: options_refuse("data", argv[optind - 1], longs, true);
        }
    }
    return w;
}

static void print_numbers(const dataset *d)
{
    static const char *const channel[] = {"red", "green", "blue"};
    printf("%s: ", d->name);
    if (d->text)
        printf("%zu characters for training, %zu for testing, %d classes\n", d->train.count, d->test.count, d->classes);
    else
        printf("%zu samples for training, %zu for testing, %d classes, %d x %d pixels, %d channel%s\n", d->train.count,
               d->test.count, d->classes, d->w, d->h, d->c, d->c > 1 ? "s" : "");
    for (int c = 0; c < d->c; c++)
        printf("%-9s mean %.6f, deviation %.6f\n", d->c > 1 ? channel[c] : "pixels", d->mean[c], d->deviation[c]);
}

/* Of a text part the labels are the text itself. */
static void print_classes(const dataset *d)
{
    uint64_t counts[2][256] = {{0}, {0}};
    char name[16];
    for (int part = 0; part < 2; part++) {
        const split *s = part ? &d->test : &d->train;
        const uint8_t *labels = !d->text ? s->labels : part ? d->text + d->text_length - s->count : d->text;
        for (size_t i = 0; i < s->count; i++)
            counts[part][labels[i]]++;
    }
    printf("\n%-12s %10s %10s\n", "class", "training", "test");
    for (int i = 0; i < d->classes; i++)
        printf("%-12s %10" PRIu64 " %10" PRIu64 "\n", dataset_class(d, i, name), counts[0][i], counts[1][i]);
}

static void show(const dataset *d, const split *from, const wish *w)
{
    picture p = picture_sheet(d, from, w->columns ? w->columns : 4, w->rows ? w->rows : 2);
    picture_print(&p);
    picture_free(&p);
}

static bool save(const dataset *d, const split *from, const wish *w, trouble *why)
{
    picture p = picture_sheet(d, from, w->columns ? w->columns : 10, w->rows ? w->rows : 10);
    const bool good = picture_png(&p, w->png, why);
    picture_free(&p);
    return good;
}

int command_data(int argc, char **argv)
{
    settings s;
    dataset d;
    trouble why;
    settings_default(&s);
    if (!settings_options(&s, &argc, argv, &why))
        die("data: %s", why.text);
    const wish w = read_options(argc, argv);
    if (argc - optind > 1)
        die("data: one data set at a time, '%s' is one too many", argv[optind + 1]);
    dataset_options options = {.seed = s.data.seed,
                               .train_count = s.data.train_count,
                               .test_count = s.data.test_count,
                               .limit = s.data.limit,
                               .test_limit = s.data.test_limit,
                               .width = s.data.pad,
                               .height = s.data.pad};
    if (!dataset_part_read(s.data.part, &options, &why) ||
        !dataset_open(&d, optind < argc ? argv[optind] : s.data.source, &options, &why))
        die("data: %s", why.text);
    const split *from = w.test ? &d.test : &d.train;
    if ((w.png || w.show) && d.text)
        die("data: a text has no pictures");
    if (w.png && !save(&d, from, &w, &why))
        die("data: %s", why.text);
    print_numbers(&d);
    print_classes(&d);
    if (w.show)
        show(&d, from, &w);
    dataset_free(&d);
    settings_free(&s);
    return 0;
}
