/* SPDX-License-Identifier: BSD-2-Clause */
/* model_settings.h - what a network by name is made from. */
#ifndef FPTRAIN_MODELS_MODEL_SETTINGS_H
#define FPTRAIN_MODELS_MODEL_SETTINGS_H

#include <stdbool.h>

typedef struct model_settings {
    const char *name; /* mlp, lenet, resnet20/32/56/110, resnet18, alexnet, googlenet, squeezenet, shufflenetv2,
                         mobilenetv2, vgg (without normalisation), charlstm, chargpt */
    double width;     /* multiplier; 0: 1 */
    bool projections; /* resnet20...: 1x1 projections instead of zero-padded shortcuts */
    bool no_norm;     /* leaves batch normalisation out where the model can stand it */
    int c, h, w, classes, steps; /* of the data; steps and classes for text */
} model_settings;

#endif
