/* SPDX-License-Identifier: BSD-2-Clause */
/* loader.h - batches of a data set. */
#ifndef FPTRAIN_DATA_LOADER_H
#define FPTRAIN_DATA_LOADER_H

#include "data/samples.h"

/* The order is a seeded shuffle of an epoch (a function of seed and epoch alone), augmentation of (seed, epoch,
 * sample). Each call fills inputs (samples, C, H, W), normalised, and labels; the last batch may be smaller.
 *
 * Between loader_open and the first epoch the caller may change shuffle (on for training), flip and crop (off), and
 * steps (64). Of a text a sample is `steps` characters and the labels are those that follow each; a shuffled epoch
 * starts at a random place within the first `steps` characters. */
typedef struct loader {
    const dataset *data;
    const split *from;
    uint64_t seed;
    int batch, epoch, steps; /* steps: text, characters of a sample */
    bool shuffle, flip;
    int crop; /* padding in pixels of random crops; 0: none */
    size_t next;
    uint32_t *order;
    float *table; /* the normalised number of every byte, by channel; NULL: not yet made, or too many channels */
} loader;
void loader_open(loader *l, const dataset *d, bool train, int batch, uint64_t seed);
void loader_close(loader *l);
void loader_epoch(loader *l, int epoch); /* starts epoch */
size_t loader_batches(const loader *l);
int loader_next(loader *l, float *inputs, int *labels); /* samples; 0: the epoch is over */

#endif
