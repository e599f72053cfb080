/* SPDX-License-Identifier: BSD-2-Clause */
/* eval_table.c - see eval_table.h */
#include "eval/eval_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "common/atomic_file.h"
#include "common/axis.h"
#include "common/json.h"
#include "common/shown.h"
#include "common/svg.h"

static double measure(const eval_table *t, const eval_row *r)
{
    return t->text ? r->loss / log(2) : 100 * r->accuracy;
}

/* The row without any rounding, or NULL. */
static const eval_row *unrounded(const eval_table *t)
{
    for (int i = 0; i < t->count; i++)
        if (strcmp(t->row[i].formats, "fp32") == 0)
            return &t->row[i];
    return NULL;
}

void eval_table_print(FILE *out, const eval_table *t)
{
    const eval_row *base = unrounded(t);
    char label[SHOWN_SIZE];
    int wide = 7;
    for (int i = 0; i < t->count; i++) {
        const int length = (int)strlen(shown(t->row[i].formats, 0, label));
        wide = length > wide ? length : wide;
    }
    fprintf(out, "%-*s %7s %7s %10s %10s%s\n", wide, "formats", "w, bits", "v, bits", "test loss",
            t->text ? "bits/char" : "accuracy", base ? "  to fp32" : "");
    for (int i = 0; i < t->count; i++) {
        const eval_row *r = &t->row[i];
        fprintf(out, "%-*s %7.4g %7.4g %10.4f %*.*f%s", wide, shown(r->formats, 0, label), r->bits_w, r->bits_v,
                r->loss, t->text ? 10 : 8, t->text ? 4 : 2, measure(t, r), t->text ? "" : " %");
        if (base)
            fprintf(out, " %+*.*f", 8, t->text ? 4 : 2, measure(t, r) - measure(t, base));
        fputc('\n', out);
    }
}

void eval_table_csv(FILE *out, const eval_table *t)
{
    fprintf(out, "formats,bits_w,bits_v,test_loss,test_accuracy%s\n", t->text ? ",bits_a_character" : "");
    for (int i = 0; i < t->count; i++) {
        const eval_row *r = &t->row[i];
        csv_put_field(out, r->formats);
        fprintf(out, ",%.17g,%.17g,%.17g,%.17g", r->bits_w, r->bits_v, r->loss, r->accuracy);
        if (t->text)
            fprintf(out, ",%.17g", measure(t, r));
        fputc('\n', out);
    }
}

/* What is no UTF-8 has no place in JSON. */
static json_t *text_of(const char *text)
{
    json_t *value = json_string(text);
    return value ? value : json_null();
}

json_t *eval_table_json(const eval_table *t)
{
    json_t *all = json_object(), *rows = json_array();
    object_put(all, "checkpoint", text_of(t->checkpoint));
    object_put(all, "model", text_of(t->model));
    object_put(all, "data", text_of(t->data));
    object_put(all, "samples", json_of_count(t->samples));
    for (int i = 0; i < t->count; i++) {
        const eval_row *r = &t->row[i];
        json_t *row = json_object();
        object_put(row, "formats", text_of(r->formats));
        object_put(row, "bits_w", json_of_double(r->bits_w));
        object_put(row, "bits_v", json_of_double(r->bits_v));
        object_put(row, "test_loss", json_of_double(r->loss));
        object_put(row, "test_accuracy", json_of_double(r->accuracy));
        if (t->text)
            object_put(row, "bits_a_character", json_of_double(measure(t, r)));
        array_add(rows, row);
    }
    object_put(all, "rows", rows);
    return all;
}

/* ------------------------------------------------------------------------------------------------ the plot */

enum { LEFT = 14, BARS = 330, RIGHT = 690, TOP = 62, LINE = 22, BAR = 14, WIDTH = 760, LABEL = 50 };

static axis axis_of(const eval_table *t)
{
    double high = -INFINITY;
    for (int i = 0; i < t->count; i++) {
        const double x = measure(t, &t->row[i]);
        high = isfinite(x) ? fmax(high, x) : high;
    }
    return axis_make(0, high > 0 ? high : 1, BARS, RIGHT);
}

static void draw_row(FILE *out, const eval_table *t, const axis *x, int i)
{
    const eval_row *r = &t->row[i];
    const double value = measure(t, r);
    const int y = TOP + i * LINE;
    char label[LABEL + 1];
    snprintf(label, sizeof label, "%s", r->formats);
    if (strlen(r->formats) > LABEL)
        strcpy(label + LABEL - 3, "...");
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", BARS - 6, y + 11);
    svg_text(out, label);
    fprintf(out, "</text>\n");
    if (isfinite(value) && value >= 0)
        fprintf(out, "<rect class=\"m\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>", BARS, y,
                fmax(axis_place(x, value) - BARS, 0.5), BAR);
    fprintf(out, "<text x=\"%.1f\" y=\"%d\">%.*f%s</text>\n", (isfinite(value) ? axis_place(x, value) : BARS) + 4,
            y + 11, t->text ? 4 : 2, value, t->text ? "" : " %");
}

bool eval_table_plot(const char *path, const eval_table *t, trouble *why)
{
    static const char style[] = ".m{fill:#1f6fb5}.grid{stroke:#ccc;stroke-width:.6}"
                                ".base{stroke:#222;stroke-dasharray:4 3}";
    atomic_file file;
    if (!atomic_file_open(&file, path, why))
        return false;
    FILE *out = file.file;
    const int bottom = TOP + t->count * LINE;
    const axis x = axis_of(t);
    const eval_row *base = unrounded(t);
    svg_begin(out, &(svg_page){.width = WIDTH, .height = bottom + 44, .font_size = 11, .style = style});
    fprintf(out, "<text x=\"%d\" y=\"22\" font-size=\"13\">", LEFT);
    svg_text(out, t->model);
    fprintf(out, " under formats: %s</text>\n<text x=\"%d\" y=\"44\">%zu test samples</text>\n",
            t->text ? "bits a character" : "test accuracy", LEFT, t->samples);
    for (double tick = 0; tick <= x.high + 1e-9 * x.step; tick += x.step)
        fprintf(
            out,
            "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g%s</text>\n",
            axis_place(&x, tick), TOP - 4, bottom, axis_place(&x, tick), bottom + 16, tick, t->text ? "" : " %");
    for (int i = 0; i < t->count; i++)
        draw_row(out, t, &x, i);
    if (base && isfinite(measure(t, base)))
        fprintf(out, "<path class=\"base\" d=\"M%.1f %dV%d\"/>\n", axis_place(&x, measure(t, base)), TOP - 4, bottom);
    svg_end(out);
    return atomic_file_commit(&file, why);
}
