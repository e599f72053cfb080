/* compare.c - fpemu compare: what several formats do to the tensors of a file. */
#include "cli/cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/number.h"
#include "cli/progress.h"
#include "commands/commands.h"
#include "files/box_walk.h"
#include "files/file.h"
#include "files/output.h"
#include "files/partition.h"
#include "reports/jsonout.h"
#include "reports/report.h"
#include "reports/scatter_plot.h"

static const char help[] =
    "Usage: fpemu compare IN SPEC... [OPTION...]\n"
    "Rounds the tensors of a file to every format. Files are .safetensors, .npy, .npz, or raw, as\n"
    "for quantize. Of several tensors prints the signal to quantisation noise in dB, a row for each\n"
    "tensor and a column for each format; then, over all, a row for each format: bits an element,\n"
    "SQNR, the largest relative error, and how many elements were clipped, overflowed, became zero\n"
    "(underflow), became subnormal, or became NaN for want of a value (invalid). Elements whose\n"
    "result is no finite number are in none of the errors. Bits an element are those of 'fpemu\n"
    "pack', scales and lines that end within a byte included; those of a tensor that cannot be packed\n"
    "are the format's own, marked *. Any size in bounded memory (fpemu(1), MEMORY, has the\n"
    "exceptions). IN may be '-', standard input.\n"
    "\n"
    "      --axis N          along which the blocks of formats run: 0, 1, ..., or from the end -1,\n"
    "                        -2, ... (default: -1)\n"
    "      --min-sqnr DB     name, for each tensor, the format with the fewest bits that keeps at\n"
    "                        least so many dB\n"
    "      --plot FILE.svg   draw SQNR against bits an element\n"
    "      --long            every counter for each tensor too, and those of blocks and scales\n"
    "      --percent         counts as percentages of the elements\n"
    "      --json            as JSON, with every counter\n" FILE_HELP CLI_ROUNDING_HELP "\n"
    "Examples: fpemu compare weights.npy bf16 e4m3fn e5m2 e2m1:saturate 'fixed(8,7)'\n"
    "          fpemu compare model.safetensors e4m3fn e5m2 e3m2 --tensors '*.weight' --min-sqnr 25\n";

static const struct option options[] = {{"axis", required_argument, NULL, CLI_OPT_AXIS},
                                        {"min-sqnr", required_argument, NULL, CLI_OPT_MIN_SQNR},
                                        {"plot", required_argument, NULL, CLI_OPT_PLOT},
                                        {"long", no_argument, NULL, CLI_OPT_LONG},
                                        {"percent", no_argument, NULL, CLI_OPT_PERCENT},
                                        {"json", no_argument, NULL, CLI_OPT_JSON},
                                        FILE_LONG,
                                        CLI_ROUNDING_LONG,
                                        CLI_HELP_LONG,
                                        {0}};

/* What a format does to a tensor, or to all. */
typedef struct cell {
    fpemu_stats stats;
    double relative_error;
    double bits; /* an element */
    bool packed; /* as 'fpemu pack' stores it; else of the format by itself */
} cell;

typedef struct candidate {
    const char *spec; /* as it was given */
    char text[CLI_SPEC_SIZE];
    fpemu_format format;
    cell total;
} candidate;

typedef struct job {
    file in;
    fpemu_rounding rounding;
    candidate *candidate;
    size_t candidates;
    int axis;
    cell *cell; /* of tensor i and format k at [i * candidates + k] */
    bool has_threshold, percent, all_counters;
    double threshold; /* dB */
} job;

/* ------------------------------------------------------------------------------------------------- measuring */

/* The largest |x - y| / |x| over finite x other than 0 with finite y. Binary32 data: any other pair makes the quotient
 * infinite or NaN, and no pair that counts does. */
static double worst_relative_f32(size_t n, const float *x, const float *y, double worst)
{
    for (size_t i = 0; i < n; i++) {
        const double d = fabs((double)x[i] - (double)y[i]) / fabs((double)x[i]);
        worst = d > worst && d < (double)INFINITY ? d : worst;
    }
    return worst;
}

static double worst_relative_f64(size_t n, const double *x, const double *y, double worst)
{
    for (size_t i = 0; i < n; i++) {
        if (isfinite(x[i]) && x[i] != 0 && isfinite(y[i])) {
            const double d = fabs(x[i] - y[i]) / fabs(x[i]);
            worst = d > worst ? d : worst;
        }
    }
    return worst;
}

static bool needs_binary64(const tensor *t, const candidate *k)
{
    return t->type->format == FPEMU_NAME_BINARY64 || !fpemu_format_fits_f32(&k->format);
}

static fpemu_rounding rounding_of(const job *j, size_t i)
{
    fpemu_rounding rounding = j->rounding;
    rounding.stream += i;
    return rounding;
}

static void add_error(cell *c, size_t n, bool binary64, const void *x, const void *y)
{
    c->relative_error =
        binary64 ? worst_relative_f64(n, x, y, c->relative_error) : worst_relative_f32(n, x, y, c->relative_error);
}

/* One piece of a tensor through one format; y is room for the result. */
static void measure(cell *c, const candidate *k, const partition *a, const fpemu_rounding *rounding, const walk *w,
                    bool binary64, void *y)
{
    const void *x = binary64 ? (const void *)w->x64 : (const void *)w->x32;
    cli_check(partition_quantize(a, &k->format, rounding, w->index, w->count, binary64, x, y, &c->stats), k->spec);
    add_error(c, w->count, binary64, x, y);
}

/* What formats with a scale of the whole tensor need to know of it. */
static void measure_ranges(job *j, size_t i, partition *partitions)
{
    const tensor *t = &j->in.model.tensor[i];
    bool any = false;
    for (size_t k = 0; k < j->candidates; k++) {
        any |= partitions[k].needs_range;
    }
    if (!any) {
        return;
    }
    const bool wide = t->type->format == FPEMU_NAME_BINARY64;
    walk w = walk_begin(&j->in, i, !wide, true, 1, UINT64_MAX);
    while (walk_next(&w)) {
        for (size_t k = 0; k < j->candidates; k++) {
            const candidate *c = &j->candidate[k];
            const bool binary64 = needs_binary64(t, c);
            if (partitions[k].needs_range) {
                const void *x = binary64 ? (const void *)w.x64 : (const void *)w.x32;
                cli_check(partition_measure(&partitions[k], &c->format, w.count, binary64, x), c->spec);
            }
        }
    }
    walk_end(&w);
}

/* Formats go through the file together where pieces suit them all: multiples of 4096 elements, so that error sums do
 * not depend on which formats stand beside. Gives such a multiple, and which formats take it. */
static uint64_t share_pieces(const job *j, const partition *partitions, bool *shared)
{
    uint64_t unit = 4096;
    for (size_t k = 0; k < j->candidates; k++) {
        const uint64_t common = partition_common(unit, partitions[k].unit);
        shared[k] = partitions[k].flat && !partitions[k].boxes && common <= FILE_PIECE;
        unit = shared[k] ? common : unit;
    }
    return unit;
}

static void compare_together(job *j, size_t i, const partition *partitions, const bool *shared, uint64_t unit, progress *bar)
{
    const tensor *t = &j->in.model.tensor[i];
    const fpemu_rounding rounding = rounding_of(j, i);
    bool want32 = false, want64 = false;
    for (size_t k = 0; k < j->candidates; k++) {
        want64 |= shared[k] && needs_binary64(t, &j->candidate[k]);
        want32 |= shared[k] && !needs_binary64(t, &j->candidate[k]);
    }
    if (!want32 && !want64) {
        progress_advance(bar, t->count);
        return;
    }
    walk w = walk_begin(&j->in, i, want32, want64, unit, UINT64_MAX);
    double *y = cli_allocate(w.room, sizeof *y);
    while (walk_next(&w)) {
        for (size_t k = 0; k < j->candidates; k++) {
            const candidate *c = &j->candidate[k];
            if (shared[k]) {
                measure(&j->cell[i * j->candidates + k], c, &partitions[k], &rounding, &w, needs_binary64(t, c), y);
            }
        }
        progress_advance(bar, w.count);
    }
    walk_end(&w);
    free(y);
}

static void compare_boxes(job *j, size_t i, size_t k, const partition *a)
{
    const candidate *c = &j->candidate[k];
    const fpemu_rounding rounding = rounding_of(j, i);
    const bool binary64 = needs_binary64(&j->in.model.tensor[i], c);
    cell *to = &j->cell[i * j->candidates + k];
    box_walk b = box_walk_begin(&j->in, i, a, binary64);
    double *y = cli_allocate(b.room, sizeof *y);
    while (box_walk_next(&b)) {
        const void *x = binary64 ? (const void *)b.x64 : (const void *)b.x32;
        cli_check(partition_quantize_box(a, &c->format, &rounding, &b.box, binary64, x, y, &to->stats), c->spec);
        add_error(to, b.count, binary64, x, y);
    }
    box_walk_end(&b);
    free(y);
}

/* A format whose blocks ask for pieces of their own. */
static void compare_alone(job *j, size_t i, size_t k, const partition *a)
{
    const candidate *c = &j->candidate[k];
    const fpemu_rounding rounding = rounding_of(j, i);
    const bool binary64 = needs_binary64(&j->in.model.tensor[i], c);
    walk w = walk_begin(&j->in, i, !binary64, binary64, a->unit, a->period);
    double *y = cli_allocate(w.room, sizeof *y);
    while (walk_next(&w)) {
        measure(&j->cell[i * j->candidates + k], c, a, &rounding, &w, binary64, y);
    }
    walk_end(&w);
    free(y);
}

static void compare_tensor(job *j, size_t i, progress *bar)
{
    partition *partitions = cli_allocate(j->candidates, sizeof *partitions);
    bool *shared = cli_allocate(j->candidates, sizeof *shared), again = false;
    for (size_t k = 0; k < j->candidates; k++) {
        const fpemu_format *format = &j->candidate[k].format;
        report_want(&j->cell[i * j->candidates + k].stats, format);
        partitions[k] = partition_of(&j->in, i, format, &j->rounding, j->axis);
        again |= partitions[k].needs_range;
    }
    const uint64_t unit = share_pieces(j, partitions, shared);
    for (size_t k = 0; k < j->candidates; k++) {
        again |= !shared[k];
    }
    if (again && !j->in.model.walkable) {
        file_keep(&j->in);
    }
    measure_ranges(j, i, partitions);
    compare_together(j, i, partitions, shared, unit, bar);
    for (size_t k = 0; k < j->candidates; k++) {
        if (!shared[k] && partitions[k].boxes) {
            compare_boxes(j, i, k, &partitions[k]);
        } else if (!shared[k]) {
            compare_alone(j, i, k, &partitions[k]);
        }
    }
    for (size_t k = 0; k < j->candidates; k++) {
        cell *c = &j->cell[i * j->candidates + k];
        c->bits = partition_bits(&j->in, i, &j->candidate[k].format, j->axis, &c->packed);
    }
    free(shared);
    free(partitions);
}

static void add_up(job *j)
{
    for (size_t k = 0; k < j->candidates; k++) {
        cell *total = &j->candidate[k].total;
        double bits = 0, elements = 0;
        report_want(&total->stats, &j->candidate[k].format);
        total->packed = true;
        for (size_t i = 0; i < j->in.model.count; i++) {
            const cell *c = &j->cell[i * j->candidates + k];
            const double count = (double)j->in.model.tensor[i].count;
            if (j->in.chosen[i]) {
                cli_check(fpemu_stats_merge(&total->stats, &c->stats), j->candidate[k].spec);
                total->relative_error = fmax(total->relative_error, c->relative_error);
                total->packed = total->packed && c->packed;
                bits += count * c->bits;
                elements += count;
            }
        }
        total->bits = elements > 0 ? bits / elements : fpemu_format_bits_per_element(&j->candidate[k].format);
    }
}

static void compare_file(job *j)
{
    const double zero = 0; /* shows, also for an empty file, whether formats and rounding are accepted */
    for (size_t k = 0; k < j->candidates; k++) {
        double y;
        cli_check(fpemu_quantize_f64(&j->candidate[k].format, &j->rounding, 1, &zero, &y, NULL), j->candidate[k].spec);
    }
    j->cell = cli_allocate(j->in.model.count * j->candidates, sizeof *j->cell);
    progress bar = progress_start("compare", j->in.chosen_elements);
    for (size_t i = 0; i < j->in.model.count; i++) {
        if (j->in.chosen[i]) {
            compare_tensor(j, i, &bar);
        }
    }
    progress_hide();
    add_up(j);
}

/* Whether numbers became NaN or infinities, which the error sums leave out. */
static bool loses_numbers(const candidate *c, const fpemu_stats *s)
{
    const fpemu_format *f = &c->format;
    const bool ends = f->kind == FPEMU_KIND_FLOAT && f->scaling == FPEMU_SCALING_NONE &&
                      f->specials != FPEMU_SPECIALS_FINITE && f->overflow <= FPEMU_OVERFLOW_IEEE;
    return s->invalid > 0 || (ends && s->overflow > 0);
}

/* The format with the fewest bits that keeps the threshold, of several the one that keeps more; NULL if none does. Over
 * the cells of one tensor, or, for NULL, over all. */
static const candidate *cheapest(const job *j, const cell *first)
{
    const candidate *best = NULL;
    double best_db = 0, best_bits = 0;
    for (size_t k = 0; k < j->candidates; k++) {
        const candidate *c = &j->candidate[k];
        const cell *here = first != NULL ? &first[k] : &c->total;
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

static const char *spec_of(const candidate *c)
{
    return c != NULL ? c->text : "-";
}

/* If every tensor took its cheapest format, and those without one stayed as they are. */
typedef struct mixture {
    double bits; /* an element */
    size_t none; /* tensors without one */
} mixture;

static mixture mix(const job *j)
{
    mixture m = {0};
    double elements = 0;
    for (size_t i = 0; i < j->in.model.count; i++) {
        const tensor *t = &j->in.model.tensor[i];
        if (j->in.chosen[i]) {
            const cell *first = &j->cell[i * j->candidates];
            const candidate *c = cheapest(j, first);
            m.bits += (double)t->count * (c != NULL ? first[c - j->candidate].bits : 8 * t->type->size);
            m.none += c == NULL;
            elements += (double)t->count;
        }
    }
    m.bits = elements > 0 ? m.bits / elements : 0;
    return m;
}

/* ------------------------------------------------------------------------------------------------- as a table */

static int spec_width(const job *j, int least)
{
    for (size_t k = 0; k < j->candidates; k++) {
        const int length = (int)strlen(j->candidate[k].text);
        least = length > least ? length : least;
    }
    return least;
}

/* A row for each format, of one tensor, or for NULL of all; and with --long those of formats with blocks. */
static void print_formats(const job *j, const cell *first)
{
    const int width = spec_width(j, 6);
    bool blocks = false;
    report_heading(width, "format", "bits");
    for (size_t k = 0; k < j->candidates; k++) {
        const candidate *c = &j->candidate[k];
        const cell *here = first != NULL ? &first[k] : &c->total;
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
        const candidate *c = &j->candidate[k];
        if (c->format.scaling != FPEMU_SCALING_NONE) {
            report_block_row(width, c->text, first != NULL ? &first[k].stats : &c->total.stats);
        }
    }
}

static void print_ratios(const job *j, int width, const char *name, const tensor *t, const cell *first)
{
    char shape[FILE_SHAPE_SIZE] = "";
    printf("%-*s  %-7s  %-14s", width, name, t != NULL ? t->type->name : "",
           t != NULL ? file_shape_text(shape, t) : "");
    for (size_t k = 0; k < j->candidates; k++) {
        const candidate *c = &j->candidate[k];
        char db[REPORT_DB_SIZE];
        printf("  %*s", spec_width(&(job){.candidate = &j->candidate[k], .candidates = 1}, 6),
               report_db(db, fpemu_stats_sqnr(first != NULL ? &first[k].stats : &c->total.stats)));
    }
    if (j->has_threshold) {
        printf("  %s", spec_of(cheapest(j, first)));
    }
    putchar('\n');
}

/* SQNR: a row for each tensor, a column for each format. */
static void print_tensors(const job *j)
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
static void print_long(const job *j)
{
    for (size_t i = 0; i < j->in.model.count; i++) {
        if (j->in.chosen[i]) {
            char name[FILE_NAME_SIZE];
            printf("\n%s\n", file_name_text(name, &j->in.model.tensor[i]));
            print_formats(j, &j->cell[i * j->candidates]);
        }
    }
}

static void print_threshold(const job *j)
{
    char db[NUMBER_SIZE];
    const candidate *c = cheapest(j, NULL);
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

static void print_nominal(const job *j)
{
    for (size_t k = 0; k < j->candidates; k++) {
        if (!j->candidate[k].total.packed) {
            puts("* bits of the format by itself: some of these numbers cannot be packed");
            return;
        }
    }
}

static void print_tables(const job *j)
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

static json_t *json_cell(const candidate *k, const cell *c)
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

static json_t *json_cheapest(const job *j, const cell *first)
{
    const candidate *c = cheapest(j, first);
    return jsonout_text(c != NULL ? c->text : NULL);
}

static json_t *json_tensors(const job *j)
{
    json_t *list = jsonout_array();
    for (size_t i = 0; i < j->in.model.count; i++) {
        if (j->in.chosen[i]) {
            const cell *first = &j->cell[i * j->candidates];
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

static void print_json(const job *j)
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

static void draw(const job *j, const char *path)
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

/* --------------------------------------------------------------------------------------------------- command */

int cmd_compare(int argc, char **argv)
{
    cli c = cli_start(argc, argv, help);
    cli_rounding asked = {0};
    file_options files = {0};
    job j = {.axis = -1};
    bool has_axis = false, has_blocks = false;
    const char *plot = NULL;
    bool json = false;
    for (int option; (option = cli_next(&c, CLI_ROUNDING_SHORT, options)) != -1;) {
        if (option == CLI_OPT_PERCENT) {
            j.percent = true;
        } else if (option == CLI_OPT_JSON) {
            json = true;
        } else if (option == CLI_OPT_LONG) {
            j.all_counters = true;
        } else if (option == CLI_OPT_PLOT) {
            plot = output_path(optarg);
        } else if (option == CLI_OPT_AXIS) {
            j.axis = partition_axis(optarg);
            has_axis = true;
        } else if (option == CLI_OPT_MIN_SQNR) {
            j.has_threshold = number_read_f64(optarg, &j.threshold) && isfinite(j.threshold);
            if (!j.has_threshold) {
                cli_usage("--min-sqnr: '%s' is no number of dB", optarg);
            }
        } else if (!cli_rounding_take(&asked, option, optarg)) {
            file_take(&files, option, optarg);
        }
    }
    cli_expect_operands(&c, 2, -1, "IN SPEC...");
    file_check(&files);
    j.candidates = (size_t)c.operands - 1;
    j.candidate = cli_allocate(j.candidates, sizeof *j.candidate);
    for (size_t k = 0; k < j.candidates; k++) {
        candidate *to = &j.candidate[k];
        to->spec = c.operand[k + 1];
        to->format = cli_format(to->spec);
        cli_spec(&to->format, to->text);
        has_blocks |= to->format.scaling != FPEMU_SCALING_NONE;
    }
    if (has_axis && !has_blocks) {
        cli_usage("--axis is for formats with blocks, and none of these has any");
    }
    j.rounding = cli_rounding_get(&asked);

    j.in = file_open(c.operand[0], &files);
    file_expect_tensors(&j.in);
    compare_file(&j);
    if (plot != NULL) {
        draw(&j, plot);
    }
    if (json) {
        print_json(&j);
    } else {
        print_tables(&j);
    }
    for (size_t i = 0; i < j.in.model.count * j.candidates; i++) {
        report_free(&j.cell[i].stats);
    }
    for (size_t k = 0; k < j.candidates; k++) {
        report_free(&j.candidate[k].total.stats);
    }
    file_close(&j.in);
    free(j.cell);
    free(j.candidate);
    return CLI_OK;
}
