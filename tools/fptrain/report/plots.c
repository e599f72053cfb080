/* SPDX-License-Identifier: BSD-2-Clause */
/* plots.c - the curves and maps of a report as SVG files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/atomic_file.h"
#include "report/chart.h"
#include "report/heat.h"
#include "report/views.h"

enum { COLUMNS = 30 }; /* of a map: files that documents carry are small */

/* DIRECTORY/WHAT.svg, or DIRECTORY/WHAT-LABEL.svg of the group `which`: its label with plain characters, and its number
 * where another has the same. */
static char *path_of(const char *directory, const char *what, const groups *g, int which)
{
    const char *label = g ? g->mean[which].name : "";
    const size_t size = strlen(directory) + strlen(what) + strlen(label) + 32;
    char *path = need(size, 1);
    bool again = false;
    for (int i = 0; g && i < which; i++)
        again = again || strcmp(g->mean[i].name, label) == 0;
    const int head = snprintf(path, size, "%s/%s%s", directory, what, g ? "-" : "");
    if (again)
        snprintf(path + head, size - (size_t)head, "%s-%d.svg", label, which + 1);
    else
        snprintf(path + head, size - (size_t)head, "%s.svg", label);
    for (char *c = path + head; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+", *c))
            *c = '_';
    return path;
}

/* The file of such a plot, begun. */
static bool begin_plot(atomic_file *out, const char *directory, const char *what, const groups *g, int k, trouble *why)
{
    char *path = path_of(directory, what, g, k);
    const bool open = atomic_file_open(out, path, why);
    free(path);
    return open;
}

static bool write_chart(const char *directory, const curves *of, const chart *c, trouble *why)
{
    atomic_file out;
    if (!chart_has(of, c))
        return true;
    if (!begin_plot(&out, directory, c->file, NULL, 0, why))
        return false;
    chart_write(out.file, c, of);
    return atomic_file_commit(&out, why);
}

static bool write_heat(const char *directory, const groups *g, int k, heat_kind kind, const char *tensors, trouble *why)
{
    static const char *const names[HEATS] = {"underflow", "scale", "exponents"};
    atomic_file out;
    heat h;
    if (!heat_make(&h, &g->mean[k], kind, tensors, COLUMNS))
        return true;
    const bool open = begin_plot(&out, directory, names[kind], g, k, why);
    if (open)
        heat_write(out.file, &h);
    heat_free(&h);
    return open && atomic_file_commit(&out, why);
}

typedef void (*drawing)(FILE *out, const run *r);

static bool write_figure(const char *directory, const groups *g, int k, const char *name, const run *of, drawing draw,
                         trouble *why)
{
    atomic_file out;
    if (!begin_plot(&out, directory, name, g, k, why))
        return false;
    draw(out.file, of);
    return atomic_file_commit(&out, why);
}

/* Updates of all seeds together; of the first the switches, since each decides by its own gradients, and what lay out
 * of range, since one may diverge where others do not. */
static bool write_figures(const char *directory, const groups *g, int k, trouble *why)
{
    const run *first = g->group[k].member[0], *mean = &g->mean[k];
    return (!has_switches(first) || write_figure(directory, g, k, "switches", first, switches_write, why)) &&
           (!has_updates(mean) || write_figure(directory, g, k, "updates", mean, updates_write, why)) &&
           (!has_overflows(first) || write_figure(directory, g, k, "overflow", first, overflows_write, why));
}

bool plots_write(const char *directory, const groups *g, const report_choice *choice, trouble *why)
{
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return fail(why, "%s: %s", directory, strerror(errno));
    const curves of = curves_of(g, choice->smooth);
    bool good = true;
    for (int i = 0; good && i < REPORT_CHARTS; i++)
        good = write_chart(directory, &of, &report_charts[i], why);
    for (int k = 0; good && k < g->count; k++)
        good = write_figures(directory, g, k, why);
    for (int k = 0; good && k < g->count; k++)
        for (int kind = 0; good && kind < HEATS; kind++)
            good = write_heat(directory, g, k, (heat_kind)kind, choice->tensors, why);
    return good;
}
