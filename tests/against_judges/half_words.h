/* SPDX-License-Identifier: BSD-2-Clause */
/* half_words.h - binary16 and bfloat16 as IEEE 754 and bfloat16's inventors have them: the values of all words, and by
 * search among them the words of values. */
#ifndef HALF_WORDS_H
#define HALF_WORDS_H

#include "../common.h"
#include <fpemu.h>

enum { WORDS = 1 << 16, TYPES = 2 };

static const struct type {
    const char *name;
    fpemu_type type;
    int digits, bias;
    uint16_t most, infinity, nan; /* the words of the largest finite number, infinity and the one NaN that is written */
} types[TYPES] = {{"f16", FPEMU_TYPE_F16, 10, 15, 0x7bff, 0x7c00, 0x7e00},
                  {"bf16", FPEMU_TYPE_BF16, 7, 127, 0x7f7f, 0x7f80, 0x7fc0}};

static double values[TYPES][WORDS];

/* A word's value, by the definition of the type. */
static inline double value_of(const struct type *t, unsigned word)
{
    const int E = (int)((word & 0x7fff) >> t->digits), T = (int)(word & ((1u << t->digits) - 1));
    const double sign = word & 0x8000 ? -1 : 1;
    if ((word & 0x7fff) > t->infinity)
        return copysign(NAN, sign);
    if ((word & 0x7fff) == t->infinity)
        return sign * INFINITY;
    return sign * (E ? ldexp(1 + ldexp(T, -t->digits), E - t->bias) : ldexp(T, 1 - t->bias - t->digits));
}

/* The nearest word, ties to the even one, a finite number to a finite one. */
static inline uint16_t word_of(const struct type *t, double x)
{
    const double *const v = values[t - types];
    const uint16_t sign = signbit(x) ? 0x8000 : 0;
    unsigned low = 0, high = t->most;
    if (isnan(x))
        return t->nan;
    x = fabs(x);
    if (isinf(x))
        return (uint16_t)(sign | t->infinity);
    while (low < high) { /* the last word that is not above x */
        const unsigned middle = (low + high + 1) / 2;
        if (v[middle] <= x)
            low = middle;
        else
            high = middle - 1;
    }
    if (low < t->most && (v[low + 1] - x < x - v[low] || (v[low + 1] - x == x - v[low] && low % 2 == 1)))
        low++;
    return (uint16_t)(sign | low);
}

/* Before all other uses. */
static inline void find_values(void)
{
    for (int t = 0; t < TYPES; t++)
        for (unsigned i = 0; i < WORDS; i++)
            values[t][i] = value_of(&types[t], i);
}

#endif
