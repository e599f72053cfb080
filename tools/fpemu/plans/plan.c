/* SPDX-License-Identifier: BSD-2-Clause */
/* plan.c - see plan.h */
#include "common/system.h"

#include "plans/plan.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error.h"
#include "common/json.h"
#include "files/output.h"

enum { PLAN_VERSION = 1, MOST_AXES = 64 };

/* ------------------------------------------------------------------------------------------------- reading */

/* Every key is one of these. */
static void check_keys(const char *path, const char *where, const json_t *object, const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        size_t k = 0;
        while (known[k] != NULL && strcmp(known[k], key) != 0) {
            k++;
        }
        if (known[k] == NULL) {
            cli_fail("%s: %s: unknown key '%s'", path, where, key);
        }
    }
}

/* A number, or what stands for a number that JSON does not have. */
static bool is_real(const json_t *value)
{
    const char *text = json_string_value(value);
    return value == NULL || json_is_number(value) || json_is_null(value) ||
           (text != NULL && (strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0 || strcmp(text, "nan") == 0));
}

static void check_tensor(const char *path, const json_t *entry, size_t i)
{
    static const char *const known[] = {"name", "shape", "format", "bits", "sqnr_db", NULL};
    char where[120];
    const char *name = json_string_value(json_object_get(entry, "name"));
    if (name != NULL) {
        snprintf(where, sizeof where, "tensor '%.80s'", name);
    } else {
        snprintf(where, sizeof where, "tensor %zu of the list", i + 1);
    }
    if (!json_is_object(entry) || name == NULL) {
        cli_fail("%s: %s: expected an object with a name", path, where);
    }
    check_keys(path, where, entry, known);
    const json_t *format = json_object_get(entry, "format"), *shape = json_object_get(entry, "shape");
    if (!json_is_string(format) || json_string_length(format) >= 256) {
        cli_fail("%s: %s: expected a format, a spec or '%s'", path, where, PLAN_KEEP);
    }
    if (!is_real(json_object_get(entry, "bits")) || !is_real(json_object_get(entry, "sqnr_db"))) {
        cli_fail("%s: %s: bits and sqnr_db are numbers", path, where);
    }
    for (size_t k = 0; k < json_array_size(shape); k++) {
        const json_t *extent = json_array_get(shape, k);
        if (!json_is_integer(extent) || json_integer_value(extent) < 0) {
            cli_fail("%s: %s: the shape is not a list of whole numbers", path, where);
        }
    }
    if (shape != NULL && !json_is_array(shape)) {
        cli_fail("%s: %s: the shape is not a list of whole numbers", path, where);
    }
}

static void check_names(const plan *p)
{
    json_t *seen = json_object();
    for (size_t i = 0; i < plan_count(p); i++) {
        if (json_object_get(seen, plan_name(p, i)) != NULL) {
            cli_fail("%s: tensor '%s' is there twice", p->path, plan_name(p, i));
        }
        if (seen == NULL || json_object_set_new(seen, plan_name(p, i), json_true()) != 0) {
            cli_fail("out of memory");
        }
    }
    json_decref(seen);
}

static json_t *load(const char *path)
{
    json_error_t error;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        cli_fail("%s: %s", path, strerror(errno));
    }
    json_t *root = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    if (ferror(file)) {
        cli_fail("%s: %s", path, strerror(errno));
    }
    fclose(file);
    if (root == NULL) {
        cli_fail("%s: no plan: no JSON: %s, in line %d", path, error.text, error.line);
    }
    return root;
}

plan plan_read(const char *path)
{
    static const char *const known[] = {"fpemu_plan", "model", "axis", "bits_per_element", "sqnr_db", "tensors", NULL};
    plan p = {.path = path, .root = load(path)};
    const json_t *version = json_object_get(p.root, "fpemu_plan"), *axis = json_object_get(p.root, "axis");
    p.tensors = json_object_get(p.root, "tensors");
    if (!json_is_integer(version)) {
        cli_fail("%s: no plan: it has no whole number fpemu_plan", path);
    }
    if (json_integer_value(version) != PLAN_VERSION) {
        cli_fail("%s: a plan of version %lld; this program reads version %d", path,
                 (long long)json_integer_value(version), PLAN_VERSION);
    }
    check_keys(path, "the plan", p.root, known);
    if (!json_is_array(p.tensors) || json_array_size(p.tensors) == 0) {
        cli_fail("%s: the plan has no list of tensors", path);
    }
    p.has_axis = axis != NULL;
    if (p.has_axis && (!json_is_integer(axis) || llabs(json_integer_value(axis)) > MOST_AXES)) {
        cli_fail("%s: the axis is no whole number from -%d to %d", path, MOST_AXES, MOST_AXES);
    }
    p.axis = p.has_axis ? (int)json_integer_value(axis) : 0;
    for (size_t i = 0; i < plan_count(&p); i++) {
        check_tensor(path, json_array_get(p.tensors, i), i);
    }
    check_names(&p);
    return p;
}

void plan_free(plan *p)
{
    json_decref(p->root);
}

size_t plan_count(const plan *p)
{
    return json_array_size(p->tensors);
}

const char *plan_name(const plan *p, size_t i)
{
    return json_string_value(json_object_get(json_array_get(p->tensors, i), "name"));
}

const char *plan_format(const plan *p, size_t i)
{
    return json_string_value(json_object_get(json_array_get(p->tensors, i), "format"));
}

void plan_check_shape(const plan *p, size_t i, const tensor *t)
{
    const json_t *shape = json_object_get(json_array_get(p->tensors, i), "shape");
    bool same = shape == NULL || json_array_size(shape) == t->dimensions;
    for (size_t k = 0; same && k < json_array_size(shape); k++) {
        same = (uint64_t)json_integer_value(json_array_get(shape, k)) == t->extent[k];
    }
    if (!same) {
        cli_fail("%s: tensor '%s' has another shape in the plan than in the model", p->path, t->name);
    }
}

/* ------------------------------------------------------------------------------------------------- writing */

static void set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0) {
        cli_fail("out of memory");
    }
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
    for (unsigned k = 0; k < t->dimensions; k++) {
        if (json_array_append_new(shape, json_integer((json_int_t)t->extent[k])) != 0) {
            cli_fail("out of memory");
        }
    }
    set(entry, "name", json_string(t->name));
    set(entry, "shape", shape);
    set(entry, "format", json_string(format));
    set(entry, "bits", real(bits));
    set(entry, "sqnr_db", real(sqnr));
    if (json_array_append_new(json_object_get(plan, "tensors"), entry) != 0) {
        cli_fail("out of memory");
    }
}

void plan_write(json_t *plan, const char *path)
{
    char *text = json_to_text(plan, JSON_INDENT(1));
    if (text == NULL) {
        cli_fail("out of memory");
    }
    output out = output_open(path);
    output_write(&out, text, strlen(text));
    output_write(&out, "\n", 1);
    output_commit(&out);
    free(text);
    json_decref(plan);
}
