/* SPDX-License-Identifier: BSD-2-Clause */
/* data.c - fptrain data: what is there, how often each class occurs, mean and deviation. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/options.h"
#include "common/shown.h"
#include "data/export.h"
#include "run/data_settings.h"

static const char help[] =
    "Usage: fptrain data [WHERE] [OPTION...]\n"
    "What a data set has: samples, classes, mean and deviation of each channel.\n"
    "\n"
    "WHERE is digits, shapes, mnist:DIR, cifar10:DIR, cifar100:DIR, idx:DIR, npz:FILE,\n"
    "text:FILE, tokens:FILE or a path whose content decides (default: the setting data.source).\n"
    "\n"
    "      --npz FILE        all samples as arrays of NumPy: x_train, y_train, x_test, y_test\n"
    "      --config FILE     settings; of these the section [data] counts\n"
    "      --set data.KEY=VALUE\n"
    "  -h, --help\n";

static const char *read_options(int argc, char **argv)
{
    static const struct option longs[] = {
        {"npz", required_argument, NULL, 'z'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    const char *npz = NULL;
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        switch (option) {
        case 'z': npz = options_output("data", optarg); break;
        case 'h': fputs(help, stdout); exit(fflush(stdout) != 0);
        default: options_refuse("data", argv[optind - 1], longs, true);
        }
    }
    return npz;
}

static void print_shape(const dataset *d)
{
    shown_put(stdout, d->name);
    fputs(": ", stdout);
    if (d->text)
        printf("%zu %s for training, %zu for testing, %d classes\n", d->train.count,
               d->symbol ? "characters" : "tokens", d->test.count, d->classes);
    else if (dataset_is_flat(d))
        printf("%zu samples for training, %zu for testing, %d classes, %d feature%s\n", d->train.count, d->test.count,
               d->classes, d->c, d->c > 1 ? "s" : "");
    else
        printf("%zu samples for training, %zu for testing, %d classes, %d x %d pixels, %d channel%s\n", d->train.count,
               d->test.count, d->classes, d->w, d->h, d->c, d->c > 1 ? "s" : "");
}

static void print_numbers(const dataset *d)
{
    static const char *const colour[] = {"red", "green", "blue"};
    enum { MOST = 16 };
    print_shape(d);
    for (int c = 0; c < d->c && c < MOST; c++) {
        char name[24];
        snprintf(name, sizeof name, "%s %d", dataset_is_flat(d) ? "feature" : "channel", c);
        printf("%-9s mean %.6f, deviation %.6f\n",
               dataset_is_flat(d) || d->c > 3 || d->c == 2 ? name
               : d->c == 3                                 ? colour[c]
                                                           : "pixels",
               d->mean[c], d->deviation[c]);
    }
    if (d->c > MOST)
        printf("and %d more\n", d->c - MOST);
}

/* Of a text part the labels are the text itself. */
static void print_classes(const dataset *d)
{
    enum { MOST = 1000 };
    uint64_t *counts[2];
    for (int part = 0; part < 2; part++) {
        const split *s = part ? &d->test : &d->train;
        const uint16_t *labels = !d->text ? s->labels : part ? d->text + d->text_length - s->count : d->text;
        counts[part] = need((size_t)d->classes, sizeof *counts[part]);
        for (size_t i = 0; i < s->count; i++)
            counts[part][labels[i]]++;
    }
    printf("\n%-12s %10s %10s\n", "class", "training", "test");
    for (int i = 0; i < d->classes && i < MOST; i++) {
        char number[16], name[SHOWN_SIZE];
        shown(dataset_class(d, i, number), 0, name);
        printf("%-12s %10" PRIu64 " %10" PRIu64 "\n", name, counts[0][i], counts[1][i]);
    }
    if (d->classes > MOST)
        printf("and %d more\n", d->classes - MOST);
    free(counts[0]);
    free(counts[1]);
}

int command_data(int argc, char **argv)
{
    settings s;
    dataset d;
    trouble why;
    options_settings("data", &s, &argc, argv);
    const char *npz = read_options(argc, argv);
    if (argc - optind > 1)
        die("data: one data set at a time, '%s' is one too many", argv[optind + 1]);
    const char *where = optind < argc ? argv[optind] : s.data.source;
    options_apart("data", &s, 2,
                  (const option_file[]){{"--npz", npz, OPTION_WRITES}, {"the data set", where, OPTION_DATA}});
    dataset_options options;
    if (!data_settings_read(&s, &options, &why) || !dataset_open(&d, where, &options, &why))
        die("data: %s", why.text);
    if (npz && !dataset_export(&d, npz, &why))
        die("data: %s", why.text);
    print_numbers(&d);
    print_classes(&d);
    dataset_free(&d);
    settings_free(&s);
    return 0;
}
