/* SPDX-License-Identifier: BSD-2-Clause */
/* limits.h - the exponents at which a format ends. */
#ifndef FPTRAIN_REPORT_LIMITS_H
#define FPTRAIN_REPORT_LIMITS_H

#include "run/settings.h"

/* floor(log2) of the smallest positive, the smallest normal and the largest value. */
typedef struct limits {
    const char *spec; /* NULL: not known, and the rest means nothing */
    int smallest, normal, largest;
    bool has_normal; /* formats without subnormal numbers, as int8, have no such place */
} limits;

/* Of the format that a tensor has all the time by the [formats] of these settings. Not known where it is not rounded,
 * where the policy chooses, or where blocks have scales: then the limits are different from block to block. */
limits limits_of(const settings *s, const char *role, const char *tensor);

#endif
