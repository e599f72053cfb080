/* SPDX-License-Identifier: BSD-2-Clause */
/* line_plot.c - see line_plot.h. Black on white. */
#include "reports/line_plot.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/error.h"
#include "common/svg.h"
#include "files/output.h"

/* In units of the drawing, which is scaled to 170 mm of paper; the names stand right of the frame. */
enum { WIDTH = 800, LEFT = 76, RIGHT = 540, TOP = 44, BOTTOM = 430, LINE = 15 };

typedef struct scale {
    double first, last; /* log10 */
    double at_first, at_last;
} scale;

static double place(const scale *s, double value)
{
    return s->at_first + (log10(value) - s->first) / (s->last - s->first) * (s->at_last - s->at_first);
}

static bool is_shown(double y)
{
    return isfinite(y) && y > 0;
}

/* Eight marks that can be told apart in black. */
static void put_mark(FILE *out, size_t kind, double x, double y)
{
    static const char *const marks[] = {
        "M-4 0 a4 4 0 1 0 8 0 a4 4 0 1 0 -8 0",
        "M-3.5 -3.5 h7 v7 h-7 z",
        "M0 -4.5 L4.2 3 H-4.2 z",
        "M0 4.5 L4.2 -3 H-4.2 z",
        "M0 -5 L5 0 L0 5 L-5 0 z",
        "M-4 -4 L4 4 M-4 4 L4 -4",
        "M-5 0 H5 M0 -5 V5",
        "M-4 -4 H4 M0 -4 V5",
    };
    fprintf(out, "<path transform=\"translate(%.1f %.1f)\" d=\"%s\" stroke=\"#000\" fill=\"%s\"/>\n", x, y,
            marks[kind % 8], kind % 8 < 5 ? kind / 8 % 2 ? "#fff" : "#000" : "none");
}

static void put_axes(FILE *out, const scale *x, const scale *y, size_t points, const double *at, const char *x_name,
                     const char *y_name)
{
    fprintf(out, "<g stroke=\"#000\" fill=\"none\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/></g>\n", LEFT,
            TOP, RIGHT - LEFT, BOTTOM - TOP);
    double free_from = 0;
    for (size_t i = 0; i < points; i++) {
        const double px = place(x, at[i]);
        fprintf(out, "<path d=\"M%.1f %d v6\" stroke=\"#000\"/>\n", px, BOTTOM);
        if (px >= free_from) {
            fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n", px, BOTTOM + 20, at[i]);
            free_from = px + 50;
        }
    }
    const int step = (int)ceil((y->last - y->first) / 12);
    for (int k = (int)ceil(y->first); k <= y->last; k++) {
        const double py = place(y, pow(10, k));
        if (k % (step > 0 ? step : 1) != 0)
            continue;
        fprintf(out, "<path d=\"M%d %.1f H%d\" stroke=\"#ccc\" stroke-width=\"0.6\"/>", LEFT, py, RIGHT);
        fprintf(out,
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">10<tspan dy=\"-5\" font-size=\"9\">%d</tspan></text>\n",
                LEFT - 8, py + 4, k);
    }
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (LEFT + RIGHT) / 2, BOTTOM + 42);
    svg_ascii(out, x_name);
    fprintf(out, "</text>\n<text transform=\"translate(20 %d) rotate(-90)\" text-anchor=\"middle\">",
            (TOP + BOTTOM) / 2);
    svg_ascii(out, y_name);
    fprintf(out, "</text>\n");
}

/* The ends of all values that are shown; some where there are none. */
static void find_ends(size_t points, size_t count, const line_series *series, double *low, double *high)
{
    *low = INFINITY;
    *high = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < points; k++) {
            if (is_shown(series[i].y[k])) {
                *low = fmin(*low, series[i].y[k]);
                *high = fmax(*high, series[i].y[k]);
            }
        }
    }
    if (*high == 0) {
        *low = 0.1;
        *high = 1;
    }
}

/* Where each line ends, and the lines from the highest end downwards. */
static void sort_by_end(const scale *up, size_t points, size_t count, const line_series *series, double *end,
                        size_t *order)
{
    for (size_t i = 0; i < count; i++) {
        order[i] = i;
        end[i] = BOTTOM;
        for (size_t k = 0; k < points; k++)
            end[i] = is_shown(series[i].y[k]) ? place(up, series[i].y[k]) : end[i];
        for (size_t k = i; k > 0 && end[order[k - 1]] > end[order[k]]; k--) {
            const size_t swapped = order[k];
            order[k] = order[k - 1];
            order[k - 1] = swapped;
        }
    }
}

/* A line with its marks; false where there is nothing to show. */
static bool put_line(FILE *out, size_t kind, const scale *across, const scale *up, size_t points, const double *x,
                     const double *y)
{
    bool shown = false;
    fprintf(out, "<path fill=\"none\" stroke=\"#000\" d=\"");
    for (size_t p = 0; p < points; p++) {
        if (is_shown(y[p])) {
            fprintf(out, "%s%.1f %.1f", shown ? " L" : "M", place(across, x[p]), place(up, y[p]));
            shown = true;
        }
    }
    fprintf(out, "%s\"/>\n", shown ? "" : "M0 0");
    for (size_t p = 0; p < points; p++)
        if (is_shown(y[p]))
            put_mark(out, kind, place(across, x[p]), place(up, y[p]));
    return shown;
}

/* The name of a line at height `at`, right of the frame, and what leads there from its end. */
static void put_name(FILE *out, size_t kind, double end, double at, const char *label, bool shown)
{
    put_mark(out, kind, RIGHT + 20, at);
    fprintf(out, "<path d=\"M%d %.1f L%d %.1f\" stroke=\"#000\" stroke-width=\"0.6\"/>\n<text x=\"%d\" y=\"%.1f\">",
            RIGHT, end, RIGHT + 14, at, RIGHT + 30, at + 4);
    svg_ascii(out, label);
    fputs(shown ? "</text>\n" : " (no error)</text>\n", out);
}

void line_plot_write(const char *path, const char *title, const char *x_name, const char *y_name, size_t points,
                     const double *x, size_t count, const line_series *series)
{
    double low, high;
    find_ends(points, count, series, &low, &high);
    const scale across = {log10(x[0]) - 0.05, log10(x[points - 1]) + 0.05, LEFT, RIGHT};
    const scale up = {floor(log10(low)) - 0.1, ceil(log10(high)) + 0.1, BOTTOM, TOP};
    const int height = BOTTOM + 60 > TOP + LINE * ((int)count + 2) ? BOTTOM + 60 : TOP + LINE * ((int)count + 2);
    output out = output_open(path);
    svg_begin(out.file, &(svg_page){.width = WIDTH, .height = height, .millimetres = 170, .font_size = 12});
    svg_title(out.file, 70, title);
    put_axes(out.file, &across, &up, points, x, x_name, y_name);
    size_t *order = cli_allocate(count, sizeof *order);
    double *end = cli_allocate(count, sizeof *end), next = TOP + 4;
    sort_by_end(&up, points, count, series, end, order);
    for (size_t k = 0; k < count; k++) {
        const size_t i = order[k];
        /* as low as the end of the line, unless the names to come would then not fit above the bottom */
        const double lowest = BOTTOM - LINE * (double)(count - 1 - k);
        const double at = fmax(next, fmin(end[i], fmax(lowest, next)));
        const bool shown = put_line(out.file, i, &across, &up, points, x, series[i].y);
        put_name(out.file, i, end[i], at, series[i].label, shown);
        next = at + LINE;
    }
    free(order);
    free(end);
    svg_end(out.file);
    output_commit(&out);
}
