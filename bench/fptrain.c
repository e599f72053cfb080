/* SPDX-License-Identifier: BSD-2-Clause */
/* fptrain.c - forward and backward passes of the trainer in FP32: images a second, per model, backend and threads.
 *
 *   make bench-fptrain       BENCH="lenet onednn 1" for one line: model, backend, threads
 *                            BENCH="rounding resnet20 1": whole training steps, every tensor in FP8 and counted, beside
 *                            FP32; model, threads
 *
 * On two cores of an AMD EPYC with AVX-512 (family 26; oneDNN 2.6.3, OpenBLAS 0.3.21, which takes the processor for a
 * Haswell), beside the same passes in PyTorch 2.15; images a second, one and two threads:
 *
 *              batch   onednn          blas            PyTorch
 *   lenet         64   29400   59400   14000   26600   10400   25200
 *   resnet20     128     577    1100     195     380     375     735
 *
 * Rounding, batch 128, on one thread; a run takes steps in FP32 and in FP8 by turns. Two cores of an AMD EPYC as above,
 * and of an Intel Xeon (family 6, model 207):
 *
 *                        FP32        FP8        more time
 *   resnet20     EPYC   498..522   441..462   10.8, 12.4, 12.4, 12.9, 15.0 %
 *                Xeon   150..237   125..199   16.1, 17.3, 17.4, 19.3, 19.4, 21.8, 22.6 %
 *   mobilenetv2  EPYC      96         80      19.5, 22.3 %
 *                Xeon      29         29      13.1 %
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backends.h"
#include "ops/ops.h"
#include "run/trainer.h"

static int lenet(graph *g)
{
    int x = graph_input(g, 1, 28, 28);
    const pool_spec half = {.kernel = 2};
    x = graph_relu(g, graph_conv(g, x, &(conv_spec){.channels = 6, .kernel = 5, .padding = 2, .bias = true}));
    x = graph_max_pool(g, x, &half);
    x = graph_relu(g, graph_conv(g, x, &(conv_spec){.channels = 16, .kernel = 5, .bias = true}));
    x = graph_max_pool(g, x, &half);
    x = graph_relu(g, graph_linear(g, x, 120, true));
    x = graph_relu(g, graph_linear(g, x, 84, true));
    return graph_linear(g, x, 10, true);
}

static int conv_norm(graph *g, int x, int channels, int stride)
{
    return graph_batch_norm(
        g, graph_conv(g, x, &(conv_spec){.channels = channels, .kernel = 3, .padding = 1, .stride = stride}));
}

static int resnet20(graph *g)
{
    int x = graph_relu(g, conv_norm(g, graph_input(g, 3, 32, 32), 16, 1));
    for (int block = 0; block < 9; block++) {
        const int channels = 16 << block / 3, stride = block == 3 || block == 6 ? 2 : 1;
        const int y = conv_norm(g, graph_relu(g, conv_norm(g, x, channels, stride)), channels, 1);
        x = graph_relu(g, graph_add(g, y, stride > 1 ? graph_shortcut(g, x, channels, stride) : x));
    }
    return graph_linear(g, graph_global_pool(g, x), 10, true);
}

static const struct model {
    const char *name;
    int (*build)(graph *g);
    int batch;
} models[] = {{"lenet", lenet, 64}, {"resnet20", resnet20, 128}};

typedef struct plain_store {
    store calls;
    float **w, **dw;
} plain_store;

static const float *fetch(store *s, int p)
{
    return ((plain_store *)s)->w[p];
}

static float *gradient(store *s, int p)
{
    return ((plain_store *)s)->dw[p];
}

static void nothing(store *s, int p)
{
    (void)s;
    (void)p;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of steps over two seconds. */
static void measure(const struct model *m, const char *backend_name, int threads)
{
    enum { MOST = 4096 };
    static double taken[MOST];
    trouble why;
    const backend *b = backend_named(backend_name, &why);
    if (!b) {
        printf("%-10s %-8s %s\n", m->name, backend_name, why.text);
        return;
    }
    graph *g = graph_new(1);
    graph_cross_entropy(g, m->build(g));
    graph_finish(g, m->batch, b, threads);
    const size_t params = (size_t)graph_params(g), fed = graph_value(g, 0)->row * (size_t)m->batch;
    plain_store s = {{fetch, nothing, gradient, nothing}, need(params, sizeof(float *)), need(params, sizeof(float *))};
    for (int p = 0; p < graph_params(g); p++) {
        s.w[p] = need(graph_param(g, p)->size, sizeof(float));
        s.dw[p] = need(graph_param(g, p)->size, sizeof(float));
        graph_initial(g, p, s.w[p]);
    }
    float *x = need(fed, sizeof *x);
    int *labels = need((size_t)m->batch, sizeof *labels), steps = 0;
    for (size_t i = 0; i < fed; i++)
        x[i] = (float)random_normal(2, FOR_DATA, 0, i);
    for (int i = 0; i < m->batch; i++)
        labels[i] = i % 10;
    for (double start = seconds_now(); steps < MOST && (steps < 8 || seconds_now() - start < 2); steps++) {
        const double before = seconds_now();
        graph_forward(g, &s.calls, NULL, m->batch, x, labels, true, 0);
        graph_backward(g, &s.calls, NULL, NULL, 1);
        taken[steps] = seconds_now() - before;
    }
    qsort(taken, (size_t)steps, sizeof *taken, by_value);
    printf("%-10s %-8s %d thread%s %9.0f images/s\n", m->name, backend_name, threads, threads > 1 ? "s" : " ",
           m->batch / taken[steps / 2]);
    for (int p = 0; p < graph_params(g); p++) {
        free(s.w[p]);
        free(s.dw[p]);
    }
    free(s.w);
    free(s.dw);
    free(x);
    free(labels);
    graph_free(g);
    backend_free(b);
}

/* ------------------------------------------------------------------------------------------------ rounding */

static trainer *make_trainer(settings *s, const char *model, bool rounded, int threads)
{
    static const char *const formats[][2] = {{"v", "e4m3fn:saturate"}, {"w", "e4m3fn:saturate"}, {"dv", "e5m2"},
                                             {"dw", "e5m2"}};
    const char *const common[][3] = {{"model", "name", model}, {"data", "source", "shapes"},
                                     {"data", "train_count", "512"}, {"data", "test_count", "1"},
                                     {"train", "batch", "128"}};
    trouble why;
    settings_default(s);
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (!settings_set(s, common[i][0], common[i][1], common[i][2], &why))
            die("%s", why.text);
    for (size_t i = 0; rounded && i < sizeof formats / sizeof *formats; i++)
        if (!settings_set(s, "formats", formats[i][0], formats[i][1], &why))
            die("%s", why.text);
    s->train.threads = threads;
    s->scaler.scale = 1024;
    if (!settings_set(s, "scaler", "name", "fixed", &why))
        die("%s", why.text);
    trainer *t = trainer_new(s, &why);
    if (!t)
        die("%s", why.text);
    return t;
}

static double step_seconds(trainer *t)
{
    step_result result;
    const double before = seconds_now();
    while (!trainer_step(t, 0, false, &result))
        trainer_end_epoch(t);
    return seconds_now() - before;
}

/* Whole training steps in FP32 and in FP8 by turns, so that both see the same machine; medians over eight seconds. */
static void measure_rounding(const char *model, int threads)
{
    enum { MOST = 1024 };
    static double taken[2][MOST], ratio[MOST]; /* of neighbours, so that a machine's changes of pace touch both */
    settings s[2];
    trainer *t[2];
    int steps = 0;
    for (int rounded = 0; rounded < 2; rounded++)
        t[rounded] = make_trainer(&s[rounded], model, rounded, threads);
    for (double start = seconds_now(); steps < MOST && (steps < 10 || seconds_now() - start < 8); steps++) {
        for (int rounded = 0; rounded < 2; rounded++)
            taken[rounded][steps] = step_seconds(t[rounded]);
        ratio[steps] = taken[1][steps] / taken[0][steps];
    }
    qsort(ratio, (size_t)steps, sizeof *ratio, by_value);
    for (int rounded = 0; rounded < 2; rounded++) {
        qsort(taken[rounded], (size_t)steps, sizeof *taken[rounded], by_value);
        trainer_free(t[rounded]);
        settings_free(&s[rounded]);
    }
    const double plain = taken[0][steps / 2], fp8 = taken[1][steps / 2];
    printf("%-12s %d thread%s  FP32 %7.0f  FP8 %7.0f images/s  time %+.1f %%\n", model, threads,
           threads > 1 ? "s" : " ", 128 / plain, 128 / fp8, 100 * (ratio[steps / 2] - 1));
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "rounding") == 0) {
        measure_rounding(argc > 2 ? argv[2] : "resnet20", argc > 3 ? atoi(argv[3]) : 1);
        return 0;
    }
    static const char *const backends[] = {"onednn", "blas"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        if (argc == 4 && strcmp(argv[1], models[i].name) == 0)
            measure(&models[i], argv[2], atoi(argv[3]));
        for (int k = 0; k < 4 && argc < 4; k++)
            measure(&models[i], backends[k / 2], 1 + k % 2);
    }
    return 0;
}
