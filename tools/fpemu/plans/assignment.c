/* SPDX-License-Identifier: BSD-2-Clause */
/* assignment.c - see assignment.h */
#include "plans/assignment.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error.h"

enum { KEEP = -1 };

bool assignment_take(assignment_options *options, int option, const char *argument)
{
    if (option == CLI_OPT_PLAN) {
        options->plan = argument;
        return true;
    }
    if (option != CLI_OPT_MAP)
        return false;
    const char *equals = strchr(argument, '=');
    if (equals == NULL || equals == argument || equals[1] == '\0')
        cli_usage("--map: '%s' is not GLOB=SPEC, as '*norm*=keep' or '*.weight=mxfp4'", argument);
    const char **grown = realloc(options->map, (options->maps + 1) * sizeof *grown);
    if (grown == NULL)
        cli_fail("out of memory");
    grown[options->maps++] = argument;
    options->map = grown;
    return true;
}

/* The number of a format of the list, which it joins if it is not there; KEEP for the word. */
static int add_format(assignment *a, const char *spec)
{
    if (strcmp(spec, PLAN_KEEP) == 0)
        return KEEP;
    for (size_t k = 0; k < a->formats; k++)
        if (strcmp(a->format[k].spec, spec) == 0)
            return (int)k;
    assignment_format *grown = realloc(a->format, (a->formats + 1) * sizeof *grown);
    if (grown == NULL)
        cli_fail("out of memory");
    a->format = grown;
    assignment_format *f = &grown[a->formats];
    *f = (assignment_format){.spec = spec, .format = cli_format(spec)};
    cli_spec(&f->format, f->text);
    return (int)a->formats++;
}

static bool has_blocks(const assignment *a)
{
    for (size_t k = 0; k < a->formats; k++)
        if (a->format[k].format.scaling != FPEMU_SCALING_NONE)
            return true;
    return false;
}

/* ----------------------------------------------------------------------------------------------------- maps */

typedef struct rule {
    char *pattern;
    int format;
    size_t matched, taken; /* tensors whose name matches; those of them that it decided */
} rule;

static rule *read_rules(assignment *a, const assignment_options *options)
{
    rule *rules = cli_allocate(options->maps, sizeof *rules);
    for (size_t k = 0; k < options->maps; k++) {
        const char *equals = strchr(options->map[k], '=');
        rules[k].pattern = strdup(options->map[k]);
        if (rules[k].pattern == NULL)
            cli_fail("out of memory");
        rules[k].pattern[equals - options->map[k]] = '\0';
        rules[k].format = add_format(a, equals + 1);
    }
    return rules;
}

static void check_rules(const file *in, const rule *rules, const assignment_options *options)
{
    for (size_t k = 0; k < options->maps; k++) {
        if (rules[k].matched == 0)
            file_refuse_pattern(in, "--map", rules[k].pattern);
        if (rules[k].taken == 0) {
            cli_fail("%s: --map '%s' takes no tensor: those with such a name hold no floating-point numbers, were not "
                     "asked for, or go to a --map before it",
                     in->path, options->map[k]);
        }
    }
}

static void follow_rules(const file *in, rule *rules, size_t count, int otherwise, int *of)
{
    for (size_t i = 0; i < in->model.count; i++) {
        bool decided = false;
        of[i] = otherwise;
        for (size_t k = 0; k < count; k++) {
            if (fnmatch(rules[k].pattern, in->model.tensor[i].name, 0) == 0) {
                rules[k].matched++;
                rules[k].taken += !decided && in->chosen[i];
                of[i] = decided ? of[i] : rules[k].format;
                decided = true;
            }
        }
    }
}

/* ---------------------------------------------------------------------------------------------------- plans */

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const tensor *const *)a)->name, (*(const tensor *const *)b)->name);
}

#if defined(FPEMU_ANALYZED) && !defined(__clang__) /* gcc takes the zeros of new memory for what is found in it */
#pragma GCC diagnostic ignored "-Wanalyzer-null-dereference"
#endif

/* Every tensor of the plan is one of the file; the others stay as they are. */
static void follow_plan(const file *in, const plan *p, const int *format, int *of)
{
    const model *m = &in->model;
    const tensor **sorted = cli_allocate(m->count, sizeof *sorted);
    for (size_t i = 0; i < m->count; i++) {
        sorted[i] = &m->tensor[i];
        of[i] = KEEP;
    }
    if (m->count > 0)
        qsort(sorted, m->count, sizeof *sorted, by_name);
    for (size_t k = 0; k < plan_count(p); k++) {
        const tensor key = {.name = (char *)plan_name(p, k)}, *wanted = &key;
        const tensor *const *found = m->count > 0 ? bsearch(&wanted, sorted, m->count, sizeof *sorted, by_name) : NULL;
        if (found == NULL)
            cli_fail("%s: tensor '%s' of the plan is not in %s", p->path, plan_name(p, k), in->path);
        if ((*found)->type == NULL && format[k] != KEEP) {
            cli_fail("%s: tensor '%s' holds no floating-point numbers, but %s", p->path, plan_name(p, k),
                     (*found)->type_text);
        }
        plan_check_shape(p, k, *found);
        of[*found - m->tensor] = format[k];
    }
    free(sorted);
}

static int *read_plan_formats(assignment *a)
{
    const plan *p = &a->plan;
    int *format = cli_allocate(plan_count(p), sizeof *format);
    for (size_t k = 0; k < plan_count(p); k++) {
        const char *spec = plan_format(p, k);
        fpemu_format ignored;
        fpemu_parse_error error = {0};
        const bool named =
            strcmp(spec, PLAN_KEEP) == 0 || strstr(spec, "file=") != NULL || strstr(spec, "codes=") != NULL;
        if (!named && fpemu_format_parse(spec, &ignored, &error) != FPEMU_OK) {
            cli_fail("%s: tensor '%s': format '%s': %s", p->path, plan_name(p, k), spec,
                     error.message[0] != '\0' ? error.message : "not supported");
        }
        format[k] = add_format(a, spec);
    }
    return format;
}

/* ----------------------------------------------------------------------------------------------------- both */

/* What is left as it is, is neither asked for nor chosen. */
static void settle(assignment *a, file *in, const int *of)
{
    bool *used = cli_allocate(a->formats, sizeof *used);
    a->of = cli_allocate(in->model.count, sizeof *a->of);
    for (size_t i = 0; i < in->model.count; i++) {
        in->asked[i] &= of[i] != KEEP;
        if (in->chosen[i] && of[i] == KEEP) {
            in->chosen[i] = false;
            in->chosen_count--;
            in->chosen_elements -= in->model.tensor[i].count;
        }
        if (in->chosen[i]) {
            a->of[i] = (size_t)of[i];
            a->in_use += !used[of[i]];
            used[of[i]] = true;
        }
    }
    free(used);
}

assignment assignment_open(const assignment_options *options, const char *spec, const int *axis, const char *path,
                           file_options *files, file *in)
{
    assignment a = {.axis = axis != NULL ? *axis : -1};
    if (options->plan != NULL && (spec != NULL || options->maps > 0))
        cli_usage("--plan says the format of each tensor: a SPEC or --map does not go with it");
    const int otherwise = spec != NULL ? add_format(&a, spec) : KEEP;
    if (otherwise == KEEP && options->plan == NULL && options->maps == 0)
        cli_usage("'%s' leaves every tensor as it is, unless a --map says otherwise", PLAN_KEEP);
    rule *rules = read_rules(&a, options);
    if (options->plan != NULL)
        a.plan = plan_read(options->plan);
    int *planned = options->plan != NULL ? read_plan_formats(&a) : NULL;
    if (axis != NULL && !has_blocks(&a)) {
        cli_usage(a.formats == 1 ? "--axis is for formats with blocks, %s has none"
                                 : "--axis is for formats with blocks, and none of these has any",
                  a.formats == 1 ? a.format[0].spec : "");
    }
    a.axis = axis == NULL && a.plan.has_axis ? a.plan.axis : a.axis;
    *in = file_open(path, files);
    file_expect_tensors(in);
    if (options->maps > 0 && file_is_array(in))
        cli_fail("%s: --map is for files of several tensors", in->path);
    int *of = cli_allocate(in->model.count, sizeof *of);
    if (options->plan != NULL) {
        follow_plan(in, &a.plan, planned, of);
    } else {
        follow_rules(in, rules, options->maps, otherwise, of);
        check_rules(in, rules, options);
    }
    settle(&a, in, of);
    for (size_t k = 0; k < options->maps; k++)
        free(rules[k].pattern);
    free(rules);
    free(planned);
    free(of);
    if (in->chosen_count == 0)
        cli_fail("%s: every tensor would stay as it is", in->path);
    file_expect_numbers(in);
    return a;
}

void assignment_free(assignment *a)
{
    free(a->format);
    free(a->of);
    plan_free(&a->plan);
}

const assignment_format *assignment_of(const assignment *a, size_t i)
{
    return &a->format[a->of[i]];
}

const assignment_format *assignment_single(const assignment *a, const file *in)
{
    for (size_t i = 0; a->in_use == 1 && i < in->model.count; i++)
        if (in->chosen[i])
            return assignment_of(a, i);
    return NULL;
}

bool assignment_draws(const assignment *a, const fpemu_rounding *rounding)
{
    bool draws = false;
    for (size_t k = 0; k < a->formats; k++)
        draws = draws || FPEMU_DRAWS(&a->format[k].format, rounding);
    return draws;
}

int assignment_width(const assignment *a, const file *in)
{
    int width = 6;
    for (size_t i = 0; i < in->model.count; i++) {
        const int length = in->chosen[i] ? (int)strlen(assignment_of(a, i)->text) : 0;
        width = length > width ? length : width;
    }
    return width;
}
