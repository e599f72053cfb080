/* SPDX-License-Identifier: BSD-2-Clause */
/* checkpoint.c - see checkpoint.h for the layout of the file. */
#include "base/checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/atomic_file.h"
#include "base/source.h"

enum { HEADER = 40, FIXED = 24, ALIGNMENT = 64, LONGEST_NAME = 255, VERSION = 1 };
static const uint8_t signature[8] = {0x89, 'F', 'P', 'T', 'R', 'N', '\r', '\n'};

typedef struct entry {
    char *name;
    uint8_t *bytes;
    size_t length;
} entry;

struct checkpoint {
    entry *entry;
    size_t count, room;
};

checkpoint *checkpoint_new(void)
{
    return need(1, sizeof(checkpoint));
}

void checkpoint_free(checkpoint *c)
{
    for (size_t i = 0; c && i < c->count; i++) {
        free(c->entry[i].name);
        free(c->entry[i].bytes);
    }
    if (c)
        free(c->entry);
    free(c);
}

static const entry *find(const checkpoint *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->entry[i].name, name) == 0)
            return &c->entry[i];
    return NULL;
}

void checkpoint_put(checkpoint *c, const char *name, const void *bytes, size_t length)
{
    const size_t name_length = strlen(name);
    if (name_length == 0 || name_length > LONGEST_NAME || find(c, name))
        die("checkpoint: entry '%s' twice, or no name for one", name);
    if (c->count == c->room) {
        entry *larger = need(2 * c->room + 16, sizeof *larger);
        if (c->count > 0)
            memcpy(larger, c->entry, c->count * sizeof *larger);
        free(c->entry);
        c->entry = larger;
        c->room = 2 * c->room + 16;
    }
    entry *e = &c->entry[c->count++];
    *e = (entry){need(name_length + 1, 1), need(length, 1), length};
    memcpy(e->name, name, name_length);
    if (length > 0)
        memcpy(e->bytes, bytes, length);
}

const void *checkpoint_get(const checkpoint *c, const char *name, size_t *length)
{
    const entry *e = find(c, name);
    if (e && length)
        *length = e->length;
    return e ? e->bytes : NULL;
}

bool checkpoint_take(const checkpoint *c, const char *name, void *bytes, size_t length, trouble *why)
{
    const entry *e = find(c, name);
    if (!e)
        return fail(why, "the checkpoint has no entry '%s'", name);
    if (e->length != length)
        return fail(why, "entry '%s' of the checkpoint has %zu bytes, not %zu", name, e->length, length);
    if (length > 0)
        memcpy(bytes, e->bytes, length);
    return true;
}

const char *checkpoint_name(const checkpoint *c, size_t i)
{
    return i < c->count ? c->entry[i].name : NULL;
}

/* ------------------------------------------------------------------------------------------------ on disk */

static void put_number(uint8_t *to, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(number >> 8 * i);
}

static uint64_t get_number(const uint8_t *from, int bytes)
{
    uint64_t number = 0;
    for (int i = 0; i < bytes; i++)
        number |= (uint64_t)from[i] << 8 * i;
    return number;
}

static uint32_t checksum(const uint8_t *bytes, size_t length)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes, length);
}

static size_t aligned(size_t place)
{
    return (place + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* The header and the table; *length is their size. */
static uint8_t *make_table(const checkpoint *c, size_t *length)
{
    size_t table = 0;
    for (size_t i = 0; i < c->count; i++)
        table += FIXED + strlen(c->entry[i].name);
    *length = HEADER + table;
    uint8_t *bytes = need(*length, 1), *to = bytes + HEADER;
    size_t place = *length;
    for (size_t i = 0; i < c->count; i++) {
        const entry *e = &c->entry[i];
        const size_t name = strlen(e->name);
        place = aligned(place);
        put_number(to, name, 4);
        put_number(to + 4, checksum(e->bytes, e->length), 4);
        put_number(to + 8, place, 8);
        put_number(to + 16, e->length, 8);
        memcpy(to + FIXED, e->name, name);
        to += FIXED + name;
        place += e->length;
    }
    memcpy(bytes, signature, sizeof signature);
    put_number(bytes + 8, VERSION, 4);
    put_number(bytes + 12, c->count, 4);
    put_number(bytes + 16, table, 8);
    put_number(bytes + 24, place, 8);
    put_number(bytes + 32, checksum(bytes + HEADER, table), 4);
    put_number(bytes + 36, checksum(bytes, 36), 4);
    return bytes;
}

bool checkpoint_write(const checkpoint *c, const char *path, trouble *why)
{
    static const uint8_t zeros[ALIGNMENT];
    atomic_file out;
    size_t place;
    if (!atomic_file_open(&out, path, why))
        return false;
    uint8_t *table = make_table(c, &place);
    fwrite(table, 1, place, out.file);
    free(table);
    for (size_t i = 0; i < c->count; i++) {
        fwrite(zeros, 1, aligned(place) - place, out.file);
        fwrite(c->entry[i].bytes, 1, c->entry[i].length, out.file);
        place = aligned(place) + c->entry[i].length;
    }
    return atomic_file_commit(&out, why);
}

/* The bytes of a file while they are read. */
typedef struct scan {
    const uint8_t *bytes;
    size_t length, place, table_end; /* place: where the bytes of entries have been read up to */
    const char *name;
} scan;

static bool check_header(scan *s, trouble *why)
{
    const uint8_t *b = s->bytes;
    if (s->length < HEADER)
        return fail(why, "%s: truncated: a checkpoint has at least %d bytes, this has %zu", s->name, HEADER, s->length);
    if (memcmp(b, signature, sizeof signature) != 0)
        return fail(why, "%s: not a checkpoint", s->name);
    if (get_number(b + 36, 4) != checksum(b, 36))
        return fail(why, "%s: the header is damaged (checksum)", s->name);
    if (get_number(b + 8, 4) != VERSION)
        return fail(why, "%s: a checkpoint of version %u, only %d can be read", s->name, (unsigned)get_number(b + 8, 4),
                    VERSION);
    if (get_number(b + 24, 8) != s->length)
        return fail(why, "%s: %s: it should have %llu bytes, it has %zu", s->name,
                    get_number(b + 24, 8) > s->length ? "truncated" : "too long",
                    (unsigned long long)get_number(b + 24, 8), s->length);
    if (get_number(b + 16, 8) > s->length - HEADER)
        return fail(why, "%s: the table is larger than the file", s->name);
    s->table_end = HEADER + (size_t)get_number(b + 16, 8);
    if (get_number(b + 32, 4) != checksum(b + HEADER, s->table_end - HEADER))
        return fail(why, "%s: the table is damaged (checksum)", s->name);
    s->place = s->table_end;
    return true;
}

static bool all_zero(const uint8_t *bytes, size_t length)
{
    size_t i = 0;
    while (i < length && bytes[i] == 0)
        i++;
    return i == length;
}

/* One entry of the table at *at, moved past it; its bytes must begin where those of the last one end. */
static bool read_entry(scan *s, size_t *at, checkpoint *c, trouble *why)
{
    char name[LONGEST_NAME + 1] = "";
    if (s->table_end - *at < FIXED)
        return fail(why, "%s: the table ends in the middle of an entry", s->name);
    const uint8_t *b = s->bytes + *at;
    const uint64_t name_length = get_number(b, 4), offset = get_number(b + 8, 8), length = get_number(b + 16, 8);
    if (name_length == 0 || name_length > LONGEST_NAME || name_length > s->table_end - *at - FIXED)
        return fail(why, "%s: an entry with a name of %llu bytes", s->name, (unsigned long long)name_length);
    memcpy(name, b + FIXED, (size_t)name_length);
    if (strlen(name) != name_length || find(c, name))
        return fail(why, "%s: two entries have one name, or a name has a zero byte", s->name);
    if (offset != aligned(s->place) || offset > s->length || length > s->length - offset)
        return fail(why, "%s: entry '%s' lies outside of the file, or not where it belongs", s->name, name);
    if (!all_zero(s->bytes + s->place, (size_t)offset - s->place))
        return fail(why, "%s: something lies before entry '%s'", s->name, name);
    if (get_number(b + 4, 4) != checksum(s->bytes + offset, (size_t)length))
        return fail(why, "%s: entry '%s' is damaged (checksum)", s->name, name);
    checkpoint_put(c, name, s->bytes + offset, (size_t)length);
    s->place = (size_t)(offset + length);
    *at += FIXED + (size_t)name_length;
    return true;
}

checkpoint *checkpoint_parse(const uint8_t *bytes, size_t length, const char *name, trouble *why)
{
    scan s = {.bytes = bytes, .length = length, .name = name};
    if (!check_header(&s, why))
        return NULL;
    checkpoint *c = checkpoint_new();
    const uint64_t count = get_number(bytes + 12, 4);
    size_t at = HEADER;
    bool good = true;
    for (uint64_t i = 0; good && i < count; i++)
        good = read_entry(&s, &at, c, why);
    if (good && (at != s.table_end || s.place != length))
        good = fail(why, "%s: has bytes that belong to no entry", name);
    if (!good) {
        checkpoint_free(c);
        c = NULL;
    }
    return c;
}

checkpoint *checkpoint_read(const char *path, trouble *why)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        fail(why, "%s: %s", path, strerror(errno));
        return NULL;
    }
    /* A plain stream: what gzip would unpack is no checkpoint, and says so by its first bytes. */
    source *s = source_from(file, path, why);
    size_t length = 0;
    uint8_t *bytes = s ? source_rest(s, SIZE_MAX / 4, &length, why) : NULL;
    source_close(s);
    checkpoint *c = bytes ? checkpoint_parse(bytes, length, path, why) : NULL;
    free(bytes);
    return c;
}
