/* SPDX-License-Identifier: BSD-2-Clause */
/* options.c - see options.h */
#include "base/base.h"
#include "base/words.h"

#include "commands/options.h"
#include "data/origin.h"
#include "run/occupied.h"

#include <stdio.h>
#include <string.h>

#include "common/near.h"
#include "common/outputs.h"

_Noreturn void options_refuse(const char *command, const char *argument, const struct option *own, bool settings)
{
    char word[64];
    settings_key key;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(argument, "="), argument);
    near_search near = near_start(word + strspn(word, "-"));
    near.before = "--";
    for (; own->name; own++) {
        if (strcmp(own->name, near.word) == 0)
            die("%s: option '--%s' %s; see 'fptrain %s --help'", command, own->name,
                own->has_arg ? "needs a value" : "takes no value", command);
        near_try(&near, own->name);
    }
    for (int i = 0; settings && settings_table(i, &key); i++)
        if (key.option)
            near_try(&near, key.option + 2);
    if (settings) {
        near_try(&near, "config");
        near_try(&near, "set");
    }
    die("%s: unknown option '%.100s'%s; see 'fptrain %s --help'", command, argument, near_text(&near), command);
}

void options_settings(const char *command, settings *s, int *argc, char **argv)
{
    trouble why;
    settings_default(s);
    if (!settings_options(s, argc, argv, &why))
        die("%s: %s", command, why.text);
}

char **options_copy(int argc, char **argv)
{
    char **copy = need((size_t)argc + 1, sizeof *copy);
    return memcpy(copy, argv, (size_t)argc * sizeof *copy);
}

int options_whole(const char *command, const char *option, const char *text, int most)
{
    uint64_t n;
    if (!number_whole(text, 1, (uint64_t)most, &n))
        die("%s: --%s: '%.50s' is not in 1..%d", command, option, text, most);
    return (int)n;
}

const char *options_output(const char *command, const char *path)
{
    trouble why;
    if (strcmp(path, "-") == 0)
        die("%s: '-' is not taken for standard output; './-' names a file", command);
    if (!*path)
        die("%s: the name of the output is empty", command);
    if (!occupied_spares(path, &why))
        die("%s: %s", command, why.text);
    return path;
}

static void refuse_pair(const char *command, const settings *s, const option_file *a, const option_file *b)
{
    if (!a->path || !b->path)
        return;
    const bool same =
        b->how == OPTION_DATA ? origin_has(b->path, s ? s->data.test : "", a->path) : same_target(a->path, b->path);
    if (!same)
        return;
    if (b->how == OPTION_READS || b->how == OPTION_DATA)
        die("%s: %s would replace what is read: '%.200s'", command, a->option, a->path);
    die("%s: %s and %s are the same: '%.200s'", command, a->option, b->option, a->path);
}

/* A network travels in the settings of a run, which know its file by name alone. */
static void refuse_network(const char *command, const settings *s, const option_file *a)
{
    const char *slash = strrchr(a->path, '/'), *name = slash ? slash + 1 : a->path;
    if (s->network.text && strcmp(name, s->model.name) == 0)
        die("%s: %s has the name of the network: '%.200s'", command, a->option, a->path);
}

/* What is read because the settings say so. */
static void refuse_settings(const char *command, const settings *s, const option_file *a, bool data)
{
    for (int i = 0; i < s->config_count; i++)
        refuse_pair(command, s, a, &(option_file){"--config", s->config[i], OPTION_READS});
    refuse_pair(command, s, a, &(option_file){"--model", s->network.from, OPTION_READS});
    refuse_pair(command, s, a, &(option_file){"init.from", s->init.from[0] ? s->init.from : NULL, OPTION_READS});
    if (data)
        refuse_pair(command, s, a, &(option_file){"--data", s->data.source, OPTION_DATA});
}

void options_apart(const char *command, const settings *s, int count, const option_file *files)
{
    bool data = true;
    for (const option_file *b = files; b < files + count; b++)
        data = data && b->how != OPTION_DATA;
    for (const option_file *a = files; a < files + count; a++) {
        if (a->how != OPTION_WRITES)
            continue;
        for (const option_file *b = files; b < files + count; b++)
            if (b->how != OPTION_WRITES || a < b)
                refuse_pair(command, s, a, b);
        if (!s || !a->path)
            continue;
        refuse_settings(command, s, a, data);
        refuse_network(command, s, a);
    }
}
