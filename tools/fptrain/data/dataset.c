/* SPDX-License-Identifier: BSD-2-Clause */
/* dataset.c - finds out what is where, pads, cuts and measures it. */
#include "common/system.h"

#include "data/dataset.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/source.h"
#include "data/cifar.h"
#include "data/idx.h"
#include "data/synthetic.h"
#include "data/text.h"

/* A path without a word before it: the files in it decide. */
static bool open_unnamed(dataset *d, const char *path, trouble *why)
{
    char found[4096];
    struct stat status;
    if (stat(path, &status) != 0)
        return fail(why, "%s: %s (a path, or one of digits, shapes, mnist:DIR, cifar10:DIR, cifar100:DIR, text:FILE)",
                    path, strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return text_open(d, path, why);
    if (source_find(found, sizeof found, path, "train-images-idx3-ubyte"))
        return mnist_open(d, path, why);
    if (source_find(found, sizeof found, path, "test_batch.bin"))
        return cifar_open(d, path, 10, why);
    if (source_find(found, sizeof found, path, "train.bin"))
        return cifar_open(d, path, 100, why);
    return fail(why, "%s: neither IDX files (train-images-idx3-ubyte) nor CIFAR batches (test_batch.bin, train.bin)",
                path);
}

static bool open_named(dataset *d, const char *where, const dataset_options *options, trouble *why)
{
    if (strcmp(where, "digits") == 0 || strcmp(where, "shapes") == 0) {
        (where[0] == 'd' ? digits_make : shapes_make)(d, options);
        return true;
    }
    if (strncmp(where, "mnist:", 6) == 0)
        return mnist_open(d, where + 6, why);
    if (strncmp(where, "cifar10:", 8) == 0)
        return cifar_open(d, where + 8, 10, why);
    if (strncmp(where, "cifar100:", 9) == 0)
        return cifar_open(d, where + 9, 100, why);
    if (strncmp(where, "text:", 5) == 0)
        return text_open(d, where + 5, why);
    return open_unnamed(d, where, why);
}

bool dataset_part_read(const char *text, dataset_options *options, trouble *why)
{
    char again[32] = "";
    int part = 0, parts = 0;
    if (!*text)
        return true;
    if (sscanf(text, "%4d/%4d", &part, &parts) == 2)
        snprintf(again, sizeof again, "%d/%d", part, parts);
    if (strcmp(text, again) != 0 || part < 1 || part > parts || parts > 1000)
        return fail(why, "'%s' is no part K/N with 1 <= K <= N <= 1000", text);
    options->part = part;
    options->parts = parts;
    return true;
}

/* The first `count` of a seeded shuffle of 0 .. n - 1; for free(). */
static size_t *shuffled(uint64_t seed, uint64_t stream, size_t n, size_t count)
{
    size_t *order = need(n, sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = 0; i < count; i++) {
        const size_t j = i + random_u64(seed, FOR_DATA, stream, i) % (n - i), taken = order[j];
        order[j] = order[i];
        order[i] = taken;
    }
    return order;
}

/* The samples of a split become these. */
static void keep(const dataset *d, split *s, const size_t *which, size_t count)
{
    const size_t size = (size_t)d->c * (size_t)d->h * (size_t)d->w;
    uint8_t *pixels = need(count, size), *labels = need(count, 1);
    for (size_t i = 0; i < count; i++) {
        memcpy(pixels + i * size, s->pixels + which[i] * size, size);
        labels[i] = s->labels[which[i]];
    }
    free(s->pixels);
    free(s->labels);
    *s = (split){count, pixels, labels};
}

/* Keeps the first `limit` samples of a seeded shuffle, in its order; 0: all. Each split has a stream of its own. */
static void cut(const dataset *d, split *s, uint64_t seed, uint64_t stream, size_t limit)
{
    if (limit == 0 || limit >= s->count)
        return;
    size_t *order = shuffled(seed, stream, s->count, limit);
    keep(d, s, order, limit);
    free(order);
}

/* The samples of a class go to one part after another, in a shuffled order. */
static void take_part(dataset *d, const dataset_options *o)
{
    const size_t n = d->train.count;
    size_t *order = shuffled(o->seed, 0x70617274, n, n), met[256] = {0}, count = 0;
    for (size_t i = 0; i < n; i++) {
        const uint8_t label = d->train.labels[order[i]];
        if ((met[label]++ + label) % (size_t)o->parts == (size_t)o->part - 1)
            order[count++] = order[i];
    }
    keep(d, &d->train, order, count);
    free(order);
}

/* Characters of the training part from `first` on, with the test part after them. */
static void take_stretch(dataset *d, const dataset_options *o)
{
    const size_t n = d->train.count, parts = (size_t)o->parts;
    const size_t first = n * ((size_t)o->part - 1) / parts, count = n * (size_t)o->part / parts - first;
    memmove(d->text, d->text + first, count);
    memmove(d->text + count, d->text + n, d->test.count);
    d->train.count = count;
    d->text_length = count + d->test.count;
}

/* Puts every image in the middle of a larger black one. */
static void pad(dataset *d, split *s, int height, int width)
{
    const size_t w = (size_t)d->w, h = (size_t)d->h, width2 = (size_t)width, height2 = (size_t)height;
    const size_t top = (height2 - h) / 2, left = (width2 - w) / 2, planes = s->count * (size_t)d->c;
    uint8_t *pixels = need(planes, width2 * height2);
    for (size_t plane = 0; plane < planes; plane++)
        for (size_t y = 0; y < h; y++)
            memcpy(pixels + (plane * height2 + top + y) * width2 + left, s->pixels + (plane * h + y) * w, w);
    free(s->pixels);
    s->pixels = pixels;
}

static bool pad_both(dataset *d, const dataset_options *options, trouble *why)
{
    const int height = options->height ? options->height : d->h, width = options->width ? options->width : d->w;
    if (height == d->h && width == d->w)
        return true;
    if (height < d->h || width < d->w || height > 4096 || width > 4096)
        return fail(why, "images of %dx%d pixels cannot be padded to %dx%d", d->w, d->h, width, height);
    pad(d, &d->train, height, width);
    pad(d, &d->test, height, width);
    d->h = height;
    d->w = width;
    return true;
}

/* Sums are of integers, so exact. */
static void measure(dataset *d)
{
    const size_t plane = (size_t)d->h * (size_t)d->w;
    for (int c = 0; c < d->c; c++) {
        uint64_t sum = 0, square = 0;
        for (size_t i = 0; i < d->train.count; i++) {
            const uint8_t *p = d->train.pixels + (i * (size_t)d->c + (size_t)c) * plane;
            for (size_t k = 0; k < plane; k++) {
                sum += p[k];
                square += (uint32_t)p[k] * p[k];
            }
        }
        const double n = (double)d->train.count * (double)plane, mean = (double)sum / n;
        const double variance = (double)square / n - mean * mean;
        d->mean[c] = mean / 255;
        d->deviation[c] = variance > 0 ? sqrt(variance) / 255 : 1; /* one colour: nothing to divide by */
    }
}

bool dataset_open(dataset *d, const char *where, const dataset_options *options, trouble *why)
{
    memset(d, 0, sizeof *d);
    bool good = open_named(d, where, options, why);
    if (good && options->parts)
        (d->text ? take_stretch : take_part)(d, options);
    if (good && d->text && options->limit > 0 && options->limit < d->train.count)
        d->train.count = options->limit;
    if (good && d->text && options->test_limit > 0 && options->test_limit < d->test.count)
        d->test.count = options->test_limit;
    if (good && !d->text) {
        good = pad_both(d, options, why);
        if (good) {
            cut(d, &d->train, options->seed, 0x6c696d6974, options->limit);
            cut(d, &d->test, options->seed, 0x74657374, options->test_limit);
            measure(d);
        }
    }
    if (!good)
        dataset_free(d);
    return good;
}

void dataset_free(dataset *d)
{
    free(d->train.pixels);
    free(d->train.labels);
    free(d->test.pixels);
    free(d->test.labels);
    free(d->text);
    memset(d, 0, sizeof *d);
}

const char *dataset_class(const dataset *d, int label, char *text)
{
    const int byte = d->text ? d->byte_of[label] : 0;
    if (d->text && isgraph(byte))
        snprintf(text, 16, "%c", byte);
    else if (d->text)
        snprintf(text, 16, "0x%02x", (unsigned)byte);
    else if (d->class_name[label])
        return d->class_name[label];
    else
        snprintf(text, 16, "%d", label);
    return text;
}
