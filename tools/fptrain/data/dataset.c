/* SPDX-License-Identifier: BSD-2-Clause */
/* dataset.c - finds out what is where, pads, cuts and measures it. */
#include "data/dataset.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/source.h"
#include "base/words.h"
#include "data/readers.h"

static const double usual_share = 0.1; /* of samples, for testing */

/* Readers by the word before the path. */
static const struct {
    const char *word;
    reader *open;
} readers[] = {{"mnist:", mnist_open}, {"idx:", idx_open},   {"cifar10:", cifar10_open}, {"cifar100:", cifar100_open},
               {"npz:", arrays_open},  {"text:", text_open}, {"tokens:", tokens_open}};
enum { READERS = sizeof readers / sizeof *readers };

static bool open_unnamed_file(dataset *d, const char *path, const dataset_options *o, trouble *why)
{
    char start[6] = "";
    FILE *file = fopen(path, "rb");
    if (!file)
        return fail(why, "%s: %s", path, strerror(errno));
    const size_t got = fread(start, 1, sizeof start, file);
    fclose(file);
    if (got >= 4 && memcmp(start, "PK\3\4", 4) == 0)
        return arrays_open(d, path, o, why);
    if (got == 6 && memcmp(start, "\x93NUMPY", 6) == 0)
        return tokens_open(d, path, o, why);
    return text_open(d, path, o, why);
}

/* A path without a word before it: the files in it decide. */
static bool open_unnamed(dataset *d, const char *path, const dataset_options *o, trouble *why)
{
    char found[4096];
    struct stat status;
    if (stat(path, &status) != 0)
        return fail(why,
                    "%s: %s (a path, or one of digits, shapes, mnist:DIR, cifar10:DIR, cifar100:DIR, idx:DIR, "
                    "npz:FILE, text:FILE, tokens:FILE)",
                    path, strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return open_unnamed_file(d, path, o, why);
    if (source_find(found, sizeof found, path, "train-images-idx3-ubyte"))
        return mnist_open(d, path, o, why);
    if (source_find(found, sizeof found, path, "test_batch.bin"))
        return cifar10_open(d, path, o, why);
    if (source_find(found, sizeof found, path, "train.bin"))
        return source_find(found, sizeof found, path, "val.bin") ? tokens_open(d, path, o, why)
                                                                 : cifar100_open(d, path, o, why);
    return fail(why, "%s: neither IDX files (train-images-idx3-ubyte) nor CIFAR batches (test_batch.bin, train.bin)",
                path);
}

static bool open_named(dataset *d, const char *where, const dataset_options *options, trouble *why)
{
    if (strcmp(where, "digits") == 0 || strcmp(where, "shapes") == 0) {
        (where[0] == 'd' ? digits_make : shapes_make)(d, options);
        return true;
    }
    for (int i = 0; i < READERS; i++) {
        const size_t length = strlen(readers[i].word);
        if (strncmp(where, readers[i].word, length) == 0)
            return readers[i].open(d, where + length, options, why);
    }
    return open_unnamed(d, where, options, why);
}

const char *dataset_path(const char *where)
{
    for (int i = 0; i < READERS; i++)
        if (strncmp(where, readers[i].word, strlen(readers[i].word)) == 0)
            return where + strlen(readers[i].word);
    return where;
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

/* The first `count` of a seeded shuffle of 0 .. n - 1, which are not fewer; for free(). */
static size_t *shuffled(uint64_t seed, uint64_t stream, size_t n, size_t count)
{
    size_t *order = need(n, sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = 0; i < count; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero) ; i < count <= n */
        const size_t j = i + (size_t)(random_u64(seed, FOR_DATA, stream, i) % (n - i)), taken = order[j];
        order[j] = order[i];
        order[i] = taken;
    }
    return order;
}

size_t dataset_numbers(const dataset *d)
{
    return (size_t)d->c * (size_t)d->h * (size_t)d->w;
}

bool dataset_is_flat(const dataset *d)
{
    return !d->text && d->h == 1 && d->w == 1;
}

/* These samples of a split, as one of its own. */
static split chosen(const dataset *d, const split *s, const size_t *which, size_t count)
{
    const size_t size = dataset_numbers(d) * (s->values ? sizeof *s->values : 1);
    const char *from = s->values ? (const char *)s->values : (const char *)s->pixels;
    split to = {.count = count, .labels = need_room(count, sizeof *to.labels)};
    char *numbers = need_room(count, size);
    for (size_t i = 0; i < count; i++) {
        memcpy(numbers + i * size, from + which[i] * size, size);
        to.labels[i] = s->labels[which[i]];
    }
    to.values = s->values ? (float *)(void *)numbers : NULL;
    to.pixels = s->values ? NULL : (uint8_t *)numbers;
    return to;
}

static void free_split(split *s)
{
    free(s->pixels);
    free(s->labels);
    free(s->values);
    *s = (split){.count = 0};
}

/* The samples of a split become these. */
static void keep(const dataset *d, split *s, const size_t *which, size_t count)
{
    const split to = chosen(d, s, which, count);
    free_split(s);
    *s = to;
}

/* Samples of which none are said to be for testing: of each class its share, to the nearest, the first ones of a seeded
 * shuffle. The order of files stays in both parts. */
static bool divide(dataset *d, const dataset_options *o, trouble *why)
{
    const size_t n = d->train.count;
    const double share = o->test_share > 0 ? o->test_share : usual_share;
    size_t *order = shuffled(o->seed, 0x646976696465, n, n), *left = need((size_t)d->classes, sizeof *left);
    bool *test = need(n, sizeof *test);
    for (size_t i = 0; i < n; i++)
        left[d->train.labels[i]]++;
    for (int class = 0; class < d->classes; class++)
        left[class] = (size_t)((double)left[class] * share + 0.5);
    size_t count[2] = {0, 0};
    for (size_t i = 0; i < n; i++) {
        size_t *of_class = &left[d->train.labels[order[i]]];
        test[order[i]] = *of_class > 0;
        *of_class -= *of_class > 0;
    }
    size_t *which[2] = {order, need(n, sizeof **which)};
    for (size_t i = 0; i < n; i++)
        which[test[i]][count[test[i]]++] = i;
    const bool good = (count[0] && count[1]) || fail(why,
                                                     "%zu samples for training and %zu for testing are left of "
                                                     "%zu (data.test_share)",
                                                     count[0], count[1], n);
    if (good) {
        d->test = chosen(d, &d->train, which[1], count[1]);
        keep(d, &d->train, which[0], count[0]);
    }
    free(which[1]);
    free(order);
    free(left);
    free(test);
    return good;
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
    size_t *order = shuffled(o->seed, 0x70617274, n, n), count = 0;
    size_t *met = need((size_t)d->classes, sizeof *met);
    for (size_t i = 0; i < n; i++) {
        const uint16_t label = d->train.labels[order[i]];
        if ((met[label]++ + label) % (size_t)o->parts == (size_t)o->part - 1)
            order[count++] = order[i];
    }
    keep(d, &d->train, order, count);
    free(order);
    free(met);
}

/* Characters of the training part from `first` on, with the test part after them. */
static void take_stretch(dataset *d, const dataset_options *o)
{
    const size_t n = d->train.count, parts = (size_t)o->parts;
    const size_t first = n * ((size_t)o->part - 1) / parts, count = n * (size_t)o->part / parts - first;
    memmove(d->text, d->text + first, count * sizeof *d->text);
    memmove(d->text + count, d->text + n, d->test.count * sizeof *d->text);
    d->train.count = count;
    d->text_length = count + d->test.count;
}

/* Puts every image in the middle of a larger black one. */
static void pad(dataset *d, split *s, int height, int width)
{
    const size_t w = (size_t)d->w, h = (size_t)d->h, width2 = (size_t)width, height2 = (size_t)height;
    const size_t top = (height2 - h) / 2, left = (width2 - w) / 2, planes = s->count * (size_t)d->c;
    const size_t size = s->values ? sizeof *s->values : 1;
    char *to = need(planes, width2 * height2 * size);
    const char *from = s->values ? (const char *)s->values : (const char *)s->pixels;
    for (size_t plane = 0; plane < planes; plane++)
        for (size_t y = 0; y < h; y++)
            memcpy(to + ((plane * height2 + top + y) * width2 + left) * size, from + (plane * h + y) * w * size,
                   w * size);
    free(s->pixels);
    free(s->values);
    s->pixels = s->values ? NULL : (uint8_t *)to;
    s->values = s->values ? (float *)(void *)to : NULL;
}

static bool pad_both(dataset *d, const dataset_options *options, trouble *why)
{
    const int height = options->height ? options->height : d->h, width = options->width ? options->width : d->w;
    if (height == d->h && width == d->w)
        return true;
    if (dataset_is_flat(d))
        return fail(why, "features cannot be padded (data.pad)");
    if (height < d->h || width < d->w || height > 4096 || width > 4096)
        return fail(why, "images of %dx%d pixels cannot be padded to %dx%d", d->w, d->h, width, height);
    pad(d, &d->train, height, width);
    pad(d, &d->test, height, width);
    d->h = height;
    d->w = width;
    return true;
}

/* Sums of bytes are of integers, so exact. */
static void measure_pixels(dataset *d, size_t channels)
{
    const size_t plane = (size_t)d->h * (size_t)d->w * ((size_t)d->c / channels);
    uint64_t *sum = need(channels, sizeof *sum), *square = need(channels, sizeof *square);
    const uint8_t *p = d->train.pixels;
    for (size_t i = 0; i < d->train.count; i++)
        for (size_t c = 0; c < channels; c++, p += plane) {
            uint64_t here = 0, here_square = 0;
            for (size_t k = 0; k < plane; k++) {
                here += p[k];
                here_square += (uint32_t)p[k] * p[k];
            }
            sum[c] += here;
            square[c] += here_square;
        }
    for (size_t c = 0; c < channels; c++) {
        const double n = (double)d->train.count * (double)plane, mean = (double)sum[c] / n;
        const double variance = (double)square[c] / n - mean * mean;
        d->mean[c] = mean / 255;
        d->deviation[c] = variance > 0 ? sqrt(variance) / 255 : 1; /* one colour: nothing to divide by */
    }
    free(sum);
    free(square);
}

/* Of other numbers: the mean in a first pass, the deviation from it in a second, both in the order of the samples. */
static void measure_values(dataset *d, size_t channels)
{
    const size_t plane = (size_t)d->h * (size_t)d->w * ((size_t)d->c / channels);
    const double n = (double)d->train.count * (double)plane;
    double *square = need(channels, sizeof *square);
    for (int pass = 0; pass < 2; pass++) {
        const float *p = d->train.values;
        for (size_t i = 0; i < d->train.count; i++)
            for (size_t c = 0; c < channels; c++, p += plane)
                for (size_t k = 0; k < plane; k++) {
                    const double x = pass ? p[k] - d->mean[c] : p[k];
                    *(pass ? &square[c] : &d->mean[c]) += pass ? x * x : x;
                }
        for (size_t c = 0; c < channels && !pass; c++)
            d->mean[c] /= n;
    }
    for (size_t c = 0; c < channels; c++) {
        const double variance = square[c] / n;
        d->deviation[c] = variance > 0 ? sqrt(variance) : 1;
    }
    free(square);
}

/* One number for all channels, or one for each with commas between. */
static bool read_numbers(const char *text, const char *key, double low, double *to, int count, trouble *why)
{
    int found = 0;
    char word[64];
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), at);
        double number;
        if (!number_real(word, -1e30, 1e30, &number) || number < low)
            return fail(why, "data.%s: '%s' is no number%s", key, word, low > -1e30 ? " above 0" : "");
        if (found == count)
            return fail(why, "data.%s: more than the %d numbers of the channels", key, count);
        to[found++] = number;
        at += length;
        if (!*at)
            break;
    }
    for (int c = 1; found == 1 && c < count; c++)
        to[c] = to[0];
    return found == 1 || found == count || fail(why, "data.%s: %d numbers for %d channels", key, found, count);
}

static bool measure(dataset *d, const dataset_options *o, trouble *why)
{
    const char *how = o->normalise ? o->normalise : "";
    const size_t channels = strcmp(how, "all") == 0 ? 1 : (size_t)d->c;
    d->mean = need((size_t)d->c, sizeof *d->mean);
    d->deviation = need((size_t)d->c, sizeof *d->deviation);
    (d->train.values ? measure_values : measure_pixels)(d, channels);
    d->measured = (uint32_t)crc32_z(crc32_z(0, (const Bytef *)d->mean, channels * sizeof *d->mean),
                                    (const Bytef *)d->deviation, channels * sizeof *d->deviation);
    for (int c = 0; c < d->c; c++) {
        const bool none = strcmp(how, "none") == 0;
        d->mean[c] = none ? 0 : d->mean[channels == 1 ? 0 : c];
        d->deviation[c] = none ? 1 : d->deviation[channels == 1 ? 0 : c];
    }
    return (!o->mean || !*o->mean || read_numbers(o->mean, "mean", -1e30, d->mean, d->c, why)) &&
           (!o->deviation || !*o->deviation || read_numbers(o->deviation, "deviation", 1e-30, d->deviation, d->c, why));
}

/* What can be said of files of numbers, and not of text. */
static bool finish_samples(dataset *d, const dataset_options *o, trouble *why)
{
    if (d->classes < 2)
        return fail(why, "one class alone is nothing to learn (data.classes says how many there are)");
    if (d->test.count == 0 && !divide(d, o, why))
        return false;
    if (o->parts)
        take_part(d, o);
    if (!pad_both(d, o, why))
        return false;
    cut(d, &d->train, o->seed, 0x6c696d6974, o->limit);
    cut(d, &d->test, o->seed, 0x74657374, o->test_limit);
    return measure(d, o, why);
}

static void finish_text(dataset *d, const dataset_options *o)
{
    if (o->parts)
        take_stretch(d, o);
    if (o->limit > 0 && o->limit < d->train.count)
        d->train.count = o->limit;
    if (o->test_limit > 0 && o->test_limit < d->test.count)
        d->test.count = o->test_limit;
}

static bool said(const char *word)
{
    return word && *word && strcmp(word, "auto") != 0;
}

/* What was said of files of other kinds was said by mistake. */
static bool all_used(const dataset *d, const dataset_options *o, trouble *why)
{
    const struct {
        const char *key, *kinds;
        bool said;
    } keys[] = {{"test", " npz text tokens ", said(o->test)},
                {"test_share", " npz text tokens ", o->test_share > 0 && o->test_share != usual_share},
                {"steps", " text tokens ", o->steps > 0},
                {"names", " npz ", said(o->names)},
                {"layout", " npz ", said(o->layout)},
                {"classes", " npz idx tokens ", o->classes > 0},
                {"characters", " text ", o->utf8}};
    char kind[sizeof d->name + 2];
    snprintf(kind, sizeof kind, " %s ", d->name);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].said && !strstr(keys[i].kinds, kind))
            return fail(why, "data.%s is nothing that data of the kind '%s' use", keys[i].key, d->name);
    return true;
}

bool dataset_open(dataset *d, const char *where, const dataset_options *options, trouble *why)
{
    memset(d, 0, sizeof *d);
    bool good = open_named(d, where, options, why) && all_used(d, options, why);
    if (good && d->text)
        finish_text(d, options);
    else if (good)
        good = finish_samples(d, options, why);
    if (!good)
        dataset_free(d);
    return good;
}

void dataset_free(dataset *d)
{
    free_split(&d->train);
    free_split(&d->test);
    free(d->text);
    free(d->symbol);
    free(d->mean);
    free(d->deviation);
    for (int i = 0; d->own_names && i < d->classes; i++)
        free(d->own_names[i]);
    free(d->own_names);
    memset(d, 0, sizeof *d);
}

const char *dataset_class(const dataset *d, int label, char *text)
{
    const uint32_t symbol = d->symbol ? d->symbol[label] : 0;
    if (d->symbol && symbol < 0x80 && isgraph((int)symbol))
        snprintf(text, 16, "%c", (int)symbol);
    else if (d->symbol)
        snprintf(text, 16, symbol < 0x100 ? "0x%02x" : "U+%04x", (unsigned)symbol);
    else if (d->class_name && d->class_name[label])
        return d->class_name[label];
    else
        snprintf(text, 16, "%d", label);
    return text;
}
