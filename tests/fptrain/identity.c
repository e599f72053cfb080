/* SPDX-License-Identifier: BSD-2-Clause */
/* identity.c - a loss scale is a power of two: where nothing overflows, underflows or becomes subnormal, every scaler
 * leaves the weights that training without one leaves, bit for bit. That nothing did is read from the counters. */
#include "run/trainer.h"

#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { STEPS = 10 };

static void configure(settings *s, const char *model, const char *scaler, const char *const (*more)[3])
{
    trouble why = {""};
    const char *const common[][3] = {
        {"model", "name", model},        {"model", "width", "0.25"},     {"data", "train_count", "320"},
        {"data", "test_count", "32"},    {"train", "batch", "32"},       {"train", "lr", "0.02"},
        {"optimizer", "decay", "0.001"}, {"formats", "v", "fp(8,9,0)"},  {"formats", "w", "fp(8,9,0)"},
        {"formats", "dv", "fp(7,9,0)"},  {"formats", "dw", "fp(8,9,0)"}, {"scaler", "name", scaler}};
    settings_default(s);
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        EXPECT(settings_set(s, common[i][0], common[i][1], common[i][2], &why), "%s", why.text);
    for (; more && (*more)[0]; more++)
        EXPECT(settings_set(s, (*more)[0], (*more)[1], (*more)[2], &why), "%s", why.text);
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
    for (int i = 0; t && i < STEPS; i++) {
        step_result step;
        EXPECT(trainer_step(t, 0, false, &step) && !step.skipped, "%s", what);
        stayed_inside(t, what);
        *scaled = *scaled || step.scale != 1;
        for (int op = 0; op < graph_ops(t->g); op++)
            *scaled = *scaled || scaler_beta(t->scaler, op) != 1;
    }
    return t;
}

static void compare(const char *model, const char *scaler, const char *const (*more)[3])
{
    settings a, b;
    bool scaled;
    configure(&a, model, "none", NULL);
    configure(&b, model, scaler, more);
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

int main(void)
{
    static const char *const fixed[][3] = {{"scaler", "scale", "1024"}, {NULL, NULL, NULL}};
    static const char *const backoff[][3] = {
        {"scaler", "scale", "64"}, {"scaler", "interval", "3"}, {NULL, NULL, NULL}};
    /* a share of underflow so small that the factors are large */
    static const char *const adaptive[][3] = {
        {"scaler", "underflow_target", "1e-22"}, {"scaler", "interval", "2"}, {NULL, NULL, NULL}};
    static const char *const models[] = {"lenet", "resnet20"};
    for (int i = 0; i < 2; i++) {
        compare(models[i], "fixed", fixed);
        compare(models[i], "backoff", backoff);
        compare(models[i], "logmax", NULL);
        compare(models[i], "adaptive", adaptive);
    }
    return failures != 0;
}
