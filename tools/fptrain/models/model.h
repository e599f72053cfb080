/* model.h - networks by name. */
#ifndef FPTRAIN_MODEL_H
#define FPTRAIN_MODEL_H

#include "engine/graph.h"

typedef struct model_settings {
    const char *name; /* mlp, lenet, resnet20/32/56/110, resnet18, alexnet, googlenet, squeezenet, shufflenetv2,
                         mobilenetv2, vgg (without normalisation), charlstm, chargpt */
    double width;     /* multiplier; 0: 1 */
    bool projections; /* resnet20...: 1x1 projections instead of zero-padded shortcuts */
    bool no_norm;     /* leaves batch normalisation out where the model can stand it */
    int c, h, w, classes, steps; /* of the data; steps and classes for text */
} model_settings;

/* A graph without graph_finish; NULL and a sentence where the name or the sizes do not fit. */
graph *model_new(const model_settings *settings, uint64_t seed, trouble *why);
const char *model_name(int i);  /* i = 0, 1, ...; NULL past the end */
const char *model_about(int i); /* one line */

#endif
