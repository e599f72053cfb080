/* SPDX-License-Identifier: BSD-2-Clause */
/* adaptive.c - see adaptive.h
 *
 * The gradient that an operator passes on is taken as normal with the deviation that its weights and the arriving
 * gradient have as independent factors. The factor beta lifts it until a given share of it, at most, underflows, and
 * keeps the largest product inside the format (Zhao et al., "Adaptive loss scaling for mixed precision training").
 */
#include "numerics/adaptive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct adaptive {
    layer_scaling calls; /* first, so that one is the other */
    graph *g;
    rounder *r;
    uint64_t interval, step;
    double quantile; /* sqrt(2) erf^-1(target) */
    bool fan, refresh;
    double beta_cap, alpha_cap;
    double *beta;   /* by operator */
    double *target; /* by value: where contributions meet; 0: not met yet */
};

/* y in (-1, 1): the x with erf(x) = y. */
static double erf_inverse(double y)
{
    double low = 0, high = 6, sign = y < 0 ? -1 : 1;
    for (int i = 0; i < 200; i++) {
        const double middle = (low + high) / 2;
        if (erf(middle) < fabs(y))
            low = middle;
        else
            high = middle;
    }
    return sign * (low + high) / 2;
}

typedef struct moments {
    double mean, variance, largest;
} moments;

static moments moments_of(size_t n, const float *x)
{
    moments m = {0};
    for (size_t i = 0; i < n; i++) {
        m.mean += (double)x[i];
        m.largest = fmax(m.largest, fabs((double)x[i]));
    }
    m.mean /= (double)n;
    for (size_t i = 0; i < n; i++)
        m.variance += ((double)x[i] - m.mean) * ((double)x[i] - m.mean);
    m.variance /= (double)n;
    return m;
}

static double power_below(double x)
{
    int exponent;
    (void)frexp(x, &exponent);
    return ldexp(1, exponent - 1);
}

/* The format of the gradient of a value, or of the tensor that it is a rearrangement of. */
static const rule *format_of(const adaptive *l, int value)
{
    return &l->r->rule[ROLE_DV][graph_tensor(l->g, value)];
}

/* Statistics of this step; `kept` where they tell nothing. */
static double beta_now(const adaptive *l, const op_info *o, double kept, size_t n, const float *delta, size_t weights,
                       const float *w)
{
    const rule *format = format_of(l, o->input[0]);
    const moments g = moments_of(n, delta), m = moments_of(weights, w);
    double deviation = sqrt((m.variance + m.mean * m.mean) * (g.variance + g.mean * g.mean));
    if (deviation == 0)
        return 1;
    if (!isfinite(deviation))
        return kept;
    if (l->fan)
        deviation *= sqrt(o->fan / 2);
    const double lower = fmax(rule_min(format) / (deviation * l->quantile), 1);
    const double upper = rule_max(format) / (m.largest * g.largest) / (l->fan ? o->fan : 1);
    double beta = power_below(fmin(lower, upper));
    if (l->beta_cap != 0)
        beta = fmin(beta, l->beta_cap);
    if (l->alpha_cap != 0)
        beta = fmin(beta, l->alpha_cap / graph_value(l->g, o->output)->alpha);
    return beta;
}

static double beta(layer_scaling *calls, int op, size_t n, const float *delta, size_t weights, const float *w)
{
    adaptive *l = (adaptive *)calls;
    const op_info o = graph_op(l->g, op);
    if (l->refresh && n && weights && graph_value(l->g, o.input[0])->producer >= 0) {
        const double before = clock_seconds();
        l->beta[op] = beta_now(l, &o, l->beta[op], n, delta, weights, w);
        l->calls.seconds += clock_seconds() - before;
    }
    return l->beta[op];
}

/* The one multiplier for contributions of max |delta| largest[i], multiplied by alpha[i]. */
static double meet(int count, const double *alpha, const double *largest, double max_finite)
{
    double best = 0, least = alpha[0];
    for (int i = 0; i < count; i++) {
        least = fmin(least, alpha[i]);
        bool holds = true;
        for (int k = 0; k < count; k++)
            holds = holds && alpha[i] / alpha[k] * largest[k] < max_finite;
        if (holds)
            best = fmax(best, alpha[i]);
    }
    if (best != 0)
        return best;
    for (int i = 0; i < count; i++)
        while (isfinite(largest[i]) && least / alpha[i] * largest[i] >= max_finite)
            least /= 2;
    return least;
}

static double join(layer_scaling *calls, int value, int count, const double *alpha, const double *largest)
{
    adaptive *l = (adaptive *)calls;
    if (largest)
        l->target[value] = meet(count, alpha, largest, rule_max(format_of(l, value)));
    return l->target[value];
}

static bool wants_largest(layer_scaling *calls, int value)
{
    const adaptive *l = (const adaptive *)calls;
    return l->refresh || l->target[value] == 0;
}

adaptive *adaptive_new(const adaptive_settings *settings, graph *g, rounder *r)
{
    adaptive *l = need(1, sizeof *l);
    l->calls = (layer_scaling){.beta = beta, .join = join, .wants_largest = wants_largest};
    l->g = g;
    l->r = r;
    l->interval = settings->interval ? settings->interval : 100;
    l->quantile = sqrt(2) * erf_inverse(settings->underflow_target > 0 ? settings->underflow_target : 1e-3);
    l->fan = settings->fan;
    l->beta_cap = settings->beta_cap;
    l->alpha_cap = settings->alpha_cap;
    l->refresh = true;
    l->beta = need((size_t)graph_ops(g), sizeof *l->beta);
    l->target = need((size_t)graph_values(g), sizeof *l->target);
    for (int i = 0; i < graph_ops(g); i++)
        l->beta[i] = 1;
    return l;
}

void adaptive_free(adaptive *l)
{
    if (!l)
        return;
    free(l->beta);
    free(l->target);
    free(l);
}

layer_scaling *adaptive_calls(adaptive *l)
{
    return &l->calls;
}

double adaptive_beta(const adaptive *l, int op)
{
    return l->beta[op];
}

void adaptive_update(adaptive *l, bool bad)
{
    l->step++;
    l->refresh = bad || l->step % l->interval == 0;
}

/* The state: step, whether statistics are due, then beta and target. */
size_t adaptive_size(const adaptive *l)
{
    return 16 + 8 * ((size_t)graph_ops(l->g) + (size_t)graph_values(l->g));
}

void adaptive_save(const adaptive *l, unsigned char *bytes)
{
    const uint64_t head[2] = {l->step, l->refresh};
    const size_t ops = sizeof *l->beta * (size_t)graph_ops(l->g);
    memcpy(bytes, head, sizeof head);
    memcpy(bytes + sizeof head, l->beta, ops);
    memcpy(bytes + sizeof head + ops, l->target, sizeof *l->target * (size_t)graph_values(l->g));
}

void adaptive_load(adaptive *l, const unsigned char *bytes)
{
    uint64_t head[2];
    const size_t ops = sizeof *l->beta * (size_t)graph_ops(l->g);
    memcpy(head, bytes, sizeof head);
    memcpy(l->beta, bytes + sizeof head, ops);
    memcpy(l->target, bytes + sizeof head + ops, sizeof *l->target * (size_t)graph_values(l->g));
    l->step = head[0];
    l->refresh = head[1] != 0;
}
