/* SPDX-License-Identifier: BSD-2-Clause */
/* dispersion.c - see dispersion.h */
#include "numerics/dispersion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* The bits of |x| are in the order of |x|: the quantile is found by its upper 16 bits, then by its lower ones. */
enum { HALF = 65536 };

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits & 0x7fffffff;
}

static bool counts(uint32_t bits)
{
    return bits != 0 && bits < 0x7f800000;
}

/* The first bin with which the sum reaches the rank, which loses what lies below. */
static uint32_t find_bin(const uint64_t *bins, uint64_t *rank)
{
    uint32_t bin = 0;
    while (bins[bin] < *rank)
        *rank -= bins[bin++];
    return bin;
}

static double quantile_of(size_t n, const float *x)
{
    uint64_t *bins = need(HALF, sizeof *bins), seen = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t bits = bits_of(x[i]);
        bins[bits >> 16] += counts(bits);
        seen += counts(bits);
    }
    float value = 0;
    if (seen > 0) {
        uint64_t rank = (seen + 99) / 100;
        const uint32_t upper = find_bin(bins, &rank);
        memset(bins, 0, HALF * sizeof *bins);
        for (size_t i = 0; i < n; i++) {
            const uint32_t bits = bits_of(x[i]);
            bins[bits & 0xffff] += counts(bits) && bits >> 16 == upper;
        }
        const uint32_t bits = upper << 16 | find_bin(bins, &rank);
        memcpy(&value, &bits, sizeof value);
    }
    free(bins);
    return (double)value;
}

dispersion dispersion_of(size_t n, const float *x)
{
    double sum = 0, square = 0, finite = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i])) {
            sum += (double)x[i];
            finite++;
        }
    const double mean = finite > 0 ? sum / finite : 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i]))
            square += ((double)x[i] - mean) * ((double)x[i] - mean);
    return (dispersion){n, finite > 0 ? sqrt(square / finite) : 0, quantile_of(n, x)};
}
