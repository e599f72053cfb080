/* SPDX-License-Identifier: BSD-2-Clause */
/* parts.h - what the models are made of. */
#ifndef FPTRAIN_MODELS_PARTS_H
#define FPTRAIN_MODELS_PARTS_H

#include "models/model_settings.h"
#include "ops/ops.h"

/* A model in the making. */
typedef struct plan {
    graph *g;
    const model_settings *settings;
    double width;
    trouble *why;
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
int part_max_pool(const plan *p, int x, int kernel, int stride, int padding);

#endif
