/* SPDX-License-Identifier: BSD-2-Clause */
/* codebook_fast.h - the rule of codebook.inc.h for tables of at most 256 values, by a look-up and a comparison instead
 * of a search: array loops only. Numbers are told apart by the first bits of their binary32 pattern, as many that each
 * such bucket has at most one threshold, where the result changes. codebook_fast.inc.h is read twice, as round.inc.h
 * is. tests/against_judges/codebooks.c compares all floats with the rule. */
#ifndef FPEMU_CORE_CODEBOOK_FAST_H
#define FPEMU_CORE_CODEBOOK_FAST_H

#include "codebook.h"

/* Values and buckets at most; buckets are filled some at a time, past the last too. */
#define CORE_SEARCH_VALUES 256
#define CORE_SEARCH_BUCKETS 8192
#define CORE_SEARCH_STEP 8

/* Elements from which on the search is worth its preparation. */
#define CORE_SEARCH_WORTH 512

/* Fills buckets from <= b < end. */
FPEMU_FN void core_search_fill(uint8_t *base, uint32_t from, uint32_t end, uint32_t k)
{
    const uint64_t all = k * UINT64_C(0x0101010101010101);
    for (uint32_t b = from; b < end; b += CORE_SEARCH_STEP)
        memcpy(base + b, &all, CORE_SEARCH_STEP);
}

FPEMU_FN uint32_t core_search_magnitude(uint32_t pattern, uint32_t least, uint32_t most)
{
    const uint32_t a = pattern & 0x7fffffffu, up = (int32_t)a < (int32_t)least ? least : a;
    return (int32_t)up > (int32_t)most ? most : up;
}

/* How many low bits of two magnitudes may be left out for them to differ still; -1 if they are the same. */
FPEMU_FN int core_search_apart(uint32_t a, uint32_t b)
{
    return a == b ? -1 : core_log2_32(a ^ b);
}

/* For at most 16 values under a scale s, in binary32: [x/s] > T just if x > s * (T and half a step more), a product
 * that binary64 holds; no quotient lies there, since s would need fewer bits. Rounded down to binary32 it decides the
 * same x. So a block has thresholds of its own, and needs no quotient of an element. */
typedef struct core_few {
    double edges[16];                               /* T and half a step more; the last is beyond every element */
    float halves[16];                               /* that half step, where `fused` */
    float thresholds[16], values[17], inverses[16]; /* of values[k + 1] - values[k]; 0 at the last value and beyond */
    /* By these in binary32, with [x [1/s]] for the quotient, the fraction of core_search_up comes less than `band` from
     * what it is in binary64, and so does what it is held against: nearer ones are for that. 0: not for random bits */
    float band;
    float reach;       /* the largest magnitude of a value: an element lies within `reach` times the scale */
    uint32_t even[32]; /* thresholds that lie below x / s / reach * 15 + 16, to the nearest integer, for sure */
    uint8_t usable;
    uint8_t is_even; /* each of `even` leaves one more at most */
    uint8_t fused;   /* s * (T and half a step more) is a fused product of binary32: s times the half step is exact */
} core_few;

/* In binary32 and to nearest, for look-ups of bytes: the number of bits that tell buckets apart is that of the binade,
 * so that 256 buckets of either sign, or 512 where no threshold is below zero, are enough for most tables. */
#define CORE_PLANES_BUCKETS 512
typedef struct core_planes {
    uint32_t shift[32], offset[32]; /* by the low bits of the exponent: bucket = (magnitude >> shift) + offset */
    uint32_t least, most;           /* magnitudes beyond count as these */
    int32_t lowest;                 /* 0 where numbers below zero count as zero, else the lowest integer */
    uint8_t base[CORE_PLANES_BUCKETS + CORE_SEARCH_STEP];                     /* by bucket, and 256 more below zero */
    uint8_t thresholds[4][CORE_SEARCH_VALUES], values[4][CORE_SEARCH_VALUES]; /* byte by byte, lowest first */
    uint8_t usable, quick; /* quick: no threshold is so near to zero that core_fast_quotient would not do,
                              * and no value so large that a product by a scale that core_few_holds overflows */
    uint8_t words;         /* the upper 16 bits of a number tell its bucket: no shift is below 16 */
} core_planes;

#include "carrier32.h"
#include "codebook_fast.inc.h"
#include "carrier_end.h"
#include "carrier64.h"
#include "codebook_fast.inc.h"
#include "carrier_end.h"

/* Whether loops decide by random bits in binary32, as core_few_fractions allows. */
FPEMU_FN int core_few_draws(const core_search32 *s)
{
    return s->few.usable && s->few.band > 0 && s->table.mode >= FPEMU_MODE_SR && s->table.mode != FPEMU_MODE_SE;
}

/* Whether a scale leaves thresholds and values of core_few normal numbers. */
FPEMU_FN int core_few_holds(float scale)
{
    return scale >= 0x1p-56f && scale <= 0x1p56f;
}

/* The quotient by [1/s] is within 3 units of 2^-24 of [x/s], which is at most as large as the larger neighbour; the
 * difference, its inverse and their product add 3 units of the fraction, what random bits become another. */
FPEMU_FN void core_few_fractions(core_few *f, uint32_t count)
{
    float widest = 0;
    f->band = 0;
    for (uint32_t k = 0; k < 16; k++) {
        const float a = f->values[k], b = f->values[k + 1], width = b - a;
        const float low = a < 0 ? -a : a, high = b < 0 ? -b : b, reach = low > high ? low : high;
        f->inverses[k] = k < count ? 1 / width : 0;
        if (k < count && !(width >= 0x1p-60f))
            return;
        if (k < count && !(reach / width < widest))
            widest = reach / width;
    }
    if (widest < 0x1p9f)
        f->band = 0x1p-21f * (1 + widest);
}

/* From `length` values and the thresholds between them. */
FPEMU_FN void core_few_make(core_few *f, uint32_t length, const float *thresholds, const float *values)
{
    const uint32_t count = length - 1;
    f->usable = f->is_even = f->fused = 0;
    if (length > 16)
        return;
    const float low = values[0] < 0 ? -values[0] : values[0], high = values[count];
    f->reach = high > low ? high : low;
    if (!(f->reach >= 0x1p-40f && f->reach <= 0x1p40f))
        return;
    int fused = 1;
    for (uint32_t k = 0; k < 16; k++) {
        const float t = thresholds[k];
        f->values[k] = values[k];
        f->thresholds[k] = t;
        f->edges[k] = 0x1p100;
        f->halves[k] = 0;
        if (k >= count)
            continue;
        const uint32_t u = core_bits32(t), a = u & 0x7fffffffu;
        if (a > 1 && a < core_bits32(0x1p-60f))
            return;
        /* quotients do lie half a step from zero: they become a zero, which is beyond the last number below it */
        f->edges[k] =
            a == 1 ? -0x1.0000000000001p-150 : ((double)t + (double)core_value32(u >> 31 ? u - 1 : u + 1)) / 2;
        if (u == 1)
            return;
        f->halves[k] = (float)(f->edges[k] - (double)t);
        fused &= a >= core_bits32(0x1p-40f); /* so is the half step of it, times the least scale, a whole float */
    }
    f->values[16] = f->values[15];
    f->usable = 1;
    f->fused = (uint8_t)fused;
    core_few_fractions(f, count);
    int before = -1; /* the last bucket that the threshold before may have */
    uint32_t from = 0;
    for (uint32_t k = 0; k < count; k++) {
        const float place = f->thresholds[k] / f->reach * 15 + 16.5f, slack = 0x1p-10f; /* floor is to nearest */
        const int first = (int)(place - slack), last = (int)(place + slack);
        if (first <= before)
            return;
        for (; from <= (uint32_t)last; from++)
            f->even[from] = k;
        before = last;
    }
    for (; from < 32; from++)
        f->even[from] = count;
    f->is_even = 1;
}

/* For numbers t of binary64: of [t] in binary32 these thresholds, rounded as t is, leave one of s->thresholds open. */
FPEMU_FN void core_few_make_wide(core_few *f, const core_search64 *s)
{
    float thresholds[16], values[16];
    f->usable = 0;
    for (uint32_t k = 0; k < 16; k++) {
        thresholds[k] = (float)s->thresholds[k];
        values[k] = (float)s->values[k];
        if (k > 0 && k + 1 < s->table.length && !(thresholds[k - 1] < thresholds[k]))
            return;
    }
    core_few_make(f, s->table.length, thresholds, values);
}

/* base[b] = how many thresholds lie in buckets below b, from whether each has one, which is one at most; `step`:
 * 1 if buckets ascend, with `before` thresholds below them all, or -1. */
FPEMU_FN void core_planes_count(uint8_t *base, const uint8_t *has, uint32_t buckets, uint32_t before, int step)
{
    const uint64_t ones = UINT64_C(0x0101010101010101); /* times eight bytes: their sums from the lowest on */
    uint64_t k = before;
    for (const uint8_t *const end = has + buckets; has < end; has += 8, base += 8) {
        uint64_t eight = 0;
        for (int i = 0; i < 8; i++)
            eight |= (uint64_t)has[i] << 8 * i;
        const uint64_t sums = eight * ones, below = step > 0 ? k * ones + sums - eight : k * ones - sums;
        for (int i = 0; i < 8; i++)
            base[i] = (uint8_t)(below >> 8 * i);
        k = step > 0 ? k + (sums >> 56) : k - (sums >> 56);
    }
}

/* The most bits of each binade: binades ascend, so the largest yet, with the binade above it, is that of the last. */
FPEMU_FN void core_planes_bits(const uint32_t *need, int count, int step, uint8_t bits[32])
{
    uint32_t most = 0;
    uint8_t here[32] = {0};
    for (int k = 0; k < count; k++) {
        const uint32_t n = need[step * k];
        most = n > most ? n : most;
        here[most >> 5] = (uint8_t)(most & 31);
    }
    for (int e = 0; e < 32; e++)
        bits[e] = here[e] > bits[e] ? here[e] : bits[e];
}

/* From s, whose thresholds are made. */
FPEMU_FN void core_planes_make(core_planes *p, core_search32 *s)
{
    const uint32_t count = s->table.length - 1;
    uint32_t u[CORE_SEARCH_VALUES], a[CORE_SEARCH_VALUES], least_of_all = ~UINT32_C(0);
    uint32_t need[CORE_SEARCH_VALUES];
    uint8_t bits[32] = {0};
    p->usable = 0;
    core_search_ends32(s);
    const uint32_t lowest = s->least >> 23, binades = (s->most >> 23) - lowest + 1;
    if (binades > 32)
        return;
    for (uint32_t k = 0; k < count; k++) {
        u[k] = core_bits32(s->thresholds[k]);
        const uint32_t magnitude = u[k] & 0x7fffffffu;
        least_of_all = magnitude < least_of_all ? magnitude : least_of_all;
        a[k] = core_search_magnitude(u[k], s->least, s->most);
    }
    const float low = s->values[0], high = s->values[CORE_SEARCH_VALUES];
    p->quick = least_of_all >= core_bits32(0x1p-40f) && low > -0x1p60f && high < 0x1p60f;
    uint32_t negative = 0, same = 0;
    for (uint32_t k = 0; k + 1 < count; k++) { /* the bits that tell it from the next one, below its binade */
        const uint32_t apart = a[k] ^ a[k + 1], tells = !((u[k] ^ u[k + 1]) >> 31 | apart >> 23);
        same |= tells & !apart;
        need[k] = ((a[k] >> 23) - lowest) << 5 | (tells ? 23 - (uint32_t)core_log2_32(apart | 1) : 0);
    }
    if (count)
        need[count - 1] = ((a[count - 1] >> 23) - lowest) << 5;
    for (uint32_t k = 0; k < count; k++)
        negative += u[k] >> 31;
    core_planes_bits(need + negative, (int)(count - negative), 1, bits);
    if (negative)
        core_planes_bits(need + negative - 1, (int)negative, -1, bits);
    if (same)
        return;
    const int below = s->thresholds[0] < 0 || core_bits32(s->thresholds[0]) >> 31;
    uint32_t buckets = 0;
    uint32_t shifts[32] = {0}, offsets[32] = {0};
    for (uint32_t e = lowest; e < lowest + binades; e++) {
        const uint32_t shift = 23u - bits[e - lowest];
        shifts[e & 31] = shift;
        offsets[e & 31] = buckets - (e << 23 >> shift);
        buckets += UINT32_C(1) << bits[e - lowest];
    }
    if (buckets > (below ? 256u : 512u))
        return;
    p->least = s->least;
    p->most = s->most;
    p->lowest = below ? INT32_MIN : 0;
    uint8_t longest = 0;
    for (int e = 0; e < 32; e++)
        longest = bits[e] > longest ? bits[e] : longest;
    p->words = longest <= 7;
    memcpy(p->shift, shifts, sizeof shifts);
    memcpy(p->offset, offsets, sizeof offsets);
    uint8_t has[CORE_PLANES_BUCKETS] = {0};
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t e = a[k] >> 23 & 31;
        has[(a[k] >> shifts[e]) + offsets[e] + (u[k] >> 31 << 8)] = 1;
    }
    core_planes_count(p->base, has, below ? 256 : 512, negative, 1);
    if (below)
        core_planes_count(p->base + 256, has + 256, 256, negative, -1);
    for (int byte = 0; byte < 4; byte++) {
        for (uint32_t k = 0; k < CORE_SEARCH_VALUES; k++)
            p->thresholds[byte][k] = (uint8_t)(core_bits32(s->thresholds[k]) >> 8 * byte);
        for (uint32_t k = 0; k < CORE_SEARCH_VALUES; k++)
            p->values[byte][k] = (uint8_t)(core_bits32(s->values[k]) >> 8 * byte);
    }
    p->usable = 1;
}

#endif /* FPEMU_CORE_CODEBOOK_FAST_H */
