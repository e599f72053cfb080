/* SPDX-License-Identifier: BSD-2-Clause */
/* stats.c - counters, extrema, exact error sums and exponent histograms. */
#include <math.h>

#include "array.h"
#include "core/reach.h"

/* ------------------------------------------------------------------------------------------- exact sums */

#define WORDS (sizeof((fpemu_exact_sum *)0)->word / sizeof(uint64_t))

/* Adds `value` at word `i`, carrying. 2^64 terms fit above the largest exponent. */
static void add_word(fpemu_exact_sum *s, size_t i, uint64_t value)
{
    while (value && i < WORDS) {
        s->word[i] += value;
        value = s->word[i] < value;
        i++;
    }
}

/* v >= 0 or infinite. */
static void add_exact(fpemu_exact_sum *s, double v)
{
    const uint64_t u = core_bits64(v), field = u >> 52, fraction = u & ((UINT64_C(1) << 52) - 1);
    if (field >= 2047) {
        s->infinite++;
        return;
    }
    const uint64_t sig = field ? fraction | (UINT64_C(1) << 52) : fraction;
    const size_t bit = field ? (size_t)field - 1 : 0;
    add_word(s, bit / 64, sig << (bit % 64));
    if (bit % 64)
        add_word(s, bit / 64 + 1, sig >> (64 - bit % 64));
}

static void join_exact(fpemu_exact_sum *to, const fpemu_exact_sum *from)
{
    for (size_t i = 0; i < WORDS; i++)
        add_word(to, i, from->word[i]);
    to->infinite += from->infinite;
}

/* Rounded once, to nearest even. */
static double read_exact(const fpemu_exact_sum *s)
{
    size_t top = WORDS;
    while (top > 0 && s->word[top - 1] == 0)
        top--;
    if (s->infinite)
        return core_value64(UINT64_C(0x7ff) << 52);
    if (top == 0)
        return 0;
    const size_t high = (top - 1) * 64 + (size_t)core_log2_64(s->word[top - 1]);
    if (high <= 52)
        return core_value64(s->word[0]); /* multiples of 2^-1074 below 2^53 are their own bit patterns */
    const size_t drop = high - 52, w = drop / 64, b = drop % 64;
    uint64_t kept = s->word[w] >> b;
    if (b && w + 1 < WORDS)
        kept |= s->word[w + 1] << (64 - b);
    kept &= (UINT64_C(1) << 53) - 1;
    const size_t half = drop - 1;
    int sticky = (s->word[half / 64] & ((UINT64_C(1) << (half % 64)) - 1)) != 0;
    for (size_t i = 0; i < half / 64; i++)
        sticky |= s->word[i] != 0;
    kept += (s->word[half / 64] >> (half % 64)) & 1 & (uint64_t)(sticky | (int)(kept & 1));
    if (drop + 1 > 2046 || (drop + 1 == 2046 && kept >> 53))
        return core_value64(UINT64_C(0x7ff) << 52);
    return core_value64(kept + ((uint64_t)drop << 52));
}

double fpemu_stats_sum_error(const fpemu_stats *stats)
{
    return stats ? read_exact(&stats->sum_error) : 0;
}

double fpemu_stats_sum_error2(const fpemu_stats *stats)
{
    return stats ? read_exact(&stats->sum_error2) : 0;
}

double fpemu_stats_sum_square(const fpemu_stats *stats)
{
    return stats ? read_exact(&stats->sum_square) : 0;
}

double fpemu_stats_sqnr(const fpemu_stats *stats)
{
    fp_environment environment;
    fpemu_environment_enter(&environment);
    const double signal = fpemu_stats_sum_square(stats), noise = fpemu_stats_sum_error2(stats);
    double decibels = NAN;
    if (signal > 0 && noise == 0)
        decibels = INFINITY;
    else if (signal > 0 && signal <= DBL_MAX) {
        const double quotient = signal / noise; /* of finite sums it may lie beyond binary64, at either end */
        decibels = 10 * (quotient >= DBL_MIN && quotient <= DBL_MAX ? log10(quotient) : log10(signal) - log10(noise));
    }
    fpemu_environment_leave(&environment);
    return decibels;
}

/* --------------------------------------------------------------------------------------------- gathering */

void fpemu_gather_begin(gathering *g, uint32_t want, int carrier)
{
    const size_t sums = offsetof(fpemu_stats, sum_error);
    const size_t after = offsetof(fpemu_stats, sum_square) + sizeof g->stats.sum_square;
    memset(&g->stats, 0, sums);
    memset((char *)&g->stats + after, 0, sizeof g->stats - after);
    if (want & FPEMU_STATS_SUMS) { /* most of it, which calls on few elements feel */
        memset((char *)&g->stats + sums, 0, after - sums);
        memset(g->lanes, 0, sizeof g->lanes);
    }
    g->stats.request.want = want;
    if (want & FPEMU_STATS_HISTOGRAM)
        memset(g->bins, 0, (carrier == 32 ? EXPONENTS_F32 : EXPONENTS_F64) * sizeof g->bins[0]);
}

/* Smaller of two magnitudes where 0 means none. */
static double smaller(double a, double b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void add_counts(fpemu_stats *s, int carrier, size_t n, const tile_counts *c)
{
    const int f32 = carrier == 32;
    s->count += n;
    s->nan += c->nan;
    s->infinite += c->infinite;
    s->clipped += c->clipped;
    s->overflow += c->overflow;
    s->invalid += c->invalid;
    s->underflow += c->underflow;
    s->subnormal += c->subnormal;
    s->inexact += c->inexact;
    s->min_abs = smaller(s->min_abs, f32 ? (double)core_value32((uint32_t)c->min_abs) : core_value64(c->min_abs));
    s->max_abs = larger(s->max_abs, f32 ? (double)core_value32((uint32_t)c->max_abs) : core_value64(c->max_abs));
    s->max_error = larger(s->max_error, c->max_error);
}

/* Takes the 32 lanes of the open block together and adds its totals. */
static void close_block(gathering *g)
{
    fpemu_exact_sum *const sums[3] = {&g->stats.sum_error, &g->stats.sum_error2, &g->stats.sum_square};
    for (int k = 0; k < 3; k++) {
        for (int step = 16; step > 0; step /= 2)
            for (int l = 0; l < step; l++)
                g->lanes[k][l] += g->lanes[k][l + step];
        add_exact(sums[k], g->lanes[k][0]);
    }
    memset(g->lanes, 0, sizeof g->lanes);
}

static void add_sums(gathering *g, int carrier, uint64_t i, size_t n, const void *x, const void *y)
{
    for (size_t j = 0; j < n; j++) {
        double a, b;
        if (carrier == 32) {
            float p, q;
            memcpy(&p, (const char *)x + 4 * j, 4);
            memcpy(&q, (const char *)y + 4 * j, 4);
            a = (double)p;
            b = (double)q;
        } else {
            memcpy(&a, (const char *)x + 8 * j, 8);
            memcpy(&b, (const char *)y + 8 * j, 8);
        }
        const size_t lane = (size_t)((i + j) & 31);
        if (isfinite(a) && isfinite(b)) {
            const double d = a - b;
            g->lanes[0][lane] += fabs(d);
            g->lanes[1][lane] += d * d;
            g->lanes[2][lane] += a * a;
        }
        if (((i + j + 1) & (SUM_BLOCK - 1)) == 0)
            close_block(g);
    }
}

static void add_exponents(uint64_t *bins, int carrier, size_t n, const void *x)
{
    for (size_t j = 0; j < n; j++) {
        if (carrier == 32) {
            uint32_t u;
            memcpy(&u, (const char *)x + 4 * j, 4);
            u &= 0x7fffffffu;
            if (u != 0 && u < 0x7f800000u)
                bins[u >> 23 ? (u >> 23) + 22 : (uint32_t)core_log2_32(u)]++;
        } else {
            uint64_t u;
            memcpy(&u, (const char *)x + 8 * j, 8);
            u &= ~(UINT64_C(1) << 63);
            if (u != 0 && u < UINT64_C(0x7ff) << 52)
                bins[u >> 52 ? (u >> 52) + 51 : (uint64_t)core_log2_64(u)]++;
        }
    }
}

void fpemu_gather_tile(gathering *g, int carrier, uint64_t i, size_t n, const void *x, const void *y,
                       const tile_counts *c)
{
    add_counts(&g->stats, carrier, n, c);
    if (g->stats.request.want & FPEMU_STATS_SUMS)
        add_sums(g, carrier, i, n, x, y);
    if (g->stats.request.want & FPEMU_STATS_HISTOGRAM)
        add_exponents(g->bins, carrier, n, x);
}

/* Adds every counter and extremum; with_sums: every sum. */
static void join(fpemu_stats *to, const fpemu_stats *from, int with_sums)
{
    to->count += from->count;
    to->nan += from->nan;
    to->infinite += from->infinite;
    to->clipped += from->clipped;
    to->overflow += from->overflow;
    to->invalid += from->invalid;
    to->div_by_zero += from->div_by_zero;
    to->underflow += from->underflow;
    to->subnormal += from->subnormal;
    to->inexact += from->inexact;
    to->swamped += from->swamped;
    to->min_abs = smaller(to->min_abs, from->min_abs);
    to->max_abs = larger(to->max_abs, from->max_abs);
    to->max_error = larger(to->max_error, from->max_error);
    to->blocks += from->blocks;
    to->zero_blocks += from->zero_blocks;
    to->nan_blocks += from->nan_blocks;
    to->saturated_scales += from->saturated_scales;
    if (with_sums) {
        join_exact(&to->sum_error, &from->sum_error);
        join_exact(&to->sum_error2, &from->sum_error2);
        join_exact(&to->sum_square, &from->sum_square);
    }
}

void fpemu_gather_close(gathering *g)
{
    if (g->stats.request.want & FPEMU_STATS_SUMS)
        close_block(g);
}

void fpemu_gather_end(gathering *g, int carrier, fpemu_stats *to)
{
    fpemu_gather_close(g);
    join(to, &g->stats, (g->stats.request.want & FPEMU_STATS_SUMS) != 0);
    if (!(g->stats.request.want & FPEMU_STATS_HISTOGRAM))
        return;
    const fpemu_stats_request *const r = &to->request;
    const int lowest = carrier == 32 ? -149 : -1074, count = carrier == 32 ? EXPONENTS_F32 : EXPONENTS_F64;
    for (int k = 0; k < count; k++) {
        const int64_t bin = (int64_t)lowest + k - r->histogram_first + 1, last = (int64_t)r->histogram_length - 1;
        r->histogram[bin < 0 ? 0 : bin > last ? last : bin] += g->bins[k];
    }
}

static int is_histogram(const uint64_t *counts, uint32_t length)
{
    core_reach e;
    return counts && length >= 3 && core_reach_array(&e, counts, length, sizeof *counts);
}

fpemu_status fpemu_stats_check(const fpemu_stats *s)
{
    const fpemu_stats_request *const r = &s->request;
    uint64_t reserved = r->reserved0;
    for (size_t i = 0; i < sizeof s->reserved1 / sizeof s->reserved1[0]; i++)
        reserved |= s->reserved1[i];
    if (reserved || (r->want & ~(FPEMU_STATS_SUMS | FPEMU_STATS_HISTOGRAM | FPEMU_STATS_SCALES)))
        return FPEMU_ERROR_STATS;
    if ((r->want & FPEMU_STATS_HISTOGRAM) && !is_histogram(r->histogram, r->histogram_length))
        return FPEMU_ERROR_STATS;
    if ((r->want & FPEMU_STATS_SCALES) && !is_histogram(r->scale_histogram, r->scale_length))
        return FPEMU_ERROR_STATS;
    return FPEMU_OK;
}

/* Whether histograms that are asked for, each within memory, have a count in common: `a` one of r's. */
static int is_shared(const fpemu_stats_request *r, const uint64_t *a, uint32_t length)
{
    core_reach x, y;
    const int at_all = core_reach_array(&x, a, length, sizeof *a);
    return at_all &&
           (((r->want & FPEMU_STATS_HISTOGRAM) && core_reach_array(&y, r->histogram, r->histogram_length, sizeof *a) &&
             core_reaches_meet(&x, &y)) ||
            ((r->want & FPEMU_STATS_SCALES) && core_reach_array(&y, r->scale_histogram, r->scale_length, sizeof *a) &&
             core_reaches_meet(&x, &y)));
}

fpemu_status fpemu_stats_merge(fpemu_stats *to, const fpemu_stats *from)
{
    if (!to || !from)
        return FPEMU_ERROR_NULL;
    const fpemu_stats_request *const p = &to->request, *const q = &from->request;
    if (fpemu_stats_check(to) || fpemu_stats_check(from) || p->want != q->want)
        return FPEMU_ERROR_STATS;
    if ((p->want & FPEMU_STATS_HISTOGRAM) &&
        (p->histogram_first != q->histogram_first || p->histogram_length != q->histogram_length))
        return FPEMU_ERROR_STATS;
    if ((p->want & FPEMU_STATS_SCALES) && (p->scale_first != q->scale_first || p->scale_length != q->scale_length))
        return FPEMU_ERROR_STATS;
    if ((p->want & FPEMU_STATS_HISTOGRAM) && is_shared(q, p->histogram, p->histogram_length))
        return FPEMU_ERROR_STATS;
    if ((p->want & FPEMU_STATS_SCALES) && is_shared(q, p->scale_histogram, p->scale_length))
        return FPEMU_ERROR_STATS;
    fp_environment environment;
    fpemu_environment_enter(&environment);
    join(to, from, 1);
    fpemu_environment_leave(&environment);
    if (p->want & FPEMU_STATS_HISTOGRAM)
        for (uint32_t i = 0; i < p->histogram_length; i++)
            p->histogram[i] += q->histogram[i];
    if (p->want & FPEMU_STATS_SCALES)
        for (uint32_t i = 0; i < p->scale_length; i++)
            p->scale_histogram[i] += q->scale_histogram[i];
    return FPEMU_OK;
}
