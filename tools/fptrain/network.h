/* network.h - the network of a run, to look at without training: its data say only how large an input is. */
#ifndef FPTRAIN_NETWORK_H
#define FPTRAIN_NETWORK_H

#include "model.h"
#include "settings.h"

typedef struct model_shape {
    int c, h, w, classes; /* 0: not given */
} model_shape;

/* "shape": CxHxW; "classes": a number. */
bool model_shape_read(model_shape *s, const char *what, const char *text, trouble *why);

/* Without graph_finish. A shape that is given replaces the data, which are then not opened. NULL and a sentence on
 * failure. */
graph *network_of(const settings *s, const model_shape *shape, trouble *why);

#endif
