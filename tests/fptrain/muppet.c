/* SPDX-License-Identifier: BSD-2-Clause */
/* muppet.c - MuPPET: scales, diversity and switches worked out by hand, exact sums against integers of 64 bits. */
#include "policies/muppet.h"
#include "policies/policy.h"

#include "backends/backends.h"
#include "bench.h"

/* ------------------------------------------------------------------------------------------------ scales */

/* The step that the rounder reports for a tensor, the first bias, and what became of its elements. */
static void scale_of(int bits, size_t n, const float *x, double step, const float *want)
{
    trouble why = {""};
    graph *g = model_new(&tiny, 1, &why);
    rounder *r = rounder_new(g, 1);
    char spec[32];
    float y[8];
    snprintf(spec, sizeof spec, "muppet(%d)", bits);
    EXPECT(rule_parse(&r->rule[ROLE_W][1], spec, "rne", &why), "%s", why.text);
    memcpy(y, x, n * sizeof *y);
    rounder_begin(r, 0);
    r->calls.round(&r->calls, ROLE_W, 1, n, y);
    EXPECT(r->calls.step(&r->calls, ROLE_W, 1) == step, "a step of %g, not %g", r->calls.step(&r->calls, ROLE_W, 1),
           step);
    for (size_t i = 0; i < n; i++)
        EXPECT(y[i] == want[i], "%g became %g, not %g", (double)x[i], (double)y[i], (double)want[i]);
    rounder_free(r);
    graph_free(g);
}

static void scales(void)
{
    /* 8 bits: [-128, 127]; 127.5 / 1 = 2^6 * 1.99: step 2^-6; 1.99 fits 2^-6 (127.36), 1.9922 = 127.5 / 64 just fits */
    scale_of(8, 2, (float[]){1, 0.5f}, 0x1p-6, (float[]){1, 0.5f});
    scale_of(8, 2, (float[]){127.5f / 64, 0}, 0x1p-6, (float[]){127.0f / 64, 0});
    scale_of(8, 2, (float[]){127.75f / 64, 0}, 0x1p-5, (float[]){2, 0});
    /* one-sided: only the lowest counts; 128.5 / 64 still fits 2^-6, more does not */
    scale_of(8, 2, (float[]){-128.5f / 64, -0.25f}, 0x1p-6, (float[]){-2, -0.25f});
    scale_of(8, 2, (float[]){-128.75f / 64, -0.25f}, 0x1p-5, (float[]){-2, -0.25f});
    /* both sides: the smaller of the two bounds; 100 asks for 2^0 */
    scale_of(8, 3, (float[]){100, -1, 0.5f}, 1, (float[]){100, -1, 0});
    scale_of(8, 2, (float[]){0, 0}, 1, (float[]){0, 0});
    scale_of(16, 2, (float[]){1, -1}, 0x1p-14, (float[]){1, -1});
}

/* ------------------------------------------------------------------------------------------------ switching */

static void diversity(void)
{
    /* one parameter of two elements, two gradients: |(3,4)|^2 + |(3,-4)|^2 = 50, |(6,0)|^2 = 36 */
    const float a[2] = {3, 4}, b[2] = {3, -4}, zero[2] = {0, 0}, minus[2] = {-3, -4};
    const size_t one[2] = {2, 2};
    EXPECT(near(muppet_diversity(2, 1, one, (const float *[]){a, b}), 50.0 / 36, 1e-15), "one parameter");
    /* a second one with equal gradients: 2 * 25 / 100; the mean of both */
    EXPECT(near(muppet_diversity(2, 2, one, (const float *[]){a, a, b, a}), (50.0 / 36 + 0.5) / 2, 1e-15), "two");
    /* those that cancel, and zeros, are left out */
    EXPECT(near(muppet_diversity(2, 2, one, (const float *[]){a, a, b, minus}), 50.0 / 36, 1e-15), "a zero sum");
    EXPECT(isnan(muppet_diversity(2, 1, one, (const float *[]){zero, zero})), "nothing but zeros");
    EXPECT(muppet_diversity(3, 1, one, (const float *[]){a, a, a}) == 75.0 / 225, "three equal ones: 1/3");
}

static void judging(void)
{
    muppet_settings s = muppet_defaults();
    muppet_switching now = {0};
    s.beta = 0; /* the threshold is 1 */
    EXPECT(!muppet_judge(&now, &s, 3, 2) && now.p == 0, "the first has no p");
    EXPECT(!muppet_judge(&now, &s, 4, 2) && now.p == 1 && now.violations == 0, "p = 1 is no violation");
    EXPECT(!muppet_judge(&now, &s, 5, 1) && now.p == 2 && now.violations == 1, "p = %g", now.p);
    EXPECT(!muppet_judge(&now, &s, 6, 4) && now.p == 0.5 && now.violations == 1, "the largest is of those before");
    EXPECT(!muppet_judge(&now, &s, 7, NAN) && now.violations == 1, "no gradient, no p");
    EXPECT(muppet_judge(&now, &s, 8, 2) && now.p == 2 && now.violations == 2, "the second violation ends it");
    s = muppet_defaults();
    now = (muppet_switching){0};
    muppet_judge(&now, &s, 10, 1);
    EXPECT(near(now.threshold, 1 + 1.5 * 0.36787944117144233, 1e-15), "1 + 1.5 / e at epoch 10");
}

/* A network whose gradients this file makes up; the policy sees an epoch after each. */
typedef struct stage {
    bench b;
    policy *p;
} stage;

static stage open_stage(const char *text)
{
    trouble why = {""};
    const optimizer_settings plain = {.name = "sgd", .master = true};
    stage s = {.b = bench_start(&plain, &tiny, 1)};
    s.p = policy_muppet(text, &why);
    EXPECT(s.p, "%s", why.text);
    s.p->optimizer = s.b.o;
    s.p->type->assign(s.p, s.b.r);
    return s;
}

static void close_stage(stage *s)
{
    s->p->type->free(s->p);
    bench_stop(&s->b);
}

static float equal(const void *x, int p, size_t i)
{
    (void)p, (void)i;
    return *(const float *)x;
}

/* Writes the gradient of one epoch: all elements x. */
static void epoch(stage *s, int j, float x)
{
    bench_gradients(&s->b, equal, &x);
    s->p->type->after_gradients(s->p, s->b.r, (uint64_t)j);
    s->p->type->after_epoch(s->p, s->b.r, j);
}

static uint32_t bits_now(const stage *s)
{
    const fpemu_format *f = &s->b.r->rule[ROLE_W][0].format;
    return f->kind ? f->bits : 0;
}

/* r = 1: windows of two gradients. (x, x): Delta = 1/2; (1, 3): 10/16; (3, -1): 10/4. So p falls below 1 whenever Delta
 * grows and is 10/4 : 1/2 = 5 when equal gradients follow opposed ones. */
static void levels(void)
{
    stage s = open_stage("levels=8/12,r=1,beta=0,gamma=2,tail=6");
    static const struct {
        float x;
        uint32_t bits;
    } plan[] = {
        {1, 8},   {3, 8},  /* Delta 10/16, the first */
        {-1, 8},           /* 10/4: p = 1/4 */
        {-1, 8},           /* 1/2: p = 5, first violation */
        {-1, 12},          /* 1/2: p = 5, second: the next level, and what was kept is forgotten */
        {3, 12},  {1, 12}, /* 10/16, the first of this level; (-1, 3) would have been 10/4 */
        {-3, 12},          /* 10/4: p = 1/4 */
        {-3, 12},          /* p = 5 */
        {-3, 0},           /* p = 5: FP32 */
    };
    for (int j = 0; j < (int)(sizeof plan / sizeof *plan); j++) {
        EXPECT(!s.p->type->over(s.p) && s.p->type->rate(s.p, 0.5) == 0.5, "epoch %d", j);
        epoch(&s, j, plan[j].x);
        EXPECT(bits_now(&s) == plan[j].bits, "after epoch %d: %u bits, not %u", j, bits_now(&s), plan[j].bits);
    }
    static const double rates[] = {1, 1, 0.1, 0.1, 0.01, 0.01};
    for (int j = 0; j < 6; j++) {
        EXPECT(!s.p->type->over(s.p) && near(s.p->type->rate(s.p, 1), rates[j], 1e-12), "tail %d: %g", j,
               s.p->type->rate(s.p, 1));
        epoch(&s, 10 + j, 1);
    }
    EXPECT(s.p->type->over(s.p), "the tail is over");
    close_stage(&s);
}

/* Blocks of r = 2 epochs that do not overlap: one Delta a block, so a level of two violations lasts six epochs. */
static void blocks(void)
{
    stage s = open_stage("levels=8/12,r=2,beta=0,window=code");
    static const float x[] = {3, -1, 1, 1, 1, 1};
    for (int j = 0; j < 6; j++) {
        EXPECT(bits_now(&s) == 8, "epoch %d", j);
        epoch(&s, j, x[j]);
    }
    EXPECT(bits_now(&s) == 12, "after six epochs");
    close_stage(&s);
}

static void given(void)
{
    stage s = open_stage("levels=8/12,switch=1/4");
    static const uint32_t bits[] = {8, 12, 12, 12, 0, 0};
    for (int j = 0; j < 6; j++) {
        epoch(&s, j, 1);
        EXPECT(bits_now(&s) == bits[j], "after epoch %d: %u bits", j, bits_now(&s));
    }
    close_stage(&s);
    /* a policy epoch of three gradient computations */
    s = open_stage("levels=8,switch=1,epoch-steps=3");
    for (int j = 0; j < 6; j++) {
        EXPECT(bits_now(&s) == 8, "step %d", j);
        epoch(&s, j, 1);
    }
    EXPECT(bits_now(&s) == 0, "after six steps");
    close_stage(&s);
    int seen[30] = {0};
    for (int seed = 0; seed < 200; seed++) {
        muppet_settings m = muppet_defaults();
        trouble why;
        char text[64];
        snprintf(text, sizeof text, "switch=random:%d:30", seed);
        EXPECT(muppet_read(&m, text, &why) && m.switches == 4, "seed %d", seed);
        for (int i = 0; i < 4; i++) {
            EXPECT(m.switch_at[i] >= 0 && m.switch_at[i] < 30 && (!i || m.switch_at[i] > m.switch_at[i - 1]),
                   "seed %d: %d", seed, m.switch_at[i]);
            seen[m.switch_at[i] % 30]++;
        }
    }
    muppet_settings before = muppet_defaults(), after = before;
    trouble why;
    EXPECT(muppet_read(&before, "switch=random:1:10,levels=8/16", &why) &&
               muppet_read(&after, "levels=8/16,switch=random:1:10", &why) && before.switches == 2 &&
               !memcmp(before.switch_at, after.switch_at, 2 * sizeof *after.switch_at),
           "switches by the order of settings");
    EXPECT(!muppet_read(&before, "switch=random:1:2,levels=8/12/16", &why) && strstr(why.text, "3 levels"), "%s",
           why.text);
    for (int j = 0; j < 30; j++) /* 800 draws over 30 epochs: 26.7 each, deviation under 5 */
        EXPECT(seen[j] > 5 && seen[j] < 55, "epoch %d was drawn %d times", j, seen[j]);
}

static void resume(void)
{
    stage a = open_stage("levels=8/12,r=1,beta=0"), b = open_stage("levels=8/12,r=1,beta=0");
    static const float x[] = {1, 3, -1, -1, -1, 1, 1, -3, -3, -3};
    static char bytes[1 << 16];
    trouble why = {""};
    for (int j = 0; j < 10; j++) {
        if (j == 4) {
            const size_t length = a.p->type->save(a.p, bytes, sizeof bytes);
            EXPECT(length <= sizeof bytes && b.p->type->load(b.p, b.b.r, bytes, length, &why), "%s", why.text);
            EXPECT(!b.p->type->load(b.p, b.b.r, bytes, length - 1, &why), "a byte less was taken");
        }
        epoch(&a, j, x[j]);
        if (j >= 4) {
            epoch(&b, j, x[j]);
            EXPECT(bits_now(&a) == bits_now(&b), "epoch %d: %u and %u bits", j, bits_now(&a), bits_now(&b));
        }
    }
    EXPECT(bits_now(&b) == 0, "the end");
    close_stage(&a);
    close_stage(&b);
}

static void refusals(void)
{
    static const char *const bad[] = {"levels=12/8",     "levels=8/", "levels=1",    "gamma=0",
                                      "window=third",    "alpha=-1",  "rounding=up", "switch=1/2",
                                      "switch=random:1", "speed=3",   "r",           "tail=x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        muppet_settings s = muppet_defaults();
        trouble why = {""};
        EXPECT(!muppet_read(&s, bad[i], &why) && !strncmp(why.text, "muppet", 6), "'%s' was taken: %s", bad[i],
               why.text);
    }
}

/* ---------------------------------------------------------------------------------------------- exact sums */

static uint64_t state = 88172645463325252u;

static int draw(int bits)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int)(state >> 33) % (1 << bits) - (1 << (bits - 1));
}

static float *numbers(size_t n, int bits, double step)
{
    float *x = malloc(n * sizeof *x);
    if (!x)
        exit(1);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(draw(bits) * step);
    return x;
}

/* y, dx and dw of a convolution by loops over integers; numbers are given as multiples of a step. */
typedef struct judge {
    const conv_shape *s;
    int64_t *y, *dx, *dw;
} judge;

static void judge_conv(const judge *j, int n, const float *x, const float *w, const float *dy, double step)
{
    const conv_shape *s = j->s;
    const int in = s->c / s->groups, out = s->k / s->groups;
    for (int b = 0; b < n; b++)
        for (int k = 0; k < s->k; k++)
            for (int c = 0; c < in; c++)
                for (int a = 0; a < s->r * s->r; a++)
                    for (int o = 0; o < s->oh * s->ow; o++) {
                        const int row = o / s->ow * s->stride + a / s->r - s->padding;
                        const int column = o % s->ow * s->stride + a % s->r - s->padding;
                        if (row < 0 || row >= s->h || column < 0 || column >= s->w)
                            continue;
                        const int plane = k / out * in + c;
                        const int xi = ((b * s->c + plane) * s->h + row) * s->w + column;
                        const int wi = (k * in + c) * s->r * s->r + a, yi = (b * s->k + k) * s->oh * s->ow + o;
                        const int64_t xq = (int64_t)((double)x[xi] / step), wq = (int64_t)((double)w[wi] / step),
                                      dq = (int64_t)((double)dy[yi] / step);
                        j->y[yi] += xq * wq;
                        j->dx[xi] += dq * wq;
                        j->dw[wi] += dq * xq;
                    }
}

/* The sums as the backend is to give them, and how many lie outside 32 bits. */
static uint64_t compare(const char *what, size_t n, const float *got, const int64_t *want, double step, bool saturate)
{
    uint64_t outside = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t sum = want[i];
        if (sum > INT32_MAX || sum < INT32_MIN) {
            outside++;
            sum = !saturate ? sum : sum > 0 ? INT32_MAX : INT32_MIN;
        }
        EXPECT(got[i] == (float)((double)sum * step * step), "%s[%zu]: %.9g, not %.17g", what, i, (double)got[i],
               (double)sum * step * step);
    }
    return outside;
}

static uint64_t exact(const char *name, int bits, conv_shape s)
{
    enum { SAMPLES = 3 };
    const double step = 0x1p-9;
    trouble why = {""};
    const backend *b = backend_named(name, &why);
    EXPECT(b, "%s", why.text);
    s.n = SAMPLES;
    s.oh = (s.h + 2 * s.padding - s.r) / s.stride + 1;
    s.ow = (s.w + 2 * s.padding - s.r) / s.stride + 1;
    const size_t xs = (size_t)(SAMPLES * s.c * s.h * s.w), ys = (size_t)(SAMPLES * s.k * s.oh * s.ow),
                 ws = (size_t)(s.k * (s.c / s.groups) * s.r * s.r);
    float *x = numbers(xs, bits, step), *w = numbers(ws, bits, step), *dy = numbers(ys, bits, step);
    float *y = numbers(ys, 2, 1), *dx = numbers(xs, 2, 1), *dw = numbers(ws, 2, 1);
    judge j = {&s, need(ys, sizeof(int64_t)), need(xs, sizeof(int64_t)), need(ws, sizeof(int64_t))};
    judge_conv(&j, SAMPLES, x, w, dy, step);
    conv *c = b->conv_new(b, &s);
    b->step(b, step * step);
    b->conv_forward(b, c, SAMPLES, x, w, y);
    b->conv_backward_data(b, c, SAMPLES, dy, w, dx);
    b->conv_backward_weights(b, c, SAMPLES, x, dy, dw);
    const bool saturate = strstr(name, "saturate") != NULL;
    uint64_t outside = compare("y", ys, y, j.y, step, saturate);
    outside += compare("dx", xs, dx, j.dx, step, saturate);
    outside += compare("dw", ws, dw, j.dw, step, saturate);
    EXPECT(b->outside(b) == outside, "%d sums outside 32 bits, not %d", (int)b->outside(b), (int)outside);
    b->conv_free(b, c);
    backend_free(b);
    FREE(x, w, dy, y, dx, dw, j.y, j.dx, j.dw);
    return outside;
}

/* A product is added to what is there, which an LSTM asks for: 1 + 2 - 6 and 4 + 0 + 2 steps of 1/64. */
static void added(void)
{
    static const float a[6] = {1 / 8.0f, 2 / 8.0f, -3 / 8.0f, 4 / 8.0f, 0, 1 / 8.0f},
                       x[3] = {1 / 8.0f, 1 / 8.0f, 2 / 8.0f};
    static const char *const names[] = {"exact", "exact:saturate"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        trouble why = {""};
        const backend *b = backend_named(names[i], &why);
        float c[2] = {0.5f, 0x1p20f};
        EXPECT(b, "%s", why.text);
        b->step(b, 1 / 64.0);
        b->gemm(b, false, false, 2, 1, 3, a, 3, x, 1, true, c, 1);
        EXPECT(c[0] == 0.5f - 3 / 64.0f && c[1] == (float)(0x1p20 + 6 / 64.0), "%s: %g, %g", names[i], (double)c[0],
               (double)c[1]);
        backend_free(b);
    }
}

static void sums(void)
{
    static const conv_shape shapes[] = {
        {.c = 3, .h = 7, .w = 6, .k = 4, .r = 3, .stride = 1, .padding = 1, .groups = 1},
        {.c = 4, .h = 8, .w = 9, .k = 6, .r = 3, .stride = 2, .padding = 1, .groups = 2},
        {.c = 4, .h = 6, .w = 7, .k = 4, .r = 3, .stride = 3, .padding = 0, .groups = 4},
        {.c = 5, .h = 5, .w = 4, .k = 3, .r = 1, .stride = 2, .padding = 0, .groups = 1},
        {.c = 2, .h = 9, .w = 9, .k = 2, .r = 5, .stride = 2, .padding = 2, .groups = 1},
    };
    uint64_t outside = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        EXPECT(exact("exact", 8, shapes[i]) == 0, "8 bits do not leave 32");
        outside += exact("exact", 16, shapes[i]);
        outside += exact("exact:saturate", 16, shapes[i]);
    }
    EXPECT(outside > 100, "%d sums outside 32 bits", (int)outside);
    trouble why = {""};
    EXPECT(!backend_named("exact:wrap", &why) && strstr(why.text, "exact:wrap"), "%s", why.text);
}

int main(void)
{
    scales();
    diversity();
    judging();
    levels();
    blocks();
    given();
    resume();
    refusals();
    added();
    sums();
    return failures != 0;
}
