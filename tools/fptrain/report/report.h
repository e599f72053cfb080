/* report.h - runs read back from their directories, and the page that compares them. */
#ifndef FPTRAIN_REPORT_H
#define FPTRAIN_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "optimizer/optimizer.h"
#include "run/settings.h"

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
    series underflow_share, outside_share; /* over the steps; outside: (clipped + infinite) / elements */
    series alpha, deviation, quantile; /* of gradients, over the steps */
    uint64_t *exponents;    /* BINS counts; NULL: the log has none */
    uint64_t zeros, with_exponents; /* of the elements that were looked at for exponents */
} track;

typedef struct run {
    char *name; /* the directory */
    settings settings;
    bool finished;
    uint64_t steps, skipped;
    double seconds, last_loss, best, last, last_fp32; /* accuracies; NaN: none in the log */
    double test_loss;                                 /* the last; it is among the notes too */
    int best_epoch;
    series loss, scale, accuracy, accuracy_fp32;
    series p, threshold, bits; /* over policy epochs; NaN: not defined then */
    series switched;           /* after this policy epoch, from so many bits */
    series move;               /* mean |w after - w before| / delta over the steps */
    series vanished, widest;   /* of the mean of a group: share of the chosen tensors, their largest deviation */
    series outside;            /* of a curve of report_overflow.c */
    uint64_t updates[UPDATE_BINS], updated; /* as in update_counts, of all lines; elements */
    track *tracks;
    size_t track_count;
    json_t *notes; /* of summary.json, and test_loss; NULL: none */
} run;

bool run_load(run *r, const char *directory, trouble *why);
void run_free(run *r);

/* The track of a tensor; NULL: the log has none. */
const track *run_track(const run *r, const char *name, const char *role);

/* Runs that differ in train.seed and [output] alone, which are compared as one, in the order of their first ones. */
typedef struct group {
    const run **member;
    int count;
} group;
typedef struct groups {
    int count;
    group *group;
    run *mean; /* of each group: its name is what those of the members begin with, curves are means over them */
} groups;
/* tensors: the pattern (of fnmatch) of those whose gradients are looked at. */
groups groups_make(const run *runs, int count, const char *tensors);
void groups_free(groups *g);
bool group_tells(const settings_key *key); /* whether runs of other values here are of other groups */

/* What tables and plots show beside the settings and results. */
typedef struct report_choice {
    const char *tensors;             /* pattern of names */
    int notes, oracles;
    char **note;                     /* keys in summary.json */
    char **oracle_name;              /* formats for which the scale of an oracle is told */
    double *oracle_smallest;         /* and their smallest positive values */
} report_choice;
/* Tables in Markdown. */
void tables_write(FILE *out, const groups *g, const report_choice *choice);
/* A file for each curve and each map in the directory, which is made. */
bool plots_write(const char *directory, const groups *g, const report_choice *choice, trouble *why);

/* One page without a word from elsewhere. */
void page_write(FILE *out, const run *runs, int count);

/* Text of others as HTML: no mark-up, no control characters, valid UTF-8. */
void put_text(FILE *out, const char *text);

/* Numbers on paper: ticks at 1, 2 or 5 times a power of ten. */
typedef struct axis {
    double low, high, step;
    int from, to; /* on the paper */
} axis;
axis axis_make(double low, double high, int from, int to);
double axis_place(const axis *a, double x);

/* The start of an SVG file, with a style sheet of its own. */
void svg_begin_alone(FILE *out, int width, int height);

/* Curves of all runs in one frame, in the colours of the legend. */
typedef struct chart {
    const char *title, *x_title;
    bool logarithmic; /* the y axis, base 2 */
    bool percent;
} chart;
void chart_write(FILE *out, const chart *c, const run *runs, int count, size_t place_of_series);

/* Of one run, where the log has them: p and threshold with the switches; how large updates were; the values and
 * parameters of which most lay out of range. alone: a file of its own, else a figure of the page. */
bool has_switches(const run *r);
bool has_updates(const run *r);
bool has_overflows(const run *r);
void switches_write(FILE *out, const run *r, bool alone);
void updates_write(FILE *out, const run *r, bool alone);
void overflows_write(FILE *out, const run *r, bool alone);

/* A file of its own: the charts below one another, with the legend. */
void charts_write_alone(FILE *out, int charts, const chart *c, const size_t *place_of_series, const run *runs,
                        int count);

/* Rows of cells: one row for a tensor, a darker cell for a larger number: by the logarithm of shares from 1e-6 to 1,
 * from 0 to the largest of the row, or by the logarithm of scales from 1 to the largest of all. */
typedef enum shade { SHADE_SHARES, SHADE_ROWS, SHADE_SCALES } shade;
typedef struct heat {
    char title[96];
    const char *x_title;
    int rows, columns;
    const char **row_name;
    double *share, most; /* rows x columns; NaN: nothing there; the largest */
    double *zeros;       /* a share of each row for a column of its own on the left; NULL: there is none */
    double x_first, x_last;
    shade shade;
} heat;
void heat_write(FILE *out, const heat *h);
void heat_write_alone(FILE *out, const heat *h); /* a file of its own */

/* What vanished, by which scale gradients were multiplied, and which exponents there were, in at most so many columns;
 * tensors: only those, NULL: all. False: there is nothing to show. For heat_free. */
typedef enum heat_kind { HEAT_UNDERFLOW, HEAT_SCALE, HEAT_EXPONENTS, HEATS } heat_kind;
bool heat_make(heat *h, const run *r, heat_kind kind, const char *tensors, int columns);
void heat_free(heat *h);

#endif
