/* SPDX-License-Identifier: BSD-2-Clause */
/* heat.h - maps with a row for each tensor. */
#ifndef FPTRAIN_REPORT_HEAT_H
#define FPTRAIN_REPORT_HEAT_H

#include "report/run_data.h"
#include "run/settings.h"

/* The exponents at which the format of a row ends: floor(log2) of the smallest positive, the smallest normal and the
 * largest value. */
typedef struct limits {
    const char *spec; /* NULL: not known, and the rest means nothing */
    int smallest, normal, largest;
    bool has_normal; /* formats without subnormal numbers, as int8, have no such place */
} limits;

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
    limits *limit;       /* of each row, where the columns are exponents; NULL: they are not */
    double x_first, x_last;
    shade shade;
} heat;
void heat_write(FILE *out, const heat *h);

/* What vanished, by which scale gradients were multiplied, and which exponents there were, in at most so many columns;
 * tensors: only those, NULL: all. False: there is nothing to show. For heat_free. */
typedef enum heat_kind { HEAT_UNDERFLOW, HEAT_SCALE, HEAT_EXPONENTS, HEATS } heat_kind;
bool heat_make(heat *h, const run *r, heat_kind kind, const char *tensors, int columns);
void heat_free(heat *h);

#endif
