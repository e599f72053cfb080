/* optimizer.h - the optimisers as PyTorch has them, over a store of parameters that may be packed. */
#ifndef FPTRAIN_OPTIMIZER_H
#define FPTRAIN_OPTIMIZER_H

#include "checkpoint.h"
#include "rounder.h"

typedef struct optimizer_settings {
    const char *name;     /* "sgd", "momentum", "nesterov", "adam" */
    double momentum;      /* mu; adam: beta1 */
    double beta2, epsilon;
    double decay;         /* lambda w joins the gradient, after clipping */
    double clip;          /* largest global norm of the gradient; 0: none */
    bool master;          /* false: w <- rnd(fmt(w), w - update); state stays FP32 */
} optimizer_settings;

typedef struct optimizer optimizer;

optimizer *optimizer_new(const optimizer_settings *settings, graph *g, rounder *r, uint64_t seed, trouble *why);
void optimizer_free(optimizer *o);
store *optimizer_store(optimizer *o);              /* what graph_forward and graph_backward take */
void optimizer_begin(optimizer *o);                /* rounds the weights for this step */
void optimizer_report(const optimizer *o, double *largest, bool *not_finite); /* over all dw, unscaled */
void optimizer_step(optimizer *o, double lr);      /* unscale, clip, decay, update */
const float *optimizer_master(optimizer *o, int param); /* for evaluation and tests; valid until the next call */
/* Counters of the last step: non-zero updates, those that left the rounded weight as it was, |g| and |lr g| < 2^-24. */
typedef struct update_counts {
    uint64_t elements, updates, vanished, small_g, small_update;
} update_counts;
update_counts optimizer_counts(const optimizer *o);
size_t optimizer_bytes(const optimizer *o);        /* stored: parameters, accumulators, state */
void optimizer_save(optimizer *o, checkpoint *to);
bool optimizer_load(optimizer *o, const checkpoint *from, trouble *why);

/* Learning rate of an epoch: "constant", "step:30,60" (times 0.1 at each), "cosine" (ends at 0), each with a linear
 * warm-up over the first `warmup` epochs. */
double schedule_lr(const char *schedule, double lr, int epoch, int epochs, int warmup, trouble *why);

#endif
