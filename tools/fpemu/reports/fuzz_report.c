/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_report.c - what `fpemu fuzz` prints in the end. */
#include "reports/fuzz_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error.h"
#include "cli/spec.h"
#include "common/shown.h"
#include "reports/jsonout.h"

static uint64_t compared(const search *s)
{
    uint64_t sum = 0;
    for (int i = 0; i < INPUT_STAGES; i++)
        sum += s->done[i];
    return sum;
}

/* Of those in order. */
static bool has_failures(const search *s)
{
    return s->outcomes_used > 0 && s->outcomes[0].order < 0;
}

static int by_order(const void *a, const void *b)
{
    return ((const outcome *)a)->order - ((const outcome *)b)->order;
}

/* Single numbers first, as they are short; of others the results. */
static void columns(const search *s, const outcome *o, const char *column[3])
{
    column[s->singles ? 0 : 2] = o->input;
    column[s->singles ? 1 : 0] = o->expected;
    column[s->singles ? 2 : 1] = o->got;
}

static void print_outcomes(const search *s)
{
    outcome head = {.input = "smallest input", .expected = "expected", .got = "got"};
    const char *column[3];
    int wide[2] = {0, 0};
    if (!s->what->converts)
        snprintf(head.input, sizeof head.input, "smallest operands");
    for (size_t i = 0; i <= s->outcomes_used; i++) {
        columns(s, i > 0 ? &s->outcomes[i - 1] : &head, column);
        for (int k = 0; k < 2; k++)
            wide[k] = (int)strlen(column[k]) > wide[k] ? (int)strlen(column[k]) : wide[k];
    }
    columns(s, &head, column);
    printf("%-22s  %9s  %-*s  %-*s  %s\n", "difference", "count", wide[0], column[0], wide[1], column[1], column[2]);
    for (size_t i = 0; i < s->outcomes_used; i++) {
        const outcome *o = &s->outcomes[i];
        columns(s, o, column);
        printf("%-22s  %9" PRIu64 "  %-*s  %-*s  %s\n", o->name, o->count, wide[0], column[0], wide[1], column[1],
               column[2]);
    }
}

static void print_table(const search *s)
{
    char signature[SIGNATURE_SIZE], spec[CLI_SPEC_SIZE], from[OPERANDS_FORMATS_SIZE];
    if (!s->what->converts)
        printf("%s of %s to ", s->what->name, operands_print_formats(s->what, s->from, from));
    printf("%s, %s, %s: ", cli_spec(&s->format, spec), s->decodes ? "decoding" : s->mode,
           signature_print(signature, &s->other.signature));
    shown_put(stdout, s->other.name);
    printf("\ninputs: %s%s\n", s->summary, s->late ? ", ended by the time limit" : "");
    if (s->gave_up)
        puts("given up: too many inputs have no result");
    if (s->outcomes_used > 0)
        print_outcomes(s);
    if (outcome_count(s, false) == 0) {
        puts(compared(s) == 0  ? "nothing could be compared"
             : has_failures(s) ? "no difference where there are results"
             : s->late         ? "no difference up to the time limit"
                               : "no difference");
    }
}

static void print_json(const search *s)
{
    char signature[SIGNATURE_SIZE], spec[CLI_SPEC_SIZE], from[OPERANDS_FORMATS_SIZE];
    json_t *object = jsonout_object(), *stages = jsonout_object(), *lists[2] = {jsonout_array(), jsonout_array()};
    for (int i = 0; s->singles && i < INPUT_STAGES; i++)
        if (s->done[i] > 0)
            jsonout_set(stages, inputs_stage_name((input_stage)i), jsonout_count(s->done[i]));
    for (size_t i = 0; i < s->outcomes_used; i++) {
        const outcome *o = &s->outcomes[i];
        json_t *entry = jsonout_object();
        jsonout_set(entry, "class", jsonout_text(o->name));
        jsonout_set(entry, "count", jsonout_count(o->count));
        jsonout_set(entry, "input", jsonout_text(o->input));
        jsonout_set(entry, "expected", jsonout_text(o->expected));
        jsonout_set(entry, "got", jsonout_text(o->got));
        jsonout_append(lists[o->order < 0], entry);
    }
    jsonout_set(object, "spec", jsonout_text(cli_spec(&s->format, spec)));
    jsonout_set(object, "operation", jsonout_text(s->operation));
    if (s->singles)
        jsonout_set(object, "from", jsonout_text(operands_print_formats(s->what, s->from, from)));
    jsonout_set(object, "signature", jsonout_text(signature_print(signature, &s->other.signature)));
    jsonout_set(object, "against", jsonout_text(s->other.name));
    jsonout_set(object, "rounding",
                s->decodes ? json_null() : jsonout_rounding(&s->rounding, FPEMU_DRAWS(&s->format, &s->rounding)));
    jsonout_set(object, "seed", jsonout_count(s->in.seed));
    jsonout_set(object, "inputs", jsonout_count(compared(s)));
    jsonout_set(object, "tried", jsonout_text(s->summary));
    jsonout_set(object, "stages", stages);
    jsonout_set(object, "exhaustive", jsonout_bool(s->singles && s->done[INPUTS_ALL] == s->in.count[INPUTS_ALL]));
    jsonout_set(object, "time_limit_reached", jsonout_bool(s->late));
    jsonout_set(object, "failure", has_failures(s) ? jsonout_text(s->outcomes[0].got) : json_null());
    jsonout_set(object, "failures", lists[1]);
    jsonout_set(object, "without_result", jsonout_count(outcome_count(s, true)));
    jsonout_set(object, "given_up", jsonout_bool(s->gave_up));
    jsonout_set(object, "mismatches", jsonout_count(outcome_count(s, false)));
    jsonout_set(object, "differences", lists[0]);
    jsonout_print(object);
}

int fuzz_report(search *s, bool json)
{
    const uint64_t failures = outcome_count(s, true);
    qsort(s->outcomes, s->outcomes_used, sizeof *s->outcomes, by_order);
    if (s->late && compared(s) == 0 && !has_failures(s))
        cli_end(CLI_NOT_COMPARED, "%s gave no result before the time limit", s->other.name);
    if (json)
        print_json(s);
    else
        print_table(s);
    const int status = outcome_count(s, false) > 0 ? CLI_FAILURE : has_failures(s) ? CLI_NOT_COMPARED : CLI_OK;
    if (!has_failures(s))
        return status;
    cli_finish_stdout();
    const outcome *first = s->outcomes;
    if (failures <= 1)
        cli_end(status, "%s; the input was %s", first->got, first->input);
    cli_end(status, "%s; the input was %s; %" PRIu64 " inputs have no result", first->got, first->input, failures);
}
