/* command_report.c - fptrain report: a page that compares runs. */
#define _POSIX_C_SOURCE 200809L
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "outfile.h"
#include "report.h"

static const char help[] =
    "Usage: fptrain report DIR... -o FILE\n"
    "Compares runs in one HTML page that needs nothing else: results, curves, what vanished where.\n"
    "\n"
    "  -o, --output FILE   the page\n"
    "  -h, --help\n"
    "\n"
    "Each DIR was the output.directory of a run, which may still be going on.\n";

static void write_page(const char *path, const run *runs, int count)
{
    outfile out;
    trouble why;
    if (!outfile_open(&out, path, &why))
        die("report: %s", why.text);
    page_write(out.file, runs, count);
    if (!outfile_commit(&out, &why))
        die("report: %s", why.text);
}

int command_report(int argc, char **argv)
{
    static const struct option longs[] = {
        {"output", required_argument, NULL, 'o'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    const char *path = NULL;
    trouble why;
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "o:h", longs, NULL)) != -1) {
        if (option == 'o')
            path = optarg;
        else if (option == 'h')
            return fputs(help, stdout) < 0;
        else
            die("report: unknown option, or a value is missing: '%s'; see 'fptrain report --help'", argv[optind - 1]);
    }
    const int count = argc - optind;
    if (count < 1 || !path)
        die("report: directories of runs and -o FILE expected");
    run *runs = need((size_t)count, sizeof *runs);
    for (int i = 0; i < count; i++)
        if (!run_load(&runs[i], argv[optind + i], &why))
            die("report: %s", why.text);
    write_page(path, runs, count);
    for (int i = 0; i < count; i++)
        run_free(&runs[i]);
    free(runs);
    return 0;
}
