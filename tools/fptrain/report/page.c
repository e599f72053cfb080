/* SPDX-License-Identifier: BSD-2-Clause */
/* page.c - the page: a table of the runs, curves of all, heat maps of each. */
#include "report/page.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/axis.h"
#include "common/svg.h"
#include "report/chart.h"
#include "report/heat.h"
#include "report/overflow.h"

enum { COLUMNS = 60, COLOURS = 8 };

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
    "summary{cursor:pointer}\n"
    ".charts{display:flex;flex-wrap:wrap;gap:1em}figure{margin:0;flex:1 1 480px;max-width:640px}"
    "svg{width:100%;height:auto;font:11px sans-serif}svg text{fill:var(--ink)}.title{font-size:13px;font-weight:600}\n"
    ".axis path{stroke:var(--line);fill:none;stroke-width:.7}.axis .mark{stroke:var(--ink);"
    "stroke-dasharray:3 3}.curve{fill:none;stroke-width:1.8;stroke-linecap:round;stroke-linejoin:round}"
    ".cells rect{fill:var(--c0)}.cells text{font-size:10px}"
    ".key{width:2.4em;height:.8em;vertical-align:middle}\n"
    ".c0{stroke:var(--c0)}.c1{stroke:var(--c1);stroke-dasharray:7 3}.c2{stroke:var(--c2);stroke-dasharray:2 4}"
    ".c3{stroke:var(--c3);stroke-dasharray:9 3 2 3}.c4{stroke:var(--c4);stroke-dasharray:4 4}"
    ".c5{stroke:var(--c5);stroke-dasharray:12 4}.c6{stroke:var(--c6);stroke-dasharray:2 2}"
    ".c7{stroke:var(--c7);stroke-dasharray:9 3 2 3 2 3}\n";

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

/* ------------------------------------------------------------------------------------------------ the table */

/* A key is worth a column where the runs differ in it; of a single run where it is not the default. */
static bool differs(const run *runs, int count, int key)
{
    char first[SETTINGS_TEXT], other[SETTINGS_TEXT];
    settings_key table;
    settings_table(key, &table);
    if (strcmp(table.section, "output") == 0)
        return false;
    settings_value(&runs[0].settings, key, first);
    if (count == 1)
        return strcmp(first, table.normal) != 0;
    for (int i = 1; i < count; i++)
        if (strcmp(settings_value(&runs[i].settings, key, other), first) != 0)
            return true;
    return false;
}

static void put_format(FILE *out, const format_line *f)
{
    svg_text(out, f->pattern);
    fprintf(out, "=");
    svg_text(out, f->spec);
    fprintf(out, "%s", f->mode ? " " : "");
    svg_text(out, f->mode ? f->mode : "");
}

/* The first; the others unfold. */
static void put_formats(FILE *out, const settings *s)
{
    const int more = s->format_count - 1;
    fprintf(out, more > 0 ? "<td class=\"t\"><details><summary>" : "<td class=\"t\">");
    if (s->format_count > 0)
        put_format(out, &s->formats[0]);
    else
        fprintf(out, "fp32");
    if (more > 0)
        fprintf(out, ", %d more</summary>", more);
    for (int i = 1; i <= more; i++) {
        put_format(out, &s->formats[i]);
        fprintf(out, i < more ? "<br/>" : "</details>");
    }
    fprintf(out, "</td>");
}

static void put_percent(FILE *out, double x)
{
    if (isnan(x))
        fprintf(out, "<td>-</td>");
    else
        fprintf(out, "<td>%.2f %%</td>", 100 * x);
}

static void put_share(FILE *out, uint64_t part, uint64_t all)
{
    if (all == 0)
        fprintf(out, "<td>-</td>");
    else
        fprintf(out, "<td title=\"%" PRIu64 " of %" PRIu64 "\">%.3g</td>", part, all, (double)part / (double)all);
}

/* Keys of all notes, each once, in the order in which they come. */
static json_t *note_keys(const run *runs, int count)
{
    json_t *keys = json_object(), *value;
    const char *key;
    for (int i = 0; i < count; i++)
        json_object_foreach(runs[i].notes, key, value)
            json_object_set(keys, key, value);
    return keys;
}

static void put_head(FILE *out, const run *runs, int count, json_t *notes)
{
    settings_key key;
    const char *note;
    json_t *value;
    fprintf(out, "<thead><tr><th>run</th><th>best</th><th>epoch</th><th>last</th><th>last, FP32</th><th>loss</th>"
                 "<th class=\"t\">formats</th>");
    for (int i = 0; settings_table(i, &key); i++)
        if (differs(runs, count, i))
            fprintf(out, "<th class=\"t\">%s.%s</th>", key.section, key.key);
    fprintf(out, "<th>overflow</th><th>underflow</th><th>NaN</th><th>steps</th><th>skipped</th><th>time</th>");
    json_object_foreach(notes, note, value)
    {
        fprintf(out, "<th>");
        svg_text(out, note);
        fprintf(out, "</th>");
    }
    fprintf(out, "</tr></thead>\n");
}

/* What one looks for first. */
static void put_accuracy(FILE *out, const run *r)
{
    put_percent(out, r->best);
    fprintf(out, isnan(r->best) ? "<td>-</td>" : "<td>%d</td>", r->best_epoch);
    put_percent(out, r->last);
    put_percent(out, r->last_fp32);
    fprintf(out, "<td>%.4g</td>", r->last_loss);
}

static void put_results(FILE *out, const run *r)
{
    uint64_t elements = 0, overflow = 0, underflow = 0, nan = 0;
    for (size_t i = 0; i < r->track_count; i++) {
        elements += r->tracks[i].elements;
        overflow += r->tracks[i].overflow;
        underflow += r->tracks[i].underflow;
        nan += r->tracks[i].nan;
    }
    put_share(out, overflow, elements);
    put_share(out, underflow, elements);
    put_share(out, nan, elements);
    fprintf(out, "<td>%" PRIu64 "%s</td><td>%" PRIu64 "</td><td>%.1f s</td>", r->steps,
            r->finished ? "" : " (not finished)", r->skipped, r->seconds);
}

static void put_row(FILE *out, const run *runs, int count, int k, json_t *notes)
{
    const run *r = &runs[k];
    char text[SETTINGS_TEXT];
    settings_key key;
    const char *note;
    json_t *value;
    fprintf(out, "<tr><td><svg class=\"key\" viewBox=\"0 0 30 10\"><path class=\"curve c%d\" d=\"M1 5H29\"/></svg> ",
            k % COLOURS);
    svg_text(out, r->name);
    fprintf(out, "</td>");
    put_accuracy(out, r);
    put_formats(out, &r->settings);
    for (int i = 0; settings_table(i, &key); i++)
        if (differs(runs, count, i)) {
            fprintf(out, "<td class=\"t\">");
            svg_text(out, settings_value(&r->settings, i, text));
            fprintf(out, "</td>");
        }
    put_results(out, r);
    json_object_foreach(notes, note, value)
    {
        const json_t *own = json_object_get(r->notes, note);
        if (json_is_number(own))
            fprintf(out, "<td>%.6g</td>", json_number_value(own));
        else {
            fprintf(out, "<td>");
            svg_text(out, json_is_string(own) ? json_string_value(own) : "-");
            fprintf(out, "</td>");
        }
    }
    fprintf(out, "</tr>\n");
}

/* ------------------------------------------------------------------------------------------------ the page */

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

void page_write(FILE *out, const run *runs, int count)
{
    json_t *notes = note_keys(runs, count);
    fprintf(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
                 "content=\"width=device-width\"><title>fptrain: %d run%s</title>\n<style>\n%s</style></head>\n<body>"
                 "<h1>%d run%s</h1>\n<div class=\"wide\"><table>\n", count, count > 1 ? "s" : "", style, count,
            count > 1 ? "s" : "");
    put_head(out, runs, count, notes);
    fprintf(out, "<tbody>\n");
    for (int k = 0; k < count; k++)
        put_row(out, runs, count, k, notes);
    fprintf(out, "</tbody></table></div>\n<p>Accuracy on the test part; best over the epochs. Overflow, underflow and "
                 "NaN are shares of all elements that were rounded in the steps of the log. A click on the head of a "
                 "column sorts the runs by it.</p>\n"
                 "<div class=\"charts\">\n");
    chart_write(out, &(chart){.title = "Loss", .x_title = "step"}, runs, count, offsetof(run, loss));
    chart_write(out, &(chart){.title = "Accuracy on the test part", .x_title = "step", .percent = true}, runs, count,
                offsetof(run, accuracy));
    chart_write(out, &(chart){.title = "Accuracy of the master weights in FP32", .x_title = "step", .percent = true},
                runs, count, offsetof(run, accuracy_fp32));
    chart_write(out, &(chart){.title = "Scale of the loss", .x_title = "step", .logarithmic = true}, runs, count,
                offsetof(run, scale));
    chart_write(out, &(chart){.title = "Mean move of a packed weight, in steps of its group", .x_title = "step",
                              .logarithmic = true}, runs, count, offsetof(run, move));
    fprintf(out, "</div>\n");
    for (int k = 0; k < count; k++) {
        if (runs[k].track_count == 0 && runs[k].bits.count == 0 && runs[k].updated == 0)
            continue;
        fprintf(out, "<h2>");
        svg_text(out, runs[k].name);
        fprintf(out, "</h2>\n<div class=\"charts\">\n");
        if (has_switches(&runs[k]))
            switches_write(out, &runs[k], false);
        if (has_updates(&runs[k]))
            updates_write(out, &runs[k], false);
        if (has_overflows(&runs[k]))
            overflows_write(out, &runs[k], false);
        put_heats(out, &runs[k]);
        fprintf(out, "</div>\n");
    }
    fprintf(out, "<script>\n%s</script>\n</body></html>\n", script);
    json_decref(notes);
}
