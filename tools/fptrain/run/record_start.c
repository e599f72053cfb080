/* SPDX-License-Identifier: BSD-2-Clause */
/* record_start.c - the files of a run that begins, and those of one that goes on. */
#include "run/record_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "common/atomic_file.h"
#include "common/json.h"
#include "run/occupied.h"

static bool make_id(char id[RUN_ID + 1], trouble *why)
{
    unsigned char bytes[RUN_ID / 2];
    FILE *random = fopen("/dev/urandom", "rb");
    const bool good = random && fread(bytes, 1, sizeof bytes, random) == sizeof bytes;
    if (random)
        fclose(random);
    for (size_t i = 0; good && i < sizeof bytes; i++)
        snprintf(id + 2 * i, 3, "%02x", bytes[i]);
    return good || fail(why, "/dev/urandom: no id for the run: %s", strerror(errno));
}

static json_t *settings_as_json(const settings *s)
{
    json_t *all = json_object();
    settings_key key;
    char text[SETTINGS_TEXT], name[128];
    for (int i = 0; settings_table(i, &key); i++) {
        snprintf(name, sizeof name, "%s.%s", key.section, key.key);
        object_put(all, name, json_string(settings_value(s, i, text)));
    }
    for (int i = 0; i < s->format_count; i++) {
        const format_line *f = &s->formats[i];
        snprintf(name, sizeof name, "formats.%s", f->pattern);
        object_put(all, name, json_sprintf("%s%s%s", f->spec, f->mode ? " " : "", f->mode ? f->mode : ""));
    }
    if (s->network.text)
        object_put(all, "network", json_string(s->network.text));
    return all;
}

/* Everything but the files. */
static record *make(const settings *s, const machine *here, const record_names *names)
{
    record *r = need(1, sizeof *r);
    int tensors = 0;
    for (int which = 0; which < ROLES; which++) {
        r->first[which] = tensors;
        tensors += names->count[which];
    }
    r->tally = tally_new(tensors);
    r->machine = *here;
    r->one_machine = true;
    r->every = (uint64_t)s->output.log_every;
    r->settings = settings_as_json(s);
    r->notes = json_object();
    r->directory = path_join(s->output.directory, "");
    r->directory[strlen(s->output.directory)] = '\0';
    return r;
}

static json_t *names_as_json(const record_names *names)
{
    json_t *all = json_object();
    for (int which = 0; which < ROLES; which++) {
        json_t *of_role = json_array();
        for (int i = 0; i < names->count[which]; i++)
            array_add(of_role, json_string(names->name[which][i]));
        object_put(all, role_name((role)which), of_role);
    }
    return all;
}

static bool write_first_line(record *r, const record_names *names, trouble *why)
{
    json_t *line = json_object(), *counters = json_array();
    for (int i = 0; tally_counter(i); i++)
        array_add(counters, json_string(tally_counter(i)));
    object_put(line, "log", json_of_count(LOG_VERSION));
    object_put(line, "run", json_string(r->id));
    object_put(line, "machine", machine_to_json(&r->machine));
    object_put(line, "counters", counters);
    object_put(line, "names", names_as_json(names));
    const bool good = record_line(r, line, NULL, why);
    json_decref(line);
    return good;
}

static bool open_log(record *r, const char *mode, trouble *why)
{
    char *path = path_join(r->directory, "log.jsonl");
    r->log = fopen(path, mode);
    if (!r->log)
        fail(why, "%s: %s", path, strerror(errno));
    free(path);
    return r->log != NULL;
}

static bool write_settings(const record *r, const settings *s, trouble *why)
{
    char *path = path_join(r->directory, "settings.ini");
    const bool good = settings_write(s, path, why);
    free(path);
    return good;
}

record *record_start(const settings *s, const machine *here, const record_names *names, trouble *why)
{
    record *r = make(s, here, names);
    if (make_id(r->id, why) && directory_make(r->directory, why) && write_settings(r, s, why) &&
        open_log(r, "wb", why) && write_first_line(r, names, why))
        return r;
    record_close(r);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ going on */

/* An object or null, for json_decref. */
static bool take_line(const json_t *entry, const char *key, json_t **line)
{
    json_t *value = json_object_get(entry, key);
    *line = json_is_object(value) ? json_incref(value) : NULL;
    return json_is_object(value) || json_is_null(value);
}

static bool take_totals(const json_t *entry, uint64_t totals[TOTALS])
{
    const json_t *all = json_object_get(entry, "totals");
    bool good = json_array_size(all) == TOTALS;
    for (size_t i = 0; good && i < TOTALS; i++) {
        good = json_is_integer(json_array_get(all, i));
        totals[i] = (uint64_t)json_integer_value(json_array_get(all, i));
    }
    return good;
}

static bool take_id(const json_t *entry, char id[RUN_ID + 1])
{
    const char *text = json_string_value(json_object_get(entry, "run"));
    bool good = text && strlen(text) == RUN_ID;
    for (int i = 0; good && i < RUN_ID; i++)
        good = isxdigit((unsigned char)text[i]);
    if (good)
        strcpy(id, text);
    return good;
}

/* What record_save has put there; *length of the log. */
static bool take_entry(record *r, const checkpoint *from, machine *then, uint64_t *length, trouble *why)
{
    const char *text = checkpoint_text(from, "run");
    if (!text)
        return fail(why, "the checkpoint in %.200s is of no run with an id: an older fptrain wrote it", r->directory);
    json_t *entry = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    const json_t *log = json_object_get(entry, "log"), *crc = json_object_get(entry, "log_crc32");
    const bool good = take_id(entry, r->id) && machine_from_json(json_object_get(entry, "machine"), then) &&
                      json_is_integer(log) && json_integer_value(log) > 0 && json_is_integer(crc) &&
                      take_totals(entry, r->totals) && take_line(entry, "best", &r->best) &&
                      take_line(entry, "last", &r->last) && take_line(entry, "step", &r->step);
    *length = (uint64_t)json_integer_value(log);
    r->crc = (uint32_t)json_integer_value(crc);
    r->one_machine = json_is_true(json_object_get(entry, "one_machine"));
    json_decref(entry);
    return good || fail(why, "the checkpoint in %.200s does not say of which run it is", r->directory);
}

/* The first line of the log is of this run, and names the same tensors. */
static bool check_first_line(const record *r, const record_names *names, trouble *why)
{
    char *text = NULL, *path = path_join(r->directory, "log.jsonl");
    size_t room = 0, length;
    bool good = record_read_line(r->log, path, &text, &room, &length, why);
    json_t *line = good && length > 0 ? json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL) : NULL;
    json_t *now = names_as_json(names);
    const char *id = json_string_value(json_object_get(line, "run"));
    const json_int_t version = json_integer_value(json_object_get(line, "log"));
    if (good && (!id || version != LOG_VERSION))
        good = fail(why, "%.200s/log.jsonl: not the log of a run that this fptrain can go on with", r->directory);
    else if (good && strcmp(id, r->id) != 0)
        good = fail(why, "%.200s/log.jsonl is of run %.40s, the checkpoint of %s: one of them does not belong there",
                    r->directory, id, r->id);
    else if (good && !json_equal(now, json_object_get(line, "names")))
        good = fail(why, "%.200s/log.jsonl is of a network with other tensors", r->directory);
    json_decref(now);
    json_decref(line);
    free(path);
    free(text);
    return good;
}

/* Whether the log begins with so many bytes of that checksum. */
static bool log_begins(const record *r, uint64_t length)
{
    uint8_t bytes[1 << 14];
    uint32_t crc = 0;
    uint64_t at = 0;
    while (at < length) {
        const size_t most = length - at < sizeof bytes ? (size_t)(length - at) : sizeof bytes;
        const ssize_t got = pread(fileno(r->log), bytes, most, (off_t)at);
        if (got <= 0)
            return false;
        crc = (uint32_t)crc32_z(crc, bytes, (size_t)got);
        at += (uint64_t)got;
    }
    return crc == r->crc;
}

/* What came after the checkpoint comes again. */
static bool cut_log(const record *r, uint64_t length, trouble *why)
{
    if (!log_begins(r, length))
        return fail(why, "%.200s/log.jsonl is not what it was at the checkpoint, whose log has %llu bytes",
                    r->directory, (unsigned long long)length);
    if (ftruncate(fileno(r->log), (off_t)length) != 0 || fseeko(r->log, (off_t)length, SEEK_SET) != 0)
        return fail(why, "%s/log.jsonl: %s", r->directory, strerror(errno));
    return true;
}

/* Whether the object says that it is of this run. */
static bool is_of_run(const record *r, const json_t *object, const char *path, trouble *why)
{
    const char *id = json_string_value(json_object_get(object, "run"));
    return (id && strcmp(id, r->id) == 0) ||
           fail(why, "%.200s is not of run %s, of which the checkpoint is: one of them does not belong there", path,
                r->id);
}

static bool check_summary(const record *r, trouble *why)
{
    char *path = path_join(r->directory, "summary.json");
    const bool there = access(path, F_OK) == 0;
    json_t *summary = there ? json_read_path(path, RECORD_LARGEST, why) : NULL;
    const bool good = !there || (summary && is_of_run(r, summary, path, why));
    json_decref(summary);
    free(path);
    return good;
}

static bool check_best(const record *r, trouble *why)
{
    char *path = path_join(r->directory, RUN_BEST);
    const bool there = access(path, F_OK) == 0;
    checkpoint *best = there ? checkpoint_read(path, why) : NULL;
    const char *text = best ? checkpoint_text(best, "run") : NULL;
    json_t *entry = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const bool good = !there || (best && is_of_run(r, entry, path, why));
    json_decref(entry);
    checkpoint_free(best);
    free(path);
    return good;
}

static bool write_machine(record *r, trouble *why)
{
    json_t *line = json_object(), *step = json_object_get(r->step, "step");
    object_put(line, "step", step ? json_incref(step) : json_of_count(0));
    object_put(line, "machine", machine_to_json(&r->machine));
    const bool good = record_line(r, line, NULL, why);
    r->one_machine = false;
    json_decref(line);
    return good;
}

record *record_resume(const settings *s, const machine *here, bool another, const record_names *names,
                      const checkpoint *from, trouble *why)
{
    record *r = make(s, here, names);
    machine then;
    uint64_t length = 0;
    trouble differs;
    bool good = take_entry(r, from, &then, &length, why);
    const bool same = good && machine_same(here, &then, &differs);
    if (good && !same && !another)
        good = fail(why, "%s", differs.text);
    /* Nothing is changed before all is checked. */
    good = good && open_log(r, "r+b", why) && check_first_line(r, names, why) && check_summary(r, why) &&
           check_best(r, why) && cut_log(r, length, why) && write_settings(r, s, why) &&
           (same || write_machine(r, why));
    if (good)
        return r;
    record_close(r);
    return NULL;
}
