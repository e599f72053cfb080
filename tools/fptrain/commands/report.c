/* SPDX-License-Identifier: BSD-2-Clause */
/* report.c - fptrain report: runs beside each other, as tables and as plots. */
#include <fnmatch.h>
#include <fpemu.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/words.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "common/outputs.h"
#include "common/shown.h"
#include "report/csv.h"
#include "report/group.h"
#include "report/log_values.h"
#include "report/views.h"
#include "run/occupied.h"

static const char help[] =
    "Usage: fptrain report DIR... [--tables FILE] [--plots DIR] [--csv FILE]\n"
    "Compares runs in tables and plots: results, curves, what vanished where. Runs that differ in the seed alone\n"
    "count as one. Or hands their logs to other programs. A run that has not ended, and a second one of the same\n"
    "seed, are told, and stand apart. What is no run is left out.\n"
    "\n"
    "  --tables FILE         tables in Markdown: results, with mean and range over the seeds, and figures of tensors\n"
    "  --plots DIR           each curve and each map of tensors as an SVG file\n"
    "  --csv FILE            every number of the logs: a line with run, step, name and value for each\n"
    "  --tensors PATTERN     the tensors that tables and plots tell of (default: *.dv), and --csv (default: all)\n"
    "  --smooth W            curves are exponential means with the weight W of what came before, below 1; as logged\n"
    "                        they stay faintly\n"
    "  --oracle FORMAT,...   in the tables: the scale with which 1 % of a gradient would vanish in that format, from\n"
    "                        runs with output.dispersion that did not round it\n"
    "  --notes KEY,...       in the tables: these notes of summary.json\n"
    "  -h, --help\n"
    "\n"
    "Each DIR was the output.directory of a run, which may still be going on.\n";

/* The words between commas that are in no parentheses, cut apart in place; *words for free(). */
static int split(char *text, char ***words)
{
    int count = 0, depth = 0;
    *words = need(strlen(text) + 1, sizeof **words);
    for (char *c = text, *from = text;; c++) {
        depth += (*c == '(') - (*c == ')');
        if (*c && (*c != ',' || depth > 0))
            continue;
        const bool end = !*c;
        *c = '\0';
        if (*from)
            (*words)[count++] = from;
        from = c + 1;
        if (end)
            return count;
    }
}

static void choose_oracles(report_choice *choice, char *text)
{
    free(choice->oracle_name);
    free(choice->oracle_smallest);
    choice->oracles = split(text, &choice->oracle_name);
    choice->oracle_smallest = need((size_t)choice->oracles + 1, sizeof *choice->oracle_smallest);
    for (int i = 0; i < choice->oracles; i++) {
        fpemu_format format;
        fpemu_parse_error error;
        char cut[SHOWN_SIZE];
        if (fpemu_format_parse(choice->oracle_name[i], &format, &error) != FPEMU_OK)
            die("report: format '%s', character %u: %s", shown(choice->oracle_name[i], error.position, cut),
                (unsigned)error.position + 1, error.message);
        if (format.scaling)
            die("report: format '%s' has scales of its own", shown(choice->oracle_name[i], 0, cut));
        choice->oracle_smallest[i] = fpemu_format_min_positive(&format);
    }
}

static void choose_notes(report_choice *choice, char *text)
{
    free(choice->note);
    choice->notes = split(text, &choice->note);
}

static double read_weight(const char *text)
{
    double weight = 0;
    if (!number_real(text, 0, 1, &weight) || weight <= 0 || weight >= 1)
        die("report: --smooth: '%.100s' is no number between 0 and 1", text);
    return weight;
}

/* What is asked for; NULL: not asked for. */
typedef struct outputs {
    const char *tables, *plots, *csv;
} outputs;

/* Two copies of one run are refused. What is alone, though others have the same settings, is told. */
static void look_at_seeds(const run *runs, int count, bool tell)
{
    for (int i = 0; i < count; i++) {
        const run *r = &runs[i];
        for (int j = 0; j < i; j++) {
            if (r->settings.train.seed != runs[j].settings.train.seed || !group_alike(r, &runs[j]))
                continue;
            if (group_same_run(r, &runs[j]))
                die("report: '%s' and '%s' are one run", runs[j].name, r->name);
            if (tell)
                say("report: '%s' and '%s' have the same settings and the same seed, %" PRIu64 ": no mean is over both",
                    runs[j].name, r->name, r->settings.train.seed);
        }
        if (tell && !r->ended)
            say("report: '%s' has not ended, step %" PRIu64 ": it is in no mean", r->name, r->steps);
    }
}

/* A run that has not ended may still come to it. */
static void refuse_unknown_notes(const run *runs, int count, const report_choice *choice)
{
    for (int k = 0; k < choice->notes; k++) {
        bool may_be = false;
        for (int i = 0; i < count && !may_be; i++)
            may_be = !runs[i].ended || json_object_get(runs[i].notes, choice->note[k]);
        if (!may_be)
            die("report: --notes: no run has a note '%s'", choice->note[k]);
    }
}

static void write_groups(const run *runs, int count, const report_choice *choice, const outputs *to)
{
    trouble why;
    refuse_unknown_notes(runs, count, choice);
    look_at_seeds(runs, count, false);
    look_at_seeds(runs, count, true);
    groups g = groups_make(runs, count, choice->tensors);
    if (to->tables) {
        atomic_file out = output_open("report", to->tables);
        tables_write(out.file, &g, choice);
        output_commit("report", &out);
    }
    if (to->plots && !plots_write(to->plots, &g, choice, &why))
        die("report: %s", why.text);
    groups_free(&g);
}

static void compare(int count, char **directories, const report_choice *choice, const outputs *to)
{
    trouble why;
    run *runs = need((size_t)count, sizeof *runs);
    for (int i = 0; i < count; i++)
        if (!run_load(&runs[i], directories[i], &why))
            die("report: %s", why.text);
    write_groups(runs, count, choice, to);
    for (int i = 0; i < count; i++)
        run_free(&runs[i]);
    free(runs);
}

typedef struct search {
    const char *pattern;
    bool found, begun;
} search;

static void note_line(void *to, uint64_t step)
{
    search *s = to;
    (void)step;
    s->begun = true;
}

static void look_at(void *to, const log_value *value)
{
    search *s = to;
    s->found = s->found || (value->tensor && fnmatch(s->pattern, value->tensor, 0) == 0);
}

/* A pattern that fits nothing is most likely a slip of the pen; a log without a step may still come to it. */
static void refuse_idle_pattern(int count, char **directories, const char *pattern)
{
    trouble why;
    search s = {.pattern = pattern};
    for (int i = 0; i < count && !s.found; i++) {
        s.begun = false;
        if (!log_visit(directories[i], &(log_visitor){&s, note_line, look_at, NULL}, &why))
            die("report: %s", why.text);
        s.found = s.found || !s.begun;
    }
    if (!s.found)
        die("report: --tensors: no tensor in the logs fits '%s'", pattern);
}

/* The logs as they are, without a look at the settings. */
static void hand_over(int count, char **directories, const char *tensors, const char *csv)
{
    trouble why;
    atomic_file out = output_open("report", csv);
    if (!csv_write(out.file, count, directories, tensors, &why)) {
        atomic_file_drop(&out);
        die("report: %s", why.text);
    }
    output_commit("report", &out);
}

/* A name that ends as those of plots do, in their directory, is one of theirs or may become so. */
static void refuse_plot(const char *option, const char *path, const char *plots)
{
    const char *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path;
    if (!path || !plots || !ends_with(name, ".svg"))
        return;
    char *plot = path_join(plots, name);
    if (same_target(path, plot))
        die("report: %s has a name of the plots of --plots: '%.200s'", option, path);
    free(plot);
}

/* What lies beside runs, such as a plot of them, is left out; how many stay. */
static int keep_runs(int count, char **path)
{
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (occupied(path[i]) || access(path[i], F_OK) != 0)
            path[kept++] = path[i];
        else
            say("report: '%s' is no directory of a run, and left out", path[i]);
    return kept;
}

int command_report(int argc, char **argv)
{
    enum { TABLES = 256, PLOTS, CSV, TENSORS, SMOOTH, ORACLE, NOTES };
    static const struct option longs[] = {{"tables", required_argument, NULL, TABLES},
                                          {"plots", required_argument, NULL, PLOTS},
                                          {"csv", required_argument, NULL, CSV},
                                          {"tensors", required_argument, NULL, TENSORS},
                                          {"smooth", required_argument, NULL, SMOOTH},
                                          {"oracle", required_argument, NULL, ORACLE},
                                          {"notes", required_argument, NULL, NOTES},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    const char *tensors = NULL;
    report_choice choice = {.notes = 0};
    outputs to = {NULL, NULL, NULL};
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1)
        switch (option) {
        case TABLES: to.tables = options_output("report", optarg); break;
        case PLOTS: to.plots = options_output("report", optarg); break;
        case CSV: to.csv = options_output("report", optarg); break;
        case TENSORS: tensors = optarg; break;
        case SMOOTH: choice.smooth = read_weight(optarg); break;
        case ORACLE: choose_oracles(&choice, optarg); break;
        case NOTES: choose_notes(&choice, optarg); break;
        case 'h': return fputs(help, stdout) < 0;
        default: options_refuse("report", argv[optind - 1], longs, false);
        }
    const int count = keep_runs(argc - optind, argv + optind);
    const bool compares = to.tables || to.plots;
    if (count < 1 || (!compares && !to.csv))
        die("report: directories of runs and --tables FILE, --plots DIR or --csv FILE expected");
    if (!to.tables && (choice.oracles || choice.notes))
        die("report: --oracle and --notes are for --tables");
    if (!to.plots && choice.smooth > 0)
        die("report: --smooth is for --plots");
    options_apart("report", NULL, 3,
                  (const option_file[]){{"--tables", to.tables, OPTION_WRITES},
                                        {"--csv", to.csv, OPTION_WRITES},
                                        {"--plots", to.plots, OPTION_FILLS}});
    refuse_plot("--tables", to.tables, to.plots);
    refuse_plot("--csv", to.csv, to.plots);
    choice.tensors = tensors ? tensors : "*.dv";
    if (tensors)
        refuse_idle_pattern(count, argv + optind, tensors);
    if (compares)
        compare(count, argv + optind, &choice, &to);
    if (to.csv)
        hand_over(count, argv + optind, tensors, to.csv);
    free(choice.note);
    free(choice.oracle_name);
    free(choice.oracle_smallest);
    return 0;
}
