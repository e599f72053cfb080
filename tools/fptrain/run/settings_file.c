/* SPDX-License-Identifier: BSD-2-Clause */
/* settings_file.c - settings from a file, by inih, and from the command line.
 *
 * inih cuts long lines and long names without a word, and takes an indented line for more of the value before; so its
 * lines come from a reader of ours, which refuses the first two, takes indents away and counts lines for the messages.
 */
#include "common/system.h"

#include <ctype.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/settings.h"
#include "run/shelf.h"
#include "base/source.h"

enum { LONGEST_LINE = 197, LONGEST_NAME = 49, LARGEST = 1 << 20 };

/* What was said already, to refuse a key that comes twice. */
typedef struct said {
    char section[LONGEST_NAME + 1], key[LONGEST_NAME + 1];
    int line;
} said;

typedef struct reading {
    settings *to;
    const char *name, *text, *end;
    int line;
    size_t count, room;
    said *keys;
    trouble *why;
    int bad; /* line of the first error; 0: none */
} reading;

/* Only our first error is told; one of inih before it takes its place in the end. */
static int refuse(reading *r, const char *message)
{
    if (!r->bad)
        fail(r->why, "%s:%d: %s", r->name, r->line, message);
    r->bad = r->line;
    return 0;
}

/* The next line for inih, as fgets would give it; NULL ends the reading. */
static char *next_line(char *line, int size, void *state)
{
    reading *r = state;
    if (r->bad || r->text == r->end)
        return NULL;
    const char *newline = memchr(r->text, '\n', (size_t)(r->end - r->text)), *stop = newline ? newline : r->end;
    r->line++;
    while (r->text < stop && (*r->text == ' ' || *r->text == '\t'))
        r->text++;
    const size_t length = (size_t)(stop - r->text);
    const bool comment = length > 0 && (*r->text == ';' || *r->text == '#');
    bool control = false;
    for (size_t i = 0; i < length; i++)
        control = control || (iscntrl((unsigned char)r->text[i]) && r->text[i] != '\t' && r->text[i] != '\r');
    if (control)
        refuse(r, "a control character");
    else if (!comment && (length > LONGEST_LINE || length + 2 > (size_t)size))
        refuse(r, "a line of more than 197 characters");
    const size_t taken = r->bad || comment ? 0 : length;
    memcpy(line, r->text, taken);
    line[taken] = '\0';
    if (!r->bad && taken > LONGEST_NAME && line[0] == '[' && !memchr(line, ']', LONGEST_NAME))
        refuse(r, "a name of more than 49 characters");
    if (!r->bad && line[0] != '[' && strcspn(line, "=:") > LONGEST_NAME)
        refuse(r, "a name of more than 49 characters, or a line without '='");
    r->text = newline ? newline + 1 : r->end;
    return r->bad ? NULL : line;
}

static bool remember(reading *r, const char *section, const char *key)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->keys[i].section, section) == 0 && strcmp(r->keys[i].key, key) == 0) {
            trouble why;
            fail(&why, "'%s' of [%s] for the second time (first on line %d)", key, section, r->keys[i].line);
            return refuse(r, why.text) != 0;
        }
    if (r->count == r->room) {
        said *larger = need(2 * r->room + 64, sizeof *larger);
        if (r->count > 0)
            memcpy(larger, r->keys, r->count * sizeof *larger);
        free(r->keys);
        r->keys = larger;
        r->room = 2 * r->room + 64;
    }
    said *s = &r->keys[r->count++];
    snprintf(s->section, sizeof s->section, "%s", section);
    snprintf(s->key, sizeof s->key, "%s", key);
    s->line = r->line;
    return true;
}

static int take(void *state, const char *section, const char *key, const char *value)
{
    reading *r = state;
    trouble why;
    if (r->bad)
        return 0;
    if (section[0] == '\0')
        return refuse(r, "a key before the first [section]");
    if (!settings_set(r->to, section, key, value, &why))
        return refuse(r, why.text);
    return remember(r, section, key);
}

bool settings_parse(settings *s, const char *text, size_t length, const char *name, trouble *why)
{
    reading r = {.to = s, .name = name, .text = text, .end = text + length, .why = why};
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        r.text += 3;
    const int line = ini_parse_stream(next_line, &r, take, &r);
    free(r.keys);
    if (line != 0 && (!r.bad || line < r.bad))
        fail(why, "%s:%d: neither [section] nor key = value", name, line);
    return line == 0 && !r.bad;
}

bool settings_read(settings *s, const char *path, trouble *why)
{
    size_t length = 0;
    source *from = source_open(path, why);
    uint8_t *text = from ? source_rest(from, LARGEST, &length, why) : NULL;
    source_close(from);
    const bool good = text && settings_parse(s, (char *)text, length, path, why);
    free(text);
    return good;
}

/* ------------------------------------------------------------------------------------------------ options */

/* SECTION.KEY=VALUE; a key of [formats] may have dots. */
static bool set_by_name(settings *s, const char *text, trouble *why)
{
    char section[LONGEST_NAME + 1], key[LONGEST_NAME + 1];
    trouble inner;
    const char *equals = strchr(text, '='), *dot = strchr(text, '.');
    if (!equals || !dot || dot > equals || dot - text > LONGEST_NAME || equals - dot - 1 > LONGEST_NAME)
        return fail(why, "--set %.200s: SECTION.KEY=VALUE expected", text);
    snprintf(section, sizeof section, "%.*s", (int)(dot - text), text);
    snprintf(key, sizeof key, "%.*s", (int)(equals - dot - 1), dot + 1);
    return settings_set(s, section, key, equals + 1, &inner) || fail(why, "--set %.200s: %.300s", text, inner.text);
}

/* How much of the argument is the option: --name or --name=...; 0: another one. */
static size_t matches(const char *argument, const char *option)
{
    const size_t length = strlen(option);
    return strncmp(argument, option, length) == 0 && (argument[length] == '\0' || argument[length] == '=') ? length : 0;
}

/* The section and key that an option stands for; --config and --set have none. */
static size_t find_option(const char *argument, settings_key *key)
{
    *key = (settings_key){.section = NULL};
    size_t length = matches(argument, "--config");
    length = length ? length : matches(argument, "--set");
    for (int i = 0; length == 0 && settings_table(i, key); i++)
        length = key->option ? matches(argument, key->option) : 0;
    return length;
}

static bool take_option(settings *s, const char *option, const settings_key *key, const char *value, bool files,
                        trouble *why)
{
    trouble inner;
    const bool is_file = strcmp(option, "--config") == 0;
    if (is_file != files)
        return true;
    if (is_file) {
        char *path = shelf_find(value, why);
        const bool good = path && settings_read(s, path, why);
        free(path);
        return good;
    }
    if (!key->section)
        return set_by_name(s, value, why);
    return settings_set(s, key->section, key->key, value, &inner) || fail(why, "%s: %s", option, inner.text);
}

bool settings_options(settings *s, int *argc, char **argv, trouble *why)
{
    int kept = 1;
    for (int files = 1; files >= 0; files--) {
        kept = 1;
        for (int i = 1; i < *argc; i++) {
            settings_key key;
            char option[32];
            const size_t length = find_option(argv[i], &key);
            if (length == 0) {
                if (!files)
                    argv[kept++] = argv[i];
                continue;
            }
            snprintf(option, sizeof option, "%.*s", (int)length, argv[i]);
            const char *value = argv[i][length] == '=' ? argv[i] + length + 1 : i + 1 < *argc ? argv[++i] : NULL;
            if (!value)
                return fail(why, "%s: a value is missing", option);
            if (!take_option(s, option, &key, value, files, why))
                return false;
        }
    }
    *argc = kept;
    argv[kept] = NULL;
    return true;
}
