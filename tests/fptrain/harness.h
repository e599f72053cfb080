/* SPDX-License-Identifier: BSD-2-Clause */
/* harness.h - what the tests of the trainer's networks share: parameters in plain arrays, copies of every tensor as it
 * passes the rounding call, and numbers that any language can make again. */
#ifndef TESTS_FPTRAIN_HARNESS_H
#define TESTS_FPTRAIN_HARNESS_H

#include "../common.h"
#include "backends/backends.h"
#include "ops/ops.h"

typedef struct harness {
    store calls;   /* first: a harness is a store */
    rounds rounds; /* rounded is called, then a copy kept; see of_rounds */
    graph *g;
    float **w, **dw;         /* by parameter */
    float **v, **dv;         /* by value: copies */
    int *v_calls, *dv_calls; /* how often each came */
    int joined;              /* how many sums of contributions came, each rounded alone */
    size_t *v_size;
    void (*rounded)(role which, size_t n, float *x); /* NULL: left alone */
    bool open;                                       /* a parameter is fetched */
} harness;

/* Takes a finished network; parameters get numbers of `spread` around 0 (scales around 1). */
harness *harness_new(graph *g, double spread, uint64_t seed);
void harness_free(harness *h); /* the network too */
forward_result harness_run(harness *h, int samples, const float *x, const int *labels, layer_scaling *l, double scale);
/* Inputs from sequence 3, or tokens i * 7 mod 11, and labels i * 5 + 2 mod classes. */
forward_result harness_feed(harness *h, int samples, double scale);

/* Numbers in (-1, 1), multiples of 2^-12, from a linear congruential sequence. */
double sequence(uint64_t seed, uint64_t i);

/* Prints and counts; the program ends with failures() != 0. */
void check(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));
int failures(void);
/* got near want, measured against the largest |want|. */
void check_near(const char *what, size_t n, const float *got, const double *want, double tolerance);
void check_same(const char *what, size_t n, const float *a, const float *b);

#endif
