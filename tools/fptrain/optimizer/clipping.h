/* SPDX-License-Identifier: BSD-2-Clause */
/* clipping.h - gradients are made smaller before the optimiser takes them: unscaled, in FP32, before decay.
 *
 * With the threshold C:
 *
 *     norm      g <- g min(1, C / (|g| + 1e-6)), |g| the 2-norm over all parameters (torch.nn.utils.clip_grad_norm_)
 *     tensor    the same for each parameter, with its own norm
 *     value     g_i <- min(max(g_i, -C), C)                                        (torch.nn.utils.clip_grad_value_)
 *     adaptive  g_r <- g_r min(1, C max(|w_r|, 1e-3) / max(|g_r|, 1e-6)) for each row r (Brock et al. 2021), that is
 *               what belongs to one output: element r of the first dimension; vectors are one row
 *
 * Where a norm is infinite the factor is 0, so that what is finite becomes 0 and what is infinite NaN; where it is NaN
 * nothing is clipped. By value infinities become C, and NaN stays. Most loss scalers have skipped such a step before.
 * What micro-batches gathered is clipped as their sum.
 */
#ifndef FPTRAIN_OPTIMIZER_CLIPPING_H
#define FPTRAIN_OPTIMIZER_CLIPPING_H

#include <float.h>

#include "optimizer/state.h"

typedef struct clipper {
    clipping kind;
    bool *exempt;     /* by parameter */
    double factor;    /* norm: of this step */
    double *squares;  /* adaptive: of the rows of one parameter, of the gradient and of the weight */
    float *row;       /* and their factors */
    clip_counts all;  /* of all steps */
    clip_counts last; /* of the last one */
    double largest;   /* of what was compared with the threshold in the last one; adaptive: of |g_r| / |w_r| */
} clipper;

/* CLIPPINGS where there is no such kind; NULL is "norm". */
clipping clipping_named(const char *name);
/* Which parameters fit one of the patterns, for free(); NULL and a sentence where a pattern fits none of them. */
bool *clipping_patterns(graph *g, const char *patterns, trouble *why);
/* Bytes that it takes beside gradients. */
size_t clipping_workspace(const optimizer_settings *settings, graph *g);
/* Takes one more element in. */
static inline void magnitudes_add(magnitudes *m, float x, float limit)
{
    const float size = x < 0 ? -x : x;
    const bool finite = size <= FLT_MAX; /* not: infinity, NaN */
    m->above += size > limit;
    m->not_finite = m->not_finite || !finite;
    m->largest = finite && (double)size > m->largest ? (double)size : m->largest;
}

clipper *clipper_new(const optimizer_settings *settings, graph *g, trouble *why);
void clipper_free(clipper *c);

/* In a step: first begin, then of each parameter before it is updated, then end. */
void clipping_begin(optimizer *o);
tensor_clip clipping_of(optimizer *o, int param);
void clipping_end(optimizer *o);

#endif
