/* SPDX-License-Identifier: BSD-2-Clause */
/* csv.c - see csv.h */
#include "report/csv.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/words.h"
#include "report/log_values.h"

typedef struct table {
    FILE *out;
    const char *run, *tensors;
    uint64_t step;
} table;

/* The fewest digits that read back to the same. */
static void put_real(FILE *out, double x)
{
    char text[NUMBER_TEXT];
    if (isfinite(x))
        fputs(number_print(text, 15, x), out);
    else
        fputs(isnan(x) ? "nan" : x > 0 ? "inf" : "-inf", out);
}

static void begin_row(const table *t, const char *name)
{
    csv_put_field(t->out, t->run);
    fprintf(t->out, ",%" PRIu64 ",", t->step);
    csv_put_field(t->out, name);
}

static bool chosen(const table *t, const char *tensor)
{
    return !tensor || !t->tensors || fnmatch(t->tensors, tensor, 0) == 0;
}

static void put_line(void *to, uint64_t step)
{
    table *t = to;
    t->step = step;
}

static void put_value(void *to, const log_value *v)
{
    const table *t = to;
    if (!chosen(t, v->tensor))
        return;
    begin_row(t, v->name);
    if (v->whole)
        fprintf(t->out, ",%" PRId64, v->count);
    else {
        fputc(',', t->out);
        put_real(t->out, v->real);
    }
    fputc('\n', t->out);
}

static void put_histogram(void *to, const log_histogram *h)
{
    const table *t = to;
    const size_t size = strlen(h->name) + 32;
    char *name = need(size, 1);
    for (size_t i = 0; chosen(t, h->tensor) && i < h->bins; i++) {
        snprintf(name, size, "%s/%" PRId64, h->name,
                 (int64_t)((uint64_t)h->first + i)); /* wraps, where a log is not ours */
        begin_row(t, name);
        fprintf(t->out, ",%" PRIu64 "\n", h->count[i]);
    }
    free(name);
}

bool csv_write(FILE *out, int count, char *const *directories, const char *tensors, trouble *why)
{
    bool good = true;
    fputs("run,step,name,value\n", out);
    for (int i = 0; good && i < count; i++) {
        table t = {.out = out, .run = directories[i], .tensors = tensors};
        good = log_visit(directories[i], &(log_visitor){&t, put_line, put_value, put_histogram}, why);
    }
    return good;
}
