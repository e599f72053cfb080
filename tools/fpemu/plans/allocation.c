/* SPDX-License-Identifier: BSD-2-Clause */
/* allocation.c - see allocation.h */
#include "plans/allocation.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error.h"

/* From one corner of the hull of an item to the next: more bits, less error. */
typedef struct step {
    size_t item, to;
    double bits, gain; /* both above zero */
    size_t order;      /* among the steps of all items, as they were found */
} step;

typedef struct hulls {
    size_t *first; /* the corner with the fewest bits, of each item */
    step *step;    /* the steps of all, by falling gain for each bit */
    size_t steps;
    double bits, error; /* of the first corners together */
} hulls;

static int by_gain(const void *a, const void *b)
{
    const step *s = a, *t = b;
    const double left = s->gain / s->bits, right = t->gain / t->bits;
    if (left != right)
        return left > right ? -1 : 1;
    return s->order < t->order ? -1 : 1;
}

/* The steps of an item begin at its option with the fewest bits, of several the one with the least error, and go each
 * to the option that gains most for each bit, of several to the last. */
static void add_hull(hulls *h, const allocation_item *item, size_t i)
{
    const allocation_option *o = item[i].option;
    size_t at = 0;
    for (size_t k = 1; k < item[i].options; k++)
        if (o[k].bits < o[at].bits || (o[k].bits == o[at].bits && o[k].error < o[at].error))
            at = k;
    h->first[i] = at;
    h->bits += o[at].bits;
    h->error += o[at].error;
    for (;;) {
        size_t next = at;
        double best = 0;
        for (size_t k = 0; k < item[i].options; k++) {
            if (o[k].bits > o[at].bits && o[k].error < o[at].error) {
                const double slope = (o[at].error - o[k].error) / (o[k].bits - o[at].bits);
                if (slope > best || (slope == best && o[k].bits > o[next].bits)) {
                    best = slope;
                    next = k;
                }
            }
        }
        if (next == at)
            return;
        h->step[h->steps] = (step){.item = i,
                                   .to = next,
                                   .bits = o[next].bits - o[at].bits,
                                   .gain = o[at].error - o[next].error,
                                   .order = h->steps};
        h->steps++;
        at = next;
    }
}

static hulls find_hulls(size_t items, const allocation_item *item)
{
    size_t options = 0;
    for (size_t i = 0; i < items; i++)
        options += item[i].options;
    hulls h = {.first = cli_allocate(items, sizeof *h.first), .step = cli_allocate(options, sizeof *h.step)};
    for (size_t i = 0; i < items; i++)
        add_hull(&h, item, i);
    if (h.steps > 0)
        qsort(h.step, h.steps, sizeof *h.step, by_gain);
    return h;
}

static void free_hulls(hulls *h)
{
    free(h->first);
    free(h->step);
}

allocation_option *allocation_curve(size_t items, const allocation_item *item, size_t *count)
{
    hulls h = find_hulls(items, item);
    allocation_option *point = cli_allocate(h.steps + 1, sizeof *point);
    point[0] = (allocation_option){h.bits, h.error};
    for (size_t s = 0; s < h.steps; s++) {
        const double error = point[s].error - h.step[s].gain;
        point[s + 1] = (allocation_option){point[s].bits + h.step[s].bits, error > 0 ? error : 0};
    }
    *count = h.steps + 1;
    free_hulls(&h);
    return point;
}

/* ------------------------------------------------------------------------------------------------- the search */

typedef struct search {
    const allocation_item *item;
    size_t items;
    double limit;
    double price; /* error that a bit is worth */
    double floor; /* no choice has a smaller error */
    allocation best;
} search;

static double cost(const search *s, size_t i, size_t k)
{
    return s->item[i].option[k].error + s->price * s->item[i].option[k].bits;
}

static void add_up(const search *s, const size_t *chosen, double *bits, double *error)
{
    *bits = *error = 0;
    for (size_t i = 0; i < s->items; i++) {
        *bits += s->item[i].option[chosen[i]].bits;
        *error += s->item[i].option[chosen[i]].error;
    }
}

/* Steps in their order, as long as they fit; past the first that does not, those that still do. That one gives the
 * price of a bit, and how far down the error could go if steps could be taken in part. */
static void take_steps(search *s, const hulls *h)
{
    bool *stuck = cli_allocate(s->items, sizeof *stuck), full = false;
    double bits = h->bits, error = h->error;
    memcpy(s->best.chosen, h->first, s->items * sizeof *h->first);
    for (size_t k = 0; k < h->steps; k++) {
        const step *t = &h->step[k];
        const bool fits = !stuck[t->item] && bits + t->bits <= s->limit;
        if (!fits && !full) {
            s->price = t->gain / t->bits;
            s->floor = error - s->price * (s->limit - bits);
            full = true;
        }
        if (fits) {
            s->best.chosen[t->item] = t->to;
            bits += t->bits;
            error -= t->gain;
        }
        stuck[t->item] |= !fits;
    }
    free(stuck);
    add_up(s, s->best.chosen, &s->best.bits, &s->best.error);
    s->floor = full ? s->floor : s->best.error;
}

/* A choice for the items so far. */
typedef struct pair {
    double bits, error, excess; /* excess: reduced costs, by which the floor is higher for all that follows */
    uint32_t from;              /* where it was made of, among the kept nodes */
    uint32_t option;
} pair;

typedef struct node {
    uint32_t from, option;
} node;

#define NO_NODE UINT32_MAX

static int by_bits(const void *a, const void *b)
{
    const pair *p = a, *q = b;
    if (p->bits != q->bits)
        return p->bits < q->bits ? -1 : 1;
    return p->error != q->error ? (p->error < q->error ? -1 : 1) : 0;
}

static int by_excess(const void *a, const void *b)
{
    const pair *p = a, *q = b;
    return p->excess != q->excess ? (p->excess < q->excess ? -1 : 1) : by_bits(a, b);
}

/* An item that is not decided yet: options that may be part of something better, and their reduced costs. */
typedef struct open_item {
    size_t item, options;
    size_t *option;
    double *excess;
    double range; /* of its bits */
} open_item;

static int by_range(const void *a, const void *b)
{
    const open_item *p = a, *q = b;
    return p->range != q->range ? (p->range > q->range ? -1 : 1) : p->item < q->item ? -1 : 1;
}

/* Of each item the cheapest option at the price, into `cheapest`; those with more than one that may help, into `open`. */
static size_t find_open(const search *s, size_t *cheapest, open_item *open)
{
    const double gap = s->best.error - s->floor;
    size_t count = 0;
    for (size_t i = 0; i < s->items; i++) {
        const size_t options = s->item[i].options;
        open_item o = {.item = i,
                       .option = cli_allocate(options, sizeof *o.option),
                       .excess = cli_allocate(options, sizeof *o.excess)};
        double least = INFINITY, low = INFINITY, high = 0;
        for (size_t k = 0; k < options; k++) {
            if (cost(s, i, k) < least) {
                least = cost(s, i, k);
                cheapest[i] = k;
            }
        }
        for (size_t k = 0; k < options; k++) {
            const double excess = cost(s, i, k) - least;
            if (excess <= gap) {
                o.option[o.options] = k;
                o.excess[o.options++] = excess;
                low = fmin(low, s->item[i].option[k].bits);
                high = fmax(high, s->item[i].option[k].bits);
            }
        }
        o.range = high - low;
        if (o.options > 1) {
            open[count++] = o;
        } else {
            free(o.option);
            free(o.excess);
        }
    }
    if (count > 0)
        qsort(open, count, sizeof *open, by_range);
    return count;
}

/* What the items that come later take, with the fewest bits, and with the cheapest options. */
typedef struct rest {
    double fewest, bits, error;
} rest;

static void keep_best(search *s, const size_t *cheapest, const open_item *open, size_t stage, const node *nodes,
                      const pair *p)
{
    memcpy(s->best.chosen, cheapest, s->items * sizeof *cheapest);
    s->best.chosen[open[stage].item] = p->option;
    uint32_t from = p->from;
    for (size_t k = stage; k-- > 0; from = nodes[from].from)
        s->best.chosen[open[k].item] = nodes[from].option;
    add_up(s, s->best.chosen, &s->best.bits, &s->best.error);
}

/* Sorted by bits, and each with less error than all before it. */
static size_t leave_out_worse(pair *p, size_t count)
{
    size_t kept = 0;
    if (count > 0)
        qsort(p, count, sizeof *p, by_bits);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || p[i].error < p[kept - 1].error)
            p[kept++] = p[i];
    return kept;
}

/* Every pair with every option of the next item, as far as it can lead to something better. */
static size_t extend(const search *s, const open_item *o, const rest *later, const pair *now, size_t count, pair *next)
{
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < o->options; k++) {
            const allocation_option *option = &s->item[o->item].option[o->option[k]];
            const pair p = {.bits = now[i].bits + option->bits,
                            .error = now[i].error + option->error,
                            .excess = now[i].excess + o->excess[k],
                            .from = now[i].from,
                            .option = (uint32_t)o->option[k]};
            if (p.bits + later->fewest <= s->limit && s->floor + p.excess < s->best.error)
                next[made++] = p;
        }
    }
    return made;
}

/* Dynamic programming over the open items. What had to be left out for want of room raises no hope below `dropped`. */
static double decide(search *s, const size_t *cheapest, const open_item *open, size_t count, const rest *later,
                     size_t most_pairs)
{
    enum { MOST = 1 << 16 };
    const size_t spread = most_pairs / count, most = spread > MOST ? MOST : spread > 0 ? spread : 1;
    size_t nodes_used = 0, pairs = 1, widest = 1;
    double dropped = INFINITY;
    for (size_t k = 0; k < count; k++)
        widest = open[k].options > widest ? open[k].options : widest;
    node *nodes = cli_allocate(most * count, sizeof *nodes);
    pair *now = cli_allocate(most * widest, sizeof *now), *next = cli_allocate(most * widest, sizeof *next);
    now[0] = (pair){.from = NO_NODE};
    for (size_t i = 0; i < s->items; i++) { /* what is decided already */
        now[0].bits += s->item[i].option[cheapest[i]].bits;
        now[0].error += s->item[i].option[cheapest[i]].error;
    }
    for (size_t k = 0; k < count; k++) {
        now[0].bits -= s->item[open[k].item].option[cheapest[open[k].item]].bits;
        now[0].error -= s->item[open[k].item].option[cheapest[open[k].item]].error;
    }
    for (size_t k = 0; k < count && pairs > 0; k++) {
        size_t made = leave_out_worse(next, extend(s, &open[k], &later[k], now, pairs, next));
        for (size_t i = 0; i < made; i++)
            if (next[i].bits + later[k].bits <= s->limit && next[i].error + later[k].error < s->best.error)
                keep_best(s, cheapest, open, k, nodes, &next[i]);
        if (made > most) {
            qsort(next, made, sizeof *next, by_excess);
            dropped = fmin(dropped, s->floor + next[most].excess);
            made = most;
        }
        for (size_t i = 0; i < made; i++) {
            nodes[nodes_used] = (node){next[i].from, next[i].option};
            next[i].from = (uint32_t)nodes_used++;
        }
        pair *swap = now;
        now = next;
        next = swap;
        pairs = made;
    }
    free(nodes);
    free(now);
    free(next);
    return dropped;
}

/* For each open item, what those after it take. */
static rest *look_ahead(const search *s, const size_t *cheapest, const open_item *open, size_t count)
{
    rest *later = cli_allocate(count + 1, sizeof *later);
    for (size_t k = count; k-- > 1;) {
        const open_item *o = &open[k];
        const allocation_option *option = s->item[o->item].option;
        double fewest = INFINITY;
        for (size_t i = 0; i < o->options; i++)
            fewest = fmin(fewest, option[o->option[i]].bits);
        later[k - 1] = (rest){later[k].fewest + fewest, later[k].bits + option[cheapest[o->item]].bits,
                              later[k].error + option[cheapest[o->item]].error};
    }
    return later;
}

bool allocation_find(size_t items, const allocation_item *item, double limit, size_t most_pairs, allocation *best)
{
    hulls h = find_hulls(items, item);
    search s = {.item = item, .items = items, .limit = limit};
    s.best.chosen = cli_allocate(items, sizeof *s.best.chosen);
    const bool possible = h.bits <= limit;
    if (!possible) {
        s.best.bits = h.bits;
        free_hulls(&h);
        *best = s.best;
        return false;
    }
    take_steps(&s, &h);
    free_hulls(&h);
    size_t *cheapest = cli_allocate(items, sizeof *cheapest);
    open_item *open = cli_allocate(items, sizeof *open);
    double dropped = INFINITY;
    const size_t count = s.floor < s.best.error ? find_open(&s, cheapest, open) : 0;
    if (count > 0) {
        rest *later = look_ahead(&s, cheapest, open, count);
        dropped = decide(&s, cheapest, open, count, later, most_pairs > 0 ? most_pairs : (size_t)1 << 22);
        free(later);
    }
    for (size_t k = 0; k < count; k++) {
        free(open[k].option);
        free(open[k].excess);
    }
    free(open);
    free(cheapest);
    s.best.bound = fmax(fmin(dropped, s.best.error), 0);
    *best = s.best;
    return true;
}
