/* SPDX-License-Identifier: BSD-2-Clause */
/* network.h - the network of a run, to look at without training: its data say only how large an input is. */
#ifndef FPTRAIN_RUN_NETWORK_H
#define FPTRAIN_RUN_NETWORK_H

#include "models/model.h"
#include "run/settings.h"

typedef struct model_shape {
    int c, h, w, classes; /* 0: not given */
    int steps;            /* of text: data.steps; 0: images */
} model_shape;
enum { MODEL_SHAPE_TEXT = -1 }; /* steps as the settings say */

/* "shape": CxHxW, or "text"; "classes": a number. */
bool model_shape_read(model_shape *s, const char *what, const char *text, trouble *why);

/* Without graph_finish. A shape that is given replaces the data, which are then not opened. NULL and a sentence on
 * failure. */
graph *network_of(const settings *s, const model_shape *shape, trouble *why);
/* The same in two halves: fills in what was not given, then builds as often as one likes. */
bool network_shape(const settings *s, model_shape *shape, trouble *why);
graph *network_build(const settings *s, const model_shape *shape, trouble *why);

#endif
