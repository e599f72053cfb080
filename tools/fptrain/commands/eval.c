/* SPDX-License-Identifier: BSD-2-Clause */
/* eval.c - fptrain eval: test accuracy of one checkpoint under many formats. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/options.h"
#include "common/json.h"
#include "eval/eval_table.h"
#include "run/weights.h"

static const char help[] =
    "Usage: fptrain eval CHECKPOINT [--formats FORMATS]... [OPTION...]\n"
    "Test loss and accuracy (of text bits a character) of one checkpoint under many formats, without training.\n"
    "\n"
    "  CHECKPOINT           a checkpoint, the directory of a run; or a .safetensors file with --model and --data\n"
    "      --formats F      one row: fp32; own, those of the run; a format for all parameters and values, as e4m3fn;\n"
    "                       or PATTERN=FORMAT[ ROUNDING],... as w=e4m3fn,v=fp16,conv1.*=fp32. Default: fp32 and own\n"
    "      --json, --csv    print that instead of the table\n"
    "      --plot FILE      SVG of the rows\n"
    "      --config, --set and the options of run change settings of the checkpoint, such as data.test_limit; those\n"
    "                       of training alone, such as --epochs, and of [output] change nothing\n"
    "  -h, --help\n";

enum { MOST = 1000 };

typedef struct wish {
    const char *path, *plot;
    const char *formats[MOST];
    int rows;
    bool json, csv;
} wish;

static void read_options(wish *w, int argc, char **argv)
{
    enum { FORMATS = 256, JSON, CSV, PLOT };
    static const struct option longs[] = {{"formats", required_argument, NULL, FORMATS},
                                          {"json", no_argument, NULL, JSON},
                                          {"csv", no_argument, NULL, CSV},
                                          {"plot", required_argument, NULL, PLOT},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        switch (option) {
        case FORMATS:
            if (w->rows == MOST)
                die("eval: more than %d of --formats", MOST);
            w->formats[w->rows++] = optarg;
            break;
        case JSON: w->json = true; break;
        case CSV: w->csv = true; break;
        case PLOT: w->plot = options_output("eval", optarg); break;
        case 'h': fputs(help, stdout); exit(0);
        default: options_refuse("eval", argv[optind - 1], longs, true);
        }
    }
    if (optind + 1 != argc)
        die("eval: one CHECKPOINT expected; see 'fptrain eval --help'");
    if (w->json && w->csv)
        die("eval: --json or --csv, not both");
    w->path = argv[optind];
    if (!w->rows) {
        w->formats[w->rows++] = "fp32";
        w->formats[w->rows++] = "own";
    }
}

/* Those of the checkpoint, then what the options change; argv has no more than these. */
static void read_settings(settings *s, const checkpoint *c, bool whole, int argc, char **argv)
{
    trouble why;
    const char *text = whole ? checkpoint_text(c, "settings") : "";
    if (!text)
        die("eval: the checkpoint has no settings");
    settings_default(s);
    if (!settings_parse(s, text, strlen(text), "checkpoint", &why))
        die("eval: %s", why.text);
    if (whole) /* the weights come from here */
        s->init.from[0] = s->init.partial[0] = '\0';
    else /* no default is what these weights are of */
        s->model.name[0] = s->data.source[0] = '\0';
    if (!settings_options(s, &argc, argv, &why))
        die("eval: %s", why.text);
    if (!s->model.name[0] || !s->data.source[0])
        die("eval: a file of weights alone says nothing of its %s: --%s", s->model.name[0] ? "data" : "model",
            s->model.name[0] ? "data" : "model");
    if (s->init.from[0] || s->init.partial[0])
        die("eval: the weights are those of CHECKPOINT, all of them: init.from and init.partial are for run");
}

int command_eval(int argc, char **argv)
{
    wish w = {.rows = 0};
    settings s;
    trouble why;
    bool whole;
    /* Settings are taken twice: first for what they leave of the options, then over those of the checkpoint. */
    const int all = argc;
    char **arguments = options_copy(argc, argv);
    options_settings("eval", &s, &argc, argv);
    settings_free(&s);
    read_options(&w, argc, argv);
    checkpoint *c = weights_open(w.path, &whole, &why);
    if (!c)
        die("eval: %s", why.text);
    read_settings(&s, c, whole, all, arguments);
    options_apart("eval", &s, 2,
                  (const option_file[]){{"--plot", w.plot, OPTION_WRITES}, {"CHECKPOINT", w.path, OPTION_READS}});

    evaluator *e = evaluator_new(&s, c, whole, &why);
    if (!e)
        die("eval: %s", why.text);
    checkpoint_free(c);
    eval_row *row = need((size_t)w.rows, sizeof *row);
    for (int i = 0; i < w.rows; i++)
        if (!evaluator_test(e, w.formats[i], &row[i], &why))
            die("eval: %s", why.text);
    const eval_table t = {.checkpoint = w.path,
                          .model = s.model.name,
                          .data = s.data.source,
                          .samples = evaluator_samples(e),
                          .text = evaluator_is_text(e),
                          .count = w.rows,
                          .row = row};
    if (w.json) {
        json_t *json = eval_table_json(&t);
        char *text = needed(json_to_shown(json, JSON_INDENT(2)));
        puts(text);
        free(text);
        json_decref(json);
    } else if (w.csv) {
        eval_table_csv(stdout, &t);
    } else {
        eval_table_print(stdout, &t);
    }
    if (w.plot && !eval_table_plot(w.plot, &t, &why))
        die("eval: %s", why.text);
    for (int i = 0; i < w.rows; i++)
        free(row[i].formats);
    free(row);
    evaluator_free(e);
    settings_free(&s);
    free(arguments);
    return 0;
}
