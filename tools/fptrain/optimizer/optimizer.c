/* SPDX-License-Identifier: BSD-2-Clause */
/* optimizer.c - see optimizer.h: what all optimisers share. The arithmetic is in the files that keep the parameters. */
#include "optimizer/optimizer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "optimizer/clipping.h"
#include "optimizer/state.h"

static const char *const names[METHODS] = {
    [SGD] = "sgd", [MOMENTUM] = "momentum", [NESTEROV] = "nesterov", [ADAM] = "adam", [ADAMW] = "adamw"};

static bool below_one(double x)
{
    return x >= 0 && x < 1;
}

static bool settings_fit(const optimizer_settings *s, method m, trouble *why)
{
    if (m == METHODS)
        return fail(why, "no optimiser is called '%s' (sgd, momentum, nesterov, adam, adamw)", s->name);
    if (!below_one(s->momentum))
        return fail(why, "optimizer.momentum is from 0 to below 1");
    if (method_has_squares(m) && !below_one(s->beta2))
        return fail(why, "optimizer.beta2 is from 0 to below 1");
    if (!(s->decay >= 0 && s->clip >= 0))
        return fail(why, "optimizer.decay and optimizer.clip are not negative");
    if (method_has_squares(m) && !((float)s->epsilon > 0))
        return fail(why, "optimizer.epsilon is above 0 in binary32");
    if (clipping_named(s->clipping) == CLIPPINGS)
        return fail(why, "no clipping is called '%s' (norm, tensor, value, adaptive)", s->clipping);
    if (s->clip == 0 && ((s->clipping && clipping_named(s->clipping) != CLIP_NORM) || (s->no_clip && *s->no_clip)))
        return fail(why, "clipping needs its threshold: optimizer.clip");
    if (s->decay == 0 && s->no_decay && *s->no_decay)
        return fail(why, "there is no decay for parameters to be without: optimizer.decay");
    if (s->packed && (m == NESTEROV || !s->master))
        return fail(why, "packed parameters go with sgd, momentum, adam and adamw, and are their own master copy");
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
    bool *no_decay = clipping_patterns(g, settings->no_decay, why);
    clipper *c = no_decay && settings->clip > 0 ? clipper_new(settings, g, why) : NULL;
    optimizer *o = NULL;
    if (no_decay && (c || settings->clip == 0))
        o = settings->packed ? optimizer_packed(settings, m, g, r, why) : optimizer_fp32(settings, m, g, r);
    if (!o) {
        clipper_free(c);
        free(no_decay);
        return NULL;
    }
    o->clipper = c;
    o->no_decay = no_decay;
    return o;
}

void optimizer_free(optimizer *o)
{
    if (!o)
        return;
    clipper_free(o->clipper);
    free(o->no_decay);
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

recipe recipe_of(const optimizer *o, int param, double lr, double gathered, const tensor_clip *clip)
{
    const optimizer_settings *s = &o->settings;
    const double lambda = o->no_decay[param] ? 0 : s->decay, times = o->method == ADAM ? 1 : gathered;
    return (recipe){.method = o->method,
                    .cuts = clip->cuts,
                    .limit = clip->limit,
                    .unscale = (float)(1 / graph_param(o->g, param)->alpha),
                    .clip = (float)clip->factor,
                    .lr = (float)lr,
                    .decay = (float)(o->method == ADAMW ? 0 : lambda * times),
                    .mean = (float)(1 / gathered),
                    .shrink = (float)(lr * lambda),
                    .keep = (float)(1 - lr * lambda),
                    .mu = (float)s->momentum,
                    .rest1 = (float)(1 - s->momentum),
                    .beta2 = (float)s->beta2,
                    .rest2 = (float)(1 - s->beta2),
                    .step = (float)(lr / (1 - pow(s->momentum, (double)o->time))),
                    .root2 = (float)sqrt(1 - pow(s->beta2, (double)o->time)),
                    .epsilon = (float)s->epsilon};
}

void optimizer_step(optimizer *o, double lr)
{
    o->time++;
    if (o->count_next)
        o->counts = (update_counts){0};
    clipping_begin(o);
    o->type->update(o, lr, o->count_next ? &o->counts : NULL);
    clipping_end(o);
    o->count_next = false;
}

bool optimizer_memory_of(const optimizer_settings *settings, graph *g, optimizer_memory *to, trouble *why)
{
    const method m = method_named(settings->name);
    if (!settings_fit(settings, m, why))
        return false;
    if (settings->packed)
        return optimizer_packed_memory(settings, m, g, to, why);
    const unsigned arrays = m == SGD ? 2 : method_has_squares(m) ? 4 : 3; /* weights, gradients, moments */
    *to = (optimizer_memory){.stored = arrays * sizeof(float) * (uint64_t)graph_param_count(g),
                             .workspace = clipping_workspace(settings, g)};
    return true;
}

enum { CLIPPED = sizeof(clip_counts) / sizeof(uint64_t) }; /* it is five whole numbers */

void optimizer_save(const optimizer *o, checkpoint *to)
{
    checkpoint_put_counts(to, "optimizer.time", 1, &o->time);
    if (o->clipper)
        checkpoint_put_counts(to, "optimizer.clipped", CLIPPED, (const uint64_t *)&o->clipper->all);
    o->type->save(o, to);
}

bool optimizer_load(optimizer *o, const checkpoint *from, trouble *why)
{
    return checkpoint_take_counts(from, "optimizer.time", 1, &o->time, why) &&
           (!o->clipper ||
            checkpoint_take_counts(from, "optimizer.clipped", CLIPPED, (uint64_t *)&o->clipper->all, why)) &&
           o->type->load(o, from, why);
}
