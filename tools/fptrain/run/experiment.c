/* SPDX-License-Identifier: BSD-2-Clause */
/* experiment.c - see experiment.h */
#include "common/system.h"

#include "run/experiment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/shown.h"
#include "run/record.h"
#include "run/trainer.h"

typedef struct session {
    const settings *settings;
    trainer *t;
    record *record; /* NULL: no directory */
    bool quiet, terminal;
    double started;
    uint64_t first;   /* step at which this session began, for the time that is left */
    uint64_t images;  /* of this session */
    double training;  /* seconds of its steps alone */
    int64_t told;     /* policy epochs that are in the log */
} session;

static void stop(const trouble *why)
{
    trouble line = *why;
    shown_clean(line.text);
    fprintf(stderr, "fptrain: run: %s\n", line.text);
    exit(1);
}

static const char *checkpoint_path(const session *s, char path[SETTINGS_TEXT + 16])
{
    snprintf(path, SETTINGS_TEXT + 16, "%s/checkpoint", s->settings->output.directory);
    return path;
}

static void write_checkpoint(const session *s)
{
    trouble why;
    char path[SETTINGS_TEXT + 16];
    checkpoint *c = checkpoint_new();
    trainer_save(s->t, c);
    if (!checkpoint_write(c, checkpoint_path(s, path), &why))
        stop(&why);
    checkpoint_free(c);
}

static int64_t policy_epochs(const policy *p)
{
    return p->type->epochs ? p->type->epochs(p) : 0;
}

/* A run that ended before its first checkpoint begins again. */
static void resume(session *s)
{
    trouble why;
    char path[SETTINGS_TEXT + 16];
    if (!s->settings->output.directory[0])
        die("run: --resume needs the directory of the run: --out DIR");
    if (access(checkpoint_path(s, path), F_OK) != 0 && errno == ENOENT)
        return;
    checkpoint *c = checkpoint_read(path, &why);
    if (!c || !trainer_load(s->t, c, &why))
        die("run: %s", why.text);
    checkpoint_free(c);
    s->first = s->t->at.step;
    s->told = policy_epochs(s->t->policy);
}

/* ------------------------------------------------------------------------------------------------ telling */

static double rate(const session *s)
{
    const double seconds = seconds_now() - s->started;
    return seconds > 0 ? (double)s->images / seconds : 0;
}

static void show_progress(const session *s, const step_result *step)
{
    if (!s->terminal)
        return;
    const uint64_t all = trainer_steps(s->t) * (uint64_t)s->settings->train.epochs, done = s->t->at.step - s->first;
    const double seconds = seconds_now() - s->started;
    const double left = done ? seconds / (double)done * (double)(all - s->t->at.step) : 0;
    fprintf(stderr, "\repoch %" PRIu64 "/%d  step %" PRIu64 "/%" PRIu64 "  loss %.4f  accuracy %.2f %%  scale %g  "
            "%.0f images/s  %.0f s left \033[K", s->t->at.epoch + 1, s->settings->train.epochs, s->t->at.step, all,
            step->loss, 100 * step->accuracy, step->scale, rate(s), left);
}

static void show_epoch(const session *s, const evaluation *e)
{
    if (s->terminal)
        fputs("\r\033[K", stderr);
    if (s->quiet)
        return;
    const position *at = &s->t->at;
    const double rows = (double)at->rows;
    printf("epoch %" PRIu64 "/%d  loss %.4f  accuracy %.2f %%  test %.2f %% (FP32 %.2f %%)  skipped %" PRIu64
           "  %.0f images/s\n",
           at->epoch + 1, s->settings->train.epochs, at->loss / rows, 100 * (double)at->correct / rows,
           100 * e->accuracy, 100 * e->accuracy_fp32, at->skipped, rate(s));
    fflush(stdout);
}

/* ------------------------------------------------------------------------------------------------ the log */

/* Tensors whose rounding counted something in this step, or whose dispersion was looked at. */
static void record_counters(session *s)
{
    const rounder *r = s->t->r;
    for (int which = 0; which < ROLES; which++)
        for (int i = 0; i < rounder_count(r, (role)which); i++) {
            char name[96];
            if (!r->seen[which][i].count && !r->dispersion[which][i].count)
                continue;
            tensor_name(s->t->g, (role)which, i, sizeof name, name);
            record_tensor(s->record, name, (role)which, &r->seen[which][i]);
            if (which == ROLE_DV)
                record_gradient(s->record, graph_value(s->t->g, i)->alpha, &r->dispersion[which][i]);
            if (which == ROLE_DW)
                record_gradient(s->record, graph_param(s->t->g, i)->alpha, &r->dispersion[which][i]);
        }
}

static bool is_packed(const session *s)
{
    return !strcmp(s->settings->optimizer.store, "packed");
}

static void record_one(session *s, const step_result *step)
{
    trouble why;
    const position *at = &s->t->at;
    record_begin(s->record, &(record_step){.step = at->step, .epoch = (int)at->epoch, .loss = step->loss,
                                           .lr = step->lr, .scale = step->scale, .accuracy = step->accuracy,
                                           .skipped = step->skipped, .skipped_so_far = at->skipped,
                                           .seconds = seconds_now() - s->started});
    if (s->settings->output.counters)
        record_counters(s);
    if (s->settings->output.counters && !step->skipped) {
        const update_counts counts = s->t->optimizer->counts;
        record_updates(s->record, &counts, is_packed(s));
    }
    if (s->t->optimizer->clipper && !step->skipped)
        record_clipping(s->record, s->t->optimizer->clipper);
    if (step->sums.roundings)
        record_sums(s->record, &step->sums);
    if (!record_end(s->record, &why))
        stop(&why);
}

/* The policy epochs that have ended since. */
static void record_policies(session *s)
{
    trouble why;
    for (; s->told < policy_epochs(s->t->policy); s->told++) {
        const policy_epoch end = s->t->policy->type->epoch(s->t->policy, s->told);
        if (s->record && !record_policy_end(s->record, s->t->at.step, &end, &why))
            stop(&why);
    }
}

/* The share of the updates that are less than 2^exponent steps of their group. */
static double share_below(const update_counts *u, int exponent)
{
    uint64_t below = 0;
    for (int bin = 0; bin <= exponent - UPDATE_FIRST; bin++)
        below += u->ratio[bin];
    return (double)below / (double)u->elements;
}

/* Weight, gradient and the state of the optimiser, in FP32. */
static double fp32_bits(const char *optimizer)
{
    return 32 * (!strcmp(optimizer, "sgd") ? 2 : !strncmp(optimizer, "adam", 4) ? 4 : 3);
}

/* Numbers of the whole run that curves do not show. */
static void note(session *s)
{
    const update_counts *u = &s->t->at.updates;
    record_note(s->record, "parameters", (double)graph_param_count(s->t->g));
    record_note(s->record, "optimizer_bytes", (double)s->t->optimizer->type->bytes(s->t->optimizer));
    record_note(s->record, "workspace_bytes", (double)s->t->optimizer->type->workspace(s->t->optimizer));
    record_note(s->record, "stored_bits_a_parameter",
                8 * (double)s->t->optimizer->type->bytes(s->t->optimizer) / (double)graph_param_count(s->t->g));
    if (is_packed(s))
        record_note(s->record, "bits_a_parameter_in_fp32", fp32_bits(s->settings->optimizer.name));
    record_note(s->record, "images_per_second", rate(s));
    record_note(s->record, "training_seconds", s->training);
    if (scaler_layers(s->t->scaler))
        record_note(s->record, "statistics_seconds", scaler_seconds(s->t->scaler));
    record_policy_notes(s->record, s->t->policy);
    if (s->t->backend->outside)
        record_note(s->record, "sums_outside_32_bits", (double)s->t->at.outside);
    if (u->elements) {
        record_note(s->record, "updates_not_zero", (double)u->updates / (double)u->elements);
        record_note(s->record, "updates_vanished", u->updates ? (double)u->vanished / (double)u->updates : 0);
        record_note(s->record, "gradients_below_2^-24", (double)u->small_g / (double)u->elements);
        record_note(s->record, "updates_below_2^-24", (double)u->small_update / (double)u->elements);
    }
    if (s->t->at.sums.roundings) {
        const sum_counts *sums = &s->t->at.sums;
        record_note(s->record, "sums_inexact", (double)sums->inexact / (double)sums->roundings);
        record_note(s->record, "sums_swamped", (double)sums->swamped / (double)sums->roundings);
        record_note(s->record, "sums_overflow", (double)sums->overflow / (double)sums->roundings);
    }
    if (s->t->optimizer->clipper) {
        const clip_counts *c = &s->t->optimizer->clipper->all;
        record_note(s->record, "steps_clipped", c->steps ? (double)c->clipped / (double)c->steps : 0);
        record_note(s->record, "parts_clipped", c->parts ? (double)c->parts_clipped / (double)c->parts : 0);
        record_note(s->record, "steps_not_finite", (double)c->not_finite);
    }
    if (u->elements && is_packed(s)) {
        record_note(s->record, "updates_below_half_a_step", share_below(u, -1));
        record_note(s->record, "updates_below_an_eighth_of_a_step", share_below(u, -3));
        record_note(s->record, "mean_move_in_steps", u->moved / (double)u->elements);
    }
}

/* ------------------------------------------------------------------------------------------------ the run */

/* Within an epoch; at its end a checkpoint comes after the line of its evaluation, so that no line comes twice. */
static bool due_within(const session *s)
{
    const uint64_t every = (uint64_t)s->settings->output.checkpoint_steps, step = s->t->at.step;
    return s->record && every && step % every == 0 && step % trainer_steps(s->t) != 0;
}

static bool due_after(const session *s)
{
    const uint64_t steps = (uint64_t)s->settings->output.checkpoint_steps;
    const uint64_t epochs = (uint64_t)s->settings->output.checkpoint_every;
    return (steps && s->t->at.step % steps == 0) || (epochs && s->t->at.epoch % epochs == 0);
}

static void run_steps(session *s)
{
    const uint64_t every = (uint64_t)s->settings->output.log_every;
    for (;;) {
        const bool logged = s->record && (s->t->at.step + 1) % every == 0;
        const unsigned want = !logged ? 0
                                      : (s->settings->output.histograms ? FPEMU_STATS_HISTOGRAM : 0) |
                                            (s->settings->output.dispersion ? ROUNDER_DISPERSION : 0);
        const double before = seconds_now();
        step_result step;
        if (!trainer_step(s->t, want, logged && s->settings->output.counters, &step))
            return;
        s->training += seconds_now() - before;
        s->images += (uint64_t)step.samples;
        if (logged)
            record_one(s, &step);
        record_policies(s);
        if (due_within(s))
            write_checkpoint(s);
        show_progress(s, &step);
    }
}

static void run_epoch(session *s)
{
    trouble why;
    run_steps(s);
    const evaluation e = trainer_evaluate(s->t);
    show_epoch(s, &e);
    const position at = s->t->at;
    trainer_end_epoch(s->t);
    if (!s->record)
        return;
    const record_epoch line = {.step = at.step, .epoch = (int)at.epoch, .test_loss = e.loss,
                               .test_accuracy = e.accuracy, .test_accuracy_fp32 = e.accuracy_fp32,
                               .seconds = seconds_now() - s->started};
    if (!record_epoch_end(s->record, &line, &why))
        stop(&why);
    record_policies(s);
    if (due_after(s))
        write_checkpoint(s);
}

static void run_all(session *s)
{
    trouble why;
    s->started = seconds_now();
    while (!trainer_over(s->t))
        run_epoch(s);
    if (!s->record)
        return;
    note(s);
    if (!record_summary(s->record, true, s->t->at.step, s->t->at.skipped, &why))
        stop(&why);
}

void experiment_run(const settings *settings, run_start how, bool quiet)
{
    trouble why;
    session s = {.settings = settings, .quiet = quiet, .terminal = !quiet && isatty(STDERR_FILENO)};
    s.t = trainer_new(settings, &why);
    if (!s.t)
        die("run: %s", why.text);
    if (!occupied_check(settings, how, &why)) /* after the settings, which are said to be wrong first */
        die("run: %s", why.text);
    if (how == RUN_RESUME)
        resume(&s);
    if (how == RUN_FORCE && settings->output.directory[0] && !occupied_clear(settings->output.directory, &why))
        die("run: %s", why.text);
    if (settings->output.directory[0]) {
        s.record = record_open(settings, s.t->at.step, &why);
        if (!s.record)
            die("run: %s", why.text);
    }
    run_all(&s);
    record_close(s.record);
    trainer_free(s.t);
}
