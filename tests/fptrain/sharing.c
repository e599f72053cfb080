/* SPDX-License-Identifier: BSD-2-Clause */
/* sharing.c - memory that values and gradients share: the peak of a training, as foretold and as the system counts it;
 * and rectifiers, which keep a bit for each element of an input that is gone. */
#include <sys/wait.h>
#include <unistd.h>

#include "backends/backends.h"
#include "engine/memory.h"
#include "estimate/memory.h"
#include "expect.h"
#include "ops/ops.h"
#include "run/trainer.h"

/* ---------------------------------------------------------------------------------------------- rectifiers */

/* An odd row, so that parts of the batch begin anywhere in a word of bits. */
enum { ROW = 40001, SAMPLES = 5, ALL = ROW * SAMPLES, INPUT = 1, OUTPUT = 2 };

static float input_of(size_t i)
{
    static const float special[] = {0,         -0.0f,      NAN, INFINITY, -INFINITY, 6, 0x1.7ffffep+2f, 0x1.800002p+2f,
                                    0x1p-149f, -0x1p-149f, 3,   -3,       7};
    return special[i * i % 13];
}

typedef struct spy {
    rounds calls;
    size_t at[ROLES][3]; /* how much of a tensor was seen */
    bool six;
    size_t wrong;
} spy;

static void spy_round(rounds *r, role which, int index, size_t n, float *x)
{
    spy *s = (spy *)r;
    if (index < INPUT || index > OUTPUT)
        return;
    size_t *at = &s->at[which][index];
    for (size_t i = 0; i < n; i++, ++*at) {
        const float in = input_of(*at), dy = (float)(*at % 1000 + 1);
        if (which == ROLE_V) {
            const float y = in <= 0 ? 0 : s->six && in >= 6 ? 6 : in;
            if (index == OUTPUT)
                s->wrong += !(x[i] == y || (x[i] != x[i] && y != y));
            x[i] = index == INPUT ? in : 0.001f;
        } else if (index == OUTPUT) {
            x[i] = dy;
        } else {
            s->wrong += x[i] != (in > 0 && (!s->six || in < 6) ? dy : 0);
        }
    }
}

static bool spy_parts(rounds *r, role which, int index)
{
    (void)r, (void)which, (void)index;
    return true;
}

static void check_rectifier(bool six, int threads)
{
    trouble why = {""};
    const backend *b = backend_named("blas", &why);
    graph *g = graph_new(1);
    const int x = graph_average_pool(g, graph_input(g, 1, 1, ROW), &(pool_spec){.kernel = 1});
    graph_cross_entropy(g, six ? graph_relu6(g, x) : graph_relu(g, x));
    graph_finish(g, SAMPLES, b, threads);
    spy s = {.calls = {.round = spy_round, .parts = spy_parts}, .six = six};
    float *fed = calloc(ALL, sizeof *fed);
    const int labels[SAMPLES] = {0};
    graph_forward(g, NULL, &s.calls, SAMPLES, fed, labels, true, 0);
    graph_backward(g, NULL, &s.calls, NULL, 1);
    EXPECT(s.wrong == 0, "%s, %d threads: %zu elements are wrong", six ? "relu6" : "relu", threads, s.wrong);
    for (int which = 0; which < 2; which++)
        for (int i = INPUT; i <= OUTPUT; i++)
            EXPECT(s.at[which ? ROLE_DV : ROLE_V][i] == ALL, "%zu elements", s.at[which ? ROLE_DV : ROLE_V][i]);
    free(fed);
    graph_free(g);
    backend_free(b);
}

/* ---------------------------------------------------------------------------------------------- the peak */

/* VmHWM of Linux, in bytes; 0 elsewhere. */
static double peak_bytes(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[128];
    double kilobytes = 0;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %lf", &kilobytes) == 1)
            break;
    if (file)
        (void)fclose(file);
    return 1024 * kilobytes;
}

static void set(settings *s, const char *section, const char *key, const char *text)
{
    trouble why = {""};
    EXPECT(settings_set(s, section, key, text, &why), "%s", why.text);
}

/* Trains for two steps in a process of its own. */
static void check_peak(const char *model, const char *batch)
{
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child > 0) {
        int status = 0;
        EXPECT(waitpid(child, &status, 0) == child && status == 0, "%s: status %d", model, status);
        return;
    }
    settings s;
    trouble why = {""};
    step_result result;
    settings_default(&s);
    set(&s, "model", "name", model);
    set(&s, "data", "source", "shapes");
    set(&s, "data", "train_count", "256");
    set(&s, "data", "test_count", "1");
    set(&s, "train", "batch", batch);
    set(&s, "train", "threads", "1");
    failures = 0;
    trainer *t = trainer_new(&s, &why);
    EXPECT(t != NULL, "%s", why.text);
    for (int i = 0; t && i < 2; i++)
        EXPECT(trainer_step(t, 0, false, &result), "no step");
    const double told = t ? memory_of_training(&s, t->g, 1, &why) + 257 * 3072 : 0, peak = peak_bytes();
    EXPECT(peak == 0 || (told > 0.85 * peak && told < 1.2 * peak), "%s, %s: %.1f MB foretold, %.1f were", model, batch,
           told / 1e6, peak / 1e6);
    double apart = 0; /* values and gradients, each in a place of its own */
    for (int i = 0; t && i < graph_values(t->g); i++)
        apart += 2.0 * sizeof(float) * (double)s.train.batch * (double)graph_value(t->g, i)->rows_per_sample *
                 (double)graph_value(t->g, i)->row;
    const double passes = t ? (double)memory_of_passes(t->g, s.train.batch) : 0;
    EXPECT(3 * passes < 2 * apart, "%s, %s: the passes take %.1f MB of %.1f", model, batch, passes / 1e6, apart / 1e6);
    trainer_free(t);
    settings_free(&s);
    (void)fflush(stdout);
    _exit(failures != 0);
}

int main(void)
{
    if (!SANITIZED) {
        check_peak("resnet20", "64");
        check_peak("resnet18", "8");
        check_peak("vgg", "32");
    }
    for (int six = 0; six < 2; six++)
        for (int threads = 1; threads <= 2; threads++)
            check_rectifier(six, threads);
    return failures != 0;
}
