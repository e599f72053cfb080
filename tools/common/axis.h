/* SPDX-License-Identifier: BSD-2-Clause */
/* axis.h - numbers on paper. */
#ifndef COMMON_AXIS_H
#define COMMON_AXIS_H

typedef struct axis {
    double low, high; /* shown from low to high */
    double step;      /* from tick to tick */
    double from, to;  /* places of low and high in the drawing */
} axis;

/* The smallest of 1, 2 and 5 times a power of ten that divides `span` into at most about so many steps. */
double axis_step(double span, int steps);
/* An axis of about six steps. Ends too close to tell their ticks apart are moved. */
axis axis_make(double low, double high, double from, double to);
double axis_place(const axis *a, double x);

#endif
