/* SPDX-License-Identifier: BSD-2-Clause */
/* allocation.c - tools/fpemu/plans/allocation against every choice there is, and against dynamic programming over whole
 * bits. The judges here share nothing with what they judge. */
#include "plans/allocation.h"

#include "../common.h"

enum { MOST_ITEMS = 80, MOST_OPTIONS = 6 };

static uint64_t state = 1;
static unsigned failures, proven, bounded;

static uint64_t random_below(uint64_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % n;
}

static double random_real(void)
{
    return (double)random_below(1u << 30) / (double)(1u << 30);
}

typedef struct instance {
    size_t items;
    allocation_item item[MOST_ITEMS];
    allocation_option option[MOST_ITEMS][MOST_OPTIONS];
} instance;

/* Kind 0: small whole numbers, with many ties; 1: reals; 2: errors that fall as formats' do, sizes far apart. */
static void make(instance *x, size_t items, unsigned kind)
{
    x->items = items;
    for (size_t i = 0; i < items; i++) {
        const size_t options = 1 + random_below(MOST_OPTIONS);
        const double size = (double)(1 + random_below(kind == 2 ? 1000 : 6)),
                     noise = random_real() * pow(10, random_real() * 6);
        for (size_t k = 0; k < options; k++) {
            allocation_option *o = &x->option[i][k];
            o->bits = kind == 0   ? (double)random_below(8)
                      : kind == 1 ? 10 * random_real()
                                  : size * (double)(2 + random_below(15));
            o->error = kind == 0   ? (double)random_below(8)
                       : kind == 1 ? random_real()
                                   : size * noise * pow(4, -o->bits / size) * (0.5 + random_real());
        }
        x->item[i] = (allocation_item){x->option[i], options};
    }
}

/* The least error of all choices within the limit; infinity: there is none. */
static double try_all(const instance *x, size_t i, double bits, double error, double limit)
{
    if (i == x->items)
        return bits <= limit ? error : (double)INFINITY;
    double best = (double)INFINITY;
    for (size_t k = 0; k < x->item[i].options; k++) {
        const allocation_option *o = &x->item[i].option[k];
        best = fmin(best, try_all(x, i + 1, bits + o->bits, error + o->error, limit));
    }
    return best;
}

/* The same for whole bits and a limit that is not large: the least error for every number of bits. */
static double try_bits(const instance *x, size_t limit)
{
    double *now = calloc(limit + 1, sizeof *now), *next = calloc(limit + 1, sizeof *next);
    if (now == NULL || next == NULL)
        exit(1);
    for (size_t i = 0; i < x->items; i++) {
        for (size_t b = 0; b <= limit; b++) {
            next[b] = (double)INFINITY;
            for (size_t k = 0; k < x->item[i].options; k++) {
                const size_t bits = (size_t)x->item[i].option[k].bits;
                if (bits <= b)
                    next[b] = fmin(next[b], now[b - bits] + x->item[i].option[k].error);
            }
        }
        double *swap = now;
        now = next;
        next = swap;
    }
    const double best = now[limit];
    FREE(now, next);
    return best;
}

static void complain(const char *what, double got, double wanted)
{
    printf("FAILED: %s: %.17g, wanted %.17g\n", what, got, wanted);
    failures++;
}

static int near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * (fabs(a) + fabs(b));
}

/* What it says of itself is so, and it is the best or says how far from it. */
static void judge(const instance *x, double limit, size_t most_pairs, double best)
{
    allocation a;
    double bits = 0, error = 0, fewest = 0;
    const int found = allocation_find(x->items, x->item, limit, most_pairs, &a);
    for (size_t i = 0; i < x->items; i++) {
        double least = (double)INFINITY;
        for (size_t k = 0; k < x->item[i].options; k++)
            least = fmin(least, x->item[i].option[k].bits);
        fewest += least;
        bits += found ? x->item[i].option[a.chosen[i]].bits : 0;
        error += found ? x->item[i].option[a.chosen[i]].error : 0;
    }
    if (found != (isfinite(best) != 0)) {
        complain("found", found, isfinite(best) != 0);
    } else if (!found && !near(a.bits, fewest)) {
        complain("fewest bits", a.bits, fewest);
    } else if (found) {
        const unsigned exact = a.bound >= a.error;
        if (bits > limit || !near(a.bits, bits))
            complain("bits", a.bits, bits);
        if (!near(a.error, error))
            complain("error", a.error, error);
        if (a.bound > a.error || a.bound > best * (1 + 1e-12) || error < best * (1 - 1e-12))
            complain("bound", a.bound, best);
        if ((exact || most_pairs == 0) && !near(error, best))
            complain("best", error, best);
        proven += exact;
        bounded += !exact;
    }
    free(a.chosen);
}

/* Every corner is the best for its bits, and they lie from left to right, the first at the fewest bits. */
static void judge_curve(const instance *x)
{
    size_t count;
    allocation_option *corner = allocation_curve(x->items, x->item, &count);
    for (size_t k = 0; k < count; k++) {
        const double best = try_all(x, 0, 0, 0, corner[k].bits * (1 + 1e-14));
        if (fabs(corner[k].error - best) > 1e-11 * (corner[0].error + best))
            complain("corner", corner[k].error, best);
        if (k > 0 && !(corner[k].bits > corner[k - 1].bits && corner[k].error <= corner[k - 1].error))
            complain("order of corners", corner[k].bits, corner[k - 1].bits);
    }
    if (isfinite(try_all(x, 0, 0, 0, corner[0].bits * (1 - 1e-9) - 1e-9)))
        complain("fewest bits of the curve", corner[0].bits, 0);
    free(corner);
}

int main(void)
{
    static instance x;
    for (unsigned round = 0; round < 1500; round++) {
        make(&x, 1 + random_below(6), round % 3);
        double most = 0;
        for (size_t i = 0; i < x.items; i++)
            most += x.option[i][random_below(x.item[i].options)].bits;
        const double limit = most * random_real() * 1.2, best = try_all(&x, 0, 0, 0, limit);
        judge(&x, limit, 0, best);
        judge(&x, limit, 1 + random_below(12), best);
        if (round % 10 == 0)
            judge_curve(&x);
    }
    const unsigned small_proven = proven, small_bounded = bounded;
    for (unsigned round = 0; round < 30; round++) {
        make(&x, 20 + random_below(MOST_ITEMS - 20), 2);
        double fewest = 0, most = 0;
        for (size_t i = 0; i < x.items; i++) {
            fewest += x.option[i][0].bits;
            most += x.option[i][x.item[i].options - 1].bits;
        }
        const size_t limit = (size_t)(0.5 * (fewest + most) * (0.7 + 0.6 * random_real()));
        const double best = try_bits(&x, limit);
        judge(&x, (double)limit, 0, best);
        judge(&x, (double)limit, 200, best);
    }
    /* some of each, so that both are judged */
    if (small_bounded < 50 || small_proven < 1300 || proven - small_proven < 20) {
        printf("FAILED: %u proven and %u bounded, then %u and %u\n", small_proven, small_bounded, proven - small_proven,
               bounded - small_bounded);
        failures++;
    }
    return failures > 0;
}
