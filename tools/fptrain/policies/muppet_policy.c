/* SPDX-License-Identifier: BSD-2-Clause */
/* muppet_policy.c - training under MuPPET. */
#include "policies/policy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/muppet.h"

/* One policy epoch, for the log. */
typedef struct past {
    double p, threshold; /* 0: not defined */
    int64_t level;       /* after it */
} past;

/* In a checkpoint, followed by the epochs so far and the kept gradients. */
typedef struct state {
    int64_t level, epoch; /* level == levels: FP32; policy epochs so far */
    int64_t level_epoch;  /* at which this level began */
    int64_t kept;         /* gradients, newest last */
    uint64_t steps;       /* within this policy epoch */
    muppet_switching switching;
} state;

typedef struct muppet {
    policy base;
    muppet_settings settings;
    rule rule[MUPPET_LEVELS];
    state now;
    past *past;
    int params;
    size_t *size, elements; /* of one set of gradients */
    float *kept[MUPPET_WINDOW];
    const float **view; /* the kept gradients by parameter */
} muppet;

static int window_of(const muppet *m)
{
    return m->settings.window == MUPPET_BLOCKS ? m->settings.r : m->settings.r + 1;
}

static bool in_fp32(const muppet *m)
{
    return m->now.level == m->settings.levels;
}

static void put_rules(const muppet *m, rounder *r)
{
    const rule none = {0};
    for (int which = 0; which < ROLES; which++)
        for (int i = 0; i < rounder_count(r, (role)which); i++)
            if (rounder_rounds(r, (role)which, i))
                r->rule[which][i] = in_fp32(m) ? none : m->rule[m->now.level];
}

static void assign(policy *p, rounder *r)
{
    muppet *m = (muppet *)p;
    m->params = graph_params(r->g);
    m->size = need((size_t)m->params, sizeof *m->size);
    for (int i = 0; i < m->params; i++) {
        m->size[i] = graph_param(r->g, i)->size;
        m->elements += m->size[i];
    }
    m->view = need((size_t)MUPPET_WINDOW * (size_t)m->params, sizeof *m->view);
    put_rules(m, r);
}

/* ------------------------------------------------------------------------------------------------ epochs */

static void keep_gradients(muppet *m)
{
    float *to = NULL;
    if (m->now.kept == window_of(m)) { /* the oldest makes room */
        to = m->kept[0];
        memmove(m->kept, m->kept + 1, (size_t)(m->now.kept - 1) * sizeof *m->kept);
        m->now.kept--;
    }
    if (!to && !(to = m->kept[m->now.kept]))
        to = need(m->elements, sizeof *to);
    m->kept[m->now.kept++] = to;
    for (int i = 0; i < m->params; i++) {
        const float *g = m->base.optimizer->type->gradient(m->base.optimizer, i);
        memcpy(to, g, m->size[i] * sizeof *g);
        to += m->size[i];
    }
}

static double diversity(muppet *m)
{
    for (int k = 0; k < m->now.kept; k++) {
        const float *from = m->kept[k];
        for (int i = 0; i < m->params; i++) {
            m->view[k * m->params + i] = from;
            from += m->size[i];
        }
    }
    return muppet_diversity((int)m->now.kept, m->params, m->size, m->view);
}

/* Whether this level is over after the policy epoch that has just ended. */
static bool decide(muppet *m)
{
    const int j = (int)m->now.epoch;
    m->now.switching.p = 0;
    m->now.switching.threshold = m->settings.alpha + m->settings.beta * exp(-m->settings.lambda * j);
    if (m->settings.switches)
        return m->settings.switch_at[m->now.level] == j;
    keep_gradients(m);
    if (m->now.kept < window_of(m))
        return false;
    const double delta = diversity(m);
    if (m->settings.window == MUPPET_BLOCKS)
        m->now.kept = 0;
    return muppet_judge(&m->now.switching, &m->settings, j, delta);
}

static void end_epoch(muppet *m, rounder *r)
{
    const bool over = !in_fp32(m) && decide(m);
    m->past = need_more(m->past, (uint64_t)m->now.epoch + 1, sizeof *m->past);
    if (over) {
        m->now.level++;
        m->now.level_epoch = m->now.epoch + 1;
        m->now.kept = 0;
    }
    m->past[m->now.epoch++] = (past){m->now.switching.p, m->now.switching.threshold, m->now.level};
    if (over) {
        m->now.switching = (muppet_switching){0};
        put_rules(m, r);
    }
}

static void after_gradients(policy *p, rounder *r, uint64_t step)
{
    muppet *m = (muppet *)p;
    (void)step;
    if (m->settings.epoch_steps && ++m->now.steps == m->settings.epoch_steps) {
        m->now.steps = 0;
        end_epoch(m, r);
    }
}

static void after_epoch(policy *p, rounder *r, int epoch)
{
    muppet *m = (muppet *)p;
    (void)epoch;
    if (!m->settings.epoch_steps)
        end_epoch(m, r);
}

/* Constant while quantised; in FP32 times 0.1 after each third of the tail but the last, whose rate stays until the
 * epoch of the data is over. */
static double rate(const policy *p, double lr)
{
    const muppet *m = (const muppet *)p;
    if (!in_fp32(m) || !m->settings.tail)
        return lr;
    const int64_t thirds = (m->now.epoch - m->now.level_epoch) * 3 / m->settings.tail;
    return lr * pow(0.1, thirds < 2 ? (double)thirds : 2);
}

static bool over(const policy *p)
{
    const muppet *m = (const muppet *)p;
    return in_fp32(m) && m->now.epoch - m->now.level_epoch >= m->settings.tail;
}

/* ---------------------------------------------------------------------------------------------- checkpoints */

static size_t save(const policy *p, void *bytes, size_t capacity)
{
    const muppet *m = (const muppet *)p;
    const size_t past_bytes = (size_t)m->now.epoch * sizeof *m->past, set = m->elements * sizeof(float);
    const size_t all = sizeof m->now + past_bytes + (size_t)m->now.kept * set;
    if (capacity < all)
        return all;
    char *to = bytes;
    memcpy(to, &m->now, sizeof m->now);
    to += sizeof m->now;
    if (past_bytes)
        memcpy(to, m->past, past_bytes);
    to += past_bytes;
    for (int64_t k = 0; k < m->now.kept; k++, to += set)
        memcpy(to, m->kept[k], set);
    return all;
}

static bool load(policy *p, rounder *r, const void *bytes, size_t length, trouble *why)
{
    muppet *m = (muppet *)p;
    state now;
    const char *from = bytes;
    const size_t set = m->elements * sizeof(float);
    if (length < sizeof now)
        return fail(why, "the state of muppet in the checkpoint has %zu bytes, which cannot be", length);
    memcpy(&now, from, sizeof now);
    from += sizeof now;
    length -= sizeof now;
    if (now.level < 0 || now.level > m->settings.levels || now.epoch < 0 || now.kept < 0 || now.kept > window_of(m) ||
        now.level_epoch < 0 || now.level_epoch > now.epoch || (uint64_t)now.epoch > length / sizeof *m->past ||
        length != (size_t)now.epoch * sizeof *m->past + (size_t)now.kept * set)
        return fail(why, "the state of muppet in the checkpoint does not fit its settings and network");
    free(m->past);
    m->past = need((size_t)now.epoch + 1, sizeof *m->past);
    memcpy(m->past, from, (size_t)now.epoch * sizeof *m->past);
    from += (size_t)now.epoch * sizeof *m->past;
    for (int64_t k = 0; k < now.kept; k++, from += set) {
        if (!m->kept[k])
            m->kept[k] = need(m->elements, sizeof(float));
        memcpy(m->kept[k], from, set);
    }
    m->now = now;
    put_rules(m, r);
    return true;
}

/* ---------------------------------------------------------------------------------------------- for the record */

static int64_t epochs(const policy *p)
{
    return ((const muppet *)p)->now.epoch;
}

static policy_epoch epoch_of(const policy *p, int64_t j)
{
    const muppet *m = (const muppet *)p;
    const past *e = &m->past[j];
    const int64_t level = j ? m->past[j - 1].level : 0;
    return (policy_epoch){.policy_epoch = j,
                          .bits = level == m->settings.levels ? 32 : m->settings.bits[level],
                          .p = e->p,
                          .threshold = e->threshold,
                          .switched = e->level != level};
}

static void note(const policy *p, policy_tell *tell, void *to)
{
    int switches = 0;
    for (int64_t j = 0; j < epochs(p); j++) {
        char key[48];
        if (!epoch_of(p, j).switched)
            continue;
        (void)snprintf(key, sizeof key, "muppet_switch.%d", switches++);
        tell(to, key, (double)j);
    }
}

/* ---------------------------------------------------------------------------------------------- making one */

static void release(policy *p)
{
    muppet *m = (muppet *)p;
    for (int k = 0; k < MUPPET_WINDOW; k++)
        free(m->kept[k]);
    free(m->past);
    free(m->size);
    free(m->view);
    free(m);
}

static const policy_type muppet_type = {.name = "muppet",
                                        .assign = assign,
                                        .after_gradients = after_gradients,
                                        .after_epoch = after_epoch,
                                        .save = save,
                                        .load = load,
                                        .free = release,
                                        .rate = rate,
                                        .over = over,
                                        .note = note,
                                        .epochs = epochs,
                                        .epoch = epoch_of};

policy *policy_muppet(const char *text, trouble *why)
{
    muppet *m = need(1, sizeof *m);
    m->base.type = &muppet_type;
    m->settings = muppet_defaults();
    bool good = muppet_read(&m->settings, text, why);
    const char *mode = !strcmp(m->settings.rounding, "printed")   ? "muppet"
                       : !strcmp(m->settings.rounding, "nearest") ? "rne"
                                                                  : "sr";
    for (int i = 0; i < m->settings.levels && good; i++) {
        char spec[32];
        (void)snprintf(spec, sizeof spec, "muppet(%d)", m->settings.bits[i]);
        good = rule_parse(&m->rule[i], spec, mode, why);
    }
    m->base.wants_gradients = !m->settings.switches;
    if (good)
        return &m->base;
    release(&m->base);
    return NULL;
}
