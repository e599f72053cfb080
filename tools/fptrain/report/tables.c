/* SPDX-License-Identifier: BSD-2-Clause */
/* tables.c - tables in Markdown: groups of runs, and their tensors. */
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/shown.h"
#include "report/shared.h"
#include "report/views.h"

/* Text of others between ours: nothing that ends the cell or begins something else. */
static void put_word(FILE *out, const char *before, const char *text, const char *after)
{
    fputs(before, out);
    while (*text) {
        bool is_text;
        const size_t length = shown_character(text, &is_text);
        if (strchr("|\\`*_<>[]", *text))
            fputc('\\', out);
        fwrite(is_text ? text : "????", 1, length, out);
        text += length;
    }
    fputs(after, out);
}

/* No minus before what the digits make zero. */
static void print(char text[64], const char *digits, double x)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, 64, digits, x);
    if (strtod(text, NULL) == 0)
        snprintf(text, 64, digits, 0.0);
#pragma GCC diagnostic pop
}

static void put_figure(FILE *out, figure f, const char *digits, double by)
{
    char mean[64], low[64], high[64];
    if (!f.count) {
        fprintf(out, " - |");
        return;
    }
    print(mean, digits, f.sum / f.count * by);
    print(low, digits, f.low * by);
    print(high, digits, f.high * by);
    if (strcmp(low, high) == 0)
        fprintf(out, " %s |", mean);
    else
        fprintf(out, " %s (%s to %s) |", mean, low, high);
}

/* ------------------------------------------------------------------------------------------------ results */

static void put_rule(FILE *out, int columns)
{
    fprintf(out, "\n|");
    for (int i = 0; i < columns; i++)
        fprintf(out, i ? "---:|" : "---|");
    fprintf(out, "\n");
}

static int put_head(FILE *out, const groups *g, const report_choice *choice)
{
    int columns = 8;
    settings_key key;
    fprintf(out, "| runs |");
    for (int i = 0; settings_table(i, &key); i++)
        if (shared_key(g, i) == KEY_TELLS) {
            fprintf(out, " %s.%s |", key.section, key.key);
            columns++;
        }
    if (formats_tell(g)) {
        fprintf(out, " formats |");
        columns++;
    }
    fprintf(out,
            " seeds | accuracy, %% | of the FP32 weights, %% | best, %% | underflow of `%s`, %% | "
            "overflow of `%s`, %% | skipped |",
            choice->tensors, choice->tensors);
    for (int i = 0; i < choice->notes; i++)
        put_word(out, " ", choice->note[i], " |");
    return columns + choice->notes;
}

/* Those that not all groups have. */
static void put_formats(FILE *out, const groups *g, const settings *s)
{
    int shown = 0;
    fputc(' ', out);
    for (int i = 0; i < s->format_count; i++) {
        if (shared_format(g, &s->formats[i]))
            continue;
        put_word(out, shown++ ? ", " : "", s->formats[i].pattern, " ");
        put_word(out, "", s->formats[i].spec, s->formats[i].mode ? " " : "");
        put_word(out, "", s->formats[i].mode ? s->formats[i].mode : "", "");
    }
    fprintf(out, "%s |", shown ? "" : formats_in_short(s));
}

/* Once, above the table; not what is the default. */
typedef struct list {
    FILE *out;
    int count;
} list;

static void put_shared(void *to, const char *name, const char *value)
{
    list *l = to;
    put_word(l->out, "- ", name, " = ");
    put_word(l->out, "", value, "\n");
    l->count++;
}

/* Share of the elements of the chosen tensors; NaN: none was rounded. */
static double share_of(const run *r, const char *tensors, bool overflow)
{
    uint64_t part = 0, all = 0;
    for (size_t i = 0; i < r->track_count; i++) {
        const track *t = &r->tracks[i];
        if (fnmatch(tensors, t->name, 0) != 0)
            continue;
        part += overflow ? t->overflow : t->underflow;
        all += t->elements;
    }
    return all ? (double)part / (double)all : NAN;
}

static void put_results(FILE *out, const group *g, const report_choice *choice)
{
    figure underflow = {0}, overflow = {0}, skipped = {0};
    for (int k = 0; k < g->count; k++) {
        const run *r = g->member[k];
        figure_add(&underflow, share_of(r, choice->tensors, false));
        figure_add(&overflow, share_of(r, choice->tensors, true));
        figure_add(&skipped, (double)r->skipped);
    }
    fprintf(out, " %d |", g->count);
    put_figure(out, figure_of_runs(g, offsetof(run, last)), "%.2f", 100);
    put_figure(out, figure_of_runs(g, offsetof(run, last_fp32)), "%.2f", 100);
    put_figure(out, figure_of_runs(g, offsetof(run, best)), "%.2f", 100);
    put_figure(out, underflow, "%.3g", 100);
    put_figure(out, overflow, "%.3g", 100);
    put_figure(out, skipped, "%.4g", 1);
    for (int i = 0; i < choice->notes; i++)
        put_figure(out, figure_of_notes(g, choice->note[i]), "%.4g", 1);
    fprintf(out, "\n");
}

static void put_group(FILE *out, const groups *g, int k, const report_choice *choice)
{
    char text[SHARED_TEXT];
    settings_key key;
    put_word(out, "| ", g->mean[k].name, g->group[k].member[0]->ended ? " |" : " (not ended) |");
    for (int i = 0; settings_table(i, &key); i++)
        if (shared_key(g, i) == KEY_TELLS)
            put_word(out, " ", shared_value(g, &g->mean[k].settings, i, text), " |");
    if (formats_tell(g))
        put_formats(out, g, &g->mean[k].settings);
    put_results(out, &g->group[k], choice);
}

/* ------------------------------------------------------------------------------------------------ tensors */

typedef enum measure { UNDERFLOW, SCALE, DEVIATION, ORACLE } measure;

/* Of a tensor over the steps of all seeds: the share that vanished in percent, log2 of alpha, the largest deviation,
 * log2 of the scale that lifts the quantile to the smallest value of a format (of tensors that are not rounded). */
static figure figure_of(const group *g, measure what, const char *name, const char *role, double smallest)
{
    figure f = {0};
    for (int k = 0; k < g->count; k++) {
        const track *t = run_track(g->member[k], name, role);
        if (!t)
            continue;
        if (what == UNDERFLOW && t->elements)
            figure_add(&f, 100 * (double)t->underflow / (double)t->elements);
        double largest = NAN;
        for (size_t i = 0; what == DEVIATION && i < t->deviation.count; i++)
            largest = fmax(largest, t->deviation.y[i]);
        figure_add(&f, largest);
        for (size_t i = 0; what == SCALE && i < t->alpha.count; i++)
            figure_add(&f, log2(t->alpha.y[i]));
        for (size_t i = 0; what == ORACLE && !t->elements && i < t->quantile.count && i < t->alpha.count; i++)
            if (t->quantile.y[i] > 0)
                figure_add(&f, log2(smallest * t->alpha.y[i] / t->quantile.y[i]));
    }
    return f;
}

typedef struct column {
    const group *group;
    const char *name, *format; /* format: of an oracle */
    double smallest;
    measure what;
} column;

/* The groups in which any chosen tensor has such a figure. */
static int choose_columns(const groups *g, measure what, const report_choice *choice, column *columns)
{
    int count = 0;
    const int each = what == ORACLE ? choice->oracles : 1;
    for (int k = 0; k < g->count; k++)
        for (int o = 0; o < each; o++) {
            column c = {&g->group[k], g->mean[k].name, what == ORACLE ? choice->oracle_name[o] : NULL,
                        what == ORACLE ? choice->oracle_smallest[o] : 0, what};
            bool any = false;
            for (size_t i = 0; i < g->mean[k].track_count && !any; i++) {
                const track *t = &g->mean[k].tracks[i];
                any = fnmatch(choice->tensors, t->name, 0) == 0 &&
                      figure_of(c.group, what, t->name, t->role, c.smallest).count > 0;
            }
            if (any)
                columns[count++] = c;
        }
    return count;
}

/* Every tensor once, in the order in which the groups have them. */
static bool known_before(const groups *g, int k, const track *t)
{
    for (int i = 0; i < k; i++)
        if (run_track(&g->mean[i], t->name, t->role))
            return true;
    return false;
}

static void put_tensors(FILE *out, const groups *g, const report_choice *choice, const char *title, const char *digits,
                        int count, const column *columns)
{
    if (!count)
        return;
    fprintf(out, "\n%s\n\n| tensor |", title);
    for (int c = 0; c < count; c++) {
        put_word(out, " ", columns[c].name, columns[c].format ? ", oracle " : "");
        put_word(out, "", columns[c].format ? columns[c].format : "", " |");
    }
    put_rule(out, 1 + count);
    for (int k = 0; k < g->count; k++)
        for (size_t i = 0; i < g->mean[k].track_count; i++) {
            const track *t = &g->mean[k].tracks[i];
            if (fnmatch(choice->tensors, t->name, 0) != 0 || known_before(g, k, t))
                continue;
            put_word(out, "| ", t->name, " |");
            for (const column *c = columns; c < columns + count; c++)
                put_figure(out, figure_of(c->group, c->what, t->name, t->role, c->smallest), digits, 1);
            fprintf(out, "\n");
        }
}

void tables_write(FILE *out, const groups *g, const report_choice *choice)
{
    fprintf(out, "In all runs, beside the defaults:\n\n");
    list shared = {out, 0};
    shared_each(g, put_shared, &shared);
    fprintf(out, shared.count ? "\n" : "- nothing\n\n");
    put_rule(out, put_head(out, g, choice));
    for (int k = 0; k < g->count; k++)
        put_group(out, g, k, choice);
    fprintf(out, "\nMean over the seeds (lowest to highest). Underflow and overflow: shares of the elements that were "
                 "rounded in the steps of the log.\n");
    column *columns = need((size_t)g->count * (size_t)(1 + choice->oracles), sizeof *columns);
    int count = choose_columns(g, UNDERFLOW, choice, columns);
    put_tensors(out, g, choice, "Underflow by tensor, % of its elements: mean over the seeds (lowest to highest).",
                "%.3g", count, columns);
    count = choose_columns(g, ORACLE, choice, columns);
    count += choose_columns(g, SCALE, choice, columns + count);
    put_tensors(out, g, choice,
                "Scale of gradients, log2: mean over steps and seeds (lowest to highest). An oracle "
                "lifts the 1 % quantile of the gradient to the smallest value of the format.",
                "%.1f", count, columns);
    count = choose_columns(g, DEVIATION, choice, columns);
    put_tensors(out, g, choice,
                "Largest standard deviation of scaled gradients: mean over the seeds (lowest to "
                "highest).",
                "%.3g", count, columns);
    free(columns);
}
