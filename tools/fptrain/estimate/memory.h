/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.h - how wide a network may be so that its parameters, gradients and optimiser fit in a given memory. */
#ifndef FPTRAIN_ESTIMATE_MEMORY_H
#define FPTRAIN_ESTIMATE_MEMORY_H

#include "optimizer/optimizer.h"
#include "run/network.h"

/* An optimiser, and how what it needs is kept. */
typedef struct memory_choice {
    const char *name; /* as in optimizer.h */
    bool packed;      /* in the formats of the settings */
} memory_choice;

typedef struct memory_fit {
    double width; /* 0: no width fits */
    uint64_t parameters;
    optimizer_memory memory;
} memory_fit;

/* The largest of the widths 0.01, 0.02, ... 16.00 at which the stored arrays and their workspace take at most `most`
 * bytes, for each choice. Every width is tried, from above: parameters need not grow with each. Widths that the model
 * refuses are left out. */
bool memory_largest_widths(const settings *s, const model_shape *shape, uint64_t most, int choices,
                           const memory_choice *choice, memory_fit *fit, trouble *why);

/* About how many bytes a training of this network has at its largest: values, gradients, parameters and the optimiser
 * of the settings, what convolutions lay out anew in `threads` threads, and the program. The data are not in it. NAN
 * and a sentence where the settings are wrong. */
double memory_of_training(const settings *s, graph *g, int threads, trouble *why);

#endif
