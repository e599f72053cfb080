/* SPDX-License-Identifier: BSD-2-Clause */
/* report.c - see report.h */
#include "reports/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error.h"
#include "cli/number.h"
#include "reports/jsonout.h"

int report_name_width(const file *f)
{
    enum { LEAST = 6, MOST = 60 };
    int width = LEAST;
    for (size_t i = 0; i < f->model.count; i++) {
        char name[FILE_NAME_SIZE];
        const int length = (int)strlen(file_name_text(name, &f->model.tensor[i]));
        width = f->chosen[i] && length > width ? length : width;
    }
    return width < MOST ? width : MOST;
}

const char *report_with_format(char text[REPORT_SECOND_SIZE], const char *second, const char *spec, int width)
{
    snprintf(text, REPORT_SECOND_SIZE, "%s  %-*s", second, width, spec);
    return text;
}

void report_heading(int width, const char *first, const char *second)
{
    printf("%-*s  %5s  %8s  %10s  %10s  %10s  %10s  %10s  %8s\n", width, first, second, "SQNR-dB", "max-rel", "clipped",
           "overflow", "underflow", "subnormal", "invalid");
}

/* A count, or its share of all. */
static const char *count_text(char text[NUMBER_SIZE], uint64_t count, const fpemu_stats *stats, bool percent)
{
    if (percent)
        snprintf(text, NUMBER_SIZE, "%.3f%%", stats->count > 0 ? 100.0 * (double)count / (double)stats->count : 0.0);
    else
        snprintf(text, NUMBER_SIZE, "%" PRIu64, count);
    return text;
}

const char *report_db(char text[REPORT_DB_SIZE], double db)
{
    snprintf(text, REPORT_DB_SIZE, isnan(db) ? "-" : "%.2f", db);
    return text;
}

void report_row(int width, const char *first, const char *second, const fpemu_stats *s, double relative_error,
                bool percent)
{
    char clipped[NUMBER_SIZE], overflow[NUMBER_SIZE], underflow[NUMBER_SIZE], subnormal[NUMBER_SIZE];
    char invalid[NUMBER_SIZE], db[REPORT_DB_SIZE], error[NUMBER_SIZE];
    snprintf(error, sizeof error, relative_error < 0 ? "-" : "%.4g", relative_error);
    printf("%-*s  %5s  %8s  %10s  %10s  %10s  %10s  %10s  %8s\n", width, first, second,
           report_db(db, fpemu_stats_sqnr(s)), error, count_text(clipped, s->clipped, s, percent),
           count_text(overflow, s->overflow, s, percent), count_text(underflow, s->underflow, s, percent),
           count_text(subnormal, s->subnormal, s, percent), count_text(invalid, s->invalid, s, percent));
}

/* ------------------------------------------------------------------------------------------------- blocks */

/* Bins for every exponent that a scale of the format has. */
void report_want(fpemu_stats *stats, const fpemu_format *format)
{
    fpemu_format scale;
    stats->request.want = FPEMU_STATS_SUMS;
    if (format == NULL || format->scaling == FPEMU_SCALING_NONE || format->scaling == FPEMU_SCALING_S2FP8)
        return;
    int first = -(1 << format->scale_exponent_bits) / 2, last = -first - 1;
    if (format->scale_power == 0) {
        cli_check(fpemu_format_scale(format, &scale), "scale");
        first = ilogb(fpemu_format_min_positive(&scale));
        last = ilogb(fpemu_format_max(&scale));
    }
    stats->request.want |= FPEMU_STATS_SCALES;
    stats->request.scale_first = first;
    stats->request.scale_length = (uint32_t)(last - first + 3);
    stats->request.scale_histogram = cli_allocate(stats->request.scale_length, sizeof *stats->request.scale_histogram);
}

void report_free(fpemu_stats *stats)
{
    free(stats->request.scale_histogram);
    stats->request.scale_histogram = NULL;
}

void report_merge(fpemu_stats *total, const fpemu_stats *from)
{
    fpemu_stats alike = *from;
    if ((total->request.want & FPEMU_STATS_SCALES) == 0) {
        alike.request.want &= ~(uint32_t)FPEMU_STATS_SCALES;
        alike.request.scale_histogram = NULL;
        alike.request.scale_length = 0;
    }
    cli_check(fpemu_stats_merge(total, &alike), "report");
}

/* Bins of the histogram that are not empty: the first, and one past the last. */
static void used_bins(const fpemu_stats *s, uint32_t *first, uint32_t *end)
{
    const uint32_t length = s->request.scale_histogram != NULL ? s->request.scale_length : 0;
    *first = 0;
    *end = length;
    while (*first < length && s->request.scale_histogram[*first] == 0)
        ++*first;
    while (*end > *first && s->request.scale_histogram[*end - 1] == 0)
        --*end;
}

static int exponent(const fpemu_stats *s, uint32_t bin)
{
    return s->request.scale_first - 1 + (int)bin;
}

enum { SCALES_SIZE = 32 };

/* "2^-9 .. 2^3", "2^-9", "-" */
static const char *scales_text(char text[SCALES_SIZE], const fpemu_stats *s)
{
    uint32_t first, end;
    used_bins(s, &first, &end);
    if (end == first)
        strcpy(text, "-");
    else if (end == first + 1)
        snprintf(text, SCALES_SIZE, "2^%d", exponent(s, first));
    else
        snprintf(text, SCALES_SIZE, "2^%d .. 2^%d", exponent(s, first), exponent(s, end - 1));
    return text;
}

void report_blocks(const fpemu_stats *s, const fpemu_format *format)
{
    char scales[SCALES_SIZE];
    if (format != NULL && format->scaling != FPEMU_SCALING_NONE) {
        printf("%-12s %" PRIu64 ", zero %" PRIu64 ", NaN %" PRIu64 ", with a saturated scale %" PRIu64 "\n", "blocks",
               s->blocks, s->zero_blocks, s->nan_blocks, s->saturated_scales);
        printf("%-12s %s\n", "scales", scales_text(scales, s));
    }
}

void report_block_heading(int width, const char *first)
{
    printf("%-*s  %10s  %10s  %10s  %10s  %s\n", width, first, "blocks", "zero", "NaN", "saturated", "scales");
}

void report_block_row(int width, const char *first, const fpemu_stats *s)
{
    char scales[SCALES_SIZE];
    printf("%-*s  %10" PRIu64 "  %10" PRIu64 "  %10" PRIu64 "  %10" PRIu64 "  %s\n", width, first, s->blocks,
           s->zero_blocks, s->nan_blocks, s->saturated_scales, scales_text(scales, s));
}

void report_json_stats(json_t *object, const fpemu_stats *s, const fpemu_format *format)
{
    jsonout_stats(object, s);
    if (format == NULL || format->scaling == FPEMU_SCALING_NONE)
        return;
    jsonout_set(object, "blocks", jsonout_count(s->blocks));
    jsonout_set(object, "zero_blocks", jsonout_count(s->zero_blocks));
    jsonout_set(object, "nan_blocks", jsonout_count(s->nan_blocks));
    jsonout_set(object, "saturated_scales", jsonout_count(s->saturated_scales));
    if (s->request.scale_histogram != NULL) {
        json_t *histogram = jsonout_object(), *counts = jsonout_array();
        uint32_t first, end;
        used_bins(s, &first, &end);
        for (uint32_t bin = first; bin < end; bin++)
            jsonout_append(counts, jsonout_count(s->request.scale_histogram[bin]));
        jsonout_set(histogram, "first", end > first ? jsonout_integer(exponent(s, first)) : json_null());
        jsonout_set(histogram, "counts", counts);
        jsonout_set(object, "scale_histogram", histogram);
    }
}

/* --------------------------------------------------------------------------------------------------- JSON */

json_t *report_json_tensor(const tensor *t)
{
    json_t *entry = jsonout_object(), *shape = jsonout_array();
    for (unsigned i = 0; i < t->dimensions; i++)
        jsonout_append(shape, jsonout_count(t->extent[i]));
    jsonout_set(entry, "name", jsonout_text(t->name));
    jsonout_set(entry, "dtype", jsonout_text(model_type_text(t)));
    jsonout_set(entry, "shape", shape);
    return entry;
}

json_t *report_json_left_out(const file *f)
{
    json_t *list = jsonout_array();
    for (size_t i = 0; i < f->model.count; i++)
        if (!f->chosen[i])
            jsonout_append(list, report_json_tensor(&f->model.tensor[i]));
    return list;
}
