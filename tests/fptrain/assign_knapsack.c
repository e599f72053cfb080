/* SPDX-License-Identifier: BSD-2-Clause */
/* assign_knapsack.c - the reduction by which Lee et al. 2023 (appendix A) show that the best assignment is hard to
 * find: the best of all assignments of a linear model, trained for one step, solves a knapsack.
 *
 * Item i has profit p and weight w. Its part of the input is COPIES * w equal numbers x = 2^-20 sqrt(p / (COPIES w)),
 * sliced out and multiplied by a parameter tensor of 2 * COPIES * w zeros; the products of all items are added, and are
 * the logits of two classes. The gradient of the loss is scaled by 2^-20. One step of SGD with rate 1 makes the
 * parameters of the right class 2^-21 x, and the margin between the classes becomes 2^-60 times the profit of all items
 * whose slice, parameters, their gradients and product are high: each of these underflows in the low format. The
 * accuracy of the proof, the negative loss, grows with the margin.
 *
 * The bound on the low-precision ratio leaves room for what is always high, all products, and parameters, gradients and
 * slices of a total weight W. As all products together are smaller than one unit of weight, no more fits.
 */
#include "backends/backends.h"
#include "numerics/rounder.h"
#include "ops/ops.h"
#include "policies/assignment_settings.h"

#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { ITEMS = 4, COPIES = 3, PARTS = 4 };

typedef struct instance {
    int items, capacity;
    int profit[ITEMS], weight[ITEMS];
} instance;

/* The largest profit, by dynamic programming over the capacity. */
static int best_profit(const instance *k)
{
    int best[64] = {0};
    for (int i = 0; i < k->items; i++)
        for (int c = k->capacity; c >= k->weight[i]; c--)
            if (best[c - k->weight[i]] + k->profit[i] > best[c])
                best[c] = best[c - k->weight[i]] + k->profit[i];
    return best[k->capacity];
}

/* ---------------------------------------------------------------------------------------------- the model */

/* A store of plain arrays, rounded as they pass. */
typedef struct model {
    store calls;
    graph *g;
    rounder *r;
    float *w[ITEMS], *rounded[ITEMS], *dw[ITEMS];
} model;

static const float *fetch(store *s, int param)
{
    model *m = (model *)s;
    const size_t n = graph_param(m->g, param)->size;
    memcpy(m->rounded[param], m->w[param], n * sizeof(float));
    m->r->calls.round(&m->r->calls, ROLE_W, param, n, m->rounded[param]);
    return m->rounded[param];
}

static void release(store *s, int param)
{
    (void)s, (void)param;
}

static float *gradient(store *s, int param)
{
    return ((model *)s)->dw[param];
}

static void gradient_done(store *s, int param)
{
    model *m = (model *)s;
    m->r->calls.round(&m->r->calls, ROLE_DW, param, graph_param(m->g, param)->size, m->dw[param]);
}

static model model_of(const instance *k, const backend *b)
{
    model m = {.calls = {fetch, release, gradient, gradient_done}, .g = graph_new(1)};
    int width = 0, sum = -1;
    for (int i = 0; i < k->items; i++)
        width += COPIES * k->weight[i];
    const int x = graph_input(m.g, width, 1, 1);
    for (int i = 0, from = 0; i < k->items; i++) {
        const int own = COPIES * k->weight[i], product = graph_linear(m.g, graph_slice(m.g, x, from, own), 2, false);
        sum = sum < 0 ? product : graph_add(m.g, sum, product);
        from += own;
    }
    graph_cross_entropy(m.g, sum);
    graph_finish(m.g, 1, b, 1);
    m.r = rounder_new(m.g, 1);
    for (int i = 0; i < k->items; i++) {
        const size_t n = graph_param(m.g, i)->size;
        m.w[i] = need(n, sizeof(float));
        m.rounded[i] = need(n, sizeof(float));
        m.dw[i] = need(n, sizeof(float));
    }
    return m;
}

static void model_free(model *m)
{
    for (int i = 0; i < ITEMS; i++) {
        free(m->w[i]);
        free(m->rounded[i]);
        free(m->dw[i]);
    }
    rounder_free(m->r);
    graph_free(m->g);
}

/* One step from zero, then the margin between the classes. */
static double train(model *m, const instance *k, const float *x)
{
    const int label = 0;
    for (int i = 0; i < k->items; i++)
        memset(m->w[i], 0, graph_param(m->g, i)->size * sizeof(float));
    rounder_begin(m->r, 0);
    graph_forward(m->g, &m->calls, &m->r->calls, 1, x, &label, true, 0);
    graph_backward(m->g, &m->calls, &m->r->calls, NULL, 0x1p-20);
    for (int i = 0; i < k->items; i++)
        for (size_t j = 0; j < graph_param(m->g, i)->size; j++)
            m->w[i][j] -= m->dw[i][j];
    graph_forward(m->g, &m->calls, &m->r->calls, 1, x, &label, true, 1);
    const float *logit = graph_value(m->g, graph_logits(m->g))->v;
    return (double)logit[0] - (double)logit[1];
}

/* ---------------------------------------------------------------------------------------------- the search */

static void mark(assignment *a, role which, int index, bool low)
{
    a->tensor[a->at[which][index]].low = low;
}

/* Four bits an item: its slice, parameters, their gradients, its product; 1 is high. All else is high. */
static void choose(assignment *a, const instance *k, int set)
{
    for (int i = 0; i < k->items; i++, set >>= PARTS) {
        const op_info product = graph_op(a->g, graph_param(a->g, i)->op);
        const int slice = product.input[0];
        mark(a, ROLE_V, slice, !(set & 1));
        mark(a, ROLE_DV, slice, !(set & 1));
        mark(a, ROLE_W, i, !(set & 2));
        mark(a, ROLE_DW, i, !(set & 4));
        mark(a, ROLE_V, product.output, !(set & 8));
        mark(a, ROLE_DV, product.output, !(set & 8));
    }
}

static void put_rules(const assignment *a, const assign_settings *s, rounder *r)
{
    for (int i = 0; i < a->tensors; i++)
        r->rule[a->tensor[i].which][a->tensor[i].index] = *assign_rule(s, &a->tensor[i]);
}

/* What is low where a total weight W is high; the bound falls in proportion to W. */
static double ratio_bound(const instance *k, const assignment *a)
{
    int low = 0;
    for (int i = 0; i < k->items; i++)
        low += 6 * COPIES * k->weight[i];
    return (low - 6 * COPIES * k->capacity) / (double)a->elements;
}

static void solve(const instance *k, const backend *b)
{
    model m = model_of(k, b);
    assignment *a = assignment_new(m.g, 1);
    assign_settings s = assign_defaults();
    trouble why;
    if (!assign_read(&s, "hi=float(8,15)", &why) || !assign_complete(&s, &why))
        die("%s", why.text);
    s.low[ROLE_DW] = s.low[ROLE_W]; /* in the proof dw has two candidates too */

    float x[256];
    for (int i = 0, at = 0; i < k->items; i++) {
        const double exact = 0x1p-20 * sqrt((double)k->profit[i] / (COPIES * k->weight[i]));
        for (int j = 0; j < COPIES * k->weight[i]; j++)
            x[at++] = fpemu_quantize_one_f32(&s.high[ROLE_V].format, &s.high[ROLE_V].rounding, (float)exact, 0);
    }

    int best = 0, tried = 0;
    double margin = -1;
    for (int set = 0; set < 1 << (PARTS * k->items); set++) {
        choose(a, k, set);
        if (assignment_ratio(a) < ratio_bound(k, a))
            continue;
        put_rules(a, &s, m.r);
        const double this = train(&m, k, x);
        tried++;
        if (this > margin) {
            margin = this;
            best = set;
        }
    }

    int profit = 0, weight = 0;
    for (int i = 0; i < k->items; i++)
        if ((best >> (PARTS * i) & 15) == 15) {
            profit += k->profit[i];
            weight += k->weight[i];
        }
    EXPECT(weight <= k->capacity, "%d of %d, %d assignments", weight, k->capacity, tried);
    EXPECT(profit == best_profit(k), "%d, not %d, with capacity %d, %d assignments", profit, best_profit(k),
           k->capacity, tried);
    EXPECT(fabs(margin * 0x1p60 - profit) < 0.05, "the margin says %g, the profit is %d", margin * 0x1p60, profit);
    assignment_free(a);
    model_free(&m);
}

int main(void)
{
    /* By greed the first two fail: by profit, and by profit over weight. */
    static const instance known[] = {
        {3, 5, {6, 5, 4}, {5, 3, 2}}, {3, 6, {7, 10, 10}, {2, 3, 3}},     {3, 4, {1, 1, 1}, {5, 6, 7}},
        {3, 3, {5, 5, 5}, {1, 1, 1}}, {4, 7, {3, 4, 5, 6}, {2, 3, 4, 5}},
    };
    trouble why;
    const backend *b = backend_named("auto", &why);
    if (!b) {
        printf("%s\n", why.text);
        return 77;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        solve(&known[i], b);
    unsigned state = 1;
    for (int i = 0; i < 4; i++) {
        instance k = {.items = 3};
        int all = 0;
        for (int j = 0; j < k.items; j++) {
            k.profit[j] = 1 + (int)((state = state * 1664525u + 1013904223u) >> 24) % 12;
            k.weight[j] = 1 + (int)((state = state * 1664525u + 1013904223u) >> 24) % 5;
            all += k.weight[j];
        }
        k.capacity = all / 2;
        solve(&k, b);
    }
    backend_free(b);
    return failures > 0;
}
