/* SPDX-License-Identifier: BSD-2-Clause */
/* line_plot.h - lines in a plot with two logarithmic axes, as SVG. */
#ifndef FPEMU_TOOL_LINE_PLOT_H
#define FPEMU_TOOL_LINE_PLOT_H

#include <stddef.h>

typedef struct line_series {
    const char *label;
    const double *y; /* as many as there are x; what is not above zero or not finite is left out */
} line_series;

/* Writes the file, complete or not at all. x: ascending, above zero. Every line has a mark of its own and its name at
 * its end, so that nothing hangs on colour. */
void line_plot_write(const char *path, const char *title, const char *x_name, const char *y_name, size_t points,
                     const double *x, size_t count, const line_series *series);

#endif
