/* SPDX-License-Identifier: BSD-2-Clause */
/* settings_file.c - settings from a file, by inih, and from the command line.
 *
 * inih cuts long lines and long names without a word, and takes an indented line for more of the value before; so its
 * lines come from a reader of ours, which refuses the first two, takes indents away and counts lines for the messages.
 */
#include <ctype.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/source.h"
#include "common/shown.h"
#include "common/utf8.h"
#include "models/network_text.h"
#include "run/settings.h"
#include "run/shelf.h"

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
    bool in_network;
    int network_line; /* the first line below [network]; 0: there is none */
    char *network;    /* these lines, with room for all of the text */
    size_t network_length;
} reading;

/* Only our first error is told; one of inih before it takes its place in the end. */
static int refuse(reading *r, const char *message)
{
    if (!r->bad)
        fail(r->why, "%s:%d: %s", r->name, r->line, message);
    r->bad = r->line;
    return 0;
}

/* Whether a line belongs to the text below [network], which is kept as it is. */
static bool is_of_network(reading *r, const char *line, size_t length)
{
    static const char head[] = "[network]";
    size_t blanks = 0;
    while (blanks < length && (line[blanks] == ' ' || line[blanks] == '\t'))
        blanks++;
    const char *first = line + blanks;
    const bool section = blanks < length && *first == '[';
    if (section) {
        while (length > blanks && strchr(" \t\r", line[length - 1]))
            length--;
        r->in_network = length - blanks == strlen(head) && memcmp(first, head, strlen(head)) == 0;
        if (!r->in_network)
            return false;
        if (r->network_line)
            refuse(r, "[network] for the second time");
        r->network_line = r->line + 1;
        r->network = r->bad ? r->network : need((size_t)(r->end - r->text) + 2, 1);
        return true;
    }
    if (r->in_network) {
        memcpy(r->network + r->network_length, line, length);
        r->network_length += length;
        r->network[r->network_length++] = '\n';
    }
    return r->in_network;
}

/* A line may have tabs, and end as files of another system do; other control characters nothing could hold. */
static bool has_control(const char *line, size_t length)
{
    length -= length > 0 && line[length - 1] == '\r';
    for (size_t i = 0; i < length; i++)
        if (iscntrl((unsigned char)line[i]) && line[i] != '\t')
            return true;
    return false;
}

/* Without the blanks before '='. */
static size_t length_of_name(const char *line)
{
    size_t length = strcspn(line, "=:");
    while (length > 0 && strchr(" \t", line[length - 1]))
        length--;
    return length;
}

/* The next line for inih, as fgets would give it; NULL ends the reading. */
static char *next_line(char *line, int size, void *state)
{
    reading *r = state;
    if (r->bad || r->text == r->end)
        return NULL;
    const char *newline = memchr(r->text, '\n', (size_t)(r->end - r->text)), *stop = newline ? newline : r->end;
    r->line++;
    const char *whole = r->text;
    while (r->text < stop && (*r->text == ' ' || *r->text == '\t'))
        r->text++;
    const size_t length = (size_t)(stop - r->text);
    const bool network = is_of_network(r, whole, (size_t)(stop - whole));
    const bool comment = network || (length > 0 && (*r->text == ';' || *r->text == '#'));
    if (has_control(r->text, length))
        refuse(r, "a control character");
    else if (network && !utf8_is(r->text, length))
        refuse(r, "a network that is not in UTF-8");
    else if (!comment && (length > LONGEST_LINE || length + 2 > (size_t)size))
        refuse(r, "a line of more than 197 characters");
    const size_t taken = r->bad || comment ? 0 : length;
    memcpy(line, r->text, taken);
    line[taken] = '\0';
    if (!r->bad && taken > LONGEST_NAME && line[0] == '[' && !memchr(line, ']', LONGEST_NAME))
        refuse(r, "a name of more than 49 characters");
    if (!r->bad && line[0] != '[' && length_of_name(line) > LONGEST_NAME)
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
        r->room = 2 * r->room + 64;
        r->keys = need_more(r->keys, r->room, sizeof *r->keys);
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

/* The text below [network] is that of model.name, which the same file gives or one before it. */
static bool finish_network(reading *r)
{
    settings *s = r->to;
    if (!r->network_line)
        return true;
    r->line = r->network_line - 1;
    if (!network_text_is(s->model.name)) {
        trouble why;
        fail(&why, "[network] describes a model whose name ends with .net; model.name is '%.60s'", s->model.name);
        return refuse(r, why.text) != 0;
    }
    settings_take_network(s, r->network, r->name, r->network_line);
    r->network = NULL;
    return true;
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
    const bool good = line == 0 && !r.bad && finish_network(&r);
    free(r.network);
    return good;
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

/* A line that would begin a section, or a character that no file of settings holds, could not be printed and read. */
static bool check_network(const char *text, size_t length, const char *path, trouble *why)
{
    bool start = true;
    int line = 1;
    if (!utf8_is(text, length))
        return fail(why, "%s: a network that is not in UTF-8", path);
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (iscntrl(c) && c != '\t' && c != '\n' && !(c == '\r' && (i + 1 == length || text[i + 1] == '\n')))
            return fail(why, "%s:%d: a control character", path, line);
        if (start && c == '[')
            return fail(why, "%s:%d: a line of a network does not begin with '['", path, line);
        start = c == '\n' || (start && (c == ' ' || c == '\t'));
        line += c == '\n';
    }
    return true;
}

bool settings_network(settings *s, trouble *why)
{
    if (!network_text_is(s->model.name) || s->network.text)
        return true;
    size_t length = 0;
    char *path = shelf_find_network(s->model.name, why);
    source *from = path ? source_open(path, why) : NULL;
    uint8_t *bytes = from ? source_rest(from, NETWORK_TEXT_LARGEST, &length, why) : NULL;
    source_close(from);
    const bool good = bytes && check_network((char *)bytes, length, path, why);
    if (good) {
        const bool ends = length > 0 && bytes[length - 1] == '\n';
        char *text = need(length + 2, 1);
        memcpy(text, bytes, length);
        memcpy(text + length, ends ? "" : "\n", ends ? 1 : 2);
        settings_take_network(s, text, path, 1);
        const char *slash = strrchr(s->model.name, '/');
        if (slash)
            memmove(s->model.name, slash + 1, strlen(slash));
    }
    free(bytes);
    free(path);
    return good;
}

/* ------------------------------------------------------------------------------------------------ options */

/* SECTION.KEY=VALUE; a key of [formats] may have dots. */
static bool set_by_name(settings *s, const char *text, trouble *why)
{
    char section[LONGEST_NAME + 1], key[LONGEST_NAME + 1], cut[SHOWN_SIZE];
    trouble inner;
    const char *equals = strchr(text, '='), *dot = strchr(text, '.');
    if (!equals || !dot || dot > equals || dot - text > LONGEST_NAME || equals - dot - 1 > LONGEST_NAME)
        return fail(why, "--set %s: SECTION.KEY=VALUE expected", shown(text, 0, cut));
    snprintf(section, sizeof section, "%.*s", (int)(dot - text), text);
    snprintf(key, sizeof key, "%.*s", (int)(equals - dot - 1), dot + 1);
    return settings_set(s, section, key, equals + 1, &inner) ||
           fail(why, "--set %s: %.300s", shown(text, 0, cut), inner.text);
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

/* Takes the path over. */
static void keep_config(settings *s, char *path)
{
    s->config = need_more(s->config, (uint64_t)s->config_count + 1, sizeof *s->config);
    s->config[s->config_count++] = path;
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
        if (good)
            keep_config(s, path);
        else
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
    return settings_network(s, why);
}
