/* SPDX-License-Identifier: BSD-2-Clause */
/* page.c - the page: a table of the runs, curves of all, heat maps of each. */
#include "report/views.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/axis.h"
#include "common/svg.h"
#include "report/chart.h"
#include "report/heat.h"
#include "report/shared.h"

enum { COLUMNS = 60 }; /* of a map */

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1c1c1c;--paper:#fff;--line:#bbb;--faint:#f2f2f2;"
    "--c0:#1f6fb4;--c1:#d1495b;--c2:#2e8b57;--c3:#8e5ea2;"
    "--c4:#c77d0a;--c5:#0a8f8f;--c6:#6b6b6b;--c7:#a0522d}\n"
    "@media (prefers-color-scheme:dark){:root{--ink:#e6e6e6;--paper:#161616;--line:#555;--faint:#242424;--c0:#6db3f2;"
    "--c1:#ff8593;--c2:#6fd69a;--c3:#c9a0dc;--c4:#f2b950;--c5:#5fd4d4;--c6:#b0b0b0;--c7:#d99a6c}}\n"
    "@media print{:root{color-scheme:light;--ink:#000;--paper:#fff;--line:#999;--faint:#fff}"
    "figure,tr{break-inside:avoid}}\n"
    "body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:1320px;"
    "margin:1.5em auto;padding:0 1em}h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "th,td{border-bottom:1px solid var(--line);padding:.25em .7em;text-align:right;white-space:nowrap}"
    "th:first-child,td:first-child,.t{text-align:left}thead th{background:var(--faint)}"
    "td:first-child{position:sticky;left:0;background:var(--paper)}td{vertical-align:top}"
    "th[tabindex]{cursor:pointer}th[aria-sort]{text-decoration:underline}"
    "th[aria-sort=ascending]:after{content:' \\2191'}th[aria-sort=descending]:after{content:' \\2193'}"
    "summary{cursor:pointer}details{margin:.6em 0}td details{margin:0}\n"
    ".charts{display:flex;flex-wrap:wrap;gap:1em}figure,.charts div{margin:0;flex:1 1 480px;max-width:640px}"
    "svg{width:100%;height:auto;font:11px sans-serif}svg text{fill:var(--ink)}.title{font-size:13px;font-weight:600}\n"
    ".axis path{stroke:var(--line);fill:none;stroke-width:.7}.axis .mark{stroke:var(--ink);"
    "stroke-dasharray:3 3}.curve{fill:none;stroke-width:1.8;stroke-linecap:round;stroke-linejoin:round}"
    ".cells rect,.cells path{fill:var(--c0)}.cells text{font-size:10px}"
    ".limit{fill:none;stroke:var(--c1);stroke-width:1.5}.smallest{stroke-dasharray:1.5 2}.normal{stroke-dasharray:5 3}"
    ".key{width:2.4em;height:.8em;vertical-align:middle}.range{font-size:.85em;opacity:.75}\n"
    ".legend{list-style:none;display:flex;flex-wrap:wrap;gap:.2em 1.5em;padding:.4em 0;margin:.5em 0;"
    "max-height:6.5em;overflow-y:auto;position:sticky;top:0;background:var(--paper)}.charts .legend{position:static}\n"
    ".f0{fill:var(--c0)}.f1{fill:var(--c1)}.f2{fill:var(--c2)}.f3{fill:var(--c3)}.f4{fill:var(--c4)}.f5{fill:var(--c5)}"
    ".f6{fill:var(--c6)}.f7{fill:var(--c7)}.band{opacity:.18}\n"
    ".c0{stroke:var(--c0)}.c1{stroke:var(--c1);stroke-dasharray:7 3}.c2{stroke:var(--c2);stroke-dasharray:2 4}"
    ".c3{stroke:var(--c3);stroke-dasharray:9 3 2 3}.c4{stroke:var(--c4);stroke-dasharray:4 4}"
    ".c5{stroke:var(--c5);stroke-dasharray:12 4}.c6{stroke:var(--c6);stroke-dasharray:2 2}"
    ".c7{stroke:var(--c7);stroke-dasharray:9 3 2 3 2 3}.r1{stroke-width:3.2}.r2{stroke-width:.8}"
    ".faint{fill:none;stroke-width:1;stroke-dasharray:none;opacity:.3}\n";

/* A click on the head of a column, or Enter, sorts the rows by it, a second one the other way round: numbers by their
 * value, what is none last. Free of '<' and '&', so that the page is XML as well. */
static const char script[] =
    "for (const head of document.querySelectorAll('thead th')) {\n"
    "    const sort = () => {\n"
    "        const body = head.closest('table').tBodies[0], at = head.cellIndex;\n"
    "        const down = head.getAttribute('aria-sort') === 'ascending';\n"
    "        const text = row => row.cells[at].innerText.trim();\n"
    "        const value = row => text(row) === 'inf' ? Infinity : parseFloat(text(row));\n"
    "        const order = (a, b) => {\n"
    "            const x = value(a), y = value(b);\n"
    "            if (isNaN(x) || isNaN(y))\n"
    "                return isNaN(x) === isNaN(y) ? text(a).localeCompare(text(b)) * (down ? -1 : 1)\n"
    "                                             : isNaN(x) - isNaN(y);\n"
    "            return (x === y ? 0 : x > y ? 1 : -1) * (down ? -1 : 1);\n"
    "        };\n"
    "        head.parentNode.querySelectorAll('th').forEach(other => other.removeAttribute('aria-sort'));\n"
    "        head.setAttribute('aria-sort', down ? 'descending' : 'ascending');\n"
    "        body.append(...Array.from(body.rows).sort(order));\n"
    "    };\n"
    "    head.tabIndex = 0;\n"
    "    head.onclick = sort;\n"
    "    head.onkeydown = event => { if (event.key === 'Enter') sort(); };\n"
    "}\n";

/* ------------------------------------------------------------------------------------------------ what all share */

static void put_format(FILE *out, const format_line *f)
{
    svg_within(out, "", f->pattern, "=");
    svg_within(out, "", f->spec, f->mode ? " " : "");
    svg_text(out, f->mode ? f->mode : "");
}

typedef struct list {
    FILE *out;
    bool normal; /* those which are the default, or those which are not */
    int count;
} list;

static void put_shared(void *to, const char *name, const char *value, bool normal)
{
    list *l = to;
    if (normal != l->normal)
        return;
    svg_within(l->out, l->count++ ? ", <span>" : "<span>", name, " = ");
    svg_within(l->out, "", value[0] ? value : "(empty)", "</span>");
}

/* Notes of summary.json that all runs have, with one value: a column for them would say nothing. */
static bool shared_note(const groups *g, const char *key)
{
    const json_t *first = json_object_get(g->group[0].member[0]->notes, key);
    int runs = 0;
    for (int k = 0; k < g->count; k++)
        for (int m = 0; m < g->group[k].count; m++, runs++)
            if (!json_equal(json_object_get(g->group[k].member[m]->notes, key), first))
                return false;
    return runs > 1;
}

static void put_note_text(FILE *out, const json_t *value)
{
    if (json_is_number(value))
        fprintf(out, "%.6g", json_number_value(value));
    else
        svg_text(out, json_is_string(value) ? json_string_value(value) : "-");
}

static void put_all_share(FILE *out, const groups *g, int runs, json_t *notes)
{
    list own = {out, false, 0}, normal = {out, true, 0};
    const char *note;
    json_t *value;
    fprintf(out, runs > 1 ? "<p>All runs: " : "<p>Settings: ");
    shared_each(g, put_shared, &own);
    json_object_foreach(notes, note, value) if (shared_note(g, note))
    {
        svg_within(out, own.count++ ? ", note " : "note ", note, " = ");
        put_note_text(out, value);
    }
    fprintf(out, "%s</p>\n<details><summary>Settings that have their default%s</summary><p>",
            own.count ? "." : "no setting but the defaults.", runs > 1 ? " in all runs" : "");
    shared_each(g, put_shared, &normal);
    fprintf(out, "</p></details>\n");
}

/* ------------------------------------------------------------------------------------------------ the table */

/* Those that not all groups have: the first; the others unfold. */
static void put_formats(FILE *out, const groups *g, const settings *s)
{
    int own = 0, shown = 0;
    for (int i = 0; i < s->format_count; i++)
        own += !shared_format(g, &s->formats[i]);
    fprintf(out, own > 1 ? "<td class=\"t\"><details><summary>" : "<td class=\"t\">");
    for (int i = 0; i < s->format_count; i++) {
        if (shared_format(g, &s->formats[i]))
            continue;
        fprintf(out, shown > 1 ? "<br/>" : "");
        put_format(out, &s->formats[i]);
        if (shown++ == 0 && own > 1)
            fprintf(out, ", %d more</summary>", own - 1);
    }
    if (!own)
        fprintf(out, "%s", formats_in_short(s));
    fprintf(out, own > 1 ? "</details></td>" : "</td>");
}

static void put_number(FILE *out, const char *digits, double x)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    fprintf(out, digits, x);
#pragma GCC diagnostic pop
}

/* What a run has of it, or the mean with the lowest and the highest. */
static void put_figure(FILE *out, figure f, const char *digits, double by)
{
    if (!f.count) {
        fprintf(out, "<td>-</td>");
        return;
    }
    fprintf(out, "<td>");
    put_number(out, digits, f.sum / f.count * by);
    if (f.low != f.high) {
        fprintf(out, " <span class=\"range\">");
        put_number(out, digits, f.low * by);
        fprintf(out, " to ");
        put_number(out, digits, f.high * by);
        fprintf(out, "</span>");
    }
    fprintf(out, "</td>");
}

static void put_results(FILE *out, const group *of)
{
    const size_t places[] = {offsetof(run, best), offsetof(run, last), offsetof(run, last_fp32)};
    figure epoch = {0};
    for (int i = 0; i < of->count; i++)
        figure_add(&epoch, isnan(of->member[i]->best) ? (double)NAN : of->member[i]->best_epoch);
    for (int i = 0; i < 3; i++) {
        put_figure(out, figure_of_runs(of, places[i]), "%.2f", 100);
        if (i == 0)
            put_figure(out, epoch, "%.4g", 1);
    }
    put_figure(out, figure_of_runs(of, offsetof(run, last_loss)), "%.4g", 1);
}

/* Of all runs of the group together. */
static void put_share(FILE *out, const group *g, size_t place)
{
    uint64_t part = 0, all = 0;
    for (int k = 0; k < g->count; k++)
        for (size_t i = 0; i < g->member[k]->track_count; i++) {
            const track *t = &g->member[k]->tracks[i];
            part += *(const uint64_t *)((const char *)t + place);
            all += t->elements;
        }
    if (all == 0)
        fprintf(out, "<td>-</td>");
    else
        fprintf(out, "<td title=\"%" PRIu64 " of %" PRIu64 "\">%.3g</td>", part, all, (double)part / (double)all);
}

static void put_steps(FILE *out, const group *g)
{
    uint64_t low = g->member[0]->steps, high = low;
    int unfinished = 0;
    for (int i = 0; i < g->count; i++) {
        low = g->member[i]->steps < low ? g->member[i]->steps : low;
        high = g->member[i]->steps > high ? g->member[i]->steps : high;
        unfinished += !g->member[i]->finished;
    }
    fprintf(out, "<td>%" PRIu64, low);
    if (low != high)
        fprintf(out, " to %" PRIu64, high);
    if (unfinished && g->count > 1)
        fprintf(out, " (%d not finished)", unfinished);
    else if (unfinished)
        fprintf(out, " (not finished)");
    fprintf(out, "</td>");
}

/* Keys of all notes, each once, in the order in which they come. */
static json_t *note_keys(const run *runs, int count)
{
    json_t *keys = json_object(), *value;
    const char *key;
    for (int i = 0; i < count; i++)
        json_object_foreach(runs[i].notes, key, value) if (!json_object_get(keys, key))
            json_object_set(keys, key, value);
    return keys;
}

/* A number, a word that all runs of the group have, or nothing. */
static void put_note(FILE *out, const group *g, const char *key)
{
    const json_t *own = json_object_get(g->member[0]->notes, key);
    bool alike = json_is_string(own);
    for (int i = 1; i < g->count; i++)
        alike = alike && json_equal(json_object_get(g->member[i]->notes, key), own);
    if (!alike) {
        put_figure(out, figure_of_notes(g, key), "%.6g", 1);
        return;
    }
    fprintf(out, "<td>");
    put_note_text(out, own);
    fprintf(out, "</td>");
}

static void put_head(FILE *out, const groups *g, json_t *notes, bool seeds)
{
    settings_key key;
    const char *note;
    json_t *value;
    fprintf(out,
            "<thead><tr><th>run</th>%s<th>best, %%</th><th>epoch, from 0</th><th>last, %%</th><th>last, FP32, %%</th>"
            "<th>loss</th>",
            seeds ? "<th>seeds</th>" : "");
    if (formats_tell(g))
        fprintf(out, "<th class=\"t\">formats</th>");
    for (int i = 0; settings_table(i, &key); i++)
        if (shared_key(g, i) == KEY_TELLS)
            fprintf(out, "<th class=\"t\">%s.%s</th>", key.section, key.key);
    fprintf(out, "<th>overflow</th><th>underflow</th><th>NaN</th><th>steps</th><th>skipped</th><th>time, s</th>");
    json_object_foreach(notes, note, value) if (!shared_note(g, note)) svg_within(out, "<th>", note, "</th>");
    fprintf(out, "</tr></thead>\n");
}

/* The directories and seeds of its runs show where one points. */
static void put_name(FILE *out, const group *of, const char *name, int key, bool seeds)
{
    fprintf(out, "<tr><td title=\"");
    for (int i = 0; i < of->count; i++)
        svg_within(out, i ? ", " : "", of->member[i]->name, "");
    fprintf(out, "\">");
    if (key >= 0)
        chart_key(out, key);
    svg_within(out, "", name, "</td>");
    if (!seeds)
        return;
    fprintf(out, "<td title=\"");
    for (int i = 0; i < of->count; i++)
        fprintf(out, "%s%" PRIu64, i ? ", " : "", of->member[i]->settings.train.seed);
    if (key >= 0)
        fprintf(out, "\">%d</td>", of->count);
    else
        fprintf(out, "\">%" PRIu64 "</td>", of->member[0]->settings.train.seed);
}

/* What one looks for first comes first. key: of the curve of the group; -1: one run of it. */
static void put_row(FILE *out, const groups *g, const group *of, const char *name, int key, json_t *notes, bool seeds)
{
    const settings *s = &of->member[0]->settings;
    figure skipped = {0};
    char text[SHARED_TEXT];
    settings_key setting;
    const char *note;
    json_t *value;
    put_name(out, of, name, key, seeds);
    put_results(out, of);
    if (formats_tell(g))
        put_formats(out, g, s);
    for (int i = 0; settings_table(i, &setting); i++)
        if (shared_key(g, i) == KEY_TELLS)
            svg_within(out, "<td class=\"t\">", shared_value(g, s, i, text), "</td>");
    put_share(out, of, offsetof(track, overflow));
    put_share(out, of, offsetof(track, underflow));
    put_share(out, of, offsetof(track, nan));
    put_steps(out, of);
    for (int i = 0; i < of->count; i++)
        figure_add(&skipped, (double)of->member[i]->skipped);
    put_figure(out, skipped, "%.4g", 1);
    put_figure(out, figure_of_runs(of, offsetof(run, seconds)), "%.1f", 1);
    json_object_foreach(notes, note, value) if (!shared_note(g, note)) put_note(out, of, note);
    fprintf(out, "</tr>\n");
}

static bool any_seeds(const groups *g)
{
    for (int k = 0; k < g->count; k++)
        if (g->group[k].count > 1)
            return true;
    return false;
}

/* members: of every run alone, in the order of the groups. */
static void put_table(FILE *out, const groups *g, json_t *notes, bool members)
{
    const bool seeds = any_seeds(g);
    fprintf(out, "<div class=\"wide\"><table>\n");
    put_head(out, g, notes, seeds);
    fprintf(out, "<tbody>\n");
    for (int k = 0; k < g->count; k++)
        if (!members)
            put_row(out, g, &g->group[k], g->mean[k].name, k, notes, seeds);
        else
            for (int m = 0; m < g->group[k].count; m++) {
                const group alone = {&g->group[k].member[m], 1};
                put_row(out, g, &alone, alone.member[0]->name, -1, notes, seeds);
            }
    fprintf(out, "</tbody></table></div>\n");
}

static void put_tables(FILE *out, const groups *g, int runs, json_t *notes)
{
    put_all_share(out, g, runs, notes);
    put_table(out, g, notes, false);
    fprintf(out,
            "<p>Accuracy on the test part; best over the epochs. Overflow, underflow and NaN are shares of all "
            "elements that were rounded in the steps of the log. A click on the head of a column sorts the runs by "
            "it.%s</p>\n",
            any_seeds(g) ? " Runs that differ in the seed alone are one line: the mean, and the "
                           "lowest and the highest; a share is that of all of them."
                         : "");
    if (!any_seeds(g))
        return;
    fprintf(out, "<details><summary>Each run alone</summary>\n");
    put_table(out, g, notes, true);
    fprintf(out, "</details>\n");
}

/* ------------------------------------------------------------------------------------------------ the page */

static void put_curves(FILE *out, const groups *g, double smooth)
{
    const curves of = curves_of(g, smooth);
    char note[CHART_NOTE];
    fprintf(out, "<h2>Curves</h2>\n<section>");
    chart_legend(out, &of);
    if (chart_note(&of, note)[0])
        fprintf(out, "<p>%s</p>\n", note);
    fprintf(out, "<div class=\"charts\">\n");
    for (int i = 0; i < PAGE_CHARTS; i++)
        chart_write(out, &report_charts[i], &of);
    fprintf(out, "</div></section>\n");
}

static void put_heats(FILE *out, const run *r)
{
    for (int kind = 0; kind < HEATS; kind++) {
        heat h;
        if (!heat_make(&h, r, (heat_kind)kind, NULL, COLUMNS))
            continue;
        heat_write(out, &h);
        heat_free(&h);
    }
}

/* Counts of all runs of the group together; each decides by its own gradients, and may diverge where others do not:
 * switches and what lay out of range are those of the first. */
static void put_tensors(FILE *out, const groups *g, int k)
{
    const group *of = &g->group[k];
    const run *first = of->member[0], *mean = &g->mean[k];
    if (mean->track_count == 0 && first->bits.count == 0 && mean->updated == 0)
        return;
    svg_within(out, "<h2>", mean->name, "</h2>\n");
    if (of->count > 1) {
        fprintf(out, "<p>%d runs together", of->count);
        if (has_switches(first) || has_overflows(first))
            svg_within(out, "; switches and what lay out of range: ", first->name, "");
        fprintf(out, ".</p>\n");
    }
    fprintf(out, "<div class=\"charts\">\n");
    if (has_switches(first))
        switches_write(out, first, false);
    if (has_updates(mean))
        updates_write(out, mean, false);
    if (has_overflows(first))
        overflows_write(out, first, false);
    put_heats(out, mean);
    fprintf(out, "</div>\n");
}

void page_write(FILE *out, const groups *g, const run *runs, int count, double smooth)
{
    json_t *notes = note_keys(runs, count);
    const char *s = count > 1 ? "s" : "";
    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
            "content=\"width=device-width\"><title>fptrain: %d run%s</title>\n<style>\n%s</style></head>\n<body>"
            "<h1>%d run%s</h1>\n",
            count, s, style, count, s);
    put_tables(out, g, count, notes);
    put_curves(out, g, smooth);
    for (int k = 0; k < g->count; k++)
        put_tensors(out, g, k);
    fprintf(out, "<script>\n%s</script>\n</body></html>\n", script);
    json_decref(notes);
}
