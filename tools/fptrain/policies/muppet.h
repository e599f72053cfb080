/* SPDX-License-Identifier: BSD-2-Clause */
/* muppet.h - MuPPET (Rajagopal et al. 2020): fixed point with one scale a tensor, and when its word length grows.
 *
 * A run begins at the first word length (level) and ends in FP32. At the end of a policy epoch the last gradients of
 * every parameter are kept; the diversity of a window of them,
 *
 *     Delta_j = mean over parameters of  sum_k |g_k|^2 / |sum_k g_k|^2        (a zero denominator is left out)
 *
 * is compared with the largest of this level: p = max Delta_i / Delta_j, i before j. p > alpha + beta exp(-lambda j)
 * is a violation; the gamma-th of a level ends it.
 */
#ifndef FPTRAIN_POLICIES_MUPPET_H
#define FPTRAIN_POLICIES_MUPPET_H

#include "base/base.h"

enum { MUPPET_LEVELS = 8, MUPPET_WINDOW = 32 };

typedef enum muppet_window {
    MUPPET_EVERY_EPOCH, /* the last r + 1 gradients of a level, from its epoch r + 1 on (equation 7) */
    MUPPET_BLOCKS       /* blocks of r epochs that do not overlap (the authors' code) */
} muppet_window;

typedef struct muppet_settings {
    int levels, bits[MUPPET_LEVELS]; /* 8, 12, 14, 16; FP32 follows */
    char rounding[16];               /* "sr", "printed", "nearest" */
    double alpha, beta, lambda;      /* 1, 1.5, 0.1 */
    int r, gamma;                    /* 3, 2 */
    muppet_window window;
    uint64_t epoch_steps; /* gradient computations of a policy epoch; 0: an epoch of the run */
    int tail;             /* policy epochs in FP32, the learning rate times 0.1 after each third; 45 */
    int switches, switch_at[MUPPET_LEVELS]; /* policy epochs after which to switch, instead of by diversity */
} muppet_settings;

muppet_settings muppet_defaults(void);
/* "levels=8/12/14/16,rounding=sr,alpha=1,beta=1.5,lambda=0.1,r=3,gamma=2,window=equation|code,epoch-steps=0,tail=45,
 * switch=3/7/9/12 or switch=random:SEED:EPOCHS", any of them in any order. */
bool muppet_read(muppet_settings *s, const char *text, trouble *why);

/* What is decided from diversities alone; all zero but `level_epoch` at the start of a level. */
typedef struct muppet_switching {
    int violations;
    int deltas;          /* of this level */
    double largest;      /* of them */
    double p, threshold; /* of the last one; p is 0 where it is not defined */
} muppet_switching;
/* Takes in the diversity of policy epoch j; true: the level is over. */
bool muppet_judge(muppet_switching *now, const muppet_settings *s, int j, double delta);

/* Delta of `window` gradients of `params` parameters: g[k * params + p] has size[p] elements. NaN: no parameter has
 * one. */
double muppet_diversity(int window, int params, const size_t *size, const float *const *g);

#endif
