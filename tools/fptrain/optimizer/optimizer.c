/* SPDX-License-Identifier: BSD-2-Clause */
/* optimizer.c - see optimizer.h: what all optimisers share. The arithmetic is in the files that keep the parameters. */
#include "optimizer/optimizer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "optimizer/fp32_state.h"
#include "optimizer/packed_state.h"

static const char *const names[METHODS] = {"sgd", "momentum", "nesterov", "adam"};

static bool below_one(double x)
{
    return x >= 0 && x < 1;
}

static bool settings_fit(const optimizer_settings *s, method m, trouble *why)
{
    if (m == METHODS)
        return fail(why, "no optimiser is called '%s' (sgd, momentum, nesterov, adam)", s->name);
    if (!below_one(s->momentum) || (m == ADAM && !below_one(s->beta2)))
        return fail(why, "momentum and betas lie in [0, 1)");
    if (!(s->decay >= 0 && s->clip >= 0) || (m == ADAM && !(s->epsilon > 0)))
        return fail(why, "decay and clip are not negative, and the epsilon of adam is above 0");
    if (s->packed && (m == NESTEROV || !s->master))
        return fail(why, "packed parameters go with sgd, momentum and adam, and are their own master copy");
    return true;
}

static method method_named(const char *name)
{
    method m = SGD;
    while (m < METHODS && strcmp(name, names[m]))
        m++;
    return m;
}

optimizer *optimizer_new(const optimizer_settings *settings, graph *g, rounder *r, trouble *why)
{
    const method m = method_named(settings->name);
    if (!settings_fit(settings, m, why))
        return NULL;
    return settings->packed ? optimizer_packed(settings, m, g, r, why) : optimizer_fp32(settings, m, g, r);
}

void optimizer_free(optimizer *o)
{
    if (o)
        o->type->free(o);
}

void optimizer_report(const optimizer *o, double *largest, bool *not_finite)
{
    *largest = 0;
    *not_finite = false;
    for (int p = 0; p < graph_params(o->g); p++) {
        double most;
        bool bad;
        o->type->extent(o, p, &most, &bad);
        *largest = fmax(*largest, most / graph_param(o->g, p)->alpha);
        *not_finite = *not_finite || bad;
    }
}

/* By what the gradient is multiplied so that its norm is at most `clip`. */
static double clipping(const optimizer *o)
{
    const double clip = o->settings.clip;
    if (clip == 0)
        return 1;
    double square = 0;
    for (int p = 0; p < graph_params(o->g); p++) {
        const double alpha = graph_param(o->g, p)->alpha;
        square += o->type->square(o, p) / (alpha * alpha);
    }
    return fmin(1, clip / (sqrt(square) + 1e-6));
}

void optimizer_step(optimizer *o, double lr)
{
    o->time++;
    if (o->count_next)
        o->counts = (update_counts){0};
    o->type->update(o, lr, clipping(o), o->count_next ? &o->counts : NULL);
    o->count_next = false;
}

bool optimizer_memory_of(const optimizer_settings *settings, graph *g, optimizer_memory *to, trouble *why)
{
    const method m = method_named(settings->name);
    if (!settings_fit(settings, m, why))
        return false;
    if (settings->packed)
        return optimizer_packed_memory(settings, m, g, to, why);
    const unsigned arrays = m == SGD ? 2 : m == ADAM ? 4 : 3; /* weights, gradients, moments */
    *to = (optimizer_memory){.stored = arrays * sizeof(float) * (uint64_t)graph_param_count(g)};
    return true;
}

void optimizer_save(const optimizer *o, checkpoint *to)
{
    checkpoint_put_counts(to, "optimizer.time", 1, &o->time);
    o->type->save(o, to);
}

bool optimizer_load(optimizer *o, const checkpoint *from, trouble *why)
{
    return checkpoint_take_counts(from, "optimizer.time", 1, &o->time, why) &&
           o->type->load(o, from, why);
}
