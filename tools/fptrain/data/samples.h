/* SPDX-License-Identifier: BSD-2-Clause */
/* samples.h - samples and labels in memory, and what to take of a data set. */
#ifndef FPTRAIN_DATA_SAMPLES_H
#define FPTRAIN_DATA_SAMPLES_H

#include "base/base.h"

typedef struct split {
    size_t count;
    uint8_t *pixels; /* count * c * h * w, (C, H, W) a sample; text: NULL, and count is in characters */
    uint8_t *labels;
} split;

typedef struct dataset {
    char name[64];        /* "mnist", "cifar10", "digits", "shapes", "text" */
    int c, h, w, classes; /* text: classes = distinct bytes, c = h = w = 0 */
    const char *class_name[100]; /* NULL: its number */
    split train, test;
    double mean[3], deviation[3]; /* of each channel over train, pixels as 0..1; inputs are (p/255 - mean)/deviation */
    uint8_t *text;        /* text: class number of every byte; the last tenth is the test split */
    size_t text_length;
    uint8_t byte_of[256]; /* text: class number to byte */
} dataset;

/* part: of `parts` disjoint parts of the training samples the one with this number (from 1; parts 0: all samples). They
 * are chosen by the seed, with as many samples of each class as the others, or one more; of a text they are stretches
 * of it. limit: at most so many training samples of these, test_limit: so many test samples (0: all; the first of a
 * seeded shuffle; of a text: the first characters, the last ones for testing). */
typedef struct dataset_options {
    uint64_t seed;
    size_t train_count, test_count, limit, test_limit;
    int part, parts;
    int width, height; /* text: unused; images: 0, or what to pad to (e.g. 32 for MNIST in CIFAR models) */
} dataset_options;

#endif
