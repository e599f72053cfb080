/* SPDX-License-Identifier: BSD-2-Clause */
/* rounder.c - see rounder.h
 *
 * The stream of random words of a tensor is a function of (seed, step, role, index). A tensor that is rounded in
 * several calls of one step (each contribution to a gradient, say) goes on in its stream where the last call ended, so
 * no two elements share a word.
 */
#include "numerics/rounder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rounder_count(const rounder *r, role which)
{
    return which == ROLE_V || which == ROLE_DV ? graph_values(r->g) : graph_params(r->g);
}

bool rounder_rounds(const rounder *r, role which, int index)
{
    if (which == ROLE_W || which == ROLE_DW)
        return true;
    const value *v = graph_value(r->g, index);
    return v->is_tensor && (which == ROLE_V || v->producer >= 0);
}

/* The shape that a blocked format sees: outer x length x inner, blocks along length. */
static fpemu_shape shape_of(const rounder *r, role which, int index, size_t n)
{
    fpemu_shape s = fpemu_shape_vector(n);
    if (which == ROLE_V || which == ROLE_DV) {
        const value *v = graph_value(r->g, index);
        s.outer = n / v->row;
        s.length = (uint64_t)v->c;
        s.inner = (uint64_t)v->h * (uint64_t)v->w;
        return s;
    }
    const param *p = graph_param(r->g, index);
    if (p->dims > 1) {
        s.outer = (uint64_t)p->dim[0];
        s.length = (uint64_t)p->dim[1];
        s.inner = n / (s.outer * s.length);
    }
    return s;
}

/* The step of which all elements are whole numbers when x is rounded as one block of integers: its scale; else 0. */
static double whole_step(const fpemu_format *f, const fpemu_shape *s, const float *x)
{
    fpemu_format element;
    float scale;
    if (fpemu_format_element(f, &element) != FPEMU_OK || element.kind != FPEMU_KIND_INT ||
        fpemu_scales_f32(f, s, x, &scale, NULL, NULL) != FPEMU_OK)
        return 0;
    return (double)scale;
}

static void round_tensor(rounds *calls, role which, int index, size_t n, float *x)
{
    rounder *r = (rounder *)calls;
    const rule *l = &r->rule[which][index];
    r->step_of[which][index] = 0;
    if (r->want & ROUNDER_DISPERSION && (which == ROLE_DV || which == ROLE_DW))
        r->dispersion[which][index] = dispersion_of(n, x);
    if (!l->format.kind || !n)
        return;
    fpemu_stats *seen = &r->seen[which][index];
    const uint64_t stream = random_u64(r->seed, FOR_ROUNDING, (uint64_t)which << 32 | (uint64_t)index, r->step);
    const fpemu_place place = {.seed = r->seed, .stream = stream, .offset = seen->count};
    fpemu_status status;
    if (l->format.scaling) {
        fpemu_shape s = shape_of(r, which, index, n);
        fpemu_range range = {0};
        if (l->format.scaling == FPEMU_SCALING_MUPPET && l->format.block == FPEMU_BLOCK_TENSOR) {
            fpemu_measure_f32(&l->format, n, x, &range);
            s = fpemu_shape_vector(n); /* one block however it lies, and no rows to go through */
            s.whole = &range;
            r->step_of[which][index] = whole_step(&l->format, &s, x);
        }
        float *const apart = FPEMU_CORRECTED(&l->format) ? need_room(n, sizeof *x) : NULL;
        if (apart) /* which refuses to round in place */
            memcpy(apart, x, n * sizeof *x);
        status = fpemu_run_tensor(&l->call, &place, &s, apart ? apart : x, x, seen);
        free(apart);
    } else {
        status = fpemu_run(&l->call, &place, n, x, x, seen);
    }
    if (status != FPEMU_OK) {
        char name[96];
        tensor_name(r->g, which, index, sizeof name, name);
        die("%s at step %llu: %s", name, (unsigned long long)r->step, fpemu_status_text(status));
    }
}

/* Counters and random words go on from call to call; a scale, a dispersion and sums are of one call. */
static bool parts(rounds *calls, role which, int index)
{
    const rounder *r = (const rounder *)calls;
    const fpemu_format *f = &r->rule[which][index].format;
    const bool once = r->want & FPEMU_STATS_SUMS || (r->want & ROUNDER_DISPERSION && which == ROLE_DV);
    return f->kind && !f->scaling && !once;
}

/* A sum of rounded numbers is not rounded: its elements are no whole numbers of a step, and it is the gradient. */
static void joined(rounds *calls, role which, int index, size_t n, const float *x)
{
    rounder *r = (rounder *)calls;
    r->step_of[which][index] = 0;
    if (r->want & ROUNDER_DISPERSION)
        r->dispersion[which][index] = dispersion_of(n, x);
}

static double step_of(rounds *calls, role which, int index)
{
    return ((const rounder *)calls)->step_of[which][index];
}

rounder *rounder_new(graph *g, uint64_t seed)
{
    rounder *r = need(1, sizeof *r);
    r->calls.round = round_tensor;
    r->calls.step = step_of;
    r->calls.parts = parts;
    r->calls.joined = joined;
    r->g = g;
    r->seed = seed;
    for (int which = 0; which < ROLES; which++) {
        const size_t count = (size_t)rounder_count(r, (role)which);
        r->rule[which] = need(count, sizeof *r->rule[which]);
        r->seen[which] = need(count, sizeof *r->seen[which]);
        r->dispersion[which] = need(count, sizeof *r->dispersion[which]);
        r->step_of[which] = need(count, sizeof *r->step_of[which]);
    }
    return r;
}

void rounder_free(rounder *r)
{
    if (!r)
        return;
    for (int which = 0; which < ROLES; which++) {
        free(r->rule[which]);
        free(r->seen[which]);
        free(r->dispersion[which]);
        free(r->step_of[which]);
    }
    free(r->bins);
    free(r);
}

void rounder_begin(rounder *r, uint64_t step)
{
    size_t tensors = 0;
    for (int which = 0; which < ROLES; which++)
        tensors += (size_t)rounder_count(r, (role)which);
    if (r->want & FPEMU_STATS_HISTOGRAM) {
        if (!r->bins)
            r->bins = need(tensors, ROUNDER_BINS * sizeof *r->bins);
        memset(r->bins, 0, tensors * ROUNDER_BINS * sizeof *r->bins);
    }

    uint64_t *bins = r->bins;
    for (int which = 0; which < ROLES; which++) {
        const size_t count = (size_t)rounder_count(r, (role)which);
        memset(r->seen[which], 0, count * sizeof *r->seen[which]);
        memset(r->dispersion[which], 0, count * sizeof *r->dispersion[which]);
        for (size_t i = 0; r->want && i < count; i++) {
            fpemu_stats *seen = &r->seen[which][i];
            seen->request.want = r->want & ~ROUNDER_DISPERSION;
            if (r->want & FPEMU_STATS_HISTOGRAM) {
                seen->request.histogram = bins;
                seen->request.histogram_first = ROUNDER_FIRST;
                seen->request.histogram_length = ROUNDER_BINS;
                bins += ROUNDER_BINS;
            }
        }
    }
    r->step = step;
}

/* Rounding |x| is monotone and the same for both signs, so the largest result is the result of the largest. */
static bool largest_is_rounded_largest(const rule *l, const fpemu_stats *seen)
{
    const unsigned mode = l->rounding.mode;
    return l->format.kind && !l->format.scaling && !l->rounding.compat && l->format.is_signed && !l->format.wrap &&
           (mode <= FPEMU_MODE_RAZ || mode == FPEMU_MODE_RTO) && seen->count && !seen->nan && !seen->infinite &&
           !seen->overflow && !seen->clipped && !seen->invalid;
}

void rounder_extent(const rounder *r, role which, int index, size_t n, const float *x, double *largest,
                    bool *not_finite)
{
    const rule *l = &r->rule[which][index];
    const fpemu_stats *seen = &r->seen[which][index];
    if (largest_is_rounded_largest(l, seen)) {
        *largest = fpemu_quantize_one_f32(&l->format, &l->rounding, (float)seen->max_abs, 0);
        *not_finite = false;
        return;
    }
    float most = 0;
    float poison = 0; /* 0 * x is NaN where x is not finite, and stays so in the sum */
    for (size_t i = 0; i < n; i++) {
        const float a = fabsf(x[i]);
        most = a > most ? a : most;
        poison += 0 * x[i];
    }
    *not_finite = poison != poison;
    *largest = most;
    if (isinf(most)) {
        most = 0;
        for (size_t i = 0; i < n; i++)
            if (isfinite(x[i]) && fabsf(x[i]) > most)
                most = fabsf(x[i]);
        *largest = most;
    }
}

void tensor_name(graph *g, role which, int index, size_t capacity, char *text)
{
    if (which == ROLE_W || which == ROLE_DW) {
        const char *name = graph_param(g, index)->name;
        const char *dot = strrchr(name, '.');
        if (which == ROLE_W || !dot)
            (void)snprintf(text, capacity, "%s", name);
        else
            (void)snprintf(text, capacity, "%.*s.d%s", (int)(dot - name), name, dot + 1);
        return;
    }
    const int producer = graph_value(g, index)->producer;
    (void)snprintf(text, capacity, "%s.%s", producer < 0 ? "input" : graph_op(g, producer).name,
                   which == ROLE_V ? "v" : "dv");
}
