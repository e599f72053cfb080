/* SPDX-License-Identifier: BSD-2-Clause */
/* packed.c - low-precision model memory: the rules against arithmetic of this file, unbiasedness over the whole random
 * space, the bound of Theorem 1 of Li et al. (LPMM), and the memory that is really there. */
#include <fpemu.h>

#include "../list.h"
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
    judge j = {n, calloc(n, sizeof(float)), calloc(n, sizeof(float)), calloc(n, sizeof(float))};
    if (!j.w || !j.m || !j.g)
        exit(1);
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
    for (int p = 0; p < params; p++) {
        free(j[p].w);
        free(j[p].m);
        free(j[p].g);
    }
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
    float *first = malloc(bytes);
    if (!first)
        exit(1);
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

/* --------------------------------------------------------------------------------------- unbiased on average */

/* An index, from 1 on, whose random bits are `word`, of R. */
static uint64_t index_with(const fpemu_rounding *how, uint32_t word)
{
    for (uint64_t i = 1;; i++)
        if (fpemu_random_bits(how, i) == word)
            return i;
}

/* The mean of x over all values of R = 8 random bits, beside a number that fixes the scale. */
static double mean_of(const char *spec, float scale, float x)
{
    fpemu_format f;
    fpemu_rounding how = fpemu_rounding_stochastic(5, 6);
    double sum = 0;
    EXPECT(fpemu_format_parse(spec, &f, NULL) == FPEMU_OK, "%s", spec);
    how.bits = 8;
    for (uint32_t word = 0; word < 256; word++) {
        fpemu_rounding here = how;
        float pair[2] = {scale, x};
        here.offset = index_with(&how, word) - 1;
        EXPECT(fpemu_quantize_f32(&f, &here, 2, pair, pair, NULL) == FPEMU_OK, "%s", spec);
        sum += (double)pair[1];
    }
    return sum / 256;
}

static void unbiased(void)
{
    for (int k = -508; k <= 508; k++) { /* quarters of a step, delta = 1/4: the probability is exact */
        const float x = (float)k / 16;
        const double mean = mean_of("group(int8,2048)", 31.75f, x);
        EXPECT(mean == (double)x, "%g became %.17g on average", (double)x, mean);
    }
    /* the codebook of the momentum, on [-0.99296875, 1]: 8 random bits know the place within a gap to 2^-8 */
    for (int k = -127; k <= 128; k++) {
        const float x = k < -127 ? -0.99296875f : (float)k / 128;
        const double mean = mean_of("codebook(dynamic8,2048)", 1, x);
        EXPECT(fabs(mean - (double)x) <= 0.0140625 / 256, "%g became %.17g on average", (double)x, mean);
    }
    EXPECT(near(mean_of("codebook(dynamic8,2048)", 1, -1), -0.99296875, 1e-7), "below the last value it clamps");
    for (int k = 0; k <= 256; k++) {
        const float x = (float)k / 256;
        const double mean = mean_of("codebook(udynamic8,2048)", 1, x);
        EXPECT(fabs(mean - (double)x) <= 0.00703125 / 256, "%g became %.17g on average", (double)x, mean);
    }
}

/* ------------------------------------------------------------------------------------------------ Theorem 1 */

/* f = sum of l_i (w_i - a_i)^2 / 2 over the first parameter, l_i in [1/4, 1], a_i in [-1, 1]; L = 1. */
static double curve(size_t i)
{
    return 0.25 + 0.75 * (double)(i % 7) / 6;
}

static double goal(size_t i)
{
    return sin(0.7 + 2.9 * (double)i);
}

static double excess(size_t n, const double *w)
{
    double f = 0;
    for (size_t i = 0; i < n; i++)
        f += 0.5 * curve(i) * (w[i] - goal(i)) * (w[i] - goal(i));
    return f;
}

typedef struct quadratic {
    double bound, mean_excess, last_excess; /* f of the mean of the iterates; f of the last, less f* */
} quadratic;

/* alpha: its share of the largest that the theorem allows; noise: deviation of an element of the gradient; delta of the
 * parameters, of gradients and momentum; steps T; micro-batches N; seeds to average over. */
static quadratic minimise(bool nearest, double share, double noise, double delta_p, double delta_g, int T, int N,
                          int seeds)
{
    const double beta = 0.9, alpha = share * (1 - beta) / (N + 2);
    char weight[64], gradient[64];
    (void)snprintf(weight, sizeof weight, "int(16,scale=%.17g)", delta_p);
    (void)snprintf(gradient, sizeof gradient, "int(24,scale=%.17g)", delta_g);
    optimizer_settings settings = LIST(.name = "momentum", .momentum = beta, .master = true, .packed = true,
                                       .nearest = nearest, .kept = {weight, gradient, gradient, NULL});
    quadratic q = {0};
    for (int seed = 1; seed <= seeds; seed++) {
        bench b = bench_start(&settings, &tiny, (uint64_t)seed);
        store *s = &b.o->store;
        const size_t n = graph_param(b.g, 0)->size, d = n;
        double *mean = calloc(n, sizeof *mean), *w = calloc(n, sizeof *w), start_square = 0;
        if (!mean || !w)
            exit(1);
        for (int t = 0; t < T; t++) {
            b.o->type->begin(b.o);
            for (size_t i = 0; i < n; i++) {
                w[i] = (double)b.o->type->master(b.o, 0)[i];
                mean[i] += w[i] / T;
                if (t == 0)
                    start_square += (w[i] - goal(i)) * (w[i] - goal(i));
            }
            for (int k = 0; k < N; k++) {
                float *dw = s->gradient(s, 0);
                for (size_t i = 0; i < n; i++)
                    dw[i] = (float)(curve(i) * (w[i] - goal(i)) +
                                    noise * random_normal((uint64_t)seed, FOR_DATA, (uint64_t)(t * N + k), i));
                s->gradient_done(s, 0);
            }
            optimizer_step(b.o, alpha);
        }
        const double sigma = (double)d * noise * noise, sp = (double)d * delta_p * delta_p / 4,
                     sg = (double)d * delta_g * delta_g / 4;
        q.bound += ((beta / (1 - beta) + (1 - beta) / (alpha * N)) * start_square / (2 * T) +
                    alpha * (sigma + sg) / (1 - beta) + alpha * sg / (2 * N * (1 - beta)) +
                    (1 + 2 * beta * beta) * sp / (2 * alpha * N * (1 - beta))) /
                   seeds;
        q.mean_excess += excess(n, mean) / seeds;
        for (size_t i = 0; i < n; i++)
            w[i] = (double)b.o->type->master(b.o, 0)[i];
        q.last_excess += excess(n, w) / seeds;
        free(mean);
        free(w);
        bench_stop(&b);
    }
    return q;
}

static void theorem(void)
{
    for (int N = 1; N <= 4; N *= 2)
        for (int T = 50; T <= 800; T *= 4) {
            const quadratic q = minimise(false, 1, 0.5, 0x1p-8, 0x1p-8, T, N, 8);
            EXPECT(q.mean_excess <= q.bound, "N = %d, T = %d: %g above the bound %g", N, T, q.mean_excess, q.bound);
        }
    /* Steps far below delta / 2: to nearest nothing moves, stochastically it goes on. */
    const quadratic stuck = minimise(true, 0.01, 0, 0x1p-5, 0x1p-12, 2000, 1, 2);
    const quadratic loose = minimise(false, 0.01, 0, 0x1p-5, 0x1p-12, 2000, 1, 2);
    EXPECT(stuck.last_excess > 10 * loose.last_excess, "nearest ends at %g, stochastic at %g", stuck.last_excess,
           loose.last_excess);
}

/* --------------------------------------------------------------------------------------------------- memory */

/* What there is, is what is told. */
static bench told(const optimizer_settings *settings, const model_settings *model)
{
    bench b = bench_start(settings, model, 1);
    optimizer_memory memory = {0};
    trouble why = {""};
    EXPECT(optimizer_memory_of(settings, b.g, &memory, &why) && memory.stored == b.o->type->bytes(b.o) &&
               memory.workspace == b.o->type->workspace(b.o),
           "%s: other bytes are told, or: %s", settings->name, why.text);
    return b;
}

static void memory(const char *name, double most)
{
    optimizer_settings settings = {
        .name = name, .momentum = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .master = true, .packed = true};
    const model_settings model = {.name = "shufflenetv2", .c = 3, .h = 32, .w = 32, .classes = 10};
    bench b = told(&settings, &model);
    const size_t count = graph_param_count(b.g);
    const double bits = 8 * (double)b.o->type->bytes(b.o) / (double)count;
    EXPECT(count >= 1000000 && bits <= most, "%s: %.3f bits a parameter of %zu", name, bits, count);
    /* Weights and gradients of the last convolution, 464 to 1024 channels, and a group of each array, one twice. */
    EXPECT(b.o->type->workspace(b.o) == 4 * (2 * 464 * 1024 + 5 * GROUP), "workspace %zu bytes",
           b.o->type->workspace(b.o));
    bench_stop(&b);
    settings.packed = false;
    b = told(&settings, &small);
    bench_stop(&b);
}

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

static void refusals(void)
{
    trouble why = {""};
    graph *g = model_new(&small, 1, &why);
    rounder *r = rounder_new(g, 1);
    optimizer_settings s = {.name = "nesterov", .momentum = 0.9, .master = true, .packed = true};
    EXPECT(!optimizer_new(&s, g, r, &why) && strstr(why.text, "packed"), "%s", why.text);
    s.name = "momentum";
    s.kept[KEEP_WEIGHT] = "group(int12,2047";
    EXPECT(!optimizer_new(&s, g, r, &why) && strstr(why.text, "weight"), "%s", why.text);
    s.kept[KEEP_WEIGHT] = "nvfp4";
    EXPECT(!optimizer_new(&s, g, r, &why) && strstr(why.text, "nvfp4"), "%s", why.text);
    s.kept[KEEP_WEIGHT] = "group(int12,1000)";
    EXPECT(!optimizer_new(&s, g, r, &why) && strstr(why.text, "multiple"), "%s", why.text);
    rounder_free(r);
    graph_free(g);
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
    unbiased();
    theorem();
    memory("momentum", 28.5);
    memory("adam", 36.5);
    large();
    refusals();
    return failures != 0;
}
