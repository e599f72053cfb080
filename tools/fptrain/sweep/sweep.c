/* SPDX-License-Identifier: BSD-2-Clause */
/* sweep.c - which assignments a sweep tries: see sweep.h */
#include "sweep/sweep.h"

#include "estimate/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------- one trial */

typedef struct making {
    sweep *s;
    trainer *t;
    const wishes *w;
    int room;
} making;

/* Promotion changes nothing where no forward tensor is low. */
static bool can_promote(const assignment *a)
{
    for (int i = 0; i < a->tensors; i++)
        if (a->tensor[i].low && (a->tensor[i].which == ROLE_V || a->tensor[i].which == ROLE_W))
            return true;
    return false;
}

static trial *find_equal(const sweep *s, const trial *t)
{
    for (int i = 0; i < s->count; i++) {
        trial *other = &s->trials[i];
        const bool same = (other->scheme == SCHEME_FP32) == (t->scheme == SCHEME_FP32) &&
                          other->promote == t->promote && (!t->promote || other->threshold == t->threshold);
        if (same && assignment_equal(other->assignment, t->assignment))
            return other;
    }
    return NULL;
}

/* Dots stand for those that have no room. */
static void add_label(trial *t, const char *label)
{
    static const char dots[] = ", ...";
    const size_t used = strlen(t->label), length = strlen(label);
    if (ends_with(t->label, dots) || ends_with(t->label, label))
        return; /* the latter with promotion and without, where that is the same */
    if (used + strlen(", ") + length + sizeof dots <= sizeof t->label) {
        strcat(t->label, ", ");
        strcat(t->label, label);
    } else if (used + sizeof dots <= sizeof t->label) {
        strcat(t->label, dots);
    }
}

/* `what`: the settings of a policy that say which tensors are low. */
static void put_policy(const making *m, trial *t, const char *what)
{
    const char *base = strncmp(m->s->base.policy.name, "assign:", 7) ? "" : m->s->base.policy.name + 7;
    const int length = snprintf(t->policy, sizeof t->policy, "assign:%s%s%s,promote=%s,threshold=%g", base,
                                *base ? "," : "", what, t->promote ? "on" : "off", t->threshold);
    if (length >= (int)sizeof t->policy)
        die("tradeoff: the policy has more than %d characters", SETTINGS_TEXT - 1);
}

static void put_name(const making *m, trial *t, const char *name)
{
    char threshold[32] = "";
    if (t->promote && m->w->thresholds > 1)
        snprintf(threshold, sizeof threshold, "-%g", t->threshold);
    snprintf(t->label, sizeof t->label, "%s%s", name, threshold);
    snprintf(t->name, sizeof t->name, "%s%s%s", name, t->promote ? "-promoted" : "", threshold);
}

/* Takes the trial, unless there is an equal one. */
static void keep(making *m, const trial *t)
{
    sweep *s = m->s;
    trial *equal = find_equal(s, t);
    if (equal) {
        add_label(equal, t->label);
        assignment_free(t->assignment);
        return;
    }
    if (s->count == m->room) {
        m->room = 2 * m->room + 16;
        s->trials = need_more(s->trials, (uint64_t)m->room, sizeof *s->trials);
    }
    s->trials[s->count++] = *t;
}

static void add(making *m, const char *what, const char *name, bool promote, double threshold)
{
    trial t = {.threshold = threshold};
    trouble why;
    assign_settings a = assign_defaults();
    put_policy(m, &t, what);
    if (!assign_read(&a, t.policy + 7, &why) || !assign_complete(&a, &why))
        die("tradeoff: %s", why.text);
    t.scheme = a.choice.scheme;
    t.asked = a.choice.ratio;
    t.assignment = assignment_new(m->t->g, m->s->base.train.batch);
    if (!assignment_choose(t.assignment, &a.choice, &why))
        die("tradeoff: %s", why.text);
    t.promotable = can_promote(t.assignment);
    t.promote = promote && t.promotable;
    t.ratio = assignment_ratio(t.assignment);
    t.bits = assignment_bits(t.assignment, &a);
    put_policy(m, &t, what);
    put_name(m, &t, name);
    keep(m, &t);
}

static void add_promotions(making *m, const char *what, const char *name, bool ours)
{
    const bool on =
        m->w->promote == PROMOTE_ALL || m->w->promote == PROMOTE_BOTH || (m->w->promote == PROMOTE_PAPER && ours);
    if (!on || m->w->promote == PROMOTE_BOTH)
        add(m, what, name, false, m->w->threshold[0]);
    for (int i = 0; on && i < m->w->thresholds; i++)
        add(m, what, name, true, m->w->threshold[i]);
}

/* ---------------------------------------------------------------------------------------------- all trials */

static void add_ratios(making *m, scheme scheme)
{
    const int count = (int)floor((m->w->last - m->w->first) / m->w->step + 1e-9);
    for (int order = 0; order < (scheme == SCHEME_RATIO_RANDOM ? m->w->orders : 1); order++)
        for (int i = 0; i <= count; i++) {
            char what[96], name[48];
            /* As a decimal with few digits: 0.3 and not 0.30000000000000004. */
            const double ratio = m->w->first + i * m->w->step;
            snprintf(what, sizeof what, "scheme=%s,ratio=%.6g", scheme_name(scheme), ratio);
            snprintf(name, sizeof name, "%s-%.6g", scheme_name(scheme), ratio);
            if (scheme == SCHEME_RATIO_RANDOM) {
                snprintf(what + strlen(what), sizeof what - strlen(what), ",seed=%d", order + 1);
                snprintf(name + strlen(name), sizeof name - strlen(name), "-order%d", order + 1);
            }
            add_promotions(m, what, name, true);
        }
}

static void add_groups(making *m)
{
    assignment *a = assignment_new(m->t->g, m->s->base.train.batch);
    const int groups = a->groups;
    assignment_free(a);
    if (groups > 8)
        die("tradeoff: --exhaustive is for at most 8 groups; this network has %d", groups);
    for (int set = 0; set < 1 << groups; set++) {
        char digits[9] = "", what[32], name[32];
        for (int i = 0; i < groups; i++)
            digits[i] = set >> i & 1 ? '1' : '0';
        snprintf(what, sizeof what, "groups=%s", digits);
        snprintf(name, sizeof name, "groups-%s", digits);
        add_promotions(m, what, name, true);
    }
}

void sweep_plan(sweep *s, const wishes *w, trainer *t)
{
    making m = {s, t, w, 0};
    /* By ratio before the others: a ratio of 1 is uniform, and belongs to the line of ratios. */
    static const scheme order[] = {SCHEME_FP32,         SCHEME_RATIO,   SCHEME_RATIO_INCREASING,
                                   SCHEME_RATIO_RANDOM, SCHEME_UNIFORM, SCHEME_OP,
                                   SCHEME_OP_OUT};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const scheme scheme = order[i];
        char what[64];
        if (!w->schemes[scheme])
            continue;
        snprintf(what, sizeof what, "scheme=%s", scheme_name(scheme));
        if (scheme == SCHEME_RATIO || scheme == SCHEME_RATIO_INCREASING || scheme == SCHEME_RATIO_RANDOM)
            add_ratios(&m, scheme);
        else
            add_promotions(&m, what, scheme_name(scheme), false);
    }
    if (w->exhaustive)
        add_groups(&m);
    s->steps = trainer_steps(t);
    assignment *all = assignment_new(t->g, s->base.train.batch);
    s->bits_fp32 = 32 * (double)all->elements;
    trouble why;
    s->run_bytes = memory_of_training(&s->base, t->g, s->base.train.threads > 0 ? s->base.train.threads : 1, &why) +
                   4 * (double)graph_param_count(t->g) + /* rounded copies */
                   (double)(t->data.train.count + t->data.test.count) * (double)graph_value(t->g, 0)->row;
    assignment_free(all);
}

void sweep_free(sweep *s)
{
    for (int i = 0; i < s->count; i++)
        assignment_free(s->trials[i].assignment);
    free(s->trials);
    settings_free(&s->base);
}

/* ---------------------------------------------------------------------------------------------- settings */

char *sweep_directory(const sweep *s, const trial *t, int seed)
{
    const size_t size = strlen(s->out) + sizeof t->name + 32;
    char *path = need(size, 1);
    snprintf(path, size, "%s/%s-s%llu", s->out, t->name, (unsigned long long)s->base.train.seed + (unsigned)seed);
    return path;
}

/* Lee et al.: FP32 without loss scaling, backoff grows after one epoch of clean steps. */
settings sweep_settings(const sweep *s, const trial *t, int seed)
{
    settings one = settings_copy(&s->base);
    char text[32], *directory = sweep_directory(s, t, seed);
    settings_fix(&one, "policy", "name", t->policy);
    settings_fix(&one, "output", "directory", directory);
    settings_fix(&one, "train", "diverged", "continue"); /* a point of the table like others */
    snprintf(text, sizeof text, "%llu", (unsigned long long)s->base.train.seed + (unsigned)seed);
    settings_fix(&one, "train", "seed", text);
    if (t->scheme == SCHEME_FP32)
        settings_reset(&one, "scaler"); /* none */
    if (!strcmp(one.scaler.name, "backoff") && !one.scaler.interval)
        one.scaler.interval = s->steps;
    free(directory);
    return one;
}
