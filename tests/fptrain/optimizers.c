/* SPDX-License-Identifier: BSD-2-Clause */
/* optimizers.c - the optimisers against PyTorch's definitions in double precision; counts and schedules by hand. */
#include "optimizer/optimizer.h"

#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "models/model.h"
#include "policies/fixed.h"
#include "run/schedule.h"

typedef struct bench {
    graph *g;
    rounder *r;
    optimizer *o;
} bench;

static bench start(const optimizer_settings *settings, const char *w)
{
    trouble why = {""};
    const model_settings model = {.name = "mlp", .width = 0.05, .c = 1, .h = 3, .w = 2, .classes = 3};
    bench b = {.g = model_new(&model, 7, &why)};
    b.r = rounder_new(b.g, 1);
    policy *p = policy_fixed(1, &(format_line){"w", w, NULL}, &why);
    EXPECT(p, "%s", why.text);
    p->type->assign(p, b.r);
    p->type->free(p);
    b.o = optimizer_new(settings, b.g, b.r, &why);
    EXPECT(b.o, "%s", why.text);
    return b;
}

static void stop(bench *b)
{
    optimizer_free(b->o);
    rounder_free(b->r);
    graph_free(b->g);
}

/* ------------------------------------------------------------------------------------------------ the judge */

typedef struct judge {
    double w, m, v;
} judge;

/* torch.optim.SGD and Adam, element by element; c: by what clip_grad_norm_ multiplies. */
static void judge_step(judge *j, const optimizer_settings *s, double g, double c, double lr, int t)
{
    g = c * g + s->decay * j->w;
    if (!strcmp(s->name, "adam")) {
        j->m = s->momentum * j->m + (1 - s->momentum) * g;
        j->v = s->beta2 * j->v + (1 - s->beta2) * g * g;
        const double m = j->m / (1 - pow(s->momentum, t)), v = j->v / (1 - pow(s->beta2, t));
        j->w -= lr * m / (sqrt(v) + s->epsilon);
        return;
    }
    const double mu = strcmp(s->name, "sgd") ? s->momentum : 0;
    j->m = t == 1 ? g : mu * j->m + g;
    j->w -= lr * (!strcmp(s->name, "nesterov") ? g + mu * j->m : j->m);
}

static double gradient(int p, size_t i, int t)
{
    return sin(1.0 + 37 * p + 3.7 * (double)i + 0.9 * t) / (1 + t) * (i % 5 == 4 ? 1e-3 : 1);
}

static void follow(const optimizer_settings *settings)
{
    enum { STEPS = 12 };
    bench b = start(settings, "fp32");
    const int params = graph_params(b.g);
    judge **j = calloc((size_t)params, sizeof *j);
    for (int p = 0; j && p < params; p++) {
        j[p] = calloc(graph_param(b.g, p)->size, sizeof **j);
        for (size_t i = 0; j[p] && i < graph_param(b.g, p)->size; i++)
            j[p][i].w = (double)b.o->type->master(b.o, p)[i];
    }
    store *s = &b.o->store;
    for (int t = 1; t <= STEPS; t++) {
        const double lr = 0.1 / t;
        double square = 0;
        rounder_begin(b.r, (uint64_t)t);
        b.o->type->begin(b.o);
        for (int p = 0; p < params; p++) {
            float *dw = s->gradient(s, p);
            graph_param(b.g, p)->alpha = ldexp(1, 3 * p - t);
            for (size_t i = 0; i < graph_param(b.g, p)->size; i++) {
                dw[i] = (float)(gradient(p, i, t) * graph_param(b.g, p)->alpha);
                square += gradient(p, i, t) * gradient(p, i, t);
            }
            s->gradient_done(s, p);
        }
        const double c = settings->clip > 0 ? fmin(1, settings->clip / (sqrt(square) + 1e-6)) : 1;
        optimizer_step(b.o, lr);
        for (int p = 0; p < params; p++)
            for (size_t i = 0; i < graph_param(b.g, p)->size; i++) {
                judge_step(&j[p][i], settings, gradient(p, i, t), c, lr, t);
                const double w = (double)b.o->type->master(b.o, p)[i];
                EXPECT(fabs(w - j[p][i].w) < 2e-6 * (1 + fabs(j[p][i].w)), "%s, step %d, %d[%zu]: %.9g, not %.9g",
                       settings->name, t, p, i, w, j[p][i].w);
            }
    }
    for (int p = 0; p < params; p++)
        free(j[p]);
    free(j);
    stop(&b);
}

/* ------------------------------------------------------------------------------------------------ by hand */

/* One step of a single parameter: element 0 of the first bias, all other gradients zero. Returns the new weight. */
static float one_step(bench *b, float w, float g, double lr)
{
    store *s = &b->o->store;
    float *weights = (float *)(uintptr_t)b->o->type->master(b->o, 1);
    weights[0] = w;
    rounder_begin(b->r, 0);
    b->o->type->begin(b->o);
    for (int p = 0; p < graph_params(b->g); p++)
        memset(s->gradient(s, p), 0, graph_param(b->g, p)->size * sizeof(float));
    s->gradient(s, 1)[0] = g;
    b->o->count_next = true;
    optimizer_step(b->o, lr);
    return b->o->type->master(b->o, 1)[0];
}

/* In fp16 the numbers below 1 are 2^-11 apart: an update of 2^-13 is lost without a master copy, and not seen with one;
 * one of 2^-11 is neither. */
static void counts(void)
{
    const optimizer_settings with = {.name = "sgd", .master = true}, without = {.name = "sgd"};
    bench b = start(&without, "fp16");
    const uint64_t all = graph_param_count(b.g);
    EXPECT(one_step(&b, 1, 0x1p-10f, 0.125) == 1, "lost");
    update_counts c = b.o->counts;
    EXPECT(c.elements == all && c.updates == 1 && c.vanished == 1, "%d updates, %d vanished", (int)c.updates,
           (int)c.vanished);
    EXPECT(c.small_g == all - 1 && c.small_update == all - 1, "the others are zero");
    EXPECT(one_step(&b, 1, 0x1p-8f, 0.125) == 1 - 0x1p-11f, "kept");
    c = b.o->counts;
    EXPECT(c.updates == 1 && c.vanished == 0, "%d vanished", (int)c.vanished);
    stop(&b);

    b = start(&with, "fp16");
    EXPECT(one_step(&b, 1, 0x1p-10f, 0.125) == 1 - 0x1p-13f, "kept in the master copy");
    c = b.o->counts;
    EXPECT(c.updates == 1 && c.vanished == 1, "%d vanished", (int)c.vanished);
    EXPECT(one_step(&b, 0.25f, 0x1p-23f, 0.25) == 0.25f - 0x1p-25f, "exact");
    c = b.o->counts;
    EXPECT(c.small_g == all - 1 && c.small_update == all, "2^-23 is not small, 2^-25 is");
    stop(&b);

    b = start(&with, "fp32");
    EXPECT(one_step(&b, 1, 0x1p-23f, 0.125) == 1, "2^-26 is lost in binary32 as well");
    c = b.o->counts;
    EXPECT(c.updates == 1 && c.vanished == 1, "%d vanished", (int)c.vanished);
    stop(&b);
}

static void report(void)
{
    bench b = start(&(optimizer_settings){.name = "sgd"}, "fp32");
    (void)one_step(&b, 1, 3, 0.5);
    graph_param(b.g, 1)->alpha = 16;
    double largest;
    bool bad;
    optimizer_report(b.o, &largest, &bad);
    EXPECT(largest == 3.0 / 16 && !bad, "%g", largest);
    store *s = &b.o->store;
    s->gradient(s, 2)[1] = -INFINITY;
    s->gradient(s, 2)[2] = -5;
    optimizer_report(b.o, &largest, &bad);
    EXPECT(largest == 5 && bad, "%g", largest);
    EXPECT(b.o->type->bytes(b.o) == 2 * 4 * graph_param_count(b.g), "%zu bytes", b.o->type->bytes(b.o));
    stop(&b);
}

static void state(void)
{
    const optimizer_settings settings = {
        .name = "adam", .momentum = 0.9, .beta2 = 0.99, .epsilon = 1e-8, .decay = 0.01, .master = true};
    bench a = start(&settings, "fp16"), b = start(&settings, "fp16");
    for (int i = 0; i < 3; i++)
        (void)one_step(&a, 1, 0.1f, 0.5);
    checkpoint *c = checkpoint_new();
    optimizer_save(a.o, c);
    trouble why = {""};
    EXPECT(optimizer_load(b.o, c, &why), "%s", why.text);
    checkpoint_free(c);
    const float x = one_step(&a, 1, 0.2f, 0.5), y = one_step(&b, 1, 0.2f, 0.5);
    EXPECT(x == y, "%.9g and %.9g", (double)x, (double)y);
    for (int p = 0; p < graph_params(a.g); p++)
        EXPECT(!memcmp(a.o->type->master(a.o, p), b.o->type->master(b.o, p), graph_param(a.g, p)->size * sizeof(float)),
               "parameter %d", p);
    stop(&a);
    stop(&b);
}

/* Of epochs of 5 steps. */
static double by_epoch(const char *name, double lr, uint64_t epoch, uint64_t epochs, uint64_t warmup)
{
    const schedule s = {.name = name, .lr = lr, .epochs = epochs, .steps = 5, .warmup = warmup};
    trouble why = {""};
    EXPECT(schedule_check(&s, &why), "%s", why.text);
    EXPECT(schedule_rate(&s, epoch, 5 * epoch + 4) == schedule_rate(&s, epoch, 5 * epoch), "%s changes within", name);
    return schedule_rate(&s, epoch, 5 * epoch);
}

static void schedules(void)
{
    EXPECT(by_epoch("constant", 0.3, 7, 10, 0) == 0.3, "constant");
    EXPECT(by_epoch("cosine", 2, 0, 4, 0) == 2, "cosine starts at the rate");
    EXPECT(near(by_epoch("cosine", 2, 1, 4, 0), 1 + sqrt(0.5), 1e-12), "a quarter");
    EXPECT(near(by_epoch("cosine", 2, 2, 4, 0), 1, 1e-12), "half");
    EXPECT(fabs(by_epoch("cosine", 2, 4, 4, 0)) < 1e-12, "cosine ends at 0");
    EXPECT(near(by_epoch("cosine", 2, 4, 6, 2), 1, 1e-12), "half of what follows the warm-up");
    EXPECT(near(by_epoch("linear", 2, 3, 6, 2), 1.5, 1e-12), "a quarter of what follows the warm-up");
    EXPECT(near(by_epoch("rsqrt", 2, 8, 9, 2), 1, 1e-12) && by_epoch("rsqrt", 2, 2, 9, 2) == 2, "four warm-ups");
    EXPECT(near(by_epoch("rsqrt", 2, 3, 9, 0), 1, 1e-12) && by_epoch("rsqrt", 2, 0, 9, 0) == 2, "of no warm-up");
    EXPECT(near(by_epoch("constant", 3, 0, 6, 2), 1, 1e-12), "a third");
    EXPECT(near(by_epoch("constant", 3, 1, 6, 2), 2, 1e-12), "two thirds");
    EXPECT(by_epoch("constant", 3, 2, 6, 2) == 3, "warm");
    EXPECT(by_epoch("step:3,5", 1, 2, 9, 0) == 1, "before the first step");
    EXPECT(near(by_epoch("step:3,5", 1, 3, 9, 0), 0.1, 1e-12), "after the first step");
    EXPECT(near(by_epoch("step:3,5", 1, 5, 9, 0), 0.01, 1e-12), "after the second");
    static const char *const wrong[] = {"polynomial", "step:", "step:a", "step:3,", "step:3;5", "step:-1", "", "cos"};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        trouble why = {""};
        EXPECT(!schedule_check(&(schedule){.name = wrong[i], .epochs = 9, .steps = 5}, &why) && *why.text, "'%s'",
               wrong[i]);
    }
}

/* 3 epochs of 4 steps; of the 12 steps 4 are for warming up. */
static void schedules_by_step(void)
{
    static const struct {
        const char *name;
        double lr[13]; /* after the last step too */
    } known[] = {{"constant", {1, 2.75, 4.5, 6.25, 8, 8, 8, 8, 8, 8, 8, 8, 8}},
                 {"linear", {1, 2.75, 4.5, 6.25, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
                 {"cosine",
                  {1, 2.75, 4.5, 6.25, 8, 7.695518130045147, 6.82842712474619, 5.530733729460359, 4, 2.469266270539642,
                   1.1715728752538097, 0.304481869954853, 0}},
                 {"rsqrt",
                  {1, 2.75, 4.5, 6.25, 8, 7.155417527999327, 6.531972647421808, 6.047431568147636, 5.656854249492380,
                   5.333333333333333, 5.059644256269407, 4.824181513244217, 4.618802153517006}},
                 {"step:2,6,9", {1, 2.75, 4.5, 6.25, 0.8, 0.8, 0.08, 0.08, 0.08, 0.008, 0.008, 0.008, 0.008}}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        schedule s = {
            .name = known[k].name, .lr = 8, .epochs = 3, .steps = 4, .by_step = true, .warmup_steps = 4, .start = 1};
        for (uint64_t step = 0; step <= 12; step++)
            EXPECT(fabs(schedule_rate(&s, step / 4, step) - known[k].lr[step]) < 1e-14 * 8, "%s, step %d: %.17g",
                   s.name, (int)step, schedule_rate(&s, step / 4, step));
        s.warmup_steps = 0; /* an epoch of warm-up in its place: half the rate */
        s.warmup = 1;
        for (uint64_t step = 0; step <= 12; step++)
            EXPECT(fabs(schedule_rate(&s, step / 4, step) - (step < 4 ? 4 : known[k].lr[step])) < 1e-14 * 8,
                   "%s, step %d: %.17g", s.name, (int)step, schedule_rate(&s, step / 4, step));
    }
    /* A warm-up that is longer than an epoch, and then the epochs from the first one on. */
    const schedule s = {.name = "linear", .lr = 8, .epochs = 4, .steps = 4, .warmup_steps = 8};
    EXPECT(schedule_rate(&s, 0, 0) == 0 && schedule_rate(&s, 1, 7) == 7, "from 0");
    EXPECT(schedule_rate(&s, 2, 8) == 4 && schedule_rate(&s, 3, 15) == 2, "by epoch");
    trouble why = {""};
    EXPECT(!schedule_check(&(schedule){.name = "linear", .warmup = 1, .warmup_steps = 1}, &why) &&
               strstr(why.text, "not both"),
           "%s", why.text);
    EXPECT(!schedule_check(&(schedule){.name = "linear", .start = 1}, &why) && strstr(why.text, "warmup_steps"), "%s",
           why.text);
}

static void refused(const optimizer_settings *settings, const char *word)
{
    bench b = start(&(optimizer_settings){.name = "sgd"}, "fp32");
    trouble why = {""};
    EXPECT(!optimizer_new(settings, b.g, b.r, &why) && strstr(why.text, word), "'%s'", why.text);
    stop(&b);
}

int main(void)
{
    follow(&(optimizer_settings){.name = "sgd", .master = true});
    follow(&(optimizer_settings){.name = "sgd", .decay = 0.01});
    follow(&(optimizer_settings){.name = "momentum", .momentum = 0.9, .master = true});
    follow(&(optimizer_settings){.name = "momentum", .momentum = 0.9, .decay = 0.1, .clip = 0.5, .master = true});
    follow(&(optimizer_settings){.name = "nesterov", .momentum = 0.8, .decay = 0.01, .master = true});
    follow(&(optimizer_settings){.name = "adam", .momentum = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .master = true});
    follow(&(optimizer_settings){
        .name = "adam", .momentum = 0.8, .beta2 = 0.95, .epsilon = 1e-4, .decay = 0.1, .clip = 0.25, .master = true});
    counts();
    report();
    state();
    schedules();
    schedules_by_step();
    refused(&(optimizer_settings){.name = "rmsprop"}, "rmsprop");
    refused(&(optimizer_settings){.name = "momentum", .momentum = 1}, "optimizer.momentum is from 0 to below 1");
    refused(&(optimizer_settings){.name = "sgd", .decay = -1}, "not negative");
    refused(&(optimizer_settings){.name = "adam"}, "epsilon");
    return failures != 0;
}
