/* SPDX-License-Identifier: BSD-2-Clause */
/* packed.c - low-precision model memory: the rules against arithmetic of this file, steps too small for the format,
 * a tensor of more than 2^24 elements. */
#include <fpemu.h>

#include "bench.h"
#include "optimizer/clipping.h"

enum { GROUP = 2048 };

static const model_settings small = {.name = "mlp", .width = 0.3, .c = 1, .h = 9, .w = 8, .classes = 3};

/* ------------------------------------------------------------------------------------- rules, to nearest */

/* x -> delta round(clamp(x / delta)), delta = absmax / (2^(bits-1) - 1) a float, ties to even. */
static void judge_groups(size_t n, float *x, int bits)
{
    const float top = (float)((1 << (bits - 1)) - 1);
    for (size_t from = 0; from < n; from += GROUP) {
        const size_t end = from + GROUP < n ? from + GROUP : n;
        float amax = 0;
        for (size_t i = from; i < end; i++)
            amax = fmaxf(amax, fabsf(x[i]));
        const float delta = amax / top;
        for (size_t i = from; i < end; i++) {
            const float q = amax > 0 ? rintf(fminf(fmaxf(x[i] / delta, -top), top)) : 0;
            x[i] = q * delta;
        }
    }
}

static float gradient_at(int p, size_t i, int step, int micro)
{
    return (float)(sin(1.0 + 37 * p + 3.7 * (double)i + 0.9 * step + 5.1 * micro) / (1 + step));
}

/* What this file makes of one parameter. */
typedef struct judge {
    size_t n;
    float *w, *m, *g;
} judge;

static judge judge_of(const graph *g, int p, size_t n)
{
    judge j = {n, need(n, sizeof(float)), need(n, sizeof(float)), need(n, sizeof(float))};
    graph_initial(g, p, j.w);
    judge_groups(n, j.w, 12);
    return j;
}

/* What clipping makes of a gradient of rows of `length`: by value, or each row beside its weights. */
static void judge_clip(judge *j, size_t length, const char *clipping, double clip)
{
    for (size_t from = 0; from < j->n; from += length) {
        double g = 0, w = 0;
        for (size_t i = from; i < from + length; i++) {
            g += (double)j->g[i] * (double)j->g[i];
            w += (double)j->w[i] * (double)j->w[i];
        }
        const double most = clip * fmax(sqrt(w), 1e-3);
        const float factor = (float)(sqrt(g) > most ? most / sqrt(g) : 1), limit = (float)clip;
        for (size_t i = from; i < from + length; i++)
            j->g[i] = strcmp(clipping, "value") ? factor * j->g[i] : fminf(fmaxf(j->g[i], -limit), limit);
    }
}

static void judge_step(judge *j, float mu, float decay, float lr)
{
    for (size_t i = 0; i < j->n; i++)
        j->m[i] = mu * j->m[i] + (j->g[i] + decay * j->w[i]);
    judge_groups(j->n, j->m, 8);
    for (size_t i = 0; i < j->n; i++)
        j->w[i] -= lr * j->m[i];
    judge_groups(j->n, j->w, 12);
}

/* Momentum and decay over steps of N micro-batches, 12, 8 and 8 bits, every array linear. The rows of parameter 0 lie
 * across groups, and the biases, whose weights begin as 0, are clipped to 1e-3 of the threshold. */
static void follow(int micro_batches, const char *clipping, double clip)
{
    enum { MOST = 16 };
    optimizer_settings settings = LIST(.name = "momentum", .momentum = 0.9, .decay = 0.01, .master = true,
                                       .packed = true, .nearest = true, .clipping = clipping, .clip = clip);
    settings.kept[KEEP_MOMENTUM] = "group(int8,2048)";
    bench b = bench_start(&settings, &small, 1);
    store *s = &b.o->store;
    const int params = graph_params(b.g);
    judge j[MOST];
    EXPECT(params <= MOST, "%d parameters", params);
    for (int p = 0; p < params; p++) {
        j[p] = judge_of(b.g, p, graph_param(b.g, p)->size);
        graph_param(b.g, p)->alpha = 8;
    }
    for (int step = 0; step < 4; step++) {
        b.o->type->begin(b.o);
        for (int p = 0; p < params; p++)
            memset(j[p].g, 0, j[p].n * sizeof(float));
        for (int k = 0; k < micro_batches; k++)
            for (int p = 0; p < params; p++) {
                float *dw = s->gradient(s, p);
                for (size_t i = 0; i < j[p].n; i++) {
                    dw[i] = 8 * gradient_at(p, i, step, k);
                    j[p].g[i] += gradient_at(p, i, step, k);
                }
                s->gradient_done(s, p);
                judge_groups(j[p].n, j[p].g, 8);
            }
        optimizer_step(b.o, 0.0625);
        EXPECT(!clipping || b.o->clipper->last.clipped, "%s: nothing is clipped", clipping);
        for (int p = 0; p < params; p++) {
            const param *q = graph_param(b.g, p);
            if (clipping)
                judge_clip(&j[p], q->dims > 1 ? q->size / (size_t)q->dim[0] : q->size, clipping, clip);
            judge_step(&j[p], 0.9f, (float)(0.01 * micro_batches), 0.0625f);
            const float *stored = b.o->type->master(b.o, p);
            for (size_t i = 0; i < j[p].n && failures < 20; i++)
                EXPECT(stored[i] == j[p].w[i], "N = %d, step %d, %d[%zu]: %.9g, not %.9g", micro_batches, step, p, i,
                       (double)stored[i], (double)j[p].w[i]);
        }
    }
    for (int p = 0; p < params; p++)
        FREE(j[p].w, j[p].m, j[p].g);
    bench_stop(&b);
}

/* 1/4 for the first parameter and 0 for all others. */
static float quarter(const void *context, int p, size_t i)
{
    (void)context, (void)i;
    return p ? 0 : 0.25f;
}

/* One step of adam from zero is lr h / (|h| + epsilon), h the mean of the micro-batches; m and v are one number a
 * group. */
static void adam(int micro_batches, double epsilon)
{
    optimizer_settings settings = LIST(.name = "adam", .momentum = 0.9, .beta2 = 0.999, .epsilon = epsilon,
                                       .master = true, .packed = true, .nearest = true);
    bench b = bench_start(&settings, &small, 1);
    const size_t n = graph_param(b.g, 0)->size;
    const float update = (float)(0.5 * 0.25 / (0.25 + epsilon));
    float *w = bench_weights(&b);
    b.o->type->begin(b.o);
    for (int k = 0; k < micro_batches; k++)
        bench_gradients(&b, quarter, NULL);
    optimizer_step(b.o, 0.5);
    const float *stored = b.o->type->master(b.o, 0);
    float amax = 0;
    for (size_t i = 0; i < n; i++)
        amax = fmaxf(amax, fabsf(w[i] - update));
    for (size_t i = 0; i < n; i++)
        EXPECT(fabsf(stored[i] - (w[i] - update)) <= 0.51f * amax / 2047, "%g, not %g", (double)stored[i],
               (double)(w[i] - update));
    free(w);
    bench_stop(&b);
}

/* How large updates of 2^-10 are beside the steps of their groups, which are largest / 2047 after the step. */
static void counts(void)
{
    const optimizer_settings settings = {.name = "sgd", .master = true, .packed = true, .nearest = true};
    bench b = bench_start(&settings, &small, 1);
    const size_t n = graph_param(b.g, 0)->size;
    uint64_t want[UPDATE_BINS] = {0};
    double moved = 0;
    float *w = bench_weights(&b);
    b.o->type->begin(b.o);
    bench_gradients(&b, quarter, NULL);
    b.o->count_next = true;
    optimizer_step(b.o, 0x1p-8);
    const update_counts got = b.o->counts;
    const float *after = b.o->type->master(b.o, 0);
    for (size_t from = 0; from < n; from += GROUP) {
        const size_t end = from + GROUP < n ? from + GROUP : n;
        float amax = 0;
        for (size_t i = from; i < end; i++)
            amax = fmaxf(amax, fabsf(w[i] - 0x1p-10f));
        const double delta = (double)(amax / 2047);
        want[1 - UPDATE_FIRST + (int)floor(log2(0x1p-10 / delta))] += end - from;
        for (size_t i = from; i < end; i++)
            moved += fabs((double)after[i] - (double)w[i]) / delta;
    }
    EXPECT(got.elements == graph_param_count(b.g) && got.updates == n, "%d updates", (int)got.updates);
    for (int bin = 1; bin < UPDATE_BINS; bin++) /* the first one also has the zeros */
        EXPECT(got.ratio[bin] == want[bin], "bin %d: %d, not %d", bin, (int)got.ratio[bin], (int)want[bin]);
    EXPECT(near(got.moved, moved, 1e-6), "moved by %g steps, not %g", got.moved, moved);
    free(w);
    bench_stop(&b);
}

/* What is small is the rate times the gradient, whatever decay and state make of it: of a gradient of 1/4, 2^-24 is not
 * and 2^-25 is, beside the zeros of all other parameters. */
static void small_updates(const char *name)
{
    const optimizer_settings settings = LIST(.name = name, .momentum = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .decay = 1,
                                             .master = true, .packed = true, .kept = {[KEEP_GRADIENT] = "fp32"});
    for (int exponent = -23; exponent <= -22; exponent++) {
        bench b = bench_start(&settings, &small, 1);
        const size_t all = graph_param_count(b.g), n = graph_param(b.g, 0)->size;
        b.o->type->begin(b.o);
        bench_gradients(&b, quarter, NULL);
        b.o->count_next = true;
        optimizer_step(b.o, ldexp(1, exponent));
        EXPECT(b.o->counts.small_g == all - n, "%s: %d gradients", name, (int)b.o->counts.small_g);
        EXPECT(b.o->counts.small_update == (exponent < -22 ? all : all - n), "%s, rate 2^%d: %d updates", name,
               exponent, (int)b.o->counts.small_update);
        bench_stop(&b);
    }
}

static float one_large(const void *context, int p, size_t i)
{
    (void)context, (void)p;
    return i ? 1e-6f * (float)(1 + i % 7) : 1;
}

/* Second moments far below the largest of their group stay positive: else weights would leap by lr m / epsilon. In a
 * format without groups they are `least`, its smallest positive value; 0: there are groups. */
static void never_zero(bool nearest, const char *squares, double least)
{
    optimizer_settings settings = LIST(.name = "adam", .momentum = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .master = true,
                                       .packed = true, .nearest = nearest);
    settings.kept[KEEP_WEIGHT] = "fp32";
    settings.kept[KEEP_GRADIENT] = "fp32";
    settings.kept[KEEP_MOMENTUM] = least > 0 ? "fp32" : NULL;
    settings.kept[KEEP_SQUARE] = squares;
    bench b = bench_start(&settings, &small, 3);
    const size_t n = graph_param(b.g, 0)->size;
    float *w = bench_weights(&b);
    b.o->type->begin(b.o);
    bench_gradients(&b, one_large, NULL);
    optimizer_step(b.o, 1);
    const float *now = b.o->type->master(b.o, 0);
    for (size_t i = 0; i < n && failures < 20; i++)
        EXPECT(fabsf(now[i] - w[i]) < 10, "element %zu leapt by %g", i, (double)(now[i] - w[i]));
    for (size_t i = 1; least > 0 && i < n && failures < 20; i++) {
        const double fall = (double)w[i] - (double)now[i];
        const double want = 1e-6 * (double)(1 + i % 7) / (sqrt(least) / sqrt(0.001) + 1e-8);
        EXPECT(fabs(fall - want) <= 1e-4 * want + 0x1p-25, "element %zu fell by %g, not %g", i, fall, want);
    }
    free(w);
    bench_stop(&b);
}

/* Weights are rounded once a step: the passes of all its micro-batches see the same, those of the next step others. The
 * counters are of one micro-batch, and count each weight once. */
static void one_rounding(void)
{
    const optimizer_settings settings = {.name = "sgd", .master = true, .packed = true};
    bench b = bench_start(&settings, &small, 1);
    store *s = &b.o->store;
    const size_t bytes = graph_param(b.g, 0)->size * sizeof(float);
    float *first = need(bytes, 1);
    trouble why;
    EXPECT(rule_parse(&b.r->rule[ROLE_W][0], "e5m2", "sr", &why), "e5m2");
    for (uint64_t number = 0; number < 4; number++) { /* two steps of two micro-batches */
        rounder_begin(b.r, number);
        if (number % 2 == 0)
            b.o->type->begin(b.o);
        for (int pass = 0; pass < 2; pass++) {
            const float *w = s->fetch(s, 0);
            EXPECT(number == 0 || (memcmp(w, first, bytes) == 0) == (number < 2), "micro-batch %d, pass %d: %s weights",
                   (int)number, pass, number < 2 ? "other" : "the same");
            if (number == 0)
                memcpy(first, w, bytes);
            s->release(s, 0);
        }
        EXPECT(b.r->seen[ROLE_W][0].count * sizeof(float) == bytes, "micro-batch %d: %d are counted", (int)number,
               (int)b.r->seen[ROLE_W][0].count);
    }
    free(first);
    bench_stop(&b);
}

/* Updates of an eighth of the step of the format: to nearest nothing moves; stochastically each step moves a weight with
 * probability 1/8, so that of 800 steps of w weights 100 w move, with a deviation of sqrt(800 w 7) / 8. */
static void small_steps(void)
{
    for (int nearest = 0; nearest < 2; nearest++) {
        const optimizer_settings settings =
            LIST(.name = "sgd", .master = true, .packed = true, .nearest = nearest,
                 .kept = {[KEEP_WEIGHT] = "int(16,scale=0.00390625)", [KEEP_GRADIENT] = "fp32"});
        bench b = bench_start(&settings, &tiny, 1);
        const size_t n = graph_param(b.g, 0)->size;
        float *w = bench_weights(&b);
        for (int step = 0; step < 800; step++) {
            b.o->type->begin(b.o);
            bench_gradients(&b, quarter, NULL);
            optimizer_step(b.o, 0x1p-9);
        }
        double steps = 0;
        for (size_t i = 0; i < n; i++)
            steps += (double)(w[i] - b.o->type->master(b.o, 0)[i]) * 0x1p8;
        EXPECT(nearest ? steps == 0 : fabs(steps - 100.0 * (double)n) < 5 * sqrt(800.0 * (double)n * 7) / 8,
               "%zu weights moved by %g steps", n, steps);
        free(w);
        bench_stop(&b);
    }
}

/* --------------------------------------------------------------------------------------------- large */

static float half(const void *context, int p, size_t i)
{
    return p ? 0 : ((const float *)context)[i] / 2;
}

/* A block of the whole tensor, where that has more than 2^24 elements: whole numbers from -127 to 127 are stored with a
 * scale of 1, and halved by a step with a scale of 1/2. */
static void large(void)
{
    const optimizer_settings settings = LIST(.name = "sgd", .master = true, .packed = true, .nearest = true,
                                             .kept = {[KEEP_WEIGHT] = "scaled(int8)", [KEEP_GRADIENT] = "fp16"});
    const model_settings model = {.name = "mlp", .c = 1, .h = 256, .w = 257, .classes = 2};
    bench b = bench_start(&settings, &model, 1);
    const size_t n = graph_param(b.g, 0)->size;
    float *w = malloc(n * sizeof *w);
    if (!w)
        exit(1);
    EXPECT(n > 1 << 24, "%zu weights", n);
    for (size_t i = 0; i < n; i++)
        w[i] = (float)(i % 255) - 127;
    b.o->type->start(b.o, 0, w);
    b.o->type->begin(b.o);
    bench_gradients(&b, half, w);
    optimizer_step(b.o, 1);
    const float *stored = b.o->type->master(b.o, 0);
    for (size_t i = 0; i < n && failures < 20; i++)
        EXPECT(stored[i] == w[i] / 2, "element %zu: %g, not %g", i, (double)stored[i], (double)(w[i] / 2));
    free(w);
    bench_stop(&b);
}

int main(void)
{
    for (int micro = 1; micro <= 4; micro *= 2)
        follow(micro, NULL, 0);
    follow(1, "adaptive", 0.5);
    follow(2, "adaptive", 0.125);
    follow(2, "value", 0.25);
    follow(1, "value", 1e-46); /* 0 in binary32 */
    counts();
    small_updates("sgd");
    small_updates("momentum");
    small_updates("adam");
    adam(1, 1e-8);
    adam(3, 0.5);
    for (int nearest = 0; nearest < 2; nearest++) {
        never_zero(nearest, NULL, 0);
        never_zero(nearest, "fp16", 0x1p-24);
        never_zero(nearest, "e4m3fn", 0x1p-9);
    }
    one_rounding();
    small_steps();
    large();
    return failures != 0;
}
