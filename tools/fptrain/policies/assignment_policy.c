/* SPDX-License-Identifier: BSD-2-Clause */
/* assignment_policy.c - see assignment_policy.h */
#include "policies/assignment_policy.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the mean ratio of a run is made of; in a checkpoint before the log of promotions. */
typedef struct epochs {
    uint64_t count;
    double ratios; /* sum of the ratios at their ends */
} epochs;

typedef struct exception {
    char *pattern;
    rule rule;
} exception;

typedef struct assigned {
    policy base;
    assign_settings settings;
    assignment *now; /* NULL before the first step */
    int exceptions;
    exception *exception;
    double first_ratio, first_bits;
    epochs epochs;
    promoted *log;
    size_t promotions;
} assigned;

static const policy_type assign_type;

static const assigned *as_assigned(const policy *p)
{
    return p && p->type == &assign_type ? (const assigned *)p : NULL;
}

static void put_rule(const assigned *s, rounder *r, const assign_tensor *t)
{
    if (rounder_rounds(r, t->which, t->index))
        r->rule[t->which][t->index] = *assign_rule(&s->settings, t);
}

/* The later one wins. */
static void except(assigned *s, rounder *r)
{
    for (int k = 0; k < s->exceptions; k++) {
        int fits = 0;
        for (int i = 0; i < s->now->tensors; i++) {
            assign_tensor *t = &s->now->tensor[i];
            char name[96];
            tensor_name(r->g, t->which, t->index, sizeof name, name);
            if (fnmatch(s->exception[k].pattern, name, 0) != 0)
                continue;
            t->own = &s->exception[k].rule;
            t->low = false;
            fits++;
        }
        if (!fits)
            die("no tensor of this network is called '%s'", s->exception[k].pattern);
    }
}

static void assign(policy *p, rounder *r)
{
    assigned *s = (assigned *)p;
    trouble why;
    s->now = assignment_new(r->g, graph_batch(r->g));
    if (s->settings.choice.scheme == SCHEME_GROUPS && s->settings.group_count != s->now->groups)
        die("this network has %d groups; the assignment names %d", s->now->groups, s->settings.group_count);
    if (!assignment_choose(s->now, &s->settings.choice, &why))
        die("%s", why.text);
    except(s, r);
    for (int i = 0; i < s->now->tensors; i++)
        put_rule(s, r, &s->now->tensor[i]);
    s->first_ratio = assignment_ratio(s->now);
    s->first_bits = assignment_bits(s->now, &s->settings);
}

/* ---------------------------------------------------------------------------------------------- promotion */

/* A count and a threshold that are the same decimal share are the same double. */
static bool overflows(const assign_settings *s, const fpemu_stats *seen, uint64_t *outside)
{
    if (!seen->count)
        return false;
    *outside = s->promote == PROMOTE_CODE ? seen->overflow : seen->clipped + seen->infinite;
    const double share = (double)*outside / (double)seen->count;
    return s->promote == PROMOTE_CODE ? share >= s->threshold : share > s->threshold;
}

static void promote(assigned *s, rounder *r, const promoted *one)
{
    if (s->promotions % 64 == 0)
        s->log = need_more(s->log, s->promotions + 64, sizeof *s->log);
    s->log[s->promotions++] = *one;
    assign_tensor *t = &s->now->tensor[s->now->at[one->which][one->index]];
    t->low = false;
    put_rule(s, r, t);
}

static void promote_what_overflows(assigned *s, rounder *r, uint64_t step, bool values)
{
    if (s->settings.promote == PROMOTE_OFF)
        return;
    for (int i = 0; i < s->now->tensors; i++) {
        const assign_tensor *t = &s->now->tensor[i];
        if (!t->low || t->which == ROLE_DV || (t->which == ROLE_V && !values))
            continue;
        const fpemu_stats *seen = &r->seen[t->which][t->index];
        uint64_t outside;
        if (overflows(&s->settings, seen, &outside))
            promote(s, r, &(promoted){step, t->which, (uint64_t)t->index, outside, seen->count});
    }
}

static void after_gradients(policy *p, rounder *r, uint64_t step)
{
    promote_what_overflows((assigned *)p, r, step, true);
}

/* Without a master copy the update is what rounds parameters: what the passes see of them lies in the format. */
static void after_update(policy *p, rounder *r, uint64_t step)
{
    if (!p->optimizer->settings.master)
        promote_what_overflows((assigned *)p, r, step, false);
}

static void after_epoch(policy *p, rounder *r, int epoch)
{
    assigned *s = (assigned *)p;
    (void)r, (void)epoch;
    s->epochs.count++;
    s->epochs.ratios += assignment_ratio(s->now);
}

/* ---------------------------------------------------------------------------------------------- checkpoints */

/* What is low follows from the settings and the log. */
static size_t save(const policy *p, void *bytes, size_t capacity)
{
    const assigned *s = (const assigned *)p;
    const size_t log = s->promotions * sizeof *s->log;
    if (capacity < sizeof s->epochs + log)
        return sizeof s->epochs + log;
    memcpy(bytes, &s->epochs, sizeof s->epochs);
    if (log)
        memcpy((char *)bytes + sizeof s->epochs, s->log, log);
    return sizeof s->epochs + log;
}

static bool is_low(const assigned *s, const rounder *r, const promoted *one)
{
    if ((one->which != ROLE_V && one->which != ROLE_W) || one->index >= (uint64_t)rounder_count(r, (role)one->which))
        return false;
    const int at = s->now->at[one->which][one->index];
    return at >= 0 && s->now->tensor[at].low;
}

/* After assign. */
static bool load(policy *p, rounder *r, const void *bytes, size_t length, trouble *why)
{
    assigned *s = (assigned *)p;
    if (length < sizeof s->epochs || (length - sizeof s->epochs) % sizeof *s->log)
        return fail(why, "the state of an assignment in the checkpoint has %zu bytes, which cannot be", length);
    memcpy(&s->epochs, bytes, sizeof s->epochs);
    for (size_t at = sizeof s->epochs; at < length; at += sizeof(promoted)) {
        promoted one;
        memcpy(&one, (const char *)bytes + at, sizeof one);
        if (!is_low(s, r, &one))
            return fail(why, "the checkpoint promotes a tensor that is not low under this assignment");
        promote(s, r, &one);
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------- for the record */

static void note(const policy *p, policy_tell *tell, void *to)
{
    const assigned *s = (const assigned *)p;
    assignment *high = assignment_new(s->now->g, s->now->batch);
    const double most = assignment_bits(high, &s->settings), last = assignment_bits(s->now, &s->settings);
    assignment_free(high);
    const double ratio = assignment_ratio(s->now);
    tell(to, "low_ratio_first", s->first_ratio);
    tell(to, "low_ratio_last", ratio);
    tell(to, "low_ratio_mean", s->epochs.count ? s->epochs.ratios / (double)s->epochs.count : ratio);
    tell(to, "aggregate_bits_first", s->first_bits);
    tell(to, "aggregate_bits_last", last);
    tell(to, "promoted_share_of_high", most > 0 ? (last - s->first_bits) / most : 0);
    tell(to, "promotions", (double)s->promotions);
    for (size_t i = 0; i < s->promotions; i++) {
        char name[96], key[128];
        tensor_name(s->now->g, (role)s->log[i].which, (int)s->log[i].index, sizeof name, name);
        snprintf(key, sizeof key, "promoted_after_step.%s", name);
        tell(to, key, (double)s->log[i].step + 1); /* as the log counts them */
        snprintf(key, sizeof key, "promoted_at_overflow.%s", name);
        tell(to, key, (double)s->log[i].outside / (double)s->log[i].elements);
    }
}

/* ---------------------------------------------------------------------------------------------- making one */

static void release(policy *p)
{
    assigned *s = (assigned *)p;
    assignment_free(s->now);
    for (int i = 0; i < s->exceptions; i++)
        free(s->exception[i].pattern);
    free(s->exception);
    free(s->log);
    free(s);
}

static const policy_type assign_type = {.name = "assign",
                                        .assign = assign,
                                        .after_gradients = after_gradients,
                                        .after_update = after_update,
                                        .after_epoch = after_epoch,
                                        .save = save,
                                        .load = load,
                                        .free = release,
                                        .note = note};

static bool add_exception(assigned *s, const format_line *line, trouble *why)
{
    exception *e = &s->exception[s->exceptions];
    if (role_named(line->pattern) >= 0)
        return fail(why, "under an assignment [formats] has exceptions by name, not the role '%s'", line->pattern);
    if (!rule_parse(&e->rule, line->spec, line->mode, why))
        return false;
    e->pattern = copy_text(line->pattern, strlen(line->pattern));
    s->exceptions++;
    return true;
}

policy *policy_assign(const char *text, int count, const format_line *lines, trouble *why)
{
    assigned *s = need(1, sizeof *s);
    s->base.type = &assign_type;
    s->settings = assign_defaults();
    s->exception = need((size_t)count, sizeof *s->exception);
    bool good = assign_read(&s->settings, text, why) && assign_complete(&s->settings, why);
    for (int i = 0; i < count && good; i++)
        good = add_exception(s, &lines[i], why);
    if (good)
        return &s->base;
    release(&s->base);
    return NULL;
}

const promoted *policy_promotions(const policy *p, size_t *count)
{
    const assigned *s = as_assigned(p);
    *count = s ? s->promotions : 0;
    return s ? s->log : NULL;
}

const assignment *policy_assignment(const policy *p)
{
    const assigned *s = as_assigned(p);
    return s ? s->now : NULL;
}
