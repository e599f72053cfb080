/* SPDX-License-Identifier: BSD-2-Clause */
/* passes.c - what the passes promise: the same bits from any number of threads, running statistics and evaluation,
 * dropout, which tensors are rounded, multipliers of layer-wise scaling, first values. */
#include <config.h>

#include "harness.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* ---------------------------------------------------------------------------------------------- threads */

/* Something of every kind; wide enough for several pieces of elements. */
static graph *picture_network(int batch, const backend *b, int threads)
{
    graph *g = graph_new(1);
    int x = graph_input(g, 3, 20, 20);
    x = graph_conv(g, x, &(conv_spec){.channels = 20, .kernel = 3, .padding = 1});
    x = graph_relu(g, graph_batch_norm(g, x));
    const int y = graph_conv(g, x, &(conv_spec){.channels = 20, .kernel = 3, .padding = 1, .groups = 20});
    x = graph_add(g, graph_relu6(g, graph_batch_norm(g, y)), x);
    x = graph_shuffle(g, graph_max_pool(g, x, &(pool_spec){.kernel = 2}), 2);
    const int half[2] = {graph_slice(g, x, 0, 10), graph_slice(g, x, 10, 10)};
    x = graph_concat(g, 2, (int[2]){half[1], graph_dropout(g, half[0], 0.3)});
    x = graph_add(g,
                  graph_conv(g, x, &(conv_spec){.channels = 24, .kernel = 5, .stride = 2, .padding = 2, .bias = true}),
                  graph_shortcut(g, x, 24, 2));
    x = graph_linear(g, graph_tanh(g, graph_average_pool(g, x, &(pool_spec){3, 1, 1})), 70, true);
    graph_cross_entropy(g, graph_linear(g, graph_sigmoid(g, x), 10, true));
    graph_finish(g, batch, b, threads);
    return g;
}

static graph *text_network(int batch, const backend *b, int threads)
{
    graph *g = graph_new(1);
    int x = graph_positions(g, graph_embedding(g, graph_tokens(g, 9, 13), 24));
    x = graph_lstm(g, graph_add(g, x, graph_attention(g, graph_linear(g, graph_layer_norm(g, x), 72, true), 3)), 20);
    graph_cross_entropy(g, graph_linear(g, x, 13, false));
    graph_finish(g, batch, b, threads);
    return g;
}

typedef graph *network(int batch, const backend *b, int threads);

static harness *run_network(network *make, int batch, const backend *b, int threads, int samples)
{
    harness *h = harness_new(make(batch, b, threads), 0.25, 9);
    harness_feed(h, samples, 128);
    return h;
}

static void same_bits(const harness *a, const harness *b)
{
    for (int i = 0; i < graph_values(a->g); i++) {
        if (a->v[i])
            check_same("output", a->v_size[i], a->v[i], b->v[i]);
        if (a->dv[i])
            check_same("gradient of an output", a->v_size[i], a->dv[i], b->dv[i]);
    }
    for (int p = 0; p < graph_params(a->g); p++)
        check_same(graph_param(a->g, p)->name, graph_param(a->g, p)->size, a->dw[p], b->dw[p]);
    for (int i = 0; i < graph_buffers(a->g); i++)
        check_same("buffer", graph_buffer(a->g, i)->size, graph_buffer(a->g, i)->data, graph_buffer(b->g, i)->data);
}

static void test_threads(const char *name, network *make, int samples)
{
    const backend *b = backend_named(name, NULL);
    if (!b)
        return;
    harness *one = run_network(make, samples, b, 1, samples);
    for (int threads = 2; threads <= 4; threads++) {
#ifdef _OPENMP
        omp_set_num_threads(1 + threads % 3); /* must not matter either */
#endif
        harness *more = run_network(make, samples + threads % 2 * 40, b, threads, samples);
        same_bits(one, more);
        harness_free(more);
    }
    harness_free(one);
    backend_free(b);
}

/* ---------------------------------------------------------------------------------------------- what is rounded */

static void test_tensors(void)
{
    const backend *b = backend_named("blas", NULL);
    harness *h = run_network(picture_network, 4, b, 1, 4);
    for (int i = 0; i < graph_values(h->g); i++) {
        const value *v = graph_value(h->g, i);
        const bool shuffle = v->producer >= 0 && strcmp(graph_op(h->g, v->producer).type, "shuffle") == 0;
        check(v->is_tensor == !shuffle && h->v_calls[i] == !shuffle, "output %d: rounded %d times", i, h->v_calls[i]);
        check(h->dv_calls[i] == (!shuffle && i > 0), "gradient %d: rounded %d times", i, h->dv_calls[i]);
        check(shuffle || h->v_size[i] == 4 * v->row, "output %d: %zu elements", i, h->v_size[i]);
    }
    harness_free(h);
    h = run_network(text_network, 4, b, 1, 4);
    check(h->v_calls[0] == 0 && h->dv_calls[0] == 0, "tokens were rounded");
    harness_free(h);
    backend_free(b);
}

/* ---------------------------------------------------------------------------------------------- statistics */

static void test_statistics(void)
{
    const backend *b = backend_named("blas", NULL);
    graph *g = graph_new(1);
    graph_cross_entropy(g, graph_batch_norm(g, graph_input(g, 1, 1, 2)));
    graph_finish(g, 3, b, 2);
    harness *h = harness_new(g, 0, 1);
    h->w[0][0] = 2;
    h->w[1][0] = 0.5f;
    const float x[6] = {1, 2, 3, 4, 5, 9}; /* mean 4, squares of differences 40 */
    const int labels[3] = {0, 1, 0};
    check(graph_buffers(g) == 2 && strcmp(graph_buffer(g, 1)->name, "batch_norm1.variance") == 0, "buffers");
    const float *mean = graph_buffer(g, 0)->data, *variance = graph_buffer(g, 1)->data;
    check(mean[0] == 0 && variance[0] == 1, "statistics start at %g, %g", (double)mean[0], (double)variance[0]);
    graph_forward(g, &h->calls, NULL, 3, x, labels, true, 0);
    check(fabs((double)mean[0] - 0.4) < 1e-6 && fabs((double)variance[0] - 1.7) < 1e-6, "after a step %g, %g",
          (double)mean[0], (double)variance[0]);
    graph_forward(g, &h->calls, NULL, 3, x, labels, true, 0);
    check(fabs((double)mean[0] - 0.76) < 1e-6 && fabs((double)variance[0] - 2.33) < 1e-6, "after two steps %g, %g",
          (double)mean[0], (double)variance[0]);
    const forward_result r = graph_forward(g, &h->calls, NULL, 2, x, labels, false, 0);
    check(fabs((double)mean[0] - 0.76) < 1e-6, "evaluation moved the mean to %g", (double)mean[0]);
    double loss = 0;
    for (int i = 0; i < 4; i++) {
        const double y = (x[i] - 0.76) / sqrt(2.33001) * 2 + 0.5, got = (double)graph_value(g, 1)->v[i];
        check(fabs(got - y) < 1e-5, "evaluation gave %g, not %g", got, y);
    }
    const double gap = 2 / sqrt(2.33001); /* both rows: the second logit leads by this */
    loss = (log(1 + exp(gap)) + log(1 + exp(-gap))) / 2;
    check(fabs(r.loss - loss) < 1e-5 && r.correct == 1 && r.rows == 2, "loss %g, not %g; %zu of %zu", r.loss, loss,
          r.correct, r.rows);
    harness_free(h);
    backend_free(b);
}

/* ---------------------------------------------------------------------------------------------- dropout */

static void test_dropout(void)
{
    enum { SIZE = 40000 };
    static float x[SIZE], first[SIZE];
    const backend *b = backend_named("blas", NULL);
    graph *g = graph_new(1);
    const int in = graph_slice(g, graph_input(g, SIZE, 1, 1), 0, SIZE), y = graph_dropout(g, in, 0.25);
    graph_cross_entropy(g, y);
    graph_finish(g, 1, b, 2);
    harness *h = harness_new(g, 0, 1);
    const int label = 5;
    size_t kept = 0, same = 0;
    for (int i = 0; i < SIZE; i++)
        x[i] = 3;
    harness_run(h, 1, x, &label, NULL, 1);
    for (int i = 0; i < SIZE; i++) {
        const bool keep = h->v[y][i] != 0;
        kept += keep;
        check(!keep || h->v[y][i] == 4, "kept as %g", (double)h->v[y][i]);
        const float want = keep ? h->dv[y][i] * (float)(1 / 0.75) : 0;
        check(h->dv[in][i] == want, "gradient %g, not %g", (double)h->dv[in][i], (double)want);
        first[i] = h->v[y][i];
    }
    check(fabs((double)kept - 0.75 * SIZE) < 5 * sqrt(0.1875 * SIZE), "kept %zu of %d", kept, SIZE);
    graph_forward(g, &h->calls, &h->rounds, 1, x, &label, true, 4);
    for (int i = 0; i < SIZE; i++)
        same += h->v[y][i] == first[i];
    check(fabs((double)same - 0.625 * SIZE) < 5 * sqrt(0.25 * SIZE), "two steps agree in %zu of %d", same, SIZE);
    graph_forward(g, &h->calls, &h->rounds, 1, x, &label, false, 4);
    check_same("evaluation", SIZE, h->v[y], x);
    harness_free(h);
    backend_free(b);
}

/* ---------------------------------------------------------------------------------------------- layer-wise scaling */

typedef struct scaling {
    layer_scaling calls;
    int asked, joined;
    double alpha[8];
    bool wants;
} scaling;

static double beta(layer_scaling *s, int op, size_t n, const float *delta, size_t weights, const float *w)
{
    (void)delta;
    (void)w;
    ((scaling *)s)->asked++;
    check(n > 0 && weights > 0, "beta of %d: %zu, %zu", op, n, weights);
    return op % 2 ? 8 : 0.5;
}

static double join(layer_scaling *s, int value, int count, const double *alpha, const double *largest)
{
    scaling *t = (scaling *)s;
    check(count == 2 && (largest != NULL) == t->wants, "value %d: %d contributions", value, count);
    if (largest)
        check(largest[0] > 0 && largest[1] > 0 && largest[0] < 1e3, "largest %g, %g", largest[0], largest[1]);
    t->alpha[t->joined++ % 8] = alpha[0] / alpha[1];
    return 4 * alpha[1];
}

static bool wants(layer_scaling *s, int value)
{
    (void)value;
    return ((scaling *)s)->wants;
}

/* conv1 (op 0) feeds conv2 (op 1) and the addition (op 2); then linear1 (op 3). */
static void test_scaling(bool largest)
{
    const backend *b = backend_named("blas", NULL);
    graph *g = graph_new(1);
    const int c1 = graph_conv(g, graph_input(g, 2, 4, 4), &(conv_spec){.channels = 3, .kernel = 3, .padding = 1});
    const int c2 = graph_conv(g, c1, &(conv_spec){.channels = 3, .kernel = 1, .bias = true});
    const int a = graph_add(g, c1, c2), l = graph_linear(g, a, 4, true);
    graph_cross_entropy(g, l);
    graph_finish(g, 3, b, 2);
    harness *h = harness_new(g, 0.5, 2);
    scaling s = {.calls = {.beta = beta, .join = join, .wants_largest = wants}, .wants = largest};
    const int labels[3] = {0, 3, 1};
    float x[3 * 32], *plain[5];
    for (int i = 0; i < 3 * 32; i++)
        x[i] = (float)sequence(8, (uint64_t)i);
    harness_run(h, 3, x, labels, NULL, 1);
    for (int p = 0; p < graph_params(g); p++) {
        const size_t n = graph_param(g, p)->size;
        check(graph_param(g, p)->alpha == 1, "parameter %d: multiplier %g", p, graph_param(g, p)->alpha);
        plain[p] = need(n, sizeof(float));
        memcpy(plain[p], h->dw[p], n * sizeof(float));
    }
    harness_run(h, 3, x, labels, &s.calls, 2);
    /* linear1: 2, times 8 to the addition; conv2: 16, times 8; the join brings 128 and 16 to 4 * 16 or 4 * 128. */
    const double want = s.alpha[0] == 8 ? 64 : 512;
    check(s.asked == 2 && s.joined == 1 && (s.alpha[0] == 8 || s.alpha[0] == 0.125), "asked %d, joined %d, %g", s.asked,
          s.joined, s.alpha[0]);
    check(graph_value(g, l)->alpha == 2 && graph_value(g, a)->alpha == 16 && graph_value(g, c2)->alpha == 16 &&
              graph_value(g, c1)->alpha == want,
          "multipliers %g %g %g %g", graph_value(g, l)->alpha, graph_value(g, a)->alpha, graph_value(g, c2)->alpha,
          graph_value(g, c1)->alpha);
    for (int p = 0; p < graph_params(g); p++) {
        const param *q = graph_param(g, p);
        check(q->alpha == graph_value(g, graph_op(g, q->op).output)->alpha, "%s: multiplier %g", q->name, q->alpha);
        for (size_t i = 0; i < q->size; i++)
            plain[p][i] *= (float)q->alpha; /* by a power of two: exact */
        check_same(q->name, q->size, h->dw[p], plain[p]);
        free(plain[p]);
    }
    harness_free(h);
    backend_free(b);
}

/* ---------------------------------------------------------------------------------------------- looking */

static void test_first_values(void)
{
    graph *g = graph_new(7), *other = graph_new(8);
    graph *const both[2] = {g, other};
    for (int i = 0; i < 2; i++) {
        int x = graph_conv(both[i], graph_input(both[i], 16, 8, 8),
                           &(conv_spec){.channels = 32, .kernel = 3, .padding = 1, .groups = 2, .bias = true});
        x = graph_batch_norm(both[i], x);
        graph_name(both[i], "head");
        x = graph_linear(both[i], x, 50, true);
        graph_cross_entropy(both[i], x);
    }
    static const char *const names[] = {"conv1.weight",      "conv1.bias",  "batch_norm1.scale",
                                        "batch_norm1.shift", "head.weight", "head.bias"};
    static const double means[] = {0, 0, 1, 0, 0, 0}, deviations[] = {0.11785113, 0, 0, 0, 0.03125, 0};
    check(graph_params(g) == 6 && graph_param_count(g) == 32 * 8 * 9 + 3 * 32 + 50 * 2048 + 50, "%zu parameters",
          graph_param_count(g));
    for (int p = 0; p < graph_params(g) && p < 6; p++) {
        const size_t n = graph_param(g, p)->size;
        float *w = need(n, sizeof *w), *again = need(n, sizeof *w);
        double sum = 0, square = 0;
        graph_initial(g, p, w);
        graph_initial(g, p, again);
        check_same(names[p], n, w, again);
        for (size_t i = 0; i < n; i++) {
            sum += w[i];
            square += ((double)w[i] - means[p]) * ((double)w[i] - means[p]);
        }
        graph_initial(other, p, again);
        check((memcmp(w, again, n * sizeof *w) != 0) == (deviations[p] > 0), "%s and the seed", names[p]);
        check(strcmp(graph_param(g, p)->name, names[p]) == 0, "%s is not %s", graph_param(g, p)->name, names[p]);
        check(fabs(sum / (double)n - means[p]) <= 5 * deviations[p] / sqrt((double)n), "%s: mean %g", names[p],
              sum / (double)n);
        check(fabs(sqrt(square / (double)n) - deviations[p]) <= 4 * deviations[p] / sqrt((double)n), "%s: deviation %g",
              names[p], sqrt(square / (double)n));
        FREE(w, again);
    }
    const op_info conv = graph_op(g, 0), head = graph_op(g, 2);
    check(conv.gemm && conv.fan == 288 && conv.macs == 64.0 * 32 * 72 && conv.params == 2 && conv.first_param == 0,
          "conv1: fan %g, %g multiply-adds", conv.fan, conv.macs);
    check(head.gemm && head.fan == 50 && head.macs == 102400 && strcmp(head.name, "head") == 0, "head: fan %g, %g",
          head.fan, head.macs);
    check(!graph_op(g, 1).gemm && graph_op(g, 3).output == -1, "kinds of operators");
    graph_free(g);
    graph_free(other);
}

/* One sum of four terms, by hand: fp16 has a step of 2 above 2048. In order, 2048 + 1 is twice a tie that goes back to
 * 2048, then 2051 one that goes to 2052. In chunks of two, 2048 + 1 is lost once, 1 + 3 is exact, and so is 2052. */
static void test_sums(const char *name, sum_counts want)
{
    const backend *b = backend_named(name, NULL);
    const float terms[4] = {2048, 1, 1, 3}, ones[4] = {1, 1, 1, 1}, large[2] = {65504, 65504};
    float sum = 0;
    b->gemm(b, false, false, 1, 1, 4, terms, 4, ones, 1, false, &sum, 1);
    sum_counts got = b->counted(b);
    check(sum == 2052 && !got.roundings && !got.swamped, "%s: counted before it was asked", name);
    b->count(b, true);
    b->gemm(b, false, false, 1, 1, 4, terms, 4, ones, 1, false, &sum, 1);
    got = b->counted(b);
    check(sum == 2052, "%s: %g", name, (double)sum);
    check(got.roundings == want.roundings && got.inexact == want.inexact && got.swamped == want.swamped &&
              !got.overflow && !got.underflow,
          "%s: %d roundings, %d inexact, %d swamped", name, (int)got.roundings, (int)got.inexact, (int)got.swamped);
    b->gemm(b, false, false, 1, 1, 2, large, 2, ones, 1, false, &sum, 1);
    b->count(b, false);
    b->gemm(b, false, false, 1, 1, 2, large, 2, ones, 1, false, &sum, 1);
    got = b->counted(b);
    check(isinf(sum) && got.overflow == 1, "%s: %d sums overflowed", name, (int)got.overflow);
    backend_free(b);
}

static void test_names(void)
{
    static const char *const bad[] = {"", "cuda", "emulated:", "emulated:seq(fp16/sr)", "emulated:nothing"};
    for (int i = 0; i < 5; i++) {
        trouble why = {""};
        check(!backend_named(bad[i], &why) && strlen(why.text) > 10, "backend '%s' was taken", bad[i]);
    }
    const backend *b = backend_named("auto", NULL);
    check(b && strcmp(b->name, HAVE_ONEDNN ? "onednn" : "blas") == 0, "auto");
    backend_free(b);
}

int main(void)
{
    static const char *const names[] = {"blas", "onednn", "emulated:fp32"};
    for (int i = 0; i < 3; i++) {
        test_threads(names[i], picture_network, i == 2 ? 3 : 37);
        test_threads(names[i], text_network, i == 2 ? 3 : 37);
    }
    test_tensors();
    test_statistics();
    test_dropout();
    test_scaling(false);
    test_scaling(true);
    test_first_values();
    test_sums("emulated:seq(fp16)", (sum_counts){.roundings = 4, .inexact = 3, .swamped = 2});
    test_sums("emulated:chunk(2,fp16)", (sum_counts){.roundings = 6, .inexact = 1, .swamped = 1});
    test_names();
    return failures();
}
