/* SPDX-License-Identifier: BSD-2-Clause */
/* model_settings.h - what a network by name is made from. */
#ifndef FPTRAIN_MODELS_MODEL_SETTINGS_H
#define FPTRAIN_MODELS_MODEL_SETTINGS_H

#include <stdbool.h>

/* Sizes are 0 or NULL (or "") where the model's own are meant. What a model does not use may not be given. */
typedef struct model_settings {
    const char *name;            /* one of the table of model.c, or NAME.net: the one that `text` describes */
    double width;                /* multiplier; 0: 1 */
    bool projections;            /* resnet, resnet20...: 1x1 projections instead of zero-padded shortcuts */
    bool no_norm;                /* leaves batch normalisation out where the model can stand it */
    int c, h, w, classes, steps; /* of the data; steps and classes for text */
    const char *blocks, *hidden; /* lists of numbers with commas */
    int depth, features, heads, kernel;
    const char *text, *from; /* of NAME.net: network_text.h; the name of its file, for messages */
    int line;                /* of `from` on which the text begins */
} model_settings;

#endif
