/* SPDX-License-Identifier: BSD-2-Clause */
/* estimate_plot.h - runs by the time they are estimated to take and the accuracy they reached: a plot and a table. */
#ifndef FPTRAIN_REPORT_ESTIMATE_PLOT_H
#define FPTRAIN_REPORT_ESTIMATE_PLOT_H

#include <stdio.h>

#include "base/base.h"

typedef struct estimated_run {
    const char *name;      /* the directory */
    double ideal, current; /* times over that of the FP32 run */
    double best, last;     /* accuracies, 0..1; NaN: none in the log */
} estimated_run;

/* Runs belong together whose directories are called the same up to a hyphen and a number, as random-1 and random-2. */
void estimate_table(FILE *out, const estimated_run *runs, int count);
/* Time against best accuracy, ideal and current side by side, a mark for each run and a larger one for the mean of
 * those that belong together. Runs without an accuracy are left out. */
bool estimate_plot(const char *path, const char *title, const estimated_run *runs, int count, trouble *why);

#endif
