/* SPDX-License-Identifier: BSD-2-Clause */
/* evaluator.c - see evaluator.h */
#include "eval/evaluator.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/fingerprint.h"
#include "policies/policy.h"
#include "run/weights.h"

struct evaluator {
    settings settings;
    trainer *t;
    rule *own[2]; /* of values and parameters, as the run had them */
    bool own_master;
};

/* ------------------------------------------------------------------------------------------------ making */

/* The state of the policy, from which the formats of the moment come. */
static bool load_policy(const evaluator *e, const checkpoint *c, trouble *why)
{
    size_t length = 0;
    const void *state = checkpoint_get(c, "policy.state", &length);
    const policy *p = e->t->policy;
    return !state || p->type->load(e->t->policy, e->t->r, state, length, why);
}

/* Random words and all that hangs on the epoch are those of the evaluation at its end. */
static void set_epoch(const evaluator *e, const checkpoint *c)
{
    size_t length = 0;
    const uint64_t *places = checkpoint_get(c, "run.position", &length);
    if (places && length >= 3 * sizeof *places)
        e->t->at.epoch = places[1] - (places[1] > 0 && places[2] == 0);
}

/* Whether the options say how inputs are normalised, other than the run did. */
static bool normalised_anew(const evaluator *e, const checkpoint *c)
{
    const settings *s = &e->settings;
    settings then;
    trouble ignored;
    const char *text = checkpoint_text(c, "settings");
    settings_default(&then);
    const bool anew =
        text && settings_parse(&then, text, strlen(text), "checkpoint", &ignored) &&
        (strcmp(s->data.normalise, then.data.normalise) != 0 || strcmp(s->data.mean, then.data.mean) != 0 ||
         strcmp(s->data.deviation, then.data.deviation) != 0);
    settings_free(&then);
    return anew;
}

/* The network gets what it was trained with: the same classes in the same order, inputs normalised by the same numbers.
 * Checkpoints made before this was kept say nothing of it. */
static bool take_data(const evaluator *e, dataset *d, const checkpoint *c, trouble *why)
{
    size_t length;
    const char *text = checkpoint_get(c, "data", &length);
    if (!text)
        return true;
    if (!normalised_anew(e, c))
        fingerprint_normalise(d, text, length);
    return fingerprint_check(d, text, length, true, why);
}

/* What a trainer is made for. */
typedef struct loading {
    const evaluator *e;
    const checkpoint *c, *weights;
    bool whole;
} loading;

/* Before the network that the settings describe has any memory, it is one of these weights. */
static bool fits(void *who, trainer *t, trouble *why)
{
    const loading *l = who;
    return (!l->whole || take_data(l->e, &t->data, l->c, why)) && weights_fit(t->g, l->weights, NULL, why);
}

static bool load(evaluator *e, const checkpoint *c, bool whole, trouble *why)
{
    const settings *s = &e->settings;
    checkpoint *weights = weights_of(c, whole, why);
    loading l = {e, c, weights, whole};
    e->t = weights ? trainer_new_if(s, fits, &l, why) : NULL;
    bool good = e->t && weights_load(e->t, weights, NULL, why);
    if (good && whole) {
        good = load_policy(e, c, why);
        set_epoch(e, c);
    }
    checkpoint_free(weights);
    return good;
}

static void keep_own_rules(evaluator *e)
{
    for (int which = 0; which < 2; which++) {
        const size_t count = (size_t)rounder_count(e->t->r, (role)which);
        e->own[which] = need(count, sizeof *e->own[which]);
        memcpy(e->own[which], e->t->r->rule[which], count * sizeof *e->own[which]);
    }
    e->own_master = e->settings.optimizer.master;
}

evaluator *evaluator_new(const settings *s, const checkpoint *c, bool whole, trouble *why)
{
    evaluator *e = need(1, sizeof *e);
    e->settings = *s;
    /* Weights alone, in FP32: no state, no gradients to gather, and none of the settings of these. */
    settings_reset(&e->settings, "optimizer");
    settings_reset(&e->settings, "scaler");
    strcpy(e->settings.optimizer.name, "sgd");
    e->settings.optimizer.master = s->optimizer.master;
    e->settings.train.micro_batches = 1;
    if (load(e, c, whole, why)) {
        keep_own_rules(e);
        return e;
    }
    evaluator_free(e);
    return NULL;
}

void evaluator_free(evaluator *e)
{
    if (!e)
        return;
    trainer_free(e->t);
    free(e->own[0]);
    free(e->own[1]);
    free(e);
}

bool evaluator_is_text(const evaluator *e)
{
    return e->t->data.text != NULL;
}

size_t evaluator_samples(const evaluator *e)
{
    return e->t->data.test.count;
}

/* ------------------------------------------------------------------------------------------------ assignments */

/* The length of a text up to a character that stands outside of parentheses, or its end. */
static size_t up_to(const char *text, char stop)
{
    int depth = 0;
    size_t length = 0;
    for (; text[length] && (depth > 0 || text[length] != stop); length++)
        depth += (text[length] == '(') - (text[length] == ')');
    return length;
}

static char *piece(const char *from, size_t length)
{
    while (length > 0 && isspace((unsigned char)*from)) {
        from++;
        length--;
    }
    while (length > 0 && isspace((unsigned char)from[length - 1]))
        length--;
    return copy_text(from, length);
}

static bool read_item(settings *to, const char *item, trouble *why)
{
    const size_t equals = up_to(item, '=');
    char *key = piece(item, equals);
    bool good = true;
    if (item[equals]) {
        char *value = piece(item + equals + 1, strlen(item + equals + 1));
        good = strcmp(key, "dv") != 0 && strcmp(key, "dw") != 0;
        good = good ? settings_set(to, "formats", key, value, why)
                    : fail(why, "there are no gradients to round (%s)", key);
        free(value);
    } else {
        good = settings_set(to, "formats", "v", key, why) && settings_set(to, "formats", "w", key, why);
    }
    free(key);
    return good;
}

static bool read_assignment(settings *to, const char *text, trouble *why)
{
    trouble inner = {""};
    for (const char *at = text;;) {
        const size_t length = up_to(at, ',');
        char *item = piece(at, length);
        const bool good = *item ? read_item(to, item, &inner) : fail(&inner, "nothing between two commas");
        free(item);
        if (!good)
            return fail(why, "--formats '%.100s': %.300s", text, inner.text);
        if (!at[length])
            return true;
        at += length + 1;
    }
}

static void set_master(const evaluator *e, bool master)
{
    ((evaluator *)(uintptr_t)e)->settings.optimizer.master = master;
    e->t->optimizer->settings.master = master;
}

static void clear_rules(const rounder *r)
{
    for (int which = 0; which < 2; which++)
        memset(r->rule[which], 0, (size_t)rounder_count(r, (role)which) * sizeof *r->rule[which]);
}

static bool assign(evaluator *e, const char *formats, trouble *why)
{
    rounder *r = e->t->r;
    clear_rules(r);
    set_master(e, true);
    if (strcmp(formats, "fp32") == 0)
        return true;
    if (strcmp(formats, "own") == 0) {
        for (int which = 0; which < 2; which++)
            memcpy(r->rule[which], e->own[which], (size_t)rounder_count(r, (role)which) * sizeof *r->rule[which]);
        set_master(e, e->own_master);
        return true;
    }
    settings lines;
    settings_default(&lines);
    policy *p = read_assignment(&lines, formats, why) ? policy_fixed(lines.format_count, lines.formats, why) : NULL;
    if (p) {
        p->type->assign(p, r);
        p->type->free(p);
    }
    settings_free(&lines);
    return p != NULL;
}

/* ------------------------------------------------------------------------------------------------ testing */

static double mean_bits(const evaluator *e, role which)
{
    double bits = 0, elements = 0;
    for (int i = 0; i < rounder_count(e->t->r, which); i++) {
        if (!rounder_rounds(e->t->r, which, i))
            continue;
        const double n = which == ROLE_W
                             ? (double)graph_param(e->t->g, i)->size
                             : (double)graph_value(e->t->g, i)->row * graph_value(e->t->g, i)->rows_per_sample;
        bits += n * rule_bits(&e->t->r->rule[which][i]);
        elements += n;
    }
    return elements > 0 ? bits / elements : 32;
}

static bool rounds_anything(const evaluator *e)
{
    for (int which = 0; which < 2; which++)
        for (int i = 0; i < rounder_count(e->t->r, (role)which); i++)
            if (e->t->r->rule[which][i].format.kind)
                return true;
    return false;
}

/* Tensors of which hardly anything is left, and those of formats that have nothing below zero: values of the last batch,
 * and parameters, which are rounded once more, since each batch counts anew. */
static void tell_losses(const evaluator *e, const char *formats)
{
    rounder *r = e->t->r;
    uint64_t lost[2] = {0, 0}, all[2] = {0, 0};
    char first[2][96];
    for (int which = ROLE_V; which <= ROLE_W; which++) {
        if (which == ROLE_W && e->t->optimizer->settings.master) {
            rounder_begin(r, r->step);
            e->t->optimizer->type->begin(e->t->optimizer);
        }
        for (int i = 0; i < rounder_count(r, (role)which); i++) {
            const fpemu_stats *seen = &r->seen[which][i];
            /* of the numbers that were changed; zeros, which a rectifier gives, are none */
            const bool vanished = (double)seen->underflow >= 0.9 * (double)seen->inexact &&
                                  (double)seen->underflow >= 0.1 * (double)seen->count;
            const fpemu_format *f = &r->rule[which][i].format; /* with a second number a block it has them all */
            const bool adds = f->scaling >= FPEMU_SCALING_ASYMMETRIC && f->scaling <= FPEMU_SCALING_GGML_1K &&
                              f->scaling != FPEMU_SCALING_EDEN;
            const uint64_t here[2] = {vanished ? seen->underflow : 0, f->lowest >= 0 && !adds ? seen->clipped : 0};
            for (int k = 0; k < 2; k++) {
                if (here[k] && !lost[k])
                    tensor_name(r->g, (role)which, i, sizeof first[k], first[k]);
                lost[k] += here[k];
                all[k] += here[k] ? seen->count : 0;
            }
        }
    }
    if (lost[0])
        say("eval: %s: %" PRIu64 " of %" PRIu64 " elements of '%s' and its like became zero; scaled(FORMAT), as "
            "scaled(int8), has a scale for each tensor",
            formats, lost[0], all[0], first[0]);
    if (lost[1])
        say("eval: %s: %" PRIu64 " of %" PRIu64 " elements of '%s' and its like were clipped, by a format without "
            "values below zero",
            formats, lost[1], all[1], first[1]);
}

/* A loss that is no number has no sign, which C would print. */
static void test(const evaluator *e, bool rounds, eval_row *row)
{
    trainer_test(e->t, rounds, &row->loss, &row->accuracy);
    row->loss = isnan(row->loss) ? (double)NAN : row->loss;
    if (rounds)
        tell_losses(e, row->formats);
}

bool evaluator_test(evaluator *e, const char *formats, eval_row *row, trouble *why)
{
    *row = (eval_row){.formats = NULL};
    if (!assign(e, formats, why))
        return false;
    *row = (eval_row){
        .formats = piece(formats, strlen(formats)), .bits_w = mean_bits(e, ROLE_W), .bits_v = mean_bits(e, ROLE_V)};
    test(e, rounds_anything(e), row);
    return true;
}
