/* SPDX-License-Identifier: BSD-2-Clause */
/* layers.c - every operator, forward and backward, against itself written once more in double precision here: outputs
 * directly, gradients against central differences of the loss. Each runs on every backend. An
 * argument keeps to the operators whose name here begins so. */
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 9 }; /* more than one piece of a batch, and a short one */

typedef struct shape {
    int c, h, w;
} shape;

/* The judge of an operator: y (rows of `out`) of x[0], x[1] (rows of `in`) and the parameters. */
typedef void judge(const double *const *x, const double *const *w, double *y);

typedef struct layer {
    const char *name;
    shape in, out;
    int steps, inputs;
    int (*build)(graph *g, const int *x);
    judge *judge;
} layer;

static const layer *now; /* the one under test, so that judges need no more arguments */

static int rows(void)
{
    return SAMPLES * now->steps;
}

static int size(shape s)
{
    return s.c * s.h * s.w;
}

/* ---------------------------------------------------------------------------------------------- judges */

static void judge_conv(const double *const *x, const double *const *w, double *y, const conv_spec *s)
{
    const shape in = now->in, out = now->out;
    const int stride = s->stride ? s->stride : 1, groups = s->groups ? s->groups : 1, r = s->kernel;
    const int ci = in.c / groups, co = out.c / groups;
    for (int n = 0; n < rows(); n++)
        for (int k = 0; k < out.c; k++)
            for (int i = 0; i < out.h; i++)
                for (int j = 0; j < out.w; j++) {
                    double sum = s->bias ? w[1][k] : 0;
                    for (int c = 0; c < ci; c++)
                        for (int a = 0; a < r; a++)
                            for (int b = 0; b < r; b++) {
                                const int p = i * stride + a - s->padding, q = j * stride + b - s->padding;
                                if (p >= 0 && p < in.h && q >= 0 && q < in.w)
                                    sum += w[0][((k * ci + c) * r + a) * r + b] *
                                           x[0][((n * in.c + k / co * ci + c) * in.h + p) * in.w + q];
                            }
                    y[((n * out.c + k) * out.h + i) * out.w + j] = sum;
                }
}

#define CONV(name, ...)                                                                                                \
    static const conv_spec name##_spec = {__VA_ARGS__};                                                                \
    static int name##_build(graph *g, const int *x)                                                                    \
    {                                                                                                                  \
        return graph_conv(g, x[0], &name##_spec);                                                                      \
    }                                                                                                                  \
    static void name##_judge(const double *const *x, const double *const *w, double *y)                                \
    {                                                                                                                  \
        judge_conv(x, w, y, &name##_spec);                                                                             \
    }

CONV(conv3, .channels = 4, .kernel = 3, .padding = 1, .bias = true)
CONV(conv5, .channels = 3, .kernel = 5, .padding = 2, .stride = 2)
CONV(conv1, .channels = 5, .kernel = 1, .bias = true)
CONV(conv1s, .channels = 5, .kernel = 1, .stride = 2)
CONV(conv_grouped, .channels = 6, .kernel = 3, .padding = 1, .groups = 2, .bias = true)
CONV(conv_depth, .channels = 4, .kernel = 3, .padding = 1, .groups = 4)
CONV(conv_depth_s, .channels = 4, .kernel = 3, .padding = 1, .groups = 4, .stride = 2, .bias = true)
CONV(conv_valid, .channels = 2, .kernel = 3)
CONV(conv_far, .channels = 2, .kernel = 3, .padding = 2, .stride = 3)

#define BUILD(name, made)                                                                                              \
    static int name##_build(graph *g, const int *x)                                                                    \
    {                                                                                                                  \
        return made;                                                                                                   \
    }

BUILD(linear, graph_linear(g, x[0], 5, true))

static void linear_judge(const double *const *x, const double *const *w, double *y)
{
    const int in = size(now->in), out = size(now->out);
    for (int r = 0; r < rows(); r++)
        for (int o = 0; o < out; o++) {
            y[r * out + o] = w[1][o];
            for (int i = 0; i < in; i++)
                y[r * out + o] += w[0][o * in + i] * x[0][r * in + i];
        }
}

BUILD(linear_wide, graph_linear(g, x[0], 40, false))

static void linear_wide_judge(const double *const *x, const double *const *w, double *y)
{
    const double zero[40] = {0};
    linear_judge(x, (const double *const[2]){w[0], zero}, y);
}

BUILD(batch, graph_batch_norm(g, x[0]))

static void batch_judge(const double *const *x, const double *const *w, double *y)
{
    const int area = now->in.h * now->in.w, m = rows() * area;
    for (int c = 0; c < now->in.c; c++) {
        double mean = 0, variance = 0;
        for (int pass = 0; pass < 3; pass++)
            for (int i = 0; i < m; i++) {
                const int at = (i / area * now->in.c + c) * area + i % area;
                if (pass == 0)
                    mean += x[0][at] / m;
                else if (pass == 1)
                    variance += (x[0][at] - mean) * (x[0][at] - mean) / m;
                else
                    y[at] = (x[0][at] - mean) / sqrt(variance + 1e-5) * w[0][c] + w[1][c];
            }
    }
}

BUILD(layer, graph_layer_norm(g, x[0]))

static void layer_judge(const double *const *x, const double *const *w, double *y)
{
    const int n = size(now->in);
    for (int r = 0; r < rows(); r++) {
        double mean = 0, variance = 0;
        for (int i = 0; i < n; i++)
            mean += x[0][r * n + i] / n;
        for (int i = 0; i < n; i++)
            variance += pow(x[0][r * n + i] - mean, 2) / n;
        for (int i = 0; i < n; i++)
            y[r * n + i] = (x[0][r * n + i] - mean) / sqrt(variance + 1e-5) * w[0][i] + w[1][i];
    }
}

#define ELEMENTWISE(name, made, expression)                                                                            \
    static int name##_build(graph *g, const int *in)                                                                   \
    {                                                                                                                  \
        return made;                                                                                                   \
    }                                                                                                                  \
    static void name##_judge(const double *const *in, const double *const *w, double *y)                               \
    {                                                                                                                  \
        (void)w;                                                                                                       \
        for (int i = 0; i < rows() * size(now->in); i++) {                                                             \
            const double x = in[0][i];                                                                                 \
            y[i] = expression;                                                                                         \
        }                                                                                                              \
    }

ELEMENTWISE(relu, graph_relu(g, in[0]), x > 0 ? x : 0)
ELEMENTWISE(relu6, graph_relu6(g, in[0]), fmin(fmax(x, 0), 6))
ELEMENTWISE(sigmoid, graph_sigmoid(g, in[0]), 1 / (1 + exp(-x)))
ELEMENTWISE(tanh, graph_tanh(g, in[0]), tanh(x))
ELEMENTWISE(add, graph_add(g, in[0], in[1]), x + in[1][i])
ELEMENTWISE(add_itself, graph_add(g, in[0], in[0]), 2 * x)

static void judge_pool(const double *x, double *y, int kernel, int stride, int padding, bool mean)
{
    const shape in = now->in, out = now->out;
    for (int n = 0; n < rows() * in.c; n++)
        for (int i = 0; i < out.h; i++)
            for (int j = 0; j < out.w; j++) {
                double best = -INFINITY, sum = 0;
                for (int a = i * stride - padding; a < i * stride - padding + kernel; a++)
                    for (int b = j * stride - padding; b < j * stride - padding + kernel; b++)
                        if (a >= 0 && a < in.h && b >= 0 && b < in.w) {
                            best = fmax(best, x[(n * in.h + a) * in.w + b]);
                            sum += x[(n * in.h + a) * in.w + b];
                        }
                y[(n * out.h + i) * out.w + j] = mean ? sum / kernel / kernel : best;
            }
}

#define POOL(name, function, kernel, stride, padding, mean)                                                            \
    static int name##_build(graph *g, const int *x)                                                                    \
    {                                                                                                                  \
        return function(g, x[0], &(pool_spec){kernel, stride, padding});                                               \
    }                                                                                                                  \
    static void name##_judge(const double *const *x, const double *const *w, double *y)                                \
    {                                                                                                                  \
        (void)w;                                                                                                       \
        judge_pool(x[0], y, kernel, stride, padding, mean);                                                            \
    }

POOL(max2, graph_max_pool, 2, 2, 0, false)
POOL(max3, graph_max_pool, 3, 2, 1, false)
POOL(mean2, graph_average_pool, 2, 2, 0, true)
POOL(mean3, graph_average_pool, 3, 1, 1, true)

BUILD(global, graph_global_pool(g, x[0]))

static void global_judge(const double *const *x, const double *const *w, double *y)
{
    (void)w;
    judge_pool(x[0], y, now->in.h, 1, 0, true);
}

BUILD(concat, graph_concat(g, 3, (int[3]){x[1], x[0], x[1]}))

static void concat_judge(const double *const *x, const double *const *w, double *y)
{
    (void)w;
    const int n = size(now->in);
    for (int r = 0; r < rows(); r++)
        for (int i = 0; i < 3 * n; i++)
            y[r * 3 * n + i] = x[i / n == 1 ? 0 : 1][r * n + i % n];
}

static int slices_build(graph *g, const int *x)
{
    const int a = graph_slice(g, x[0], 0, 1), b = graph_slice(g, x[0], 1, 3);
    return graph_concat(g, 2, (int[2]){b, a});
}

static void slices_judge(const double *const *x, const double *const *w, double *y)
{
    (void)w;
    const int area = now->in.h * now->in.w, n = 4 * area;
    for (int i = 0; i < rows() * n; i++)
        y[i] = x[0][i / n * n + (i % n + area) % n];
}

BUILD(shuffle, graph_sigmoid(g, graph_shuffle(g, x[0], 2)))

static void shuffle_judge(const double *const *x, const double *const *w, double *y)
{
    (void)w;
    static const int from[6] = {0, 3, 1, 4, 2, 5}; /* of six channels in two groups */
    const int area = now->in.h * now->in.w;
    for (int r = 0; r < rows(); r++)
        for (int i = 0; i < 6 * area; i++)
            y[r * 6 * area + i] = 1 / (1 + exp(-x[0][(r * 6 + from[i / area]) * area + i % area]));
}

BUILD(shortcut, graph_shortcut(g, x[0], 5, 2))

static void shortcut_judge(const double *const *x, const double *const *w, double *y)
{
    (void)w;
    const shape in = now->in, out = now->out;
    for (int r = 0; r < rows(); r++)
        for (int c = 0; c < out.c; c++)
            for (int i = 0; i < out.h; i++)
                for (int j = 0; j < out.w; j++)
                    y[((r * out.c + c) * out.h + i) * out.w + j] =
                        c < in.c ? x[0][((r * in.c + c) * in.h + 2 * i) * in.w + 2 * j] : 0;
}

BUILD(positions, graph_positions(g, x[0]))

static void positions_judge(const double *const *x, const double *const *w, double *y)
{
    const int n = size(now->in);
    for (int i = 0; i < rows() * n; i++)
        y[i] = x[0][i] + w[0][i % (now->steps * n)];
}

BUILD(lstm, graph_lstm(g, x[0], 3))

static void lstm_judge(const double *const *x, const double *const *w, double *y)
{
    const int n = now->in.c, hidden = now->out.c;
    for (int s = 0; s < SAMPLES; s++) {
        double c[8] = {0}, h[8] = {0}, gate[32];
        for (int t = 0; t < now->steps; t++) {
            const int r = s * now->steps + t;
            for (int k = 0; k < 4 * hidden; k++) {
                double sum = w[2][k];
                for (int i = 0; i < n; i++)
                    sum += w[0][k * n + i] * x[0][r * n + i];
                for (int i = 0; i < hidden; i++)
                    sum += w[1][k * hidden + i] * h[i];
                gate[k] = k / hidden == 2 ? tanh(sum) : 1 / (1 + exp(-sum));
            }
            for (int k = 0; k < hidden; k++) {
                c[k] = gate[hidden + k] * c[k] + gate[k] * gate[2 * hidden + k];
                y[r * hidden + k] = h[k] = gate[3 * hidden + k] * tanh(c[k]);
            }
        }
    }
}

BUILD(attention, graph_attention(g, x[0], 2))

static void attention_judge(const double *const *x, const double *const *w, double *y)
{
    (void)w;
    const int c = now->out.c, d = c / 2, n = 3 * c;
    for (int s = 0; s < SAMPLES; s++)
        for (int t = 0; t < now->steps; t++)
            for (int head = 0; head < 2; head++) {
                double share[16], sum = 0;
                const double *q = x[0] + (s * now->steps + t) * n + head * d;
                for (int u = 0; u <= t; u++) {
                    const double *k = x[0] + (s * now->steps + u) * n + c + head * d;
                    double dot = 0;
                    for (int i = 0; i < d; i++)
                        dot += q[i] * k[i];
                    sum += share[u] = exp(dot / sqrt(d));
                }
                for (int i = 0; i < d; i++) {
                    double v = 0;
                    for (int u = 0; u <= t; u++)
                        v += share[u] / sum * x[0][(s * now->steps + u) * n + 2 * c + head * d + i];
                    y[(s * now->steps + t) * c + head * d + i] = v;
                }
            }
}

/* ---------------------------------------------------------------------------------------------- the comparison */

static const layer layers[] = {
    {"conv 3x3", {3, 6, 7}, {4, 6, 7}, 1, 1, conv3_build, conv3_judge},
    {"conv 5x5, stride 2", {2, 8, 8}, {3, 4, 4}, 1, 1, conv5_build, conv5_judge},
    {"conv 1x1", {4, 3, 5}, {5, 3, 5}, 1, 1, conv1_build, conv1_judge},
    {"conv 1x1, stride 2", {4, 5, 5}, {5, 3, 3}, 1, 1, conv1s_build, conv1s_judge},
    {"conv, grouped", {4, 5, 5}, {6, 5, 5}, 1, 1, conv_grouped_build, conv_grouped_judge},
    {"conv, depthwise", {4, 3, 19}, {4, 3, 19}, 1, 1, conv_depth_build, conv_depth_judge},
    {"conv, depthwise, stride 2", {4, 7, 6}, {4, 4, 3}, 1, 1, conv_depth_s_build, conv_depth_s_judge},
    {"conv, not padded", {1, 4, 4}, {2, 2, 2}, 1, 1, conv_valid_build, conv_valid_judge},
    {"conv, padding 2, stride 3", {2, 3, 7}, {2, 2, 3}, 1, 1, conv_far_build, conv_far_judge},
    {"linear", {3, 2, 2}, {5, 1, 1}, 1, 1, linear_build, linear_judge},
    {"linear, wide", {34, 1, 1}, {40, 1, 1}, 2, 1, linear_wide_build, linear_wide_judge},
    {"batch norm", {3, 5, 5}, {3, 5, 5}, 1, 1, batch_build, batch_judge},
    {"batch norm of features", {7, 1, 1}, {7, 1, 1}, 1, 1, batch_build, batch_judge},
    {"layer norm", {13, 1, 1}, {13, 1, 1}, 3, 1, layer_build, layer_judge},
    {"relu", {3, 5, 5}, {3, 5, 5}, 1, 1, relu_build, relu_judge},
    {"relu6", {3, 5, 5}, {3, 5, 5}, 1, 1, relu6_build, relu6_judge},
    {"sigmoid", {3, 3, 3}, {3, 3, 3}, 1, 1, sigmoid_build, sigmoid_judge},
    {"tanh", {3, 3, 3}, {3, 3, 3}, 1, 1, tanh_build, tanh_judge},
    {"add", {3, 3, 3}, {3, 3, 3}, 1, 2, add_build, add_judge},
    {"add, twice the same", {3, 3, 3}, {3, 3, 3}, 1, 1, add_itself_build, add_itself_judge},
    {"max pool 2", {3, 6, 7}, {3, 3, 3}, 1, 1, max2_build, max2_judge},
    {"max pool 3, stride 2, padding 1", {2, 7, 6}, {2, 4, 3}, 1, 1, max3_build, max3_judge},
    {"average pool 2", {2, 6, 6}, {2, 3, 3}, 1, 1, mean2_build, mean2_judge},
    {"average pool 3, stride 1, padding 1", {2, 4, 5}, {2, 4, 5}, 1, 1, mean3_build, mean3_judge},
    {"global pool", {5, 5, 5}, {5, 1, 1}, 1, 1, global_build, global_judge},
    {"concat", {2, 3, 3}, {6, 3, 3}, 1, 2, concat_build, concat_judge},
    {"slices", {4, 2, 3}, {4, 2, 3}, 1, 1, slices_build, slices_judge},
    {"shuffle", {6, 2, 2}, {6, 2, 2}, 1, 1, shuffle_build, shuffle_judge},
    {"shortcut", {3, 5, 6}, {5, 3, 3}, 1, 1, shortcut_build, shortcut_judge},
    {"positions", {6, 1, 1}, {6, 1, 1}, 4, 1, positions_build, positions_judge},
    {"lstm", {4, 1, 1}, {3, 1, 1}, 5, 1, lstm_build, lstm_judge},
    {"attention", {24, 1, 1}, {8, 1, 1}, 6, 1, attention_build, attention_judge},
};

typedef struct arrays { /* in double precision: the inputs, then the parameters */
    int count;
    double *a[5];
    size_t n[5];
} arrays;

/* Mean of softmax with cross-entropy of the judge's output. */
static double loss_of(const arrays *a, const int *labels, double *y)
{
    const int n = size(now->out), inputs = now->inputs;
    const double *at[5] = {0};
    for (int i = 0; i < a->count; i++)
        at[i] = a->a[i];
    now->judge(at, at + inputs, y);
    double loss = 0;
    for (int r = 0; r < rows(); r++) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += exp(y[r * n + i]);
        loss += (log(sum) - y[r * n + labels[r]]) / rows();
    }
    return loss;
}

static void differences(arrays *a, int which, const int *labels, double *y, double *to)
{
    const double step = 0x1p-17;
    for (size_t i = 0; i < a->n[which]; i++) {
        double *at = &a->a[which][i];
        const double before = *at;
        *at = before + step;
        const double up = loss_of(a, labels, y);
        *at = before - step;
        to[i] = (up - loss_of(a, labels, y)) / (2 * step);
        *at = before;
    }
}

/* The inputs pass through slices that keep all of them, so that they have gradients. */
static graph *network(const backend *b, int threads)
{
    graph *g = graph_new(1);
    const shape in = now->in;
    int fed, x[2], c = in.c * now->inputs;
    if (now->steps > 1) /* features of steps: as many numbers as tokens, one apart from the next by a table */
        fed = graph_embedding(g, graph_tokens(g, now->steps, rows()), c);
    else
        fed = graph_input(g, c, in.h, in.w);
    for (int i = 0; i < now->inputs; i++)
        x[i] = graph_slice(g, fed, i * in.c, in.c);
    graph_cross_entropy(g, now->build(g, x));
    graph_finish(g, SAMPLES, b, threads);
    return g;
}

static int value_of(const graph *g, const char *type, int number)
{
    for (int i = 0; i < graph_ops(g); i++)
        if (strcmp(graph_op(g, i).type, type) == 0 && number-- == 0)
            return graph_op(g, i).output;
    return -1;
}

static void fill(harness *h, float *fed, int *labels, arrays *a)
{
    const int n = size(now->in), all = n * now->inputs, first = now->steps > 1; /* parameter 0 is the table */
    a->count = 0;
    for (int i = 0; i < now->inputs; i++) {
        a->a[a->count] = need((size_t)(rows() * n), sizeof(double));
        a->n[a->count++] = (size_t)(rows() * n);
    }
    for (int r = 0; r < rows(); r++) {
        labels[r] = (7 * r + 1) % size(now->out);
        if (first)
            fed[r] = (float)(rows() - 1 - r);
        for (int i = 0; i < all; i++) {
            const double x = 4 * sequence(77, (uint64_t)(r * all + i)) + (strcmp(now->name, "relu6") ? 0 : 4);
            a->a[i / n][r * n + i % n] = (double)(float)x;
            *(first ? &h->w[0][(rows() - 1 - r) * all + i] : &fed[r * all + i]) = (float)x;
        }
    }
    for (int p = first; p < graph_params(h->g); p++) {
        const size_t count = graph_param(h->g, p)->size;
        a->a[a->count] = need(count, sizeof(double));
        for (size_t i = 0; i < count; i++)
            a->a[a->count][i] = (double)h->w[p][i];
        a->n[a->count++] = count;
    }
}

static void compare(const char *backend_name, harness *h, const forward_result *r, const arrays *a, double loss,
                    const double *y, double *const *slope)
{
    char text[256];
    const int first = now->steps > 1;
    snprintf(text, sizeof text, "%s, %s, output", now->name, backend_name);
    const int logits = graph_logits(h->g);
    check_near(text, (size_t)(rows() * size(now->out)), h->v[logits], y, 3e-6);
    check(fabs(r->loss - loss) < 1e-5 * (1 + loss), "%s, %s: the loss is %.9g, not %.9g", now->name, backend_name,
          r->loss, loss);
    for (int i = 0; i < a->count; i++) {
        const int p = i - now->inputs;
        snprintf(text, sizeof text, "%s, %s, gradient of %s", now->name, backend_name,
                 p < 0 ? "input" : graph_param(h->g, p + first)->name);
        check_near(text, a->n[i], p < 0 ? h->dv[value_of(h->g, "slice", i)] : h->dw[p + first], slope[i], 1e-5);
    }
    for (size_t t = 0; first && t < (size_t)rows(); t++) /* the table's gradient is that of the rows, moved */
        for (int i = 0; i < size(now->in) * now->inputs; i++)
            check(fabs((double)h->dw[0][((size_t)rows() - 1 - t) * (size_t)size(now->in) + (size_t)i] -
                       slope[0][t * (size_t)size(now->in) + (size_t)i]) < 1e-5,
                  "%s, %s: gradient of the table", now->name, backend_name);
}

static void test_layer(int count, const char *const *names)
{
    static float fed[1 << 16];
    static int labels[SAMPLES * 8];
    static double y[1 << 16];
    double *slope[5], loss = 0;
    arrays a = {0};
    for (int i = 0; i < count; i++) {
        const backend *b = backend_named(names[i], NULL);
        if (!b)
            continue;
        harness *h = harness_new(network(b, 2), 0.5, 5);
        const arrays before = a;
        fill(h, fed, labels, &a);
        if (before.count == 0)
            for (int k = 0; k < a.count; k++) {
                slope[k] = need(a.n[k], sizeof(double));
                differences(&a, k, labels, y, slope[k]);
            }
        for (int k = 0; k < before.count; k++)
            free(before.a[k]);
        loss = loss_of(&a, labels, y);
        const forward_result r = harness_run(h, SAMPLES, fed, labels, NULL, 1);
        compare(names[i], h, &r, &a, loss, y, slope);
        harness_free(h);
        backend_free(b);
    }
    for (int k = 0; k < a.count; k++) {
        free(a.a[k]);
        free(slope[k]);
    }
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"blas", "onednn", "emulated:fp64"};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        now = &layers[i];
        if (argc < 2 || strncmp(now->name, argv[1], strlen(argv[1])) == 0)
            test_layer(3, names);
    }
    return failures();
}
