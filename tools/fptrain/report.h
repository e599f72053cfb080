/* report.h - runs read back from their directories, and the page that compares them. */
#ifndef FPTRAIN_REPORT_H
#define FPTRAIN_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "optimizer.h"
#include "settings.h"

typedef struct series {
    size_t count, room;
    double *x, *y;
} series;
void series_add(series *s, double x, double y);
void series_free(series *s);

/* Exponents of histograms; what lies outside counts at the end. */
enum { LOWEST = -160, BINS = 320 };

/* All lines of one tensor. */
typedef struct track {
    char *name, *role;
    uint64_t elements, overflow, underflow, nan;
    series underflow_share; /* over the steps */
    uint64_t *exponents;    /* BINS counts; NULL: the log has none */
} track;

typedef struct run {
    char *name; /* the directory */
    settings settings;
    bool finished;
    uint64_t steps, skipped;
    double seconds, last_loss, best, last, last_fp32; /* accuracies; NaN: none in the log */
    int best_epoch;
    series loss, scale, accuracy, accuracy_fp32;
    series p, threshold, bits; /* over policy epochs; NaN: not defined then */
    series switched;           /* after this policy epoch, from so many bits */
    series move;               /* mean |w after - w before| / delta over the steps */
    uint64_t updates[UPDATE_BINS], updated; /* as in update_counts, of all lines; elements */
    track *tracks;
    size_t track_count;
    json_t *notes; /* of summary.json; NULL: none */
} run;

bool run_load(run *r, const char *directory, trouble *why);
void run_free(run *r);

/* One page without a word from elsewhere. */
void page_write(FILE *out, const run *runs, int count);

/* Text of others as HTML: no mark-up, no control characters, valid UTF-8. */
void put_text(FILE *out, const char *text);

/* Curves of all runs in one frame, in the colours of the legend. */
typedef struct chart {
    const char *title, *x_title;
    bool logarithmic; /* the y axis, base 2 */
    bool percent;
} chart;
void chart_write(FILE *out, const chart *c, const run *runs, int count, size_t place_of_series);

/* Of one run: p and threshold with the switches; how large updates were. Nothing where the log has none. */
void switches_write(FILE *out, const run *r);
void updates_write(FILE *out, const run *r);

/* A file of its own: the charts below one another, with the legend. */
void charts_write_alone(FILE *out, int charts, const chart *c, const size_t *place_of_series, const run *runs,
                        int count);

/* Rows of shares: one row for a tensor, a darker cell for a larger share. Shares are shown from 1e-6 to 1 by their
 * logarithm, or (linear) from 0 to the largest of the row. */
typedef struct heat {
    const char *title, *x_title;
    int rows, columns;
    const char **row_name;
    double *share; /* rows x columns; NaN: nothing there */
    double x_first, x_last;
    bool linear;
} heat;
void heat_write(FILE *out, const heat *h);

#endif
