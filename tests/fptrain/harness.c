/* SPDX-License-Identifier: BSD-2-Clause */
/* harness.c - see harness.h */
#include "harness.h"

#include <stdarg.h>

static int failed;

int failures(void)
{
    return failed > 0;
}

void check(bool good, const char *format, ...)
{
    if (good)
        return;
    va_list arguments;
    va_start(arguments, format);
    if (failed++ < 40) {
        vprintf(format, arguments);
        putchar('\n');
    }
    va_end(arguments);
}

void check_near(const char *what, size_t n, const float *got, const double *want, double tolerance)
{
    double most = 1e-3;
    for (size_t i = 0; i < n; i++)
        most = fabs(want[i]) > most ? fabs(want[i]) : most;
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - want[i]) <= tolerance * most)) {
            check(false, "%s: element %zu of %zu is %.9g, not %.9g", what, i, n, (double)got[i], want[i]);
            return;
        }
}

void check_same(const char *what, size_t n, const float *a, const float *b)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0) {
            check(false, "%s: element %zu is %a and %a", what, i, (double)a[i], (double)b[i]);
            return;
        }
}

double sequence(uint64_t seed, uint64_t i)
{
    uint64_t z = (seed * 1000003 + i + 1) * 6364136223846793005u;
    z = (z ^ (z >> 29)) * 6364136223846793005u + 1442695040888963407u;
    return (double)((int64_t)((z >> 40) & 8191) - 4096 + ((z >> 40 & 8191) == 0)) / 4096;
}

/* ---------------------------------------------------------------------------------------------- store */

static harness *of_store(store *s)
{
    return (harness *)s;
}

static const float *fetch(store *s, int p)
{
    of_store(s)->open = true;
    return of_store(s)->w[p];
}

static void release(store *s, int p)
{
    (void)p;
    of_store(s)->open = false;
}

static float *gradient(store *s, int p)
{
    /* Whoever adds to what is there, or leaves elements out, is noticed. */
    for (size_t i = 0; i < graph_param(of_store(s)->g, p)->size; i++)
        of_store(s)->dw[p][i] = NAN;
    return of_store(s)->dw[p];
}

static void gradient_done(store *s, int p)
{
    harness *h = of_store(s);
    if (h->rounded)
        h->rounded(ROLE_DW, graph_param(h->g, p)->size, h->dw[p]);
}

/* ---------------------------------------------------------------------------------------------- rounds */

static void round_call(rounds *r, role which, int index, size_t n, float *x)
{
    harness *h = (harness *)((char *)r - offsetof(harness, rounds));
    if (h->rounded)
        h->rounded(which, n, x);
    float **copy = which == ROLE_V ? h->v : h->dv;
    int *calls = which == ROLE_V ? h->v_calls : h->dv_calls;
    free(copy[index]);
    copy[index] = need(n, sizeof(float));
    memcpy(copy[index], x, n * sizeof(float));
    calls[index]++;
    h->v_size[index] = n;
}

static void joined_call(rounds *r, role which, int index, size_t n, const float *x)
{
    harness *h = (harness *)((char *)r - offsetof(harness, rounds));
    check(which == ROLE_DV && n == h->v_size[index], "a sum of %zu numbers", n);
    memcpy(h->dv[index], x, n * sizeof(float));
    h->joined++;
}

/* ---------------------------------------------------------------------------------------------- life */

harness *harness_new(graph *g, double spread, uint64_t seed)
{
    harness *h = need(1, sizeof *h);
    const size_t params = (size_t)graph_params(g), values = (size_t)graph_values(g);
    *h = (harness)LIST(.calls = {fetch, release, gradient, gradient_done},
                       .rounds = {.round = round_call, .joined = joined_call}, .g = g,
                       .w = need(params, sizeof(float *)), .dw = need(params, sizeof(float *)),
                       .v = need(values, sizeof(float *)), .dv = need(values, sizeof(float *)),
                       .v_calls = need(values, sizeof(int)), .dv_calls = need(values, sizeof(int)),
                       .v_size = need(values, sizeof(size_t)));
    for (int p = 0; p < graph_params(g); p++) {
        const param *q = graph_param(g, p);
        h->w[p] = need(q->size, sizeof(float));
        h->dw[p] = need(q->size, sizeof(float));
        for (size_t i = 0; i < q->size; i++)
            h->w[p][i] = (float)((q->kind == PARAM_SCALE ? 1 : 0) + spread * sequence(seed + (uint64_t)p, i));
    }
    return h;
}

void harness_free(harness *h)
{
    for (int p = 0; p < graph_params(h->g); p++)
        FREE(h->w[p], h->dw[p]);
    for (int i = 0; i < graph_values(h->g); i++)
        FREE(h->v[i], h->dv[i]);
    FREE(h->w, h->dw, h->v, h->dv, h->v_calls, h->dv_calls, h->v_size);
    graph_free(h->g);
    free(h);
}

/* Elements that an operator leaves out are noticed: all memory is NaN before. */
static void spoil(harness *h, int samples)
{
    for (int i = 0; i < graph_values(h->g); i++) {
        const value *v = graph_value(h->g, i);
        for (size_t k = 0; k < (size_t)samples * (size_t)v->rows_per_sample * v->row; k++) {
            v->v[k] = NAN;
            if (v->dv)
                v->dv[k] = NAN;
        }
    }
}

forward_result harness_run(harness *h, int samples, const float *x, const int *labels, layer_scaling *l, double scale)
{
    spoil(h, samples);
    const forward_result r = graph_forward(h->g, &h->calls, &h->rounds, samples, x, labels, true, 3);
    graph_backward(h->g, &h->calls, &h->rounds, l, scale);
    check(!h->open, "a parameter was not released");
    return r;
}

forward_result harness_feed(harness *h, int samples, double scale)
{
    const value *in = graph_value(h->g, 0), *out = graph_value(h->g, graph_logits(h->g));
    const size_t n = (size_t)samples * (size_t)in->rows_per_sample * in->row;
    const size_t rows = (size_t)samples * (size_t)out->rows_per_sample;
    float *x = need(n, sizeof *x);
    int *labels = need(rows, sizeof *labels);
    for (size_t i = 0; i < n; i++)
        x[i] = in->is_tensor ? (float)sequence(3, i) : (float)(i * 7 % 11);
    for (size_t i = 0; i < rows; i++)
        labels[i] = (int)((i * 5 + 2) % out->row);
    const forward_result r = harness_run(h, samples, x, labels, NULL, scale);
    FREE(x, labels);
    return r;
}
