/* SPDX-License-Identifier: BSD-2-Clause */
/* packed_state.c - low-precision model memory (Li et al. 2023): parameters, gradient accumulators and the state of the
 * optimiser live packed; only what one operator needs is unpacked, and the optimiser goes group by group.
 *
 * With N gradients gathered since the last step, each the mean of a micro-batch:
 *
 *     g <- Q(g + dw)             as each arrives; g starts at 0
 *     sgd                        w <- Q(w - lr (c g + N decay w))
 *     momentum                   m <- Q(mu m + c g + N decay w);  w <- Q(w - lr m)
 *     adam, h = c g/N + decay w  m <- Q(b1 m + (1-b1) h);  v <- Q(b2 v + (1-b2) h^2);
 *                                w <- Q(w - lr (m / (1-b1^t)) / (sqrt(v / (1-b2^t)) + epsilon))
 *     adamw, h = c g/N           the same; w <- Q(w - (lr decay w + lr (m / ...) / (sqrt(v / ...) + epsilon)))
 *
 * where w is stepped by the m and v that were just stored, and Q finds the scale of each group anew. A positive second
 * moment does not become 0 but the smallest positive value of its group, or of a format without groups, since
 * m / epsilon would be far too large a step. The random bits come from a stream for each (array, parameter, rounding).
 */
#include "optimizer/state.h"

#include "optimizer/clipping.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is kept of a parameter. */
enum { WEIGHT = KEEP_WEIGHT, GRADIENT = KEEP_GRADIENT, MOMENT = KEEP_MOMENTUM, SQUARE = KEEP_SQUARE, ARRAYS = KEPT };
static const char *const array_name[ARRAYS] = {"weight", "gradient", "momentum", "square"};

typedef struct slot {
    size_t size;
    uint8_t *bytes[ARRAYS]; /* packed; NULL: the method has none */
    size_t length[ARRAYS];
    uint64_t roundings[ARRAYS]; /* of the whole array so far: which stream is next */
    uint64_t gathered;          /* gradients since the last step */
    double largest;             /* of the gradients since the last step, unscaled */
    bool not_finite;
} slot;

typedef struct packed {
    optimizer base;
    int slots;
    slot *slot;
    fpemu_format format[ARRAYS];
    uint64_t group[ARRAYS];     /* elements of a block; 0: the whole array is one */
    size_t room;                /* floats of the largest operator's parameters */
    uint64_t begun;             /* the rounder's step whose random bits the weights take until the next begin */
    float *weights, *gradients; /* what is handed out of them */
    size_t weights_used, gradients_used;
    int weights_held, gradients_held;
    float **gradient_at; /* by parameter, while it is handed out */
    size_t chunk;        /* elements worked on at a time: whole groups of every array */
    float *part[ARRAYS], *before;
    float *scale; /* of the groups worked on */
} packed;

/* ---------------------------------------------------------------------------------------- packed arrays */

static void must(fpemu_status status, const packed *k, int p, int which)
{
    if (status != FPEMU_OK)
        die("%s of %s: %s", array_name[which], graph_param(k->base.g, p)->name, fpemu_status_text(status));
}

static size_t chunk_at(const packed *k, size_t size, size_t first)
{
    return size - first < k->chunk ? size - first : k->chunk;
}

/* The blocks of n elements of an array from element `first` on, as the calls on packed tensors take them. */
typedef struct blocks {
    fpemu_shape shape; /* of the whole array */
    uint64_t first, count;
} blocks;

static blocks blocks_of(const packed *k, int p, int which, size_t first, size_t n)
{
    const size_t size = k->slot[p].size;
    const uint64_t length = k->group[which] ? k->group[which] : size;
    return (blocks){fpemu_shape_vector(size), first / length, (n + length - 1) / length};
}

static void unpack(const packed *k, int p, int which, size_t first, size_t n, float *x)
{
    const blocks b = blocks_of(k, p, which, first, n);
    must(fpemu_unpack_blocks_f32(&k->format[which], &b.shape, b.first, b.count, k->slot[p].bytes[which], x), k, p,
         which);
}

/* Packs x, which then holds what is stored. */
static void pack(packed *k, int p, int which, size_t first, size_t n, float *x)
{
    const slot *t = &k->slot[p];
    const blocks b = blocks_of(k, p, which, first, n);
    fpemu_rounding how = {.mode = k->base.settings.nearest ? FPEMU_MODE_RNE : FPEMU_MODE_SR, .seed = k->base.r->seed};
    how.stream = random_u64(how.seed, FOR_STORING, (uint64_t)which << 32 | (uint64_t)p, t->roundings[which]);
    must(fpemu_pack_blocks_f32(&k->format[which], &how, &b.shape, b.first, b.count, x, t->bytes[which], NULL), k, p,
         which);
    unpack(k, p, which, first, n, x);
}

/* The scales of the groups of n stored elements from `first` on, to k->scale; formats without groups: the step at 1. */
static void stored_scales(const packed *k, int p, int which, size_t first, size_t n)
{
    const blocks b = blocks_of(k, p, which, first, n);
    if (!k->group[which])
        k->scale[0] = (float)fpemu_format_epsilon(&k->format[which]);
    else
        must(fpemu_unpack_scales_f32(&k->format[which], &b.shape, b.first, b.count, k->slot[p].bytes[which], k->scale),
             k, p, which);
}

/* Raises what is positive to the smallest positive value of its group, so that rounding cannot make it 0; without
 * groups, to that of the format. In a group a little more than that value, since a quotient rounded down would lie
 * below it. */
static void keep_positive(const packed *k, int p, size_t n, float *x)
{
    const fpemu_format *f = &k->format[SQUARE];
    const fpemu_shape shape = fpemu_shape_vector(n);
    const size_t length = (size_t)k->group[SQUARE];
    const double smallest = fpemu_format_min_positive(f);
    if (length)
        must(fpemu_scales_f32(f, &shape, x, k->scale, NULL, NULL), k, p, SQUARE);
    for (size_t i = 0; i < n; i++) {
        const float least = (float)(length ? (double)k->scale[i / length] * smallest * (1 + 0x1p-22) : smallest);
        x[i] = x[i] > 0 && x[i] < least ? least : x[i];
    }
}

/* ------------------------------------------------------------------------------------------- for the passes */

static const float *fetch(store *s, int p)
{
    packed *k = (packed *)s;
    const slot *t = &k->slot[p];
    rounder *r = k->base.r;
    float *w = k->weights + k->weights_used;
    if (k->weights_used + t->size > k->room)
        die("more than one operator's parameters are wanted at a time");
    k->weights_used += t->size;
    k->weights_held++;
    unpack(k, p, WEIGHT, 0, t->size, w);
    if (k->base.unrounded)
        return w;

    /* All passes of a step, or of a test, take the same weights: they get the same random bits, and are counted once
     * for each batch. */
    fpemu_stats *seen = &r->seen[ROLE_W][p];
    const fpemu_stats kept = *seen;
    const bool counted = seen->count > 0;
    const uint64_t now = r->step;
    if (counted)
        *seen = (fpemu_stats){0};
    r->step = k->begun;
    r->calls.round(&r->calls, ROLE_W, p, t->size, w);
    r->step = now;
    if (counted)
        *seen = kept;
    return w;
}

static void release_weights(store *s, int p)
{
    packed *k = (packed *)s;
    (void)p;
    if (--k->weights_held == 0)
        k->weights_used = 0;
}

static float *gradient_place(store *s, int p)
{
    packed *k = (packed *)s;
    float *dw = k->gradients + k->gradients_used;
    if (k->gradients_used + k->slot[p].size > k->room)
        die("more than one operator's gradients are wanted at a time");
    k->gradients_used += k->slot[p].size;
    k->gradients_held++;
    return k->gradient_at[p] = dw;
}

static void gather(store *s, int p)
{
    packed *k = (packed *)s;
    slot *t = &k->slot[p];
    rounder *r = k->base.r;
    float *dw = k->gradient_at[p], *g = k->part[GRADIENT];
    const double alpha = graph_param(k->base.g, p)->alpha;
    double largest;
    bool not_finite;
    r->calls.round(&r->calls, ROLE_DW, p, t->size, dw);
    rounder_extent(r, ROLE_DW, p, t->size, dw, &largest, &not_finite);
    if (!t->gathered) {
        t->largest = 0;
        t->not_finite = false;
    }
    t->largest = fmax(t->largest, largest / alpha);
    t->not_finite = t->not_finite || not_finite;

    const float unscale = (float)(1 / alpha);
    for (size_t first = 0; first < t->size; first += k->chunk) {
        const size_t n = chunk_at(k, t->size, first);
        if (t->gathered)
            unpack(k, p, GRADIENT, first, n, g);
        else
            memset(g, 0, n * sizeof *g);
        for (size_t i = 0; i < n; i++)
            g[i] += unscale * dw[first + i];
        pack(k, p, GRADIENT, first, n, g);
    }
    t->roundings[GRADIENT]++;
    t->gathered++;
    if (--k->gradients_held == 0)
        k->gradients_used = 0;
}

/* ---------------------------------------------------------------------------------------- for the optimiser */

static void release(optimizer *base)
{
    packed *k = (packed *)base;
    for (int p = 0; p < k->slots; p++)
        for (int which = 0; which < ARRAYS; which++)
            free(k->slot[p].bytes[which]);
    for (int which = 0; which < ARRAYS; which++)
        free(k->part[which]);
    free(k->before);
    free(k->scale);
    free(k->slot);
    free(k->weights);
    free(k->gradients);
    free(k->gradient_at);
    free(k);
}

static void begin(optimizer *base)
{
    packed *k = (packed *)base;
    k->begun = base->r->step;
    for (int p = 0; p < k->slots; p++)
        k->slot[p].gathered = 0;
}

static void extent(const optimizer *base, int p, double *largest, bool *not_finite)
{
    const slot *t = &((const packed *)base)->slot[p];
    *largest = t->largest * graph_param(base->g, p)->alpha;
    *not_finite = t->not_finite;
}

static double square(const optimizer *base, int p)
{
    const packed *k = (const packed *)base;
    const double alpha = graph_param(base->g, p)->alpha;
    double sum = 0;
    for (size_t first = 0; first < k->slot[p].size; first += k->chunk) {
        const size_t n = chunk_at(k, k->slot[p].size, first);
        unpack(k, p, GRADIENT, first, n, k->part[GRADIENT]);
        for (size_t i = 0; i < n; i++)
            sum += (double)k->part[GRADIENT][i] * (double)k->part[GRADIENT][i];
    }
    return sum * alpha * alpha;
}

/* In the order of the elements: sums do not depend on how chunks lie across rows. */
static void row_squares(optimizer *base, int p, size_t length, double *gradient, double *weight)
{
    packed *k = (packed *)base;
    float *g = k->part[GRADIENT], *w = k->part[WEIGHT];
    for (size_t r = 0; r < k->slot[p].size / length; r++)
        gradient[r] = weight[r] = 0;
    for (size_t first = 0; first < k->slot[p].size; first += k->chunk) {
        const size_t n = chunk_at(k, k->slot[p].size, first);
        unpack(k, p, GRADIENT, first, n, g);
        unpack(k, p, WEIGHT, first, n, w);
        for (size_t i = 0; i < n; i++) {
            gradient[(first + i) / length] += (double)g[i] * (double)g[i];
            weight[(first + i) / length] += (double)w[i] * (double)w[i];
        }
    }
}

static magnitudes magnitudes_of(const optimizer *base, int p, float limit)
{
    const packed *k = (const packed *)base;
    magnitudes m = {0};
    for (size_t first = 0; first < k->slot[p].size; first += k->chunk) {
        const size_t n = chunk_at(k, k->slot[p].size, first);
        unpack(k, p, GRADIENT, first, n, k->part[GRADIENT]);
        for (size_t i = 0; i < n; i++)
            magnitudes_add(&m, k->part[GRADIENT][i], limit);
    }
    return m;
}

/* By what clipping makes a chunk of the gathered gradient smaller, but for a factor that all of it has. */
static void clip_chunk(const tensor_clip *clip, size_t first, size_t n, float *g)
{
    for (size_t i = 0; clip->row && i < n; i++)
        g[i] *= clip->row[(first + i) / clip->length];
    for (size_t i = 0; clip->cuts && i < n; i++)
        g[i] = g[i] > clip->limit ? clip->limit : g[i] < -clip->limit ? -clip->limit : g[i];
}

/* The states of a chunk after this step, stored; then part[GRADIENT] holds by how much each weight is to fall. */
static void changes(packed *k, int p, const recipe *c, size_t first, size_t n)
{
    float *g = k->part[GRADIENT], *m = k->part[MOMENT], *v = k->part[SQUARE];
    const float *w = k->part[WEIGHT];
    const float factor = method_has_squares(k->base.method) ? c->mean * c->clip : c->clip;
    for (size_t i = 0; i < n; i++)
        g[i] = factor * g[i] + c->decay * w[i];
    if (k->base.method == SGD) {
        for (size_t i = 0; i < n; i++)
            g[i] *= c->lr;
        return;
    }
    unpack(k, p, MOMENT, first, n, m);
    if (k->base.method == MOMENTUM) {
        for (size_t i = 0; i < n; i++)
            m[i] = c->mu * m[i] + g[i];
        pack(k, p, MOMENT, first, n, m);
        for (size_t i = 0; i < n; i++)
            g[i] = c->lr * m[i];
        return;
    }
    unpack(k, p, SQUARE, first, n, v);
    for (size_t i = 0; i < n; i++) {
        m[i] = c->mu * m[i] + c->rest1 * g[i];
        v[i] = c->beta2 * v[i] + c->rest2 * g[i] * g[i];
    }
    keep_positive(k, p, n, v);
    pack(k, p, MOMENT, first, n, m);
    pack(k, p, SQUARE, first, n, v);
    for (size_t i = 0; i < n; i++)
        g[i] = c->step * m[i] / (sqrtf(v[i]) / c->root2 + c->epsilon);
    for (size_t i = 0; k->base.method == ADAMW && i < n; i++)
        g[i] += c->shrink * w[i];
}

static void count_chunk(const packed *k, int p, size_t first, size_t n, update_counts *counts)
{
    const float *u = k->part[GRADIENT], *after = k->part[WEIGHT];
    const size_t group = k->group[WEIGHT] ? (size_t)k->group[WEIGHT] : n;
    stored_scales(k, p, WEIGHT, first, n);
    for (size_t i = 0; i < n; i++) {
        const double delta = (double)k->scale[i / group];
        const double size = fabs((double)u[i]);
        counts->updates += size != 0;
        counts->vanished += size != 0 && after[i] == k->before[i];
        if (!(delta > 0))
            continue;
        const double ratio = size / delta;
        int bin = 0;
        if (ratio > 0)
            frexp(ratio, &bin);
        bin = ratio > 0 ? bin - 1 - UPDATE_FIRST + 1 : 0;
        counts->ratio[bin < 0 ? 0 : bin >= UPDATE_BINS ? UPDATE_BINS - 1 : bin]++;
        counts->moved += fabs((double)after[i] - (double)k->before[i]) / delta;
    }
    counts->elements += n;
}

static void update_all(optimizer *base, double lr, update_counts *counts)
{
    packed *k = (packed *)base;
    float *w = k->part[WEIGHT], *u = k->part[GRADIENT];
    for (int p = 0; p < k->slots; p++) {
        slot *t = &k->slot[p];
        const tensor_clip clip = clipping_of(base, p);
        const recipe c = recipe_of(base, p, lr, (double)(t->gathered ? t->gathered : 1), &clip);
        for (size_t first = 0; first < t->size; first += k->chunk) {
            const size_t n = chunk_at(k, t->size, first);
            unpack(k, p, WEIGHT, first, n, w);
            unpack(k, p, GRADIENT, first, n, u);
            if (counts) {
                memcpy(k->before, w, n * sizeof *w);
                for (size_t i = 0; i < n; i++) {
                    counts->small_g += fabsf(u[i]) < 0x1p-24f;
                    counts->small_update += fabsf(c.lr * u[i]) < 0x1p-24f;
                }
            }
            clip_chunk(&clip, first, n, u);
            changes(k, p, &c, first, n);
            for (size_t i = 0; i < n; i++)
                w[i] -= u[i];
            pack(k, p, WEIGHT, first, n, w);
            if (counts)
                count_chunk(k, p, first, n, counts);
        }
        for (int which = 0; which < ARRAYS; which++)
            t->roundings[which] += which != GRADIENT;
        t->gathered = 0;
    }
}

static const float *master(optimizer *base, int p)
{
    packed *k = (packed *)base;
    unpack(k, p, WEIGHT, 0, k->slot[p].size, k->weights);
    return k->weights;
}

static const float *gradient(const optimizer *base, int p)
{
    (void)base, (void)p;
    return NULL;
}

static size_t bytes(const optimizer *base)
{
    const packed *k = (const packed *)base;
    size_t sum = 0;
    for (int p = 0; p < k->slots; p++)
        for (int which = 0; which < ARRAYS; which++)
            sum += k->slot[p].length[which];
    return sum;
}

static size_t workspace(const optimizer *base)
{
    const packed *k = (const packed *)base;
    return (2 * k->room + (ARRAYS + 1) * k->chunk) * sizeof(float) + clipping_workspace(&base->settings, base->g);
}

/* The first content of an array: the weights w, of the others zero. */
static void fill_array(packed *k, int p, int which, const float *w)
{
    const slot *t = &k->slot[p];
    float *part = k->part[which];
    for (size_t first = 0; t->bytes[which] && first < t->size; first += k->chunk) {
        const size_t n = chunk_at(k, t->size, first);
        if (which == WEIGHT)
            memcpy(part, w + first, n * sizeof *part);
        else
            memset(part, 0, n * sizeof *part);
        pack(k, p, which, first, n, part);
    }
}

/* With the random bits of the first weights, as if these had been w. */
static void start(optimizer *base, int p, const float *w)
{
    packed *k = (packed *)base;
    k->slot[p].roundings[WEIGHT] = 0;
    fill_array(k, p, WEIGHT, w);
    k->slot[p].roundings[WEIGHT] = 1;
}

/* ---------------------------------------------------------------------------------------------- checkpoints */

static void name_of(const packed *k, int p, const char *what, char name[96])
{
    (void)snprintf(name, 96, "packed.%s.%s", what, graph_param(k->base.g, p)->name);
}

/* How the bytes of an array are to be read: their format and the shape of the parameter, as in "e4m3fn 16x3x3x3". */
static void put_layout(const packed *k, int p, int which, const char *name, checkpoint *to)
{
    enum { FORMAT = 256, EXTENTS = 64 };
    char text[FORMAT + EXTENTS];
    const param *shape = graph_param(k->base.g, p);
    must(fpemu_format_print(&k->format[which], text, FORMAT), k, p, which);
    for (int i = 0; i < shape->dims; i++)
        (void)snprintf(text + strlen(text), 16, "%c%d", i ? 'x' : ' ', shape->dim[i]);
    checkpoint_put_text(to, name, text);
}

static void save(const optimizer *base, checkpoint *to)
{
    const packed *k = (const packed *)base;
    for (int p = 0; p < k->slots; p++) {
        const slot *t = &k->slot[p];
        char name[96];
        for (int which = 0; which < ARRAYS; which++) {
            name_of(k, p, array_name[which], name);
            if (!t->bytes[which])
                continue;
            checkpoint_put(to, name, t->bytes[which], t->length[which]);
            put_layout(k, p, which, name, to);
        }
        name_of(k, p, "roundings", name);
        checkpoint_put_counts(to, name, ARRAYS, t->roundings);
    }
}

static bool load(optimizer *base, const checkpoint *from, trouble *why)
{
    packed *k = (packed *)base;
    for (int p = 0; p < k->slots; p++) {
        slot *t = &k->slot[p];
        char name[96];
        for (int which = 0; which < ARRAYS; which++) {
            name_of(k, p, array_name[which], name);
            if (t->bytes[which] && !checkpoint_take(from, name, t->bytes[which], t->length[which], why))
                return false;
        }
        name_of(k, p, "roundings", name);
        if (!checkpoint_take_counts(from, name, ARRAYS, t->roundings, why))
            return false;
    }
    return true;
}

static const optimizer_type packed_type = {.free = release,
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

/* ------------------------------------------------------------------------------------------------- creation */

/* largest: elements of a parameter. A block of the whole tensor is at least as long, and a multiple of other blocks. */
static bool formats_fit(packed *k, const optimizer_settings *settings, size_t largest, trouble *why)
{
    static const char *const usual[ARRAYS] = {"group(int12,2048)", "group(int8,2048)", "codebook(dynamic8,2048)",
                                              "codebook(udynamic8,2048)"};
    uint64_t whole = 1 << 24;
    while (whole < largest)
        whole *= 2;
    const fpemu_shape one = fpemu_shape_vector(whole);
    k->chunk = 1;
    for (int which = 0; which < ARRAYS; which++) {
        const char *spec = settings->kept[which] ? settings->kept[which] : usual[which];
        fpemu_parse_error error;
        fpemu_layout layout;
        fpemu_format *f = &k->format[which];
        if (fpemu_format_parse(spec, f, &error) != FPEMU_OK)
            return fail(why, "format of the stored %s: %s", array_name[which], error.message);
        if (fpemu_packed_layout(f, &one, &layout) != FPEMU_OK || layout.tensor_bytes)
            return fail(why, "the stored %s cannot be packed as %s group by group", array_name[which], spec);
        k->group[which] = layout.scale_bytes ? layout.block_elements : 0;
        if (layout.scale_bytes && layout.scale_bytes != 4)
            return fail(why, "scales of the stored %s are binary32 numbers, as of group(int8,2048)", array_name[which]);
        if (k->group[which] > k->chunk)
            k->chunk = (size_t)k->group[which];
    }
    for (int which = 0; which < ARRAYS; which++)
        if (k->group[which] && k->chunk % k->group[which])
            return fail(why, "the largest group of a stored array is a multiple of the other groups");
    return true;
}

/* How much of everything there is to be, before any of it is reserved; false where the formats do not fit. */
static bool measure(packed *k, const optimizer_settings *settings, trouble *why)
{
    graph *g = k->base.g;
    const method m = k->base.method;
    const bool wanted[ARRAYS] = {true, true, m != SGD, method_has_squares(m)};
    size_t largest = 1;
    bool one_block = false; /* a format without groups is worked on whole */
    k->slots = graph_params(g);
    for (int p = 0; p < k->slots; p++)
        largest = graph_param(g, p)->size > largest ? graph_param(g, p)->size : largest;
    if (!formats_fit(k, settings, largest, why))
        return false;
    k->slot = need((size_t)k->slots, sizeof *k->slot);
    for (int p = 0; p < k->slots; p++) {
        slot *t = &k->slot[p];
        t->size = graph_param(g, p)->size;
        const fpemu_shape shape = fpemu_shape_vector(t->size);
        for (int which = 0; which < ARRAYS; which++)
            t->length[which] = wanted[which] ? (size_t)fpemu_packed_size(&k->format[which], &shape) : 0;
    }
    for (int i = 0; i < graph_ops(g); i++) {
        const op_info o = graph_op(g, i);
        size_t sum = 0;
        for (int p = 0; p < o.params; p++)
            sum += k->slot[o.first_param + p].size;
        k->room = sum > k->room ? sum : k->room;
    }
    for (int which = 0; which < ARRAYS; which++)
        one_block = one_block || !k->group[which];
    if (one_block || k->chunk > largest)
        k->chunk = largest;
    return true;
}

/* Groups of a chunk, of the array that has most. */
static size_t most_groups(const packed *k)
{
    size_t most = 1;
    for (int which = 0; which < ARRAYS; which++) {
        const size_t length = (size_t)k->group[which];
        const size_t groups = length ? (k->chunk + length - 1) / length : 1;
        most = groups > most ? groups : most;
    }
    return most;
}

bool optimizer_packed_memory(const optimizer_settings *settings, method m, graph *g, optimizer_memory *to, trouble *why)
{
    packed k = {.base = {.g = g, .method = m, .settings = *settings}};
    if (!measure(&k, settings, why))
        return false;
    *to = (optimizer_memory){bytes(&k.base), workspace(&k.base)};
    free(k.slot);
    return true;
}

/* Memory of one parameter, and its first weights as they are stored. */
static void fill_slot(packed *k, int p)
{
    slot *t = &k->slot[p];
    for (int which = 0; which < ARRAYS; which++) {
        t->bytes[which] = t->length[which] ? need(t->length[which], 1) : NULL;
        fill_array(k, p, which, k->weights);
        t->roundings[which] = 1;
    }
}

optimizer *optimizer_packed(const optimizer_settings *settings, method m, graph *g, rounder *r, trouble *why)
{
    packed *k = need(1, sizeof *k);
    k->base = (optimizer){
        .store = {.fetch = fetch, .release = release_weights, .gradient = gradient_place, .gradient_done = gather},
        .type = &packed_type,
        .g = g,
        .r = r,
        .method = m,
        .settings = *settings};
    if (!measure(k, settings, why)) {
        free(k);
        return NULL;
    }
    k->gradient_at = need((size_t)k->slots, sizeof *k->gradient_at);
    k->weights = need(k->room, sizeof(float));
    k->gradients = need(k->room, sizeof(float));
    k->before = need(k->chunk, sizeof(float));
    k->scale = need(most_groups(k), sizeof(float));
    for (int which = 0; which < ARRAYS; which++)
        k->part[which] = need(k->chunk, sizeof(float));
    for (int p = 0; p < k->slots; p++) {
        graph_initial(g, p, k->weights);
        fill_slot(k, p);
    }
    return &k->base;
}
