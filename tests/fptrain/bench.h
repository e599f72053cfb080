/* SPDX-License-Identifier: BSD-2-Clause */
/* bench.h - an optimiser over the parameters of a named model, and gradients made up for it. */
#ifndef TESTS_FPTRAIN_BENCH_H
#define TESTS_FPTRAIN_BENCH_H

#include "expect.h"
#include "models/model.h"
#include "optimizer/optimizer.h"

typedef struct bench {
    graph *g;
    rounder *r;
    optimizer *o;
} bench;

/* 6 inputs, layers of 13 and 6, 3 classes. */
static const model_settings tiny = {.name = "mlp", .width = 0.05, .c = 1, .h = 3, .w = 2, .classes = 3};

static inline bench bench_start(const optimizer_settings *settings, const model_settings *model, uint64_t seed)
{
    trouble why = {""};
    bench b = {.g = model_new(model, 7, &why)};
    EXPECT(b.g, "%s", why.text);
    b.r = rounder_new(b.g, seed);
    b.o = optimizer_new(settings, b.g, b.r, &why);
    EXPECT(b.o, "%s", why.text);
    for (int p = 0; p < graph_params(b.g); p++)
        graph_param(b.g, p)->alpha = 1;
    return b;
}

static inline void bench_stop(bench *b)
{
    optimizer_free(b->o);
    rounder_free(b->r);
    graph_free(b->g);
}

/* Every parameter's gradient, element by element. */
typedef float made_up(const void *context, int p, size_t i);

static inline void bench_gradients(bench *b, made_up *of, const void *context)
{
    store *s = &b->o->store;
    for (int p = 0; p < graph_params(b->g); p++) {
        float *dw = s->gradient(s, p);
        for (size_t i = 0; i < graph_param(b->g, p)->size; i++)
            dw[i] = of(context, p, i);
        s->gradient_done(s, p);
    }
}

/* A copy of the weights of parameter 0, to be freed. */
static inline float *bench_weights(const bench *b)
{
    const size_t bytes = graph_param(b->g, 0)->size * sizeof(float);
    return memcpy(need(bytes, 1), b->o->type->master(b->o, 0), bytes);
}

#endif
