/* SPDX-License-Identifier: BSD-2-Clause */
/* points.h - inputs that cluster where mistakes are made: values, midpoints, thresholds, each with the carrier's
 * numbers next to it; random ones come after. */
#ifndef POINTS_H
#define POINTS_H

#include "../common.h"
#include <fpemu.h>

typedef struct points {
    uint64_t *x; /* bits of the carrier, each once */
    size_t n, capacity;
} points;

typedef struct points_want {
    unsigned full_bits; /* formats of up to this many bits: every pair of neighbours; else a sample */
    unsigned reach;     /* carrier numbers taken on each side of every point */
    size_t random;      /* random inputs: half of them any bits, half within the format's range */
    uint64_t seed;
} points_want;

/* Fills *p (zero it first). Returns 0 where the carrier cannot hold the format. */
int points_make(points *p, const fpemu_format *format, unsigned carrier, const points_want *want);
void points_free(points *p);

#endif
