/* SPDX-License-Identifier: BSD-2-Clause */
/* tally.c - see tally.h */
#include "run/tally.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

typedef struct entry {
    bool any, gradient;
    fpemu_stats stats;
    double alpha;
    dispersion spread;
} entry;

struct tally {
    int tensors;
    bool any;
    entry *entry;
};

/* What is often zero comes last. */
enum { MIN_ABS = 4, MAX_ABS, COUNTERS = 10 };
static const char *const counters[COUNTERS] = {"count",   "underflow", "subnormal", "inexact",  "min_abs",
                                               "max_abs", "overflow",  "clipped",   "infinite", "nan"};

const char *tally_counter(int i)
{
    return i >= 0 && i < COUNTERS ? counters[i] : NULL;
}

tally *tally_new(int tensors)
{
    tally *t = need(1, sizeof *t);
    t->tensors = tensors;
    t->entry = need((size_t)tensors + 1, sizeof *t->entry);
    return t;
}

static void empty(entry *e)
{
    free(e->stats.request.histogram);
    *e = (entry){.any = false};
}

void tally_free(tally *t)
{
    for (int i = 0; t && i < t->tensors; i++)
        empty(&t->entry[i]);
    if (t)
        free(t->entry);
    free(t);
}

static entry *entry_of(tally *t, int tensor)
{
    if (tensor < 0 || tensor >= t->tensors)
        die("log: there is no tensor %d", tensor);
    entry *e = &t->entry[tensor];
    t->any = e->any = true;
    return e;
}

void tally_add(tally *t, int tensor, const fpemu_stats *stats)
{
    const bool first = !t->any || !t->entry[tensor].any;
    entry *e = entry_of(t, tensor);
    if (first) {
        const bool histogram = (stats->request.want & FPEMU_STATS_HISTOGRAM) && stats->request.histogram;
        e->stats.request = stats->request;
        e->stats.request.histogram =
            histogram ? need(stats->request.histogram_length, sizeof *stats->request.histogram) : NULL;
    }
    if (fpemu_stats_merge(&e->stats, stats) != FPEMU_OK)
        die("log: counters of tensor %d cannot be added", tensor);
}

void tally_gradient(tally *t, int tensor, double alpha, const dispersion *spread)
{
    entry *e = entry_of(t, tensor);
    e->gradient = true;
    e->alpha = alpha;
    e->spread = *spread;
}

bool tally_empty(const tally *t)
{
    return !t->any;
}

/* Numbers that come from tensors are binary32: nine digits tell them. */
static void print_real(FILE *out, double x)
{
    char text[40];
    int digits = 5;
    if (!isfinite(x)) {
        fputs(isnan(x) ? "\"nan\"" : x > 0 ? "\"inf\"" : "\"-inf\"", out);
        return;
    }
    const bool narrow = (double)(float)x == x;
    do
        snprintf(text, sizeof text, "%.*g", ++digits, x);
    while (digits < 17 && (narrow ? (float)strtod(text, NULL) != (float)x : strtod(text, NULL) != x));
    fputs(text, out);
}

/* Of the numbers before they were rounded. Bins that are empty at both ends are left out; `first` is the exponent of
 * the first count. The bins below and above all exponents become the neighbours of the first and the last. What has no
 * exponent and is finite is zero. */
static void print_histogram(FILE *out, const fpemu_stats *stats)
{
    uint32_t from = 0, to = stats->request.histogram_length;
    uint64_t others = stats->nan + stats->infinite;
    for (uint32_t i = 0; i < to; i++)
        others += stats->request.histogram[i];
    while (from < to && stats->request.histogram[from] == 0)
        from++;
    while (to > from && stats->request.histogram[to - 1] == 0)
        to--;
    fprintf(out, "\"histogram\":{\"first\":%ld,\"counts\":[", (long)stats->request.histogram_first - 1 + (long)from);
    for (uint32_t i = from; i < to; i++)
        fprintf(out, "%s%" PRIu64, i > from ? "," : "", stats->request.histogram[i]);
    fprintf(out, "],\"zeros\":%" PRIu64 "}", stats->count - others);
}

static void print_member(FILE *out, char *before, const char *key, double x)
{
    fprintf(out, "%c\"%s\":", *before, key);
    *before = ',';
    print_real(out, x);
}

/* What only some tensors have; nothing where this has none of it. */
static void print_more(FILE *out, const entry *e, double scale)
{
    char before = '{';
    const bool histogram = e->stats.request.histogram != NULL;
    fputc(',', out);
    if (e->gradient && e->alpha != scale)
        print_member(out, &before, "alpha", e->alpha);
    if (e->gradient && e->spread.count) {
        print_member(out, &before, "deviation", e->spread.deviation);
        print_member(out, &before, "quantile", e->spread.quantile);
    }
    if (e->stats.request.want & FPEMU_STATS_SUMS)
        print_member(out, &before, "sqnr_db", fpemu_stats_sqnr(&e->stats));
    if (histogram) {
        fputc(before, out);
        print_histogram(out, &e->stats);
    }
    fputc('}', out);
}

static bool has_more(const entry *e, double scale)
{
    return (e->gradient && (e->alpha != scale || e->spread.count)) || (e->stats.request.want & FPEMU_STATS_SUMS) ||
           e->stats.request.histogram;
}

static void print_entry(FILE *out, const entry *e, double scale)
{
    const fpemu_stats *s = &e->stats;
    const uint64_t count[COUNTERS] = {s->count,        s->underflow, s->subnormal, s->inexact,  s->min_abs != 0,
                                      s->max_abs != 0, s->overflow,  s->clipped,   s->infinite, s->nan};
    int last = COUNTERS;
    while (last > 1 && count[last - 1] == 0)
        last--;
    for (int i = 0; i < last; i++) {
        fputc(i ? ',' : '[', out);
        if (i == MIN_ABS || i == MAX_ABS)
            print_real(out, i == MIN_ABS ? s->min_abs : s->max_abs);
        else
            fprintf(out, "%" PRIu64, count[i]);
    }
    if (has_more(e, scale))
        print_more(out, e, scale);
    fputc(']', out);
}

char *tally_print(tally *t, double scale)
{
    char *text = NULL;
    size_t length;
    FILE *out = needed(open_memstream(&text, &length));
    for (int i = 0; i < t->tensors; i++) {
        fputc(i ? ',' : '[', out);
        if (t->entry[i].any)
            print_entry(out, &t->entry[i], scale);
        else
            fputc('0', out);
        empty(&t->entry[i]);
    }
    fputs(t->tensors ? "]" : "[]", out);
    t->any = false;
    const bool bad = ferror(out) != 0;
    if (fclose(out) != 0 || bad)
        die("out of memory");
    return text;
}
