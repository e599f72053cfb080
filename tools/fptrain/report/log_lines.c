/* SPDX-License-Identifier: BSD-2-Clause */
/* log_lines.c - see log_lines.h */
#include "common/system.h"

#include "report/log_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "run/record.h"

/* An array of a log of version 2 as the object that logs before it had: zeros at its end were left out, and `alpha`
 * where it is the scale of the line. */
static json_t *expand(const json_t *entry, const json_t *counters, json_t *name, const char *role, json_t *scale)
{
    json_t *more = json_array_get(entry, json_array_size(entry) - 1), *tensor = json_object(), *key;
    size_t i;
    json_object_set(tensor, "name", name);
    json_object_set_new(tensor, "role", json_string(role));
    json_array_foreach(counters, i, key)
    {
        json_t *value = json_array_get(entry, i);
        if (json_is_string(key))
            json_object_set_new(tensor, json_string_value(key),
                                value && !json_is_object(value) ? json_incref(value) : json_integer(0));
    }
    if (role[0] == 'd')
        json_object_set(tensor, "alpha", scale);
    if (json_is_object(more))
        json_object_update(tensor, more);
    return tensor;
}

/* The arrays of a line, in the order of the names in the first one, become objects. */
static void expand_tensors(const json_t *first, json_t *line)
{
    static const char *const roles[] = {"v", "w", "dv", "dw"};
    json_t *tensors = json_object_get(line, "tensors"), *name;
    json_t *expanded = json_array();
    size_t place = 0, i;
    for (size_t which = 0; which < sizeof roles / sizeof *roles; which++)
        json_array_foreach(json_object_get(json_object_get(first, "names"), roles[which]), i, name)
        {
            const json_t *entry = json_array_get(tensors, place++);
            if (!json_is_array(entry))
                continue;
            if (json_array_append_new(expanded, expand(entry, json_object_get(first, "counters"), name, roles[which],
                                                       json_object_get(line, "scale"))) != 0)
                die("out of memory");
        }
    if (tensors)
        json_object_set(line, "tensors", expanded);
    json_decref(expanded);
}

/* Line `n`; the first may be one of names, which becomes *first. */
static bool read_line(const char *text, size_t length, const char *path, size_t n, json_t **first, log_line *tell,
                      void *to, trouble *why)
{
    json_t *line = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    const json_t *version = n == 1 ? json_object_get(line, "log") : NULL, *step = json_object_get(line, "step");
    bool good = true;
    if (version && json_integer_value(version) != LOG_VERSION)
        good = fail(why,
                    "%s: a log of another version of fptrain than this, which reads logs of version %d and those "
                    "without",
                    path, LOG_VERSION);
    else if (version)
        *first = json_incref(line);
    else if (!json_is_integer(step) || json_integer_value(step) < 0)
        good = fail(why, "%s:%zu: no JSON object with a step", path, n);
    else {
        if (*first)
            expand_tensors(*first, line);
        tell(to, line);
    }
    json_decref(line);
    return good;
}

bool log_read(const char *directory, log_line *tell, void *to, trouble *why)
{
    char *path = path_join(directory, "log.jsonl"), *text = NULL;
    FILE *file = fopen(path, "rb");
    size_t room = 0, n = 0, length;
    json_t *first = NULL;
    bool good = file || fail(why, "%s: %s", path, strerror(errno));
    while (good && (good = record_read_line(file, path, &text, &room, &length, why)) && length > 0)
        good = read_line(text, length, path, ++n, &first, tell, to, why);
    free(text);
    free(path);
    json_decref(first);
    if (file)
        fclose(file);
    return good;
}
