/* SPDX-License-Identifier: BSD-2-Clause */
/* samples.h - samples and labels in memory, and what to take of a data set. */
#ifndef FPTRAIN_DATA_SAMPLES_H
#define FPTRAIN_DATA_SAMPLES_H

#include "base/base.h"

enum { MOST_CLASSES = 65536 };

/* A sample has c * h * w numbers, (C, H, W): bytes in `pixels`, or else floats in `values`. Text: neither, and count is
 * in characters. */
typedef struct split {
    size_t count;
    uint8_t *pixels;
    uint16_t *labels;
    float *values;
} split;

typedef struct dataset {
    char name[64];                 /* "mnist", "cifar10", "digits", "shapes", "text", "npz", ... */
    int c, h, w, classes;          /* text: classes = distinct characters, c = h = w = 0 */
    const char *const *class_name; /* NULL: its number */
    char **own_names;              /* class_name, where they were read; `classes` of them */
    split train, test;
    double *mean, *deviation; /* of each channel over train; inputs are (x - mean)/deviation, with pixels as 0..1 */
    uint32_t measured;        /* checksum of these before settings changed them */
    uint16_t *text;           /* text: class number of every character; those of the test split are the last */
    size_t text_length;
    uint32_t *symbol; /* text: class number to byte or code point; NULL: the classes are token ids */
} dataset;

/* part: of `parts` disjoint parts of the training samples the one with this number (from 1; parts 0: all samples). They
 * are chosen by the seed, with as many samples of each class as the others, or one more; of a text they are stretches
 * of it. limit: at most so many training samples of these, test_limit: so many test samples (0: all; the first of a
 * seeded shuffle; of a text: the first characters, the last ones for testing).
 *
 * The others are about files. Words are NULL or "" where nothing was said, numbers 0. */
typedef struct dataset_options {
    uint64_t seed;
    size_t train_count, test_count, limit, test_limit;
    int part, parts;
    int width, height;            /* text: unused; images: 0, or what to pad to (e.g. 32 for MNIST in CIFAR models) */
    const char *test;             /* where the test samples lie, if apart */
    double test_share;            /* else so many of all are for testing: of a text the last ones; 0: a tenth */
    int steps;                    /* text: said of its samples, which loaders make; others refuse it */
    const char *names;            /* of arrays: "INPUTS,LABELS" or "INPUTS,LABELS,TEST INPUTS,TEST LABELS" */
    const char *layout;           /* of arrays of images: "nchw", "nhwc"; else by the extents */
    int classes;                  /* of the labels, or of token ids; 0: as many as there are */
    bool utf8;                    /* text: its characters are code points */
    const char *normalise;        /* "all": one mean for all channels; "none"; else one for each */
    const char *mean, *deviation; /* numbers instead of those of the training samples: one, or one a channel */
} dataset_options;

#endif
