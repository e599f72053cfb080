/* SPDX-License-Identifier: BSD-2-Clause */
/* layers.h - the operators by the names that a network described in a text uses (network_text.h). */
#ifndef FPTRAIN_MODELS_LAYERS_H
#define FPTRAIN_MODELS_LAYERS_H

#include "engine/graph.h"

enum { LAYER_ARGUMENTS = 6, LAYER_NAME = 40 };

typedef enum argument_kind {
    ARGUMENT_NONE,   /* past the last one */
    ARGUMENT_WHOLE,  /* an expression */
    ARGUMENT_YESNO,  /* 1, 0 */
    ARGUMENT_NUMBER, /* such as 0.5 */
} argument_kind;

typedef struct argument {
    const char *name;
    argument_kind kind;
    double low, high;
    const char *normal; /* as it would be written; NULL: it has to be given */
} argument;

typedef struct layer_kind {
    const char *name; /* the type of its operator */
    argument argument[LAYER_ARGUMENTS];
    int (*add)(graph *g, int x, const double *a); /* a: the arguments in their order */
    const char *about;
    bool reads_tokens;
} layer_kind;

/* i = 0, 1, ...; NULL past the end. */
const layer_kind *layer_table(int i);
const layer_kind *layer_named(const char *name, size_t length);

#endif
