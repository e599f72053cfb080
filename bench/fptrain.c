/* SPDX-License-Identifier: BSD-2-Clause */
/* fptrain.c - training steps of the trainer, taken when asked for, so that a program beside it can measure other
 * software in turns (bench/python/fptrain_steps.py, `make bench-fptrain').
 *
 *     bench/fptrain MODEL SHAPE BATCH THREADS BACKEND fp32|fp8
 *
 * SHAPE is CxHxW of images, of 10 classes, or the number of characters of texts, of 128 kinds. Each line on standard
 * input is a number of steps; the answer is a line with the seconds of each and the largest memory so far, in bytes. A
 * step is that of a run: gradients, counters, optimiser (momentum). fp8 rounds every tensor and counts: v and w to
 * E4M3, dv and dw to E5M2, at a fixed loss scale. Inputs are random numbers, and the same in all steps. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backends.h"
#include "policies/policy.h"
#include "run/network.h"
#include "run/trainer.h"

#ifdef _OPENMP
#include <omp.h>
#endif

static void set(settings *s, const char *section, const char *key, const char *text)
{
    trouble why;
    if (!settings_set(s, section, key, text, &why))
        die("%s", why.text);
}

static void *sure(void *made, const trouble *why)
{
    if (!made)
        die("%s", why->text);
    return made;
}

/* What a trainer has, but for data and evaluation. */
typedef struct bench {
    settings s;
    const backend *backend;
    graph *g;
    rounder *r;
    policy *policy;
    optimizer *optimizer;
    double scale;
    uint64_t step;
    float *inputs;
    int *labels;
} bench;

static void open_network(bench *b, const char *shape_text, int threads)
{
    trouble why = {""};
    model_shape shape = {.classes = 10};
    if (strchr(shape_text, 'x') && !model_shape_read(&shape, "shape", shape_text, &why))
        die("%s", why.text);
    if (!shape.c)
        shape = (model_shape){.classes = 128, .steps = atoi(shape_text)};
    b->backend = sure((void *)(uintptr_t)backend_named(b->s.train.backend, &why), &why);
    b->g = sure(network_build(&b->s, &shape, &why), &why);
    graph_finish(b->g, b->s.train.batch, b->backend, threads);
    const size_t rows = (size_t)b->s.train.batch * (size_t)(shape.steps ? shape.steps : 1);
    const size_t fed = shape.steps ? rows : rows * graph_value(b->g, 0)->row;
    b->inputs = need(fed, sizeof *b->inputs);
    b->labels = need(rows, sizeof *b->labels);
    for (size_t i = 0; i < fed; i++)
        b->inputs[i] = shape.steps ? (float)(random_u64(2, FOR_DATA, 0, i) % (unsigned)shape.classes)
                                   : (float)random_normal(2, FOR_DATA, 0, i);
    for (size_t i = 0; i < rows; i++)
        b->labels[i] = (int)(random_u64(2, FOR_DATA, 1, i) % (unsigned)shape.classes);
}

static void equip(bench *b)
{
    trouble why = {""};
    const optimizer_settings o = optimizer_settings_of(&b->s);
    b->r = rounder_new(b->g, b->s.train.seed);
    b->policy = sure(policy_named(b->s.policy.name, b->s.format_count, b->s.formats, &why), &why);
    b->policy->type->assign(b->policy, b->r);
    b->optimizer = sure(optimizer_new(&o, b->g, b->r, &why), &why);
}

static double take_step(bench *b)
{
    const double before = clock_seconds();
    store *store = &b->optimizer->store;
    double largest;
    bool not_finite;
    b->r->want = 0;
    rounder_begin(b->r, b->step);
    b->optimizer->type->begin(b->optimizer);
    graph_forward(b->g, store, &b->r->calls, b->s.train.batch, b->inputs, b->labels, true, b->step++);
    graph_backward(b->g, store, &b->r->calls, NULL, b->scale);
    optimizer_report(b->optimizer, &largest, &not_finite);
    optimizer_step(b->optimizer, 1e-3);
    return clock_seconds() - before;
}

/* VmHWM of Linux; 0 elsewhere. */
static double peak_bytes(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[128];
    double kilobytes = 0;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %lf", &kilobytes) == 1)
            break;
    if (file)
        fclose(file);
    return 1024 * kilobytes;
}

int main(int argc, char **argv)
{
    static const char *const fp8[][2] = {
        {"v", "e4m3fn:saturate"}, {"w", "e4m3fn:saturate"}, {"dv", "e5m2"}, {"dw", "e5m2"}};
    if (argc != 7 || (strcmp(argv[6], "fp32") != 0 && strcmp(argv[6], "fp8") != 0))
        die("usage: fptrain MODEL SHAPE BATCH THREADS BACKEND fp32|fp8");
    const bool rounded = !strcmp(argv[6], "fp8");
    const int threads = atoi(argv[4]);
    bench b = {.scale = rounded ? 1024 : 1};
#ifdef _OPENMP
    omp_set_num_threads(threads);
#endif
    settings_default(&b.s);
    set(&b.s, "model", "name", argv[1]);
    set(&b.s, "train", "batch", argv[3]);
    set(&b.s, "train", "threads", argv[4]);
    set(&b.s, "train", "backend", argv[5]);
    for (size_t i = 0; rounded && i < sizeof fp8 / sizeof *fp8; i++)
        set(&b.s, "formats", fp8[i][0], fp8[i][1]);
    open_network(&b, argv[2], threads);
    equip(&b);
    int steps;
    while (scanf("%d", &steps) == 1) {
        for (int i = 0; i < steps; i++)
            printf("%.9g ", take_step(&b));
        printf("%.0f\n", peak_bytes());
        fflush(stdout);
    }
    optimizer_free(b.optimizer);
    b.policy->type->free(b.policy);
    rounder_free(b.r);
    graph_free(b.g);
    backend_free(b.backend);
    settings_free(&b.s);
    free(b.inputs);
    free(b.labels);
    return 0;
}
