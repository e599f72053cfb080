/* SPDX-License-Identifier: BSD-2-Clause */
/* steps.c - a training step of every model in FP8 under layer-wise scaling: each tensor that has a format is rounded
 * once, all of it, and nothing else is; multipliers are powers of two; the weights move.
 * And the first losses with small last layers. */
#include "models/model.h"
#include "run/trainer.h"

#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { BATCH = 3 };

static void configure(settings *s, const char *model, const char *source)
{
    trouble why = {""};
    const char *const lines[][3] = {
        {"model", "name", model},       {"model", "width", "0.1"},   {"data", "source", source},
        {"data", "train_count", "6"},   {"data", "test_count", "3"}, {"data", "pad", "32"},
        {"train", "batch", "3"},        {"train", "lr", "0.25"},     {"formats", "v", "e5m2"},
        {"formats", "w", "e5m2"},       {"formats", "dv", "e5m2"},   {"formats", "dw", "e5m2"},
        {"scaler", "name", "adaptive"}, {"scaler", "interval", "1"}, {"optimizer", "name", "sgd"}};
    settings_default(s);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        EXPECT(settings_set(s, lines[i][0], lines[i][1], lines[i][2], &why), "%s", why.text);
    if (strncmp(source, "text:", 5) == 0)
        EXPECT(settings_set(s, "data", "steps", "16", &why), "%s", why.text);
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
    return failures != 0;
}
