/* SPDX-License-Identifier: BSD-2-Clause */
/* state.h - how parameters, gradients and the state of an optimiser are kept: fp32_state.c as arrays of float,
 * packed_state.c as packed bytes of any format with local scales. optimizer.c has what both share.
 */
#ifndef FPTRAIN_OPTIMIZER_STATE_H
#define FPTRAIN_OPTIMIZER_STATE_H

#include "base/checkpoint.h"
#include "numerics/rounder.h"

typedef enum method { SGD, MOMENTUM, NESTEROV, ADAM, ADAMW, METHODS } method;

static inline bool method_has_squares(method m)
{
    return m == ADAM || m == ADAMW;
}

/* What the threshold of clipping is compared with; see clipping.h. */
typedef enum clipping { CLIP_NORM, CLIP_TENSOR, CLIP_VALUE, CLIP_ADAPTIVE, CLIPPINGS } clipping;

/* Arrays that are kept of a parameter. */
enum { KEEP_WEIGHT, KEEP_GRADIENT, KEEP_MOMENTUM, KEEP_SQUARE, KEPT };

typedef struct optimizer_settings {
    const char *name; /* "sgd", "momentum", "nesterov", "adam", "adamw" */
    double momentum;  /* mu; adam, adamw: beta1 */
    double beta2, epsilon;
    double decay;         /* lambda w joins the gradient, after clipping; adamw: lr lambda w joins the update */
    double clip;          /* the threshold of clipping; 0: none */
    const char *clipping; /* "norm", "tensor", "value", "adaptive"; NULL: norm */
    /* Patterns of names of parameters, with commas between; NULL or empty: none. */
    const char *no_decay;   /* have no decay */
    const char *no_clip;    /* are not clipped, and do not count for the global norm */
    bool master;            /* false: w <- rnd(fmt(w), w - update); state stays FP32 */
    bool packed;            /* low-precision model memory: see packed_state.c; not for nesterov, and master is true */
    const char *kept[KEPT]; /* packed: formats of the arrays; NULL: group(int12,2048), group(int8,2048),
                               codebook(dynamic8,2048), codebook(udynamic8,2048) */
    bool nearest;           /* packed: round to nearest instead of stochastically */
} optimizer_settings;

/* Of the last step that was counted: non-zero updates, those that left the rounded weight as it was, |g| and
 * |lr g| < 2^-24 (zeros among them; g before clipping and decay). */
enum { UPDATE_FIRST = -24, UPDATE_BINS = 34 };
typedef struct update_counts {
    uint64_t elements, updates, vanished, small_g, small_update;
    /* Packed: floor(log2(|update| / delta)), delta the step of the weight's group: bin 0 below UPDATE_FIRST and zero,
     * bin 1 UPDATE_FIRST, ..., the last one all above; and the sum of |w after - w before| / delta. */
    uint64_t ratio[UPDATE_BINS];
    double moved;
} update_counts;

/* The share of so many updates that are less than 2^exponent steps of their group. */
static inline double update_share_below(const uint64_t ratio[UPDATE_BINS], uint64_t elements, int exponent)
{
    uint64_t below = 0;
    for (int bin = 0; bin <= exponent - UPDATE_FIRST; bin++)
        below += ratio[bin];
    return (double)below / (double)elements;
}

/* How often gradients were clipped, of the steps that were taken. A part is what has one norm: the whole gradient, a
 * tensor, an element, a row. */
typedef struct clip_counts {
    uint64_t steps, clipped; /* steps; those in which a part was clipped */
    uint64_t parts, parts_clipped;
    uint64_t not_finite; /* steps with a norm, or an element, that was not finite */
} clip_counts;

/* What clipping does to the gradient of one parameter, unscaled: element i of it times `factor`, or times
 * row[i / length], then, if `cuts`, cut to [-limit, limit]. */
typedef struct tensor_clip {
    double factor;
    bool cuts;
    float limit;
    const float *row; /* NULL: there are no rows */
    size_t length;
} tensor_clip;

/* Of the elements of one gradient, unscaled. */
typedef struct magnitudes {
    double largest; /* of those that are finite */
    uint64_t above; /* the limit */
    bool not_finite;
} magnitudes;

/* Bytes of what is stored, and beside it those used for one operator or group at a time. */
typedef struct optimizer_memory {
    uint64_t stored, workspace;
} optimizer_memory;

typedef struct optimizer optimizer;
typedef struct optimizer_type {
    void (*free)(optimizer *o);
    void (*begin)(optimizer *o); /* rounds the weights for this step */
    void (*extent)(const optimizer *o, int param, double *largest, bool *not_finite); /* of dw, still multiplied */
    double (*square)(const optimizer *o, int param); /* sum of squares of dw, still multiplied */
    /* Sums of squares of the rows of `length` elements: of dw, unscaled, and of the unrounded weights. */
    void (*row_squares)(optimizer *o, int param, size_t length, double *gradient, double *weight);
    magnitudes (*magnitudes)(const optimizer *o, int param, float limit); /* as update would cut it */
    void (*update)(optimizer *o, double lr, update_counts *counts);       /* step o->time; counts: NULL: none */
    const float *(*master)(optimizer *o, int param); /* the unrounded weights; valid until the next call */
    /* dw of the last backward pass, rounded and still multiplied; NULL where it is not kept. */
    const float *(*gradient)(const optimizer *o, int param);
    size_t (*bytes)(const optimizer *o);     /* stored: parameters, accumulators, state */
    size_t (*workspace)(const optimizer *o); /* beside it, used for one operator or group at a time */
    void (*save)(const optimizer *o, checkpoint *to);
    bool (*load)(optimizer *o, const checkpoint *from, trouble *why);
    void (*start)(optimizer *o, int param, const float *w); /* before the first step: weights instead of the graph's */
} optimizer_type;

struct optimizer {
    store store; /* what graph_forward and graph_backward take; first, so that a store is an optimizer */
    const optimizer_type *type;
    graph *g;
    rounder *r;
    method method;
    optimizer_settings settings;
    struct clipper *clipper; /* NULL: nothing is clipped */
    bool *no_decay;          /* by parameter */
    uint64_t time;           /* steps taken */
    bool unrounded;          /* the store gives the weights as they are kept, until it is turned off */
    bool count_next;         /* asks for the counts of the next step; they cost a rounding of every parameter */
    update_counts counts;    /* of the last step that was counted */
};

/* What an update of one parameter is made of, as floats. */
typedef struct recipe {
    method method;
    bool cuts;
    float unscale, clip, limit, decay, lr;
    float mean; /* by which the sum of the gathered gradients becomes their mean */
    float mu, rest1, beta2, rest2;
    float step, root2, epsilon; /* adam: lr / (1 - b1^t), sqrt(1 - b2^t) */
    float shrink, keep;         /* adamw: lr decay, and 1 less that */
} recipe;
/* Of the sum of so many gradients, in which decay joins each, or with adam their mean. */
recipe recipe_of(const optimizer *o, int param, double lr, double gathered, const tensor_clip *clip);

/* Everything as arrays of float. */
optimizer *optimizer_fp32(const optimizer_settings *settings, method m, graph *g, rounder *r);
/* Everything as packed bytes; NULL, or false, and a sentence where the formats do not fit. */
optimizer *optimizer_packed(const optimizer_settings *settings, method m, graph *g, rounder *r, trouble *why);
/* What `bytes` and `workspace` would say of one, without making it. */
bool optimizer_packed_memory(const optimizer_settings *settings, method m, graph *g, optimizer_memory *to,
                             trouble *why);

#endif
