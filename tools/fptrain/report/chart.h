/* SPDX-License-Identifier: BSD-2-Clause */
/* chart.h - curves of several runs in one frame. */
#ifndef FPTRAIN_REPORT_CHART_H
#define FPTRAIN_REPORT_CHART_H

#include "report/group.h"

typedef struct chart {
    const char *file, *title; /* file: its name among the plots of a report */
    size_t place;             /* of the series, in a run */
    const char *x_title;      /* NULL: step */
    bool logarithmic;         /* the y axis, base 2 */
    bool percent;
    bool noisy; /* smoothed where that is asked for */
    bool wide;  /* logarithmic where the highest is more than 100 times the lowest, and all are above zero */
} chart;

/* Those of every report; the last two are over the chosen tensors. */
enum { REPORT_CHARTS = 7 };
extern const chart report_charts[REPORT_CHARTS];

/* What is drawn: a curve of each run, in the colours of the legend. */
typedef struct curves {
    int count;
    const run *run;
    const run *low, *high; /* the ends of a band around each curve; NULL: there are none */
    const group *group;    /* how many runs a curve is the mean of; NULL: each of one */
    double smooth;         /* the weight of what came before in an exponential mean, 0..1; 0: as logged */
} curves;
curves curves_of(const groups *g, double smooth);

bool chart_has(const curves *of, const chart *c); /* whether there is anything to draw */
/* A file of its own, with the legend; where there is anything to draw. */
void chart_write(FILE *out, const chart *c, const curves *of);

/* The start of an SVG file with the style sheet of charts. */
void report_svg_begin(FILE *out, int width, int height);

/* Of one run, where the log has them: p and threshold with the switches; how large updates were. */
bool has_switches(const run *r);
bool has_updates(const run *r);
void switches_write(FILE *out, const run *r);
void updates_write(FILE *out, const run *r);

#endif
