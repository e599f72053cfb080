/* SPDX-License-Identifier: BSD-2-Clause */
/* idx.h - MNIST and its like: IDX files. Fills a data set that is all zero. */
#ifndef FPTRAIN_DATA_IDX_H
#define FPTRAIN_DATA_IDX_H

#include "base/source.h"
#include "data/samples.h"

/* One IDX file of unsigned bytes with so many dimensions. */
typedef struct idx {
    size_t extent[3], count; /* count: elements */
    uint8_t *bytes;
} idx;
bool idx_read(idx *x, source *s, int dimensions, trouble *why);
bool mnist_open(dataset *d, const char *directory, trouble *why); /* ten classes */
/* As many classes as the labels have, or more where that is asked for. where: a directory with train-images-idx3-ubyte,
 * train-labels-idx1-ubyte and the same of t10k or test, or with a word and a hyphen before each of these names, as
 * EMNIST has them; DIRECTORY/WORD where there are several such words. */
bool idx_open(dataset *d, const char *where, int classes, trouble *why);

#endif
