/* comparison.c - see comparison.h */
#include "common/system.h"

#include "reports/comparison.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error.h"
#include "cli/number.h"
#include "reports/jsonout.h"
#include "reports/report.h"
#include "reports/scatter_plot.h"

/* ----------------------------------------------------------------------------------------------- the cheapest */

/* Whether numbers became NaN or infinities, which the error sums leave out. */
static bool loses_numbers(const comparison_format *c, const fpemu_stats *s)
{
    const fpemu_format *f = &c->format;
    const bool ends = f->kind == FPEMU_KIND_FLOAT && f->scaling == FPEMU_SCALING_NONE &&
                      f->specials != FPEMU_SPECIALS_FINITE && f->overflow <= FPEMU_OVERFLOW_IEEE;
    return s->invalid > 0 || (ends && s->overflow > 0);
}

/* The format with the fewest bits that keeps the threshold, of several the one that keeps more; NULL if none does. Over
 * the cells of one tensor, or, for NULL, over all. */
static const comparison_format *cheapest(const comparison *j, const comparison_cell *first)
{
    const comparison_format *best = NULL;
    double best_db = 0, best_bits = 0;
    for (size_t k = 0; k < j->candidates; k++) {
        const comparison_format *c = &j->candidate[k];
        const comparison_cell *here = first != NULL ? &first[k] : &c->total;
        const fpemu_stats *s = &here->stats;
        const double db = fpemu_stats_sqnr(s);
        const bool silent = isnan(db) && fpemu_stats_sum_error2(s) == 0; /* nothing but zeros: they all keep */
        if ((db >= j->threshold || silent) && !loses_numbers(c, s) &&
            (best == NULL || here->bits < best_bits || (here->bits == best_bits && db > best_db))) {
            best = c;
            best_bits = here->bits;
            best_db = db;
        }
    }
    return best;
}

static const char *spec_of(const comparison_format *c)
{
    return c != NULL ? c->text : "-";
}

/* If every tensor took its cheapest format, and those without one stayed as they are. */
typedef struct mixture {
    double bits; /* an element */
    size_t none; /* tensors without one */
} mixture;

static mixture mix(const comparison *j)
{
    mixture m = {0};
    double elements = 0;
    for (size_t i = 0; i < j->in.model.count; i++) {
        const tensor *t = &j->in.model.tensor[i];
        if (j->in.chosen[i]) {
            const comparison_cell *first = &j->cell[i * j->candidates];
            const comparison_format *c = cheapest(j, first);
            m.bits += (double)t->count * (c != NULL ? first[c - j->candidate].bits : model_type_bits(t));
            m.none += c == NULL;
            elements += (double)t->count;
        }
    }
    m.bits = elements > 0 ? m.bits / elements : 0;
    return m;
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
    if (!blocks || !j->all_counters) {
        return;
    }
    report_block_heading(width, "format");
    for (size_t k = 0; k < j->candidates; k++) {
        const comparison_format *c = &j->candidate[k];
        if (c->format.scaling != FPEMU_SCALING_NONE) {
            report_block_row(width, c->text, first != NULL ? &first[k].stats : &c->total.stats);
        }
    }
}

static void print_ratios(const comparison *j, int width, const char *name, const tensor *t,
                         const comparison_cell *first)
{
    char shape[FILE_SHAPE_SIZE] = "";
    printf("%-*s  %-7s  %-14s", width, name, t != NULL ? model_type_text(t) : "",
           t != NULL ? file_shape_text(shape, t) : "");
    for (size_t k = 0; k < j->candidates; k++) {
        const comparison_format *c = &j->candidate[k];
        char db[REPORT_DB_SIZE];
        printf("  %*s", spec_width(&(comparison){.candidate = &j->candidate[k], .candidates = 1}, 6),
               report_db(db, fpemu_stats_sqnr(first != NULL ? &first[k].stats : &c->total.stats)));
    }
    if (j->has_threshold) {
        printf("  %s", spec_of(cheapest(j, first)));
    }
    putchar('\n');
}

/* SQNR: a row for each tensor, a column for each format. */
static void print_tensors(const comparison *j)
{
    const int width = report_name_width(&j->in);
    printf("%-*s  %-7s  %-14s", width, "tensor", "dtype", "shape");
    for (size_t k = 0; k < j->candidates; k++) {
        printf("  %6s", j->candidate[k].text);
    }
    puts(j->has_threshold ? "  cheapest" : "");
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
            char name[FILE_NAME_SIZE], shape[FILE_SHAPE_SIZE];
            printf("skipped: %s (%s, %s)\n", file_name_text(name, t), t->type_text, file_shape_text(shape, t));
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

static void print_threshold(const comparison *j)
{
    char db[NUMBER_SIZE];
    const comparison_format *c = cheapest(j, NULL);
    printf("\ncheapest with at least %s dB over all: %s\n", number_print(db, j->threshold), spec_of(c));
    if (!file_is_array(&j->in)) {
        const mixture m = mix(j);
        printf("cheapest for each tensor: %.4g bits an element", m.bits);
        if (m.none > 0) {
            printf(", with %zu of %zu tensors left as they are for want of one", m.none, j->in.chosen_count);
        }
        putchar('\n');
    }
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
        if (j->all_counters) {
            print_long(j);
        }
        puts("\nall tensors");
    }
    print_formats(j, NULL);
    print_nominal(j);
    if (j->has_threshold) {
        print_threshold(j);
    }
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
    const comparison_format *c = cheapest(j, first);
    return jsonout_text(c != NULL ? c->text : NULL);
}

static json_t *json_tensors(const comparison *j)
{
    json_t *list = jsonout_array();
    for (size_t i = 0; i < j->in.model.count; i++) {
        if (j->in.chosen[i]) {
            const comparison_cell *first = &j->cell[i * j->candidates];
            json_t *entry = report_json_tensor(&j->in.model.tensor[i]), *formats = jsonout_array();
            for (size_t k = 0; k < j->candidates; k++) {
                jsonout_append(formats, json_cell(&j->candidate[k], &first[k]));
            }
            jsonout_set(entry, "formats", formats);
            if (j->has_threshold) {
                jsonout_set(entry, "cheapest", json_cheapest(j, first));
            }
            jsonout_append(list, entry);
        }
    }
    return list;
}

void comparison_print_json(const comparison *j)
{
    json_t *object = jsonout_object(), *list = jsonout_array();
    for (size_t k = 0; k < j->candidates; k++) {
        jsonout_append(list, json_cell(&j->candidate[k], &j->candidate[k].total));
    }
    jsonout_set(object, "input", jsonout_text(j->in.path));
    if (file_is_array(&j->in)) {
        const tensor *t = &j->in.model.tensor[0];
        json_t *shape = jsonout_array();
        for (unsigned i = 0; i < t->dimensions; i++) {
            jsonout_append(shape, jsonout_count(t->extent[i]));
        }
        jsonout_set(object, "type", jsonout_text(t->type->text));
        jsonout_set(object, "shape", shape);
    } else {
        jsonout_set(object, "tensors", json_tensors(j));
        jsonout_set(object, "skipped", report_json_left_out(&j->in));
    }
    jsonout_set(object, "count", jsonout_count(j->candidate[0].total.stats.count));
    jsonout_set(object, "rounding", jsonout_rounding(&j->rounding));
    jsonout_set(object, "formats", list);
    if (j->has_threshold) {
        const mixture m = mix(j);
        jsonout_set(object, "min_sqnr_db", jsonout_real(j->threshold));
        jsonout_set(object, "cheapest", json_cheapest(j, NULL));
        jsonout_set(object, "cheapest_each_bits_per_element", jsonout_real(m.bits));
        jsonout_set(object, "without_cheapest", jsonout_count(m.none));
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
    scatter_plot_write(path, j->in.path, j->candidates, points, j->has_threshold ? &j->threshold : NULL,
                       !file_is_array(&j->in));
    free(points);
}
