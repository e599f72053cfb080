/* SPDX-License-Identifier: BSD-2-Clause */
/* clipping.c - see clipping.h */
#include "optimizer/clipping.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"

clipping clipping_named(const char *name)
{
    static const char *const names[CLIPPINGS] = {
        [CLIP_NORM] = "norm", [CLIP_TENSOR] = "tensor", [CLIP_VALUE] = "value", [CLIP_ADAPTIVE] = "adaptive"};
    clipping kind = CLIP_NORM;
    while (name && kind < CLIPPINGS && strcmp(name, names[kind]))
        kind++;
    return kind;
}

bool *clipping_patterns(graph *g, const char *patterns, trouble *why)
{
    bool *fits = need((size_t)graph_params(g) + 1, sizeof *fits);
    char pattern[128];
    for (const char *rest = patterns_begin(patterns); patterns_next(&rest, pattern, sizeof pattern);) {
        int taken = 0;
        for (int p = 0; p < graph_params(g); p++)
            if (fnmatch(pattern, graph_param(g, p)->name, 0) == 0) {
                fits[p] = true;
                taken++;
            }
        if (!taken) {
            fail(why, "no parameter of this network is called '%s'", pattern);
            free(fits);
            return NULL;
        }
    }
    return fits;
}

/* Elements of a row of adaptive clipping. */
static size_t row_length(const param *p)
{
    return p->dims > 1 ? p->size / (size_t)p->dim[0] : p->size;
}

static size_t most_rows(graph *g)
{
    size_t most = 1;
    for (int p = 0; p < graph_params(g); p++) {
        const size_t rows = graph_param(g, p)->size / row_length(graph_param(g, p));
        most = rows > most ? rows : most;
    }
    return most;
}

static bool is_adaptive(const optimizer_settings *s)
{
    return s->clip > 0 && clipping_named(s->clipping) == CLIP_ADAPTIVE;
}

size_t clipping_workspace(const optimizer_settings *settings, graph *g)
{
    return is_adaptive(settings) ? most_rows(g) * (2 * sizeof(double) + sizeof(float)) : 0;
}

clipper *clipper_new(const optimizer_settings *settings, graph *g, trouble *why)
{
    bool *exempt = clipping_patterns(g, settings->no_clip, why);
    if (!exempt)
        return NULL;
    clipper *c = need(1, sizeof *c);
    const size_t rows = is_adaptive(settings) ? most_rows(g) : 1;
    *c = (clipper){.kind = clipping_named(settings->clipping),
                   .exempt = exempt,
                   .factor = 1,
                   .squares = need(2 * rows, sizeof *c->squares),
                   .row = need(rows, sizeof *c->row)};
    return c;
}

void clipper_free(clipper *c)
{
    if (!c)
        return;
    free(c->exempt);
    free(c->squares);
    free(c->row);
    free(c);
}

/* A norm has been compared with what it may be. */
static void count(clipper *c, double size, bool clipped)
{
    c->last.parts++;
    c->last.parts_clipped += clipped;
    c->last.not_finite = c->last.not_finite || !isfinite(size);
    c->largest = size > c->largest || isnan(size) ? size : c->largest;
}

/* By what a gradient is multiplied so that its norm is at most `clip`. */
static double norm_factor(clipper *c, double clip, double norm)
{
    const double factor = fmin(1, clip / (norm + 1e-6));
    count(c, norm, factor < 1);
    return factor;
}

static double square_of(const optimizer *o, int p)
{
    const double alpha = graph_param(o->g, p)->alpha;
    return o->type->square(o, p) / (alpha * alpha);
}

void clipping_begin(optimizer *o)
{
    clipper *c = o->clipper;
    if (!c)
        return;
    c->last = (clip_counts){.steps = 1};
    c->largest = 0;
    if (c->kind != CLIP_NORM)
        return;
    double square = 0;
    for (int p = 0; p < graph_params(o->g); p++)
        square += c->exempt[p] ? 0 : square_of(o, p);
    c->factor = norm_factor(c, o->settings.clip, sqrt(square));
}

static tensor_clip by_value(optimizer *o, int p)
{
    clipper *c = o->clipper;
    const float limit = (float)o->settings.clip;
    const magnitudes m = o->type->magnitudes(o, p, limit);
    c->last.parts += graph_param(o->g, p)->size;
    c->last.parts_clipped += m.above;
    c->last.not_finite = c->last.not_finite || m.not_finite;
    c->largest = fmax(c->largest, m.largest);
    return (tensor_clip){.factor = 1, .cuts = true, .limit = limit};
}

static tensor_clip by_rows(optimizer *o, int p)
{
    clipper *c = o->clipper;
    const size_t length = row_length(graph_param(o->g, p)), rows = graph_param(o->g, p)->size / length;
    double *gradient = c->squares, *weight = c->squares + rows;
    o->type->row_squares(o, p, length, gradient, weight);
    for (size_t r = 0; r < rows; r++) {
        const double g = sqrt(gradient[r]), w = fmax(sqrt(weight[r]), 1e-3), most = o->settings.clip * w;
        c->row[r] = (float)(g > most ? most / fmax(g, 1e-6) : 1);
        count(c, g / w, g > most);
    }
    return (tensor_clip){.factor = 1, .row = c->row, .length = length};
}

tensor_clip clipping_of(optimizer *o, int p)
{
    clipper *c = o->clipper;
    if (!c || c->exempt[p])
        return (tensor_clip){.factor = 1};
    switch (c->kind) {
    case CLIP_NORM: return (tensor_clip){.factor = c->factor};
    case CLIP_TENSOR: return (tensor_clip){.factor = norm_factor(c, o->settings.clip, sqrt(square_of(o, p)))};
    case CLIP_VALUE: return by_value(o, p);
    default: return by_rows(o, p);
    }
}

void clipping_end(optimizer *o)
{
    clipper *c = o->clipper;
    if (!c)
        return;
    c->last.clipped = c->last.parts_clipped > 0;
    c->all.steps += c->last.steps;
    c->all.clipped += c->last.clipped;
    c->all.parts += c->last.parts;
    c->all.parts_clipped += c->last.parts_clipped;
    c->all.not_finite += c->last.not_finite;
}
