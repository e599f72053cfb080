/* optimizer.h - the optimisers as PyTorch has them, over a store of parameters that may be packed.
 *
 *     sgd       w <- w - lr g
 *     momentum  m <- mu m + g;  w <- w - lr m
 *     nesterov  m <- mu m + g;  w <- w - lr (g + mu m)
 *     adam      m <- b1 m + (1 - b1) g;  v <- b2 v + (1 - b2) g^2;
 *               w <- w - lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + epsilon)
 *
 * with g = c dw / multiplier + decay w and c = min(1, clip / (norm + 1e-6)), norm over all parameters.
 */
#ifndef FPTRAIN_OPTIMIZER_H
#define FPTRAIN_OPTIMIZER_H

#include "base/checkpoint.h"
#include "numerics/rounder.h"

/* Arrays that a store keeps of a parameter. */
enum { KEEP_WEIGHT, KEEP_GRADIENT, KEEP_MOMENTUM, KEEP_SQUARE, KEPT };

typedef struct optimizer_settings {
    const char *name;     /* "sgd", "momentum", "nesterov", "adam" */
    double momentum;      /* mu; adam: beta1 */
    double beta2, epsilon;
    double decay;         /* lambda w joins the gradient, after clipping */
    double clip;          /* largest global norm of the gradient; 0: none */
    bool master;          /* false: w <- rnd(fmt(w), w - update); state stays FP32 */
    bool packed;          /* low-precision model memory: see keeper_packed.c; not for nesterov, and master is true */
    const char *kept[KEPT]; /* packed: formats of the arrays; NULL: group(int12,2048), group(int8,2048),
                               codebook(dynamic8,2048), codebook(udynamic8,2048) */
    bool nearest;         /* packed: round to nearest instead of stochastically */
} optimizer_settings;

typedef struct optimizer optimizer;

optimizer *optimizer_new(const optimizer_settings *settings, graph *g, rounder *r, trouble *why);
void optimizer_free(optimizer *o);
store *optimizer_store(optimizer *o);              /* what graph_forward and graph_backward take */
void optimizer_begin(optimizer *o);                /* rounds the weights for this step */
void optimizer_unrounded(optimizer *o, bool on);   /* the store gives the master weights, until it is turned off */
void optimizer_report(const optimizer *o, double *largest, bool *not_finite); /* over all dw, unscaled */
void optimizer_step(optimizer *o, double lr);      /* unscale, clip, decay, update */
const float *optimizer_master(optimizer *o, int param); /* for evaluation and tests; valid until the next call */
/* dw of the last backward pass, rounded and still multiplied; NULL where the store does not keep it. */
const float *optimizer_gradient(const optimizer *o, int param);
/* Asks for the counts of the next step; they cost a rounding of every parameter. */
void optimizer_count_next(optimizer *o);
/* Counters of the last step that was counted: non-zero updates, those that left the rounded weight as it was, |g| and
 * |lr g| < 2^-24 (zeros among them; g before clipping and decay). */
enum { UPDATE_FIRST = -24, UPDATE_BINS = 34 };
typedef struct update_counts {
    uint64_t elements, updates, vanished, small_g, small_update;
    /* Packed: floor(log2(|update| / delta)), delta the step of the weight's group: bin 0 below UPDATE_FIRST and zero,
     * bin 1 UPDATE_FIRST, ..., the last one all above; and the sum of |w after - w before| / delta. */
    uint64_t ratio[UPDATE_BINS];
    double moved;
} update_counts;
update_counts optimizer_counts(const optimizer *o);
size_t optimizer_bytes(const optimizer *o);        /* stored: parameters, accumulators, state */
size_t optimizer_workspace(const optimizer *o);    /* beside it, used for one operator or group at a time */
/* Both, of an optimiser that need not be made; in FP32 without rounded copies of weights. */
typedef struct optimizer_memory {
    uint64_t stored, workspace;
} optimizer_memory;
bool optimizer_memory_of(const optimizer_settings *settings, graph *g, optimizer_memory *to, trouble *why);
void optimizer_save(optimizer *o, checkpoint *to);
bool optimizer_load(optimizer *o, const checkpoint *from, trouble *why);

/* Learning rate of an epoch (0, 1, ...): "constant"; "step:30,60", times 0.1 from each of these epochs on; "cosine",
 * lr (1 + cos(pi t)) / 2 with t the share of the epochs after the warm-up that has passed, so that it ends at 0. Each
 * after a linear warm-up: lr (epoch + 1) / (warmup + 1) in the first `warmup` epochs. -1 for another schedule. */
double schedule_lr(const char *schedule, double lr, int epoch, int epochs, int warmup, trouble *why);

#endif
