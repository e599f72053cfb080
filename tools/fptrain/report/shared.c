/* SPDX-License-Identifier: BSD-2-Clause */
/* shared.c - see shared.h */
#include "report/shared.h"

#include <stdio.h>
#include <string.h>

static bool same_value(const run *a, const run *b, int i)
{
    char first[SETTINGS_TEXT], other[SETTINGS_TEXT];
    return strcmp(settings_value(&a->settings, i, first), settings_value(&b->settings, i, other)) == 0;
}

static bool names_model(const settings_key *key)
{
    return strcmp(key->section, "model") == 0 && strcmp(key->key, "name") == 0;
}

/* Files of one name may describe different networks. */
static bool other_network(const settings *a, const settings *b)
{
    return strcmp(a->model.name, b->model.name) == 0 && !settings_same_network(a, b);
}

static bool networks_tell(const groups *g)
{
    for (int k = 1; k < g->count; k++)
        if (other_network(&g->mean[k].settings, &g->mean[0].settings))
            return true;
    return false;
}

key_kind shared_key(const groups *g, int i)
{
    settings_key key;
    settings_table(i, &key);
    if (strcmp(key.section, "output") == 0)
        return KEY_LEFT_OUT;
    if (names_model(&key) && networks_tell(g))
        return KEY_TELLS;
    for (int k = 0; k < g->count; k++)
        for (int m = 0; m < g->group[k].count; m++)
            if (!same_value(g->group[k].member[m], g->group[0].member[0], i))
                return group_tells(&key) ? KEY_TELLS : KEY_LEFT_OUT;
    return KEY_SHARED;
}

/* Whether one of the groups before k has the network of group k. */
static bool met_before(const groups *g, int k)
{
    for (int i = 0; i < k; i++)
        if (strcmp(g->mean[i].settings.model.name, g->mean[k].settings.model.name) == 0 &&
            settings_same_network(&g->mean[i].settings, &g->mean[k].settings))
            return true;
    return false;
}

const char *shared_value(const groups *g, const settings *s, int i, char text[SHARED_TEXT])
{
    settings_key key;
    char plain[SETTINGS_TEXT];
    int networks = 0, number = 0;
    settings_table(i, &key);
    for (int k = 0; names_model(&key) && k < g->count; k++) {
        const settings *other = &g->mean[k].settings;
        if (strcmp(other->model.name, s->model.name) != 0 || met_before(g, k))
            continue;
        networks++;
        if (settings_same_network(other, s))
            number = networks;
    }
    snprintf(text, SHARED_TEXT, networks > 1 ? "%s (%d)" : "%s", settings_value(s, i, plain), number);
    return text;
}

/* ------------------------------------------------------------------------------------------------ formats */

static bool same_line(const format_line *a, const format_line *b)
{
    return strcmp(a->pattern, b->pattern) == 0 && strcmp(a->spec, b->spec) == 0 &&
           strcmp(a->mode ? a->mode : "rne", b->mode ? b->mode : "rne") == 0;
}

static int find_line(const settings *s, const format_line *line)
{
    int i = 0;
    while (i < s->format_count && !same_line(&s->formats[i], line))
        i++;
    return i < s->format_count ? i : -1;
}

static bool everywhere(const groups *g, const format_line *line)
{
    for (int k = 0; k < g->count; k++)
        if (find_line(&g->mean[k].settings, line) < 0)
            return false;
    return true;
}

/* Lines that all have, but not in one order, mean different things. */
static bool one_order(const groups *g)
{
    const settings *first = &g->mean[0].settings;
    for (int k = 1; k < g->count; k++)
        for (int i = 0, last = -1; i < first->format_count; i++) {
            if (!everywhere(g, &first->formats[i]))
                continue;
            const int at = find_line(&g->mean[k].settings, &first->formats[i]);
            if (at < last)
                return false;
            last = at;
        }
    return true;
}

bool shared_format(const groups *g, const format_line *line)
{
    return everywhere(g, line) && one_order(g);
}

bool formats_tell(const groups *g)
{
    for (int k = 0; k < g->count; k++)
        for (int i = 0; i < g->mean[k].settings.format_count; i++)
            if (!shared_format(g, &g->mean[k].settings.formats[i]))
                return true;
    return false;
}

const char *formats_in_short(const settings *s)
{
    return s->format_count ? "-" : strcmp(s->policy.name, "fixed") == 0 ? "fp32" : "by policy";
}

/* What one wants to know of every run. */
static bool always_told(const char *name)
{
    return strcmp(name, "model.name") == 0 || strcmp(name, "data.source") == 0;
}

void shared_each(const groups *g, shared_put *put, void *to)
{
    const settings *first = &g->mean[0].settings;
    char text[SETTINGS_TEXT], name[SETTINGS_TEXT + 16];
    settings_key key;
    for (int i = 0; settings_table(i, &key); i++) {
        if (shared_key(g, i) != KEY_SHARED)
            continue;
        snprintf(name, sizeof name, "%s.%s", key.section, key.key);
        settings_value(first, i, text);
        if (strcmp(text, key.normal) != 0 || always_told(name))
            put(to, name, text);
    }
    for (int i = 0; i < first->format_count; i++) {
        const format_line *f = &first->formats[i];
        if (!shared_format(g, f))
            continue;
        snprintf(name, sizeof name, "formats.%s", f->pattern);
        snprintf(text, sizeof text, "%s%s%s", f->spec, f->mode ? " " : "", f->mode ? f->mode : "");
        put(to, name, text);
    }
}
