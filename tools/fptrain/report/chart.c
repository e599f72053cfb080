/* SPDX-License-Identifier: BSD-2-Clause */
/* chart.c - curves as SVG inside of the page; colours are classes of its style sheet. */
#include "report/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/axis.h"
#include "common/svg.h"
#include "report/svg_style.h"

enum { WIDTH = 640, HEIGHT = 300, LEFT = 64, RIGHT = 628, TOP = 30, BOTTOM = 262, MOST_POINTS = 400, COLOURS = 8 };

static const series *series_of(const run *r, size_t place_of_series)
{
    return (const series *)((const char *)r + place_of_series);
}

static double height_of(const chart *c, double y)
{
    return c->logarithmic ? log2(y) : c->percent ? 100 * y : y;
}

typedef struct extent {
    double x0, x1, y0, y1;
} extent;
static const extent nothing = {INFINITY, -INFINITY, INFINITY, -INFINITY};

/* Takes in the points that a page has room for. */
static void widen(extent *e, const chart *c, const series *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const double h = height_of(c, s->y[i]);
        if (!(fabs(h) < 1e300))
            continue;
        e->x0 = fmin(e->x0, s->x[i]);
        e->x1 = fmax(e->x1, s->x[i]);
        e->y0 = fmin(e->y0, h);
        e->y1 = fmax(e->y1, h);
    }
}

/* The finite points of all runs; false: there are none. */
static bool find_extent(const chart *c, const run *runs, int count, size_t which, axis *x, axis *y)
{
    extent e = nothing;
    for (int k = 0; k < count; k++)
        widen(&e, c, series_of(&runs[k], which));
    *x = axis_make(e.x0, e.x1, LEFT, RIGHT);
    *y = axis_make(e.y0, e.y1, BOTTOM, TOP);
    return e.x0 <= e.x1;
}

static void put_axes(FILE *out, const chart *c, const axis *x, const axis *y)
{
    fprintf(out, "<g class=\"axis\">\n");
    for (double t = ceil(y->low / y->step) * y->step; t <= y->high + 1e-9 * y->step; t += y->step) {
        const double at = axis_place(y, t);
        fprintf(out, "<path d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT, at, RIGHT,
                LEFT - 6, at + 4);
        if (c->logarithmic)
            fprintf(out, "2<tspan dy=\"-4\" font-size=\"9\">%g</tspan></text>\n", fabs(t) < 1e-9 * y->step ? 0 : t);
        else
            fprintf(out, "%g%s</text>\n", fabs(t) < 1e-9 * y->step ? 0 : t, c->percent ? " %" : "");
    }
    for (double t = ceil(x->low / x->step) * x->step; t <= x->high + 1e-9 * x->step; t += x->step)
        fprintf(out, "<path d=\"M%.1f %dv5\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n",
                axis_place(x, t), BOTTOM, axis_place(x, t), BOTTOM + 18, fabs(t) < 1e-9 * x->step ? 0 : t);
    fprintf(out, "<path d=\"M%d %dV%dH%d\"/><text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text></g>\n", LEFT, TOP,
            BOTTOM, RIGHT, (LEFT + RIGHT) / 2, BOTTOM + 34, c->x_title);
}

/* Means of neighbours where there are more points than the eye can tell apart; a point without a number breaks it. */
static void put_curve(FILE *out, const chart *c, const series *s, const axis *x, const axis *y, int colour)
{
    const size_t group = (s->count + MOST_POINTS - 1) / MOST_POINTS;
    bool down = false;
    fprintf(out, "<path class=\"curve c%d\" d=\"", colour % COLOURS);
    for (size_t i = 0; i < s->count; i += group) {
        const size_t end = i + group < s->count ? i + group : s->count;
        double sum_x = 0, sum_y = 0;
        for (size_t k = i; k < end; k++) {
            sum_x += s->x[k];
            sum_y += height_of(c, s->y[k]);
        }
        const double n = (double)(end - i);
        if (isfinite(sum_y))
            fprintf(out, "%c%.1f %.1f", down ? 'L' : 'M', axis_place(x, sum_x / n), axis_place(y, sum_y / n));
        if (isfinite(sum_y) && !down)
            fprintf(out, "h0.1"); /* so that a single point shows */
        down = isfinite(sum_y);
    }
    fprintf(out, "\"/>\n");
}

static void begin_figure(FILE *out, const chart *c, const axis *x, const axis *y, bool alone)
{
    if (alone)
        report_svg_begin(out, WIDTH, HEIGHT);
    else
        fprintf(out, "<figure><svg viewBox=\"0 0 %d %d\" role=\"img\">", WIDTH, HEIGHT);
    fprintf(out, "<title>%s</title><text class=\"title\" x=\"%d\" y=\"18\">%s</text>\n", c->title, LEFT, c->title);
    put_axes(out, c, x, y);
}

static void end_figure(FILE *out, bool alone)
{
    fprintf(out, "</svg>%s\n", alone ? "" : "</figure>");
}

void chart_write(FILE *out, const chart *c, const run *runs, int count, size_t which)
{
    axis x, y;
    if (!find_extent(c, runs, count, which, &x, &y))
        return;
    begin_figure(out, c, &x, &y, false);
    for (int k = 0; k < count; k++)
        put_curve(out, c, series_of(&runs[k], which), &x, &y, k);
    end_figure(out, false);
}

/* ------------------------------------------------------------------------------------------------ of one run */

/* A line from top to bottom; what it stands for goes to its left or its right. */
static void put_mark(FILE *out, double at, int line, bool left, const char *text)
{
    fprintf(out, "<g class=\"axis\"><path class=\"mark\" d=\"M%.1f %dV%d\"/>", at, TOP, BOTTOM);
    fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%s</text></g>\n", at + (left ? -4 : 4),
            TOP + 12 + 14 * line, left ? "end" : "start", text);
}

static const chart switches_chart = {.title = "MuPPET: p (full) and its threshold (dashed)",
                                     .x_title = "policy epoch"};

static extent switches_extent(const run *r)
{
    extent e = nothing;
    widen(&e, &switches_chart, &r->p);
    widen(&e, &switches_chart, &r->threshold);
    return e;
}

bool has_switches(const run *r)
{
    const extent e = switches_extent(r);
    return e.x0 <= e.x1;
}

void switches_write(FILE *out, const run *r, bool alone)
{
    const chart c = switches_chart;
    const extent e = switches_extent(r);
    const axis x = axis_make(0, fmax(1, r->bits.x[r->bits.count - 1]), LEFT, RIGHT);
    const axis y = axis_make(fmin(e.y0, 0), e.y1, BOTTOM, TOP);
    begin_figure(out, &c, &x, &y, alone);
    put_curve(out, &c, &r->p, &x, &y, 0);
    put_curve(out, &c, &r->threshold, &x, &y, 1);
    for (size_t i = 0; i < r->switched.count; i++) {
        char text[48];
        snprintf(text, sizeof text, "%g bits until %g", r->switched.y[i], r->switched.x[i]);
        put_mark(out, axis_place(&x, r->switched.x[i]), (int)(i % 4), true, text);
    }
    end_figure(out, alone);
}

/* The share of the updates under 2^exponent steps of their group. */
static double share_under(const run *r, int exponent)
{
    uint64_t under = 0;
    for (int bin = 0; bin <= exponent - UPDATE_FIRST; bin++)
        under += r->updates[bin];
    return (double)under / (double)r->updated;
}

bool has_updates(const run *r)
{
    uint64_t all = 0;
    for (int i = 0; i < UPDATE_BINS; i++)
        all += r->updates[i];
    return r->updated && all;
}

void updates_write(FILE *out, const run *r, bool alone)
{
    const chart c = {.title = "Updates of weights in steps of their groups (leftmost: also zero)",
                     .x_title = "log2 |update| / delta", .percent = true};
    int first = 0, last = UPDATE_BINS - 1;
    uint64_t most = 0;
    for (int i = 0; i < UPDATE_BINS; i++)
        most = r->updates[i] > most ? r->updates[i] : most;
    while (!r->updates[first])
        first++;
    while (!r->updates[last])
        last--;
    const axis x = axis_make(fmin(first + UPDATE_FIRST - 1, -4), fmax(last + UPDATE_FIRST, 1), LEFT, RIGHT);
    const axis y = axis_make(0, 120 * (double)most / (double)r->updated, BOTTOM, TOP); /* room for the shares */
    begin_figure(out, &c, &x, &y, alone);
    fprintf(out, "<g class=\"cells\">");
    for (int i = first; i <= last; i++) {
        const double left = axis_place(&x, i + UPDATE_FIRST - 1), right = axis_place(&x, i + UPDATE_FIRST);
        const double top = axis_place(&y, 100 * (double)r->updates[i] / (double)r->updated);
        fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>", left, top, right - left - 1,
                BOTTOM - top);
    }
    fprintf(out, "</g>\n");
    for (int i = 0; i < 2; i++) {
        const int exponent = i ? -1 : -3;
        char text[64];
        snprintf(text, sizeof text, "%.3g %% under 1/%d", 100 * share_under(r, exponent), 1 << -exponent);
        put_mark(out, axis_place(&x, exponent), i, true, text);
    }
    end_figure(out, alone);
}

static void put_legend(FILE *out, const run *runs, int count, int top)
{
    for (int k = 0; k < count; k++) {
        const char *slash = strrchr(runs[k].name, '/');
        const int x = LEFT + k % 4 * 140, y = top + k / 4 * 18;
        fprintf(out, "<path class=\"curve c%d\" d=\"M%d %dh28\"/><text x=\"%d\" y=\"%d\">", k % COLOURS, x, y, x + 34,
                y + 4);
        svg_text(out, slash ? slash + 1 : runs[k].name);
        fprintf(out, "</text>\n");
    }
}

void charts_write_alone(FILE *out, int charts, const chart *c, const size_t *which, const run *runs, int count)
{
    const int bottom = charts * HEIGHT + 18 * ((count + 3) / 4) + 12;
    report_svg_begin(out, WIDTH, bottom);
    for (int i = 0; i < charts; i++) {
        axis x, y;
        if (!find_extent(&c[i], runs, count, which[i], &x, &y))
            continue;
        fprintf(out, "<g transform=\"translate(0 %d)\"><text class=\"title\" x=\"%d\" y=\"18\">%s</text>\n", i * HEIGHT,
                LEFT, c[i].title);
        put_axes(out, &c[i], &x, &y);
        for (int k = 0; k < count; k++)
            put_curve(out, &c[i], series_of(&runs[k], which[i]), &x, &y, k);
        fprintf(out, "</g>\n");
    }
    put_legend(out, runs, count, charts * HEIGHT + 12);
    fprintf(out, "</svg>\n");
}
