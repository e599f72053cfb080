/* SPDX-License-Identifier: BSD-2-Clause */
/* scalers.c - loss scalers step by step, against sequences worked by hand. */
#include "numerics/adaptive.h"
#include "numerics/scaler.h"
#include "policies/policy.h"

#include "expect.h"
#include "models/model.h"
#include "ops/ops.h"

typedef struct bench {
    graph *g;
    rounder *r;
    scaler *s;
} bench;

static bench start_on(graph *g, const scaler_settings *settings, const char *dv)
{
    trouble why = {""};
    bench b = {.g = g};
    b.r = rounder_new(b.g, 1);
    policy *p = policy_fixed(1, &(format_line){"dv", dv, NULL}, &why);
    p->type->assign(p, b.r);
    p->type->free(p);
    b.s = scaler_new(settings, b.g, b.r, &why);
    EXPECT(b.s, "%s", why.text);
    return b;
}

static bench start(const scaler_settings *settings, const char *dv)
{
    trouble why = {""};
    graph *g = model_new(&(model_settings){.name = "mlp", .c = 1, .h = 2, .w = 2, .classes = 2}, 1, &why);
    return start_on(g, settings, dv);
}

static void stop(bench *b)
{
    scaler_free(b->s);
    rounder_free(b->r);
    graph_free(b->g);
}

/* What a step did: '.' clean, 'v' a dv overflowed, 'w' a dw was not finite, '0' all dw were zero. */
static bool step(bench *b, char what, double largest)
{
    const gradient_report report = {.overflowed = what == 'v',
                                    .dw_not_finite = what == 'w',
                                    .largest_dw = what == '0' ? 0 : largest,
                                    .max_finite = 65504};
    return scaler_update(b->s, &report);
}

/* After each step of `events` the scale is the next of `scales`, and the step was taken ('t') or skipped ('s'). */
static void play(const scaler_settings *settings, const char *events, const char *taken, const double *scales)
{
    bench b = start(settings, "fp16");
    for (int i = 0; events[i]; i++) {
        const bool took = step(&b, events[i], 1);
        EXPECT(took == (taken[i] == 't'), "%s, step %d of %s", settings->name, i, events);
        EXPECT(scaler_scale(b.s) == scales[i], "%s, step %d of %s: %g, not %g", settings->name, i, events,
               scaler_scale(b.s), scales[i]);
    }
    stop(&b);
}

static void plain(void)
{
    play(&(scaler_settings){.name = "none"}, ".vw", "ttt", (double[]){1, 1, 1});
    play(&(scaler_settings){.name = "fixed", .scale = 1024}, ".vw.", "ttst", (double[]){1024, 1024, 1024, 1024});
}

static void backoff(void)
{
    play(&(scaler_settings){.name = "backoff", .scale = 16, .interval = 3}, "......v..w...", "ttttttsttsttt",
         (double[]){16, 16, 32, 32, 32, 64, 32, 32, 32, 16, 16, 16, 32});
    play(&(scaler_settings){.name = "backoff", .interval = 1}, "v.........", "sttttttttt",
         (double[]){0x1p15, 0x1p16, 0x1p17, 0x1p18, 0x1p19, 0x1p20, 0x1p21, 0x1p22, 0x1p23, 0x1p24});
    play(&(scaler_settings){.name = "backoff", .scale = 0x1p24, .interval = 1}, ".", "t", (double[]){0x1p24});
    play(&(scaler_settings){.name = "backoff", .scale = 0x1p-24}, "vw", "ss", (double[]){0x1p-24, 0x1p-24});
}

/* The scale after log2 max |dw| was x so many times, and then y. */
static double logmax_after(int times, double x, double y)
{
    bench b = start(&(scaler_settings){.name = "logmax"}, "fp16");
    for (int i = 0; i < times; i++)
        step(&b, '.', exp2(x));
    step(&b, '.', exp2(y));
    const double scale = scaler_scale(b.s);
    stop(&b);
    return scale;
}

/* log2 65504 = 15.9993. x = 3: mean 3, deviation 0, room for 2^12. Then x = 5: mean 0.0797/0.0199 = 4.0050, variance
 * 0.033991/0.001999 - (0.007997/0.001999)^2 = 1.0000, 15.9993 - 4.0050 - 3.09 = 8.90. Then a bad step, x = 15.9993,
 * mean 0.2388963/0.029701 = 8.0434, variance 96.742 - 8.0041^2 = 32.68, so the room is -9.7, and the scale 1. */
static void logmax(void)
{
    bench b = start(&(scaler_settings){.name = "logmax"}, "fp16");
    EXPECT(scaler_scale(b.s) == 1, "%g", scaler_scale(b.s));
    EXPECT(step(&b, '0', 0) && scaler_scale(b.s) == 1, "%g", scaler_scale(b.s));
    EXPECT(step(&b, '.', 8) && scaler_scale(b.s) == 0x1p12, "%g", scaler_scale(b.s));
    EXPECT(step(&b, '.', 32) && scaler_scale(b.s) == 0x1p8, "%g", scaler_scale(b.s));
    EXPECT(step(&b, '0', 0) && scaler_scale(b.s) == 0x1p8, "%g", scaler_scale(b.s));
    EXPECT(!step(&b, 'w', 32) && scaler_scale(b.s) == 1, "%g", scaler_scale(b.s));
    stop(&b);

    /* x = 3, then 3 + d: room 15.9993 - 3 - (0.50251 + 3.09 / 2) d, which is 7.06 and 6.96 */
    EXPECT(logmax_after(1, 3, 5.9) == 0x1p7, "d = 2.9");
    EXPECT(logmax_after(1, 3, 5.95) == 0x1p6, "d = 2.95");
    /* 500 times 3.38, then 13.38, which has the weight 0.010065 in the mean and 0.0025366 in the variance: room
     * 15.9993 - 3.38 - 0.10065 - 30.9 sqrt(0.0025366 * 0.9974634) = 10.964 */
    EXPECT(logmax_after(500, 3.38, 13.38) == 0x1p10, "after 500 steps");

    b = start(&(scaler_settings){.name = "logmax"}, "fp16");
    EXPECT(step(&b, '.', 0x1p-40) && scaler_scale(b.s) == 0x1p24, "%g", scaler_scale(b.s));
    stop(&b);
    b = start(&(scaler_settings){.name = "logmax"}, "fp16");
    EXPECT(step(&b, 'v', 8) && scaler_scale(b.s) == 1, "an overflow of dv is taken: %g", scaler_scale(b.s));
    stop(&b);
}

/* ------------------------------------------------------------------------------------------------ adaptive */

enum { SECOND_LINEAR = 2, FIRST_LINEAR = 0 }; /* mlp: linear, relu, linear, relu, linear */

static double ask(bench *b, int op, size_t n, const float *delta, size_t weights, const float *w)
{
    layer_scaling *l = scaler_layers(b->s);
    return l->beta(l, op, n, delta, weights, w);
}

/* beta for a gradient of n elements +-delta and weights +-w, all of one size: the deviation of their product is
 * delta w. */
static double beta_of(const scaler_settings *settings, const char *dv, float delta, float w)
{
    bench b = start(settings, dv);
    const float d[4] = {delta, -delta, delta, -delta}, weight[2] = {w, -w};
    const double beta = ask(&b, SECOND_LINEAR, 4, d, 2, weight);
    stop(&b);
    return beta;
}

/* erf^-1(0.001) = 8.862271e-4, erf^-1(0.01) = 8.862501e-3, erf^-1(0.1) = 8.885599e-2 (tables of the error function).
 * With a product of deviation 2^-21 and u = 2^-24, u / (2^-21 sqrt(2) erf^-1(T)) is 99.73, 9.973 and 0.9947. */
static void factors(void)
{
    scaler_settings s = {.name = "adaptive"};
    EXPECT(beta_of(&s, "fp16", 0x1p-20f, 0.5f) == 64, "default target");
    s.underflow_target = 0.001;
    EXPECT(beta_of(&s, "fp16", 0x1p-20f, 0.5f) == 64, "target 0.001");
    EXPECT(beta_of(&s, "fp16", 0x1p-22f, 0.5f) == 256, "398.9, cut to a power of two");
    EXPECT(beta_of(&s, "fp32", 0x1p-20f, 0.5f) == 1, "nothing to gain");
    s.beta_cap = 16;
    EXPECT(beta_of(&s, "fp16", 0x1p-20f, 0.5f) == 16, "cap");
    s.beta_cap = 0;
    s.underflow_target = 0.01;
    EXPECT(beta_of(&s, "fp16", 0x1p-20f, 0.5f) == 8, "target 0.01");
    s.underflow_target = 0.1;
    EXPECT(beta_of(&s, "fp16", 0x1p-20f, 0.5f) == 1, "target 0.1: never below 1");
    EXPECT(beta_of(&s, "fp16", 0x1p10f, 0x1p7f) == 0.25, "65504 / 2^17 = 0.49976");
    EXPECT(beta_of(&s, "fp16", 0, 0.5f) == 1, "a gradient of zero");
    s = (scaler_settings){.name = "adaptive", .fan = true}; /* 128 outputs: sqrt(64) = 8 times the deviation */
    EXPECT(beta_of(&s, "fp16", 0x1p-20f, 0.5f) == 8, "fan: 12.47");

    bench b = start(&(scaler_settings){.name = "adaptive"}, "fp16"); /* a mean counts like a deviation */
    const float d[2] = {0x1p-20f, 0x1p-20f}, w[1] = {0.5f};
    EXPECT(ask(&b, SECOND_LINEAR, 2, d, 1, w) == 64, "mean");
    EXPECT(ask(&b, FIRST_LINEAR, 2, d, 1, w) == 1, "nothing is passed on to the fed batch");
    EXPECT(scaler_beta(b.s, SECOND_LINEAR) == 64, "record");
    graph_value(b.g, graph_op(b.g, SECOND_LINEAR).output)->alpha = 4;
    stop(&b);

    s = (scaler_settings){.name = "adaptive", .alpha_cap = 32};
    b = start(&s, "fp16");
    graph_value(b.g, graph_op(b.g, SECOND_LINEAR).output)->alpha = 4;
    EXPECT(ask(&b, SECOND_LINEAR, 2, d, 1, w) == 8, "alpha beta stays under 32");
    stop(&b);
}

static void intervals(void)
{
    bench b = start(&(scaler_settings){.name = "adaptive", .interval = 3}, "fp16");
    layer_scaling *l = scaler_layers(b.s);
    const float small[2] = {0x1p-22f, -0x1p-22f}, large[2] = {0x1p-20f, -0x1p-20f}, w[1] = {0.5f};
    const float bad[2] = {INFINITY, 0};
    /*                        step  0  1  2  3  4    5  6; 4 is bad */
    const float *const delta[] = {large, small, small, small, large, large, bad};
    const double beta[] = {64, 64, 64, 256, 256, 64, 64};
    const char events[] = "....v..";
    for (int i = 0; i < 7; i++) {
        const double before = scaler_seconds(b.s);
        EXPECT(ask(&b, SECOND_LINEAR, 2, delta[i], 1, w) == beta[i], "step %d: %g", i, scaler_beta(b.s, SECOND_LINEAR));
        EXPECT(l->wants_largest(l, 3) == (i == 0 || i == 3 || i >= 5) || i > 0, "step %d", i);
        EXPECT((scaler_seconds(b.s) > before) == (i == 0 || i == 3 || i >= 5), "step %d: time of statistics", i);
        if (i == 0)
            EXPECT(l->join(l, 3, 2, (double[]){8, 2}, (double[]){1, 1}) == 8, "join");
        if (i == 1)
            EXPECT(!l->wants_largest(l, 3) && l->join(l, 3, 2, (double[]){4, 2}, NULL) == 8, "kept between updates");
        EXPECT(step(&b, events[i], 1), "an overflow of dv is taken");
    }
    EXPECT(!step(&b, 'w', 1), "a dw that is not finite is skipped");
    stop(&b);
}

static double meet(double a, double b, double largest_a, double largest_b)
{
    bench t = start(&(scaler_settings){.name = "adaptive"}, "fp16");
    layer_scaling *l = scaler_layers(t.s);
    const double joined = l->join(l, 3, 2, (double[]){a, b}, (double[]){largest_a, largest_b});
    EXPECT(l->join(l, 4, 2, (double[]){b, a}, (double[]){largest_b, largest_a}) == joined, "order");
    stop(&t);
    return joined;
}

static void branches(void)
{
    EXPECT(meet(8, 2, 100, 50) == 8, "the larger fits");
    EXPECT(meet(1024, 1, 100, 100) == 1, "1024 * 100 is too large");
    EXPECT(meet(1024, 1, 100, 63) == 1024, "1024 * 63 = 64512 fits");
    EXPECT(meet(1024, 1, 1, 70000) == 0.5, "neither fits: half of the smaller");
    EXPECT(meet(4, 1, 16376, 16376) == 1, "4 * 16376 = 65504 is not below 65504");
}

/* What a layer passes on to a channel shuffle, and what meets there, is the gradient of the tensor behind it. */
static void shuffled(void)
{
    graph *g = graph_new(1);
    const conv_spec conv = {.channels = 4, .kernel = 1};
    const int value = graph_shuffle(g, graph_shuffle(g, graph_conv(g, graph_input(g, 4, 1, 1), &conv), 2), 2);
    graph_cross_entropy(g, graph_linear(g, value, 2, true));
    bench b = start_on(g, &(scaler_settings){.name = "adaptive"}, "fp16");
    layer_scaling *l = scaler_layers(b.s);
    const float d[2] = {0x1p-20f, -0x1p-20f}, w[2] = {0.5f, -0.5f};
    EXPECT(ask(&b, 3, 2, d, 2, w) == 64, "99.73 of FP16, as without a shuffle: %g", scaler_beta(b.s, 3));
    EXPECT(l->join(l, value, 2, (double[]){1024, 1}, (double[]){100, 100}) == 1, "1024 * 100 is too large for FP16");
    stop(&b);
}

/* ------------------------------------------------------------------------------------------------ state, settings */

static void state(void)
{
    const scaler_settings settings[] = {
        {.name = "backoff", .interval = 4}, {.name = "logmax"}, {.name = "adaptive", .interval = 4}};
    for (int i = 0; i < 3; i++) {
        bench a = start(&settings[i], "fp16"), b = start(&settings[i], "fp16");
        const float d[2] = {0x1p-20f, 0x1p-20f}, w[1] = {0.5f};
        if (scaler_layers(a.s))
            ask(&a, SECOND_LINEAR, 2, d, 1, w);
        step(&a, 'v', 3);
        step(&a, '.', 5);
        step(&a, '.', 6);
        const size_t length = scaler_save(a.s, NULL, 0);
        void *bytes = malloc(length);
        EXPECT(bytes && scaler_save(a.s, bytes, length) == length, "%s", settings[i].name);
        trouble why = {""};
        EXPECT(!scaler_load(b.s, bytes, length - 1, &why) && *why.text, "a short state");
        EXPECT(scaler_load(b.s, bytes, length, &why), "%s", why.text);
        for (int k = 0; k < 9; k++) {
            const float other[2] = {ldexpf(1, k - 24), 0};
            if (scaler_layers(a.s)) {
                ask(&a, SECOND_LINEAR, 2, other, 1, w);
                ask(&b, SECOND_LINEAR, 2, other, 1, w);
            }
            EXPECT(step(&a, '.', 7 + k) == step(&b, '.', 7 + k), "%s", settings[i].name);
            EXPECT(scaler_scale(a.s) == scaler_scale(b.s), "%s: %g and %g", settings[i].name, scaler_scale(a.s),
                   scaler_scale(b.s));
            EXPECT(scaler_beta(a.s, SECOND_LINEAR) == scaler_beta(b.s, SECOND_LINEAR), "%s", settings[i].name);
        }
        free(bytes);
        stop(&a);
        stop(&b);
    }
}

static void refused(const scaler_settings *settings, const char *word)
{
    bench b = start(&(scaler_settings){.name = "none"}, "fp16");
    trouble why = {""};
    EXPECT(!scaler_new(settings, b.g, b.r, &why) && strstr(why.text, word), "'%s'", why.text);
    stop(&b);
}

/* ---------------------------------------------------------------------------------------------- what an oracle asks */

static void expect_dispersion(const char *what, dispersion is, size_t count, double square, double quantile)
{
    EXPECT(is.count == count && is.deviation == sqrt(square) && is.quantile == quantile, "%s: %g, %g", what,
           is.deviation, is.quantile);
}

/* 1 % of up to 100 elements is the smallest, of 101 to 200 the second, of 201 the third. */
static void dispersions(void)
{
    float x[201];
    for (int i = 0; i < 201; i++) /* the smallest last; their order and sign are of no matter */
        x[i] = (i % 2 ? -1 : 1) * (float)(201 - i) * 0x1p-140f;
    expect_dispersion("two", dispersion_of(2, (float[]){3, -1}), 2, 4, 1);
    expect_dispersion("zeros", dispersion_of(2, (float[]){0, -0.0f}), 2, 0, 0);
    expect_dispersion("not finite", dispersion_of(6, (float[]){0, NAN, 4, INFINITY, -4, 0}), 6, 8, 4);
    expect_dispersion("none", dispersion_of(0, x), 0, 0, 0);
    EXPECT(dispersion_of(100, x + 101).quantile == 0x1p-140, "100 elements");
    EXPECT(dispersion_of(101, x + 100).quantile == 2 * 0x1p-140, "101 elements");
    EXPECT(dispersion_of(200, x + 1).quantile == 2 * 0x1p-140, "200 elements");
    EXPECT(dispersion_of(201, x).quantile == 3 * 0x1p-140, "201 elements");
    x[7] = 0; /* is none of those that count: 200 are left */
    EXPECT(dispersion_of(201, x).quantile == 2 * 0x1p-140, "200 elements and a zero");
}

/* Gradients are looked at before they are rounded, those of no format too; values are not. */
static void looked_at(void)
{
    bench b = start(&(scaler_settings){.name = "none"}, "e5m2");
    EXPECT(scaler_seconds(b.s) == 0, "no statistics");
    float x[2] = {0x1p-20f, 3}, w[2] = {1, 3}, v[2] = {1, 3};
    b.r->want = ROUNDER_DISPERSION;
    rounder_begin(b.r, 1);
    b.r->calls.round(&b.r->calls, ROLE_DV, 1, 2, x);
    b.r->calls.round(&b.r->calls, ROLE_DW, 0, 2, w);
    b.r->calls.round(&b.r->calls, ROLE_V, 1, 2, v);
    EXPECT(x[0] == 0 && b.r->dispersion[ROLE_DV][1].quantile == 0x1p-20, "before rounding");
    expect_dispersion("no format", b.r->dispersion[ROLE_DW][0], 2, 1, 1);
    EXPECT(!b.r->dispersion[ROLE_V][1].count && !b.r->dispersion[ROLE_DV][2].count, "of others nothing");
    b.r->want = 0;
    rounder_begin(b.r, 2);
    b.r->calls.round(&b.r->calls, ROLE_DV, 1, 2, x);
    EXPECT(!b.r->dispersion[ROLE_DV][1].count, "not wanted");
    stop(&b);
}

int main(void)
{
    dispersions();
    looked_at();
    plain();
    backoff();
    logmax();
    factors();
    intervals();
    branches();
    shuffled();
    state();
    refused(&(scaler_settings){.name = "dynamic"}, "dynamic");
    refused(&(scaler_settings){.name = "fixed"}, "power of two");
    refused(&(scaler_settings){.name = "fixed", .scale = 1000}, "1000");
    refused(&(scaler_settings){.name = "backoff", .scale = 0x1p25}, "2^24");
    refused(&(scaler_settings){.name = "adaptive", .underflow_target = 1}, "scaler.underflow_target");
    refused(&(scaler_settings){.name = "adaptive", .beta_cap = 10}, "scaler.beta_cap");
    return failures != 0;
}
