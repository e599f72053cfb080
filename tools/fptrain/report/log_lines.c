/* SPDX-License-Identifier: BSD-2-Clause */
/* log_lines.c - see log_lines.h */
#include "report/log_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "run/record.h"

/* An array of fptrain's log as an object like fpemu.torch's. The array lacks the zeros at its end, and `alpha` where it
 * is the scale of the line. */
static json_t *expand(const json_t *entry, const json_t *counters, json_t *name, const char *role, json_t *scale)
{
    json_t *more = json_array_get(entry, json_array_size(entry) - 1), *tensor = needed(json_object()), *key;
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

static const char *const roles[] = {"v", "w", "dv", "dw"};
enum { LOG_ROLES = sizeof roles / sizeof *roles };

void log_tensors(const log_line *line, void (*tell)(void *to, json_t *tensor), void *to)
{
    const json_t *tensors = json_object_get(line->line, "tensors");
    const json_t *names = json_object_get(line->names, "names"), *counters = json_object_get(line->names, "counters");
    json_t *entry, *name, *scale = json_object_get(line->line, "scale");
    const size_t count = json_array_size(tensors);
    size_t place = 0, i;
    if (!line->names)
        json_array_foreach(tensors, i, entry) tell(to, entry);
    for (size_t which = 0; line->names && which < LOG_ROLES && place < count; which++)
        json_array_foreach(json_object_get(names, roles[which]), i, name)
        {
            entry = json_array_get(tensors, place++);
            if (!entry)
                break;
            if (!json_is_array(entry))
                continue;
            json_t *tensor = expand(entry, counters, name, roles[which], scale);
            tell(to, tensor);
            json_decref(tensor);
        }
}

static bool is_short(const json_t *text)
{
    return json_string_length(text) <= LOG_NAME; /* 0 of what is no text */
}

/* Of a tensor: an object, or an array that one may end. */
static const json_t *members_of(const json_t *tensor)
{
    return json_is_array(tensor) ? json_array_get(tensor, json_array_size(tensor) - 1) : tensor;
}

static bool tensor_is_within_limits(json_t *tensor)
{
    const json_t *members = members_of(tensor);
    const char *key;
    json_t *value;
    bool good = json_object_size(members) <= LOG_MEMBERS;
    json_object_foreach((json_t *)members, key, value) good = good && strlen(key) <= LOG_NAME;
    return good && is_short(json_object_get(members, "name")) && is_short(json_object_get(members, "role"));
}

/* What comes with every number of a tensor is short, and a tensor has not many. */
static bool line_is_within_limits(const json_t *line)
{
    const json_t *counters = json_object_get(line, "counters"), *names = json_object_get(line, "names");
    json_t *one;
    bool good = true;
    size_t i;
    json_array_foreach(counters, i, one) good = good && is_short(one);
    for (size_t which = 0; which < LOG_ROLES; which++)
        json_array_foreach(json_object_get(names, roles[which]), i, one) good = good && is_short(one);
    json_array_foreach(json_object_get(line, "tensors"), i, one) good = good && tensor_is_within_limits(one);
    return good;
}

/* The lines of a log, from the first on. */
typedef struct reading {
    const char *path;
    size_t n;      /* of the line */
    char *run;     /* id in the first one */
    json_t *names; /* the first one, where it has names */
    void (*tell)(void *to, const log_line *line);
    void *to;
} reading;

static bool take_first(reading *r, json_t *line, trouble *why)
{
    const char *run = json_string_value(json_object_get(line, "run"));
    if (json_integer_value(json_object_get(line, "log")) != LOG_VERSION)
        return fail(why,
                    "%s: a log of another version of fptrain than this, which reads logs of version %d and those "
                    "without",
                    r->path, LOG_VERSION);
    if (json_array_size(json_object_get(line, "counters")) > LOG_COUNTERS)
        return fail(why, "%s: more than %d counters of a tensor", r->path, LOG_COUNTERS);
    r->names = json_incref(line);
    r->run = run ? strdup(run) : NULL;
    return true;
}

static bool read_line(reading *r, const char *text, size_t length, trouble *why)
{
    json_t *line = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    const json_t *step = json_object_get(line, "step");
    bool good = true;
    r->n++;
    if (!line_is_within_limits(line))
        good = fail(why, "%s:%zu: a name of more than %d bytes, or a tensor of more than %d members", r->path, r->n,
                    LOG_NAME, LOG_MEMBERS);
    else if (r->n == 1 && json_object_get(line, "log"))
        good = take_first(r, line, why);
    else if (!json_is_integer(step) || json_integer_value(step) < 0)
        good = fail(why, "%s:%zu: no JSON object with a step", r->path, r->n);
    else
        r->tell(r->to, &(log_line){line, r->names});
    json_decref(line);
    return good;
}

bool log_read(const char *directory, void (*tell)(void *to, const log_line *line), void *to, char **run, trouble *why)
{
    char *path = path_join(directory, "log.jsonl"), *text = NULL;
    FILE *file = fopen(path, "rb");
    size_t room = 0, length;
    reading r = {.path = path, .tell = tell, .to = to};
    bool good = file || fail(why, "%s: %s", path, strerror(errno));
    while (good && (good = record_read_line(file, path, &text, &room, &length, why)) && length > 0)
        good = read_line(&r, text, length, why);
    if (run)
        *run = good ? r.run : NULL;
    if (!run || !good)
        free(r.run);
    free(text);
    free(path);
    json_decref(r.names);
    if (file)
        fclose(file);
    return good;
}
