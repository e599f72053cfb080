/* SPDX-License-Identifier: BSD-2-Clause */
/* scatter_plot.h - a scatter plot as SVG: signal to quantisation noise against bits an element. */
#ifndef FPEMU_TOOL_SCATTER_PLOT_H
#define FPEMU_TOOL_SCATTER_PLOT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct scatter_point {
    const char *label;
    double x;         /* bits an element */
    double y;         /* dB; not finite: named below the plot, as exact or without signal */
    double low, high; /* of single tensors */
} scatter_point;

/* A line of points that lie from left to right, and one that is marked beside it (not finite: none). */
typedef struct scatter_curve {
    size_t count;
    double *x, *y; /* finite */
    double chosen_x, chosen_y;
} scatter_curve;

/* Writes the file, complete or not at all. `threshold` (or NULL) is drawn as a line; `ranges` says whether low and high
 * are; `curve` (or NULL) is drawn beneath the points. */
void scatter_plot_write(const char *path, const char *title, size_t count, const scatter_point *points,
                        const double *threshold, bool ranges, const scatter_curve *curve);

#endif
