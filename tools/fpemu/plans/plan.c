/* SPDX-License-Identifier: BSD-2-Clause */
/* plan.c - see plan.h */
#include "plans/plan.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error.h"
#include "common/json.h"
#include "files/output.h"

plan plan_read(const char *path)
{
    plan p;
    trouble why;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        cli_fail("%s: %s", path, strerror(errno));
    if (!plan_parse(&p, file, path, &why))
        cli_fail("%s", why.text);
    fclose(file);
    return p;
}

void plan_check_shape(const plan *p, size_t i, const tensor *t)
{
    if (!plan_has_shape(p, i, t))
        cli_fail("%s: tensor '%s' has another shape in the plan than in the model", p->path, t->name);
}

static void set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        cli_fail("out of memory");
}

/* A number that is none is null. */
static json_t *real(double value)
{
    return isnan(value) ? json_null() : json_of_double(value);
}

json_t *plan_new(const char *model, int axis, double bits_per_element, double sqnr)
{
    json_t *p = json_object(), *name = json_string(model);
    set(p, "fpemu_plan", json_integer(PLAN_VERSION));
    set(p, "model", name != NULL ? name : json_null());
    set(p, "axis", json_integer(axis));
    set(p, "bits_per_element", real(bits_per_element));
    set(p, "sqnr_db", real(sqnr));
    set(p, "tensors", json_array());
    return p;
}

void plan_add(json_t *plan, const tensor *t, const char *format, double bits, double sqnr)
{
    json_t *entry = json_object(), *shape = json_array();
    for (unsigned k = 0; k < t->dimensions; k++)
        if (json_array_append_new(shape, json_integer((json_int_t)t->extent[k])) != 0)
            cli_fail("out of memory");
    set(entry, "name", json_string(t->name));
    set(entry, "shape", shape);
    set(entry, "format", json_string(format));
    set(entry, "bits", real(bits));
    set(entry, "sqnr_db", real(sqnr));
    if (json_array_append_new(json_object_get(plan, "tensors"), entry) != 0)
        cli_fail("out of memory");
}

void plan_write(json_t *plan, const char *path)
{
    char *text = json_to_text(plan, JSON_INDENT(1));
    if (text == NULL)
        cli_fail("out of memory");
    output out = output_open(path);
    output_write(&out, text, strlen(text));
    output_write(&out, "\n", 1);
    output_commit(&out);
    free(text);
    json_decref(plan);
}
