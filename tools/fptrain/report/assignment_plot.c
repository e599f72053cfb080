/* SPDX-License-Identifier: BSD-2-Clause */
/* assignment_plot.c - the network as a picture: a row for each operator with its four tensors, coloured by formats.
 *
 * Rows stand in the order of the network, in columns of at most ROWS. A value that the next operator reads is a line
 * down the spine; one that others read leaves to the left, goes down in a lane of its own and comes back with an arrow.
 * What crosses the end of a column goes on at the top of the next, in the same lane. High is dark and low is light, so
 * that they can be told apart in grey.
 */
#include "report/assignment_plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/atomic_file.h"
#include "common/svg.h"

enum { ROWS = 56, ROW = 21, TOP = 92, LANE = 9, NAME = 118, BOX = 62, GAP = 4, GROUP = 62, MARGIN = 14 };

typedef struct edge {
    int from, to, lane; /* rows */
} edge;

typedef struct drawing {
    FILE *out;
    const assignment *a;
    const assign_settings *s;
    int rows, lanes, edges, column; /* column: its width */
    edge *edge;
} drawing;

static int x_of(const drawing *p, int row)
{
    return MARGIN + row / ROWS * p->column + p->lanes * LANE + 6;
}

static int y_of(int row)
{
    return TOP + row % ROWS * ROW + ROW / 2;
}

/* Row 0 is the fed batch, row i + 1 operator i. */
static int row_of(const drawing *p, int value)
{
    return graph_value(p->a->g, value)->producer + 1;
}

/* ---------------------------------------------------------------------------------------------- lines */

/* The first lane where nothing lies between the two rows; neighbours take no lane. */
static int free_lane(const drawing *p, int from, int to)
{
    if (to == from + 1)
        return 0;
    for (int lane = 1;; lane++) {
        bool taken = false;
        for (int i = 0; i < p->edges; i++)
            taken = taken || (p->edge[i].lane == lane && p->edge[i].from != from && p->edge[i].from < to &&
                              p->edge[i].to > from);
        if (!taken)
            return lane;
    }
}

static void find_edges(drawing *p)
{
    int most = 0;
    for (int i = 0; i < graph_ops(p->a->g); i++)
        most += graph_op(p->a->g, i).inputs;
    p->edge = need((size_t)most, sizeof *p->edge);
    for (int i = 0; i < graph_ops(p->a->g); i++) {
        const op_info o = graph_op(p->a->g, i);
        for (int k = 0; k < o.inputs; k++) {
            const int from = row_of(p, o.input[k]), lane = free_lane(p, from, i + 1);
            p->edge[p->edges++] = (edge){from, i + 1, lane};
            p->lanes = lane > p->lanes ? lane : p->lanes;
        }
    }
}

/* The part of an edge in one column of rows. */
static void draw_edge(const drawing *p, const edge *e, int column)
{
    const int first = column * ROWS, last = first + ROWS - 1;
    if (e->to < first || e->from > last)
        return;
    const bool begins = e->from >= first, ends = e->to <= last;
    const int spine = x_of(p, first), x = spine - e->lane * LANE;
    const int top = begins ? y_of(e->from) : TOP - 6, bottom = ends ? y_of(e->to) : TOP + ROWS * ROW + 2;
    fprintf(p->out, "<path d=\"M%d %d", begins ? spine : x, top);
    if (e->lane && begins)
        fprintf(p->out, "l-%d %d", e->lane * LANE, 8);
    fprintf(p->out, "V%d", ends && e->lane ? bottom - 8 : bottom);
    if (e->lane && ends)
        fprintf(p->out, "L%d %d", spine - 5, bottom - 1);
    fprintf(p->out, "\"%s/>\n", ends && e->lane ? " marker-end=\"url(#head)\"" : "");
}

/* ---------------------------------------------------------------------------------------------- boxes */

static const char *class_of(const assign_settings *s, const assign_tensor *t)
{
    return !assign_rule(s, t)->format.kind ? "none" : t->low ? "low" : "high";
}

/* 1234567 as 1.23 M. */
static void put_count(FILE *out, uint64_t n)
{
    static const char *const unit[] = {"", " k", " M", " G", " T"};
    double x = (double)n;
    int i = 0;
    for (; x >= 999.5 && i < 4; i++)
        x /= 1000;
    fprintf(out, i == 0 ? "%.0f%s" : x >= 100 ? "%.0f%s" : x >= 10 ? "%.1f%s" : "%.2f%s", x, unit[i]);
}

/* `count` tensors of one role from index `first` on, which share a format. */
static void draw_box(const drawing *p, role which, int first, int count, int row)
{
    const int at = count > 0 && first >= 0 ? p->a->at[which][first] : -1;
    if (at < 0)
        return;
    static const int place[ROLES] = {[ROLE_V] = 0, [ROLE_W] = 1, [ROLE_DV] = 2, [ROLE_DW] = 3};
    const int x = x_of(p, row) + 10 + NAME + place[which] * (BOX + GAP), y = y_of(row);
    uint64_t elements = 0;
    for (int i = 0; i < count; i++)
        elements += p->a->tensor[at + i].elements;
    const char *class = class_of(p->s, &p->a->tensor[at]);
    fprintf(p->out,
            "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/><text class=\"%s\" x=\"%d\" "
            "y=\"%d\" text-anchor=\"middle\">",
            class, x, y - ROW / 2 + 2, BOX, ROW - 4, class, x + BOX / 2, y + 4);
    put_count(p->out, elements);
    fprintf(p->out, "</text>\n");
}

static void draw_row(const drawing *p, int row)
{
    graph *g = p->a->g;
    const op_info o = row ? graph_op(g, row - 1) : (op_info){.name = "input", .output = 0};
    const int x = x_of(p, row), y = y_of(row);
    if (o.gemm)
        fprintf(p->out, "<rect x=\"%d\" y=\"%d\" width=\"9\" height=\"9\"/>", x - 4, y - 4);
    else
        fprintf(p->out, "<circle cx=\"%d\" cy=\"%d\" r=\"3\"/>", x, y);
    fprintf(p->out, "<text%s x=\"%d\" y=\"%d\">%s</text>\n", o.gemm ? " class=\"gemm\"" : "", x + 10, y + 4, o.name);
    draw_box(p, ROLE_V, o.output, 1, row);
    draw_box(p, ROLE_DV, o.output, 1, row);
    draw_box(p, ROLE_W, o.first_param, o.params, row);
    draw_box(p, ROLE_DW, o.first_param, o.params, row);
    const int at = o.output < 0 ? -1 : p->a->at[ROLE_V][o.output];
    if (at >= 0 && (o.gemm || !row))
        fprintf(p->out, "<text x=\"%d\" y=\"%d\">group %d</text>\n", x + 10 + NAME + 4 * (BOX + GAP) + 4, y + 4,
                p->a->tensor[at].group);
}

/* ---------------------------------------------------------------------------------------------- the whole drawing */

static void put_key(const drawing *p, int place, const char *class, const char *text)
{
    const int x = MARGIN + place * 190;
    fprintf(p->out,
            "<rect class=\"%s\" x=\"%d\" y=\"40\" width=\"22\" height=\"14\"/>"
            "<text x=\"%d\" y=\"51\">%s</text>\n",
            class, x, x + 28, text);
}

static void draw_heads(const drawing *p, int columns)
{
    for (int c = 0; c < columns; c++)
        for (int i = 0; i < ROLES; i++)
            fprintf(p->out, "<text class=\"gemm\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
                    x_of(p, c * ROWS) + 10 + NAME + i * (BOX + GAP) + BOX / 2, TOP - 8, role_name((role)i));
}

static void draw_legend(const drawing *p, const char *title)
{
    char low[600];
    snprintf(low, sizeof low, "low: %s; dv: %s", p->s->spec[1], p->s->spec[2]);
    fprintf(p->out, "<text x=\"%d\" y=\"24\" font-size=\"14\">%s</text>\n", MARGIN, title);
    if (p->s->choice.scheme == SCHEME_FP32) {
        put_key(p, 0, "none", "FP32");
        return;
    }
    char high[300];
    snprintf(high, sizeof high, "high: %s", p->s->spec[0]);
    put_key(p, 0, "high", high);
    put_key(p, 1, "low", low);
}

static void draw(drawing *p, const char *title)
{
    static const char style[] = ".high{fill:#153e5c;stroke:#000}text.high{fill:#fff;stroke:none}"
                                ".low{fill:#ffd27f;stroke:#000}text.low,text.none{fill:#000;stroke:none}"
                                ".none{fill:#fff;stroke:#000}.gemm{font-weight:bold}";
    const int columns = (p->rows + ROWS - 1) / ROWS, tall = p->rows < ROWS ? p->rows : ROWS;
    p->column = p->lanes * LANE + 16 + NAME + 4 * (BOX + GAP) + GROUP;
    const int width = 2 * MARGIN + columns * p->column < 580 ? 580 : 2 * MARGIN + columns * p->column;
    const int height = TOP + tall * ROW + 14;
    svg_begin(p->out,
              &(svg_page){.width = width, .height = height, .millimetres = width / 4, .font_size = 11, .style = style});
    fprintf(p->out, "<defs><marker id=\"head\" markerWidth=\"6\" markerHeight=\"6\" refX=\"5\" refY=\"3\" "
                    "orient=\"auto\"><path d=\"M0 0L6 3L0 6z\"/></marker></defs>\n");
    draw_legend(p, title);
    draw_heads(p, columns);
    fprintf(p->out, "<g fill=\"none\" stroke=\"#555\">\n");
    for (int c = 0; c < columns; c++)
        for (int i = 0; i < p->edges; i++)
            draw_edge(p, &p->edge[i], c);
    fprintf(p->out, "</g>\n");
    for (int i = 0; i < p->rows; i++)
        draw_row(p, i);
    svg_end(p->out);
}

bool assign_plot(const char *path, const char *title, const assignment *a, const assign_settings *s, trouble *why)
{
    atomic_file file;
    if (!atomic_file_open(&file, path, why))
        return false;
    drawing p = {.out = file.file, .a = a, .s = s, .rows = graph_ops(a->g) + 1};
    find_edges(&p);
    draw(&p, title);
    free(p.edge);
    return atomic_file_commit(&file, why);
}
