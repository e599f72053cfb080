/* SPDX-License-Identifier: BSD-2-Clause */
/* views.h - a comparison as tables in Markdown and as SVG files. */
#ifndef FPTRAIN_REPORT_VIEWS_H
#define FPTRAIN_REPORT_VIEWS_H

#include "report/group.h"

/* What tables and plots show beside the settings and results. */
typedef struct report_choice {
    const char *tensors; /* pattern of names */
    double smooth;       /* as in curves (chart.h) */
    int notes, oracles;
    char **note;             /* keys in summary.json */
    char **oracle_name;      /* formats for which the scale of an oracle is told */
    double *oracle_smallest; /* and their smallest positive values */
} report_choice;

void tables_write(FILE *out, const groups *g, const report_choice *choice);
/* A file for each curve and each map in the directory, which is made. */
bool plots_write(const char *directory, const groups *g, const report_choice *choice, trouble *why);

/* The values and parameters of a run of which most lay out of range, where the log has them. */
bool has_overflows(const run *r);
void overflows_write(FILE *out, const run *r);

#endif
