/* SPDX-License-Identifier: BSD-2-Clause */
/* compare.c - fpemu compare: what several formats do to the tensors of a file. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/error.h"
#include "cli/number.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/rounding.h"
#include "cli/spec.h"
#include "commands/commands.h"
#include "files/box_walk.h"
#include "files/file.h"
#include "files/output.h"
#include "files/partition.h"
#include "reports/choice.h"
#include "reports/comparison.h"
#include "reports/report.h"

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
    "                        -2, ... (default: -1)\n" GIVEN_HELP
    "      --min-sqnr DB     name, for each tensor, the format with the fewest bits that keeps at\n"
    "                        least so many dB\n"
    "      --max-bits B      choose a format for each tensor such that the error over all of them is\n"
    "                        the least within B bits an element\n"
    "      --write-plan FILE write what --min-sqnr or --max-bits chose, for 'fpemu quantize' and\n"
    "                        'fpemu pack' to follow\n"
    "      --plot FILE.svg   draw SQNR against bits an element; with --max-bits also the line of the\n"
    "                        best choices\n"
    "      --long            every counter for each tensor too, and those of blocks and scales\n"
    "      --percent         counts as percentages of the elements\n"
    "      --json            as JSON, with every counter\n" FILE_HELP CLI_ROUNDING_HELP "\n"
    "Examples: fpemu compare weights.npy bf16 e4m3fn e5m2 e2m1:saturate 'fixed(8,7)'\n"
    "          fpemu compare model.safetensors e4m3fn e5m2 e3m2 --min-dims 2 --min-sqnr 25\n";

static const struct option options[] = {{"axis", required_argument, NULL, CLI_OPT_AXIS},
                                        {"min-sqnr", required_argument, NULL, CLI_OPT_MIN_SQNR},
                                        {"max-bits", required_argument, NULL, CLI_OPT_MAX_BITS},
                                        {"write-plan", required_argument, NULL, CLI_OPT_WRITE_PLAN},
                                        {"plot", required_argument, NULL, CLI_OPT_PLOT},
                                        {"long", no_argument, NULL, CLI_OPT_LONG},
                                        {"percent", no_argument, NULL, CLI_OPT_PERCENT},
                                        {"json", no_argument, NULL, CLI_OPT_JSON},
                                        GIVEN_LONG,
                                        FILE_LONG,
                                        CLI_ROUNDING_LONG,
                                        CLI_HELP_LONG,
                                        {0}};

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

static fpemu_rounding rounding_of(const comparison *j, size_t i)
{
    fpemu_rounding rounding = j->rounding;
    rounding.stream += i;
    return rounding;
}

static void add_error(comparison_cell *c, const fpemu_format *format, size_t n, bool binary64, const void *x,
                      const void *y)
{
    loss_look(&c->signs, format, n, binary64, x);
    c->relative_error =
        binary64 ? worst_relative_f64(n, x, y, c->relative_error) : worst_relative_f32(n, x, y, c->relative_error);
}

/* One piece of a tensor through one format; y is room for the result. */
static void measure(comparison_cell *c, const comparison_format *k, const partition *a, const fpemu_rounding *rounding,
                    const walk *w, bool binary64, void *y)
{
    const void *x = binary64 ? (const void *)w->x64 : (const void *)w->x32;
    cli_check(partition_quantize(a, &k->format, rounding, w->index, w->count, binary64, x, y, &c->stats), k->spec);
    add_error(c, &k->format, w->count, binary64, x, y);
}

/* What formats with a scale of the whole tensor need to know of it. */
static void measure_ranges(comparison *j, size_t i, partition *partitions)
{
    const tensor *t = &j->in.model.tensor[i];
    bool any = false;
    for (size_t k = 0; k < j->candidates; k++)
        any |= partitions[k].needs_range;
    if (!any)
        return;
    const bool wide = t->type->format == FPEMU_NAME_BINARY64;
    walk w = walk_begin(&j->in, i, !wide, true, 1, UINT64_MAX);
    while (walk_next(&w)) {
        for (size_t k = 0; k < j->candidates; k++) {
            const comparison_format *c = &j->candidate[k];
            const bool binary64 = dtype_needs_binary64(t->type, &c->format);
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
static uint64_t share_pieces(const comparison *j, const partition *partitions, bool *shared)
{
    uint64_t unit = 4096;
    for (size_t k = 0; k < j->candidates; k++) {
        const uint64_t common = partition_common(unit, partitions[k].unit);
        shared[k] = partitions[k].as_vector && !partitions[k].boxes && common <= FILE_PIECE;
        unit = shared[k] ? common : unit;
    }
    return unit;
}

static void compare_together(comparison *j, size_t i, const partition *partitions, const bool *shared, uint64_t unit,
                             progress *bar)
{
    const tensor *t = &j->in.model.tensor[i];
    const fpemu_rounding rounding = rounding_of(j, i);
    bool want32 = false, want64 = false;
    uint64_t formats = 0;
    for (size_t k = 0; k < j->candidates; k++) {
        formats += shared[k];
        want64 |= shared[k] && dtype_needs_binary64(t->type, &j->candidate[k].format);
        want32 |= shared[k] && !dtype_needs_binary64(t->type, &j->candidate[k].format);
    }
    if (!want32 && !want64)
        return;
    walk w = walk_begin(&j->in, i, want32, want64, unit, UINT64_MAX);
    double *y = cli_allocate(w.room, sizeof *y);
    while (walk_next(&w)) {
        for (size_t k = 0; k < j->candidates; k++) {
            const comparison_format *c = &j->candidate[k];
            if (shared[k]) {
                measure(&j->cell[i * j->candidates + k], c, &partitions[k], &rounding, &w,
                        dtype_needs_binary64(t->type, &c->format), y);
            }
        }
        progress_advance(bar, formats * w.count);
    }
    walk_end(&w);
    free(y);
}

static void compare_boxes(comparison *j, size_t i, size_t k, const partition *a, progress *bar)
{
    const comparison_format *c = &j->candidate[k];
    const fpemu_rounding rounding = rounding_of(j, i);
    const bool binary64 = dtype_needs_binary64(j->in.model.tensor[i].type, &c->format);
    comparison_cell *to = &j->cell[i * j->candidates + k];
    box_walk b = box_walk_begin(&j->in, i, a, binary64);
    double *y = cli_allocate(b.room, sizeof *y);
    while (box_walk_next(&b)) {
        const void *x = binary64 ? (const void *)b.x64 : (const void *)b.x32;
        cli_check(partition_quantize_box(a, &c->format, &rounding, &b.box, binary64, x, y, &to->stats), c->spec);
        add_error(to, &c->format, b.count, binary64, x, y);
        progress_advance(bar, b.count);
    }
    box_walk_end(&b);
    free(y);
}

/* A format whose blocks ask for pieces of their own. */
static void compare_alone(comparison *j, size_t i, size_t k, const partition *a, progress *bar)
{
    const comparison_format *c = &j->candidate[k];
    const fpemu_rounding rounding = rounding_of(j, i);
    const bool binary64 = dtype_needs_binary64(j->in.model.tensor[i].type, &c->format);
    walk w = walk_begin(&j->in, i, !binary64, binary64, a->unit, a->period);
    double *y = cli_allocate(w.room, sizeof *y);
    while (walk_next(&w)) {
        measure(&j->cell[i * j->candidates + k], c, a, &rounding, &w, binary64, y);
        progress_advance(bar, w.count);
    }
    walk_end(&w);
    free(y);
}

static void compare_tensor(comparison *j, size_t i, progress *bar)
{
    partition *partitions = cli_allocate(j->candidates, sizeof *partitions);
    bool *shared = cli_allocate(j->candidates, sizeof *shared), again = false;
    for (size_t k = 0; k < j->candidates; k++) {
        comparison_format *c = &j->candidate[k];
        c->format = c->plain;
        partitions[k] = given_partition(&c->given, &j->in, i, &c->format, c->spec, &j->rounding, j->axis);
        report_want(&j->cell[i * j->candidates + k].stats, &c->format);
        again |= partitions[k].needs_range;
    }
    const uint64_t unit = share_pieces(j, partitions, shared);
    for (size_t k = 0; k < j->candidates; k++)
        again |= !shared[k];
    if (again && !j->in.model.walkable)
        file_keep(&j->in);
    measure_ranges(j, i, partitions);
    compare_together(j, i, partitions, shared, unit, bar);
    for (size_t k = 0; k < j->candidates; k++)
        if (!shared[k] && partitions[k].boxes)
            compare_boxes(j, i, k, &partitions[k], bar);
        else if (!shared[k])
            compare_alone(j, i, k, &partitions[k], bar);
    for (size_t k = 0; k < j->candidates; k++) {
        comparison_cell *c = &j->cell[i * j->candidates + k];
        c->bits = partition_bits(&j->in, i, &j->candidate[k].plain, j->axis, &c->packed);
        c->packed = c->packed && j->candidate[k].given.scale_text == NULL; /* nor are given scales counted */
    }
    free(shared);
    free(partitions);
}

static void add_up(comparison *j)
{
    for (size_t k = 0; k < j->candidates; k++) {
        comparison_cell *total = &j->candidate[k].total;
        const loss_ends ends = loss_find_ends(&j->candidate[k].format, &j->rounding);
        double bits = 0, elements = 0;
        loss lost = {0};
        report_want(&total->stats, &j->candidate[k].format);
        total->packed = true;
        for (size_t i = 0; i < j->in.model.count; i++) {
            comparison_cell *c = &j->cell[i * j->candidates + k];
            const double count = (double)j->in.model.tensor[i].count;
            if (j->in.chosen[i]) {
                loss_add(&lost, &j->in.model.tensor[i], j->candidate[k].text, &j->candidate[k].format, &j->rounding,
                         &c->stats, &c->signs);
                c->lost = c->stats.invalid + loss_overflowed(ends, &c->stats, &c->signs);
                total->lost += c->lost;
                cli_check(fpemu_stats_merge(&total->stats, &c->stats), j->candidate[k].spec);
                total->relative_error = fmax(total->relative_error, c->relative_error);
                total->packed = total->packed && c->packed;
                bits += count * c->bits;
                elements += count;
            }
        }
        total->bits = elements > 0 ? bits / elements : fpemu_format_bits_per_element(&j->candidate[k].format);
        loss_tell(&lost, "compare");
    }
}

/* Every format has seen the same data. */
static void tell_not_finite(const comparison *j)
{
    const fpemu_stats *s = &j->candidate[0].total.stats;
    if (s->nan + s->infinite > 0) {
        fprintf(stderr,
                "fpemu: compare: %" PRIu64 " of %" PRIu64 " elements are NaN or infinite: SQNR and max-rel tell "
                "of the others\n",
                s->nan + s->infinite, s->count);
    }
}

static void compare_file(comparison *j)
{
    for (size_t k = 0; k < j->candidates; k++)
        cli_check_use(&j->candidate[k].format, &j->rounding, true, FPEMU_USE_QUANTIZE, j->candidate[k].spec);
    j->cell = cli_allocate(j->in.model.count * j->candidates, sizeof *j->cell);
    progress bar = progress_start("compare", j->in.chosen_elements * j->candidates);
    for (size_t i = 0; i < j->in.model.count; i++)
        if (j->in.chosen[i])
            compare_tensor(j, i, &bar);
    progress_hide();
    add_up(j);
    tell_not_finite(j);
}

/* --------------------------------------------------------------------------------------------------- command */

/* Whether any has blocks. */
static bool read_formats(comparison *j, char **specs, size_t count)
{
    bool has_blocks = false;
    j->candidates = count;
    j->candidate = cli_allocate(count, sizeof *j->candidate);
    for (size_t k = 0; k < count; k++) {
        comparison_format *to = &j->candidate[k];
        to->spec = specs[k];
        to->format = to->plain = cli_format(to->spec);
        cli_spec(&to->format, to->text);
        has_blocks |= to->format.scaling != FPEMU_SCALING_NONE;
    }
    return has_blocks;
}

static void free_comparison(comparison *j)
{
    for (size_t i = 0; i < j->in.model.count * j->candidates; i++)
        report_free(&j->cell[i].stats);
    for (size_t k = 0; k < j->candidates; k++) {
        report_free(&j->candidate[k].total.stats);
        given_close(&j->candidate[k].given);
    }
    file_close(&j->in);
    free(j->cell);
    free(j->candidate);
}

static void check_choice(const comparison *j, const char *plan)
{
    if (j->has_threshold && j->has_limit)
        cli_usage("compare: --min-sqnr and --max-bits choose differently; give one of them");
    if (plan != NULL && !j->has_threshold && !j->has_limit)
        cli_usage("compare: --write-plan writes what --min-sqnr or --max-bits choose; give one of them");
    output_refuse_standard("--write-plan", plan, "the tables go there; name a file for the plan");
}

int cmd_compare(int argc, char **argv)
{
    cli c = cli_start(argc, argv, help);
    cli_rounding asked = {0};
    file_options files = {0};
    comparison j = {.axis = -1};
    given given = {0};
    bool has_axis = false, json = false;
    const char *plot = NULL, *plan = NULL;
    for (int option; (option = cli_next(&c, CLI_ROUNDING_SHORT, options)) != -1;) {
        if (option == CLI_OPT_PERCENT) {
            j.percent = true;
        } else if (option == CLI_OPT_JSON) {
            json = true;
        } else if (option == CLI_OPT_LONG) {
            j.all_counters = true;
        } else if (option == CLI_OPT_PLOT) {
            plot = output_plot_path(optarg);
        } else if (option == CLI_OPT_AXIS) {
            j.axis = partition_axis(optarg);
            has_axis = true;
        } else if (option == CLI_OPT_MIN_SQNR) {
            j.has_threshold = number_read_f64(optarg, &j.threshold) && isfinite(j.threshold);
            if (!j.has_threshold)
                cli_usage("--min-sqnr: '%s' is no number of dB", optarg);
        } else if (option == CLI_OPT_MAX_BITS) {
            j.has_limit = number_read_f64(optarg, &j.limit) && isfinite(j.limit) && j.limit > 0;
            if (!j.has_limit)
                cli_usage("--max-bits: '%s' is no number of bits above zero", optarg);
        } else if (option == CLI_OPT_WRITE_PLAN) {
            plan = optarg;
        } else if (!given_take(&given, option, optarg) && !cli_rounding_take(&asked, option, optarg)) {
            file_take(&files, option, optarg);
        }
    }
    cli_expect_operands(&c, 2, -1, "IN SPEC...");
    file_check(&files);
    check_choice(&j, plan);
    output_refuse_same("--write-plan", plan, "the file of --plot", plot);
    if (!read_formats(&j, c.operand + 1, (size_t)c.operands - 1) && has_axis)
        cli_usage("--axis is for formats with blocks, and none of these has any");
    j.rounding = cli_rounding_get(&asked);

    j.in = file_open(c.operand[0], &files);
    file_expect_tensors(&j.in);
    file_expect_numbers(&j.in);
    file_refuse_output(&j.in, "--plot", plot);
    file_refuse_output(&j.in, "--write-plan", plan);
    cli_refuse_tables("--plot", plot);
    cli_refuse_tables("--write-plan", plan);
    for (size_t k = 0; k < j.candidates; k++) {
        j.candidate[k].given = given;
        given_open(&j.candidate[k].given, &j.in, NULL);
        given_refuse_output(&j.candidate[k].given, "--plot", plot);
        given_refuse_output(&j.candidate[k].given, "--write-plan", plan);
    }
    compare_file(&j);
    choice chosen = {0};
    if (j.has_threshold || j.has_limit) {
        chosen = j.has_threshold ? choice_by_threshold(&j) : choice_within_bits(&j, j.limit);
        j.chosen = &chosen;
    }
    if (plan != NULL)
        choice_write_plan(&j, &chosen, plan);
    if (plot != NULL)
        comparison_plot(&j, plot);
    if (json)
        comparison_print_json(&j);
    else
        comparison_print(&j);
    choice_free(&chosen);
    free_comparison(&j);
    return CLI_OK;
}
