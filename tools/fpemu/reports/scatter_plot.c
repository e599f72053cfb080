/* SPDX-License-Identifier: BSD-2-Clause */
/* scatter_plot.c - see scatter_plot.h. Black on white; every point has its name beside it, so that nothing hangs on
 * colour. */
#include "reports/scatter_plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error.h"
#include "common/axis.h"
#include "common/svg.h"
#include "files/output.h"

/* In units of the drawing, which is scaled to 160 mm of paper. */
enum { WIDTH = 720, LEFT = 70, RIGHT = 700, TOP = 44, BOTTOM = 430, LINE = 15, SIDE = 9 };
static const double letter = 6.6; /* width of a letter, on the large side */

typedef struct box {
    double left, right, top, bottom;
} box;

/* With some room at both ends, and at most about so many ticks. */
static axis make_axis(double low, double high, int most, double from, double to)
{
    const double margin = high > low ? 0.07 * (high - low) : 1;
    axis a = {.low = low - margin, .high = high + margin, .from = from, .to = to};
    a.step = axis_step(a.high - a.low, most);
    return a;
}

static void draw_axes(FILE *out, const axis *x, const axis *y)
{
    fprintf(out, "<g stroke=\"#000\" fill=\"none\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", LEFT, TOP,
            RIGHT - LEFT, BOTTOM - TOP);
    for (double t = ceil(x->low / x->step); t * x->step <= x->high; t++) {
        fprintf(out, "<path d=\"M%.1f %d v6\"/><path d=\"M%.1f %d V%d\" stroke=\"#ccc\" stroke-width=\"0.6\"/>\n",
                axis_place(x, t * x->step), BOTTOM, axis_place(x, t * x->step), TOP, BOTTOM);
    }
    for (double t = ceil(y->low / y->step); t * y->step <= y->high; t++) {
        fprintf(out, "<path d=\"M%d %.1f h-6\"/><path d=\"M%d %.1f H%d\" stroke=\"#ccc\" stroke-width=\"0.6\"/>\n",
                LEFT, axis_place(y, t * y->step), LEFT, axis_place(y, t * y->step), RIGHT);
    }
    fprintf(out, "</g>\n<g text-anchor=\"middle\">\n");
    for (double t = ceil(x->low / x->step); t * x->step <= x->high; t++) {
        fprintf(out, "<text x=\"%.1f\" y=\"%d\">%g</text>\n", axis_place(x, t * x->step), BOTTOM + 20,
                t * x->step + 0.0);
    }
    fprintf(out, "<text x=\"%d\" y=\"%d\">bits per element</text>\n", (LEFT + RIGHT) / 2, BOTTOM + 40);
    fprintf(out, "<text transform=\"translate(20 %d) rotate(-90)\">SQNR in dB</text>\n</g>\n<g text-anchor=\"end\">\n",
            (TOP + BOTTOM) / 2);
    for (double t = ceil(y->low / y->step); t * y->step <= y->high; t++) {
        fprintf(out, "<text x=\"%d\" y=\"%.1f\">%g</text>\n", LEFT - 9, axis_place(y, t * y->step) + 4,
                t * y->step + 0.0);
    }
    fprintf(out, "</g>\n");
}

static bool collide(const box *a, const box *b)
{
    return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

/* A place beside the point where the label covers nothing: to the right or left, as little up or down as it takes. */
static box find_room(double x, double y, double width, const box *taken, size_t count)
{
    box b = {0};
    for (int far = 0; far < 60; far++) {
        const double up = (far + 1) / 2 * (far % 2 != 0 ? -0.5 : 0.5) * LINE;
        for (int left = 0; left < 2; left++) {
            b.left = left != 0 ? x - SIDE - width : x + SIDE;
            b.right = b.left + width;
            b.top = y + up - LINE / 2.0;
            b.bottom = b.top + LINE;
            bool free_place = b.left >= LEFT && b.right <= RIGHT && b.top >= TOP && b.bottom <= BOTTOM;
            for (size_t i = 0; free_place && i < count; i++)
                free_place = !collide(&b, &taken[i]);
            if (free_place)
                return b;
        }
    }
    return b;
}

/* Neighbours that stand side by side, from `first` on in the order of bits, around the middle of their places. */
typedef struct group {
    size_t first, count;
    double sum; /* of the places */
} group;

enum { STEP = 10 };

static double group_start(const group *g)
{
    return g->sum / (double)g->count - STEP * ((double)g->count - 1) / 2;
}

static double group_end(const group *g)
{
    return group_start(g) + STEP * ((double)g->count - 1);
}

/* With ranges, points of equal bits, or of so nearly equal ones that their bars would touch, stand side by side. */
static void spread(size_t count, const scatter_point *points, double *place)
{
    size_t *order = cli_allocate(count, sizeof *order), used = 0, groups = 0;
    group *g = cli_allocate(count, sizeof *g);
    for (size_t i = 0; i < count; i++) {
        size_t at = used;
        if (!isfinite(points[i].y))
            continue;
        for (; at > 0 && place[order[at - 1]] > place[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
        used++;
    }
    for (size_t k = 0; k < used; k++) {
        g[groups++] = (group){k, 1, place[order[k]]};
        while (groups > 1 && group_start(&g[groups - 1]) - group_end(&g[groups - 2]) < STEP) {
            groups--;
            g[groups - 1].count += g[groups].count;
            g[groups - 1].sum += g[groups].sum;
        }
    }
    for (size_t k = 0; k < groups; k++)
        for (size_t i = 0; i < g[k].count; i++)
            place[order[g[k].first + i]] = group_start(&g[k]) + STEP * (double)i;
    free(g);
    free(order);
}

/* With a cap at each end that lies in the plot. */
static void draw_bar(FILE *out, double x, double low, double high)
{
    const double from = fmin(low, BOTTOM), to = fmax(high, TOP);
    fprintf(out, "<path d=\"M%.1f %.1f V%.1f%s\" stroke=\"#000\" fill=\"none\"/>\n", x, from, to,
            high >= TOP ? " m-3 0 h6" : "");
    if (low <= BOTTOM)
        fprintf(out, "<path d=\"M%.1f %.1f h6\" stroke=\"#000\"/>\n", x - 3, low);
}

static void draw_points(FILE *out, const axis *x, const axis *y, size_t count, const scatter_point *points, bool ranges)
{
    box *taken = cli_allocate(2 * count, sizeof *taken);
    double *place = cli_allocate(count, sizeof *place);
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        place[i] = axis_place(x, points[i].x);
    if (ranges)
        spread(count, points, place);
    for (size_t i = 0; i < count; i++) {
        if (isfinite(points[i].y)) {
            const double px = place[i];
            const double py = axis_place(y, points[i].y), r = 4.5;
            taken[used++] = (box){px - r, px + r, py - r, py + r};
            if (ranges)
                draw_bar(out, px, axis_place(y, points[i].low), axis_place(y, points[i].high));
            fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"#000\"/>\n", px, py);
        }
    }
    for (size_t i = 0, k = 0; i < count; i++) {
        if (isfinite(points[i].y)) {
            const double px = (taken[k].left + taken[k].right) / 2, py = (taken[k].top + taken[k].bottom) / 2;
            const box b = find_room(px, py, letter * (double)strlen(points[i].label), taken, used);
            const double middle = (b.top + b.bottom) / 2, side = b.left > px ? b.left - 1 : b.right + 1;
            if (fabs(middle - py) > 1) {
                fprintf(out, "<path d=\"M%.1f %.1f L%.1f %.1f\" stroke=\"#000\" stroke-width=\"0.6\"/>\n", px, py, side,
                        middle);
            }
            fprintf(out,
                    "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" stroke=\"#fff\" stroke-width=\"3\" "
                    "paint-order=\"stroke\">",
                    b.left > px ? b.left : b.right, middle + 4, b.left > px ? "start" : "end");
            svg_ascii(out, points[i].label);
            fprintf(out, "</text>\n");
            taken[used++] = b;
            k++;
        }
    }
    free(place);
    free(taken);
}

static void draw_curve(FILE *out, const axis *x, const axis *y, const scatter_curve *curve)
{
    fprintf(out, "<path stroke=\"#000\" stroke-width=\"1.5\" fill=\"none\" d=\"");
    for (size_t i = 0; i < curve->count; i++)
        fprintf(out, "%s%.1f %.1f", i == 0 ? "M" : " L", axis_place(x, curve->x[i]), axis_place(y, curve->y[i]));
    fprintf(out, "\"/>\n");
    if (isfinite(curve->chosen_y)) {
        fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"10\" fill=\"#fff\" stroke=\"#000\"/>\n",
                axis_place(x, curve->chosen_x) - 5, axis_place(y, curve->chosen_y) - 5);
    }
}

/* Lines below the plot: what the marks mean, and what has no place in it. */
static int put_note(FILE *out, int line, const char *text)
{
    fprintf(out, "<text x=\"%d\" y=\"%d\">", LEFT, BOTTOM + 44 + LINE * (line + 1));
    svg_ascii(out, text);
    fprintf(out, "</text>\n");
    return line + 1;
}

static int put_absent(FILE *out, int line, size_t count, const scatter_point *points, bool exact)
{
    char note[100];
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const char *label = points[i].label;
        if (isfinite(points[i].y) || isnan(points[i].y) == exact)
            continue;
        if (used > 0 && used + strlen(label) + 2 >= sizeof note) {
            line = put_note(out, line, note);
            used = 0;
        }
        used += (size_t)snprintf(note + used, sizeof note - used, "%s%s",
                                 used > 0 ? ", "
                                 : exact  ? "without error: "
                                          : "without signal: ",
                                 label);
        used = used < sizeof note ? used : sizeof note - 1;
    }
    return used > 0 ? put_note(out, line, note) : line;
}

void scatter_plot_write(const char *path, const char *title, size_t count, const scatter_point *points,
                        const double *threshold, bool ranges, const scatter_curve *curve)
{
    double low_x = INFINITY, high_x = -INFINITY, low_y = INFINITY, high_y = -INFINITY;
    int absent = 0;
    for (size_t i = 0; i < count; i++) {
        if (isfinite(points[i].y)) {
            low_x = fmin(low_x, points[i].x);
            high_x = fmax(high_x, points[i].x);
            low_y = fmin(low_y, points[i].y);
            high_y = fmax(high_y, points[i].y);
        } else {
            absent++;
        }
    }
    for (size_t i = 0; curve != NULL && i < curve->count; i++) {
        low_x = fmin(low_x, curve->x[i]);
        high_x = fmax(high_x, curve->x[i]);
        low_y = fmin(low_y, curve->y[i]);
        high_y = fmax(high_y, curve->y[i]);
    }
    if (threshold != NULL) {
        low_y = fmin(low_y, *threshold);
        high_y = fmax(high_y, *threshold);
    }
    /* A bar may end outside: one tensor of a few numbers that are nearly exact would squeeze all the rest. */
    const double span = fmax(high_y - low_y, 10) / 2, low = low_y - span, high = high_y + span;
    for (size_t i = 0; ranges && i < count; i++) {
        if (isfinite(points[i].y)) {
            low_y = fmin(low_y, fmax(points[i].low, low));
            high_y = fmax(high_y, fmin(points[i].high, high));
        }
    }
    const axis x = low_x <= high_x ? make_axis(low_x, high_x, 12, LEFT, RIGHT) : make_axis(0, 32, 12, LEFT, RIGHT);
    const axis y = low_y <= high_y ? make_axis(low_y, high_y, 10, BOTTOM, TOP) : make_axis(0, 100, 10, BOTTOM, TOP);

    output out = output_open(path);
    const int height = BOTTOM + 60 + LINE * (3 + absent);
    svg_begin(out.file, &(svg_page){.width = WIDTH, .height = height, .millimetres = 160, .font_size = 12});
    svg_title(out.file, 70, title);
    draw_axes(out.file, &x, &y);
    if (threshold != NULL) {
        fprintf(out.file, "<path d=\"M%d %.1f H%d\" stroke=\"#000\" stroke-dasharray=\"6 4\"/>\n", LEFT,
                axis_place(&y, *threshold), RIGHT);
    }
    if (curve != NULL)
        draw_curve(out.file, &x, &y, curve);
    draw_points(out.file, &x, &y, count, points, ranges);
    int line = 0;
    if (ranges) {
        line = put_note(out.file, line,
                        "point: all tensors together; bar: from the worst tensor to the best; points of "
                        "about equal bits stand side by side");
    }
    if (threshold != NULL) {
        char note[64];
        snprintf(note, sizeof note, "dashed: %g dB, as asked for", *threshold);
        line = put_note(out.file, line, note);
    }
    if (curve != NULL) {
        line = put_note(
            out.file, line,
            "line: no choice of a format for each tensor lies above it; square: the choice within the bits asked for");
    }
    line = put_absent(out.file, line, count, points, true);
    put_absent(out.file, line, count, points, false);
    svg_end(out.file);
    output_commit(&out);
}
