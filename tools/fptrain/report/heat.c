/* SPDX-License-Identifier: BSD-2-Clause */
/* heat.c - maps with a row for each tensor, as SVG inside of the page or in files of their own. */
#include "common/system.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/axis.h"
#include "common/svg.h"
#include "report/heat.h"
#include "report/svg_style.h"

/* The width of the paper, of the cells and of the names, where rows begin and how high they are; what the column of
 * zeros takes from the cells, and how much of it is filled. */
enum { WIDTH = 640, CELLS = 460, NAMES = 172, TOP = 30, ROW = 13, ZEROS = 24, ZEROS_DRAWN = 16 };

static double darkness(const heat *h, const double *row, int column)
{
    double largest = 0;
    if (h->shade == SHADE_SHARES)
        return row[column] <= 1e-6 ? 0 : 1 + log10(row[column]) / 6;
    if (h->shade == SHADE_SCALES)
        return row[column] <= 1 ? 0 : log2(row[column]) / log2(h->most);
    for (int i = 0; i < h->columns; i++)
        largest = row[i] > largest ? row[i] : largest;
    return largest > 0 ? row[column] / largest : 0;
}

static int left_of(const heat *h)
{
    return NAMES + (h->zeros ? ZEROS : 0);
}

static void put_cell(FILE *out, double left, int top, double width, double dark)
{
    if (dark > 0.004)
        fprintf(out, "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" opacity=\"%.2f\"/>", left, top, width,
                ROW - 1, dark);
}

static void put_row(FILE *out, const heat *h, int row)
{
    const double *share = h->share + (size_t)row * (size_t)h->columns;
    const int top = TOP + row * ROW, left = left_of(h);
    const double width = (double)(NAMES + CELLS - left) / h->columns;
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", NAMES - 6, top + ROW - 3);
    svg_text(out, h->row_name[row]);
    fprintf(out, "</text>");
    if (h->zeros)
        put_cell(out, NAMES, top, ZEROS_DRAWN, h->zeros[row]);
    for (int i = 0; i < h->columns; i++)
        put_cell(out, left + i * width, top, width + 0.3, isnan(share[i]) ? 0 : darkness(h, share, i));
    fprintf(out, "\n");
}

static void put_heat(FILE *out, const heat *h)
{
    const int bottom = TOP + h->rows * ROW, left = left_of(h);
    const axis x = axis_make(h->x_first, h->x_last, left, NAMES + CELLS);
    fprintf(out, "<title>");
    svg_text(out, h->title);
    fprintf(out, "</title><text class=\"title\" x=\"4\" y=\"18\">");
    svg_text(out, h->title);
    fprintf(out, "</text>\n<g class=\"cells\">");
    for (int i = 0; i < h->rows; i++)
        put_row(out, h, i);
    fprintf(out, "</g><g class=\"axis\"><path d=\"M%d %dV%dH%d\"/>\n", left, TOP, bottom, NAMES + CELLS);
    if (h->zeros)
        fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">zero</text>\n", NAMES + ZEROS_DRAWN / 2,
                bottom + 18);
    for (double t = ceil(x.low / x.step) * x.step; t <= x.high + 1e-9 * x.step; t += x.step)
        fprintf(out, "<path d=\"M%.1f %dv5\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n",
                axis_place(&x, t), bottom, axis_place(&x, t), bottom + 18, fabs(t) < 1e-9 * x.step ? 0 : t);
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text></g>\n", NAMES + CELLS / 2, bottom + 33,
            h->x_title);
}

void heat_write(FILE *out, const heat *h)
{
    fprintf(out, "<figure><svg class=\"heat\" viewBox=\"0 0 %d %d\" role=\"img\">", WIDTH, TOP + h->rows * ROW + 38);
    put_heat(out, h);
    fprintf(out, "</svg></figure>\n");
}

void heat_write_alone(FILE *out, const heat *h)
{
    report_svg_begin(out, WIDTH, TOP + h->rows * ROW + 38);
    put_heat(out, h);
    fprintf(out, "</svg>\n");
}

/* ------------------------------------------------------------------------------------------------ of a run */

/* The mean around one point of time, or how often an exponent occurs. */
static double cell(const track *t, heat_kind kind, int column, double first, double width)
{
    const series *s = kind == HEAT_SCALE ? &t->alpha : &t->underflow_share;
    double sum = 0, n = 0;
    if (kind == HEAT_EXPONENTS)
        return (double)t->exponents[(int)first - LOWEST + column];
    for (size_t i = 0; i < s->count; i++) {
        if ((int)((s->x[i] - first) / width + 0.5) != column)
            continue;
        sum += kind == HEAT_SCALE ? log2(s->y[i]) : s->y[i];
        n++;
    }
    return n > 0 ? kind == HEAT_SCALE ? exp2(sum / n) : sum / n : NAN;
}

/* Whether the track has a row: something vanished in it, its gradient is multiplied, or it has exponents. */
static bool has_row(const track *t, heat_kind kind, const char *tensors)
{
    if (tensors && fnmatch(tensors, t->name, 0) != 0)
        return false;
    return kind == HEAT_EXPONENTS ? t->exponents != NULL
           : kind == HEAT_SCALE   ? strcmp(t->role, "dv") == 0 && t->alpha.count > 0
                                  : t->underflow > 0;
}

/* From the lowest to the highest exponent that occurs, or from the first step to the last; and how many columns. */
static int find_range(const run *r, heat_kind kind, int columns, double *first, double *last)
{
    int points = 1;
    *first = INFINITY;
    *last = -INFINITY;
    for (size_t i = 0; i < r->track_count; i++) {
        const track *t = &r->tracks[i];
        const series *s = kind == HEAT_SCALE ? &t->alpha : &t->underflow_share;
        for (int k = 0; kind == HEAT_EXPONENTS && t->exponents && k < BINS; k++) {
            *first = t->exponents[k] ? fmin(*first, k + LOWEST) : *first;
            *last = t->exponents[k] ? fmax(*last, k + LOWEST) : *last;
        }
        points = (int)s->count > points ? (int)s->count : points;
        for (size_t k = 0; kind != HEAT_EXPONENTS && k < s->count; k++) {
            *first = fmin(*first, s->x[k]);
            *last = fmax(*last, s->x[k]);
        }
    }
    if (kind == HEAT_EXPONENTS)
        return *first <= *last ? (int)(*last - *first) + 1 : 0;
    return points < columns ? points : columns;
}

/* One scale for all tensors at all times is a curve, and no map. */
static bool differ(const heat *h)
{
    for (int i = 1; i < h->rows * h->columns; i++)
        if (h->share[i] != h->share[i % h->columns])
            return true;
    return false;
}

static double largest_cell(const heat *h)
{
    double most = 0;
    for (int i = 0; i < h->rows * h->columns; i++)
        most = h->share[i] > most ? h->share[i] : most;
    return most;
}

bool heat_make(heat *h, const run *r, heat_kind kind, const char *tensors, int columns)
{
    static const char *const titles[HEATS] = {"Share that vanished (empty: none or under 1e-6, full: all)", NULL,
                                              "Exponents (darkest: the most frequent); leftmost: zeros"};
    static const shade shades[HEATS] = {SHADE_SHARES, SHADE_SCALES, SHADE_ROWS};
    double first, last;
    *h = (heat){.x_title = kind == HEAT_EXPONENTS ? "exponent, base 2" : "step", .shade = shades[kind]};
    h->columns = find_range(r, kind, columns, &first, &last);
    if (!(first <= last))
        return false;
    h->columns = last > first && h->columns < 2 ? 2 : h->columns; /* tracks of one line each, but not of the same */
    const double width = last > first ? (last - first) / (h->columns - 1) : 1;
    h->x_first = first - width / 2; /* a column stands around its step or exponent */
    h->x_last = last + width / 2;
    h->row_name = need(r->track_count, sizeof *h->row_name);
    h->share = need(r->track_count * (size_t)h->columns, sizeof *h->share);
    h->zeros = kind == HEAT_EXPONENTS ? need(r->track_count, sizeof *h->zeros) : NULL;
    for (size_t i = 0; i < r->track_count; i++) {
        if (!has_row(&r->tracks[i], kind, tensors))
            continue;
        for (int k = 0; k < h->columns; k++)
            h->share[h->rows * h->columns + k] = cell(&r->tracks[i], kind, k, first, width);
        if (h->zeros && r->tracks[i].with_exponents)
            h->zeros[h->rows] = (double)r->tracks[i].zeros / (double)r->tracks[i].with_exponents;
        h->row_name[h->rows++] = r->tracks[i].name;
    }
    h->most = largest_cell(h);
    if (kind == HEAT_SCALE)
        snprintf(h->title, sizeof h->title, "Scale of gradients (empty: 1, full: 2^%g)", round(log2(fmax(h->most, 1))));
    else
        snprintf(h->title, sizeof h->title, "%s", titles[kind]);
    if (h->rows > 0 && (kind != HEAT_SCALE || differ(h)))
        return true;
    heat_free(h);
    return false;
}

void heat_free(heat *h)
{
    free(h->row_name);
    free(h->share);
    free(h->zeros);
    *h = (heat){.rows = 0};
}
