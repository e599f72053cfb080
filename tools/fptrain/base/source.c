/* SPDX-License-Identifier: BSD-2-Clause */
/* source.c - see source.h */
#include "base/source.h"

#include <errno.h>
#include <inttypes.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

enum { INPUT = 1 << 16, PIECE = 1 << 20, LZMA_MEMORY = 128 << 20 };

typedef enum packing { PLAIN, GZIP, XZ, CALLED } packing;

struct source {
    FILE *file; /* NULL: read, and what it reads from */
    source_reader *read;
    void *from;
    char name[256];
    packing packing;
    z_stream deflated;
    lzma_stream lzma;
    bool member_over; /* gzip: between two members, or before the end */
    bool over;        /* nothing more will come */
    size_t have, used;
    uint8_t input[INPUT];
};

static bool fill(source *s, trouble *why)
{
    if (s->used < s->have || !s->file)
        return true;
    s->used = 0;
    s->have = fread(s->input, 1, sizeof s->input, s->file);
    return !ferror(s->file) || fail(why, "%s: %s", s->name, strerror(errno));
}

static bool start_unpacking(source *s, trouble *why)
{
    const size_t n = s->have;
    if (n >= 2 && s->input[0] == 0x1f && s->input[1] == 0x8b) {
        s->packing = GZIP;
        return inflateInit2(&s->deflated, 15 + 16) == Z_OK || fail(why, "%s: zlib does not start", s->name);
    }
    if (n >= 6 && memcmp(s->input,
                         "\xfd"
                         "7zXZ",
                         6) == 0) {
        s->packing = XZ;
        return lzma_stream_decoder(&s->lzma, LZMA_MEMORY, LZMA_CONCATENATED) == LZMA_OK ||
               fail(why, "%s: liblzma does not start", s->name);
    }
    return true;
}

source *source_from(FILE *file, const char *name, trouble *why)
{
    source *s = need(1, sizeof *s);
    s->file = file;
    s->lzma = (lzma_stream)LZMA_STREAM_INIT;
    snprintf(s->name, sizeof s->name, "%s", name);
    if (fill(s, why) && start_unpacking(s, why))
        return s;
    s->packing = PLAIN;
    source_close(s);
    return NULL;
}

source *source_of(source_reader *read, void *from, const char *name)
{
    source *s = need(1, sizeof *s);
    s->read = read;
    s->from = from;
    s->packing = CALLED;
    snprintf(s->name, sizeof s->name, "%s", name);
    return s;
}

source *source_open(const char *path, trouble *why)
{
    FILE *file = fopen(path, "rb");
    struct stat status;
    if (!file && *path)
        fail(why, "%s: %s", path, strerror(errno));
    else if (!file)
        fail(why, "the name of a file to read is empty");
    if (!file)
        return NULL;
    if (fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode)) {
        fclose(file);
        fail(why, "%s: is a directory", path);
        return NULL;
    }
    return source_from(file, path, why);
}

void source_close(source *s)
{
    if (!s)
        return;
    if (s->packing == GZIP)
        inflateEnd(&s->deflated);
    if (s->packing == XZ)
        lzma_end(&s->lzma);
    if (s->file)
        fclose(s->file);
    free(s);
}

const char *source_name(const source *s)
{
    return s->name;
}

/* As many bytes as one step of the unpacker gives. */
static bool step_gzip(source *s, uint8_t *to, size_t size, size_t *got, trouble *why)
{
    z_stream *z = &s->deflated;
    const size_t left = s->have - s->used;
    if (left == 0) {
        s->over = true;
        return s->member_over || fail(why, "%s: truncated: the gzip data end early", s->name);
    }
    if (s->member_over && inflateReset(z) != Z_OK)
        return fail(why, "%s: zlib does not start", s->name);
    s->member_over = false;
    z->next_in = s->input + s->used;
    z->avail_in = (uInt)left;
    z->next_out = to;
    z->avail_out = (uInt)size;
    const int result = inflate(z, Z_NO_FLUSH);
    s->used = s->have - z->avail_in;
    *got = size - z->avail_out;
    s->member_over = result == Z_STREAM_END;
    return result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR ||
           fail(why, "%s: damaged gzip data (%s)", s->name, z->msg ? z->msg : "unknown error");
}

static bool step_xz(source *s, uint8_t *to, size_t size, size_t *got, trouble *why)
{
    lzma_stream *z = &s->lzma;
    z->next_in = s->input + s->used;
    z->avail_in = s->have - s->used;
    z->next_out = to;
    z->avail_out = size;
    const lzma_ret result = lzma_code(z, z->avail_in ? LZMA_RUN : LZMA_FINISH);
    s->used = s->have - z->avail_in;
    *got = size - z->avail_out;
    s->over = result == LZMA_STREAM_END;
    if (result == LZMA_OK || result == LZMA_STREAM_END)
        return true;
    if (result == LZMA_BUF_ERROR)
        return fail(why, "%s: truncated: the xz data end early", s->name);
    if (result == LZMA_MEMLIMIT_ERROR)
        return fail(why, "%s: the xz data need %" PRIu64 " MB of memory to unpack, more than the limit of %d MB",
                    s->name, (lzma_memusage(z) >> 20) + 1, LZMA_MEMORY >> 20);
    return fail(why, "%s: damaged xz data (error %d of liblzma)", s->name, (int)result);
}

static bool step_plain(source *s, uint8_t *to, size_t size, size_t *got)
{
    const size_t left = s->have - s->used;
    *got = left < size ? left : size;
    s->over = left == 0;
    if (*got > 0)
        memcpy(to, s->input + s->used, *got);
    s->used += *got;
    return true;
}

static bool step_called(source *s, uint8_t *to, size_t size, size_t *got, trouble *why)
{
    trouble reason;
    if (!s->read(s->from, to, size, got, &reason))
        return fail(why, "%s: %.300s", s->name, reason.text);
    s->over = *got < size;
    return true;
}

bool source_read(source *s, void *bytes, size_t size, size_t *got, trouble *why)
{
    *got = 0;
    while (*got < size && !s->over) {
        const size_t left = size - *got, most = left < PIECE ? left : PIECE;
        uint8_t *to = (uint8_t *)bytes + *got;
        size_t more = 0;
        if (!fill(s, why))
            return false;
        const bool good = s->packing == GZIP     ? step_gzip(s, to, most, &more, why)
                          : s->packing == XZ     ? step_xz(s, to, most, &more, why)
                          : s->packing == CALLED ? step_called(s, to, most, &more, why)
                                                 : step_plain(s, to, most, &more);
        *got += more;
        if (!good)
            return false;
    }
    return true;
}

bool source_more(source *s, uint8_t **bytes, size_t *length, size_t most, trouble *why)
{
    size_t room = *length, got;
    if (*bytes && *length >= most)
        return true;
    do {
        const size_t step = room < PIECE ? PIECE : room;
        room = most - room < step ? most : room + step;
        uint8_t *larger = realloc(*bytes, room + 1);
        if (!larger)
            return fail(why, "%s: out of memory", s->name);
        *bytes = larger;
        if (!source_read(s, *bytes + *length, room - *length, &got, why))
            return false;
        *length += got;
    } while (*length == room && room < most);
    return true;
}

/* Up to `most` bytes in memory of their own. */
static uint8_t *gather(source *s, size_t most, size_t *length, trouble *why)
{
    uint8_t *bytes = NULL;
    *length = 0;
    if (source_more(s, &bytes, length, most, why))
        return bytes;
    free(bytes);
    return NULL;
}

uint8_t *source_take(source *s, size_t length, trouble *why)
{
    size_t got;
    uint8_t *bytes = gather(s, length, &got, why);
    if (bytes && got < length) {
        fail(why, "%s: truncated: %zu bytes of data expected, %zu found", s->name, length, got);
        free(bytes);
        return NULL;
    }
    return bytes;
}

uint8_t *source_rest(source *s, size_t most, size_t *length, trouble *why)
{
    uint8_t *bytes = gather(s, most, length, why);
    if (bytes && *length == most && !source_end(s, NULL)) {
        fail(why, "%s: larger than %zu bytes", s->name, most);
        free(bytes);
        return NULL;
    }
    return bytes;
}

bool source_end(source *s, trouble *why)
{
    uint8_t byte;
    size_t got;
    return source_read(s, &byte, 1, &got, why) && (got == 0 || fail(why, "%s: has bytes after its data", s->name));
}

bool source_find(char *path, size_t capacity, const char *directory, const char *name)
{
    static const char *const endings[] = {"", ".gz", ".xz"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        struct stat status;
        const int length = snprintf(path, capacity, "%s/%s%s", directory, name, endings[i]);
        if (length >= 0 && (size_t)length < capacity && stat(path, &status) == 0)
            return true;
    }
    return false;
}
