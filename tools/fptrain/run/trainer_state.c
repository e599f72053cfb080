/* SPDX-License-Identifier: BSD-2-Clause */
/* trainer_state.c - all that a run is made of, to a checkpoint and back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/fingerprint.h"
#include "run/occupied.h"
#include "run/trainer.h"

static void put_scaler(const trainer *t, checkpoint *to)
{
    const size_t length = scaler_save(t->scaler, NULL, 0);
    void *bytes = need(length, 1);
    scaler_save(t->scaler, bytes, length);
    checkpoint_put(to, "scaler.state", bytes, length);
    free(bytes);
}

/* A fixed policy has no state, and no entry. */
static void put_policy(const trainer *t, checkpoint *to)
{
    const size_t length = t->policy->type->save(t->policy, NULL, 0);
    if (!length)
        return;
    void *bytes = need(length, 1);
    t->policy->type->save(t->policy, bytes, length);
    checkpoint_put(to, "policy.state", bytes, length);
    free(bytes);
}

/* Of the counters of updates and of sums the checkpoint has arrays of whole numbers, in the order of their members. */
enum { UPDATES = 5 + UPDATE_BINS, SUMS = 5, PLACES = 11 };

static void put_position(const trainer *t, checkpoint *to)
{
    const position *at = &t->at;
    const update_counts *u = &at->updates;
    const uint64_t places[PLACES] = {at->step,    at->epoch,      at->next,   at->skipped,    at->correct,    at->rows,
                                     at->outside, at->best_epoch, at->adrift, at->not_finite, at->test_adrift};
    const uint64_t sums[SUMS] = {at->sums.roundings, at->sums.inexact, at->sums.swamped, at->sums.overflow,
                                 at->sums.underflow};
    uint64_t updates[UPDATES] = {u->elements, u->updates, u->vanished, u->small_g, u->small_update};
    memcpy(updates + 5, u->ratio, sizeof u->ratio);
    checkpoint_put_counts(to, "run.position", PLACES, places);
    checkpoint_put_reals(to, "run.loss", 1, &at->loss);
    checkpoint_put_reals(to, "run.best", 1, &at->best);
    checkpoint_put_counts(to, "run.updates", UPDATES, updates);
    checkpoint_put_reals(to, "run.moved", 1, &u->moved);
    checkpoint_put_counts(to, "run.sums", SUMS, sums);
}

static bool take_position(position *at, const checkpoint *from, trouble *why)
{
    uint64_t places[PLACES], sums[SUMS], updates[UPDATES];
    if (!checkpoint_take_counts(from, "run.position", PLACES, places, why) ||
        !checkpoint_take_reals(from, "run.loss", 1, &at->loss, why) ||
        !checkpoint_take_reals(from, "run.best", 1, &at->best, why) ||
        !checkpoint_take_counts(from, "run.updates", UPDATES, updates, why) ||
        !checkpoint_take_reals(from, "run.moved", 1, &at->updates.moved, why) ||
        !checkpoint_take_counts(from, "run.sums", SUMS, sums, why))
        return false;
    at->step = places[0];
    at->epoch = places[1];
    at->next = places[2];
    at->skipped = places[3];
    at->correct = places[4];
    at->rows = places[5];
    at->outside = places[6];
    at->best_epoch = places[7];
    at->adrift = places[8];
    at->not_finite = places[9];
    at->test_adrift = places[10];
    at->sums = (sum_counts){sums[0], sums[1], sums[2], sums[3], sums[4]};
    update_counts *u = &at->updates;
    u->elements = updates[0];
    u->updates = updates[1];
    u->vanished = updates[2];
    u->small_g = updates[3];
    u->small_update = updates[4];
    memcpy(u->ratio, updates + 5, sizeof u->ratio);
    return true;
}

void trainer_save(const trainer *t, checkpoint *to)
{
    char *text = settings_print(t->settings);
    checkpoint_put_text(to, "settings", text);
    free(text);
    text = fingerprint_text(&t->data);
    checkpoint_put(to, "data", text, strlen(text));
    free(text);
    for (int i = 0; i < graph_buffers(t->g); i++) {
        const buffer *b = graph_buffer(t->g, i);
        checkpoint_put_floats(to, b->name, 1, (int[1]){(int)b->size}, b->data);
    }
    optimizer_save(t->optimizer, to);
    put_position(t, to);
    put_scaler(t, to);
    put_policy(t, to);
}

/* The settings then; to be freed, also after false. */
static bool read_settings(const trainer *t, const checkpoint *from, settings *then, trouble *why)
{
    const char *text = checkpoint_text(from, "settings");
    settings_default(then);
    if (!text)
        return fail(why, "the checkpoint has no settings");
    return settings_parse(then, text, strlen(text), "checkpoint", why) &&
           occupied_continues(t->settings, then, "the checkpoint", why);
}

static bool check_data(const trainer *t, const checkpoint *from, trouble *why)
{
    size_t length;
    const char *text = checkpoint_get(from, "data", &length);
    return text ? fingerprint_check(&t->data, text, length, false, why)
                : fail(why, "the checkpoint does not say what data it is of");
}

static bool load_position(trainer *t, const checkpoint *from, const settings *then, trouble *why)
{
    if (!take_position(&t->at, from, why))
        return false;
    t->begun = false;
    const uint64_t samples = (uint64_t)t->settings->train.batch * (uint64_t)t->settings->train.micro_batches;
    const uint64_t steps = trainer_steps(t), done = t->at.next / samples;
    if (t->at.epoch > (uint64_t)t->settings->train.epochs || t->at.next % samples || done >= steps ||
        t->at.step != t->at.epoch * steps + done)
        return fail(why, "the checkpoint stands at step %llu, where no step begins", (unsigned long long)t->at.step);
    if (strcmp(t->settings->output.best, then->output.best) != 0)
        t->at.best = NAN; /* by another measure, or none */
    return trainer_rates_agree(t, then) ||
           fail(why,
                "with train.epochs = %d and not %d the schedule '%s' would have given the steps so far other learning "
                "rates; constant, rsqrt and step:EPOCH,... give the same",
                t->settings->train.epochs, then->train.epochs, t->settings->train.schedule);
}

bool trainer_load(trainer *t, const checkpoint *from, trouble *why)
{
    settings then;
    const bool fits =
        read_settings(t, from, &then, why) && check_data(t, from, why) && load_position(t, from, &then, why);
    settings_free(&then);
    if (!fits)
        return false;
    size_t scaler = 0, policy = 0;
    const void *scaler_bytes = checkpoint_get(from, "scaler.state", &scaler);
    const void *policy_bytes = checkpoint_get(from, "policy.state", &policy);
    if (!scaler_bytes)
        return fail(why, "the checkpoint has no state of the loss scaler");
    if (!scaler_load(t->scaler, scaler_bytes, scaler, why) ||
        !t->policy->type->load(t->policy, t->r, policy_bytes, policy, why) || !optimizer_load(t->optimizer, from, why))
        return false;
    for (int i = 0; i < graph_buffers(t->g); i++) {
        buffer *b = graph_buffer(t->g, i);
        if (!checkpoint_take_floats(from, b->name, 1, (int[1]){(int)b->size}, b->data, why))
            return false;
    }
    return true;
}
