/* SPDX-License-Identifier: BSD-2-Clause */
/* axis.c - see axis.h */
#include "common/axis.h"

#include <math.h>

double axis_step(double span, int steps)
{
    const double rough = span / steps, power = pow(10, floor(log10(rough))), factor = rough / power;
    return power * (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10);
}

axis axis_make(double low, double high, double from, double to)
{
    const double largest = fmax(fabs(low), fabs(high));
    if (!(high - low > 1e-9 * largest)) {
        low -= largest == 0 ? 1 : largest * 0.1;
        high += largest == 0 ? 1 : largest * 0.1;
    }
    return (axis){low, high, axis_step(high - low, 6), from, to};
}

double axis_place(const axis *a, double x)
{
    return a->from + (x - a->low) / (a->high - a->low) * (a->to - a->from);
}
