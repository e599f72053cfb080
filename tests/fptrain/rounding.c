/* SPDX-License-Identifier: BSD-2-Clause */
/* rounding.c - which tensor takes which format, along which axis and with which random words; counters. */

#include "backends/backends.h"
#include "expect.h"
#include "numerics/rounder.h"
#include "ops/ops.h"
#include "policies/policy.h"

/* input (32, 2, 1) -> conv1 (8 of 1x1) -> relu2 -> linear3 (3) */
static graph *network(void)
{
    graph *g = graph_new(3);
    int x = graph_input(g, 32, 2, 1);
    graph_name(g, "first");
    x = graph_conv(g, x, &(conv_spec){.channels = 8, .kernel = 3, .padding = 1, .bias = true});
    graph_name(g, "second");
    x = graph_relu(g, x);
    graph_name(g, "third");
    graph_cross_entropy(g, graph_linear(g, x, 3, true));
    return g;
}

enum { INPUT, CONV, RELU, LOGITS }; /* values */
enum { CONV_WEIGHT, CONV_BIAS, LINEAR_WEIGHT, LINEAR_BIAS };

static trouble why;

static bool assign(rounder *r, int count, const format_line *lines)
{
    policy *p = policy_fixed(count, lines, &why);
    if (!p)
        return false;
    p->type->assign(p, r);
    p->type->free(p);
    return true;
}

/* Of the network above. */
static rounder *start(uint64_t seed, int count, const format_line *lines)
{
    rounder *r = rounder_new(network(), seed);
    EXPECT(assign(r, count, lines), "%s", why.text);
    return r;
}

static void stop(rounder *r)
{
    graph *g = r->g;
    rounder_free(r);
    graph_free(g);
}

static void refused(rounder *r, format_line line, const char *word)
{
    why.text[0] = 0;
    EXPECT(!assign(r, 1, &line) && *why.text && strstr(why.text, word), "'%s'", why.text);
}

static unsigned bits(const rounder *r, role which, int index)
{
    return r->rule[which][index].format.bits;
}

static void policies(void)
{
    const format_line lines[] = {{"second.*", "fp32", NULL}, {"third.d*", "e5m2", "sr"},
                                 {"*.bias", "bf16", NULL},   {"v", "fp16", NULL},
                                 {"dv", "e4m3fn", "rtz"},    {"w", "e4m3fn:saturate", NULL}};
    rounder *r = start(1, 6, lines);
    EXPECT(bits(r, ROLE_V, INPUT) == 16 && bits(r, ROLE_V, CONV) == 16, "by role, though written last");
    EXPECT(r->rule[ROLE_V][RELU].format.kind == 0 && r->rule[ROLE_DV][RELU].format.kind == 0, "second.*");
    EXPECT(bits(r, ROLE_DV, CONV) == 8 && r->rule[ROLE_DV][CONV].rounding.mode == FPEMU_MODE_RTZ, "dv");
    EXPECT(r->rule[ROLE_DV][INPUT].format.kind == 0, "nobody computes the dv of the fed batch");
    EXPECT(bits(r, ROLE_DW, LINEAR_WEIGHT) == 8 && r->rule[ROLE_DW][LINEAR_WEIGHT].rounding.mode == FPEMU_MODE_SR,
           "third");
    EXPECT(r->rule[ROLE_DW][CONV_WEIGHT].format.kind == 0, "dw has no line");
    EXPECT(bits(r, ROLE_W, CONV_WEIGHT) == 8 && bits(r, ROLE_W, CONV_BIAS) == 16, "*.bias");
    EXPECT(r->rule[ROLE_W][CONV_WEIGHT].format.overflow == FPEMU_OVERFLOW_SATURATE, "suffix");
    refused(r, (format_line){"v", "fp17", NULL}, "fp17");
    refused(r, (format_line){"v", "fp16", "up"}, "up");
    refused(r, (format_line){"v", "fp64", NULL}, "fp64");
    refused(r, (format_line){"v", "posit(8,2)", "rtz"}, "");
    stop(r);
}

/* MXFP4 has blocks of 32 and the values 0, .5, 1, ... times the power of two of the largest: 1 survives beside 1, not
 * beside 1024. Each line along the axis holds one of the two; memory holds them in turn. */
static void axis(role which, int index, size_t n, size_t inner, size_t length)
{
    static const char *const roles[ROLES] = {[ROLE_V] = "v", [ROLE_W] = "w", [ROLE_DV] = "dv", [ROLE_DW] = "dw"};
    rounder *r = start(1, 1, &(format_line){roles[which], "mxfp4", NULL});
    rounder_begin(r, 0);
    float *x = malloc(n * sizeof *x);
    for (size_t i = 0; x && i < n; i++)
        x[i] = (i / (inner * length) + i % inner) % 2 ? 1024 : 1;
    r->calls.round(&r->calls, which, index, n, x);
    for (size_t i = 0; x && i < n; i++)
        EXPECT(x[i] == ((i / (inner * length) + i % inner) % 2 ? 1024 : 1), "%s: element %zu is %g", roles[which], i,
               (double)x[i]);
    EXPECT(r->seen[which][index].count == n && r->seen[which][index].underflow == 0, "counters");
    free(x);
    stop(r);
}

/* Half-way between two integers, stochastic rounding shows its random bits. */
static void toss(rounder *r, role which, int index, size_t n, float *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = 10.5f;
    r->calls.round(&r->calls, which, index, n, x);
}

static void words(void)
{
    enum { N = 64 };
    const format_line lines[] = {{"v", "fixed(8,0)", "sr"}, {"dv", "fixed(8,0)", "sr"}};
    rounder *r = start(5, 2, lines), *other = start(6, 2, lines);
    float a[N], b[N], whole[2 * N];
    rounder_begin(r, 9);
    rounder_begin(other, 9);
    toss(r, ROLE_V, RELU, N, a);
    EXPECT(a[0] == 10 || a[0] == 11, "%g", (double)a[0]);
    toss(r, ROLE_V, RELU, N, b);
    EXPECT(memcmp(a, b, sizeof a), "a second call of a step has words of its own");
    toss(r, ROLE_DV, RELU, N, b);
    EXPECT(memcmp(a, b, sizeof a), "so has another role");
    toss(r, ROLE_V, CONV, N, b);
    EXPECT(memcmp(a, b, sizeof a), "another tensor");
    toss(other, ROLE_V, RELU, N, b);
    EXPECT(memcmp(a, b, sizeof a), "another seed");
    rounder_begin(r, 10);
    toss(r, ROLE_V, RELU, N, b);
    EXPECT(memcmp(a, b, sizeof a), "another step");
    rounder_begin(r, 9);
    toss(r, ROLE_V, RELU, 2 * N, whole);
    EXPECT(!memcmp(a, whole, sizeof a), "the same step again has the same words");
    stop(r);
    stop(other);
}

/* What a gradient becomes, and what is told of it then. */
static void extents(void)
{
    static const struct {
        const char *format;
        float x[3], y[3];
        double largest;
        int bad, overflow, inexact;
    } cases[] = {{"e5m2", {-1.1f, 0.5f, 1}, {-1, 0.5f, 1}, 1, 0, 0, 1},        /* e5m2 has 1 and 1.25 */
                 {"e5m2", {-1e6f, 300, 1}, {-INFINITY, 320, 1}, 320, 1, 1, 2}, /* past 57344; 300: 256 or 320 */
                 {"e5m2", {1, NAN, 2}, {1, NAN, 2}, 2, 1, 0, 0},
                 {"fp32", {0.3f, -0.7f, 0}, {0.3f, -0.7f, 0}, (double)0.7f, 0, 0, 0},
                 {"fixed(4,0)", {-7.5f, 9, 0}, {-8, 7, 0}, 8, 0, 1, 2}};
    rounder *r = start(5, 0, NULL);
    double largest;
    bool bad;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float x[3];
        const fpemu_stats *seen = &r->seen[ROLE_DW][LINEAR_BIAS];
        memcpy(x, cases[i].x, sizeof x);
        EXPECT(assign(r, 1, &(format_line){"dw", cases[i].format, NULL}), "%s", why.text);
        rounder_begin(r, i);
        EXPECT(seen->count == 0, "a new step begins to count");
        r->calls.round(&r->calls, ROLE_DW, LINEAR_BIAS, 3, x);
        rounder_extent(r, ROLE_DW, LINEAR_BIAS, 3, x, &largest, &bad);
        for (int k = 0; k < 3; k++)
            EXPECT(x[k] == cases[i].y[k] || (isnan(x[k]) && isnan(cases[i].y[k])), "case %zu: %g", i, (double)x[k]);
        EXPECT(largest == cases[i].largest && bad == cases[i].bad, "case %zu: %g, %d", i, largest, bad);
        EXPECT(seen->overflow == (uint64_t)cases[i].overflow && seen->inexact == (uint64_t)cases[i].inexact,
               "case %zu: %d overflowed, %d inexact", i, (int)seen->overflow, (int)seen->inexact);
    }
    stop(r);
}

static void histograms(void)
{
    rounder *r = start(5, 1, &(format_line){"v", "fp16", NULL});
    r->want = FPEMU_STATS_HISTOGRAM;
    for (uint64_t step = 0; step < 2; step++) {
        rounder_begin(r, step);
        float x[4] = {1, 1.5f, 0x1p-20f, 0};
        r->calls.round(&r->calls, ROLE_V, RELU, 4, x);
        const fpemu_stats *seen = &r->seen[ROLE_V][RELU];
        EXPECT(seen->request.histogram[1 - ROUNDER_FIRST] == 2 && seen->request.histogram[1 - ROUNDER_FIRST - 20] == 1,
               "bins");
        EXPECT(r->seen[ROLE_V][CONV].request.histogram != seen->request.histogram, "bins of their own");
    }
    stop(r);
}

/* ---------------------------------------------------------------------------------------------- in parts */

/* Passes calls on; the bytes of each tensor, in their order, go into one number, however many calls bring them. */
typedef struct witness {
    rounds calls; /* first: a witness is a rounds */
    rounder *r;
    uint64_t hash[2][32];
    int count[2][32];
} witness;

static void look(rounds *calls, role which, int index, size_t n, float *x)
{
    witness *w = (witness *)calls;
    w->r->calls.round(&w->r->calls, which, index, n, x);
    w->count[which == ROLE_DV][index]++;
    w->hash[which == ROLE_DV][index] = fnv(w->hash[which == ROLE_DV][index], x, n * sizeof *x);
}

static bool may_part(rounds *calls, role which, int index)
{
    const witness *w = (const witness *)calls;
    return w->r->calls.parts(&w->r->calls, which, index);
}

static const float *borrowed(store *s, int p)
{
    return ((float *const *)(void *)(s + 1))[p];
}

static float *wanted(store *s, int p)
{
    return ((float *const *)(void *)(s + 1))[16 + p];
}

static void returned(store *s, int p)
{
    (void)s;
    (void)p;
}

/* input (4, 24, 24) -> conv1 -> norm2 -> relu3 -> conv4 -> norm5 -> add6 (with 3) -> relu7 -> conv8 -> linear9 */
enum { SAMPLES = 37, PIXELS = 4 * 24 * 24, PARAMS = 9, VALUES = 10 };

static graph *residual(const backend *b, int threads)
{
    graph *g = graph_new(3);
    const conv_spec spec = {.channels = 4, .kernel = 3, .padding = 1};
    int x = graph_relu(g, graph_batch_norm(g, graph_conv(g, graph_input(g, 4, 24, 24), &spec)));
    x = graph_relu(g, graph_add(g, graph_batch_norm(g, graph_conv(g, x, &spec)), x));
    graph_cross_entropy(g, graph_linear(g, graph_conv(g, x, &spec), 3, true));
    graph_finish(g, SAMPLES, b, threads);
    return g;
}

typedef struct outcome {
    witness w;
    fpemu_stats seen[2][16];
    float dw[PARAMS][3 * PIXELS];
} outcome;

static void train_once(bool parted, bool each, int threads, const char *format, outcome *o)
{
    static float w[PARAMS][3 * PIXELS], x[SAMPLES * PIXELS];
    static int labels[SAMPLES];
    struct {
        store calls;
        float *array[32];
    } s = {.calls = {borrowed, returned, wanted, returned}};
    const backend *b = backend_named("blas", NULL);
    graph *g = residual(b, threads);
    rounder *r = rounder_new(g, 5);
    const format_line lines[] = {{"v", "e4m3fn", "sr"}, {"dv", format, "sr"}};
    EXPECT(graph_params(g) == PARAMS && graph_values(g) == VALUES, "a network of another shape");
    EXPECT(assign(r, 2, lines), "%s", why.text);
    rounder_begin(r, 7);
    memset(o, 0, sizeof *o);
    o->w = (witness){.calls = {.round = look, .parts = parted ? may_part : NULL, .each = each}, .r = r};
    for (int p = 0; p < PARAMS; p++) {
        for (size_t i = 0; i < 3 * PIXELS; i++)
            w[p][i] = (float)((i * 2654435761U + 7 * (size_t)p) % 4001) / 8000 - 0.25f;
        s.array[p] = w[p];
        s.array[16 + p] = o->dw[p];
    }
    for (size_t i = 0; i < SAMPLES * PIXELS; i++)
        x[i] = (float)(i * 40503 % 65521) / 32768 - 1;
    for (int i = 0; i < SAMPLES; i++)
        labels[i] = i % 3;
    graph_forward(g, &s.calls, &o->w.calls, SAMPLES, x, labels, true, 7);
    graph_backward(g, &s.calls, &o->w.calls, NULL, 64);
    for (int i = 0; i < graph_values(g); i++) {
        o->seen[0][i] = r->seen[ROLE_V][i];
        o->seen[1][i] = r->seen[ROLE_DV][i];
    }
    rounder_free(r);
    graph_free(g);
    backend_free(b);
}

/* Tensors rounded in parts, as they are made, are the tensors rounded whole: all bits and counters. A format with a
 * scale for the tensor is not parted. */
static void in_parts(bool each, int threads, const char *format)
{
    static outcome whole, parted;
    train_once(false, each, threads, format, &whole);
    train_once(true, each, threads, format, &parted);
    int more = 0;
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < VALUES; i++) {
            EXPECT(whole.w.hash[d][i] == parted.w.hash[d][i], "%s of value %d, %d threads", d ? "dv" : "v", i, threads);
            EXPECT(whole.w.count[d][i] == (each && d && i == 3 ? 2 : i || !d), "%d calls", whole.w.count[d][i]);
            more += parted.w.count[d][i] > whole.w.count[d][i];
            EXPECT(!memcmp(&whole.seen[d][i], &parted.seen[d][i], sizeof(fpemu_stats)), "counters of value %d", i);
        }
    EXPECT(!memcmp(whole.dw, parted.dw, sizeof whole.dw), "gradients of the parameters");
    EXPECT(more == (!strcmp(format, "e5m2") ? (each ? 14 : 15) : 8), "%d tensors in parts", more);
}

/* Of contributions that are rounded one by one the dispersion is that of their sum, and the sum has no step. */
static void contributions(void)
{
    float x[16] = {3, 1, -2}, sum[4] = {3, -1, 3, -1};
    rounder *r = start(1, 1, &(format_line){"dv", "muppet(8)", NULL});
    r->want = ROUNDER_DISPERSION;
    rounder_begin(r, 0);
    r->calls.round(&r->calls, ROLE_DV, CONV, 16, x);
    EXPECT(r->calls.step(&r->calls, ROLE_DV, CONV) > 0, "no step");
    r->calls.joined(&r->calls, ROLE_DV, CONV, 4, sum);
    EXPECT(r->calls.step(&r->calls, ROLE_DV, CONV) == 0, "a step of a sum");
    const dispersion d = r->dispersion[ROLE_DV][CONV];
    EXPECT(d.count == 4 && d.deviation == 2 && d.quantile == 1, "%zu elements, %g, %g", (size_t)d.count, d.deviation,
           d.quantile);
    stop(r);
}

int main(void)
{
    contributions();
    policies();
    axis(ROLE_V, INPUT, 2 * 64, 2, 32); /* (2, 32, 2, 1) */
    axis(ROLE_DV, LOGITS, 4 * 3, 1, 3); /* (4, 3, 1, 1) */
    axis(ROLE_W, CONV_WEIGHT, 8 * 32 * 9, 9, 32);
    axis(ROLE_DW, LINEAR_WEIGHT, 3 * 16, 1, 16);
    words();
    extents();
    histograms();
    for (int threads = 1; threads < 3; threads++) {
        in_parts(false, threads, "e5m2");
        in_parts(true, threads, "e5m2");
        in_parts(false, threads, "scaled(e5m2)");
    }
    return failures != 0;
}
