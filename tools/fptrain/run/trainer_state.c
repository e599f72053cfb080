/* SPDX-License-Identifier: BSD-2-Clause */
/* trainer_state.c - all that a run is made of, to a checkpoint and back. */
#include <stdio.h>
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
    checkpoint_put(to, "scaler", bytes, length);
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
    checkpoint_put(to, "policy", bytes, length);
    free(bytes);
}

void trainer_save(const trainer *t, checkpoint *to)
{
    char *text = settings_print(t->settings);
    checkpoint_put(to, "settings", text, strlen(text));
    free(text);
    text = fingerprint_text(&t->data);
    checkpoint_put(to, "data", text, strlen(text));
    free(text);
    checkpoint_put(to, "position", &t->at, sizeof t->at);
    put_scaler(t, to);
    put_policy(t, to);
    optimizer_save(t->optimizer, to);
    for (int i = 0; i < graph_buffers(t->g); i++) {
        const buffer *b = graph_buffer(t->g, i);
        char name[96];
        snprintf(name, sizeof name, "buffer/%s", b->name);
        checkpoint_put(to, name, b->data, b->size * sizeof *b->data);
    }
}

static bool check_settings(const trainer *t, const checkpoint *from, trouble *why)
{
    size_t length;
    const void *text = checkpoint_get(from, "settings", &length);
    if (!text)
        return fail(why, "the checkpoint has no settings");
    settings then;
    settings_default(&then);
    const bool good = settings_parse(&then, text, length, "checkpoint", why) &&
                      occupied_by_same(t->settings, &then, "the checkpoint", why);
    settings_free(&then);
    return good;
}

/* Checkpoints made before this was kept say nothing of their data. */
static bool check_data(const trainer *t, const checkpoint *from, trouble *why)
{
    size_t length;
    const char *text = checkpoint_get(from, "data", &length);
    return !text || fingerprint_check(&t->data, text, length, false, why);
}

static bool load_position(trainer *t, const checkpoint *from, trouble *why)
{
    if (!checkpoint_take(from, "position", &t->at, sizeof t->at, why))
        return false;
    t->begun = false;
    const uint64_t samples = (uint64_t)t->settings->train.batch * (uint64_t)t->settings->train.micro_batches;
    const uint64_t steps = trainer_steps(t), done = t->at.next / samples;
    if (t->at.epoch > (uint64_t)t->settings->train.epochs || t->at.next % samples || done >= steps ||
        t->at.step != t->at.epoch * steps + done)
        return fail(why, "the checkpoint stands at step %llu, where no step begins", (unsigned long long)t->at.step);
    return true;
}

bool trainer_load(trainer *t, const checkpoint *from, trouble *why)
{
    if (!check_settings(t, from, why) || !check_data(t, from, why) || !load_position(t, from, why))
        return false;
    size_t scaler = 0, policy = 0;
    const void *scaler_bytes = checkpoint_get(from, "scaler", &scaler);
    const void *policy_bytes = checkpoint_get(from, "policy", &policy);
    if (!scaler_bytes)
        return fail(why, "the checkpoint has no state of the loss scaler");
    if (!scaler_load(t->scaler, scaler_bytes, scaler, why) ||
        !t->policy->type->load(t->policy, t->r, policy_bytes, policy, why) || !optimizer_load(t->optimizer, from, why))
        return false;
    for (int i = 0; i < graph_buffers(t->g); i++) {
        buffer *b = graph_buffer(t->g, i);
        char name[96];
        snprintf(name, sizeof name, "buffer/%s", b->name);
        if (!checkpoint_take(from, name, b->data, b->size * sizeof *b->data, why))
            return false;
    }
    return true;
}
