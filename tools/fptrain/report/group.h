/* SPDX-License-Identifier: BSD-2-Clause */
/* group.h - runs that differ in the seed alone, compared as one. */
#ifndef FPTRAIN_REPORT_GROUP_H
#define FPTRAIN_REPORT_GROUP_H

#include "report/run_data.h"

/* Runs that differ in train.seed and [output] alone, which are compared as one, in the order of their first ones. One
 * that has not ended, and one with a seed that a group has, are alone. */
typedef struct group {
    const run **member;
    int count;
} group;
typedef struct groups {
    int count;
    group *group;
    run *mean;       /* of each group: its name is what those of the members begin with, curves are means over them */
    run *low, *high; /* of these only curves: the range of the members */
    char **label;    /* names of the means */
} groups;
/* tensors: the pattern (of fnmatch) of those whose gradients are looked at. */
groups groups_make(const run *runs, int count, const char *tensors);
void groups_free(groups *g);
/* Whether two runs of equal settings are one, or a copy of it. */
bool group_same_run(const run *a, const run *b);
bool group_alike(const run *a, const run *b); /* whether they differ in train.seed and [output] alone */
bool group_tells(const settings_key *key);    /* whether runs of other values here are of other groups */

/* Over the runs of a group: mean, and the range. */
typedef struct figure {
    double sum, low, high;
    int count;
} figure;
void figure_add(figure *f, double x); /* NaN is none */
figure figure_of_runs(const group *g, size_t place_of_double);
figure figure_of_notes(const group *g, const char *key); /* those that are numbers */

#endif
