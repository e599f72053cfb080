/* SPDX-License-Identifier: BSD-2-Clause */
/* parts.h - what the models are made of. */
#ifndef FPTRAIN_MODELS_PARTS_H
#define FPTRAIN_MODELS_PARTS_H

#include "models/model_settings.h"
#include "ops/ops.h"

enum { SIZES = 32 };

/* A list of numbers. */
typedef struct sizes {
    int count, size[SIZES];
} sizes;

/* A model in the making. */
typedef struct plan {
    graph *g;
    const model_settings *settings;
    double width;
    trouble *why;
    bool *width_used;     /* a network from a text says whether it is */
    sizes blocks, hidden; /* those of the settings; count 0: the model's own */
} plan;

typedef enum activation { LINEAR, RELU, RELU6 } activation;

/* Channels times the width, to the nearest, at least 1. */
int part_scaled(const plan *p, int channels);
/* The same to a multiple of 8 (of 4 where the width is at most 0.25), and not under 0.9 of what was asked for. */
int part_rounded(const plan *p, int channels);
/* A convolution padded to keep its size (over the stride), normalisation unless left out, activation. Without
 * normalisation it has a bias. */
int part_conv(const plan *p, int x, conv_spec spec, activation then);
/* Global pooling and a linear layer. */
int part_head(const plan *p, int x);
/* The sides of its kernels: of the settings, or `normal`. */
int part_kernel(const plan *p, int normal);
/* Linear layers with ReLU between them, of the sizes of the settings or the model's own, times the width; and the
 * layer of the logits. */
int part_hidden(const plan *p, int x, sizes normal);
int part_max_pool(const plan *p, int x, int kernel, int stride, int padding);

#endif
