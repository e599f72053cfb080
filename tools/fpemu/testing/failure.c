/* SPDX-License-Identifier: BSD-2-Clause */
/* failure.c - see failure.h */
#include "testing/failure.h"

#include <string.h>

#include "testing/difference.h"

const char *const failure_names[EXTERNAL_FAILINGS] = {"crash",   "exit",       "hang",   "too-many",
                                                      "too-few", "unreadable", "outside"};

enum { TRIES = 400, TRIES_OF_HANGS = 4 };

uint64_t failure_count(const search *s)
{
    uint64_t sum = 0;
    for (int i = 0; i < EXTERNAL_FAILINGS; i++)
        sum += s->failed[i].count;
    return sum;
}

const failure *failure_any(const search *s)
{
    for (int i = 0; i < EXTERNAL_FAILINGS; i++)
        if (s->failed[i].length > 0)
            return &s->failed[i];
    return NULL;
}

size_t failure_find(const search *s, size_t first, size_t end)
{
    const uint64_t count = failure_count(s);
    for (; count > 0 && first < end; first++) {
        for (uint64_t f = 0; f < count; f++) {
            bool same = true;
            for (int k = 0; k < s->what->operands; k++)
                same = same && s->codes[k][first] == s->failing[f][k];
            if (same)
                return first;
        }
    }
    return end;
}

bool failure_take(search *s, size_t i, size_t length)
{
    failure *f = &s->failed[s->other.failing];
    number operand[OPERATION_MOST] = {{0, 0}, {0, 0}, {0, 0}};
    for (int k = 0; k < s->what->operands; k++)
        operand[k] = difference_operand(s, k, i);
    const bool smaller = length < f->length || (length == f->length && difference_is_smaller(s, operand, f->operand));
    if (f->length == 0 || smaller) {
        memcpy(f->operand, operand, sizeof f->operand);
        memcpy(f->text, s->other.failure, sizeof f->text);
        f->length = length;
    }
    const uint64_t count = failure_count(s);
    for (int k = 0; length == 1 && k < s->what->operands; k++)
        s->failing[count][k] = s->codes[k][i];
    f->count += length == 1;
    s->gave_up = failure_count(s) >= FAILURES_MOST || s->failed[EXTERNAL_HUNG].count >= FAILURES_MOST_HANGS;
    return !s->gave_up;
}

/* Whether the code still fails so on the operands with one bit less. */
static bool fails_without(search *s, int failing, number operand[OPERATION_MOST], int which, uint64_t bit,
                          external_end (*run)(search *s))
{
    for (int k = 0; k < s->what->operands; k++)
        s->codes[k][0] = operand[k].code & ~(k == which ? bit : 0);
    if (run(s) != EXTERNAL_FAILED || (int)s->other.failing != failing)
        return false;
    operand[which] = difference_operand(s, which, 0);
    return true;
}

static void shrink(search *s, int failing, external_end (*run)(search *s))
{
    failure *f = &s->failed[failing];
    int tries = failing == EXTERNAL_HUNG ? TRIES_OF_HANGS : TRIES;
    for (int k = 0; k < s->what->operands; k++) {
        for (int place = 63; place >= 0 && tries > 0; place--) {
            const uint64_t bit = UINT64_C(1) << place;
            if ((f->operand[k].code & bit) == 0)
                continue;
            tries--;
            if (fails_without(s, failing, f->operand, k, bit, run))
                memcpy(f->text, s->other.failure, sizeof f->text);
        }
    }
}

void failure_shrink(search *s, external_end (*run)(search *s))
{
    for (int i = 0; i < EXTERNAL_FAILINGS; i++)
        if (s->failed[i].length == 1)
            shrink(s, i, run);
}
