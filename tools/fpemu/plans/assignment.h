/* SPDX-License-Identifier: BSD-2-Clause */
/* assignment.h - which format each tensor of a file takes: one for all, by patterns of names, or by a plan. */
#ifndef FPEMU_TOOL_ASSIGNMENT_H
#define FPEMU_TOOL_ASSIGNMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/options.h"
#include "cli/spec.h"
#include "files/file.h"
#include "fpemu.h"
#include "plans/plan.h"

/* What was asked for. Start from all zero. */
typedef struct assignment_options {
    const char **map; /* GLOB=SPEC, as many as were given */
    size_t maps;
    const char *plan; /* a file; or NULL */
} assignment_options;

#define ASSIGNMENT_LONG                                                                                                \
    {"map", required_argument, NULL, CLI_OPT_MAP},                                                                     \
    {                                                                                                                  \
        "plan", required_argument, NULL, CLI_OPT_PLAN                                                                  \
    }
#define ASSIGNMENT_HELP                                                                                                \
    "      --map GLOB=SPEC   another format for tensors with such a name; may be repeated, and\n"                      \
    "                        the first that matches counts. 'keep' in place of a SPEC leaves\n"                        \
    "                        tensors as they are; without SPEC all are left that no --map takes\n"                     \
    "      --plan FILE       the format of each tensor, as 'fpemu compare' writes it\n"
/* Takes one of them; false if `option` is another. */
bool assignment_take(assignment_options *options, int option, const char *argument);

typedef struct assignment_format {
    const char *spec; /* as it was given */
    char text[CLI_SPEC_SIZE];
    fpemu_format format;
} assignment_format;

typedef struct assignment {
    assignment_format *format;
    size_t formats;
    size_t *of;    /* the format of each tensor that is chosen */
    size_t in_use; /* formats that some tensor has */
    int axis;      /* along which blocks run */
    plan plan;     /* whose words the specs are; or nothing */
} assignment;

/* Reads SPEC (or NULL), maps and plan and gives each chosen tensor of the file its format; those that are left as they
 * are, are chosen no more. `axis` is that of --axis, or NULL: then the plan's, or the last. Ends the program with an
 * error where specs are wrong, a map takes no tensor, or plan and file do not agree. The specs are read before `path` is
 * opened. */
assignment assignment_open(const assignment_options *options, const char *spec, const int *axis, const char *path,
                           file_options *files, file *in);
void assignment_free(assignment *a);

const assignment_format *assignment_of(const assignment *a, size_t i);
/* The format of all tensors; NULL where they have several. */
const assignment_format *assignment_single(const assignment *a, const file *in);
/* Whether rounding to one of its formats takes random bits. */
bool assignment_draws(const assignment *a, const fpemu_rounding *rounding);
/* Columns of the longest spec in use. */
int assignment_width(const assignment *a, const file *in);

#endif
