/* readers.h - the kinds of data behind dataset_open; each fills a dataset that is all zero. */
#ifndef FPTRAIN_READERS_H
#define FPTRAIN_READERS_H

#include "data/dataset.h"
#include "base/source.h"

/* One IDX file of unsigned bytes with so many dimensions. */
typedef struct idx {
    size_t extent[3], count; /* count: elements */
    uint8_t *bytes;
} idx;
bool idx_read(idx *x, source *s, int dimensions, trouble *why);
/* All records of one CIFAR file, added to the split; before each are 1 byte of label, or 2 (the second counts). */
bool cifar_read(split *to, source *s, int label_bytes, int classes, trouble *why);
/* Any bytes but none at all: classes, train and test. */
bool text_read(dataset *d, source *s, trouble *why);

bool mnist_open(dataset *d, const char *directory, trouble *why);
bool cifar_open(dataset *d, const char *directory, int classes, trouble *why);
bool text_open(dataset *d, const char *path, trouble *why);
void digits_make(dataset *d, const dataset_options *options);
void shapes_make(dataset *d, const dataset_options *options);

/* The file DIRECTORY/NAME or with one of the endings of packed files; false: none is there. */
bool find_packed(char *path, size_t capacity, const char *directory, const char *name);

#endif
