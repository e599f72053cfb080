/* SPDX-License-Identifier: BSD-2-Clause */
/* experiment.c - see experiment.h */
#include "run/experiment.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/atomic_file.h"
#include "run/lock.h"
#include "run/record.h"
#include "run/trainer.h"
#include "run/weights.h"

typedef struct session {
    const settings *settings;
    trainer *t;
    record *record; /* NULL: no directory */
    int lock;       /* of the directory */
    bool quiet, terminal;
    bool weights; /* those of the settings have been taken */
    bool saved;   /* the checkpoint of the run is of this moment */
    double started;
    uint64_t first;  /* step at which this session began, for the time that is left */
    uint64_t images; /* of this session */
    double training; /* seconds of its steps alone */
    int64_t told;    /* policy epochs that are in the log */
} session;

static void stop(const trouble *why)
{
    say("run: %s", why->text);
    exit(1);
}

enum { LONGEST_PATH = SETTINGS_TEXT + 32 };

static const char *path_of(const session *s, const char *name, char path[LONGEST_PATH])
{
    snprintf(path, LONGEST_PATH, "%s/%s", s->settings->output.directory, name);
    return path;
}

static void write_checkpoint(session *s, const char *name)
{
    trouble why;
    char path[LONGEST_PATH];
    checkpoint *c = checkpoint_new();
    trainer_save(s->t, c);
    if (!record_save(s->record, c, &why) || !checkpoint_write(c, path_of(s, name, path), &why))
        stop(&why);
    checkpoint_free(c);
    s->saved = s->saved || !strcmp(name, RUN_CHECKPOINT);
}

static int64_t policy_epochs(const policy *p)
{
    return p->type->epochs ? p->type->epochs(p) : 0;
}

/* ------------------------------------------------------------------------------------------------ beginning */

/* The names of all tensors: of each role an array, and in the end the letters of all of them. */
typedef struct tensor_names {
    record_names of;
    const char **list[ROLES];
    char (*letters)[96];
} tensor_names;

static tensor_names names_of(const rounder *r)
{
    tensor_names n = {.letters = NULL};
    int count = 0, k = 0;
    for (int which = 0; which < ROLES; which++)
        count += rounder_count(r, (role)which);
    n.letters = need((size_t)count + 1, sizeof *n.letters);
    for (int which = 0; which < ROLES; which++) {
        n.of.count[which] = rounder_count(r, (role)which);
        n.of.name[which] = n.list[which] = need((size_t)n.of.count[which] + 1, sizeof *n.list[which]);
        for (int i = 0; i < n.of.count[which]; i++, k++) {
            tensor_name(r->g, (role)which, i, sizeof *n.letters, n.letters[k]);
            n.list[which][i] = n.letters[k];
        }
    }
    return n;
}

static void free_names(const tensor_names *n)
{
    for (int which = 0; which < ROLES; which++)
        free(n->list[which]);
    free(n->letters);
}

static bool has_checkpoint(const session *s)
{
    char path[LONGEST_PATH];
    return access(path_of(s, RUN_CHECKPOINT, path), F_OK) == 0 || errno != ENOENT;
}

/* What a run that goes on has still to do makes its summary untrue. */
static void withdraw_summary(const session *s)
{
    char *path = path_join(s->settings->output.directory, "summary.json");
    trouble why;
    if (!trainer_over(s->t) && unlink(path) != 0 && errno != ENOENT) {
        fail(&why, "%s: %s", path, strerror(errno));
        stop(&why);
    }
    free(path);
}

static void resume(session *s, const machine *here, bool another, const record_names *names)
{
    trouble why;
    char path[LONGEST_PATH];
    checkpoint *c = checkpoint_read(path_of(s, RUN_CHECKPOINT, path), &why);
    if (!c || !trainer_load(s->t, c, &why))
        die("run: %s", why.text);
    s->record = record_resume(s->settings, here, another, names, c, &why);
    if (!s->record)
        die("run: %s", why.text);
    checkpoint_free(c);
    s->saved = true;
    s->first = s->t->at.step;
    s->told = policy_epochs(s->t->policy);
    withdraw_summary(s);
}

/* Before a directory is made or cleared, of which they may be. */
static void take_weights(session *s)
{
    trouble why;
    if (!s->weights && !weights_start(s->t, &why))
        die("run: %s", why.text);
    s->weights = true;
}

/* Nothing of a run that was there before can be taken for a part of this one. */
static void begin(session *s, const machine *here, const record_names *names)
{
    trouble why;
    take_weights(s);
    if (!occupied_clear(s->settings->output.directory, &why))
        die("run: %s", why.text);
    s->record = record_start(s->settings, here, names, &why);
    if (!s->record)
        die("run: %s", why.text);
}

/* Under the lock, so that what was looked at is as it was found. A run that ended before its first checkpoint begins
 * again. */
static void enter_directory(session *s, const experiment_options *how)
{
    trouble why;
    const char *directory = s->settings->output.directory;
    if (!directory_make(directory, &why) || !lock_take(directory, &s->lock, &why))
        die("run: %s", why.text);
    if (s->lock < 0)
        say("run: %s: no locks on this file system: nothing keeps a second process out", directory);
    if (!occupied_check(s->settings, how->start, &why))
        die("run: %s", why.text);
    occupied_tidy(directory);
    const machine here = machine_here(s->t->backend);
    const tensor_names names = names_of(s->t->r);
    if (how->start == RUN_RESUME && has_checkpoint(s))
        resume(s, &here, how->allow_different_machine, &names.of);
    else
        begin(s, &here, &names.of);
    free_names(&names);
}

/* ------------------------------------------------------------------------------------------------ telling */

static double rate(const session *s)
{
    const double seconds = clock_seconds() - s->started;
    return seconds > 0 ? (double)s->images / seconds : 0;
}

static void show_progress(const session *s, const step_result *step)
{
    if (!s->terminal)
        return;
    const uint64_t all = trainer_steps(s->t) * (uint64_t)s->settings->train.epochs, done = s->t->at.step - s->first;
    const double seconds = clock_seconds() - s->started;
    char left[CLOCK_TEXT];
    clock_print(left, done ? seconds / (double)done * (double)(all - s->t->at.step) : 0);
    fprintf(stderr,
            "\repoch %" PRIu64 "/%d  step %" PRIu64 "/%" PRIu64 "  loss %.4f  accuracy %.2f %%  scale %g  "
            "%.0f images/s  %s left \033[K",
            s->t->at.epoch + 1, s->settings->train.epochs, s->t->at.step, all, step->loss, 100 * step->accuracy,
            step->scale, rate(s), left);
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
            if (!r->seen[which][i].count && !r->dispersion[which][i].count)
                continue;
            record_tensor(s->record, (role)which, i, &r->seen[which][i]);
            if (which == ROLE_DV)
                record_gradient(s->record, ROLE_DV, i, graph_value(s->t->g, i)->alpha, &r->dispersion[which][i]);
            if (which == ROLE_DW)
                record_gradient(s->record, ROLE_DW, i, graph_param(s->t->g, i)->alpha, &r->dispersion[which][i]);
        }
}

static bool is_packed(const session *s)
{
    return !strcmp(s->settings->optimizer.store, "packed");
}

static void record_one(session *s, const step_result *step, bool counters)
{
    trouble why;
    const position *at = &s->t->at;
    record_begin(s->record, &(record_step){.step = at->step,
                                           .epoch = (int)at->epoch,
                                           .loss = step->loss,
                                           .lr = step->lr,
                                           .scale = step->scale,
                                           .accuracy = step->accuracy,
                                           .skipped = step->skipped,
                                           .skipped_so_far = at->skipped,
                                           .seconds = clock_seconds() - s->started});
    if (counters)
        record_counters(s);
    if (counters && !step->skipped) {
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
        record_note(s->record, "updates_below_half_a_step", update_share_below(u->ratio, u->elements, -1));
        record_note(s->record, "updates_below_an_eighth_of_a_step", update_share_below(u->ratio, u->elements, -3));
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

static bool stops_when_diverged(const session *s)
{
    return !strcmp(s->settings->train.diverged, "stop");
}

/* The last step as a line of the log, if it is none yet, and why it was the last. */
static void tell_end(session *s, const step_result *step, bool logged)
{
    trouble why;
    char reason[160];
    snprintf(reason, sizeof reason, "the loss of step %" PRIu64 " is %s%s", s->t->at.step,
             isnan(step->loss) ? "nan" : "infinite",
             step->skipped ? ", as it was for the 100 steps up to it" : ", and the weights have followed it");
    if (s->record && !logged)
        record_one(s, step, false);
    if (s->record && !record_stop(s->record, s->t->at.step, reason, &why))
        stop(&why);
    if (s->terminal)
        fputs("\r\033[K", stderr);
    fprintf(stderr, "fptrain: run: %s: diverged (train.diverged = continue goes on)\n", reason);
}

/* The run has come to its end, but its last loss is no number. */
static void tell_adrift(const session *s)
{
    const uint64_t steps = s->t->at.adrift;
    if (steps > 0)
        fprintf(stderr, "fptrain: run: the loss of the last %" PRIu64 " step%s is not finite", steps,
                steps > 1 ? "s" : "");
    else
        fputs("fptrain: run: the last test loss is not finite", stderr);
    fputs(": diverged (train.diverged = continue takes that)\n", stderr);
}

/* The steps up to the end of the epoch; false: the run ends here. */
static bool run_steps(session *s)
{
    const uint64_t every = (uint64_t)s->settings->output.log_every;
    for (;;) {
        const bool logged = s->record && (s->t->at.step + 1) % every == 0;
        const unsigned want = !logged ? 0
                                      : (s->settings->output.histograms ? FPEMU_STATS_HISTOGRAM : 0) |
                                            (s->settings->output.dispersion ? ROUNDER_DISPERSION : 0);
        const double before = clock_seconds();
        step_result step;
        if (!trainer_step(s->t, want, logged && s->settings->output.counters, &step))
            return true;
        s->saved = false;
        s->training += clock_seconds() - before;
        s->images += (uint64_t)step.samples;
        if (logged)
            record_one(s, &step, s->settings->output.counters);
        record_policies(s);
        if (step.lost && stops_when_diverged(s)) {
            tell_end(s, &step, logged);
            return false;
        }
        if (due_within(s))
            write_checkpoint(s, RUN_CHECKPOINT);
        show_progress(s, &step);
    }
}

/* False: the run has ended within it. */
static bool run_epoch(session *s)
{
    trouble why;
    if (!run_steps(s))
        return false;
    const evaluation e = trainer_evaluate(s->t);
    s->saved = false;
    show_epoch(s, &e);
    const position at = s->t->at;
    trainer_end_epoch(s->t);
    s->t->at.test_adrift = isfinite(e.loss) ? 0u : 1u;
    if (!s->record)
        return true;
    const record_epoch line = {.step = at.step,
                               .epoch = (int)at.epoch,
                               .test_loss = e.loss,
                               .test_accuracy = e.accuracy,
                               .test_accuracy_fp32 = e.accuracy_fp32,
                               .seconds = clock_seconds() - s->started};
    if (!record_epoch_end(s->record, &line, &why))
        stop(&why);
    record_policies(s);
    if (trainer_is_best(s->t, &e)) /* before the checkpoint, which knows that it is there */
        write_checkpoint(s, RUN_BEST);
    if (due_after(s))
        write_checkpoint(s, RUN_CHECKPOINT);
    return true;
}

static bool run_all(session *s)
{
    trouble why;
    bool going = true;
    s->started = clock_seconds();
    while (going && !trainer_over(s->t))
        going = run_epoch(s);
    /* What a finished run has learnt is there, to be tested and to go on from. */
    if (going && s->record && s->settings->output.checkpoint_every && !s->saved)
        write_checkpoint(s, RUN_CHECKPOINT);
    const bool diverged = !going || s->t->at.adrift > 0 || s->t->at.test_adrift;
    if (s->record) {
        note(s);
        const record_ending ending = {.finished = going,
                                      .diverged = diverged,
                                      .not_finite = s->t->at.not_finite,
                                      .steps = s->t->at.step,
                                      .skipped = s->t->at.skipped};
        if (!record_summary(s->record, &ending, &why))
            stop(&why);
    }
    if (!diverged || !stops_when_diverged(s))
        return true;
    if (going)
        tell_adrift(s);
    return false;
}

bool experiment_run(const settings *settings, const experiment_options *how)
{
    trouble why;
    session s = {
        .settings = settings, .quiet = how->quiet, .terminal = !how->quiet && isatty(STDERR_FILENO), .lock = -1};
    s.t = trainer_new(settings, &why); /* first: what is wrong with settings is told before a directory is made */
    if (!s.t)
        die("run: %s", why.text);
    if (how->start != RUN_RESUME || !settings->output.directory[0] || !has_checkpoint(&s))
        take_weights(&s);
    if (settings->output.directory[0])
        enter_directory(&s, how);
    else if (how->start == RUN_RESUME)
        die("run: --resume needs the directory of the run: --out DIR");
    const bool good = run_all(&s);
    record_close(s.record);
    lock_release(s.lock);
    trainer_free(s.t);
    return good;
}
