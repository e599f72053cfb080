/* SPDX-License-Identifier: BSD-2-Clause */
/* estimate_plot.c - see estimate_plot.h */
#include "report/estimate_plot.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/atomic_file.h"
#include "common/axis.h"
#include "common/shown.h"
#include "common/svg.h"

enum { PANEL = 330, LEFT = 54, TOP = 62, BOTTOM = 320, INNER = 258, LEGEND = 18, KINDS = 8 };

/* ---------------------------------------------------------------------------------------------- groups */

/* Runs that belong together; the first one tells their name. */
typedef struct kin {
    const char *name;
    int length, runs;                  /* of the name; with an accuracy */
    double ideal, current, best, last; /* means */
    double low, high;                  /* of the best accuracies */
} kin;

static kin named(const char *directory)
{
    int length = (int)strlen(directory);
    while (length > 1 && directory[length - 1] == '/')
        length--;
    int start = length;
    while (start > 0 && directory[start - 1] != '/')
        start--;
    int end = length;
    while (end > start && isdigit((unsigned char)directory[end - 1]))
        end--;
    if (end < length && end - 1 > start && directory[end - 1] == '-')
        length = end - 1;
    return (kin){.name = directory + start, .length = length - start, .low = INFINITY, .high = -INFINITY};
}

static bool same(const kin *a, const kin *b)
{
    return a->length == b->length && !memcmp(a->name, b->name, (size_t)a->length);
}

/* The group of a run among the first `count`; count: it begins one. */
static int find(const kin *groups, int count, const char *directory)
{
    const kin own = named(directory);
    int i = 0;
    while (i < count && !same(&groups[i], &own))
        i++;
    return i;
}

/* In the order in which they come; for free(). */
static kin *gather(const estimated_run *runs, int count, int *found)
{
    kin *groups = need((size_t)count, sizeof *groups);
    *found = 0;
    for (int i = 0; i < count; i++) {
        const estimated_run *r = &runs[i];
        if (isnan(r->best))
            continue;
        const int at = find(groups, *found, r->name);
        kin *g = &groups[at];
        if (at == *found)
            groups[(*found)++] = named(r->name);
        const double weight = 1.0 / ++g->runs; /* means so far */
        g->ideal += weight * (r->ideal - g->ideal);
        g->current += weight * (r->current - g->current);
        g->best += weight * (r->best - g->best);
        g->last += weight * (r->last - g->last);
        g->low = fmin(g->low, r->best);
        g->high = fmax(g->high, r->best);
    }
    return groups;
}

void estimate_table(FILE *out, const estimated_run *runs, int count)
{
    int found;
    kin *groups = gather(runs, count, &found);
    fprintf(out, "%-20s %5s %8s %18s %8s %8s %8s\n", "runs", "count", "best, %", "(lowest, highest)", "last, %",
            "ideal", "current");
    for (int i = 0; i < found; i++) {
        const kin *g = &groups[i];
        char name[256]; /* no part of a path is longer */
        snprintf(name, sizeof name, "%.*s", g->length, g->name);
        shown_controls(name);
        fprintf(out, "%-20s %5d %8.2f %9.2f %8.2f %8.2f %8.3f %8.3f\n", name, g->runs, 100 * g->best, 100 * g->low,
                100 * g->high, 100 * g->last, g->ideal, g->current);
    }
    free(groups);
}

/* ---------------------------------------------------------------------------------------------- drawing */

/* With some room at both ends. */
static axis roomy(double low, double high, int from, int to)
{
    const double room = high > low ? 0.06 * (high - low) : 0.5 * fmax(fabs(high), 1e-3);
    return axis_make(low - room, high + room, from, to);
}

static void draw_mark(FILE *out, int kind, bool mean, double x, double y)
{
    static const char *const shapes[KINDS] = {"m-4 0a4 4 0 1 1 8 0a4 4 0 1 1-8 0z",
                                              "m-4-4h8v8h-8z",
                                              "m0-5l5 5-5 5-5-5z",
                                              "m0-5l5 8h-10z",
                                              "m0 5l5-8h-10z",
                                              "m-1.5-5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z",
                                              "m-5-3h10v6h-10z",
                                              "m-3-5h6v10h-6z"};
    fprintf(out, "<path class=\"k%d%s\" transform=\"translate(%.1f %.1f)%s\" d=\"M0 0%s\"/>\n", kind % KINDS,
            mean ? " mean" : "", x, y, mean ? " scale(1.5)" : "", shapes[kind % KINDS]);
}

static double time_of(const estimated_run *r, bool current)
{
    return current ? r->current : r->ideal;
}

static void draw_panel(FILE *out, bool current, const estimated_run *runs, int count, const kin *groups, int found)
{
    double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
    for (int i = 0; i < count; i++) {
        if (isnan(runs[i].best))
            continue;
        x0 = fmin(x0, time_of(&runs[i], current));
        x1 = fmax(x1, time_of(&runs[i], current));
        y0 = fmin(y0, 100 * runs[i].best);
        y1 = fmax(y1, 100 * runs[i].best);
    }
    const int left = LEFT + current * PANEL;
    const axis x = roomy(x0, x1, left, left + INNER), y = roomy(y0, y1, BOTTOM, TOP);
    for (double t = ceil(x.low / x.step); t * x.step <= x.high; t++)
        fprintf(out,
                "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g"
                "</text>\n",
                axis_place(&x, t * x.step), TOP, BOTTOM, axis_place(&x, t * x.step), BOTTOM + 16, t * x.step);
    for (double t = ceil(y.low / y.step); t * y.step <= y.high; t++)
        fprintf(out,
                "<path class=\"grid\" d=\"M%d %.1fh%d\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g"
                "</text>\n",
                left, axis_place(&y, t * y.step), INNER, left - 6, axis_place(&y, t * y.step) + 4, t * y.step);
    fprintf(out,
            "<path class=\"frame\" d=\"M%d %dV%dh%d\"/><text x=\"%d\" y=\"%d\" text-anchor=\"middle\">time over "
            "that of FP32, %s</text>\n",
            left, TOP, BOTTOM, INNER, left + INNER / 2, BOTTOM + 34, current ? "current" : "ideal");
    for (int i = 0; i < count; i++)
        if (!isnan(runs[i].best))
            draw_mark(out, find(groups, found, runs[i].name), false, axis_place(&x, time_of(&runs[i], current)),
                      axis_place(&y, 100 * runs[i].best));
    for (int i = 0; i < found; i++)
        if (groups[i].runs > 1)
            draw_mark(out, i, true, axis_place(&x, current ? groups[i].current : groups[i].ideal),
                      axis_place(&y, 100 * groups[i].best));
}

static void draw_legend(FILE *out, const kin *groups, int found)
{
    for (int i = 0; i < found; i++) {
        const int x = LEFT + i % 3 * 210, y = BOTTOM + 58 + i / 3 * LEGEND;
        char text[96];
        snprintf(text, sizeof text, groups[i].runs > 1 ? "%.*s (%d)" : "%.*s",
                 groups[i].length < 60 ? groups[i].length : 60, groups[i].name, groups[i].runs);
        draw_mark(out, i, false, x, y - 4);
        fprintf(out, "<text x=\"%d\" y=\"%d\">", x + 12, y);
        svg_text(out, text);
        fprintf(out, "</text>\n");
    }
}

bool estimate_plot(const char *path, const char *title, const estimated_run *runs, int count, trouble *why)
{
    static const char style[] =
        ".grid{stroke:#ccc;stroke-width:.6}.frame{stroke:#555;fill:none}.mean{fill-opacity:1;stroke-width:1}"
        "path[class^=k]{stroke:#000;stroke-width:.8;fill-opacity:.35}path.mean[class]{fill-opacity:1}"
        ".k0{fill:#1f6fb5}.k1{fill:#c8324b}.k2{fill:#2b8a57}.k3{fill:#8450a0}.k4{fill:#e0a020}.k5{fill:#128a8a}"
        ".k6{fill:#bbb}.k7{fill:#8a5a2e}";
    int found;
    atomic_file file;
    kin *groups = gather(runs, count, &found);
    if (!found || !atomic_file_open(&file, path, why)) {
        free(groups);
        return found ? false : fail(why, "not one of the runs has an accuracy to plot");
    }
    const int width = LEFT + PANEL + INNER + 14, height = BOTTOM + 66 + (found + 2) / 3 * LEGEND;
    svg_begin(file.file, &(svg_page){.width = width, .height = height, .font_size = 11, .style = style});
    fprintf(file.file, "<text x=\"%d\" y=\"22\" font-size=\"13\">", LEFT);
    svg_text(file.file, title);
    fprintf(file.file, "</text>\n<text x=\"%d\" y=\"46\">best accuracy in %%; large: means</text>\n", LEFT);
    draw_panel(file.file, false, runs, count, groups, found);
    draw_panel(file.file, true, runs, count, groups, found);
    draw_legend(file.file, groups, found);
    svg_end(file.file);
    free(groups);
    return atomic_file_commit(&file, why);
}
