/* SPDX-License-Identifier: BSD-2-Clause */
/* cifar.c - the binary batches of CIFAR-10 and CIFAR-100: records of labels and 3072 bytes (C, H, W), no header. */
#include "data/readers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 3 * 32 * 32, MOST_RECORDS = 1 << 18 };

static const char *const names[10] = {"airplane", "automobile", "bird",  "cat",  "deer",
                                      "dog",      "frog",       "horse", "ship", "truck"};

/* Room for one more record, doubling. */
static bool reserve(split *to, size_t *room)
{
    if (to->count < *room)
        return true;
    const size_t more = *room ? 2 * *room : 64;
    uint8_t *pixels = realloc(to->pixels, more * PIXELS);
    to->pixels = pixels ? pixels : to->pixels;
    uint16_t *labels = realloc(to->labels, more * sizeof *labels);
    to->labels = labels ? labels : to->labels;
    *room = more;
    return pixels && labels; /* cppcheck-suppress memleak ; `to` has them */
}

bool cifar_read(split *to, source *s, int label_bytes, int classes, trouble *why)
{
    uint8_t record[2 + PIXELS];
    const size_t size = (size_t)label_bytes + PIXELS, before = to->count;
    size_t room = to->count, got;
    for (;;) {
        const size_t i = to->count - before;
        if (!source_read(s, record, size, &got, why))
            return false;
        if (got == 0)
            break;
        if (got < size)
            return fail(why, "%s: truncated: %zu of the %zu bytes of record %zu", source_name(s), got, size, i);
        const int label = record[label_bytes - 1];
        if (label >= classes)
            return fail(why, "%s: label %d of record %zu is not in 0..%d", source_name(s), label, i, classes - 1);
        if (to->count == MOST_RECORDS)
            return fail(why, "%s: more than %d records", source_name(s), MOST_RECORDS);
        if (!reserve(to, &room))
            return fail(why, "%s: out of memory", source_name(s));
        memcpy(to->pixels + to->count * PIXELS, record + label_bytes, PIXELS);
        to->labels[to->count++] = (uint16_t)label;
    }
    return to->count > before || fail(why, "%s: has no records", source_name(s));
}

static bool read_file(split *to, const char *path, int classes, trouble *why)
{
    source *s = source_open(path, why);
    const bool good = s && cifar_read(to, s, classes == 100 ? 2 : 1, classes, why);
    source_close(s);
    return good;
}

static bool read_named(split *to, const char *directory, const char *name, int classes, trouble *why)
{
    char path[4096];
    return source_find(path, sizeof path, directory, name)
               ? read_file(to, path, classes, why)
               : fail(why, "%s: no file %s, also not with .gz or .xz", directory, name);
}

static bool open_batches(dataset *d, const char *directory, int classes, trouble *why)
{
    char path[4096], name[32];
    snprintf(d->name, sizeof d->name, "cifar%d", classes);
    d->c = 3;
    d->h = d->w = 32;
    d->classes = classes;
    if (classes == 100)
        return read_named(&d->train, directory, "train.bin", classes, why) &&
               read_named(&d->test, directory, "test.bin", classes, why);
    d->class_name = names;
    for (int i = 1; i <= 5; i++) {
        snprintf(name, sizeof name, "data_batch_%d.bin", i);
        if (source_find(path, sizeof path, directory, name) && !read_file(&d->train, path, classes, why))
            return false;
    }
    if (d->train.count == 0)
        return fail(why, "%s: no file data_batch_1.bin ... data_batch_5.bin, also not with .gz or .xz", directory);
    return read_named(&d->test, directory, "test_batch.bin", classes, why);
}

bool cifar10_open(dataset *d, const char *directory, const dataset_options *options, trouble *why)
{
    (void)options;
    return open_batches(d, directory, 10, why);
}

bool cifar100_open(dataset *d, const char *directory, const dataset_options *options, trouble *why)
{
    (void)options;
    return open_batches(d, directory, 100, why);
}
