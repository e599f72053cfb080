/* SPDX-License-Identifier: BSD-2-Clause */
/* optimizer.h - the optimisers as PyTorch has them, over a store of parameters that may be packed.
 *
 *     sgd       w <- w - lr g
 *     momentum  m <- mu m + g;  w <- w - lr m
 *     nesterov  m <- mu m + g;  w <- w - lr (g + mu m)
 *     adam      m <- b1 m + (1 - b1) g;  v <- b2 v + (1 - b2) g^2;
 *               w <- w - lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + epsilon)
 *     adamw     the same, after w <- w - lr decay w (Loshchilov and Hutter 2019)
 *
 * with g = clipped(dw / multiplier) + decay w, adamw without the decay; see clipping.h. Parameters that fit one of the
 * patterns of no_decay have none.
 */
#ifndef FPTRAIN_OPTIMIZER_OPTIMIZER_H
#define FPTRAIN_OPTIMIZER_OPTIMIZER_H

#include "optimizer/state.h"

/* NULL and a sentence where settings or formats do not fit. */
optimizer *optimizer_new(const optimizer_settings *settings, graph *g, rounder *r, trouble *why);
void optimizer_free(optimizer *o);
void optimizer_report(const optimizer *o, double *largest, bool *not_finite); /* over all dw, unscaled */
void optimizer_step(optimizer *o, double lr);                                 /* unscale, clip, decay, update */
/* The bytes of an optimiser that need not be made; in FP32 without rounded copies of weights. */
bool optimizer_memory_of(const optimizer_settings *settings, graph *g, optimizer_memory *to, trouble *why);
void optimizer_save(const optimizer *o, checkpoint *to);
bool optimizer_load(optimizer *o, const checkpoint *from, trouble *why);

#endif
