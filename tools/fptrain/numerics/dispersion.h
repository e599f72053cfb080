/* SPDX-License-Identifier: BSD-2-Clause */
/* dispersion.h - how wide the values of a gradient lie: what decides which scale it needs. */
#ifndef FPTRAIN_NUMERICS_DISPERSION_H
#define FPTRAIN_NUMERICS_DISPERSION_H

#include <stddef.h>
#include <stdint.h>

typedef struct dispersion {
    uint64_t count;   /* elements; 0: not looked at */
    double deviation; /* standard, over all finite elements (divided by their number) */
    double quantile;  /* the smallest |x| that at least 1 % of those finite and not zero do not exceed; 0: none is */
} dispersion;

dispersion dispersion_of(size_t n, const float *x);

#endif
