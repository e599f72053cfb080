/* SPDX-License-Identifier: BSD-2-Clause */
/* heat.c - maps with a row for each tensor, as SVG files. */
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/axis.h"
#include "common/svg.h"
#include "policies/policy.h"
#include "report/chart.h"
#include "report/heat.h"

/* The width of the paper, of the cells and of the names, where rows begin and how high they are; what the column of
 * zeros takes from the cells, and how much of it is filled. */
enum { WIDTH = 640, CELLS = 460, NAMES = 172, TOP = 30, ROW = 13, ZEROS = 24, ZEROS_DRAWN = 16 };
/* How dark a cell may be, in so many steps; formats that are told below a map; how far out of what occurs limits are
 * shown. */
enum { LEVELS = 20, FORMATS = 8, BESIDE = 8 };

static double darkness(const heat *h, double share, double largest)
{
    if (h->shade == SHADE_SHARES)
        return share <= 1e-6 ? 0 : 1 + log10(share) / 6;
    if (h->shade == SHADE_SCALES)
        return share <= 1 ? 0 : log2(share) / log2(h->most);
    return largest > 0 ? share / largest : 0;
}

static int left_of(const heat *h)
{
    return NAMES + (h->zeros ? ZEROS : 0);
}

/* 0: none; what is there at all shows. */
static int level_of(double dark)
{
    const int level = (int)(dark * LEVELS + 0.5);
    return !(dark > 0.004) ? 0 : level < 1 ? 1 : level > LEVELS ? LEVELS : level;
}

/* Of every cell, row by row; for free(). */
static unsigned char *levels_of(const heat *h)
{
    unsigned char *levels = need((size_t)h->rows * (size_t)h->columns + 1, 1);
    for (int row = 0; row < h->rows; row++) {
        const double *share = h->share + (size_t)row * (size_t)h->columns;
        double largest = 0;
        for (int i = 0; i < h->columns; i++)
            largest = share[i] > largest ? share[i] : largest;
        for (int i = 0; i < h->columns; i++)
            levels[(size_t)row * (size_t)h->columns + (size_t)i] =
                (unsigned char)(isnan(share[i]) ? 0 : level_of(darkness(h, share[i], largest)));
    }
    return levels;
}

static void put_cell(FILE *out, double left, int row, double width)
{
    fprintf(out, "M%.1f %dh%.1fv%dh-%.1fz", left, TOP + row * ROW, width, ROW - 1, width);
}

static void begin_level(FILE *out, int level, bool *begun)
{
    if (!*begun)
        fprintf(out, "<path opacity=\"%.2f\" d=\"", (double)level / LEVELS);
    *begun = true;
}

/* The cells that are so dark as one path, equal neighbours as one cell: a map of many tensors stays small. */
static void put_level(FILE *out, const heat *h, const unsigned char *levels, int level)
{
    const int left = left_of(h);
    const double width = (double)(NAMES + CELLS - left) / h->columns;
    bool any = false;
    for (int row = 0; row < h->rows; row++) {
        const unsigned char *of = levels + (size_t)row * (size_t)h->columns;
        for (int i = 0, next; i < h->columns; i = next) {
            next = i + 1;
            if (of[i] != level)
                continue;
            while (next < h->columns && of[next] == level)
                next++;
            begin_level(out, level, &any);
            put_cell(out, left + i * width, row, (next - i) * width);
        }
        if (h->zeros && level_of(h->zeros[row]) == level) {
            begin_level(out, level, &any);
            put_cell(out, NAMES, row, ZEROS_DRAWN);
        }
    }
    fprintf(out, any ? "\"/>\n" : "");
}

static void put_limits_of(FILE *out, const limits *l)
{
    svg_text(out, l->spec);
    fprintf(out, ": 2^%d, ", l->smallest);
    if (l->has_normal)
        fprintf(out, "2^%d, ", l->normal);
    fprintf(out, "2^%d", l->largest);
}

static void put_name(FILE *out, const heat *h, int row)
{
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", NAMES - 6, TOP + row * ROW + ROW - 3);
    if (h->limit && h->limit[row].spec) {
        fprintf(out, "<title>");
        put_limits_of(out, &h->limit[row]);
        fprintf(out, "</title>");
    }
    svg_text(out, h->row_name[row]);
    fprintf(out, "</text>\n");
}

/* ------------------------------------------------------------------------------------------------ limits */

typedef enum limit_kind { SMALLEST, NORMAL, LARGEST, LIMITS } limit_kind;
static const char *const limit_names[LIMITS] = {"smallest", "normal", "largest"};
static const char *const limit_words[LIMITS] = {"smallest value", "smallest normal value", "largest value"};

/* Left of the column of the smallest, right of that of the largest. False: there is no such place. */
static bool place_limit(const heat *h, const limits *l, limit_kind kind, double *place)
{
    if (!l->spec || (kind == NORMAL && !l->has_normal))
        return false;
    *place = kind == SMALLEST ? l->smallest - 0.5 : kind == NORMAL ? l->normal - 0.5 : l->largest + 0.5;
    return *place >= h->x_first - 1e-9 && *place <= h->x_last + 1e-9;
}

/* The formats of the rows, each once, FORMATS at most. */
static int find_formats(const heat *h, const limits *found[FORMATS])
{
    int count = 0;
    for (int row = 0; h->limit && row < h->rows && count < FORMATS; row++) {
        int i = 0;
        while (i < count && strcmp(found[i]->spec, h->limit[row].spec ? h->limit[row].spec : found[i]->spec) != 0)
            i++;
        if (i == count && h->limit[row].spec)
            found[count++] = &h->limit[row];
    }
    return count;
}

static int bottom_of(const heat *h)
{
    const limits *found[FORMATS];
    const int formats = find_formats(h, found);
    return TOP + h->rows * ROW + 38 + (formats ? 18 + 14 * formats : 0);
}

static void put_limits(FILE *out, const heat *h, const axis *x)
{
    const limits *found[FORMATS];
    const int formats = find_formats(h, found), top = TOP + h->rows * ROW + 52;
    double place;
    for (int kind = 0; formats && kind < LIMITS; kind++) {
        fprintf(out, "<path class=\"limit %s\" d=\"", limit_names[kind]);
        for (int row = 0; row < h->rows; row++)
            if (place_limit(h, &h->limit[row], (limit_kind)kind, &place))
                fprintf(out, "M%.1f %dv%d", axis_place(x, place), TOP + row * ROW, ROW);
        fprintf(out, "\"/>\n<path class=\"limit %s\" d=\"M%d %dh24\"/><text x=\"%d\" y=\"%d\">%s</text>\n",
                limit_names[kind], NAMES + 160 * kind, top - 4, NAMES + 160 * kind + 30, top, limit_words[kind]);
    }
    for (int i = 0; i < formats; i++) {
        fprintf(out, "<text x=\"%d\" y=\"%d\">", NAMES, top + 16 + 14 * i);
        put_limits_of(out, found[i]);
        fprintf(out, "</text>\n");
    }
}

static void put_heat(FILE *out, const heat *h)
{
    const int bottom = TOP + h->rows * ROW, left = left_of(h);
    axis x = axis_make(h->x_first, h->x_last, left, NAMES + CELLS);
    x.step = fmax(x.step, 1);
    unsigned char *levels = levels_of(h);
    fprintf(out, "<title>");
    svg_text(out, h->title);
    fprintf(out,
            "</title><desc>A row for each of %d tensors; %s from %g to %g.</desc><text class=\"title\" x=\"4\" "
            "y=\"18\">",
            h->rows, h->x_title, ceil(h->x_first), floor(h->x_last));
    svg_text(out, h->title);
    fprintf(out, "</text>\n<g class=\"cells\">");
    for (int i = 0; i < h->rows; i++)
        put_name(out, h, i);
    for (int level = 1; level <= LEVELS; level++)
        put_level(out, h, levels, level);
    free(levels);
    fprintf(out, "</g><g class=\"axis\"><path d=\"M%d %dV%dH%d\"/>\n", left, TOP, bottom, NAMES + CELLS);
    if (h->zeros)
        fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">zero</text>\n", NAMES + ZEROS_DRAWN / 2,
                bottom + 18);
    for (double t = ceil((x.low + (h->zeros ? 1.5 : 0)) / x.step) * x.step; t <= x.high + 1e-9 * x.step; t += x.step)
        fprintf(out, "<path d=\"M%.1f %dv5\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n",
                axis_place(&x, t), bottom, axis_place(&x, t), bottom + 18, fabs(t) < 1e-9 * x.step ? 0 : t);
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text></g>\n", NAMES + CELLS / 2, bottom + 33,
            h->x_title);
    put_limits(out, h, &x);
}

void heat_write(FILE *out, const heat *h)
{
    report_svg_begin(out, WIDTH, bottom_of(h));
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

/* Takes in the exponents that are frequent enough to show. */
static void widen(const track *t, double *first, double *last)
{
    uint64_t most = 0;
    for (int k = 0; k < BINS; k++)
        most = t->exponents[k] > most ? t->exponents[k] : most;
    for (int k = 0; k < BINS; k++) {
        if (!level_of((double)t->exponents[k] / (double)(most ? most : 1)))
            continue;
        *first = fmin(*first, k + LOWEST);
        *last = fmax(*last, k + LOWEST);
    }
}

/* From the lowest to the highest exponent that shows, or from the first step to the last; and how many columns. */
static int find_range(const run *r, heat_kind kind, int columns, double *first, double *last)
{
    int points = 1;
    *first = INFINITY;
    *last = -INFINITY;
    for (size_t i = 0; i < r->track_count; i++) {
        const track *t = &r->tracks[i];
        const series *s = kind == HEAT_SCALE ? &t->alpha : &t->underflow_share;
        if (kind == HEAT_EXPONENTS && t->exponents)
            widen(t, first, last);
        points = (int)s->count > points ? (int)s->count : points;
        for (size_t k = 0; kind != HEAT_EXPONENTS && k < s->count; k++) {
            *first = fmin(*first, s->x[k]);
            *last = fmax(*last, s->x[k]);
        }
    }
    return points < columns ? points : columns;
}

/* Limits that are not far from what occurs are shown. */
static int reach_limits(const heat *h, double *first, double *last)
{
    const double lowest = *first - BESIDE, highest = *last + BESIDE;
    for (int i = 0; i < h->rows; i++) {
        const limits *l = &h->limit[i];
        if (l->spec && l->smallest >= lowest && l->smallest >= LOWEST)
            *first = fmin(*first, l->smallest);
        if (l->spec && l->largest <= highest && l->largest < LOWEST + BINS)
            *last = fmax(*last, l->largest);
    }
    return (int)(*last - *first) + 1;
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

/* Of the format that a tensor has all the time by the [formats] of these settings. Not known where it is not rounded,
 * where the policy chooses, or where blocks have scales: then the limits are different from block to block. */
static limits limits_of(const settings *s, const char *role, const char *tensor)
{
    const format_line *line = format_line_of(s->format_count, s->formats, role, tensor);
    limits l = {.spec = NULL};
    fpemu_format format;
    if (!line || strcmp(line->spec, "fp32") == 0 || fpemu_format_parse(line->spec, &format, NULL) != FPEMU_OK)
        return l;
    const double normal = fpemu_format_min_normal(&format), smallest = fpemu_format_min_positive(&format);
    if (format.scaling || !(smallest > 0))
        return l;
    l.spec = line->spec;
    l.smallest = ilogb(smallest);
    l.has_normal = normal > smallest;
    l.normal = l.has_normal ? ilogb(normal) : 0;
    l.largest = ilogb(fpemu_format_max(&format));
    return l;
}

/* Of every row that there will be. */
static void find_limits(heat *h, const run *r, const char *tensors)
{
    h->limit = need(r->track_count, sizeof *h->limit);
    for (size_t i = 0; i < r->track_count; i++)
        if (has_row(&r->tracks[i], HEAT_EXPONENTS, tensors))
            h->limit[h->rows++] = limits_of(&r->settings, r->tracks[i].role, r->tracks[i].name);
}

bool heat_make(heat *h, const run *r, heat_kind kind, const char *tensors, int columns)
{
    static const char *const titles[HEATS] = {
        "Share that vanished (empty: none or under 1e-6, full: all)", NULL,
        "Exponents before rounding (darkest: the most frequent); leftmost: zeros"};
    static const shade shades[HEATS] = {SHADE_SHARES, SHADE_SCALES, SHADE_ROWS};
    double first, last;
    *h = (heat){.x_title = kind == HEAT_EXPONENTS ? "exponent, base 2" : "step", .shade = shades[kind]};
    h->columns = find_range(r, kind, columns, &first, &last);
    if (!(first <= last))
        return false;
    if (kind == HEAT_EXPONENTS) {
        find_limits(h, r, tensors);
        h->columns = reach_limits(h, &first, &last);
    }
    h->columns = last > first && h->columns < 2 ? 2 : h->columns; /* tracks of one line each, but not of the same */
    const double width = last > first ? (last - first) / (h->columns - 1) : 1;
    h->x_first = first - width / 2; /* a column stands around its step or exponent */
    h->x_last = last + width / 2;
    h->row_name = need(r->track_count, sizeof *h->row_name);
    h->share = need(r->track_count * (size_t)h->columns, sizeof *h->share);
    h->zeros = kind == HEAT_EXPONENTS ? need(r->track_count, sizeof *h->zeros) : NULL;
    h->rows = 0;
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
    free(h->limit);
    *h = (heat){.rows = 0};
}
