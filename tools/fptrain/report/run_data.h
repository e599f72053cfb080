/* SPDX-License-Identifier: BSD-2-Clause */
/* run_data.h - a run read back from its directory. */
#ifndef FPTRAIN_REPORT_RUN_DATA_H
#define FPTRAIN_REPORT_RUN_DATA_H

#include <jansson.h>
#include <stddef.h>

#include "optimizer/state.h"
#include "run/settings.h"

typedef struct series {
    size_t count, room;
    double *x, *y;
} series;
void series_add(series *s, double x, double y);
void series_free(series *s);

/* The one at this place, by offsetof, of a run or a track. */
static inline series *series_at(const void *of, size_t place)
{
    return (series *)((char *)(uintptr_t)of + place);
}

/* Exponents of histograms; what lies outside counts at the end. */
enum { LOWEST = -160, BINS = 320 };

/* All lines of one tensor. */
typedef struct track {
    char *name, *role;
    uint64_t elements, overflow, underflow;
    series underflow_share, outside_share; /* over the steps; outside: (clipped + infinite) / elements */
    series alpha, deviation, quantile;     /* of gradients, over the steps */
    uint64_t *exponents;                   /* BINS counts; NULL: the log has none */
    uint64_t zeros, with_exponents;        /* of the elements that were looked at for exponents */
} track;

typedef struct run {
    char *name; /* the directory */
    char *id;   /* of the first line of its log; NULL: the log has none */
    settings settings;
    bool ended; /* has a summary */
    uint64_t steps, skipped;
    double best, last, last_fp32; /* accuracies; NaN: none in the log */
    double test_loss;             /* the last; it is among the notes too */
    series loss, scale, accuracy, accuracy_fp32;
    series p, threshold, bits; /* over policy epochs; NaN: not defined then */
    series switched;           /* after this policy epoch, from so many bits */
    series move;               /* mean |w after - w before| / delta over the steps */
    series vanished, widest;   /* of the mean of a group: share of the chosen tensors, their largest deviation */
    series outside;            /* of a curve of overflow.c */
    uint64_t updates[UPDATE_BINS], updated; /* as in update_counts, of all lines; elements */
    track *tracks;
    size_t track_count;
    json_t *places; /* numbers of the tracks, for run_track; NULL: no tracks */
    json_t *notes;  /* of summary.json, and test_loss; NULL: none */
} run;

bool run_load(run *r, const char *directory, trouble *why);
void run_free(run *r);
void track_free(track *t); /* but for its name and role */

/* The track of a tensor; NULL: the log has none. */
const track *run_track(const run *r, const char *name, const char *role);

#endif
