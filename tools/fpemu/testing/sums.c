/* SPDX-License-Identifier: BSD-2-Clause */
/* sums.c - see search.h: differences in dot products and products of matrices. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error.h"
#include "cli/number.h"
#include "cli/progress.h"
#include "cli/spec.h"
#include "testing/difference.h"
#include "testing/inputs.h"

enum { BATCH = 4096, TRIES = 400, TRIES_OF_PROGRAMS = 100 }; /* of each class; of all */

typedef struct sums {
    trial trial;
    dots *d;
    double bound;                 /* 0: results are those of the model */
    size_t total, results;        /* codes and results of one product */
    uint64_t zero[DOTS_OPERANDS]; /* codes that change no sum: 0, and scales of 1 */
    uint64_t *codes;              /* a batch */
    double *want, *slack;         /* its results, and by how much they may differ */
    bool stopped;                 /* no smaller examples: the time is over, or one of them hung */
    unsigned which;               /* case */
    uint64_t *example[OUTCOMES];  /* of each case */
} sums;

/* --------------------------------------------------------------------------------------------- comparison */

/* What is right for product i of the batch. Each product may underflow; no bound holds where a sum or its parts are
 * no numbers of the format. */
static void expect(sums *t, size_t i)
{
    const search *s = t->trial.s;
    double *want = t->want + i * t->results, *slack = t->slack + i * t->results;
    if (t->bound == 0) {
        dots_run(t->d, &s->rounding, t->codes + i * t->total, want, NULL);
        return;
    }
    dots_exact(t->d, t->codes + i * t->total, want, slack);
    for (size_t k = 0; k < t->results; k++)
        slack[k] = slack[k] <= fpemu_format_max(&s->format)
                       ? t->bound * slack[k] + (double)t->d->count[DOTS_A] * fpemu_format_min_positive(&s->format)
                       : (double)INFINITY;
}

/* A result of the model as the tested code gives it. */
static number as_result(const search *s, double y)
{
    const external_type out = s->other.signature.out;
    uint64_t code = signature_is_code(out) ? fpemu_encode_one_f64(&s->format, &s->rounding, y, 0) : 0;
    if (!signature_is_code(out))
        difference_store(out, &code, 0, y);
    return difference_number(out, &s->format, code);
}

static number result(const search *s, size_t i)
{
    const external_type out = s->other.signature.out;
    return difference_number(out, &s->format, number_load_code(s->other.out, signature_size(out), i));
}

/* The first result of product i of the batch that is wrong, where it came out at place `at`; t->results: none. */
static size_t first_wrong(const sums *t, size_t i, size_t at)
{
    const search *s = t->trial.s;
    size_t k = 0;
    for (bool right = true; k < t->results; k++) {
        const double want = t->want[i * t->results + k], slack = t->slack[i * t->results + k];
        const number got = result(s, at * t->results + k);
        right = t->bound == 0 ? difference_same(s, as_result(s, want), got)
                              : isinf(slack) || fabs(got.value - want) <= slack;
        if (!right)
            break;
    }
    return k;
}

/* In words, what is no 0, or scale of 1; returns how many these are. */
static size_t describe(const sums *t, const uint64_t *codes, char *text, size_t size)
{
    size_t used = 0, shown = 0, all = 0;
    for (int s = 0; s < DOTS_OPERANDS; s++) {
        for (size_t k = 0; k < t->d->all[s]; k++, codes++) {
            char value[NUMBER_SIZE];
            all += *codes != t->zero[s];
            if (*codes == t->zero[s] || used + 2 * NUMBER_SIZE > size)
                continue;
            shown++;
            used += (size_t)snprintf(text + used, size - used, "%s[%zu] = %s, ", dots_names[s], k,
                                     number_print(value, fpemu_decode_one_f64(&t->d->format[s], *codes)));
        }
    }
    if (all > shown)
        snprintf(text + used, size - used, "and %zu more", all - shown);
    else
        snprintf(text + used, size - used, "0 %s", used > 0 ? "elsewhere" : "everywhere");
    return all;
}

static outcome *take(trial *base, int order, const char *part, const char *kind, size_t i)
{
    const sums *t = (sums *)(void *)base;
    char input[sizeof((outcome *)0)->input];
    const double rank[OUTCOME_RANKS] = {(double)describe(t, t->codes + i * t->total, input, sizeof input)};
    outcome *o = outcome_take(base->s, order, part, kind, rank);
    if (o != NULL)
        memcpy(o->input, input, sizeof input);
    return o;
}

/* Result k of product i of the batch, which came out at place `at`, beside what is right. */
static void show(const sums *t, outcome *o, size_t i, size_t at, size_t k)
{
    const search *s = t->trial.s;
    const size_t place = i * t->results + k;
    const number want = as_result(s, t->want[place]), got = result(s, at * t->results + k);
    char value[NUMBER_SIZE], slack[NUMBER_SIZE];
    if (t->bound > 0)
        snprintf(o->expected, sizeof o->expected, "[%zu] %s +- %s", k, number_print(value, t->want[place]),
                 number_print(slack, t->slack[place]));
    else
        snprintf(o->expected, sizeof o->expected, "[%zu] %s (0x%" PRIx64 ")", k, number_print(value, want.value),
                 want.code);
    snprintf(o->got, sizeof o->got, "%s (0x%" PRIx64 ")", number_print(value, got.value), got.code);
}

static void compare(trial *base, size_t first, size_t n)
{
    sums *t = (sums *)(void *)base;
    for (size_t i = first; i < first + n; i++) {
        const size_t wrong = first_wrong(t, i, i - first);
        outcome *o = wrong < t->results ? take(base, (int)t->which, dots_case(t->which), NULL, i) : NULL;
        if (o != NULL) {
            uint64_t **kept = &t->example[t->which];
            *kept = *kept != NULL ? *kept : cli_allocate(t->total, sizeof **kept);
            memcpy(*kept, t->codes + i * t->total, t->total * sizeof **kept);
            show(t, o, i, i - first, wrong);
        }
        for (size_t k = 0; k < t->results; k++)
            if (!isinf(t->slack[i * t->results + k])) {
                base->s->done[INPUTS_RANDOM]++;
                break;
            }
    }
}

static void give(trial *base, size_t first, size_t n)
{
    sums *t = (sums *)(void *)base;
    external *f = &base->s->other;
    const external_type in = f->signature.in;
    for (size_t i = 0; i < n; i++) {
        const uint64_t *code = t->codes + (first + i) * t->total;
        for (int s = 0, k = 0; s < DOTS_OPERANDS; k += t->d->all[s++] > 0)
            for (size_t j = i * t->d->all[s]; j < (i + 1) * t->d->all[s]; j++, code++)
                if (signature_is_code(in))
                    number_store_code(f->in[k], signature_size(in), j, *code);
                else
                    difference_store(in, f->in[k], j, fpemu_decode_one_f64(&t->d->format[s], *code));
    }
}

/* ------------------------------------------------------------------------------------------ small examples */

/* A result for the codes at the front of the batch is still wrong. */
static bool still_wrong(trial *base)
{
    sums *t = (sums *)(void *)base;
    if (t->stopped)
        return false;
    expect(t, 0);
    const external_end end = trial_try(base, 0, 1);
    t->stopped = end == EXTERNAL_LATE || (end == EXTERNAL_FAILED && base->s->other.failing == EXTERNAL_HUNG);
    return end == EXTERNAL_DONE && first_wrong(t, 0, 0) < t->results;
}

/* Clears an operand, its halves, quarters, ..., one by one; returns how many tries are left. */
static int clear(sums *t, uint64_t *kept, int s, size_t from, int tries)
{
    for (size_t n = t->d->all[s]; n > 0; n /= 2) {
        for (size_t first = 0; first < t->d->all[s] && tries > 0; first += n) {
            for (size_t k = first; k < first + n && k < t->d->all[s]; k++)
                t->codes[from + k] = t->zero[s];
            if (memcmp(t->codes, kept, t->total * sizeof *kept) == 0)
                continue;
            tries--;
            const bool wrong = still_wrong(&t->trial);
            memcpy(wrong ? kept : t->codes, wrong ? t->codes : kept, t->total * sizeof *kept);
        }
    }
    return tries;
}

/* The example of the outcome with less in it: numbers become 0, scales 1, then numbers have fewer bits. */
static void shrink(sums *t, outcome *o)
{
    const search *s = t->trial.s;
    uint64_t *kept = t->example[o->order];
    int tries = s->other.program ? TRIES_OF_PROGRAMS / (int)s->outcomes_used : TRIES;
    memcpy(t->codes, kept, t->total * sizeof *kept);
    for (int k = 0, from = 0; k < DOTS_OPERANDS; from += (int)t->d->all[k++])
        tries = clear(t, kept, k, (size_t)from, tries);
    for (int k = 0, from = 0; k < DOTS_OPERANDS; from += (int)t->d->all[k++])
        if (k != DOTS_SCALES_A && k != DOTS_SCALES_B)
            trial_shrink(&t->trial, t->codes + from, t->d->all[k], tries, still_wrong);
    if (!still_wrong(&t->trial))
        return; /* of code that does not repeat itself the example stays as it was */
    describe(t, t->codes, o->input, sizeof o->input);
    show(t, o, 0, 0, first_wrong(t, 0, 0));
}

/* --------------------------------------------------------------------------------------------------- search */

static bool search_case(sums *t, size_t batch, progress *bar)
{
    const uint64_t count = dots_count(t->d, t->which);
    for (uint64_t first = 0; first < count; first += batch) {
        const size_t n = count - first < batch ? (size_t)(count - first) : batch;
        for (size_t i = 0; i < n; i++) {
            dots_codes(t->d, t->which, first + i, t->codes + i * t->total);
            expect(t, i);
        }
        if (!trial_run(&t->trial, 0, n))
            return false;
        progress_advance(bar, n);
    }
    return true;
}

void sums_search(search *s, dots *d, bool matrices, double bound)
{
    sums t = {.trial = {s, give, compare, take}, .d = d, .bound = bound, .results = d->rows * d->columns};
    size_t most = t.results;
    uint64_t count = 0;
    for (int k = 0, used = 0; k < DOTS_OPERANDS; used += d->all[k++] > 0) {
        t.total += d->all[k];
        t.zero[k] = inputs_nearest(&d->format[k], k == DOTS_SCALES_A || k == DOTS_SCALES_B ? 1 : 0);
        most = d->all[k] > most ? d->all[k] : most;
        if (d->all[k] > 0)
            s->other.width[used] = d->all[k];
    }
    const size_t batch = EXTERNAL_BATCH / most < BATCH ? EXTERNAL_BATCH / most : BATCH;
    s->other.results = t.results;
    s->other.size[0] = matrices ? d->rows : d->count[DOTS_A];
    s->other.size[1] = d->columns;
    s->other.size[2] = d->count[DOTS_A];
    s->other.sizes = matrices ? 3 : 1;
    t.codes = cli_allocate(batch * t.total, sizeof *t.codes);
    t.want = cli_allocate(batch * t.results, sizeof *t.want);
    t.slack = cli_allocate(batch * t.results, sizeof *t.slack);
    for (unsigned which = 0; dots_case(which) != NULL; which++)
        count += dots_count(d, which);
    progress bar = progress_start("fuzz", count);
    while (dots_case(t.which) != NULL && search_case(&t, batch, &bar))
        t.which++;
    progress_hide();
    for (size_t i = 0; i < s->outcomes_used; i++)
        if (s->outcomes[i].order >= 0)
            shrink(&t, &s->outcomes[i]);
    char rows[50] = "", from[80] = "", spec[CLI_SPEC_SIZE];
    for (int k = 0; k < DOTS_OPERANDS; k++)
        if (d->all[k] > 0)
            snprintf(from + strlen(from), sizeof from - strlen(from), "%s%s", k > 0 ? "," : "",
                     cli_spec(&d->format[k], spec));
    if (matrices)
        snprintf(rows, sizeof rows, "%zux%zux", d->rows, d->columns);
    snprintf(s->summary, sizeof s->summary, "%" PRIu64 " %s products of %s%zu, of %s, %.60s, seed %" PRIu64,
             s->done[INPUTS_RANDOM], matrices ? "matrix" : "dot", rows, d->count[DOTS_A], from,
             bound > 0 ? "exact sums" : d->text, d->seed);
    for (size_t i = 0; i < OUTCOMES; i++)
        free(t.example[i]);
    free(t.codes);
    free(t.want);
    free(t.slack);
}
