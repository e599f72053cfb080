/* dataset.h - samples and labels in memory: read from files, or generated from a seed. */
#ifndef FPTRAIN_DATASET_H
#define FPTRAIN_DATASET_H

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

/* where: "digits" or "shapes" (generated: seed, train_count, test_count; 0 = defaults), "mnist:DIR" (four IDX files,
 * plain or .gz), "cifar10:DIR" or "cifar100:DIR" (binary batches, plain, .gz or .xz, any record count), "text:FILE", or
 * a bare DIR whose content decides. part: of `parts` disjoint parts of the training samples the one with this number
 * (from 1; parts 0: all samples). They are drawn from the seed, with as many samples of each class as the others, or
 * one more; of a text they are stretches of it. limit: at most so many training samples of these, test_limit: so many
 * test samples (0: all; the first of a seeded shuffle; of a text: the first characters, the last ones for testing). */
typedef struct dataset_options {
    uint64_t seed;
    size_t train_count, test_count, limit, test_limit;
    int part, parts;
    int width, height; /* text: unused; images: 0, or what to pad to (e.g. 32 for MNIST in CIFAR models) */
} dataset_options;
/* "K/N" with 1 <= K <= N <= 1000, or "" for all. */
bool dataset_part_read(const char *text, dataset_options *options, trouble *why);
bool dataset_open(dataset *d, const char *where, const dataset_options *options, trouble *why);
void dataset_free(dataset *d);
/* The name of a class, or its number, or (text) its byte: in `text` of at least 16 bytes. */
const char *dataset_class(const dataset *d, int label, char *text);

/* Batches: order is a seeded shuffle of an epoch (a function of seed and epoch alone), augmentation of (seed, epoch,
 * sample). Each call fills inputs (samples, C, H, W), normalised, and labels; the last batch may be smaller.
 *
 * Between loader_open and the first epoch the caller may change shuffle (on for training), flip and crop (off), and
 * steps (64). Of a text a sample is `steps` characters and the labels are those that follow
 * each; a shuffled epoch starts at a random place within the first `steps` characters. */
typedef struct loader {
    const dataset *data;
    const split *from;
    uint64_t seed;
    int batch, epoch, steps; /* steps: text, characters of a sample */
    bool shuffle, flip;
    int crop;         /* padding in pixels of random crops; 0: none */
    size_t next;
    uint32_t *order;
} loader;
void loader_open(loader *l, const dataset *d, bool train, int batch, uint64_t seed);
void loader_close(loader *l);
void loader_epoch(loader *l, int epoch); /* starts epoch */
size_t loader_batches(const loader *l);
int loader_next(loader *l, float *inputs, int *labels); /* samples; 0: the epoch is over */

#endif
