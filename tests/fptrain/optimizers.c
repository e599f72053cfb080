/* SPDX-License-Identifier: BSD-2-Clause */
/* optimizers.c - what optimisers count and report, schedules, by hand, and settings that are refused; updates.c and
 * packed.c have their weights. */
#include "bench.h"
#include "policies/policy.h"
#include "run/schedule.h"

static bench start(const optimizer_settings *settings, const char *w)
{
    trouble why = {""};
    bench b = bench_start(settings, &tiny, 1);
    policy *p = policy_fixed(1, &(format_line){"w", w, NULL}, &why);
    EXPECT(p, "%s", why.text);
    p->type->assign(p, b.r);
    p->type->free(p);
    return b;
}

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
    bench_stop(&b);

    b = start(&with, "fp16");
    EXPECT(one_step(&b, 1, 0x1p-10f, 0.125) == 1 - 0x1p-13f, "kept in the master copy");
    c = b.o->counts;
    EXPECT(c.updates == 1 && c.vanished == 1, "%d vanished", (int)c.vanished);
    EXPECT(one_step(&b, 0.25f, 0x1p-23f, 0.25) == 0.25f - 0x1p-25f, "exact");
    c = b.o->counts;
    EXPECT(c.small_g == all - 1 && c.small_update == all, "2^-23 is not small, 2^-25 is");
    bench_stop(&b);

    b = start(&with, "fp32");
    EXPECT(one_step(&b, 1, 0x1p-23f, 0.125) == 1, "2^-26 is lost in binary32 as well");
    c = b.o->counts;
    EXPECT(c.updates == 1 && c.vanished == 1, "%d vanished", (int)c.vanished);
    bench_stop(&b);
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
    bench_stop(&b);
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

static void refused(void)
{
    static const struct {
        optimizer_settings settings;
        const char *word;
    } wrong[] = LIST(
        {{.name = "rmsprop"}, "rmsprop"},
        {{.name = "momentum", .momentum = 1}, "optimizer.momentum is from 0 to below 1"},
        {{.name = "adamw", .epsilon = 1, .beta2 = 1}, "optimizer.beta2 is from 0 to below 1"},
        {{.name = "adam"}, "epsilon"}, {{.name = "adam", .epsilon = 1e-46}, "epsilon"},
        {{.name = "sgd", .decay = -1}, "not negative"}, {{.name = "sgd", .no_decay = "*.bias"}, "no decay"},
        {{.name = "sgd", .decay = 1, .no_decay = "*.bias,"}, "''"},
        {{.name = "sgd", .clipping = "global", .clip = 1}, "global"},
        {{.name = "sgd", .clipping = "value"}, "threshold"}, {{.name = "sgd", .no_clip = "*.bias"}, "threshold"},
        {{.name = "sgd", .clip = 1, .no_clip = "*.bias,conv1.*"}, "'conv1.*'"},
        {{.name = "nesterov", .momentum = 0.9, .master = true, .packed = true}, "packed"},
        {{.name = "sgd", .master = true, .packed = true, .kept = {[KEEP_WEIGHT] = "group(int12,2047"}}, "format of"},
        {{.name = "sgd", .master = true, .packed = true, .kept = {[KEEP_WEIGHT] = "nvfp4"}}, "nvfp4"},
        {{.name = "sgd", .master = true, .packed = true, .kept = {[KEEP_WEIGHT] = "group(int12,1000)"}}, "multiple"});
    bench b = start(&(optimizer_settings){.name = "sgd"}, "fp32");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        trouble why = {""};
        EXPECT(!optimizer_new(&wrong[i].settings, b.g, b.r, &why) && strstr(why.text, wrong[i].word), "'%s'", why.text);
    }
    bench_stop(&b);
}

int main(void)
{
    counts();
    report();
    schedules();
    schedules_by_step();
    refused();
    return failures != 0;
}
