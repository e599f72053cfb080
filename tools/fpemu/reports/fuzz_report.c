/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_report.c - what `fpemu fuzz` prints in the end. */
#include "reports/fuzz_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error.h"
#include "cli/number.h"
#include "cli/spec.h"
#include "common/shown.h"
#include "reports/jsonout.h"
#include "testing/difference.h"
#include "testing/failure.h"

static unsigned bits_of(external_type type, const fpemu_format *format, uint64_t code)
{
    const unsigned all = 8 * (unsigned)signature_size(type);
    const bool in_width = format->bits >= 64 || code >> format->bits == 0;
    return signature_is_code(type) && in_width ? format->bits : all;
}

uint64_t fuzz_report_inputs(const search *s)
{
    uint64_t sum = 0;
    for (int i = 0; i < INPUT_STAGES; i++)
        sum += s->done[i];
    return sum;
}

static const char *number_text(char text[2 * NUMBER_SIZE], external_type type, const fpemu_format *format, number x)
{
    char value[NUMBER_SIZE], code[NUMBER_SIZE];
    snprintf(text, 2 * NUMBER_SIZE, "%s (%s)", number_print(value, x.value),
             number_print_code(code, x.code, bits_of(type, format, x.code)));
    return text;
}

/* Operands are codes of their format, also where the tested code gets their values. */
static external_type operand_type(const search *s, int k)
{
    return s->what->converts ? s->other.signature.in : signature_code_type(fpemu_format_code_size(&s->from[k]));
}

enum { OPERANDS_SIZE = OPERATION_MOST * (2 * NUMBER_SIZE + 2) };

static const char *operands_text(char text[OPERANDS_SIZE], const search *s, const number operand[OPERATION_MOST])
{
    size_t used = 0;
    for (int k = 0; k < s->what->operands; k++) {
        char one[2 * NUMBER_SIZE];
        used += (size_t)snprintf(text + used, OPERANDS_SIZE - used, "%s%s", k > 0 ? ", " : "",
                                 number_text(one, operand_type(s, k), &s->from[k], operand[k]));
    }
    return text;
}

/* Enough for 17 digits with a sign, a point and an exponent. */
static int text_width(external_type type)
{
    return (int)sizeof "-1.2345678901234567e-308 (0x)" + 2 * (int)signature_size(type);
}

/* Of the operands in the table: those of operations are not padded beyond what there is. */
static int operands_width(const search *s)
{
    int wide = s->what->converts ? text_width(s->other.signature.in) : (int)sizeof "smallest operands";
    for (int i = 0; i < DIFFERENCES && !s->what->converts; i++) {
        char text[OPERANDS_SIZE];
        const int length = s->found[i].count > 0 ? (int)strlen(operands_text(text, s, s->found[i].operand)) : 0;
        wide = length > wide ? length : wide;
    }
    return wide;
}

/* "12 (0x41400000)", or of which batch it is the beginning. */
static const char *example_text(char text[OPERANDS_SIZE + 80], const search *s, const failure *f)
{
    char input[OPERANDS_SIZE];
    operands_text(input, s, f->operand);
    if (f->length == 1)
        snprintf(text, OPERANDS_SIZE + 80, "%s", input);
    else
        snprintf(text, OPERANDS_SIZE + 80, "a batch of %zu from %s on, though none of it alone", f->length, input);
    return text;
}

/* What could not be compared: how many inputs, the smallest, and what happened. */
static void print_failures(const search *s)
{
    printf("%-18s  %10s  %-*s  %s\n", "no result", "inputs", text_width(operand_type(s, 0)),
           s->what->converts ? "smallest input" : "smallest operands", "what happened");
    for (int i = 0; i < EXTERNAL_FAILINGS; i++) {
        const failure *f = &s->failed[i];
        char text[OPERANDS_SIZE + 80];
        if (f->length > 0) {
            printf("%-18s  %10" PRIu64 "  %-*s  %s\n", failure_names[i], f->count, text_width(operand_type(s, 0)),
                   example_text(text, s, f), f->text);
        }
    }
    if (s->gave_up)
        puts("given up: too many inputs have no result");
}

void fuzz_report_table(const search *s)
{
    const external_signature *t = &s->other.signature;
    char signature[SIGNATURE_SIZE], spec[CLI_SPEC_SIZE], input[OPERANDS_SIZE], expected[2 * NUMBER_SIZE];
    char got[2 * NUMBER_SIZE], from[OPERANDS_FORMATS_SIZE];
    if (!s->what->converts)
        printf("%s of %s to ", s->what->name, operands_print_formats(s->what, s->from, from));
    printf("%s, %s, %s: ", cli_spec(&s->format, spec), s->decodes ? "decoding" : s->mode,
           signature_print(signature, t));
    shown_put(stdout, s->other.name);
    printf("\ninputs:%s", fuzz_report_inputs(s) == 0 ? " none" : "");
    for (int i = 0; i < INPUT_STAGES; i++)
        if (s->done[i] > 0)
            printf(" %" PRIu64 " %s", s->done[i], inputs_stage_name((input_stage)i));
    if (s->done[INPUTS_ALL] == 0)
        printf(", seed %" PRIu64, s->in.seed);
    puts(s->late ? ", ended by the time limit" : "");
    if (failure_any(s) != NULL)
        print_failures(s);
    if (difference_count(s) == 0) {
        puts(fuzz_report_inputs(s) == 0 ? "nothing could be compared"
             : failure_any(s) != NULL   ? "no difference where there are results"
             : s->late                  ? "no difference up to the time limit"
                                        : "no difference");
        return;
    }
    const int wide = operands_width(s), right = text_width(t->out);
    printf("%-18s  %10s  %-*s  %-*s  %s\n", "difference", "count", wide,
           s->what->converts ? "smallest input" : "smallest operands", right, "expected", "got");
    for (int i = 0; i < DIFFERENCES; i++) {
        const finding *f = &s->found[i];
        if (f->count > 0) {
            printf("%-18s  %10" PRIu64 "  %-*s  %-*s  %s\n", difference_names[i], f->count, wide,
                   operands_text(input, s, f->operand), right, number_text(expected, t->out, &s->format, f->expected),
                   number_text(got, t->out, &s->format, f->got));
        }
    }
}

static json_t *number_json(external_type type, const fpemu_format *format, number x)
{
    char code[NUMBER_SIZE];
    json_t *object = jsonout_object();
    jsonout_set(object, "value", jsonout_real(x.value));
    jsonout_set(object, "code", jsonout_text(number_print_code(code, x.code, bits_of(type, format, x.code))));
    return object;
}

static json_t *operands_json(const search *s, const number operand[OPERATION_MOST])
{
    json_t *list = jsonout_array();
    for (int k = 0; k < s->what->operands; k++)
        jsonout_append(list, number_json(operand_type(s, k), &s->from[k], operand[k]));
    return list;
}

static json_t *failures_json(const search *s)
{
    json_t *list = jsonout_array();
    for (int i = 0; i < EXTERNAL_FAILINGS; i++) {
        const failure *f = &s->failed[i];
        if (f->length == 0)
            continue;
        json_t *entry = jsonout_object();
        jsonout_set(entry, "class", jsonout_text(failure_names[i]));
        jsonout_set(entry, "count", jsonout_count(f->count));
        jsonout_set(entry, "batch", jsonout_count(f->length));
        if (s->what->converts)
            jsonout_set(entry, "input", number_json(s->other.signature.in, &s->from[0], f->operand[0]));
        else
            jsonout_set(entry, "operands", operands_json(s, f->operand));
        jsonout_set(entry, "what", jsonout_text(f->text));
        jsonout_append(list, entry);
    }
    return list;
}

void fuzz_report_json(const search *s)
{
    const external_signature *t = &s->other.signature;
    char signature[SIGNATURE_SIZE], spec[CLI_SPEC_SIZE], from[OPERANDS_FORMATS_SIZE];
    json_t *object = jsonout_object(), *stages = jsonout_object(), *list = jsonout_array();
    for (int i = 0; i < INPUT_STAGES; i++)
        if (s->done[i] > 0)
            jsonout_set(stages, inputs_stage_name((input_stage)i), jsonout_count(s->done[i]));
    for (int i = 0; i < DIFFERENCES; i++) {
        const finding *f = &s->found[i];
        if (f->count > 0) {
            json_t *entry = jsonout_object();
            jsonout_set(entry, "class", jsonout_text(difference_names[i]));
            jsonout_set(entry, "count", jsonout_count(f->count));
            if (s->what->converts)
                jsonout_set(entry, "input", number_json(t->in, &s->from[0], f->operand[0]));
            else
                jsonout_set(entry, "operands", operands_json(s, f->operand));
            jsonout_set(entry, "expected", number_json(t->out, &s->format, f->expected));
            jsonout_set(entry, "got", number_json(t->out, &s->format, f->got));
            jsonout_append(list, entry);
        }
    }
    jsonout_set(object, "spec", jsonout_text(cli_spec(&s->format, spec)));
    jsonout_set(object, "operation", jsonout_text(s->what->name));
    jsonout_set(object, "from", jsonout_text(operands_print_formats(s->what, s->from, from)));
    jsonout_set(object, "signature", jsonout_text(signature_print(signature, t)));
    jsonout_set(object, "against", jsonout_text(s->other.name));
    jsonout_set(object, "rounding", s->decodes ? json_null() : jsonout_rounding(&s->rounding));
    jsonout_set(object, "seed", jsonout_count(s->in.seed));
    jsonout_set(object, "inputs", jsonout_count(fuzz_report_inputs(s)));
    jsonout_set(object, "stages", stages);
    jsonout_set(object, "exhaustive", jsonout_bool(s->done[INPUTS_ALL] == s->in.count[INPUTS_ALL]));
    jsonout_set(object, "time_limit_reached", jsonout_bool(s->late));
    jsonout_set(object, "failure", failure_any(s) != NULL ? jsonout_text(failure_any(s)->text) : json_null());
    jsonout_set(object, "failures", failures_json(s));
    jsonout_set(object, "without_result", jsonout_count(failure_count(s)));
    jsonout_set(object, "given_up", jsonout_bool(s->gave_up));
    jsonout_set(object, "mismatches", jsonout_count(difference_count(s)));
    jsonout_set(object, "differences", list);
    jsonout_print(object);
}

_Noreturn void fuzz_report_failure(const search *s, int status)
{
    char input[OPERANDS_SIZE + 80];
    const failure *f = failure_any(s);
    const uint64_t count = failure_count(s);
    cli_finish_stdout();
    if (count > 1) {
        cli_end(status, "%s; the input was %s; %" PRIu64 " inputs have no result", f->text, example_text(input, s, f),
                count);
    }
    cli_end(status, "%s; the input was %s", f->text, example_text(input, s, f));
}

/* ------------------------------------------------------------------------------------------------ outcomes */

static int by_order(const void *a, const void *b)
{
    return ((const outcome *)a)->order - ((const outcome *)b)->order;
}

static void print_outcomes(const search *s)
{
    const uint64_t failures = outcome_count(s, true), differences = outcome_count(s, false);
    char signature[SIGNATURE_SIZE], spec[CLI_SPEC_SIZE];
    printf("%s, %s, %s: ", cli_spec(&s->format, spec), s->mode, signature_print(signature, &s->other.signature));
    shown_put(stdout, s->other.name);
    printf("\ninputs: %s%s\n", s->summary, s->late ? "; ended by the time limit" : "");
    if (s->gave_up)
        puts("given up: too many inputs have no result");
    if (failures + differences > 0)
        printf("%-22s  %9s  %-36s  %-36s  %s\n", "difference", "count", "expected", "got", "smallest input");
    for (size_t i = 0; i < s->outcomes_used; i++) {
        const outcome *o = &s->outcomes[i];
        printf("%-22s  %9" PRIu64 "  %-36s  %-36s  %s\n", o->name, o->count, o->expected, o->got, o->input);
    }
    if (differences == 0) {
        puts(fuzz_report_inputs(s) == 0 ? "nothing could be compared"
             : failures > 0             ? "no difference where there are results"
             : s->late                  ? "no difference up to the time limit"
                                        : "no difference");
    }
}

static void print_outcomes_json(const search *s)
{
    char signature[SIGNATURE_SIZE], spec[CLI_SPEC_SIZE];
    json_t *object = jsonout_object(), *lists[2] = {jsonout_array(), jsonout_array()};
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
    jsonout_set(object, "signature", jsonout_text(signature_print(signature, &s->other.signature)));
    jsonout_set(object, "against", jsonout_text(s->other.name));
    jsonout_set(object, "rounding", jsonout_rounding(&s->rounding));
    jsonout_set(object, "inputs", jsonout_count(fuzz_report_inputs(s)));
    jsonout_set(object, "tried", jsonout_text(s->summary));
    jsonout_set(object, "time_limit_reached", jsonout_bool(s->late));
    jsonout_set(object, "failures", lists[1]);
    jsonout_set(object, "without_result", jsonout_count(outcome_count(s, true)));
    jsonout_set(object, "given_up", jsonout_bool(s->gave_up));
    jsonout_set(object, "mismatches", jsonout_count(outcome_count(s, false)));
    jsonout_set(object, "differences", lists[0]);
    jsonout_print(object);
}

int fuzz_report_outcomes(search *s, bool json)
{
    const uint64_t failures = outcome_count(s, true);
    const int status = outcome_count(s, false) > 0 ? CLI_FAILURE : failures > 0 ? CLI_NOT_COMPARED : CLI_OK;
    if (s->late && fuzz_report_inputs(s) == 0 && failures == 0)
        cli_end(CLI_NOT_COMPARED, "%s gave no result before the time limit", s->other.name);
    qsort(s->outcomes, s->outcomes_used, sizeof *s->outcomes, by_order);
    if (json)
        print_outcomes_json(s);
    else
        print_outcomes(s);
    if (failures > 0) {
        cli_finish_stdout();
        cli_end(status, "%s; the input was %s; %" PRIu64 " without a result", s->outcomes[0].got, s->outcomes[0].input,
                failures);
    }
    return status;
}
