/* SPDX-License-Identifier: BSD-2-Clause */
/* plan_reader.c - the part of plan.h that reads, and does not end the program. */
#include "plans/plan.h"

#include <string.h>

#include "common/json.h"

enum { MOST_AXES = 64, LONGEST = 100000000 /* as the index of a model */ };

/* Every key is one of these. */
static bool check_keys(trouble *why, const char *path, const char *where, const json_t *object,
                       const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        size_t k = 0;
        while (known[k] != NULL && strcmp(known[k], key) != 0)
            k++;
        if (known[k] == NULL)
            return fail(why, "%s: %s: unknown key '%s'", path, where, key);
    }
    return true;
}

/* A number, or what stands for a number that JSON does not have. */
static bool is_real(const json_t *value)
{
    const char *text = json_string_value(value);
    return value == NULL || json_is_number(value) || json_is_null(value) ||
           (text != NULL && (strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0 || strcmp(text, "nan") == 0));
}

static bool check_tensor(trouble *why, const char *path, const json_t *entry, size_t i)
{
    static const char *const known[] = {"name", "shape", "format", "bits", "sqnr_db", NULL};
    char where[120];
    const char *name = json_string_value(json_object_get(entry, "name"));
    if (name != NULL)
        snprintf(where, sizeof where, "tensor '%.80s'", name);
    else
        snprintf(where, sizeof where, "tensor %zu of the list", i + 1);
    if (!json_is_object(entry) || name == NULL)
        return fail(why, "%s: %s: expected an object with a name", path, where);
    if (!check_keys(why, path, where, entry, known))
        return false;
    const json_t *format = json_object_get(entry, "format"), *shape = json_object_get(entry, "shape");
    if (!json_is_string(format) || json_string_length(format) >= 256)
        return fail(why, "%s: %s: expected a format, a spec or '%s'", path, where, PLAN_KEEP);
    if (!is_real(json_object_get(entry, "bits")) || !is_real(json_object_get(entry, "sqnr_db")))
        return fail(why, "%s: %s: bits and sqnr_db are numbers", path, where);
    for (size_t k = 0; k < json_array_size(shape); k++) {
        const json_t *extent = json_array_get(shape, k);
        if (!json_is_integer(extent) || json_integer_value(extent) < 0)
            return fail(why, "%s: %s: the shape is not a list of whole numbers", path, where);
    }
    if (shape != NULL && !json_is_array(shape))
        return fail(why, "%s: %s: the shape is not a list of whole numbers", path, where);
    return true;
}

static bool check_names(const plan *p, trouble *why)
{
    json_t *seen = json_object();
    bool good = true;
    for (size_t i = 0; good && i < plan_count(p); i++)
        if (json_object_get(seen, plan_name(p, i)) != NULL)
            good = fail(why, "%s: tensor '%s' is there twice", p->path, plan_name(p, i));
        else if (seen == NULL || json_object_set_new(seen, plan_name(p, i), json_true()) != 0)
            good = fail(why, "out of memory");
    json_decref(seen);
    return good;
}

static bool check_plan(plan *p, trouble *why)
{
    static const char *const known[] = {"fpemu_plan", "model", "axis", "bits_per_element", "sqnr_db", "tensors", NULL};
    const json_t *version = json_object_get(p->root, "fpemu_plan"), *axis = json_object_get(p->root, "axis");
    const json_int_t at = json_integer_value(axis);
    if (!json_is_integer(version))
        return fail(why, "%s: no plan: it has no whole number fpemu_plan", p->path);
    if (json_integer_value(version) != PLAN_VERSION) {
        return fail(why, "%s: a plan of version %lld; this program reads version %d", p->path,
                    (long long)json_integer_value(version), PLAN_VERSION);
    }
    if (!check_keys(why, p->path, "the plan", p->root, known))
        return false;
    if (!json_is_array(p->tensors) || json_array_size(p->tensors) == 0)
        return fail(why, "%s: the plan has no list of tensors", p->path);
    p->has_axis = axis != NULL;
    if (p->has_axis && (!json_is_integer(axis) || at < -MOST_AXES || at > MOST_AXES))
        return fail(why, "%s: the axis is no whole number from -%d to %d", p->path, MOST_AXES, MOST_AXES);
    p->axis = (int)at;
    for (size_t i = 0; i < plan_count(p); i++)
        if (!check_tensor(why, p->path, json_array_get(p->tensors, i), i))
            return false;
    return check_names(p, why);
}

bool plan_parse(plan *p, FILE *file, const char *path, trouble *why)
{
    trouble inner;
    *p = (plan){.path = path, .root = json_read(file, LONGEST, &inner)};
    p->tensors = json_object_get(p->root, "tensors");
    if (p->root != NULL ? check_plan(p, why) : fail(why, "%s: no plan: %.200s", path, inner.text))
        return true;
    plan_free(p);
    return false;
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

bool plan_has_shape(const plan *p, size_t i, const tensor *t)
{
    const json_t *shape = json_object_get(json_array_get(p->tensors, i), "shape");
    bool same = shape == NULL || json_array_size(shape) == t->dimensions;
    for (size_t k = 0; same && k < json_array_size(shape); k++)
        same = (uint64_t)json_integer_value(json_array_get(shape, k)) == t->extent[k];
    return same;
}
