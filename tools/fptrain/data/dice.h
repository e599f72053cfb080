/* SPDX-License-Identifier: BSD-2-Clause */
/* dice.h - what the generated pictures share: dice of one sample, and arithmetic that is the same on every machine.
 *
 * Only + - * / and sqrt of double are used, never the C library's sine, so that a seed gives the same bytes anywhere.
 */
#ifndef FPTRAIN_DATA_DICE_H
#define FPTRAIN_DATA_DICE_H

#include "base/base.h"

/* The random numbers of one sample: splitmix64 from a start that (seed, split, index) decide. */
typedef struct dice {
    uint64_t state;
} dice;

static inline dice dice_of(uint64_t seed, bool test, size_t sample)
{
    return (dice){random_u64(seed, FOR_DATA, test, sample)};
}

static inline uint64_t dice_word(dice *d)
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline double dice_between(dice *d, double low, double high)
{
    return low + (high - low) * ((double)(dice_word(d) >> 11) * 0x1p-53);
}

static inline int dice_below(dice *d, int n)
{
    return (int)((dice_word(d) >> 32) * (uint64_t)n >> 32);
}

static inline bool dice_chance(dice *d, double p)
{
    return dice_between(d, 0, 1) < p;
}

/* About normal, deviation 1: a sum of four numbers of 16 bits. */
static inline double dice_bell(dice *d)
{
    const uint64_t w = dice_word(d);
    const double sum = (double)((w & 0xffff) + (w >> 16 & 0xffff) + (w >> 32 & 0xffff) + (w >> 48));
    return (sum - 131070) / 37837;
}

/* Three cheaper ones, of two numbers of 10 bits each, for the channels of a pixel. */
static inline void dice_bells(dice *d, double bell[3])
{
    uint64_t w = dice_word(d);
    for (int i = 0; i < 3; i++, w >>= 20)
        bell[i] = ((double)((w & 0x3ff) + (w >> 10 & 0x3ff)) - 1023) * (1 / 418.0);
}

/* sin(2 pi t) to about 1e-6, by its series around 0. */
static inline double sine(double t)
{
    const double whole = (double)(int64_t)t - (t < 0);
    double x = t - whole; /* [0, 1] */
    x = x < 0.25 ? x : x < 0.75 ? 0.5 - x : x - 1;
    x *= 6.283185307179586;
    const double y = x * x;
    const double last = 1 - y * (1. / 72) * (1 - y * (1. / 110));
    return x * (1 - y * (1. / 6) * (1 - y * (1. / 20) * (1 - y * (1. / 42) * last)));
}

static inline double cosine(double t)
{
    return sine(t + 0.25);
}

static inline double clamp_unit(double x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

#endif
