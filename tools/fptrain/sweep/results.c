/* SPDX-License-Identifier: BSD-2-Clause */
/* results.c - a sweep as a table and as a plot of accuracy against the low-precision ratio.
 *
 * The plot is black on white. A scheme has a shape, filled with promotion and hollow without; bars go from the worst
 * seed to the best. Schemes by ratio are joined by lines; the mean accuracy of FP32 is a dashed line as well.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "common/axis.h"
#include "common/svg.h"
#include "sweep/sweep.h"

enum { WIDTH = 680, LEFT = 64, RIGHT = 660, TOP = 40, BOTTOM = 380, LEGEND = 18 };

/* ---------------------------------------------------------------------------------------------- table */

static void put_line(FILE *out, const sweep *s, const trial *t)
{
    if (strlen(t->label) > 24)
        fprintf(out, "%s\n", t->label);
    fprintf(out, "%-24s %-4s", strlen(t->label) > 24 ? "" : t->label, t->promote ? "yes" : "no");
    if (t->finished)
        fprintf(out, " %6.4f %6.4f  %6.2f (%6.2f %6.2f)  %6.2f (%6.2f %6.2f) %5.1f %6.3f", t->ratio, t->mean_ratio.mean,
                100 * t->best.mean, 100 * t->best.low, 100 * t->best.high, 100 * t->last.mean, 100 * t->last.low,
                100 * t->last.high, t->promotions.mean, 100 * t->promoted_share.mean);
    else
        fprintf(out, " %6.4f %6s  %-46s %12s", t->ratio, "", "not finished", "");
    fprintf(out, " %6.4f %3d\n", t->bits / s->bits_fp32, t->finished);
}

/* How far the order of demotion is from the best sets of groups, where all of these were tried. */
static void put_distances(FILE *out, const sweep *s)
{
    fprintf(out, "\n%-24s %-4s %6s %6s  %-24s %6s %8s\n", "assignment", "prom", "mean r", "best",
            "best set with that ratio", "best", "distance");
    for (int i = 0; i < s->count; i++) {
        const trial *t = &s->trials[i], *best = sweep_best(s, t);
        if (t->scheme == SCHEME_RATIO && t->finished == s->seeds)
            fprintf(out, "%-24.24s %-4s %6.4f %6.2f  %-24.24s %6.2f %8.2f\n", t->label, t->promote ? "yes" : "no",
                    t->mean_ratio.mean, 100 * t->best.mean, best->label, 100 * best->best.mean,
                    100 * (best->best.mean - t->best.mean));
    }
}

static void put_table(FILE *out, const sweep *s)
{
    bool groups = false;
    fprintf(out, "%s, width %g, %s, %d epochs, batch %d; accuracy in %%: mean over the seeds (lowest, highest)\n\n",
            s->base.model.name, s->base.model.width, s->base.data.source, s->base.train.epochs, s->base.train.batch);
    fprintf(out, "%-24s %-4s %6s %6s  %-22s  %-22s %5s %6s %6s %3s\n", "assignment", "prom", "ratio", "mean r", "best",
            "last", "moved", "size", "bits", "n");
    for (int i = 0; i < s->count; i++)
        put_line(out, s, &s->trials[i]);
    fprintf(out, "\nratio: low-precision ratio at first; mean r: over the ends of the epochs; moved: tensors promoted\n"
                 "in a run; size: what they add, in %% of the aggregate of all high; bits: aggregate at first over\n"
                 "that of FP32; n: seeds\n");
    for (int i = 0; i < s->count; i++)
        groups = groups || s->trials[i].scheme == SCHEME_GROUPS;
    if (groups)
        put_distances(out, s);
}

static atomic_file open_file(const sweep *s, const char *name)
{
    char *path = path_join(s->out, name);
    const atomic_file file = output_open("tradeoff", path);
    free(path);
    return file;
}

void sweep_table(const sweep *s)
{
    atomic_file file = open_file(s, "table.txt");
    put_table(file.file, s);
    output_commit("tradeoff", &file);
    put_table(stdout, s);
}

/* ---------------------------------------------------------------------------------------------- axes */

typedef struct frame {
    FILE *out;
    double low, high, step; /* accuracy, in percent */
} frame;

static double place_x(double ratio)
{
    return LEFT + 12 + ratio * (RIGHT - LEFT - 24);
}

static double place_y(const frame *f, double percent)
{
    return BOTTOM - (percent - f->low) / (f->high - f->low) * (BOTTOM - TOP);
}

static frame make_frame(FILE *out, const sweep *s)
{
    double low = 100, high = 0;
    for (int i = 0; i < s->count; i++)
        if (s->trials[i].finished) {
            low = fmin(low, 100 * s->trials[i].best.low);
            high = fmax(high, 100 * s->trials[i].best.high);
        }
    if (high < low) {
        low = 0;
        high = 100;
    }
    const double room = fmax(0.5, 0.08 * (high - low));
    return (frame){out, low - room, high + room, axis_step(high - low + 2 * room, 7)};
}

static void draw_axes(const frame *f)
{
    FILE *out = f->out;
    fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" stroke=\"#000\" fill=\"none\"/>\n", LEFT, TOP,
            RIGHT - LEFT, BOTTOM - TOP);
    for (int i = 0; i <= 10; i++)
        fprintf(out,
                "<path class=\"grid\" d=\"M%.1f %dV%d\"/>"
                "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.1f</text>\n",
                place_x(i / 10.0), TOP, BOTTOM, place_x(i / 10.0), BOTTOM + 18, i / 10.0);
    for (double t = ceil(f->low / f->step); t * f->step <= f->high; t++)
        fprintf(out,
                "<path class=\"grid\" d=\"M%d %.1fH%d\"/>"
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
                LEFT, place_y(f, t * f->step), RIGHT, LEFT - 8, place_y(f, t * f->step) + 4, t * f->step);
    fprintf(out,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">low-precision ratio, mean over the epochs</text>\n"
            "<text transform=\"translate(18 %d) rotate(-90)\" text-anchor=\"middle\">best accuracy in %%</text>\n",
            (LEFT + RIGHT) / 2, BOTTOM + 36, (TOP + BOTTOM) / 2);
}

/* ---------------------------------------------------------------------------------------------- marks */

static void draw_mark(FILE *out, scheme scheme, bool filled, double x, double y)
{
    static const char *const shapes[SCHEMES] = {[SCHEME_FP32] = "m0-6l2 4 4 0-3 3 1 5-4-3-4 3 1-5-3-3 4 0z",
                                                [SCHEME_UNIFORM] = "m0-6l6 6-6 6-6-6z",
                                                [SCHEME_OP] = "m-5-5h10v10h-10z",
                                                [SCHEME_OP_OUT] = "m-2-6h4v4h4v4h-4v4h-4v-4h-4v-4h4z",
                                                [SCHEME_RATIO] = "m-5 0a5 5 0 1 1 10 0a5 5 0 1 1-10 0z",
                                                [SCHEME_RATIO_INCREASING] = "m0-6l6 10h-12z",
                                                [SCHEME_RATIO_RANDOM] = "m0 6l6-10h-12z",
                                                [SCHEME_GROUPS] = "m-2 0a2 2 0 1 1 4 0a2 2 0 1 1-4 0z"};
    fprintf(out, "<path d=\"M%.1f %.1f%s\" fill=\"%s\" stroke=\"#000\"/>\n", x, y, shapes[scheme],
            filled ? "#000" : "#fff");
}

static void draw_bar(const frame *f, const trial *t)
{
    const double x = place_x(t->mean_ratio.mean);
    const double y = place_y(f, 100 * t->best.low), up = place_y(f, 100 * t->best.high);
    if (t->finished > 1)
        fprintf(f->out, "<path d=\"M%.1f %.1fh6m-3 0V%.1fm-3 0h6\" stroke=\"#000\" fill=\"none\"/>\n", x - 3, y, up);
}

/* Trials of one scheme by ratio stand in the order of their ratios. Where nothing can be promoted a line with promotion
 * and one without begin together. */
static bool joined(const trial *from, const trial *to)
{
    const bool by_ratio = to->scheme == SCHEME_RATIO || to->scheme == SCHEME_RATIO_INCREASING;
    const bool alike = from->promote == to->promote && (!to->promote || from->threshold == to->threshold);
    return by_ratio && from->finished && from->scheme == to->scheme && (alike || !from->promotable);
}

static void draw_lines(const frame *f, const sweep *s)
{
    for (int i = 0; i < s->count; i++) {
        const trial *to = &s->trials[i];
        int k = i - 1;
        while (k >= 0 && !joined(&s->trials[k], to))
            k--;
        if (k >= 0 && to->finished)
            fprintf(f->out, "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"#555\"%s/>\n",
                    place_x(s->trials[k].mean_ratio.mean), place_y(f, 100 * s->trials[k].best.mean),
                    place_x(to->mean_ratio.mean), place_y(f, 100 * to->best.mean),
                    to->scheme == SCHEME_RATIO ? "" : " stroke-dasharray=\"2 2\"");
    }
}

static bool occurs(const sweep *s, scheme scheme, bool promote)
{
    for (int i = 0; i < s->count; i++)
        if (s->trials[i].scheme == scheme && s->trials[i].promote == promote && s->trials[i].finished)
            return true;
    return false;
}

/* Two columns; how many entries there are. out NULL: only counted. */
static int legend(FILE *out, const sweep *s)
{
    int entries = 0;
    for (int i = 0; i < 2 * SCHEMES; i++) {
        const scheme scheme = (enum scheme)(i / 2);
        const bool promote = i % 2;
        if (!occurs(s, scheme, promote))
            continue;
        const int x = LEFT + 10 + entries % 2 * 300, y = BOTTOM + 58 + entries / 2 * LEGEND;
        entries++;
        if (!out)
            continue;
        draw_mark(out, scheme, promote, x, y);
        fprintf(out, "<text x=\"%d\" y=\"%d\">%s%s</text>\n", x + 14, y + 4, scheme_name(scheme),
                promote ? ", with promotion" : "");
    }
    return entries;
}

void sweep_plot(const sweep *s)
{
    atomic_file file = open_file(s, "tradeoff.svg");
    const frame f = make_frame(file.file, s);
    const int height = BOTTOM + 66 + (legend(NULL, s) + 1) / 2 * LEGEND;
    svg_begin(f.out, &(svg_page){.width = WIDTH,
                                 .height = height,
                                 .millimetres = 160,
                                 .font_size = 12,
                                 .style = ".grid{stroke:#ccc;stroke-width:0.6}"});
    fprintf(f.out, "<text x=\"%d\" y=\"24\" font-size=\"14\">%s, width %g, %d epochs, %d seed%s</text>\n", LEFT,
            s->base.model.name, s->base.model.width, s->base.train.epochs, s->seeds, s->seeds > 1 ? "s" : "");
    draw_axes(&f);
    for (int i = 0; i < s->count; i++)
        if (s->trials[i].scheme == SCHEME_FP32 && s->trials[i].finished)
            fprintf(f.out, "<path d=\"M%d %.1fH%d\" stroke=\"#000\" stroke-dasharray=\"6 4\"/>\n", LEFT,
                    place_y(&f, 100 * s->trials[i].best.mean), RIGHT);
    draw_lines(&f, s);
    for (int i = 0; i < s->count; i++)
        if (s->trials[i].finished && s->trials[i].scheme != SCHEME_GROUPS)
            draw_bar(&f, &s->trials[i]);
    for (int i = 0; i < s->count; i++)
        if (s->trials[i].finished)
            draw_mark(f.out, s->trials[i].scheme, s->trials[i].promote, place_x(s->trials[i].mean_ratio.mean),
                      place_y(&f, 100 * s->trials[i].best.mean));
    legend(f.out, s);
    svg_end(f.out);
    output_commit("tradeoff", &file);
}
