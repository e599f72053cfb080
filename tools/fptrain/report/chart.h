/* SPDX-License-Identifier: BSD-2-Clause */
/* chart.h - curves of several runs in one frame. */
#ifndef FPTRAIN_REPORT_CHART_H
#define FPTRAIN_REPORT_CHART_H

#include "report/run_data.h"

/* In the colours of the legend. */
typedef struct chart {
    const char *title, *x_title;
    bool logarithmic; /* the y axis, base 2 */
    bool percent;
} chart;
void chart_write(FILE *out, const chart *c, const run *runs, int count, size_t place_of_series);

/* A file of its own: the charts below one another, with the legend. */
void charts_write_alone(FILE *out, int charts, const chart *c, const size_t *place_of_series, const run *runs,
                        int count);

/* Of one run, where the log has them: p and threshold with the switches; how large updates were. alone: a file of its
 * own, else a figure of the page. */
bool has_switches(const run *r);
bool has_updates(const run *r);
void switches_write(FILE *out, const run *r, bool alone);
void updates_write(FILE *out, const run *r, bool alone);

#endif
