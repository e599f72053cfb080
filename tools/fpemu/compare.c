/* compare.c - fpemu compare: what several formats do to an array file, a row for each. */
#include "cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "commands.h"
#include "jsonout.h"
#include "number.h"
#include "progress.h"

static const char help[] =
    "Usage: fpemu compare IN SPEC... [OPTION...]\n"
    "Rounds the elements of an array file (.npy with float32 or float64, or raw) to every format\n"
    "and prints a row for each: bits an element, signal to quantisation noise in dB, the largest\n"
    "relative error, and how many elements were clipped, overflowed, became zero (underflow),\n"
    "became subnormal, or became NaN for want of a value (invalid). Elements whose\n"
    "result is no finite number are in none of the errors. The file is read once, in bounded\n"
    "memory. IN may be '-', standard input.\n"
    "\n"
    "      --percent         counts as percentages of the elements\n"
    "      --json            as JSON, with every counter\n" ARRAY_RAW_HELP CLI_ROUNDING_HELP
    "\n"
    "Example: fpemu compare weights.npy bf16 e4m3fn e5m2 e2m1:saturate 'fixed(8,7)'\n";

static const struct option options[] = {{"percent", no_argument, NULL, CLI_OPT_PERCENT},
                                        {"json", no_argument, NULL, CLI_OPT_JSON},
                                        ARRAY_RAW_LONG,
                                        CLI_ROUNDING_LONG,
                                        CLI_HELP_LONG,
                                        {0}};

typedef struct row {
    const char *spec;
    fpemu_format format;
    bool binary64; /* the carrier: that of the file, or binary64 where only that holds the format */
    fpemu_stats stats;
    double relative_error;
} row;

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

/* One piece of the file in the carriers that the rows need, and room for what becomes of it. */
typedef struct piece {
    float *x32, *y32;
    double *x64, *y64;
} piece;

static void take_piece(row *r, const fpemu_rounding *rounding, const piece *p, size_t count)
{
    if (r->binary64) {
        cli_check(fpemu_quantize_f64(&r->format, rounding, count, p->x64, p->y64, &r->stats), r->spec);
        r->relative_error = worst_relative_f64(count, p->x64, p->y64, r->relative_error);
    } else {
        cli_check(fpemu_quantize_f32(&r->format, rounding, count, p->x32, p->y32, &r->stats), r->spec);
        r->relative_error = worst_relative_f32(count, p->x32, p->y32, r->relative_error);
    }
}

static void widen(const float *x, double *y, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        y[i] = (double)x[i];
    }
}

static void compare_file(array_reader *in, fpemu_rounding rounding, row *rows, int count)
{
    const bool wide_file = in->header.item_size == 8;
    bool any_wide = false, any_narrow = false;
    for (int i = 0; i < count; i++) {
        rows[i].binary64 = wide_file || !fpemu_fits_f32(&rows[i].format);
        any_wide |= rows[i].binary64;
        any_narrow |= !rows[i].binary64;
    }
    piece p = {0};
    if (any_wide) {
        p.x64 = cli_allocate(ARRAY_PIECE, sizeof *p.x64);
        p.y64 = cli_allocate(ARRAY_PIECE, sizeof *p.y64);
    }
    if (!wide_file) {
        p.x32 = cli_allocate(ARRAY_PIECE, sizeof *p.x32);
        p.y32 = any_narrow ? cli_allocate(ARRAY_PIECE, sizeof *p.y32) : NULL;
    }
    const double zero = 0; /* shows, also for an empty file, whether formats and rounding are accepted */
    for (int i = 0; i < count; i++) {
        double y;
        cli_check(fpemu_quantize_f64(&rows[i].format, &rounding, 1, &zero, &y, NULL), rows[i].spec);
    }
    progress bar = progress_start("compare", in->header.count);
    for (size_t n; (n = array_read(in, wide_file ? (void *)p.x64 : (void *)p.x32)) > 0;) {
        if (any_wide && !wide_file) {
            widen(p.x32, p.x64, n);
        }
        for (int i = 0; i < count; i++) {
            take_piece(&rows[i], &rounding, &p, n);
        }
        rounding.offset += n;
        progress_advance(&bar, n);
    }
    progress_hide();
    free(p.x32);
    free(p.y32);
    free(p.x64);
    free(p.y64);
}

/* A count, or its share of all. */
static const char *count_text(char text[NUMBER_SIZE], uint64_t count, const fpemu_stats *stats, bool percent)
{
    if (percent) {
        snprintf(text, NUMBER_SIZE, "%.3f%%", stats->count > 0 ? 100.0 * (double)count / (double)stats->count : 0.0);
    } else {
        snprintf(text, NUMBER_SIZE, "%" PRIu64, count);
    }
    return text;
}

static void print_table(const row *rows, int count, bool percent)
{
    int width = 6;
    for (int i = 0; i < count; i++) {
        char spec[CLI_SPEC_SIZE];
        const int length = snprintf(NULL, 0, "%s", cli_spec(&rows[i].format, spec));
        width = length > width ? length : width;
    }
    printf("%-*s  %5s  %8s  %10s  %10s  %10s  %10s  %10s  %8s\n", width, "format", "bits", "SQNR-dB", "max-rel",
           "clipped", "overflow", "underflow", "subnormal", "invalid");
    for (int i = 0; i < count; i++) {
        const fpemu_stats *s = &rows[i].stats;
        char spec[CLI_SPEC_SIZE], clipped[NUMBER_SIZE], overflow[NUMBER_SIZE], underflow[NUMBER_SIZE];
        char subnormal[NUMBER_SIZE], invalid[NUMBER_SIZE], sqnr[NUMBER_SIZE];
        const double db = fpemu_stats_sqnr(s);
        snprintf(sqnr, sizeof sqnr, isnan(db) ? "-" : "%.2f", db);
        printf("%-*s  %5g  %8s  %10.4g  %10s  %10s  %10s  %10s  %8s\n", width, cli_spec(&rows[i].format, spec),
               fpemu_bits_per_element(&rows[i].format), sqnr, rows[i].relative_error,
               count_text(clipped, s->clipped, s, percent), count_text(overflow, s->overflow, s, percent),
               count_text(underflow, s->underflow, s, percent), count_text(subnormal, s->subnormal, s, percent),
               count_text(invalid, s->invalid, s, percent));
    }
}

static void print_json(const array_reader *in, const fpemu_rounding *rounding, const row *rows, int count)
{
    json_t *object = jsonout_object(), *list = jsonout_array(), *shape = jsonout_array();
    for (unsigned i = 0; i < in->header.dimensions; i++) {
        jsonout_append(shape, jsonout_count(in->raw ? in->read : in->header.extent[i]));
    }
    for (int i = 0; i < count; i++) {
        char spec[CLI_SPEC_SIZE];
        json_t *entry = jsonout_object();
        jsonout_set(entry, "spec", jsonout_text(cli_spec(&rows[i].format, spec)));
        jsonout_set(entry, "bits_per_element", jsonout_real(fpemu_bits_per_element(&rows[i].format)));
        jsonout_set(entry, "max_relative_error", jsonout_real(rows[i].relative_error));
        jsonout_stats(entry, &rows[i].stats);
        jsonout_append(list, entry);
    }
    jsonout_set(object, "input", jsonout_text(in->path));
    jsonout_set(object, "type", jsonout_text(in->header.item_size == 8 ? "float64" : "float32"));
    jsonout_set(object, "shape", shape);
    jsonout_set(object, "count", jsonout_count(in->read));
    jsonout_set(object, "rounding", jsonout_rounding(rounding));
    jsonout_set(object, "formats", list);
    jsonout_print(object);
}

int cmd_compare(int argc, char **argv)
{
    cli c = cli_start(argc, argv, help);
    cli_rounding asked = {0};
    array_raw raw = {0};
    bool percent = false, json = false;
    for (int option; (option = cli_next(&c, CLI_ROUNDING_SHORT, options)) != -1;) {
        if (option == CLI_OPT_PERCENT) {
            percent = true;
        } else if (option == CLI_OPT_JSON) {
            json = true;
        } else if (!cli_rounding_take(&asked, option, optarg)) {
            array_raw_take(&raw, option, optarg);
        }
    }
    cli_expect_operands(&c, 2, -1, "IN SPEC...");
    array_raw_check(&raw);
    const int count = c.operands - 1;
    row *rows = cli_allocate((size_t)count, sizeof *rows);
    for (int i = 0; i < count; i++) {
        rows[i].spec = c.operand[i + 1];
        rows[i].format = cli_format(rows[i].spec);
        rows[i].stats.want = FPEMU_SUMS;
    }
    const fpemu_rounding rounding = cli_rounding_get(&asked);

    array_reader in = array_open(c.operand[0], &raw);
    compare_file(&in, rounding, rows, count);
    array_close(&in);
    if (json) {
        print_json(&in, &rounding, rows, count);
    } else {
        print_table(rows, count, percent);
    }
    free(rows);
    return CLI_OK;
}
