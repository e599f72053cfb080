/* SPDX-License-Identifier: BSD-2-Clause */
/* steps.c - a training step of every model in FP8 under layer-wise scaling: each tensor that has a format is rounded
 * once, all of it, and nothing else is; multipliers are powers of two; the weights move.
 * And the first losses with small last layers, and weights under scales that nothing hinders. */
#include "models/model.h"
#include "run/trainer.h"

#include <stdarg.h>

#include "expect.h"

enum { BATCH = 3, SCALED_STEPS = 10 };

static void read_settings(settings *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void read_settings(settings *s, const char *format, ...)
{
    char text[1024];
    trouble why = {""};
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    settings_default(s);
    EXPECT(settings_parse(s, text, (size_t)length, "steps", &why), "%s", why.text);
}

static void configure(settings *s, const char *model, const char *source)
{
    read_settings(s,
                  "[model]\nname = %s\nwidth = 0.1\n[data]\nsource = %s\n%strain_count = 6\ntest_count = 3\npad = 32\n"
                  "[train]\nbatch = 3\nlr = 0.25\n[formats]\nv = e5m2\nw = e5m2\ndv = e5m2\ndw = e5m2\n"
                  "[scaler]\nname = adaptive\ninterval = 1\n[optimizer]\nname = sgd\n",
                  model, source, strncmp(source, "text:", 5) ? "" : "steps = 16\n");
}

static int power_of_two(double x)
{
    int exponent;
    return frexp(x, &exponent) == 0.5;
}

static void values(const trainer *t, const char *model)
{
    for (int i = 0; i < graph_values(t->g); i++) {
        const value *v = graph_value(t->g, i);
        const uint64_t all = v->is_tensor ? (uint64_t)BATCH * (uint64_t)v->rows_per_sample * v->row : 0;
        EXPECT(t->r->seen[ROLE_V][i].count == all, "%s: value %d: %d elements", model, i,
               (int)t->r->seen[ROLE_V][i].count);
        EXPECT(t->r->seen[ROLE_DV][i].count == (i ? all : 0), "%s: gradient of value %d: %d elements", model, i,
               (int)t->r->seen[ROLE_DV][i].count);
        EXPECT(power_of_two(v->alpha), "%s: multiplier %g of value %d", model, v->alpha, i);
    }
}

static void params(const trainer *t, const char *model)
{
    for (int i = 0; i < graph_params(t->g); i++) {
        const param *p = graph_param(t->g, i);
        EXPECT(t->r->seen[ROLE_W][i].count == p->size && t->r->seen[ROLE_DW][i].count == p->size, "%s: %s", model,
               p->name);
        EXPECT(power_of_two(p->alpha), "%s: multiplier %g of %s", model, p->alpha, p->name);
    }
}

/* How many parameters differ from their start in some element. */
static int moved(const trainer *t)
{
    int count = 0;
    for (int i = 0; i < graph_params(t->g); i++) {
        const size_t size = graph_param(t->g, i)->size;
        float *start = malloc(size * sizeof *start);
        if (!start)
            return -1;
        graph_initial(t->g, i, start);
        count += memcmp(start, t->optimizer->type->master(t->optimizer, i), size * sizeof *start) != 0;
        free(start);
    }
    return count;
}

static void step(const char *model, const char *source)
{
    settings s;
    trouble why = {""};
    step_result result;
    configure(&s, model, source);
    trainer *t = trainer_new(&s, &why);
    EXPECT(t, "%s: %s", model, why.text);
    if (t) {
        EXPECT(trainer_step(t, 0, false, &result) && isfinite(result.loss) && !result.skipped, "%s", model);
        values(t, model);
        params(t, model);
        /* nearly all: some biases have no influence, such as those before normalisation */
        EXPECT(2 * moved(t) > graph_params(t->g), "%s: %d of %d parameters moved", model, moved(t), graph_params(t->g));
    }
    trainer_free(t);
    settings_free(&s);
}

/* The loss of the first step in FP32, with the first weights of the last layer times `last`; the number of classes. */
static double first_loss(const char *model, const char *source, const char *last, double *classes)
{
    settings s;
    trouble why = {""};
    step_result result = {.loss = NAN};
    configure(&s, model, source);
    for (int i = 0; i < ROLES; i++)
        EXPECT(settings_set(&s, "formats", role_name((role)i), "fp32", &why), "%s", why.text);
    settings_reset(&s, "scaler"); /* none */
    EXPECT(settings_set(&s, "model", "last", last, &why), "%s", why.text);
    trainer *t = trainer_new(&s, &why);
    EXPECT(t && trainer_step(t, 0, false, &result), "%s: %s", model, why.text);
    *classes = t ? t->data.classes : 0;
    trainer_free(t);
    settings_free(&s);
    return result.loss;
}

/* With small last layers all classes are as likely at first, whatever the network. */
static void first_losses(const char *model, const char *source)
{
    double classes;
    const double normal = first_loss(model, source, "1", &classes);
    const double small = first_loss(model, source, "0.01", &classes), zero = first_loss(model, source, "0", &classes);
    EXPECT(fabs(small - log(classes)) < 0.05, "%s: first loss %.6f, not ln(%g) = %.6f", model, small, classes,
           log(classes));
    EXPECT(fabs(zero - log(classes)) < 1e-6, "%s: first loss %.9f, not ln(%g)", model, zero, classes);
    EXPECT(fabs(normal - log(classes)) > fabs(small - log(classes)), "%s: first losses %.6f and %.6f", model, normal,
           small);
}

/* A layer that something with parameters follows is not the last one. */
static void last_layer_is_told(void)
{
    settings s;
    trouble why = {""};
    configure(&s, "own.net", "digits");
    settings_set(&s, "model", "width", "1", &why);
    settings_set(&s, "model", "last", "0.5", &why);
    char *text = need(64, 1);
    settings_take_network(&s, strcpy(text, "linear classes, layer_norm"), "own", 1);
    trainer *t = trainer_new(&s, &why);
    EXPECT(!t && strstr(why.text, "model.last has no effect"), "%s", why.text);
    settings_take_network(&s, NULL, "", 1);
    t = trainer_new(&s, &why);
    EXPECT(!t && strstr(why.text, "own.net"), "%s", why.text);
    settings_free(&s);
}

/* A checkpoint whose position has been put elsewhere is refused: numbers in it decide what is read from the data. */
static void position_moved(const position *elsewhere, const char *what, int accepted)
{
    settings s;
    trouble why = {""};
    configure(&s, "mlp", "digits");
    trainer *t = trainer_new(&s, &why);
    EXPECT(t, "%s", why.text);
    if (t) {
        checkpoint *c = checkpoint_new();
        size_t length = 0;
        trainer_save(t, c);
        /* Step, epoch and sample come first among its numbers. */
        uint64_t *numbers = (uint64_t *)(uintptr_t)checkpoint_get(c, "run.position", &length);
        EXPECT(numbers && length >= 3 * sizeof *numbers, "%zu bytes", length);
        memcpy(numbers, (uint64_t[]){elsewhere->step, elsewhere->epoch, elsewhere->next}, 3 * sizeof *numbers);
        EXPECT(trainer_load(t, c, &why) == accepted, "%s: %s", what, why.text);
        checkpoint_free(c);
    }
    trainer_free(t);
    settings_free(&s);
}

static void positions(void) /* epochs of 2 steps of 3 samples */
{
    position_moved(&(position){0}, "the start", 1);
    position_moved(&(position){.step = 3, .epoch = 1, .next = 3}, "the last step of the second epoch", 1);
    position_moved(&(position){.step = 2, .next = 6}, "past the samples", 0);
    position_moved(&(position){.step = 1, .next = 2}, "within a batch", 0);
    position_moved(&(position){.step = 1, .next = UINT64_MAX}, "far past the samples", 0);
    position_moved(&(position){.step = 5, .next = 3}, "another step", 0);
    position_moved(&(position){.step = 2000000, .epoch = 1000000}, "past the epochs", 0);
}

/* ---------------------------------------------------------------------------------------------- scales */

/* A loss scale is a power of two: where nothing overflows, underflows or becomes subnormal, every scaler leaves the
 * weights that training without one leaves, bit for bit. That nothing did is read from the counters. */
static void scaled_settings(settings *s, const char *model, const char *scaler)
{
    read_settings(s,
                  "[model]\nname = %s\nwidth = 0.25\n[data]\ntrain_count = 320\ntest_count = 32\n"
                  "[train]\nbatch = 32\nlr = 0.02\n[optimizer]\ndecay = 0.001\n"
                  "[formats]\nv = fp(8,9,0)\nw = fp(8,9,0)\ndv = fp(7,9,0)\ndw = fp(8,9,0)\n[scaler]\nname = %s\n",
                  model, scaler);
}

/* Nothing left the range of its format. */
static void stayed_inside(const trainer *t, const char *what)
{
    for (int which = 0; which < ROLES; which++)
        for (int i = 0; i < rounder_count(t->r, (role)which); i++) {
            const fpemu_stats *seen = &t->r->seen[which][i];
            EXPECT(!seen->overflow && !seen->underflow && !seen->subnormal && !seen->nan && !seen->infinite,
                   "%s: role %d, tensor %d, step %d: this case shows nothing", what, which, i, (int)t->at.step);
        }
}

static trainer *train(const settings *s, const char *what, bool *scaled)
{
    trouble why = {""};
    trainer *t = trainer_new(s, &why);
    EXPECT(t, "%s: %s", what, why.text);
    *scaled = false;
    for (int i = 0; t && i < SCALED_STEPS; i++) {
        step_result step;
        EXPECT(trainer_step(t, 0, false, &step) && !step.skipped, "%s", what);
        stayed_inside(t, what);
        *scaled = *scaled || step.scale != 1;
        for (int op = 0; op < graph_ops(t->g); op++)
            *scaled = *scaled || scaler_beta(t->scaler, op) != 1;
    }
    return t;
}

static void compare(const char *model, const char *scaler)
{
    settings a, b;
    bool scaled;
    scaled_settings(&a, model, "none");
    scaled_settings(&b, model, scaler);
    trainer *plain = train(&a, "none", &scaled);
    EXPECT(!scaled, "none");
    trainer *other = train(&b, scaler, &scaled);
    EXPECT(scaled, "%s, %s: the scale was 1 throughout", model, scaler);
    for (int p = 0; plain && other && p < graph_params(plain->g); p++)
        EXPECT(!memcmp(plain->optimizer->type->master(plain->optimizer, p),
                       other->optimizer->type->master(other->optimizer, p),
                       graph_param(plain->g, p)->size * sizeof(float)),
               "%s, %s: %s", model, scaler, graph_param(plain->g, p)->name);
    trainer_free(plain);
    trainer_free(other);
    settings_free(&a);
    settings_free(&b);
}

/* adaptive: a share of underflow so small that the factors are large */
static void scales(void)
{
    static const char *const scalers[] = {"fixed\nscale = 1024", "backoff\nscale = 64\ninterval = 3", "logmax",
                                          "adaptive\nunderflow_target = 1e-22\ninterval = 2"};
    for (int i = 0; i < 8; i++)
        compare(i < 4 ? "lenet" : "resnet20", scalers[i % 4]);
}

int main(void)
{
    char text[600];
    snprintf(text, sizeof text, "text:%s/COPYING", getenv("top_srcdir") ? getenv("top_srcdir") : ".");
    for (int i = 0; model_name(i); i++) {
        const char *source = strncmp(model_name(i), "char", 4) ? "digits" : text;
        step(model_name(i), source);
        first_losses(model_name(i), source);
    }
    last_layer_is_told();
    positions();
    scales();
    return failures != 0;
}
