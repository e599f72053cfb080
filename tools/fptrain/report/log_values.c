/* SPDX-License-Identifier: BSD-2-Clause */
/* log_values.c - see log_values.h */
#include "report/log_values.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "report/log_lines.h"

typedef struct walk {
    const log_visitor *visitor;
    const char *tensor, *role;
    char *name; /* of the number that is told; room for `room` bytes */
    size_t room;
} walk;

/* BEFORE/AFTER, or AFTER where nothing stands before it. */
static const char *name_of(walk *w, const char *before, const char *after)
{
    const size_t wanted = strlen(before) + strlen(after) + 2;
    if (wanted > w->room) {
        w->room = 2 * wanted;
        w->name = need_more(w->name, w->room, 1);
    }
    snprintf(w->name, w->room, "%s%s%s", before, before[0] ? "/" : "", after);
    return w->name;
}

/* Numbers, truth values, and the words for numbers that JSON has not. */
static void tell(const walk *w, const char *name, const json_t *value)
{
    const char *word = json_string_value(value);
    log_value v = {.name = name, .tensor = w->tensor, .role = w->role};
    if (json_is_integer(value) || json_is_boolean(value)) {
        v.whole = true;
        v.count = json_is_integer(value) ? json_integer_value(value) : json_is_true(value);
        v.real = (double)v.count;
    } else if (json_is_real(value))
        v.real = json_real_value(value);
    else if (word && (!strcmp(word, "nan") || !strcmp(word, "inf") || !strcmp(word, "-inf")))
        v.real = word[0] == 'n' ? NAN : word[0] == '-' ? -INFINITY : INFINITY;
    else
        return;
    w->visitor->value(w->visitor->to, &v);
}

static void tell_counts(const walk *w, const char *name, const json_t *holder)
{
    const json_t *counts = json_object_get(holder, "counts");
    const size_t bins = json_array_size(counts);
    if (!w->visitor->histogram || !bins)
        return;
    uint64_t *count = need(bins, sizeof *count);
    for (size_t i = 0; i < bins; i++) {
        const json_int_t n = json_integer_value(json_array_get(counts, i));
        count[i] = n > 0 ? (uint64_t)n : 0;
    }
    w->visitor->histogram(w->visitor->to,
                          &(log_histogram){.name = name,
                                           .tensor = w->tensor,
                                           .role = w->role,
                                           .bins = bins,
                                           .first = json_integer_value(json_object_get(holder, "first")),
                                           .count = count});
    free(count);
}

static void tell_tensor(void *to, json_t *tensor)
{
    walk *w = to;
    const json_t *histogram = json_object_get(tensor, "histogram");
    const char *key;
    json_t *value;
    w->tensor = json_string_value(json_object_get(tensor, "name"));
    w->role = json_string_value(json_object_get(tensor, "role"));
    if (w->tensor && w->role) {
        json_object_foreach(tensor, key, value) if (strcmp(key, "name") != 0 && strcmp(key, "role") != 0)
            tell(w, name_of(w, key, w->tensor), value);
        if (json_object_get(histogram, "zeros"))
            tell(w, name_of(w, "zeros", w->tensor), json_object_get(histogram, "zeros"));
        tell_counts(w, name_of(w, "histogram", w->tensor), histogram);
    }
    w->tensor = w->role = NULL;
}

static void tell_line(void *to, const log_line *in)
{
    walk *w = to;
    json_t *line = in->line;
    json_t *value, *own;
    const char *key, *inner;
    w->visitor->line(w->visitor->to, (uint64_t)json_integer_value(json_object_get(line, "step")));
    json_object_foreach(line, key, value)
    {
        if (strcmp(key, "tensors") == 0) {
            log_tensors(in, tell_tensor, w);
        } else if (strcmp(key, "updates") == 0 || strcmp(key, "clipping") == 0 || strcmp(key, "sums") == 0) {
            json_object_foreach(value, inner, own) if (strcmp(inner, "first") != 0)
                tell(w, name_of(w, key, inner), own);
            tell_counts(w, name_of(w, key, "ratio"), value);
        } else if (strcmp(key, "step") != 0)
            tell(w, key, value);
    }
}

bool log_visit(const char *directory, const log_visitor *visitor, trouble *why)
{
    walk w = {.visitor = visitor};
    const bool good = log_read(directory, tell_line, &w, NULL, why);
    free(w.name);
    return good;
}
