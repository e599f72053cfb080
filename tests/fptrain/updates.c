/* SPDX-License-Identifier: BSD-2-Clause */
/* updates.c - weights after steps of every optimiser and kind of clipping, and losses with smoothed labels, against
 * numbers of 60 digits: tests/vectors/updates.txt, made by updates.py beside it. What clipping makes of elements
 * that are not finite. */
#include <fpemu.h>

#include "harness.h"
#include "optimizer/clipping.h"
#include "optimizer/optimizer.h"

enum { PARAMS = 4, ELEMENTS_MOST = 6 };

static bool near(double a, double b, double relative)
{
    return fabs(a - b) <= relative * fmax(fabs(a), fabs(b));
}

static graph *two_layers(void)
{
    graph *g = graph_new(1);
    graph_cross_entropy(g, graph_linear(g, graph_linear(g, graph_input(g, 1, 1, 3), 2, true), 2, true));
    return g;
}

/* ------------------------------------------------------------------------------------------- optimisers */

typedef struct known {
    char name[32], optimizer[32], momentum[16], beta2[16], epsilon[16], decay[16], clip[16], clipping[16];
    char no_decay[64], no_clip[64];
} known;

typedef struct bench {
    known k;
    optimizer_settings settings;
    graph *g;
    rounder *r;
    optimizer *o;
    int step;
    bool packed;
    double most_ulps;
} bench;

static void stop(bench *b)
{
    if (!b->o)
        return;
    optimizer_free(b->o);
    rounder_free(b->r);
    graph_free(b->g);
    b->o = NULL;
}

static void first_weights(const graph *g, int p, float *w)
{
    for (size_t i = 0; i < graph_param((graph *)(uintptr_t)g, p)->size; i++)
        w[i] = (float)sequence(10 + (uint64_t)p, i);
}

/* Packed parameters can be given by a checkpoint alone. In FP32 their bytes are those of floats. */
static void put_first_weights(bench *b)
{
    trouble why = {""};
    checkpoint *saved = checkpoint_new(), *changed = checkpoint_new();
    optimizer_save(b->o, saved);
    checkpoint_array a;
    for (size_t i = 0; checkpoint_at(saved, i, &a); i++) {
        float w[ELEMENTS_MOST];
        for (int p = 0; p < PARAMS; p++)
            if (!strncmp(a.name, "packed.weight.", 14) && !strcmp(a.name + 14, graph_param(b->g, p)->name)) {
                check(a.length == graph_param(b->g, p)->size * sizeof *w, "%s has %zu bytes", a.name, a.length);
                first_weights(b->g, p, w);
                a.bytes = w;
            }
        checkpoint_put_array(changed, &a);
        if (checkpoint_text(saved, a.name)) /* the format of packed bytes */
            checkpoint_put_text(changed, a.name, checkpoint_text(saved, a.name));
    }
    check(optimizer_load(b->o, changed, &why), "%s", why.text);
    checkpoint_free(saved);
    checkpoint_free(changed);
}

static void start(bench *b, const char *line)
{
    trouble why = {""};
    known *k = &b->k;
    stop(b);
    check(sscanf(line, "case %31s %31s %15s %15s %15s %15s %15s %15s %63s %63s", k->name, k->optimizer, k->momentum,
                 k->beta2, k->epsilon, k->decay, k->clip, k->clipping, k->no_decay, k->no_clip) == 10,
          "%s", line);
    b->settings = (optimizer_settings)LIST(.name = k->optimizer, .momentum = atof(k->momentum), .beta2 = atof(k->beta2),
                                           .epsilon = atof(k->epsilon), .decay = atof(k->decay), .clip = atof(k->clip),
                                           .clipping = k->clipping, .master = true,
                                           .no_decay = strcmp(k->no_decay, "-") ? k->no_decay : "",
                                           .no_clip = strcmp(k->no_clip, "-") ? k->no_clip : "");
    b->settings.packed = b->packed && strcmp(k->optimizer, "nesterov");
    b->settings.nearest = true;
    for (int i = 0; i < KEPT; i++)
        b->settings.kept[i] = "fp32";
    b->g = two_layers();
    b->r = rounder_new(b->g, 1);
    b->o = optimizer_new(&b->settings, b->g, b->r, &why);
    check(b->o && graph_params(b->g) == PARAMS, "%s", why.text);
    if (!b->o)
        exit(1);
    if (b->settings.packed)
        put_first_weights(b);
    for (int p = 0; p < PARAMS && !b->settings.packed; p++)
        first_weights(b->g, p, (float *)(uintptr_t)b->o->type->master(b->o, p));
    b->step = 0;
}

/* One step with the gradients of updates.py, each multiplied by a power of two of its own. */
static void take_step(bench *b, double lr)
{
    store *s = &b->o->store;
    b->step++;
    rounder_begin(b->r, (uint64_t)b->step);
    b->o->type->begin(b->o);
    for (int p = 0; p < PARAMS; p++) {
        float *dw = s->gradient(s, p);
        const double alpha = graph_param(b->g, p)->alpha = ldexp(1, 3 * p - b->step);
        for (size_t i = 0; i < graph_param(b->g, p)->size; i++)
            dw[i] = (float)(sequence(100 * (uint64_t)b->step + (uint64_t)p, i) * (b->step == 1 ? 0x1p-4 : 1) * alpha);
        s->gradient_done(s, p);
    }
    optimizer_step(b->o, lr);
}

/* In ulps of the weight, of its first value or of the first rate, of which a step of adam has about the size, whichever
 * is largest: moments that cancel leave errors of that size in small weights. */
enum { MOST_ULPS = 4 };

static void compare(bench *b, const char *line)
{
    double lr;
    unsigned long long clipped;
    int used = 0;
    check(sscanf(line, "step %lf %llu%n", &lr, &clipped, &used) == 2, "%s", line);
    take_step(b, lr);
    const clipper *c = b->o->clipper;
    check((c ? c->last.parts_clipped : 0) == clipped, "%s, step %d: not %llu clipped", b->k.name, b->step, clipped);
    const char *at = line + used;
    for (int p = 0; p < PARAMS; p++)
        for (size_t i = 0; i < graph_param(b->g, p)->size; i++) {
            char *end;
            const double want = strtod(at, &end), got = (double)b->o->type->master(b->o, p)[i];
            const double first = fabs(sequence(10 + (uint64_t)p, i)), size = fmax(fmax(first, fabs(want)), 0x1.4p-4);
            const double ulps = fabs(got - want) / ldexp(FLT_EPSILON, ilogb(size));
            check(end != at && ulps <= MOST_ULPS, "%s, step %d, %d[%zu]: %.9g, not %.9g", b->k.name, b->step, p, i, got,
                  want);
            b->most_ulps = fmax(b->most_ulps, ulps);
            at = end;
        }
}

/* ------------------------------------------------------------------------------------------- smoothed labels */

/* Without smoothing. */
static double loss_of(int classes, const float *x, int label)
{
    double sum = 0;
    for (int i = 0; i < classes; i++)
        sum += exp((double)x[i]);
    return log(sum) - (double)x[label];
}

static void (*const no_rounding)(role which, size_t n, float *x);

static void in_e4m3(role which, size_t n, float *x)
{
    fpemu_format f;
    const fpemu_rounding nearest = {.mode = FPEMU_MODE_RNE};
    check(fpemu_format_parse("e4m3fn", &f, NULL) == FPEMU_OK &&
              (which != ROLE_DV || fpemu_quantize_f32(&f, &nearest, n, x, x, NULL) == FPEMU_OK),
          "e4m3fn");
}

/* A network that is a loss alone, of rows of logits; the result is for harness_free. */
static harness *loss_alone(double smoothing, int rows, int classes, const float *x, double scale,
                           void (*rounded)(role, size_t, float *), forward_result *result)
{
    graph *g = graph_new(1);
    graph_cross_entropy(g, graph_slice(g, graph_input(g, classes, 1, 1), 0, classes));
    graph_smooth_labels(g, smoothing);
    const backend *b = backend_named("blas", NULL);
    graph_finish(g, rows, b, 2);
    harness *h = harness_new(g, 1, 1);
    int labels[64];
    for (int r = 0; r < rows; r++)
        labels[r] = (7 * r + 1) % classes;
    h->rounded = rounded;
    *result = harness_run(h, rows, x, labels, NULL, scale);
    const forward_result tested = graph_forward(g, &h->calls, &h->rounds, rows, x, labels, false, 4);
    double plain = 0;
    for (int r = 0; r < rows; r++)
        plain += loss_of(classes, x + r * classes, labels[r]) / rows;
    check(near(tested.loss, plain, 1e-6), "a loss of a test: %.9g, not %.9g", tested.loss, plain);
    backend_free(b);
    return h;
}

static void read_loss(FILE *file, char *line, int capacity)
{
    double smoothing, loss;
    int rows, classes;
    float x[64];
    forward_result result;
    check(sscanf(line, "loss %lf %d %d %lf", &smoothing, &rows, &classes, &loss) == 4 && rows * classes <= 64, "%s",
          line);
    for (int i = 0; i < rows * classes; i++)
        x[i] = (float)(8 * sequence(1000 + (uint64_t)rows, (uint64_t)i));
    harness *h = loss_alone(smoothing, rows, classes, x, 16, no_rounding, &result);
    check(near(result.loss, loss, 2e-7), "smoothing %g: a loss of %.9g, not %.9g", smoothing, result.loss, loss);
    const float *got = h->dv[graph_logits(h->g)];
    for (int r = 0; r < rows && fgets(line, capacity, file); r++) {
        const char *at = line;
        for (int i = 0; i < classes; i++) {
            char *end;
            const double want = strtod(at, &end);
            check(end != at && fabs((double)*got / 16 - want) < 2e-7 / rows, "smoothing %g, %d[%d]: %.9g, not %.9g",
                  smoothing, r, i, (double)*got / 16, want);
            at = end;
            got++;
        }
    }
    harness_free(h);
}

/* A class without a chance has the gradient -E / (classes rows), here -1/1600: in e4m3fn, whose smallest number is
 * 2^-9, it vanishes, and with a scale of 16 it does not. */
static void smoothing_in_a_format(void)
{
    float x[160];
    forward_result result;
    for (int i = 0; i < 160; i++)
        x[i] = i % 10 == (7 * (i / 10) + 1) % 10 ? 40 : 0;
    for (int scale = 1; scale <= 16; scale *= 16) {
        harness *h = loss_alone(0.1, 16, 10, x, scale, in_e4m3, &result);
        const float *dv = h->dv[graph_logits(h->g)];
        check(dv[0] == (scale == 1 ? 0 : -0x1.4p-7f), "%a with scale %d", (double)dv[0], scale);
        harness_free(h);
    }
}

/* ------------------------------------------------------------------------------------------- what is no number */

/* What one step by a gradient of `element` and 1 makes of weights 0, and whether an element that is not finite is
 * counted. */
static void clipped(const char *kind, double clip, float element, const float *want)
{
    trouble why = {""};
    const optimizer_settings settings = {.name = "sgd", .clip = clip, .clipping = kind, .master = true};
    graph *g = two_layers();
    rounder *r = rounder_new(g, 1);
    optimizer *o = optimizer_new(&settings, g, r, &why);
    check(o, "%s", why.text);
    float *w = (float *)(uintptr_t)o->type->master(o, 3), *dw = o->store.gradient(&o->store, 3);
    for (int p = 0; p < PARAMS; p++)
        graph_param(g, p)->alpha = 1;
    w[0] = w[1] = 0;
    dw[0] = element;
    dw[1] = 1;
    optimizer_step(o, 1);
    for (int i = 0; i < 2; i++)
        check(w[i] == want[i] || (isnan(w[i]) && isnan(want[i])), "%s, %g: %g, not %g", kind, (double)element,
              (double)w[i], (double)want[i]);
    check(o->clipper->all.not_finite == !isfinite(element) && o->clipper->all.steps == 1, "%s: not counted", kind);
    optimizer_free(o);
    rounder_free(r);
    graph_free(g);
}

/* Goes through the file. */
static void read_vectors(bool packed)
{
    char path[600], line[2000];
    bench b = {.packed = packed};
    const char *top = getenv("top_srcdir");
    snprintf(path, sizeof path, "%s/tests/vectors/updates.txt", top ? top : ".");
    FILE *file = fopen(path, "r");
    int cases = 0, losses = 0;
    while (file && fgets(line, sizeof line, file)) {
        if (!strncmp(line, "case ", 5)) {
            start(&b, line);
            cases++;
        } else if (!strncmp(line, "step ", 5)) {
            compare(&b, line);
        } else if (!strncmp(line, "loss ", 5) && !packed) {
            read_loss(file, line, sizeof line);
            losses++;
        }
    }
    check(file && cases == 14 && losses == (packed ? 0 : 4), "%s: %d cases, %d losses", path, cases, losses);
    if (file)
        fclose(file);
    printf("%s: at most %.2f ulps from the exact weights\n", packed ? "packed" : "arrays", b.most_ulps);
    stop(&b);
}

int main(void)
{
    read_vectors(false);
    read_vectors(true);
    smoothing_in_a_format();
    clipped("norm", 0.5, INFINITY, (const float[]){NAN, 0});
    clipped("norm", 0.5, NAN, (const float[]){NAN, -1});
    clipped("tensor", 0.5, -INFINITY, (const float[]){NAN, 0});
    clipped("tensor", 0.5, NAN, (const float[]){NAN, -1});
    clipped("adaptive", 0.5, INFINITY, (const float[]){NAN, 0});
    clipped("adaptive", 0.5, NAN, (const float[]){NAN, -1});
    clipped("value", 0.5, INFINITY, (const float[]){-0.5f, -0.5f});
    clipped("value", 0.5, NAN, (const float[]){NAN, -0.5f});
    clipped("value", 1e-46, 3, (const float[]){0, 0}); /* binary32 has 0 for it: torch.nn.utils.clip_grad_value_ too */
    return failures();
}
