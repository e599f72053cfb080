/* SPDX-License-Identifier: BSD-2-Clause */
/* name_map.c - see name_map.h */
#include "run/name_map.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/source.h"

enum { STARS = 9, MOST_RULES = 10000, LARGEST = 1 << 20 };

typedef struct name_rule {
    char *pattern, *replacement;
    bool met;
} name_rule;

struct name_map {
    int count;
    name_rule *rule;
};

typedef struct span {
    const char *from;
    size_t length;
} span;

void name_map_free(name_map *m)
{
    for (int i = 0; m && i < m->count; i++) {
        free(m->rule[i].pattern);
        free(m->rule[i].replacement);
    }
    if (m)
        free(m->rule);
    free(m);
}

static char *trimmed(const char *from, const char *end)
{
    while (from < end && isspace((unsigned char)*from))
        from++;
    while (end > from && isspace((unsigned char)end[-1]))
        end--;
    return copy_text(from, (size_t)(end - from));
}

static int stars_of(const char *pattern)
{
    int stars = 0;
    for (; *pattern; pattern++)
        stars += *pattern == '*';
    return stars;
}

/* Every * and \N of the replacement stands for a * of the pattern. */
static bool check_rule(const name_rule *r, trouble *why)
{
    const int stars = stars_of(r->pattern);
    int used = 0;
    if (!*r->pattern)
        return fail(why, "a rule without a pattern");
    if (stars > STARS)
        return fail(why, "'%.100s' has more than %d *", r->pattern, STARS);
    for (const char *c = r->replacement; *c; c++) {
        used += *c == '*';
        if (*c == '\\' && (c[1] < '1' || c[1] > '0' + stars))
            return fail(why, "'%.100s' names a * that '%.100s' has not", r->replacement, r->pattern);
    }
    return used <= stars || fail(why, "'%.100s' has more * than '%.100s'", r->replacement, r->pattern);
}

static bool add_rule(name_map *m, const char *from, const char *end, trouble *why)
{
    const char *equals = memchr(from, '=', (size_t)(end - from));
    if (!equals)
        return fail(why, "'%.*s' is not as in PATTERN = REPLACEMENT", (int)(end - from > 100 ? 100 : end - from), from);
    if (m->count == MOST_RULES)
        return fail(why, "more than %d rules", MOST_RULES);
    if ((m->count & (m->count - 1)) == 0) { /* room for twice as many */
        name_rule *larger = need(2 * (size_t)m->count + 1, sizeof *larger);
        if (m->count > 0)
            memcpy(larger, m->rule, (size_t)m->count * sizeof *larger);
        free(m->rule);
        m->rule = larger;
    }
    name_rule *r = &m->rule[m->count++];
    r->pattern = trimmed(from, equals);
    r->replacement = trimmed(equals + 1, end);
    return check_rule(r, why);
}

static bool read_list(name_map *m, const char *text, trouble *why)
{
    trouble inner;
    for (;;) {
        const char *end = text + strcspn(text, ",");
        if (!add_rule(m, text, end, &inner))
            return fail(why, "names of tensors: %.400s", inner.text);
        if (!*end)
            return true;
        text = end + 1;
    }
}

static bool read_lines(name_map *m, const char *text, size_t length, const char *path, trouble *why)
{
    trouble inner;
    int line = 1;
    for (const char *end = text + length; text < end; line++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text)), *stop = newline ? newline : end;
        const char *first = text;
        while (first < stop && isspace((unsigned char)*first))
            first++;
        if (memchr(text, '\0', (size_t)(stop - text)))
            return fail(why, "%s:%d: a zero byte", path, line);
        if (first < stop && *first != '#' && !add_rule(m, first, stop, &inner))
            return fail(why, "%s:%d: %.300s", path, line, inner.text);
        text = newline ? newline + 1 : end;
    }
    return true;
}

name_map *name_map_parse(const void *bytes, size_t length, const char *path, trouble *why)
{
    name_map *m = need(1, sizeof *m);
    if (read_lines(m, bytes, length, path, why))
        return m;
    name_map_free(m);
    return NULL;
}

name_map *name_map_read(const char *text, trouble *why)
{
    if (!*text || strchr(text, '=')) {
        name_map *m = need(1, sizeof *m);
        if (!*text || read_list(m, text, why))
            return m;
        name_map_free(m);
        return NULL;
    }
    size_t length = 0;
    source *s = source_open(text, why);
    uint8_t *bytes = s ? source_rest(s, LARGEST, &length, why) : NULL;
    source_close(s);
    name_map *m = bytes ? name_map_parse(bytes, length, text, why) : NULL;
    free(bytes);
    return m;
}

/* What the stars stand for, as little as will do. The last star is tried at every place, so that a failure after it
 * need not try those before again: what lies between two stars is found as early as it is there. */
static bool match(const char *pattern, const char *name, span *star)
{
    const char *again = NULL, *place = NULL; /* after the last star; where the name goes on for it */
    int stars = 0;
    for (;;) {
        if (*pattern == '*') {
            star[stars++] = (span){name, 0};
            again = ++pattern;
            place = name;
        } else if (*pattern == *name) {
            if (!*name)
                return true;
            pattern++;
            name++;
        } else if (again && *place) {
            pattern = again;
            name = ++place;
            star[stars - 1].length++;
        } else {
            return false;
        }
    }
}

static bool put(char to[NAME_MAP_TEXT], size_t *length, const char *from, size_t more)
{
    if (*length + more >= NAME_MAP_TEXT)
        return false;
    if (more > 0) /* a star may stand for nothing, which is nowhere */
        memcpy(to + *length, from, more);
    *length += more;
    to[*length] = '\0';
    return true;
}

bool name_map_apply(const name_map *m, const char *name, char to[NAME_MAP_TEXT], trouble *why)
{
    span star[STARS] = {{NULL, 0}};
    size_t length = 0;
    name_rule *r = NULL;
    to[0] = '\0';
    for (int i = 0; !r && i < m->count; i++)
        if (match(m->rule[i].pattern, name, star))
            r = &m->rule[i];
    if (!r)
        return put(to, &length, name, strlen(name)) || fail(why, "'%.100s...' is too long for a name", name);
    r->met = true;
    int next = 0;
    bool good = true;
    for (const char *c = r->replacement; good && *c; c++) {
        const int which = *c == '*' ? next++ : *c == '\\' ? c[1] - '1' : -1;
        good = which < 0 ? put(to, &length, c, 1) : put(to, &length, star[which].from, star[which].length);
        c += *c == '\\';
    }
    if (good && length == 0 && r->replacement[0])
        return fail(why, "'%.100s' becomes a name of no letters by '%.100s'", name, r->replacement);
    return good || fail(why, "'%.100s' becomes too long for a name by '%.100s'", name, r->replacement);
}

const char *name_map_idle(const name_map *m)
{
    for (int i = 0; i < m->count; i++)
        if (!m->rule[i].met)
            return m->rule[i].pattern;
    return NULL;
}
