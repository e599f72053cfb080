/* SPDX-License-Identifier: BSD-2-Clause */
/* occupied.c - see occupied.h */
#include "run/occupied.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/followed.h"
#include "common/json.h"
#include "common/outputs.h"
#include "common/temporary.h"
#include "data/origin.h"
#include "run/record.h"

/* In the order in which they go away: nothing to go on from first, and last what says that there was a run. */
static const char *const files[] = {RUN_CHECKPOINT, RUN_BEST, "summary.json", "log.jsonl", "settings.ini"};
enum { FILES = sizeof files / sizeof *files };

static bool exists(const char *directory, const char *name)
{
    char *path = path_join(directory, name);
    const bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

bool occupied(const char *directory)
{
    for (int i = 0; i < FILES; i++)
        if (exists(directory, files[i]))
            return true;
    return false;
}

/* ------------------------------------------------------------------------------------------------ the same run */

/* What may not change between the parts of a run, since bits of what was done so far hang on it. */
static bool is_kept(const settings_key *key)
{
    return strcmp(key->section, "output") != 0 &&
           (strcmp(key->section, "train") != 0 ||
            (strcmp(key->key, "threads") != 0 && strcmp(key->key, "diverged") != 0));
}

bool occupied_continues(const settings *now, const settings *then, const char *what, trouble *why)
{
    settings longer = *then;
    if (now->train.epochs > then->train.epochs)
        longer.train.epochs = now->train.epochs;
    const int i = settings_difference(now, &longer, is_kept);
    settings_key key;
    char a[SETTINGS_TEXT], b[SETTINGS_TEXT];
    if (settings_table(i, &key))
        return fail(why,
                    "%.200s is of a run with %s.%s = %s, not %s; --resume takes settings that are left out from there",
                    what, key.section, key.key, settings_value(then, i, b), settings_value(now, i, a));
    if (!settings_same_network(now, then))
        return fail(why, "%.200s is of a run with another network %s", what, then->model.name);
    return settings_same_formats(now, then) || fail(why, "%.200s is of a run with other formats", what);
}

static bool finished(const char *directory)
{
    char *path = path_join(directory, "summary.json");
    json_t *summary = json_read_path(path, RECORD_LARGEST, NULL);
    const bool over = json_is_true(json_object_get(summary, "finished"));
    json_decref(summary);
    free(path);
    return over;
}

/* The settings in the directory are those of the run; a checkpoint without them says its own when it is read. */
static bool is_same(const settings *s, bool needed, trouble *why)
{
    char *path = path_join(s->output.directory, "settings.ini");
    settings then;
    settings_default(&then);
    const bool good = (!needed && access(path, F_OK) != 0) ||
                      (settings_read(&then, path, why) && occupied_continues(s, &then, path, why));
    settings_free(&then);
    free(path);
    return good;
}

/* Without a checkpoint a run begins again: that loses nothing if it is the same run and was not over. */
static bool may_go_on(const settings *s, trouble *why)
{
    const char *directory = s->output.directory;
    const bool stands = exists(directory, RUN_CHECKPOINT);
    if (!stands && finished(directory))
        return fail(why,
                    "%s holds a run that is finished, and no checkpoint to go on from: --force replaces it, "
                    "another --out keeps it",
                    directory);
    return is_same(s, !stands, why);
}

/* Whether the file is what the settings [init] name. */
static bool starts_from(const settings *s, const char *path)
{
    char *checkpoint = path_join(s->init.from, RUN_CHECKPOINT); /* of a directory */
    const bool same = s->init.from[0] && (same_target(s->init.from, path) || same_target(checkpoint, path));
    free(checkpoint);
    return same;
}

/* Texts may have any name: the files of a run beside them would be read as such. What a run that goes on had started
 * from, it reads no more. */
static bool spares_what_is_read(const settings *s, run_start how, trouble *why)
{
    const char *directory = s->output.directory;
    const bool starts = how != RUN_RESUME || !exists(directory, RUN_CHECKPOINT);
    bool spares = !origin_reads_all_of(s->data.source, s->data.test, directory) ||
                  fail(why, "--out: what lies in '%.200s' is read as texts", directory);
    for (int i = 0; i < FILES && spares; i++) {
        char *path = path_join(directory, files[i]);
        spares = (!origin_has(s->data.source, s->data.test, path) && !(starts && starts_from(s, path))) ||
                 fail(why, "--out would replace what is read: '%.200s'", path);
        free(path);
    }
    return spares;
}

bool occupied_check(const settings *s, run_start how, trouble *why)
{
    const char *directory = s->output.directory;
    if (directory[0] && !spares_what_is_read(s, how, why))
        return false;
    if (!directory[0] || how == RUN_FORCE || !occupied(directory))
        return true;
    if (how == RUN_FRESH)
        return fail(why,
                    "%s holds a run already: --resume goes on with it, --force replaces it, another --out keeps "
                    "it",
                    directory);
    return may_go_on(s, why);
}

bool occupied_spares(const char *output, trouble *why)
{
    char *to = followed(output), *slash = to ? strrchr(to, '/') : NULL; /* who writes follows links, too */
    const char *name = slash ? slash + 1 : to;
    bool taken = false;
    for (int i = 0; to && i < FILES; i++)
        taken = taken || strcmp(name, files[i]) == 0;
    if (slash)
        slash[1] = '\0';
    taken = taken && occupied(slash ? to : ".");
    free(to);
    return !taken || fail(why, "%.200s belongs to a run: choose another name for the output", output);
}

void occupied_tidy(const char *directory)
{
    for (int i = 0; i < FILES; i++) {
        char *path = path_join(directory, files[i]);
        temporary_tidy(path);
        free(path);
    }
}

bool occupied_clear(const char *directory, trouble *why)
{
    bool good = true;
    for (int i = 0; good && i < FILES; i++) {
        char *path = path_join(directory, files[i]);
        good = unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR || fail(why, "%s: %s", path, strerror(errno));
        free(path);
    }
    return good;
}
