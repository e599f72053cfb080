/* SPDX-License-Identifier: BSD-2-Clause */
/* trainer.c - see trainer.h; the state of a run is in trainer_state.c. */
#include "run/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "backends/backends.h"
#include "ops/ops.h"
#include "policies/policy.h"
#include "run/data_settings.h"
#include "run/network.h"
#include "run/schedule.h"

/* ------------------------------------------------------------------------------------------------ making */

static bool open_data(trainer *t, trouble *why)
{
    const settings *s = t->settings;
    dataset_options o;
    if (!data_settings_read(s, &o, why) || !dataset_open(&t->data, s->data.source, &o, why))
        return false;
    if ((t->data.text || dataset_is_flat(&t->data)) && (s->data.flip || s->data.crop))
        return fail(why, "%s: %s no images, they cannot be cropped or mirrored", s->data.source,
                    t->data.text ? "characters are" : "features are");
    loader_open(&t->training, &t->data, true, s->train.batch, s->train.seed);
    loader_open(&t->testing, &t->data, false, s->train.batch, s->train.seed);
    t->training.flip = s->data.flip;
    t->training.crop = s->data.crop;
    t->training.steps = t->testing.steps = s->data.steps;
    if (!loader_batches(&t->training) || !loader_batches(&t->testing))
        return fail(why, "%s: not one sample to %s with", s->data.source,
                    loader_batches(&t->training) ? "test" : "train");
    return true;
}

static int threads_of(const settings *s)
{
#ifdef _OPENMP
    if (s->train.threads > 0)
        omp_set_num_threads(s->train.threads);
    return s->train.threads > 0 ? s->train.threads : omp_get_max_threads();
#else
    (void)s;
    return 1;
#endif
}

static bool build(trainer *t, trainer_accepts *accepts, void *who, trouble *why)
{
    const settings *s = t->settings;
    const bool text = t->data.text != NULL;
    const model_shape shape = {
        .c = t->data.c, .h = t->data.h, .w = t->data.w, .classes = t->data.classes, .steps = text ? s->data.steps : 0};
    t->backend = backend_named(s->train.backend, why);
    t->g = t->backend ? network_build(s, &shape, why) : NULL;
    if (!t->g || (accepts && !accepts(who, t, why)))
        return false;
    graph_smooth_labels(t->g, s->train.label_smoothing);
    graph_finish(t->g, s->train.batch, t->backend, threads_of(s));
    const size_t rows = (size_t)s->train.batch * (text ? (size_t)s->data.steps : 1);
    t->inputs = need(rows * (text ? 1 : graph_value(t->g, 0)->row), sizeof *t->inputs);
    t->labels = need(rows, sizeof *t->labels);
    return true;
}

static const char *word_or_null(const char *text)
{
    return *text ? text : NULL;
}

optimizer_settings optimizer_settings_of(const settings *s)
{
    return (optimizer_settings){.name = s->optimizer.name,
                                .momentum = s->optimizer.momentum,
                                .beta2 = s->optimizer.beta2,
                                .epsilon = s->optimizer.epsilon,
                                .decay = s->optimizer.decay,
                                .clip = s->optimizer.clip,
                                .clipping = s->optimizer.clipping,
                                .no_clip = s->optimizer.no_clip,
                                .no_decay = s->optimizer.no_decay,
                                .master = s->optimizer.master,
                                .packed = !strcmp(s->optimizer.store, "packed"),
                                .nearest = !strcmp(s->optimizer.storing, "nearest"),
                                .kept = {word_or_null(s->optimizer.weights), word_or_null(s->optimizer.gradients),
                                         word_or_null(s->optimizer.momenta), word_or_null(s->optimizer.squares)}};
}

/* A setting that the optimiser has no use for is a mistake, unless it is the default. */
static bool optimizer_uses(const settings *s, trouble *why)
{
    static const struct {
        const char *key;
        bool squares, momentum, packed; /* what it is for */
    } needs[] = {{"momentum", .momentum = true}, {"beta2", .squares = true},  {"epsilon", .squares = true},
                 {"storing", .packed = true},    {"weights", .packed = true}, {"gradients", .packed = true},
                 {"momenta", .packed = true}, /* the groups of both count for what is worked on at a time */
                 {"squares", .packed = true}};
    const char *name = s->optimizer.name;
    const bool squares = strncmp(name, "adam", 4) == 0, momentum = strcmp(name, "sgd") != 0;
    const bool packed = strcmp(s->optimizer.store, "packed") == 0;
    settings_key key;
    for (int i = 0; settings_table(i, &key); i++) {
        char value[SETTINGS_TEXT];
        if (strcmp(key.section, "optimizer") != 0 || strcmp(settings_value(s, i, value), key.normal) == 0)
            continue;
        for (size_t k = 0; k < sizeof needs / sizeof *needs; k++) {
            if (strcmp(needs[k].key, key.key) != 0)
                continue;
            if (needs[k].packed && !packed)
                return fail(why, "optimizer.%s is for optimizer.store = packed", key.key);
            if ((needs[k].squares && !squares) || (needs[k].momentum && !momentum))
                return fail(why, "the optimiser %s has no use for optimizer.%s", name, key.key);
        }
    }
    return true;
}

/* Refuses scaler settings that the chosen method ignores: who forgets scaler.name would train without any method. */
static bool scaler_uses(const settings *s, trouble *why)
{
    static const struct {
        const char *key, *method, *other; /* the methods that read the key; other: NULL for one alone */
    } needs[] = {{"scale", "fixed", "backoff"},          {"interval", "backoff", "adaptive"},
                 {"underflow_target", "adaptive", NULL}, {"fan", "adaptive", NULL},
                 {"beta_cap", "adaptive", NULL},         {"alpha_cap", "adaptive", NULL}};
    const char *chosen = s->scaler.name;
    settings_key key;
    for (int i = 0; settings_table(i, &key); i++) {
        char value[SETTINGS_TEXT];
        if (strcmp(key.section, "scaler") != 0 || strcmp(settings_value(s, i, value), key.normal) == 0)
            continue;
        for (size_t k = 0; k < sizeof needs / sizeof *needs; k++)
            if (strcmp(needs[k].key, key.key) == 0 && strcmp(needs[k].method, chosen) != 0 &&
                (!needs[k].other || strcmp(needs[k].other, chosen) != 0))
                return fail(why, "scaler.%s is for scaler.name = %s%s%s, not %s", key.key, needs[k].method,
                            needs[k].other ? " or " : "", needs[k].other ? needs[k].other : "", chosen);
    }
    return true;
}

/* Refuses settings of the log that go with its counters where these are off. */
static bool output_uses(const settings *s, trouble *why)
{
    if (s->output.counters || !(s->output.histograms || s->output.dispersion))
        return true;
    return fail(why, "output.%s goes with output.counters = yes", s->output.histograms ? "histograms" : "dispersion");
}

static schedule schedule_of(const trainer *t)
{
    const settings *s = t->settings;
    return (schedule){.name = s->train.schedule,
                      .lr = s->train.lr,
                      .epochs = (uint64_t)s->train.epochs,
                      .steps = trainer_steps(t),
                      .by_step = !strcmp(s->train.schedule_by, "step"),
                      .warmup = (uint64_t)s->train.warmup,
                      .warmup_steps = s->train.warmup_steps,
                      .start = s->train.warmup_start};
}

static bool equip(trainer *t, trouble *why)
{
    const settings *s = t->settings;
    const scaler_settings scaling = {.name = s->scaler.name,
                                     .scale = s->scaler.scale,
                                     .interval = s->scaler.interval,
                                     .underflow_target = s->scaler.underflow_target,
                                     .fan = s->scaler.fan,
                                     .beta_cap = s->scaler.beta_cap,
                                     .alpha_cap = s->scaler.alpha_cap};
    const optimizer_settings o = optimizer_settings_of(s);
    if (s->train.micro_batches > 1 && !o.packed)
        return fail(why, "micro-batches are gathered by packed parameters alone: optimizer.store = packed");
    if (!optimizer_uses(s, why) || !scaler_uses(s, why) || !output_uses(s, why))
        return false;
    t->r = rounder_new(t->g, s->train.seed);
    t->r->calls.each = !strcmp(s->train.fanout, "each");
    t->policy = policy_named(s->policy.name, s->format_count, s->formats, why);
    if (!t->policy)
        return false;
    if (t->policy->wants_gradients && o.packed)
        return fail(why, "%s decides by gradients, which packed parameters do not keep", t->policy->type->name);
    t->policy->type->assign(t->policy, t->r);
    t->scaler = scaler_new(&scaling, t->g, t->r, why);
    t->optimizer = t->scaler ? optimizer_new(&o, t->g, t->r, why) : NULL;
    t->policy->optimizer = t->optimizer;
    const schedule rates = schedule_of(t);
    if (t->policy->type->rate && (rates.by_step || rates.warmup_steps > 0))
        return fail(why, "%s sets the learning rate itself: no schedule or warm-up by step", t->policy->type->name);
    return t->optimizer && schedule_check(&rates, why);
}

trainer *trainer_new_if(const settings *s, trainer_accepts *accepts, void *who, trouble *why)
{
    trainer *t = need(1, sizeof *t);
    t->settings = s;
    t->at.best = NAN;
    if (open_data(t, why) && build(t, accepts, who, why) && equip(t, why))
        return t;
    trainer_free(t);
    return NULL;
}

trainer *trainer_new(const settings *s, trouble *why)
{
    return trainer_new_if(s, NULL, NULL, why);
}

void trainer_free(trainer *t)
{
    if (!t)
        return;
    optimizer_free(t->optimizer);
    scaler_free(t->scaler);
    if (t->policy)
        t->policy->type->free(t->policy);
    rounder_free(t->r);
    if (t->g)
        graph_free(t->g);
    if (t->backend)
        backend_free(t->backend);
    loader_close(&t->training);
    loader_close(&t->testing);
    dataset_free(&t->data);
    free(t->inputs);
    free(t->labels);
    free(t);
}

/* ------------------------------------------------------------------------------------------------ a step */

/* Adds what the last gradient computation's counters say. Scales follow the numbers: where a format has some, an
 * element past its end is no overflow that a loss scale could mend. */
static void note_overflow(const trainer *t, gradient_report *report)
{
    for (int which = ROLE_DV; which <= ROLE_DW; which++)
        for (int i = 0; i < rounder_count(t->r, (role)which); i++)
            report->overflowed = report->overflowed || (t->r->rule[which][i].format.scaling == FPEMU_SCALING_NONE &&
                                                        t->r->seen[which][i].overflow > 0);
}

static void finish_report(const trainer *t, gradient_report *report)
{
    report->max_finite = INFINITY;
    for (int i = 0; i < graph_params(t->g); i++)
        report->max_finite = fmin(report->max_finite, rule_max(&t->r->rule[ROLE_DW][i]));
    optimizer_report(t->optimizer, &report->largest_dw, &report->dw_not_finite);
}

static void add_counts(update_counts *to, update_counts from)
{
    to->elements += from.elements;
    to->updates += from.updates;
    to->vanished += from.vanished;
    to->small_g += from.small_g;
    to->small_update += from.small_update;
    for (int i = 0; i < UPDATE_BINS; i++)
        to->ratio[i] += from.ratio[i];
    to->moved += from.moved;
}

static void begin_epoch(trainer *t)
{
    if (t->begun)
        return;
    loader_epoch(&t->training, (int)t->at.epoch);
    t->training.next = (size_t)t->at.next;
    t->begun = true;
}

static uint64_t outside_so_far(const trainer *t)
{
    return t->backend->outside ? t->backend->outside(t->backend) : 0;
}

static void count_sums(const trainer *t, bool on)
{
    if (t->backend->count)
        t->backend->count(t->backend, on);
}

static sum_counts counted_sums(const trainer *t)
{
    return t->backend->counted ? t->backend->counted(t->backend) : (sum_counts){0};
}

static void add_sums(sum_counts *to, sum_counts now, sum_counts before)
{
    to->roundings += now.roundings - before.roundings;
    to->inexact += now.inexact - before.inexact;
    to->swamped += now.swamped - before.swamped;
    to->overflow += now.overflow - before.overflow;
    to->underflow += now.underflow - before.underflow;
}

/* The gradients of micro-batch k of a step; false: the epoch is over. */
static bool compute_gradients(trainer *t, int k, unsigned want, double scale, forward_result *sum, int *samples)
{
    const uint64_t number = t->at.step * (uint64_t)t->settings->train.micro_batches + (uint64_t)k;
    const int n = loader_next(&t->training, t->inputs, t->labels);
    if (!n)
        return false;
    t->r->want = want;
    rounder_begin(t->r, number);
    if (k == 0)
        t->optimizer->type->begin(t->optimizer);
    store *store = &t->optimizer->store;
    const uint64_t outside = outside_so_far(t);
    const forward_result f = graph_forward(t->g, store, &t->r->calls, n, t->inputs, t->labels, true, number);
    graph_backward(t->g, store, &t->r->calls, scaler_layers(t->scaler), scale);
    t->at.outside += outside_so_far(t) - outside;
    t->policy->type->after_gradients(t->policy, t->r, t->at.step);
    t->at.next = t->training.next;
    sum->loss += f.loss * (double)f.rows;
    sum->correct += f.correct;
    sum->rows += f.rows;
    *samples += n;
    return true;
}

static double rate_of(const trainer *t)
{
    const schedule rates = schedule_of(t);
    if (t->policy->type->rate)
        return t->policy->type->rate(t->policy, t->settings->train.lr);
    return schedule_rate(&rates, t->at.epoch, t->at.step);
}

bool trainer_rates_agree(const trainer *t, const settings *then)
{
    const uint64_t steps = trainer_steps(t);
    const schedule now = schedule_of(t);
    schedule before = now; /* all but the epochs is alike, or it would be another run */
    bool same = true;
    before.epochs = (uint64_t)then->train.epochs;
    for (uint64_t step = 0; !t->policy->type->rate && same && step < t->at.step; step++)
        same = schedule_rate(&now, step / steps, step) == schedule_rate(&before, step / steps, step);
    return same;
}

bool trainer_over(const trainer *t)
{
    return t->at.epoch >= (uint64_t)t->settings->train.epochs ||
           (t->at.next == 0 && t->policy->type->over && t->policy->type->over(t->policy));
}

/* A loss that is not finite says that the forward pass broke, which no scale of the loss can cause or mend. If the step
 * was taken, the weights have followed its gradients: nothing leads back. If the scaler skipped it, the weights are as
 * before, and another batch, or a promotion by the policy, may do better; but not for ever. */
static bool is_lost(trainer *t, double loss, bool take)
{
    enum { PATIENCE = 100 };
    if (isfinite(loss)) {
        t->at.adrift = 0;
        return false;
    }
    if (!t->at.not_finite)
        t->at.not_finite = t->at.step;
    t->at.adrift++;
    return take || t->at.adrift >= PATIENCE;
}

bool trainer_step(trainer *t, unsigned want, bool counted, step_result *result)
{
    begin_epoch(t);
    const settings *s = t->settings;
    const double scale = scaler_scale(t->scaler);
    gradient_report report = {0};
    forward_result f = {0};
    int samples = 0;
    const sum_counts sums = counted_sums(t);
    const double lr = rate_of(t); /* with these gradients a policy may end an epoch of its own, and with it the rate */
    count_sums(t, counted);
    for (int k = 0; k < s->train.micro_batches && compute_gradients(t, k, want, scale, &f, &samples); k++)
        note_overflow(t, &report);
    count_sums(t, false);
    if (!samples)
        return false;

    add_sums(&t->at.sums, counted_sums(t), sums);
    finish_report(t, &report);
    const bool take = scaler_update(t->scaler, &report);
    if (take) {
        if (counted)
            t->optimizer->count_next = true;
        optimizer_step(t->optimizer, lr);
        if (t->policy->type->after_update)
            t->policy->type->after_update(t->policy, t->r, t->at.step);
        if (counted)
            add_counts(&t->at.updates, t->optimizer->counts);
    }
    t->at.step++;
    t->at.skipped += !take;
    t->at.loss += f.loss;
    t->at.correct += f.correct;
    t->at.rows += f.rows;
    *result = (step_result){.loss = f.loss / (double)f.rows,
                            .accuracy = (double)f.correct / (double)f.rows,
                            .lr = lr,
                            .scale = scale,
                            .samples = samples,
                            .skipped = !take};
    result->lost = is_lost(t, result->loss, take);
    add_sums(&result->sums, counted_sums(t), sums);
    return true;
}

size_t trainer_steps(const trainer *t)
{
    const size_t micro = (size_t)t->settings->train.micro_batches;
    return (loader_batches(&t->training) + micro - 1) / micro;
}

void trainer_end_epoch(trainer *t)
{
    t->policy->type->after_epoch(t->policy, t->r, (int)t->at.epoch);
    t->at.epoch++;
    t->at.next = 0;
    t->at.loss = 0;
    t->at.correct = t->at.rows = 0;
    t->begun = false;
}

/* ------------------------------------------------------------------------------------------------ evaluation */

static bool rounds_anything(const trainer *t)
{
    for (int which = ROLE_V; which <= ROLE_W; which++)
        for (int i = 0; i < rounder_count(t->r, (role)which); i++)
            if (t->r->rule[which][i].format.kind)
                return true;
    return false;
}

/* One pass over the test samples. Its random words are those of steps that no training reaches. */
static void pass_over(trainer *t, bool rounded, double *loss, double *accuracy)
{
    store *store = &t->optimizer->store;
    const uint64_t first = UINT64_C(1) << 63 | t->at.epoch << 32;
    double sum = 0;
    size_t correct = 0, rows = 0;
    int samples;
    loader_epoch(&t->testing, 0);
    for (uint64_t i = 0; (samples = loader_next(&t->testing, t->inputs, t->labels)) > 0; i++) {
        if (rounded)
            rounder_begin(t->r, first + i);
        const forward_result f =
            graph_forward(t->g, store, rounded ? &t->r->calls : NULL, samples, t->inputs, t->labels, false, t->at.step);
        sum += f.loss * (double)f.rows;
        correct += f.correct;
        rows += f.rows;
    }
    *loss = rows ? sum / (double)rows : NAN;
    *accuracy = rows ? (double)correct / (double)rows : NAN;
}

void trainer_test(trainer *t, bool rounded, double *loss, double *accuracy)
{
    t->r->want = 0;
    if (rounded) {
        rounder_begin(t->r, UINT64_C(1) << 63 | t->at.epoch << 32);
        if (t->settings->optimizer.master) /* else they are rounded, and not to be changed here */
            t->optimizer->type->begin(t->optimizer);
    }
    t->optimizer->unrounded = !rounded;
    pass_over(t, rounded, loss, accuracy);
    t->optimizer->unrounded = false;
}

evaluation trainer_evaluate(trainer *t)
{
    evaluation e;
    double loss;
    const bool rounded = rounds_anything(t);
    if (rounded)
        trainer_test(t, true, &e.loss, &e.accuracy);
    trainer_test(t, false, &loss, &e.accuracy_fp32);
    if (!rounded) {
        e.loss = loss;
        e.accuracy = e.accuracy_fp32;
    }
    return e;
}

bool trainer_is_best(trainer *t, const evaluation *e)
{
    const char *by = t->settings->output.best;
    const bool loss = strcmp(by, "loss") == 0;
    const double now = loss ? e->loss : e->accuracy;
    const bool better = loss ? now < t->at.best : now > t->at.best;
    if (strcmp(by, "none") == 0 || isnan(now) || !(isnan(t->at.best) || better))
        return false;
    t->at.best = now;
    t->at.best_epoch = t->at.epoch - 1;
    return true;
}
