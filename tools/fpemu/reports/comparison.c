/* SPDX-License-Identifier: BSD-2-Clause */
/* comparison.c - see comparison.h */
#include "reports/comparison.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error.h"
#include "cli/number.h"
#include "reports/choice.h"
#include "reports/jsonout.h"
#include "reports/report.h"
#include "reports/scatter_plot.h"

static const char *spec_of(const comparison_format *c)
{
    return c != NULL ? c->text : "-";
}

/* ------------------------------------------------------------------------------------------------- as a table */

static int spec_width(const comparison *j, int least)
{
    for (size_t k = 0; k < j->candidates; k++) {
        const int length = (int)strlen(j->candidate[k].text);
        least = length > least ? length : least;
    }
    return least;
}

/* A row for each format, of one tensor, or for NULL of all; and with --long those of formats with blocks. */
static void print_formats(const comparison *j, const comparison_cell *first)
{
    const int width = spec_width(j, 6);
    bool blocks = false;
    report_heading(width, "format", "bits");
    for (size_t k = 0; k < j->candidates; k++) {
        const comparison_format *c = &j->candidate[k];
        const comparison_cell *here = first != NULL ? &first[k] : &c->total;
        char bits[NUMBER_SIZE];
        snprintf(bits, sizeof bits, "%.4g%s", here->bits, here->packed ? "" : "*");
        report_row(width, c->text, bits, &here->stats, here->relative_error, j->percent);
        blocks |= c->format.scaling != FPEMU_SCALING_NONE;
    }
    if (!blocks || !j->all_counters)
        return;
    report_block_heading(width, "format");
    for (size_t k = 0; k < j->candidates; k++) {
        const comparison_format *c = &j->candidate[k];
        if (c->format.scaling != FPEMU_SCALING_NONE)
            report_block_row(width, c->text, first != NULL ? &first[k].stats : &c->total.stats);
    }
}

static void print_ratios(const comparison *j, int width, const char *name, const tensor *t,
                         const comparison_cell *first)
{
    char type[MODEL_TYPE_SIZE], shape[FILE_SHAPE_SIZE] = "";
    printf("%-*s  %-7s  %-14s", width, name, t != NULL ? file_type_text(type, model_type_text(t)) : "",
           t != NULL ? file_shape_text(shape, t) : "");
    for (size_t k = 0; k < j->candidates; k++) {
        const comparison_format *c = &j->candidate[k];
        char db[REPORT_DB_SIZE];
        printf("  %*s", spec_width(&(comparison){.candidate = &j->candidate[k], .candidates = 1}, 6),
               report_db(db, fpemu_stats_sqnr(first != NULL ? &first[k].stats : &c->total.stats)));
    }
    if (j->has_threshold)
        printf("  %s", spec_of(choice_cheapest(j, first)));
    else if (j->chosen != NULL && first != NULL)
        printf("  %s", spec_of(j->chosen->of[(size_t)(first - j->cell) / j->candidates]));
    putchar('\n');
}

/* SQNR: a row for each tensor, a column for each format. */
static void print_tensors(const comparison *j)
{
    const int width = report_name_width(&j->in);
    printf("%-*s  %-7s  %-14s", width, "tensor", "dtype", "shape");
    for (size_t k = 0; k < j->candidates; k++)
        printf("  %6s", j->candidate[k].text);
    puts(j->has_threshold ? "  cheapest" : j->chosen != NULL ? "  chosen" : "");
    for (size_t i = 0; i < j->in.model.count; i++) {
        if (j->in.chosen[i]) {
            char name[FILE_NAME_SIZE];
            const tensor *t = &j->in.model.tensor[i];
            print_ratios(j, width, file_name_text(name, t), t, &j->cell[i * j->candidates]);
        }
    }
    print_ratios(j, width, "total", NULL, NULL);
    for (size_t i = 0; i < j->in.model.count; i++) {
        const tensor *t = &j->in.model.tensor[i];
        if (t->type == NULL) {
            char name[FILE_NAME_SIZE], type[MODEL_TYPE_SIZE], shape[FILE_SHAPE_SIZE];
            printf("skipped: %s (%s, %s)\n", file_name_text(name, t), file_type_text(type, t->type_text),
                   file_shape_text(shape, t));
        }
    }
}

/* Every counter: a table like that of all for each tensor. */
static void print_long(const comparison *j)
{
    for (size_t i = 0; i < j->in.model.count; i++) {
        if (j->in.chosen[i]) {
            char name[FILE_NAME_SIZE];
            printf("\n%s\n", file_name_text(name, &j->in.model.tensor[i]));
            print_formats(j, &j->cell[i * j->candidates]);
        }
    }
}

/* Formats that are no choice, or not for every tensor, for the numbers that they lose. */
static void print_left_out(const comparison *j)
{
    for (size_t k = 0; k < j->candidates; k++) {
        const comparison_cell *total = &j->candidate[k].total;
        if (total->lost > 0 && (j->has_limit || choice_keeps(j, total))) {
            printf("; %s is left out%s: %" PRIu64 " elements became NaN or infinite", j->candidate[k].text,
                   j->has_limit && !file_is_array(&j->in) ? " where it loses numbers" : "", total->lost);
        }
    }
}

static void print_without(const comparison *j)
{
    if (j->chosen->none > 0)
        printf(", with %zu of %zu tensors left as they are for want of one", j->chosen->none, j->in.chosen_count);
    if (j->has_limit)
        print_left_out(j);
    putchar('\n');
}

static void print_threshold(const comparison *j)
{
    char db[NUMBER_SIZE];
    printf("\ncheapest with at least %s dB over all: %s", number_print(db, j->threshold),
           spec_of(choice_cheapest(j, NULL)));
    print_left_out(j);
    putchar('\n');
    if (!file_is_array(&j->in)) {
        printf("cheapest for each tensor: %.4g bits an element", j->chosen->bits);
        print_without(j);
    }
}

/* The best within a limit, and how well that is known. */
static void print_limit(const comparison *j)
{
    const choice *c = j->chosen;
    char bits[NUMBER_SIZE], db[REPORT_DB_SIZE];
    printf("\nbest within %s bits an element: %s dB with %.4g bits an element", number_print(bits, j->limit),
           report_db(db, c->sqnr), c->bits);
    print_without(j);
    if (c->proven)
        puts("proven: no choice among these formats has less error within these bits");
    else
        printf("proven: no choice among these formats is better by more than %.2g dB\n", c->gap);
}

static void print_nominal(const comparison *j)
{
    for (size_t k = 0; k < j->candidates; k++) {
        if (!j->candidate[k].total.packed) {
            puts("* bits of the format by itself: some of these numbers cannot be packed");
            return;
        }
    }
}

void comparison_print(const comparison *j)
{
    if (!file_is_array(&j->in)) {
        puts("SQNR in dB");
        print_tensors(j);
        if (j->all_counters)
            print_long(j);
        puts("\nall tensors");
    }
    print_formats(j, NULL);
    print_nominal(j);
    if (j->has_threshold)
        print_threshold(j);
    else if (j->has_limit)
        print_limit(j);
}

/* --------------------------------------------------------------------------------------------------- as JSON */

static json_t *json_cell(const comparison_format *k, const comparison_cell *c)
{
    json_t *entry = jsonout_object();
    jsonout_set(entry, "spec", jsonout_text(k->text));
    jsonout_set(entry, "bits_per_element", jsonout_real(c->bits));
    jsonout_set(entry, "packed", jsonout_bool(c->packed));
    jsonout_set(entry, "nominal_bits_per_element", jsonout_real(fpemu_format_bits_per_element(&k->format)));
    jsonout_set(entry, "max_relative_error", jsonout_real(c->relative_error));
    report_json_stats(entry, &c->stats, &k->format);
    return entry;
}

static json_t *json_cheapest(const comparison *j, const comparison_cell *first)
{
    const comparison_format *c = choice_cheapest(j, first);
    return jsonout_text(c != NULL ? c->text : NULL);
}

static json_t *json_tensors(const comparison *j)
{
    json_t *list = jsonout_array();
    for (size_t i = 0; i < j->in.model.count; i++) {
        if (j->in.chosen[i]) {
            const comparison_cell *first = &j->cell[i * j->candidates];
            json_t *entry = report_json_tensor(&j->in.model.tensor[i]), *formats = jsonout_array();
            for (size_t k = 0; k < j->candidates; k++)
                jsonout_append(formats, json_cell(&j->candidate[k], &first[k]));
            jsonout_set(entry, "formats", formats);
            if (j->has_threshold)
                jsonout_set(entry, "cheapest", json_cheapest(j, first));
            else if (j->has_limit)
                jsonout_set(entry, "chosen", jsonout_text(j->chosen->of[i] != NULL ? j->chosen->of[i]->text : NULL));
            jsonout_append(list, entry);
        }
    }
    return list;
}

void comparison_print_json(const comparison *j)
{
    json_t *object = jsonout_object(), *list = jsonout_array();
    bool random = false;
    for (size_t k = 0; k < j->candidates; k++) {
        jsonout_append(list, json_cell(&j->candidate[k], &j->candidate[k].total));
        random = random || FPEMU_DRAWS(&j->candidate[k].format, &j->rounding);
    }
    jsonout_set(object, "input", jsonout_text(j->in.path));
    if (file_is_array(&j->in)) {
        const tensor *t = &j->in.model.tensor[0];
        json_t *shape = jsonout_array();
        for (unsigned i = 0; i < t->dimensions; i++)
            jsonout_append(shape, jsonout_count(t->extent[i]));
        jsonout_set(object, "type", jsonout_text(t->type->text));
        jsonout_set(object, "shape", shape);
    } else {
        jsonout_set(object, "tensors", json_tensors(j));
        jsonout_set(object, "skipped", report_json_left_out(&j->in));
    }
    jsonout_set(object, "count", jsonout_count(j->candidate[0].total.stats.count));
    jsonout_set(object, "rounding", jsonout_rounding(&j->rounding, random));
    jsonout_set(object, "formats", list);
    if (j->has_threshold) {
        jsonout_set(object, "min_sqnr_db", jsonout_real(j->threshold));
        jsonout_set(object, "cheapest", json_cheapest(j, NULL));
        jsonout_set(object, "cheapest_each_bits_per_element", jsonout_real(j->chosen->bits));
        jsonout_set(object, "without_cheapest", jsonout_count(j->chosen->none));
    } else if (j->has_limit) {
        jsonout_set(object, "max_bits", jsonout_real(j->limit));
        jsonout_set(object, "chosen_bits_per_element", jsonout_real(j->chosen->bits));
        jsonout_set(object, "chosen_sqnr_db", jsonout_real(j->chosen->sqnr));
        jsonout_set(object, "chosen_gap_db", jsonout_real(j->chosen->gap));
        jsonout_set(object, "without_chosen", jsonout_count(j->chosen->none));
    }
    jsonout_print(object);
}

/* ------------------------------------------------------------------------------------------------------ plot */

void comparison_plot(const comparison *j, const char *path)
{
    scatter_point *points = cli_allocate(j->candidates, sizeof *points);
    for (size_t k = 0; k < j->candidates; k++) {
        const double db = fpemu_stats_sqnr(&j->candidate[k].total.stats);
        points[k] = (scatter_point){
            .label = j->candidate[k].text, .x = j->candidate[k].total.bits, .y = db, .low = db, .high = db};
        for (size_t i = 0; i < j->in.model.count; i++) {
            const double one = fpemu_stats_sqnr(&j->cell[i * j->candidates + k].stats);
            if (j->in.chosen[i] && isfinite(one)) {
                points[k].low = fmin(points[k].low, one);
                points[k].high = fmax(points[k].high, one);
            }
        }
    }
    scatter_curve curve = {0};
    choice_point *corners = j->has_limit ? choice_curve(j, &curve.count) : NULL;
    if (corners != NULL) {
        curve.x = cli_allocate(curve.count, sizeof *curve.x);
        curve.y = cli_allocate(curve.count, sizeof *curve.y);
        for (size_t i = 0; i < curve.count; i++) {
            curve.x[i] = corners[i].bits;
            curve.y[i] = corners[i].sqnr;
        }
        curve.chosen_x = j->chosen->bits;
        curve.chosen_y = j->chosen->sqnr;
    }
    scatter_plot_write(path, j->in.path, j->candidates, points, j->has_threshold ? &j->threshold : NULL,
                       !file_is_array(&j->in), corners != NULL ? &curve : NULL);
    free(corners);
    free(curve.x);
    free(curve.y);
    free(points);
}
