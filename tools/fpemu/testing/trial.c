/* SPDX-License-Identifier: BSD-2-Clause */
/* trial.c - see search.h: batches through the tested code, and what is found, each class with its simplest example. */
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "testing/search.h"

static const char *const failure_names[EXTERNAL_FAILINGS] = {"crash",   "exit",       "hang",   "too-many",
                                                             "too-few", "unreadable", "outside"};

outcome *outcome_take(search *s, int order, const char *part, const char *kind, const double rank[OUTCOME_RANKS])
{
    char name[sizeof s->outcomes->name];
    size_t i = 0;
    int simpler = 0;
    snprintf(name, sizeof name, "%s%s%s", part, kind != NULL ? "/" : "", kind != NULL ? kind : "");
    while (i < s->outcomes_used && strcmp(s->outcomes[i].name, name) != 0)
        i++;
    outcome *o = &s->outcomes[i];
    if (i == s->outcomes_used) {
        s->outcomes_used++;
        *o = (outcome){.order = order};
        memcpy(o->name, name, sizeof name);
        simpler = 1;
    }
    o->count++;
    for (int k = 0; k < OUTCOME_RANKS && simpler == 0; k++)
        simpler = rank[k] < o->rank[k] ? 1 : rank[k] > o->rank[k] ? -1 : 0;
    if (simpler <= 0)
        return NULL;
    memcpy(o->rank, rank, sizeof o->rank);
    return o;
}

uint64_t outcome_count(const search *s, bool failures)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < s->outcomes_used; i++)
        sum += (s->outcomes[i].order < 0) == failures ? s->outcomes[i].count : 0;
    return sum;
}

/* i of the batch has no result; or the `length` from there on, though each alone has. */
static bool take_failure(trial *t, size_t i, size_t length)
{
    search *s = t->s;
    const int order = (int)s->other.failing - EXTERNAL_FAILINGS;
    outcome *o = t->take(t, order, failure_names[s->other.failing], NULL, i);
    for (size_t k = 0; length > 1 && k < s->outcomes_used; k++)
        s->outcomes[k].count -= s->outcomes[k].order == order; /* which counts inputs */
    if (o != NULL) {
        char input[sizeof o->input];
        memcpy(input, o->input, sizeof input);
        o->alone = length == 1;
        if (length > 1)
            snprintf(o->input, sizeof o->input, "a batch of %zu from %.300s on, though none of it alone", length,
                     input);
        snprintf(o->got, sizeof o->got, "%s", s->other.failure);
    }
    s->gave_up = outcome_count(s, true) >= (s->other.failing == EXTERNAL_HUNG ? FAILURES_MOST_HANGS : FAILURES_MOST);
    return !s->gave_up;
}

external_end trial_try(trial *t, size_t first, size_t n)
{
    external *f = &t->s->other;
    t->give(t, first, n);
    memset(f->out, 0xa5, n * f->results * signature_size(f->signature.out)); /* so that what is left out is noticed */
    return clock_seconds() > t->s->deadline ? EXTERNAL_LATE : external_run(f, n, t->s->deadline);
}

static bool run_part(trial *t, size_t first, size_t n, bool guess);

/* A program failed, or nobody knows where: in parts. The first input without a result may be the one to blame, unless
 * the program keeps results back; where that was wrong, it is halves. */
static bool run_parts(trial *t, size_t first, size_t n, bool guess)
{
    const size_t at = t->s->other.failed_at;
    const bool told = at > 0 || t->s->other.failing == EXTERNAL_HUNG; /* to wait once is dear enough */
    if (!guess || at == EXTERNAL_NOWHERE || !told || at + 1 >= n)
        return run_part(t, first, n / 2, guess) && run_part(t, first + n / 2, n - n / 2, guess);
    if (!run_part(t, first, at, false))
        return false;
    const uint64_t before = outcome_count(t->s, true);
    return run_part(t, first + at, 1, false) &&
           run_part(t, first + at + 1, n - at - 1, outcome_count(t->s, true) > before);
}

static bool run_part(trial *t, size_t first, size_t n, bool guess)
{
    search *s = t->s;
    if (n == 0)
        return true;
    const external_end end = trial_try(t, first, n);
    if (end == EXTERNAL_DONE) {
        t->compare(t, first, n);
        return true;
    }
    if (end == EXTERNAL_LATE) {
        s->late = true;
        return false;
    }
    if (n == 1)
        return take_failure(t, first, 1);
    const size_t at = s->other.failed_at, good = s->other.good;
    if (!s->other.program && at != EXTERNAL_NOWHERE) { /* what came before has results, where they can be trusted */
        t->compare(t, first, good);
        return take_failure(t, first + at, 1) && run_part(t, first + good, at - good, false) &&
               run_part(t, first + at + 1, n - at - 1, false);
    }
    const external whole = s->other;
    const uint64_t before = outcome_count(s, true);
    const bool goes_on = run_parts(t, first, n, guess);
    if (goes_on && outcome_count(s, true) == before &&
        whole.failing != EXTERNAL_HUNG) { /* what is slow does not hang */
        s->other.failing = whole.failing;
        memcpy(s->other.failure, whole.failure, sizeof whole.failure);
        return take_failure(t, first, n);
    }
    return goes_on;
}

bool trial_run(trial *t, size_t first, size_t n)
{
    return run_part(t, first, n, true);
}

void trial_shrink(trial *t, uint64_t *codes, size_t n, int tries, bool (*holds)(trial *t))
{
    for (size_t i = 0; i < n; i++) {
        for (uint64_t bit = UINT64_C(1) << 63; bit > 0 && tries > 0; bit /= 2) {
            if ((codes[i] & bit) == 0)
                continue;
            tries--;
            codes[i] ^= bit;
            if (!holds(t))
                codes[i] ^= bit;
        }
    }
}
