/* SPDX-License-Identifier: BSD-2-Clause */
/* array.h - one array of NumPy as samples, as labels or as the numbers of tokens. */
#ifndef FPTRAIN_DATA_ARRAY_H
#define FPTRAIN_DATA_ARRAY_H

#include "base/source.h"
#include "common/npy.h"
#include "data/samples.h"

typedef struct array {
    npy_header header;
    size_t count; /* elements */
    unsigned size;
    uint8_t *bytes; /* of numbers in the order of this machine */
    char name[256]; /* for messages */
} array;

/* A .npy file of whole numbers, floats, booleans or bytes strings. */
bool array_read(array *a, source *s, trouble *why);
void array_free(array *a);
/* The two below use it up, whether they succeed or not. Shapes: (N, features), (N, H, W), (N, H, W, C), (N, C, H, W).
 * Bytes stay bytes, all other numbers become floats; NaN and what lies beyond float are refused. The first split sets
 * the shape of the data set, the second has to have it too. layout: as in dataset_options. */
bool array_samples(array *a, dataset *d, split *to, const char *layout, trouble *why);
/* (N) or (N, 1); *classes grows to hold them, or, where it is fixed, they have to lie in it. */
bool array_labels(array *a, split *to, int *classes, bool fixed, trouble *why);
/* The numbers of an array of one dimension; the same of classes. */
uint16_t *array_tokens(array *a, size_t *count, int *classes, bool fixed, trouble *why);

#endif
