/* SPDX-License-Identifier: BSD-2-Clause */
/* plan.h - a file that says which format each tensor of a model takes. fpemu(1), PLANS, describes it.
 *
 *   {"fpemu_plan": 1, "model": "DIR", "axis": -1, "bits_per_element": 4.4, "sqnr_db": 21.5, "tensors":
 *    [{"name": "a", "shape": [2, 3], "format": "mxfp4", "bits": 4.25, "sqnr_db": 18.7}, ...]}
 */
#ifndef FPEMU_TOOL_PLAN_H
#define FPEMU_TOOL_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/trouble.h"
#include "files/model.h"

enum { PLAN_VERSION = 1 };
#define PLAN_KEEP "keep" /* in place of a spec: the tensor stays as it is */

typedef struct plan {
    const char *path;
    json_t *root, *tensors;
    bool has_axis;
    int axis;
} plan;

/* Reads and checks it. plan_read ends the program with an error that names the file. */
bool plan_parse(plan *p, FILE *file, const char *path, trouble *why);
plan plan_read(const char *path);
void plan_free(plan *p);
size_t plan_count(const plan *p);
const char *plan_name(const plan *p, size_t i);
/* The spec, or PLAN_KEEP. */
const char *plan_format(const plan *p, size_t i);
/* Whether the plan has no other shape for tensor i than the model. */
bool plan_has_shape(const plan *p, size_t i, const tensor *t);
/* Ends the program where the plan has another shape for tensor i than the model. */
void plan_check_shape(const plan *p, size_t i, const tensor *t);

/* What is written: a plan without tensors, then each of them. */
json_t *plan_new(const char *model, int axis, double bits_per_element, double sqnr);
void plan_add(json_t *plan, const tensor *t, const char *format, double bits, double sqnr);
/* Writes the file and gives the plan back. */
void plan_write(json_t *plan, const char *path);

#endif
