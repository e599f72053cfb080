/* SPDX-License-Identifier: BSD-2-Clause */
/* fp32_state.c - parameters, gradients and optimiser state as arrays of float.
 *
 * With a master copy the passes see a rounded copy of every parameter whose format is not FP32; without one the array
 * itself is rounded, after every update. All loops run over pieces of fixed length, so threads change no bit.
 */
#include "optimizer/state.h"

#include "optimizer/clipping.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 14 };

typedef struct slot {
    size_t size;
    float *w;       /* the master copy; without one, the rounded weights */
    float *rounded; /* NULL until the format is not FP32 */
    float *dw;
    float *m, *v; /* momentum; second moment of adam */
} slot;

typedef struct fp32 {
    optimizer base;
    int slots;
    slot *slot;
    float *old; /* for counting, of one parameter: w before its update, and what the passes see before and after */
    float *before, *after;
    double *partial; /* sums of pieces */
} fp32;

static bool is_rounded(const fp32 *k, int p)
{
    return k->base.r->rule[ROLE_W][p].format.kind != 0;
}

static const float *fetch(store *s, int p)
{
    const fp32 *k = (const fp32 *)s;
    const bool copy = k->slot[p].rounded && k->base.settings.master && is_rounded(k, p) && !k->base.unrounded;
    return copy ? k->slot[p].rounded : k->slot[p].w;
}

static float *gradient_place(store *s, int p)
{
    return ((fp32 *)s)->slot[p].dw;
}

static void release_param(store *s, int p)
{
    (void)s, (void)p;
}

static void round_gradient(store *s, int p)
{
    const fp32 *k = (const fp32 *)s;
    rounds *calls = &k->base.r->calls;
    calls->round(calls, ROLE_DW, p, k->slot[p].size, k->slot[p].dw);
}

static void release(optimizer *base)
{
    fp32 *k = (fp32 *)base;
    for (int p = 0; p < k->slots; p++) {
        slot *t = &k->slot[p];
        free(t->w);
        free(t->rounded);
        free(t->dw);
        free(t->m);
        free(t->v);
    }
    free(k->slot);
    free(k->old);
    free(k->partial);
    free(k);
}

static void begin(optimizer *base)
{
    fp32 *k = (fp32 *)base;
    rounds *calls = &base->r->calls;
    for (int p = 0; p < k->slots; p++) {
        slot *t = &k->slot[p];
        if (!is_rounded(k, p))
            continue;
        float *to = t->w;
        if (base->settings.master) {
            if (!t->rounded)
                t->rounded = need(t->size, sizeof *t->rounded);
            to = memcpy(t->rounded, t->w, t->size * sizeof *to);
        }
        calls->round(calls, ROLE_W, p, t->size, to);
    }
}

static void extent(const optimizer *base, int p, double *largest, bool *not_finite)
{
    const slot *t = &((const fp32 *)base)->slot[p];
    rounder_extent(base->r, ROLE_DW, p, t->size, t->dw, largest, not_finite);
}

static double square(const optimizer *base, int p)
{
    const fp32 *k = (const fp32 *)base;
    const slot *t = &k->slot[p];
    const size_t pieces = (t->size + PIECE - 1) / PIECE;
#pragma omp parallel for schedule(static) if (pieces > 1)
    for (size_t piece = 0; piece < pieces; piece++) {
        const size_t first = piece * PIECE, last = first + PIECE < t->size ? first + PIECE : t->size;
        double sum = 0;
        for (size_t i = first; i < last; i++)
            sum += (double)t->dw[i] * (double)t->dw[i];
        k->partial[piece] = sum;
    }
    double sum = 0;
    for (size_t piece = 0; piece < pieces; piece++)
        sum += k->partial[piece];
    return sum;
}

static void row_squares(optimizer *base, int p, size_t length, double *gradient, double *weight)
{
    const slot *t = &((const fp32 *)base)->slot[p];
    const double unscale = 1 / graph_param(base->g, p)->alpha;
    const size_t rows = t->size / length;
#pragma omp parallel for schedule(static) if (t->size > PIECE)
    for (size_t r = 0; r < rows; r++) {
        gradient[r] = weight[r] = 0;
        for (size_t i = r * length; i < (r + 1) * length; i++) {
            const double g = unscale * (double)t->dw[i], w = (double)t->w[i];
            gradient[r] += g * g;
            weight[r] += w * w;
        }
    }
}

static magnitudes magnitudes_of(const optimizer *base, int p, float limit)
{
    const slot *t = &((const fp32 *)base)->slot[p];
    const float unscale = (float)(1 / graph_param(base->g, p)->alpha);
    magnitudes m = {0};
    for (size_t i = 0; i < t->size; i++)
        magnitudes_add(&m, unscale * t->dw[i], limit);
    return m;
}

/* The gradient of one element, unscaled; NaN is not cut. */
static inline float cut(const recipe *c, float dw)
{
    const float g = c->unscale * dw;
    return g > c->limit ? c->limit : g < -c->limit ? -c->limit : g;
}

/* The gradient of one element, as the method takes it. */
static inline float gradient_of(const recipe *c, bool cuts, float dw, float w)
{
    return c->clip * (cuts ? cut(c, dw) : c->unscale * dw) + c->decay * w;
}

/* By how much one weight falls, given the gradient and the state after it. */
static inline float change(const recipe *c, method kind, float g, float m, float v)
{
    switch (kind) {
    case SGD: return c->lr * g;
    case MOMENTUM: return c->lr * m;
    case NESTEROV: return c->lr * (g + c->mu * m);
    default: return c->step * m / (sqrtf(v) / c->root2 + c->epsilon);
    }
}

/* The elements first ... last - 1 of one parameter; `kind` and `cuts` are constants where this is inlined. */
static inline void update_loop(const recipe *c, method kind, bool cuts, const slot *t, size_t first, size_t last)
{
    const bool has_squares = kind == ADAM || kind == ADAMW;
    float *restrict w = t->w, *restrict m = t->m, *restrict v = t->v;
    const float *restrict dw = t->dw;
    for (size_t i = first; i < last; i++) {
        const float g = gradient_of(c, cuts, dw[i], w[i]);
        if (kind == MOMENTUM || kind == NESTEROV)
            m[i] = c->mu * m[i] + g;
        if (has_squares) {
            m[i] += c->rest1 * (g - m[i]);
            v[i] = c->beta2 * v[i] + c->rest2 * g * g;
        }
        const float fall = change(c, kind, g, kind == SGD ? 0 : m[i], has_squares ? v[i] : 0);
        w[i] = (kind == ADAMW ? c->keep * w[i] : w[i]) - fall;
    }
}

static inline void update_with(const recipe *c, bool cuts, const slot *t, size_t first, size_t last)
{
    switch (c->method) {
    case SGD: update_loop(c, SGD, cuts, t, first, last); break;
    case MOMENTUM: update_loop(c, MOMENTUM, cuts, t, first, last); break;
    case NESTEROV: update_loop(c, NESTEROV, cuts, t, first, last); break;
    case ADAM: update_loop(c, ADAM, cuts, t, first, last); break;
    default: update_loop(c, ADAMW, cuts, t, first, last);
    }
}

static void update_piece(const recipe *c, const slot *t, size_t first, size_t last)
{
    if (c->cuts)
        update_with(c, true, t, first, last);
    else
        update_with(c, false, t, first, last);
}

static void update_rows(const recipe *c, const slot *t, const tensor_clip *clip)
{
    const size_t rows = t->size / clip->length;
#pragma omp parallel for schedule(static) if (t->size > PIECE)
    for (size_t r = 0; r < rows; r++) {
        recipe of_row = *c;
        of_row.clip = clip->row[r];
        update_piece(&of_row, t, r * clip->length, (r + 1) * clip->length);
    }
}

static void update(const recipe *c, const slot *t)
{
    const size_t pieces = (t->size + PIECE - 1) / PIECE;
#pragma omp parallel for schedule(static) if (pieces > 1)
    for (size_t piece = 0; piece < pieces; piece++)
        update_piece(c, t, piece * PIECE, (piece + 1) * PIECE < t->size ? (piece + 1) * PIECE : t->size);
}

/* Counts what an update did. */
static void count_updates(const fp32 *k, int p, const recipe *all, const tensor_clip *clip, update_counts *counts)
{
    const slot *t = &k->slot[p];
    recipe at = *all;
    const recipe *c = &at;
    for (size_t i = 0; i < t->size; i++) {
        if (clip->row)
            at.clip = clip->row[i / clip->length];
        const float g = gradient_of(c, c->cuts, t->dw[i], k->old[i]);
        const float fall = change(c, c->method, g, t->m ? t->m[i] : 0, t->v ? t->v[i] : 0);
        const float u = c->method == ADAMW ? c->shrink * k->old[i] + fall : fall;
        const float raw = c->unscale * t->dw[i];
        counts->updates += u != 0;
        counts->vanished += u != 0 && k->after[i] == k->before[i];
        counts->small_g += fabsf(raw) < 0x1p-24f;
        counts->small_update += fabsf(c->lr * raw) < 0x1p-24f;
    }
    counts->elements += t->size;
}

/* What the passes see of a parameter, to `to`. With a master copy that takes a rounding, whose counters are dropped. */
static void view(const fp32 *k, int p, float *to)
{
    const slot *t = &k->slot[p];
    memcpy(to, t->w, t->size * sizeof *to);
    if (!k->base.settings.master || !is_rounded(k, p))
        return;
    rounder *r = k->base.r;
    const fpemu_stats kept = r->seen[ROLE_W][p];
    r->seen[ROLE_W][p].request.want = 0;
    r->calls.round(&r->calls, ROLE_W, p, t->size, to);
    r->seen[ROLE_W][p] = kept;
}

/* Without a master copy: counted apart from the rounding before the passes, which found the last one's results. The
 * random words go on. */
static void round_updated(const fp32 *k, int p)
{
    rounder *r = k->base.r;
    fpemu_stats *seen = &r->seen[ROLE_W][p];
    const uint64_t before = seen->count;
    *seen = (fpemu_stats){.request = seen->request, .count = before};
    if (seen->request.histogram)
        memset(seen->request.histogram, 0, seen->request.histogram_length * sizeof *seen->request.histogram);
    r->calls.round(&r->calls, ROLE_W, p, k->slot[p].size, k->slot[p].w);
    seen->count -= before;
}

static void update_all(optimizer *base, double lr, update_counts *counts)
{
    fp32 *k = (fp32 *)base;
    for (int p = 0; p < k->slots; p++) {
        slot *t = &k->slot[p];
        const tensor_clip clip = clipping_of(base, p);
        const recipe c = recipe_of(base, p, lr, 1, &clip);
        if (counts) {
            memcpy(k->old, t->w, t->size * sizeof *t->w);
            view(k, p, k->before);
        }
        if (clip.row)
            update_rows(&c, t, &clip);
        else
            update(&c, t);
        if (!base->settings.master && is_rounded(k, p))
            round_updated(k, p);
        if (counts) {
            view(k, p, k->after);
            count_updates(k, p, &c, &clip, counts);
        }
    }
}

static const float *master(optimizer *base, int p)
{
    return ((fp32 *)base)->slot[p].w;
}

static const float *gradient(const optimizer *base, int p)
{
    return ((const fp32 *)base)->slot[p].dw;
}

/* By the formats of now: a run that is loaded has no copy before its first pass. */
static size_t bytes(const optimizer *base)
{
    const fp32 *k = (const fp32 *)base;
    size_t floats = 0;
    for (int p = 0; p < k->slots; p++) {
        const slot *t = &k->slot[p];
        const bool copy = base->settings.master && is_rounded(k, p);
        floats += t->size * (2u + copy + (t->m != NULL) + (t->v != NULL));
    }
    return floats * sizeof(float);
}

static size_t workspace(const optimizer *base)
{
    return clipping_workspace(&base->settings, base->g);
}

/* The name of an array of a parameter in a checkpoint, and the arrays that are there. */
enum { ARRAYS = 3 };
static float *array(const fp32 *k, int p, int which, char name[96])
{
    static const char *const prefix[ARRAYS] = {"", "optimizer.momentum.", "optimizer.square."};
    const slot *t = &k->slot[p];
    (void)snprintf(name, 96, "%s%s", prefix[which], graph_param(k->base.g, p)->name);
    return which == 0 ? t->w : which == 1 ? t->m : t->v;
}

static void save(const optimizer *base, checkpoint *to)
{
    const fp32 *k = (const fp32 *)base;
    for (int p = 0; p < k->slots; p++)
        for (int which = 0; which < ARRAYS; which++) {
            char name[96];
            const param *shape = graph_param(base->g, p);
            const float *x = array(k, p, which, name);
            if (x)
                checkpoint_put_floats(to, name, shape->dims, shape->dim, x);
        }
}

static bool load(optimizer *base, const checkpoint *from, trouble *why)
{
    const fp32 *k = (const fp32 *)base;
    for (int p = 0; p < k->slots; p++)
        for (int which = 0; which < ARRAYS; which++) {
            char name[96];
            const param *shape = graph_param(base->g, p);
            float *x = array(k, p, which, name);
            if (x && !checkpoint_take_floats(from, name, shape->dims, shape->dim, x, why))
                return false;
        }
    return true;
}

static void start(optimizer *base, int p, const float *w)
{
    const slot *t = &((fp32 *)base)->slot[p];
    memcpy(t->w, w, t->size * sizeof *w);
}

static const optimizer_type fp32_type = {.free = release,
                                         .begin = begin,
                                         .extent = extent,
                                         .square = square,
                                         .row_squares = row_squares,
                                         .magnitudes = magnitudes_of,
                                         .update = update_all,
                                         .master = master,
                                         .gradient = gradient,
                                         .bytes = bytes,
                                         .workspace = workspace,
                                         .save = save,
                                         .load = load,
                                         .start = start};

optimizer *optimizer_fp32(const optimizer_settings *settings, method m, graph *g, rounder *r)
{
    fp32 *k = need(1, sizeof *k);
    k->base = (optimizer){.store = {.fetch = fetch,
                                    .release = release_param,
                                    .gradient = gradient_place,
                                    .gradient_done = round_gradient},
                          .type = &fp32_type,
                          .g = g,
                          .r = r,
                          .method = m,
                          .settings = *settings};
    k->slots = graph_params(g);
    k->slot = need((size_t)k->slots, sizeof *k->slot);
    size_t largest = 1;
    for (int p = 0; p < k->slots; p++) {
        slot *t = &k->slot[p];
        t->size = graph_param(g, p)->size;
        t->w = need(t->size, sizeof *t->w);
        t->dw = need(t->size, sizeof *t->dw);
        t->m = m == SGD ? NULL : need(t->size, sizeof *t->m);
        t->v = method_has_squares(m) ? need(t->size, sizeof *t->v) : NULL;
        graph_initial(g, p, t->w);
        largest = t->size > largest ? t->size : largest;
    }
    k->old = need(3 * largest, sizeof *k->old);
    k->before = k->old + largest;
    k->after = k->before + largest;
    k->partial = need(largest / PIECE + 1, sizeof *k->partial);
    return &k->base;
}
