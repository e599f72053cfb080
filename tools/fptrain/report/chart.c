/* SPDX-License-Identifier: BSD-2-Clause */
/* chart.c - curves as SVG; colours are classes of a style sheet. */
#include "report/chart.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/axis.h"
#include "common/svg.h"

static const char style[] =
    "text{font:11px sans-serif;fill:#222}.title{font-size:13px;font-weight:600}"
    ".axis path{stroke:#bbb;fill:none;stroke-width:.7}.axis .mark{stroke:#222;stroke-dasharray:3 3}"
    ".cells rect,.cells path{fill:#1f6fb5}.cells text{font-size:10px}"
    ".limit{fill:none;stroke:#c8324b;stroke-width:1.5}.smallest{stroke-dasharray:1.5 2}.normal{stroke-dasharray:5 3}"
    ".f0{fill:#1f6fb5}.f1{fill:#c8324b}.f2{fill:#2b8a57}.f3{fill:#8450a0}.f4{fill:#b07a10}.f5{fill:#128a8a}"
    ".f6{fill:#666}.f7{fill:#8a5a2e}.band{opacity:.18}"
    ".curve{fill:none;stroke-width:1.8;stroke-linecap:round;stroke-linejoin:round}"
    ".c0{stroke:#1f6fb5}.c1{stroke:#c8324b;stroke-dasharray:7 3}.c2{stroke:#2b8a57;stroke-dasharray:2 4}"
    ".c3{stroke:#8450a0;stroke-dasharray:9 3 2 3}.c4{stroke:#b07a10;stroke-dasharray:4 4}"
    ".c5{stroke:#128a8a;stroke-dasharray:12 4}.c6{stroke:#666;stroke-dasharray:2 2}"
    ".c7{stroke:#8a5a2e;stroke-dasharray:9 3 2 3 2 3}.r1{stroke-width:3.2}.r2{stroke-width:.8}"
    ".faint{fill:none;stroke-width:1;stroke-dasharray:none;opacity:.3}";

void report_svg_begin(FILE *out, int width, int height)
{
    svg_begin(out, &(svg_page){.width = width, .height = height, .font_size = 11, .style = style});
}

const chart report_charts[REPORT_CHARTS] = {
    {.file = "loss", .title = "Loss", .place = offsetof(run, loss), .noisy = true, .wide = true},
    {.file = "accuracy",
     .title = "Accuracy on the test part",
     .place = offsetof(run, accuracy),
     .percent = true,
     .noisy = true},
    {.file = "accuracy-fp32",
     .title = "Accuracy of the master weights in FP32",
     .place = offsetof(run, accuracy_fp32),
     .percent = true,
     .noisy = true},
    {.file = "scale", .title = "Scale of the loss", .place = offsetof(run, scale), .logarithmic = true},
    {.file = "move",
     .title = "Mean move of a packed weight, in steps of its group",
     .place = offsetof(run, move),
     .logarithmic = true,
     .noisy = true},
    {.file = "underflow",
     .title = "Share of gradients that vanished",
     .place = offsetof(run, vanished),
     .logarithmic = true,
     .noisy = true},
    {.file = "deviation",
     .title = "Largest standard deviation of scaled gradients",
     .place = offsetof(run, widest),
     .logarithmic = true,
     .noisy = true},
};

enum { WIDTH = 640, HEIGHT = 300, LEFT = 64, RIGHT = 628, TOP = 30, BOTTOM = 262, MOST_POINTS = 400, COLOURS = 8 };

curves curves_of(const groups *g, double smooth)
{
    return (curves){g->count, g->mean, g->low, g->high, g->group, smooth};
}

static double height_of(const chart *c, double y)
{
    return c->logarithmic ? log2(y) : c->percent ? 100 * y : y;
}

static const char *x_title_of(const chart *c)
{
    return c->x_title ? c->x_title : "step";
}

/* A number that a page has room for. */
static bool drawn(double height)
{
    return fabs(height) < 1e300;
}

typedef struct extent {
    double x0, x1, y0, y1;
} extent;
static const extent nothing = {INFINITY, -INFINITY, INFINITY, -INFINITY};

static void widen(extent *e, const chart *c, const series *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const double h = height_of(c, s->y[i]);
        if (!drawn(h))
            continue;
        e->x0 = fmin(e->x0, s->x[i]);
        e->x1 = fmax(e->x1, s->x[i]);
        e->y0 = fmin(e->y0, h);
        e->y1 = fmax(e->y1, h);
    }
}

static extent extent_of(const chart *c, const curves *of)
{
    extent e = nothing;
    for (int k = 0; k < of->count; k++) {
        widen(&e, c, series_at(&of->run[k], c->place));
        if (of->low)
            widen(&e, c, series_at(&of->low[k], c->place));
        if (of->high)
            widen(&e, c, series_at(&of->high[k], c->place));
    }
    return e;
}

bool chart_has(const curves *of, const chart *c)
{
    const extent e = extent_of(c, of);
    return e.x0 <= e.x1;
}

static double first_tick(const axis *a)
{
    return ceil(a->low / a->step - 1e-9) * a->step;
}

static void put_axes(FILE *out, const chart *c, const axis *x, const axis *y)
{
    fprintf(out, "<g class=\"axis\">\n");
    for (double t = first_tick(y); t <= y->high + 1e-9 * y->step; t += y->step) {
        const double at = axis_place(y, t);
        fprintf(out, "<path d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT, at, RIGHT,
                LEFT - 6, at + 4);
        if (c->logarithmic)
            fprintf(out, "2<tspan dy=\"-4\" font-size=\"9\">%g</tspan></text>\n", fabs(t) < 1e-9 * y->step ? 0 : t);
        else
            fprintf(out, "%g%s</text>\n", fabs(t) < 1e-9 * y->step ? 0 : t, c->percent ? " %" : "");
    }
    for (double t = first_tick(x); t <= x->high + 1e-9 * x->step; t += x->step)
        fprintf(out, "<path d=\"M%.1f %dv5\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n",
                axis_place(x, t), BOTTOM, axis_place(x, t), BOTTOM + 18, fabs(t) < 1e-9 * x->step ? 0 : t);
    fprintf(out, "<path d=\"M%d %dV%dH%d\"/><text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text></g>\n", LEFT, TOP,
            BOTTOM, RIGHT, (LEFT + RIGHT) / 2, BOTTOM + 34, x_title_of(c));
}

static chart suited(const chart *c, const curves *of)
{
    const extent e = extent_of(c, of);
    chart suited = *c;
    suited.logarithmic = c->logarithmic || (c->wide && e.y0 > 0 && e.y1 > 100 * e.y0);
    return suited;
}

/* ------------------------------------------------------------------------------------------------ curves */

/* Of a ninth curve and more the line is thicker, then thinner than those of the same colour before. */
static void put_colour(FILE *out, int curve)
{
    fprintf(out, "c%d", curve % COLOURS);
    if (curve >= COLOURS)
        fprintf(out, " r%d", curve / COLOURS % 3);
}

static double *heights_of(const chart *c, const series *s)
{
    double *h = need(s->count + 1, sizeof *h);
    for (size_t i = 0; i < s->count; i++)
        h[i] = height_of(c, s->y[i]);
    return h;
}

/* An exponential mean; what it lacks at the start, where nothing came before, is divided out. Points without a number
 * stay, and are no part of it. */
static void smooth_out(double *h, size_t count, double weight)
{
    double sum = 0, share = 0;
    for (size_t i = 0; i < count; i++) {
        if (!drawn(h[i]))
            continue;
        sum = weight * sum + (1 - weight) * h[i];
        share = weight * share + (1 - weight);
        h[i] = sum / share;
    }
}

/* How many neighbours share a place, so that a curve has at most MOST_POINTS points. */
static size_t neighbours(size_t count)
{
    return count <= MOST_POINTS ? 1 : (2 * count + MOST_POINTS - 1) / MOST_POINTS;
}

/* The pieces of a curve as they are drawn. */
typedef struct pen {
    FILE *out;
    const axis *x, *y;
    bool down;
    int points, alone;          /* of this piece so far; pieces of one point */
    double dot[MOST_POINTS][2]; /* where those lie */
    double last[2];
} pen;

static void put_point(pen *p, double at, double h)
{
    p->last[0] = axis_place(p->x, at);
    p->last[1] = axis_place(p->y, h);
    p->points = p->down ? p->points + 1 : 1;
    fprintf(p->out, "%c%.1f %.1f%s", p->down ? 'L' : 'M', p->last[0], p->last[1],
            p->down ? "" : "h0.1"); /* so that a single point shows */
    p->down = true;
}

static void lift(pen *p)
{
    if (p->down && p->points == 1 && p->alone < MOST_POINTS)
        memcpy(p->dot[p->alone++], p->last, sizeof p->last);
    p->down = false;
}

/* The lowest and the highest of neighbours where there are more points than the eye can tell apart: no peak is lost. A
 * point without a number breaks the curve; one that stands alone is a dot. */
static void put_curve(FILE *out, const series *s, const double *h, const axis *x, const axis *y, const char *kind,
                      int colour)
{
    const size_t each = neighbours(s->count);
    pen p = {.out = out, .x = x, .y = y};
    fprintf(out, "<path class=\"%s ", kind);
    put_colour(out, colour);
    fprintf(out, "\" d=\"");
    for (size_t i = 0; i < s->count; i += each) {
        const size_t end = i + each < s->count ? i + each : s->count;
        size_t low = end, high = end, broken = 0;
        for (size_t k = i; k < end; k++) {
            broken += !drawn(h[k]);
            low = drawn(h[k]) && (low == end || h[k] < h[low]) ? k : low;
            high = drawn(h[k]) && (high == end || h[k] > h[high]) ? k : high;
        }
        const size_t first = low < high ? low : high, second = low < high ? high : low;
        if (first < end)
            put_point(&p, s->x[first], h[first]);
        if (second < end && second != first)
            put_point(&p, s->x[second], h[second]);
        if (broken)
            lift(&p);
    }
    lift(&p);
    fprintf(out, "\"/>\n");
    for (int i = 0; i < p.alone; i++)
        fprintf(out, "<circle class=\"f%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"/>\n", colour % COLOURS, p.dot[i][0],
                p.dot[i][1]);
}

/* From the low end forth and along the high one back; in pieces where a run has no number. */
static void put_band(FILE *out, const series *s, const double *low, const double *high, const axis *x, const axis *y,
                     int colour)
{
    const size_t each = neighbours(s->count);
    fprintf(out, "<path class=\"band f%d\" d=\"", colour % COLOURS);
    for (size_t from = 0; from < s->count;) {
        size_t to = from;
        while (to < s->count && drawn(low[to]) && drawn(high[to]))
            to++;
        for (int side = 0; side < 2 && to > from; side++)
            for (size_t n = 0; n < (to - from + each - 1) / each; n++) {
                const size_t i = from + (side ? (to - from + each - 1) / each - 1 - n : n) * each;
                double h = side ? high[i] : low[i];
                for (size_t k = i; k < to && k < i + each; k++)
                    h = side ? fmax(h, high[k]) : fmin(h, low[k]);
                fprintf(out, "%c%.1f %.1f", side || n ? 'L' : 'M', axis_place(x, s->x[i]), axis_place(y, h));
            }
        fprintf(out, to > from ? "Z" : "");
        from = to + 1;
    }
    fprintf(out, "\"/>\n");
}

static bool has_band(const curves *of, int k)
{
    return of->low && of->high && of->group && of->group[k].count > 1;
}

static bool is_smoothed(const curves *of, const chart *c)
{
    return of->smooth > 0 && c->noisy;
}

static void put_run(FILE *out, const chart *c, const curves *of, const axis *x, const axis *y, int k)
{
    const series *s = series_at(&of->run[k], c->place);
    double *h = heights_of(c, s);
    if (has_band(of, k)) {
        double *low = heights_of(c, series_at(&of->low[k], c->place));
        double *high = heights_of(c, series_at(&of->high[k], c->place));
        if (is_smoothed(of, c)) {
            smooth_out(low, s->count, of->smooth);
            smooth_out(high, s->count, of->smooth);
        }
        put_band(out, s, low, high, x, y, k);
        free(low);
        free(high);
    }
    if (is_smoothed(of, c)) {
        put_curve(out, s, h, x, y, "faint", k);
        smooth_out(h, s->count, of->smooth);
    }
    put_curve(out, s, h, x, y, "curve", k);
    free(h);
}

static void put_frame(FILE *out, const chart *c, const curves *of)
{
    const extent e = extent_of(c, of);
    axis x = axis_make(e.x0, e.x1, LEFT, RIGHT), y = axis_make(e.y0, e.y1, BOTTOM, TOP);
    x.step = fmax(x.step, 1);                                                 /* there are no halves of steps */
    y.step = c->logarithmic && y.step < 1 && y.high - y.low > 1 ? 1 : y.step; /* whole powers */
    put_axes(out, c, &x, &y);
    for (int k = 0; k < of->count; k++)
        put_run(out, c, of, &x, &y, k);
}

/* What one would see: how many curves, from where to where. */
static void put_description(FILE *out, const chart *c, const curves *of)
{
    const extent e = extent_of(c, of);
    int drawn_curves = 0;
    for (int k = 0; k < of->count; k++)
        drawn_curves += series_at(&of->run[k], c->place)->count > 0;
    fprintf(out, "<desc>%d curve%s over %s %g to %g; heights from %s%.4g to %s%.4g%s.</desc>", drawn_curves,
            drawn_curves == 1 ? "" : "s", x_title_of(c), e.x0, e.x1, c->logarithmic ? "2^" : "", e.y0,
            c->logarithmic ? "2^" : "", e.y1, c->percent ? " %" : "");
}

static void put_title(FILE *out, const char *title)
{
    fprintf(out, "<title>%s</title><text class=\"title\" x=\"%d\" y=\"18\">%s</text>\n", title, LEFT, title);
}

static void begin_figure(FILE *out, const char *title)
{
    report_svg_begin(out, WIDTH, HEIGHT);
    put_title(out, title);
}

/* ------------------------------------------------------------------------------------------------ of one run */

/* A line from top to bottom; what it stands for goes to its left or its right. */
static void put_mark(FILE *out, double at, int line, bool left, const char *text)
{
    fprintf(out, "<g class=\"axis\"><path class=\"mark\" d=\"M%.1f %dV%d\"/>", at, TOP, BOTTOM);
    fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%s</text></g>\n", at + (left ? -4 : 4),
            TOP + 12 + 14 * line, left ? "end" : "start", text);
}

static const chart switches_chart = {.title = "MuPPET: p (full) and its threshold (dashed)", .x_title = "policy epoch"};

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

void switches_write(FILE *out, const run *r)
{
    const chart c = switches_chart;
    const extent e = switches_extent(r);
    const axis x = axis_make(0, fmax(1, r->bits.x[r->bits.count - 1]), LEFT, RIGHT);
    const axis y = axis_make(fmin(e.y0, 0), e.y1, BOTTOM, TOP);
    begin_figure(out, c.title);
    put_axes(out, &c, &x, &y);
    put_curve(out, &r->p, r->p.y, &x, &y, "curve", 0);
    put_curve(out, &r->threshold, r->threshold.y, &x, &y, "curve", 1);
    for (size_t i = 0; i < r->switched.count; i++) {
        char text[48];
        snprintf(text, sizeof text, "%g bits until %g", r->switched.y[i], r->switched.x[i]);
        put_mark(out, axis_place(&x, r->switched.x[i]), (int)(i % 4), true, text);
    }
    fprintf(out, "</svg>\n");
}

bool has_updates(const run *r)
{
    uint64_t all = 0;
    for (int i = 0; i < UPDATE_BINS; i++)
        all += r->updates[i];
    return r->updated && all;
}

void updates_write(FILE *out, const run *r)
{
    const chart c = {.title = "Updates of weights in steps of their groups (leftmost: also zero)",
                     .x_title = "log2 |update| / delta",
                     .percent = true};
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
    begin_figure(out, c.title);
    put_axes(out, &c, &x, &y);
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
        snprintf(text, sizeof text, "%.3g %% under 1/%d", 100 * update_share_below(r->updates, r->updated, exponent),
                 1 << -exponent);
        put_mark(out, axis_place(&x, exponent), i, true, text);
    }
    fprintf(out, "</svg>\n");
}

/* ------------------------------------------------------------------------------------------------ legends */

static int runs_of(const curves *of, int k)
{
    return of->group ? of->group[k].count : 1;
}

enum { NOTE = 512 };

static void add_words(char text[NOTE], const char *words)
{
    snprintf(text + strlen(text), NOTE - strlen(text), "%s%s", text[0] ? " " : "", words);
}

/* About bands, smoothing and points that were left out; empty where there is nothing to say. */
static void make_note(const curves *of, char text[NOTE])
{
    bool several = false, many = false;
    char smoothed[160];
    text[0] = '\0';
    for (int k = 0; k < of->count; k++) {
        several = several || has_band(of, k);
        many = many || of->run[k].loss.count > MOST_POINTS;
    }
    if (several)
        add_words(text, "Curves of several runs, which differ in the seed alone, are means; bands go from the lowest "
                        "run to the highest.");
    if (of->smooth > 0) {
        snprintf(smoothed, sizeof smoothed,
                 "Smoothed: exponential mean, weight %g of what came before, corrected at "
                 "the start; faint: as logged.",
                 of->smooth);
        add_words(text, smoothed);
    }
    if (many)
        add_words(text,
                  "Of neighbouring points that the paper cannot tell apart the lowest and the highest are drawn.");
}

/* Room for the longest name, from its bytes: as many columns as fit. */
typedef struct legend {
    int columns, width, letters;
} legend;
enum { KEY = 34, LETTER = 7, LEAST = 140 };

static legend legend_of(const curves *of)
{
    size_t longest = 0;
    for (int k = 0; k < of->count; k++) {
        const size_t length = strlen(of->run[k].name) + (runs_of(of, k) > 1 ? 10 : 0);
        longest = length > longest ? length : longest;
    }
    const int most = (RIGHT - LEFT - KEY) / LETTER, letters = longest < (size_t)most ? (int)longest : most;
    const int wanted = KEY + LETTER * letters + 12, width = wanted > LEAST ? wanted : LEAST;
    const int columns = (RIGHT - LEFT) / width;
    return (legend){columns > 0 ? columns : 1, width, most};
}

static int legend_height(const curves *of)
{
    const legend l = legend_of(of);
    return 18 * ((of->count + l.columns - 1) / l.columns);
}

/* A name that the paper has no room for loses its beginning, which names of one place share. */
static void put_legend(FILE *out, const curves *of, int top)
{
    const legend l = legend_of(of);
    for (int k = 0; k < of->count; k++) {
        const char *name = of->run[k].name;
        const int x = LEFT + k % l.columns * l.width, y = top + k / l.columns * 18;
        const size_t length = strlen(name), room = (size_t)l.letters - (runs_of(of, k) > 1 ? 10 : 0);
        const char *from = length > room ? name + length - room + 3 : name;
        while (from > name && (*from & 0xc0) == 0x80) /* within a character */
            from++;
        fprintf(out, "<path class=\"curve ");
        put_colour(out, k);
        fprintf(out, "\" d=\"M%d %dh28\"/><text x=\"%d\" y=\"%d\">%s", x, y, x + KEY, y + 4, from > name ? "..." : "");
        svg_text(out, from);
        if (runs_of(of, k) > 1)
            fprintf(out, " (%d runs)", runs_of(of, k));
        fprintf(out, "</text>\n");
    }
}

/* Lines of about as many letters as the paper is wide. Returns how many. With NULL it only counts. */
static int put_note(FILE *out, const char *note, int top)
{
    enum { LINE = 92 };
    int lines = 0;
    while (*note) {
        int length = (int)strlen(note);
        if (length > LINE)
            for (length = LINE; length > 1 && note[length] != ' ';)
                length--;
        if (out)
            fprintf(out, "<text x=\"%d\" y=\"%d\">%.*s</text>\n", LEFT, top + 15 * lines, length, note);
        note += length + (note[length] == ' ');
        lines++;
    }
    return lines;
}

void chart_write(FILE *out, const chart *c, const curves *of)
{
    char note[NOTE];
    curves told = *of;
    const chart own = suited(c, of);
    const int legend_top = HEIGHT + 12, note_top = legend_top + legend_height(of) + 4;
    told.smooth = c->noisy ? of->smooth : 0;
    make_note(&told, note);
    report_svg_begin(out, WIDTH, note_top + 15 * put_note(NULL, note, 0));
    put_title(out, own.title);
    put_description(out, &own, of);
    put_frame(out, &own, of);
    put_legend(out, of, legend_top);
    put_note(out, note, note_top);
    fprintf(out, "</svg>\n");
}
