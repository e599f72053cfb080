/* SPDX-License-Identifier: BSD-2-Clause */
/* fixed.c - formats by role, then by patterns of tensor names. */
#include "policies/policy.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

typedef struct line {
    char *pattern;
    int role; /* -1: a pattern */
    rule rule;
} line;

typedef struct fixed {
    policy base;
    int count;
    line *lines;
} fixed;

/* Whether a line is about a tensor; role: that of the line, -1: it is a pattern. */
static bool fits(int role, const char *pattern, int which, const char *name)
{
    return role >= 0 ? role == which : fnmatch(pattern, name, 0) == 0;
}

const format_line *format_line_of(int count, const format_line *lines, const char *role, const char *name)
{
    const format_line *last = NULL;
    for (int patterns = 0; patterns < 2; patterns++)
        for (int i = 0; i < count; i++) {
            const int own = role_named(lines[i].pattern);
            if ((own < 0) == patterns && fits(own, lines[i].pattern, role_named(role), name))
                last = &lines[i];
        }
    return last;
}

/* How many tensors took the rule of a line. */
static int apply(const line *from, rounder *r)
{
    int taken = 0;
    for (int which = 0; which < ROLES; which++) {
        for (int i = 0; i < rounder_count(r, (role)which); i++) {
            char name[96];
            tensor_name(r->g, (role)which, i, sizeof name, name);
            if (!fits(from->role, from->pattern, which, name) || !rounder_rounds(r, (role)which, i))
                continue;
            r->rule[which][i] = from->rule;
            taken++;
        }
    }
    return taken;
}

static void assign(policy *p, rounder *r)
{
    const fixed *f = (const fixed *)p;
    for (int i = 0; i < f->count; i++)
        if (f->lines[i].role >= 0)
            apply(&f->lines[i], r);
    for (int i = 0; i < f->count; i++)
        if (f->lines[i].role < 0 && !apply(&f->lines[i], r))
            die("no tensor of this network is called '%s'", f->lines[i].pattern);
}

static void after_gradients(policy *p, rounder *r, uint64_t step)
{
    (void)p, (void)r, (void)step;
}

static void after_epoch(policy *p, rounder *r, int epoch)
{
    (void)p, (void)r, (void)epoch;
}

static size_t save(const policy *p, void *bytes, size_t capacity)
{
    (void)p, (void)bytes, (void)capacity;
    return 0;
}

static bool load(policy *p, rounder *r, const void *bytes, size_t length, trouble *why)
{
    (void)p, (void)r, (void)bytes;
    return length == 0 || fail(why, "the state of the policy has %zu bytes; a fixed policy has none", length);
}

static void release(policy *p)
{
    fixed *f = (fixed *)p;
    for (int i = 0; i < f->count; i++)
        free(f->lines[i].pattern);
    free(f->lines);
    free(f);
}

static const policy_type fixed_type = {.name = "fixed",
                                       .assign = assign,
                                       .after_gradients = after_gradients,
                                       .after_epoch = after_epoch,
                                       .save = save,
                                       .load = load,
                                       .free = release};

policy *policy_fixed(int count, const format_line *lines, trouble *why)
{
    fixed *f = need(1, sizeof *f);
    f->base.type = &fixed_type;
    f->lines = need((size_t)count, sizeof *f->lines);
    for (int i = 0; i < count; i++) {
        line *l = &f->lines[f->count++];
        l->pattern = copy_text(lines[i].pattern, strlen(lines[i].pattern));
        l->role = role_named(lines[i].pattern);
        if (!rule_parse(&l->rule, lines[i].spec, lines[i].mode, why)) {
            release(&f->base);
            return NULL;
        }
    }
    return &f->base;
}
