/* SPDX-License-Identifier: BSD-2-Clause */
/* pictures.c - see readers.h */
#include "data/readers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/listing.h"
#include "base/source.h"
#include "data/raster.h"

static const size_t largest = (size_t)1 << 28; /* bytes of one file */
static const char *const test_names[] = {"test", "val", "valid", "validation"};
enum { TEST_NAMES = sizeof test_names / sizeof *test_names };

/* Leaves the folders. Files at this level must not be pictures, which would be lost. */
static bool folders(listing *l, const char *directory, trouble *why)
{
    size_t kept = 0;
    bool good = listing_read(l, directory, why);
    for (size_t i = 0; i < l->count; i++) {
        const bool folder = listing_is_directory(directory, l->name[i]);
        if (!folder && good && raster_kind_of(l->name[i]) != RASTER_NONE)
            good = fail(why, "%s/%s: a picture outside of the folders of classes", directory, l->name[i]);
        if (folder)
            l->name[kept++] = l->name[i];
        else
            free(l->name[i]);
    }
    l->count = kept;
    if (!good)
        listing_free(l);
    return good;
}

static bool is_test_name(const char *name)
{
    for (int i = 0; i < TEST_NAMES; i++)
        if (strcmp(name, test_names[i]) == 0)
            return true;
    return false;
}

/* Whether the folders are train and others for testing alone; `train` may be a class among others. */
static bool is_divided(const listing *l)
{
    bool train = false;
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->name[i], "train") == 0)
            train = true;
        else if (!is_test_name(l->name[i]))
            return false;
    return train;
}

bool pictures_are_in(const char *directory)
{
    listing l;
    if (!listing_read(&l, directory, NULL))
        return false;
    size_t found = 0;
    for (size_t i = 0; i < l.count; i++)
        found += listing_is_directory(directory, l.name[i]);
    listing_free(&l);
    return found > 0;
}

/* ------------------------------------------------------------------------------------------------ samples */

/* A split that grows. */
typedef struct gathering {
    dataset *d;
    split *to;
    size_t room;
    const dataset_options *options;
} gathering;

/* The split with three equal channels instead of one. */
static void to_colours(split *s, size_t plane, size_t room)
{
    uint8_t *pixels = need_room(room, 3 * plane);
    for (size_t i = 0; i < s->count; i++)
        for (size_t c = 0; c < 3; c++)
            memcpy(pixels + (3 * i + c) * plane, s->pixels + i * plane, plane);
    free(s->pixels);
    s->pixels = pixels;
}

/* Of the file, the split and the data set the one with more colours wins, unless options say what they are to be. */
static void agree_on_colours(gathering *g, raster *r)
{
    const char *wanted = g->options->channels ? g->options->channels : "";
    dataset *d = g->d;
    if (!strcmp(wanted, "grey") || !strcmp(wanted, "colour"))
        raster_recolour(r, wanted[0] == 'g' ? 1 : 3);
    if (d->c == 1 && r->channels == 3) {
        to_colours(&d->train, (size_t)d->h * (size_t)d->w, g->to == &d->train ? g->room : d->train.count);
        to_colours(&d->test, (size_t)d->h * (size_t)d->w, g->to == &d->test ? g->room : d->test.count);
        d->c = 3;
    }
    if (d->c == 0)
        d->c = r->channels;
    raster_recolour(r, d->c);
}

/* Room for one more sample, doubling. */
static bool reserve(gathering *g)
{
    if (g->to->count < g->room)
        return true;
    const size_t more = g->room ? 2 * g->room : 64;
    uint8_t *pixels = realloc(g->to->pixels, more * (size_t)g->d->c * (size_t)g->d->h * (size_t)g->d->w);
    g->to->pixels = pixels ? pixels : g->to->pixels;
    uint16_t *labels = realloc(g->to->labels, more * sizeof *labels);
    g->to->labels = labels ? labels : g->to->labels;
    if (!pixels || !labels)
        return false;
    g->room = more;
    return true; /* cppcheck-suppress memleak ; g->to has them */
}

static bool add_raster(gathering *g, raster *r, int class, const char *path, trouble *why)
{
    dataset *d = g->d;
    if (g->options->size)
        raster_resize(r, g->options->size);
    if (d->w == 0) {
        d->w = r->width;
        d->h = r->height;
    }
    if (r->width != d->w || r->height != d->h)
        return fail(why, "%s: %d x %d pixels, those before have %d x %d (data.size = N makes all N x N)", path,
                    r->width, r->height, d->w, d->h);
    if (r->width > 4096 || r->height > 4096)
        return fail(why, "%s: %d x %d pixels, at most 4096 x 4096 can be (data.size = N makes all N x N)", path,
                    r->width, r->height);
    agree_on_colours(g, r);
    if (!reserve(g))
        return fail(why, "%s: out of memory", path);
    const size_t plane = (size_t)d->h * (size_t)d->w, c = (size_t)d->c;
    uint8_t *to = g->to->pixels + g->to->count * c * plane;
    for (size_t i = 0; i < plane; i++)
        for (size_t k = 0; k < c; k++)
            to[k * plane + i] = r->pixels[i * c + k];
    g->to->labels[g->to->count++] = (uint16_t)class;
    return true;
}

static bool add_picture(gathering *g, const char *path, int class, trouble *why)
{
    raster r = {0, 0, 0, NULL};
    size_t length;
    source *s = source_open(path, why);
    uint8_t *bytes = s ? source_rest(s, largest, &length, why) : NULL;
    source_close(s);
    const bool good = bytes && raster_read(&r, bytes, length, path, why) && add_raster(g, &r, class, path, why);
    raster_free(&r);
    free(bytes);
    return good;
}

static bool add_class(gathering *g, const char *directory, int class, trouble *why)
{
    listing l;
    const size_t before = g->to->count;
    if (!listing_read(&l, directory, why))
        return false;
    bool good = true;
    for (size_t i = 0; good && i < l.count; i++) {
        char *path = path_join(directory, l.name[i]);
        const raster_kind kind = raster_kind_of(l.name[i]);
        if (listing_is_directory(path, NULL))
            good = fail(why, "%s: a folder in the folder of a class", path);
        else if (kind == RASTER_OTHER)
            good = fail(why, "%s: a picture of a kind that is not read; PNG and JPEG are", path);
        else if (kind == RASTER_READ)
            good = add_picture(g, path, class, why);
        free(path);
    }
    listing_free(&l);
    return good && (g->to->count > before || fail(why, "%s: no pictures", directory));
}

static int by_bytes(const void *key, const void *name)
{
    return strcmp(key, *(char *const *)name);
}

/* -1: there is none of this name. */
static int find_class(const dataset *d, const char *name)
{
    char *const *found = bsearch(name, d->own_names, (size_t)d->classes, sizeof *d->own_names, by_bytes);
    return found ? (int)(found - d->own_names) : -1;
}

/* The first split names the classes. */
static bool add_split(gathering *g, const char *directory, trouble *why)
{
    listing l;
    dataset *d = g->d;
    if (!folders(&l, directory, why))
        return false;
    bool good = l.count > 0 || fail(why, "%s: has no folders of classes", directory);
    if (good && !d->own_names) {
        if (l.count > MOST_CLASSES)
            good = fail(why, "%s: %zu classes; at most %d can be", directory, l.count, MOST_CLASSES);
        d->own_names = need(l.count, sizeof *d->own_names);
        for (size_t i = 0; good && i < l.count; i++)
            d->own_names[i] = copy_text(l.name[i], strlen(l.name[i]));
        d->classes = good ? (int)l.count : 0;
        d->class_name = (const char *const *)d->own_names;
    }
    for (size_t i = 0; good && i < l.count; i++) {
        char *path = path_join(directory, l.name[i]);
        const int class = find_class(d, l.name[i]);
        good = class < 0 ? fail(why, "%s: a class that those for training do not have", path)
                         : add_class(g, path, class, why);
        free(path);
    }
    listing_free(&l);
    return good;
}

bool pictures_open(dataset *d, const char *where, const dataset_options *options, trouble *why)
{
    listing l;
    char *train = NULL, *test = NULL;
    snprintf(d->name, sizeof d->name, "images");
    if (!folders(&l, where, why))
        return false;
    if (is_divided(&l)) {
        train = path_join(where, "train");
        for (int i = 0; !test && i < TEST_NAMES; i++)
            test = listing_is_directory(where, test_names[i]) ? path_join(where, test_names[i]) : NULL;
    }
    listing_free(&l);
    const char *apart = options->test && *options->test ? options->test : test;
    gathering g = {.d = d, .to = &d->train, .options = options};
    bool good = add_split(&g, train ? train : where, why);
    if (good && apart) {
        gathering other = {.d = d, .to = &d->test, .options = options};
        good = add_split(&other, apart, why);
    }
    free(train);
    free(test);
    return good;
}
