/* SPDX-License-Identifier: BSD-2-Clause */
/* tensors.h - what flows through a network and what the passes ask of others: values, parameters, and where these live,
 * how they are rounded and scaled.
 *
 * A value is an (N, C, H, W) array of float, W fastest. N is the number of rows: the batch times rows_per_sample, which
 * is 1 for images and the number of time steps for sequences (row = sample * steps + time; features in C). Whoever
 * needs a vector of features (linear, softmax) takes C*H*W as one; so there is no operator for flattening.
 */
#ifndef FPTRAIN_ENGINE_TENSORS_H
#define FPTRAIN_ENGINE_TENSORS_H

#include "base/base.h"

/* The four kinds of tensors of a gradient computation: output values, parameters, and their gradients. */
typedef enum role { ROLE_V, ROLE_W, ROLE_DV, ROLE_DW, ROLES } role;
const char *role_name(role which); /* "v", "w", "dv", "dw" */
int role_named(const char *name);  /* -1: none */

typedef struct value {
    int c, h, w, rows_per_sample;
    size_t row;     /* c * h * w */
    int producer;   /* index of the operator; -1: the batch that is fed */
    int consumers;  /* how many inputs of operators read it */
    bool is_tensor; /* false: a rearrangement (channel shuffle) that is never rounded by itself */
    float *v, *dv;  /* rows of the largest batch, while they are needed; dv of the fed batch: NULL */
    double alpha;   /* what dv is multiplied by, over the true gradient: set by every backward pass */
} value;

typedef enum param_kind { PARAM_WEIGHT, PARAM_BIAS, PARAM_SCALE, PARAM_SHIFT } param_kind;

typedef struct param {
    char name[64]; /* "conv1.weight": the operator's name and the kind; unique */
    param_kind kind;
    int op;
    int dims, dim[4];
    size_t size;
    double alpha; /* what its dw of the last backward pass is multiplied by */
} param;

/* Running statistics and the like: no parameter, but part of a checkpoint. */
typedef struct buffer {
    char name[64];
    size_t size;
    float start; /* of each element */
    float *data; /* NULL before graph_finish */
} buffer;

/* ------------------------------------------------------------------------------------------------ what passes ask */

/* Where parameters live. The passes call fetch before an operator needs parameter p and release after; backward also
 * asks where to put dw and says when it is there. Thus a store may keep parameters packed and unpack one at a time. */
typedef struct store store;
struct store {
    const float *(*fetch)(store *s, int param); /* the rounded weights of this step */
    void (*release)(store *s, int param);
    float *(*gradient)(store *s, int param);
    void (*gradient_done)(store *s, int param); /* dw, multiplied by graph_param(p)->alpha, has been written */
};

/* What happens to a tensor when it has just been computed: one function rounds it and counts (rounder.h). */
typedef struct rounds rounds;
struct rounds {
    void (*round)(rounds *r, role which, int index, size_t n, float *x); /* index: of value or parameter */
    /* May be NULL: the step of which all elements are whole numbers since the last rounding; 0: there is none. */
    double (*step)(rounds *r, role which, int index);
    /* May be NULL: whether v or dv gives the same when it is rounded in parts, from its first element to its last. */
    bool (*parts)(rounds *r, role which, int index);
    /* May be NULL: contributions to a gradient that were rounded one by one have been added; x is their sum. */
    void (*joined)(rounds *r, role which, int index, size_t n, const float *x);
    bool each; /* several consumers: round each contribution (`fanout=each`), else the sum */
};

/* Layer-wise scaling; NULL: none. beta is asked before the backward pass of a convolution or linear layer that passes a
 * gradient on, with the gradient that arrives (n elements, multiplied by alpha) and its rounded weights; a power of
 * two, by which the gradient is multiplied before the layer makes of it what it passes on (not its dw). All other
 * operators leave alpha as it is. join is asked where `count` contributions with multipliers alpha[i] meet, in the
 * order of the backward pass: it returns the one alpha to which all are brought before they are added. largest[i] is
 * max |contribution i|. */
typedef struct layer_scaling layer_scaling;
struct layer_scaling {
    double (*beta)(layer_scaling *s, int op, size_t n, const float *delta, size_t weights, const float *w);
    double (*join)(layer_scaling *s, int value, int count, const double *alpha, const double *largest);
    bool (*wants_largest)(layer_scaling *s, int value); /* false: join is called with largest NULL (interval) */
    double seconds; /* that statistics took: the passes add what they need for `largest` */
};

typedef struct forward_result {
    double loss; /* mean over the rows */
    size_t correct, rows;
} forward_result;

#endif
