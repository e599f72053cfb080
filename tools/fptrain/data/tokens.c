/* SPDX-License-Identifier: BSD-2-Clause */
/* tokens.c - see readers.h */
#include "data/readers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/listing.h"
#include "data/array.h"

static const size_t largest = SOURCE_MOST(36); /* bytes of a file */

static uint16_t *read_raw(source *s, size_t *count, int *classes, bool fixed, trouble *why)
{
    size_t length;
    uint8_t *bytes = source_rest(s, largest, &length, why);
    uint16_t *tokens = NULL;
    if (!bytes)
        return NULL;
    if (length % 2 || !length)
        fail(why, "%s: %zu bytes are no numbers of two bytes", source_name(s), length);
    else
        tokens = need_room(length / 2, sizeof *tokens);
    *count = length / 2;
    for (size_t i = 0; tokens && i < *count; i++) {
        tokens[i] = (uint16_t)(bytes[2 * i] | bytes[2 * i + 1] << 8);
        if (fixed && tokens[i] >= *classes) {
            fail(why, "%s: token %zu, %d, is not in 0..%d", source_name(s), i, tokens[i], *classes - 1);
            free(tokens);
            tokens = NULL;
        } else if (tokens[i] >= *classes) {
            *classes = tokens[i] + 1;
        }
    }
    free(bytes);
    return tokens;
}

uint16_t *tokens_read(source *s, bool npy, size_t *count, int *classes, bool fixed, trouble *why)
{
    array a;
    if (!npy)
        return read_raw(s, count, classes, fixed, why);
    return array_read(&a, s, why) ? array_tokens(&a, count, classes, fixed, why) : NULL;
}

/* Whether a name ends in .npy, maybe packed. */
static bool is_npy(const char *path)
{
    static const char *const endings[] = {".npy", ".npy.gz", ".npy.xz"};
    const size_t length = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t end = strlen(endings[i]);
        if (length > end && strcmp(path + length - end, endings[i]) == 0)
            return true;
    }
    return false;
}

static uint16_t *read_file(dataset *d, const char *path, size_t *count, bool fixed, trouble *why)
{
    source *s = source_open(path, why);
    uint16_t *tokens = s ? tokens_read(s, is_npy(path), count, &d->classes, fixed, why) : NULL;
    source_close(s);
    return tokens;
}

/* The file of a part in a directory, by the first of these names that is there. */
static bool find_part(const char *directory, const char *const *name, char *path, size_t capacity)
{
    for (; *name; name++)
        if (source_find(path, capacity, directory, *name))
            return true;
    return false;
}

/* Tokens for testing go behind the others. */
static bool append(dataset *d, const char *path, bool fixed, trouble *why)
{
    size_t count;
    uint16_t *more = read_file(d, path, &count, fixed, why);
    if (!more)
        return false;
    uint16_t *all = need_room(d->text_length + count, sizeof *all);
    memcpy(all, d->text, d->text_length * sizeof *all);
    memcpy(all + d->text_length, more, count * sizeof *all);
    free(d->text);
    free(more);
    d->text = all;
    d->text_length += count;
    d->test.count = count;
    return true;
}

bool tokens_open(dataset *d, const char *where, const dataset_options *o, trouble *why)
{
    static const char *const train_names[] = {"train.bin", "train.npy", NULL};
    static const char *const test_names[] = {"val.bin", "test.bin", "val.npy", "test.npy", NULL};
    char train[4096], test[4096];
    bool has_test = o->test && *o->test;
    snprintf(d->name, sizeof d->name, "tokens");
    snprintf(train, sizeof train, "%s", where);
    snprintf(test, sizeof test, "%s", has_test ? o->test : "");
    if (listing_is_directory(where)) {
        if (!find_part(where, train_names, train, sizeof train))
            return fail(why, "%s: no file train.bin or train.npy, also not with .gz or .xz", where);
        has_test = has_test || find_part(where, test_names, test, sizeof test);
    }
    d->classes = o->classes;
    d->text = read_file(d, train, &d->text_length, o->classes > 0, why);
    if (!d->text || (has_test && !append(d, test, o->classes > 0, why)))
        return false;
    if (!has_test && !text_share(d->text_length, o->test_share, train, &d->test.count, why))
        return false;
    d->train.count = d->text_length - d->test.count;
    return true;
}
