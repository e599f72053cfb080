/* report.c - see report.h */
#include "cli.h"

#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "jsonout.h"
#include "number.h"

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

void report_heading(int width, const char *first, const char *second)
{
    printf("%-*s  %5s  %8s  %10s  %10s  %10s  %10s  %10s  %8s\n", width, first, second, "SQNR-dB", "max-rel", "clipped",
           "overflow", "underflow", "subnormal", "invalid");
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

json_t *report_json_tensor(const tensor *t)
{
    json_t *entry = jsonout_object(), *shape = jsonout_array();
    for (unsigned i = 0; i < t->dimensions; i++) {
        jsonout_append(shape, jsonout_count(t->extent[i]));
    }
    jsonout_set(entry, "name", jsonout_text(t->name));
    jsonout_set(entry, "dtype", jsonout_text(t->type != NULL ? t->type->name : t->type_text));
    jsonout_set(entry, "shape", shape);
    return entry;
}

json_t *report_json_left_out(const file *f)
{
    json_t *list = jsonout_array();
    for (size_t i = 0; i < f->model.count; i++) {
        if (!f->chosen[i]) {
            jsonout_append(list, report_json_tensor(&f->model.tensor[i]));
        }
    }
    return list;
}
