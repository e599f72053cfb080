/* SPDX-License-Identifier: BSD-2-Clause */
/* passes.c - memory, the forward and the backward pass: what is rounded when, and where gradients meet. */
#include "engine/graph.h"
#include "engine/memory.h"
#include "engine/op.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------- memory */

static void reserve_memory(graph *g)
{
    memory_plan p = memory_plan_of(g, g->batch);
    g->memory = need(p.floats, sizeof *g->memory);
    g->memory_size = p.floats;
    for (int i = 0; i < g->values; i++)
        g->value[i]->v = g->memory + p.value[i];
    for (int i = 0, edge = 0; i < g->ops; i++)
        for (int k = 0; k < g->op[i]->inputs; k++, edge++) {
            value *v = g->value[g->op[i]->input[k]];
            if (v->producer >= 0)
                v->dv = g->op[i]->dx[k] = g->memory + p.gradient[edge];
        }
    memory_plan_free(&p);
}

static void fill_buffers(graph *g)
{
    for (int i = 0; i < g->buffers; i++) {
        buffer *b = g->buffer[i];
        b->data = need(b->size, sizeof *b->data);
        for (size_t k = 0; k < b->size; k++)
            b->data[k] = b->start;
    }
}

void graph_finish(graph *g, int batch, const backend *b, int threads)
{
    if (g->loss < 0 || batch < 1 || g->batch)
        die("a network is finished once, with its loss, for a batch of at least 1");
    g->batch = batch;
    g->threads = threads < 1 ? 1 : threads;
    g->backend = b;
    g->gathered = need((size_t)g->values, sizeof *g->gathered);
    for (int i = 0; i < g->values; i++) {
        value *v = g->value[i];
        if (!v->consumers)
            die("%s: nothing reads what it puts out", v->producer < 0 ? "input" : g->op[v->producer]->name);
        const size_t n = (size_t)v->consumers;
        g->gathered[i] =
            (gathered){0, false, need(n, sizeof(float *)), need(n, sizeof(double)), need(n, sizeof(double))};
    }
    reserve_memory(g);
    fill_buffers(g);
    for (int i = 0; i < g->ops; i++)
        if (g->op[i]->type->finish)
            g->op[i]->type->finish(g, g->op[i]);
    g->scratch = need(memory_scratch(g, batch), sizeof *g->scratch);
    g->labels = need((size_t)batch * (size_t)g->value[g->logits]->rows_per_sample, sizeof *g->labels);
}

/* ---------------------------------------------------------------------------------------------- forward */

static size_t live_size(const graph *g, const value *v)
{
    return (size_t)g->samples * (size_t)v->rows_per_sample * v->row;
}

static void round_value(const graph *g, rounds *r, role which, int index, float *x)
{
    if (r && g->value[index]->is_tensor)
        r->round(r, which, index, live_size(g, g->value[index]), x);
}

/* Elements that each thread makes and then rounds: as many as go into its cache beside what they are made of. */
enum { PART = 1 << 15 };

/* Samples that are made and rounded at a time, in whole units for each thread; all of them where parts cannot be. */
static int part_samples(const graph *g, rounds *r, role which, int index, int unit)
{
    const value *v = g->value[index];
    const size_t sample = (size_t)v->rows_per_sample * v->row, whole = (size_t)g->threads * (size_t)(unit ? unit : 1);
    if (!r || !r->parts || !v->is_tensor || !r->parts(r, which, index))
        return g->samples;
    const size_t units = (size_t)g->threads * PART / (sample * whole), samples = units ? units * whole : whole;
    return samples < (size_t)g->samples ? (int)samples : g->samples;
}

static size_t sample_at(const value *v, int sample)
{
    return (size_t)sample * (size_t)v->rows_per_sample * v->row;
}

static void fetch_params(const op *o, store *s, pass *p)
{
    for (int k = 0; k < o->params; k++)
        p->w[k] = s->fetch(s, o->first_param + k);
}

static void release_params(const op *o, store *s)
{
    for (int k = 0; k < o->params; k++)
        s->release(s, o->first_param + k);
}

/* What both passes of an operator start from; x is room for its inputs. */
static pass pass_of(const graph *g, op *o, bool training, const float **x)
{
    for (int k = 0; k < o->inputs; k++)
        x[k] = g->value[o->input[k]]->v;
    return (pass){
        .g = g, .o = o, .samples = g->samples, .training = training, .step = g->step, .labels = g->labels, .x = x};
}

static int most_inputs(const graph *g)
{
    int most = 1;
    for (int i = 0; i < g->ops; i++)
        most = g->op[i]->inputs > most ? g->op[i]->inputs : most;
    return most;
}

static void forward_op(const graph *g, rounds *r, const pass *p)
{
    const op *o = p->o;
    const op_parts *in = &o->type->forward_parts;
    const int step = p->y && in->part ? part_samples(g, r, ROLE_V, o->output, in->unit) : p->samples;
    if (step >= p->samples) {
        o->type->forward(p);
        if (p->y)
            round_value(g, r, ROLE_V, o->output, p->y);
        return;
    }
    if (in->first)
        in->first(p);
    const float *x[OP_PARTED];
    pass q = *p;
    q.x = x;
    for (int i = 0; i < p->samples; i += step) {
        for (int k = 0; k < o->inputs; k++)
            x[k] = p->x[k] + sample_at(g->value[o->input[k]], i);
        q.samples = piece_length(p->samples, step, i / step);
        q.y = p->y + sample_at(g->value[o->output], i);
        in->part(&q);
        r->round(r, ROLE_V, o->output, sample_at(g->value[o->output], q.samples), q.y);
    }
}

forward_result graph_forward(graph *g, store *s, rounds *r, int samples, const float *inputs, const int *labels,
                             bool training, uint64_t step)
{
    if (samples < 1 || samples > g->batch)
        die("a batch of %d samples, where at most %d were reserved", samples, g->batch);
    forward_result result = {0};
    const float **x = need((size_t)most_inputs(g), sizeof *x);
    g->samples = samples;
    g->step = step;
    g->rounds = r;
    g->training = training;
    memcpy(g->labels, labels, (size_t)samples * (size_t)g->value[g->logits]->rows_per_sample * sizeof *labels);
    memcpy(g->value[0]->v, inputs, live_size(g, g->value[0]) * sizeof *inputs);
    round_value(g, r, ROLE_V, 0, g->value[0]->v);
    for (int i = 0; i < g->ops; i++) {
        op *o = g->op[i];
        pass p = pass_of(g, o, training, x);
        p.y = o->output < 0 ? NULL : g->value[o->output]->v;
        p.result = &result;
        fetch_params(o, s, &p);
        forward_op(g, r, &p);
        release_params(o, s);
    }
    free(x);
    return result;
}

/* ---------------------------------------------------------------------------------------------- backward */

WIDE static void add_scaled(size_t n, float a, float *restrict sum, float b, const float *restrict x)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        sum[i] = sum[i] * a + x[i] * b;
}

/* Multiplies by powers of two and adds; the first part becomes the sum. */
static void add_parts(const graph *g, size_t first, size_t n, const gathered *q, double to)
{
    (void)g; /* without OpenMP */
    const int count = element_pieces(n);
#pragma omp parallel for num_threads(g->threads)
    for (int i = 0; i < count; i++)
        for (int k = 1; k < q->count; k++) {
            const size_t at = first + (size_t)i * ELEMENTS;
            add_scaled(element_count(n, i), k == 1 ? (float)(to / q->alpha[0]) : 1.0f, q->part[0] + at,
                       (float)(to / q->alpha[k]), q->part[k] + at);
        }
}

WIDE static float largest_of(size_t n, const float *x)
{
    float most = 0;
#pragma omp simd reduction(max : most)
    for (size_t i = 0; i < n; i++) {
        const float a = fabsf(x[i]);
        most = a > most ? a : most;
    }
    return most;
}

static double largest(const graph *g, size_t n, const float *x)
{
    (void)g;
    const int count = element_pieces(n);
    float most = 0;
#pragma omp parallel for num_threads(g->threads) reduction(max : most)
    for (int i = 0; i < count; i++) {
        const float here = largest_of(element_count(n, i), x + (size_t)i * ELEMENTS);
        most = here > most ? here : most;
    }
    return (double)most;
}

/* The multiplier to which contributions are brought before they are added. */
static double joined_alpha(graph *g, layer_scaling *l, int index)
{
    gathered *q = &g->gathered[index];
    if (!l)
        return q->alpha[0];
    const bool wanted = l->wants_largest(l, index);
    const double before = clock_seconds();
    for (int k = 0; k < q->count && wanted; k++)
        q->largest[k] = largest(g, live_size(g, g->value[index]), q->part[k]);
    l->seconds += wanted ? clock_seconds() - before : 0;
    return l->join(l, index, q->count, q->alpha, wanted ? q->largest : NULL);
}

/* Makes dv of a value from what its consumers passed on. */
static void settle(graph *g, rounds *r, layer_scaling *l, int index)
{
    value *v = g->value[index];
    gathered *q = &g->gathered[index];
    const bool each = r && r->each && q->count > 1;
    for (int k = 0; k < q->count && each; k++)
        round_value(g, r, ROLE_DV, index, q->part[k]);
    v->dv = q->part[0];
    v->alpha = q->alpha[0];
    if (q->count == 1) {
        if (!q->rounded)
            round_value(g, r, ROLE_DV, index, v->dv);
        return;
    }
    v->alpha = joined_alpha(g, l, index);
    const int step = each ? g->samples : part_samples(g, r, ROLE_DV, index, 0);
    for (int i = 0; i < g->samples; i += step) {
        const size_t at = sample_at(v, i), n = sample_at(v, piece_length(g->samples, step, i / step));
        add_parts(g, at, n, q, v->alpha);
        if (!each && r && v->is_tensor)
            r->round(r, ROLE_DV, index, n, v->dv + at);
    }
    if (each && v->is_tensor && r->joined)
        r->joined(r, ROLE_DV, index, live_size(g, v), v->dv);
}

WIDE static void multiply(size_t n, float by, const float *restrict x, float *restrict y)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] * by;
}

/* Layer-wise scaling: what an operator that weighs makes its dx of. Returns beta. */
static double scale_passed(graph *g, layer_scaling *l, int index, pass *p)
{
    const op *o = p->o;
    if (!l || !o->type->weighs || !o->dx[0])
        return 1;
    const size_t n = live_size(g, g->value[o->output]);
    const double beta = l->beta(l, index, n, p->dy, g->param[o->first_param]->size, p->w[0]);
    if (beta == 1)
        return beta;
    if (g->scaled_size < n) {
        free(g->scaled);
        g->scaled = need(n, sizeof *g->scaled);
        g->scaled_size = n;
    }
    const int count = element_pieces(n);
#pragma omp parallel for num_threads(g->threads)
    for (int i = 0; i < count; i++)
        multiply(element_count(n, i), (float)beta, p->dy + (size_t)i * ELEMENTS, g->scaled + (size_t)i * ELEMENTS);
    p->passed = g->scaled;
    return beta;
}

/* Whether input k of an operator is given its whole gradient by this operator alone, which may be rounded in parts. */
static bool rounded_at_once(const graph *g, rounds *r, const op *o, int k)
{
    const int index = o->input[k];
    return o->dx[k] && o->type->backward_parts.part && g->value[index]->consumers == 1 &&
           part_samples(g, r, ROLE_DV, index, o->type->backward_parts.unit) < g->samples;
}

static void backward_in_parts(graph *g, rounds *r, const pass *p)
{
    const op *o = p->o;
    const op_parts *in = &o->type->backward_parts;
    const float *x[OP_PARTED];
    float *dx[OP_PARTED];
    pass q = *p;
    q.x = x;
    q.dx = dx;
    int step = p->samples;
    for (int k = 0; k < o->inputs; k++)
        if (rounded_at_once(g, r, o, k)) {
            const int most = part_samples(g, r, ROLE_DV, o->input[k], in->unit);
            step = most < step ? most : step;
        }
    if (in->first)
        in->first(p);
    for (int i = 0; i < p->samples; i += step) {
        q.samples = piece_length(p->samples, step, i / step);
        q.dy = p->dy + sample_at(g->value[o->output], i);
        q.passed = p->passed + sample_at(g->value[o->output], i);
        for (int k = 0; k < o->inputs; k++) {
            const size_t at = sample_at(g->value[o->input[k]], i);
            x[k] = p->x[k] + at;
            dx[k] = p->dx[k] ? p->dx[k] + at : NULL;
        }
        in->part(&q);
        for (int k = 0; k < o->inputs; k++)
            if (rounded_at_once(g, r, o, k))
                r->round(r, ROLE_DV, o->input[k], sample_at(g->value[o->input[k]], q.samples), dx[k]);
    }
}

static void backward_op(graph *g, store *s, rounds *r, layer_scaling *l, int index, double scale, const float **x)
{
    op *o = g->op[index];
    pass p = pass_of(g, o, true, x);
    const double alpha = o->output < 0 ? scale : g->value[o->output]->alpha;
    p.scale = scale;
    p.dy = p.passed = o->output < 0 ? NULL : g->value[o->output]->dv;
    p.dx = o->dx;
    fetch_params(o, s, &p);
    for (int k = 0; k < o->params; k++) {
        p.dw[k] = s->gradient(s, o->first_param + k);
        g->param[o->first_param + k]->alpha = alpha;
    }
    const double beta = scale_passed(g, l, index, &p);
    bool in_parts = false;
    for (int k = 0; k < o->inputs; k++)
        in_parts = in_parts || rounded_at_once(g, r, o, k);
    if (in_parts)
        backward_in_parts(g, r, &p);
    else
        o->type->backward(&p);
    release_params(o, s);
    for (int k = 0; k < o->params; k++)
        s->gradient_done(s, o->first_param + k);
    for (int k = 0; k < o->inputs; k++)
        if (o->dx[k]) {
            gathered *q = &g->gathered[o->input[k]];
            q->rounded = rounded_at_once(g, r, o, k);
            q->part[q->count] = o->dx[k];
            q->alpha[q->count++] = alpha * beta;
        }
}

void graph_backward(graph *g, store *s, rounds *r, layer_scaling *l, double scale)
{
    if (!g->training)
        die("a backward pass without a forward pass of training before it");
    const float **x = need((size_t)most_inputs(g), sizeof *x);
    g->rounds = r;
    for (int i = 0; i < g->values; i++)
        g->gathered[i].count = 0;
    for (int i = g->ops - 1; i >= 0; i--) {
        if (g->op[i]->output >= 0)
            settle(g, r, l, g->op[i]->output);
        backward_op(g, s, r, l, i, scale, x);
    }
    free(x);
}
