/* SPDX-License-Identifier: BSD-2-Clause */
/* text.c - see readers.h. Characters are counted and numbered in a first pass, written as classes in a second. */
#include "data/readers.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/listing.h"
#include "common/utf8.h"

static const size_t largest = (size_t)1 << 30;

/* What was read of one file. */
typedef struct piece {
    uint8_t *bytes;
    size_t length;
    char name[256];
} piece;

typedef struct pieces {
    piece *of;
    size_t count, test; /* test: the first that is for testing; count where none is */
} pieces;

static void drop_pieces(pieces *p)
{
    for (size_t i = 0; i < p->count; i++)
        free(p->of[i].bytes);
    free(p->of);
}

static bool add_source(pieces *p, source *s, trouble *why)
{
    piece *more = realloc(p->of, (p->count + 1) * sizeof *more);
    if (!more)
        return fail(why, "%s: out of memory", source_name(s));
    p->of = more;
    piece *last = &p->of[p->count];
    snprintf(last->name, sizeof last->name, "%s", source_name(s));
    last->bytes = source_rest(s, largest, &last->length, why);
    p->count += last->bytes != NULL;
    return last->bytes != NULL;
}

static bool add_file(pieces *p, const char *path, trouble *why)
{
    source *s = source_open(path, why);
    const bool good = s && add_source(p, s, why);
    source_close(s);
    return good;
}

static bool add_directory(pieces *p, const char *path, trouble *why)
{
    listing l;
    if (!listing_read(&l, path, why))
        return false;
    bool good = l.count > 0 || fail(why, "%s: has no files", path);
    for (size_t i = 0; good && i < l.count; i++) {
        char *file = path_join(path, l.name[i]);
        good = add_file(p, file, why);
        free(file);
    }
    listing_free(&l);
    return good;
}

static bool add_paths(pieces *p, const char *where, trouble *why)
{
    bool good = true;
    for (const char *at = where; good; at++) {
        const size_t length = strcspn(at, ",");
        char *path = copy_text(at, length);
        good = (listing_is_directory(path) ? add_directory : add_file)(p, path, why);
        free(path);
        at += length;
        if (!*at)
            break;
    }
    return good;
}

/* The length of the character that begins here, 0 where there is none; *code is its number. */
static size_t next_character(const uint8_t *at, size_t left, bool utf8, uint32_t *code)
{
    *code = *at;
    return utf8 ? (size_t)utf8_decode(at, left, code) : 1;
}

/* Adds the characters of a piece to those that were seen. */
static bool look_at(const piece *p, bool utf8, uint8_t *seen, size_t *count, trouble *why)
{
    uint32_t code;
    for (size_t i = 0, length; i < p->length; i += length, ++*count) {
        length = next_character(p->bytes + i, p->length - i, utf8, &code);
        if (!length)
            return fail(why, "%s: byte %zu begins no character of UTF-8", p->name, i);
        seen[code] = 1;
    }
    return true;
}

/* From the characters that were seen to classes, by their order. */
static bool number_classes(dataset *d, uint32_t codes, const uint8_t *seen, uint16_t *class_of, trouble *why)
{
    for (uint32_t code = 0; code < codes; code++)
        d->classes += seen[code];
    if (d->classes > MOST_CLASSES)
        return fail(why, "a text of %d different characters; at most %d can be", d->classes, MOST_CLASSES);
    d->symbol = need((size_t)d->classes, sizeof *d->symbol);
    int class = 0;
    for (uint32_t code = 0; code < codes; code++) {
        if (!seen[code])
            continue;
        class_of[code] = (uint16_t)class;
        d->symbol[class++] = code;
    }
    return true;
}

static void write_classes(dataset *d, const pieces *p, bool utf8, const uint16_t *class_of)
{
    uint32_t code;
    size_t k = 0;
    d->text = need_room(d->text_length, sizeof *d->text);
    for (size_t i = 0; i < p->count; i++)
        for (size_t at = 0; at < p->of[i].length; k++) {
            at += next_character(p->of[i].bytes + at, p->of[i].length - at, utf8, &code);
            d->text[k] = class_of[code];
        }
}

bool text_share(size_t length, double share, const char *name, size_t *test, trouble *why)
{
    /* a decimal share is not quite its binary64 number: 0.29 of 100 are 29 */
    *test = share > 0 ? (size_t)((double)length * share * (1 + 4 * DBL_EPSILON)) : length / 10;
    if (*test > 0 && *test < length)
        return true;
    return fail(why, "%s: %zu of %zu for testing leave nothing for one part", name, *test, length);
}

/* The data set of all pieces. */
static bool put_together(dataset *d, const pieces *p, const dataset_options *o, trouble *why)
{
    const uint32_t codes = o->utf8 ? UTF8_CODE_POINTS : 256;
    uint8_t *seen = need(codes, 1);
    uint16_t *class_of = need(codes, sizeof *class_of);
    size_t count = 0, train = 0;
    bool good = true;
    snprintf(d->name, sizeof d->name, "text");
    for (size_t i = 0; good && i < p->count; i++) {
        good = look_at(&p->of[i], o->utf8, seen, &count, why);
        train = i < p->test ? count : train;
    }
    d->text_length = count;
    d->test.count = count - train;
    if (good && p->test == p->count)
        good = text_share(count, o->test_share, p->of[0].name, &d->test.count, why);
    else if (good && (train == 0 || train == count))
        good = fail(why, "%s: no characters", p->of[train ? p->test : 0].name);
    d->train.count = count - d->test.count;
    good = good && number_classes(d, codes, seen, class_of, why);
    if (good)
        write_classes(d, p, o->utf8, class_of);
    free(seen);
    free(class_of);
    return good;
}

bool text_read(dataset *d, source *s, const dataset_options *options, trouble *why)
{
    pieces p = {NULL, 0, 1};
    const bool good = add_source(&p, s, why) && put_together(d, &p, options, why);
    drop_pieces(&p);
    return good;
}

bool text_open(dataset *d, const char *where, const dataset_options *options, trouble *why)
{
    pieces p = {NULL, 0, 0};
    bool good = add_paths(&p, where, why);
    p.test = p.count;
    if (good && options->test && *options->test)
        good = add_paths(&p, options->test, why);
    good = good && put_together(d, &p, options, why);
    drop_pieces(&p);
    return good;
}
