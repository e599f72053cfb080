/* svg.h - what all pictures share: text of others, axes, and the start of a file. */
#ifndef FPTRAIN_SVG_H
#define FPTRAIN_SVG_H

#include <stdio.h>

/* Text of others as HTML or SVG: no mark-up, no control characters, valid UTF-8. */
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

#endif
