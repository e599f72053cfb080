/* SPDX-License-Identifier: BSD-2-Clause */
/* report.c - fptrain report: runs beside each other, as a page, as tables and as plots. */
#include "common/system.h"

#include <fpemu.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/options.h"
#include "base/output.h"
#include "common/shown.h"
#include "report/group.h"
#include "report/page.h"
#include "report/plots.h"
#include "report/tables.h"

static const char help[] =
    "Usage: fptrain report DIR... [-o FILE] [--tables FILE] [--plots DIR]\n"
    "Compares runs: in one HTML page that needs nothing else, with results, curves, what vanished where; in tables\n"
    "and plots, where runs that differ in the seed alone count as one.\n"
    "\n"
    "  -o, --output FILE     the page\n"
    "  --tables FILE         tables in Markdown: results, with mean and range over the seeds, and figures of tensors\n"
    "  --plots DIR           each curve and each map of tensors as an SVG file\n"
    "  --tensors PATTERN     the tensors that tables and plots tell of (default: *.dv)\n"
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

static void write_groups(const run *runs, int count, const report_choice *choice, const char *tables, const char *plots)
{
    trouble why;
    groups g = groups_make(runs, count, choice->tensors);
    if (tables) {
        atomic_file out = output_open("report", tables);
        tables_write(out.file, &g, choice);
        output_commit("report", &out);
    }
    if (plots && !plots_write(plots, &g, choice, &why))
        die("report: %s", why.text);
    groups_free(&g);
}

int command_report(int argc, char **argv)
{
    enum { TABLES = 256, PLOTS, TENSORS, ORACLE, NOTES };
    static const struct option longs[] = {{"output", required_argument, NULL, 'o'},
                                          {"tables", required_argument, NULL, TABLES},
                                          {"plots", required_argument, NULL, PLOTS},
                                          {"tensors", required_argument, NULL, TENSORS},
                                          {"oracle", required_argument, NULL, ORACLE},
                                          {"notes", required_argument, NULL, NOTES},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    const char *page = NULL, *tables = NULL, *plots = NULL;
    report_choice choice = {.tensors = "*.dv"};
    trouble why;
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "o:h", longs, NULL)) != -1)
        switch (option) {
        case 'o': page = options_output("report", optarg); break;
        case TABLES: tables = options_output("report", optarg); break;
        case PLOTS: plots = optarg; break;
        case TENSORS: choice.tensors = optarg; break;
        case ORACLE: choose_oracles(&choice, optarg); break;
        case NOTES: choose_notes(&choice, optarg); break;
        case 'h': return fputs(help, stdout) < 0;
        default:
            options_refuse("report", argv[optind - 1], longs, false);
        }
    const int count = argc - optind;
    if (count < 1 || (!page && !tables && !plots))
        die("report: directories of runs and -o FILE, --tables FILE or --plots DIR expected");
    if (!tables && (choice.oracles || choice.notes))
        die("report: --oracle and --notes are for --tables");
    if (!tables && !plots && strcmp(choice.tensors, "*.dv") != 0)
        die("report: --tensors is for --tables and --plots");
    run *runs = need((size_t)count, sizeof *runs);
    for (int i = 0; i < count; i++)
        if (!run_load(&runs[i], argv[optind + i], &why))
            die("report: %s", why.text);
    if (page) {
        atomic_file out = output_open("report", page);
        page_write(out.file, runs, count);
        output_commit("report", &out);
    }
    if (tables || plots)
        write_groups(runs, count, &choice, tables, plots);
    for (int i = 0; i < count; i++)
        run_free(&runs[i]);
    free(runs);
    free(choice.note);
    free(choice.oracle_name);
    free(choice.oracle_smallest);
    return 0;
}
