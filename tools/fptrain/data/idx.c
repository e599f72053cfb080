/* SPDX-License-Identifier: BSD-2-Clause */
/* idx.c - IDX files, the layout of MNIST: a magic word that tells type and dimensions, the extents, the elements.
 *
 * All numbers are big-endian. Only unsigned bytes are taken.
 */
#include "data/readers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/listing.h"

enum { LARGEST_SIDE = 4096, CLASSES = 10 };
static const size_t largest = SOURCE_MOST(32); /* bytes of one file; no image set of this kind comes near */

static size_t big_endian(const uint8_t *b)
{
    return (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
}

static bool read_header(idx *x, source *s, int dimensions, trouble *why)
{
    uint8_t header[16];
    const size_t size = 4 + 4 * (size_t)dimensions;
    size_t got;
    if (!source_read(s, header, size, &got, why))
        return false;
    if (got < size)
        return fail(why, "%s: truncated: the header of an IDX file takes %zu bytes, there are %zu", source_name(s),
                    size, got);
    if (header[0] != 0 || header[1] != 0)
        return fail(why, "%s: not an IDX file (its first bytes are %02x %02x)", source_name(s), header[0], header[1]);
    if (header[2] != 8)
        return fail(why, "%s: elements of type 0x%02x, only unsigned bytes (0x08) can be used", source_name(s),
                    header[2]);
    if (header[3] != dimensions)
        return fail(why, "%s: %d dimensions, %d expected", source_name(s), header[3], dimensions);
    x->count = 1;
    for (int i = 0; i < dimensions; i++) {
        const size_t extent = big_endian(header + 4 + 4 * i);
        if (extent == 0 || (i > 0 && extent > LARGEST_SIDE))
            return fail(why, "%s: an extent of %zu", source_name(s), extent);
        if (x->count > largest / extent)
            return fail(why, "%s: its header asks for more than %zu bytes", source_name(s), largest);
        x->extent[i] = extent;
        x->count *= extent;
    }
    return true;
}

bool idx_read(idx *x, source *s, int dimensions, trouble *why)
{
    *x = (idx){.extent = {1, 1, 1}};
    if (!read_header(x, s, dimensions, why))
        return false;
    x->bytes = source_take(s, x->count, why);
    if (x->bytes && source_end(s, why))
        return true;
    free(x->bytes);
    x->bytes = NULL;
    return false;
}

static bool read_file(idx *x, const char *directory, const char *name, int dimensions, trouble *why)
{
    char path[4096];
    if (!source_find(path, sizeof path, directory, name))
        return fail(why, "%s: no file %s, also not with .gz or .xz", directory, name);
    source *s = source_open(path, why);
    const bool good = s && idx_read(x, s, dimensions, why);
    source_close(s);
    return good;
}

/* Labels as they are kept; *classes grows to hold them. */
static uint16_t *widen(const idx *labels, int *classes)
{
    uint16_t *wide = need_room(labels->count, sizeof *wide);
    for (size_t i = 0; i < labels->count; i++) {
        wide[i] = labels->bytes[i];
        *classes = wide[i] >= *classes ? wide[i] + 1 : *classes;
    }
    return wide;
}

/* prefix: what the names of the files begin with; part: its last word, for messages. */
static bool read_split(dataset *d, split *to, const char *directory, const char *prefix, const char *part, trouble *why)
{
    char name[300];
    idx images, labels;
    snprintf(name, sizeof name, "%s%s-images-idx3-ubyte", prefix, part);
    if (!read_file(&images, directory, name, 3, why))
        return false;
    to->pixels = images.bytes;
    snprintf(name, sizeof name, "%s%s-labels-idx1-ubyte", prefix, part);
    if (!read_file(&labels, directory, name, 1, why))
        return false;
    to->labels = widen(&labels, &d->classes);
    free(labels.bytes);
    to->count = images.extent[0];
    if (labels.count != to->count)
        return fail(why, "%s: %zu images but %zu labels of '%s'", directory, to->count, labels.count, part);
    if (d->h != 0 && ((size_t)d->h != images.extent[1] || (size_t)d->w != images.extent[2]))
        return fail(why, "%s: training images have %dx%d pixels, test images %zux%zu", directory, d->w, d->h,
                    images.extent[2], images.extent[1]);
    d->h = (int)images.extent[1];
    d->w = (int)images.extent[2];
    return true;
}

static bool check_labels(const split *s, const char *directory, const char *part, trouble *why)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->labels[i] >= CLASSES)
            return fail(why, "%s: label %d of sample %zu of '%s' is not in 0..%d", directory, s->labels[i], i, part,
                        CLASSES - 1);
    return true;
}

bool mnist_open(dataset *d, const char *directory, const dataset_options *options, trouble *why)
{
    (void)options;
    snprintf(d->name, sizeof d->name, "mnist");
    d->c = 1;
    d->classes = CLASSES;
    return read_split(d, &d->train, directory, "", "train", why) && check_labels(&d->train, directory, "train", why) &&
           read_split(d, &d->test, directory, "", "t10k", why) && check_labels(&d->test, directory, "t10k", why);
}

/* What stands before "train-images-idx3-ubyte" in the one name in the directory that has it. */
static bool find_prefix(const char *directory, char *prefix, size_t capacity, trouble *why)
{
    static const char wanted[] = "train-images-idx3-ubyte";
    listing l;
    if (!listing_read(&l, directory, why))
        return false;
    bool found = false, good = true;
    for (size_t i = 0; good && i < l.count; i++) {
        const char *at = strstr(l.name[i], wanted);
        const size_t length = at ? (size_t)(at - l.name[i]) : 0;
        if (!at || length >= capacity)
            continue;
        const bool same = found && strlen(prefix) == length && strncmp(prefix, l.name[i], length) == 0;
        if (found && !same)
            good = fail(why, "%s: has several data sets: idx:%s/%.*s is one, idx:%s/%.*s another", directory, directory,
                        (int)strlen(prefix) - 1, prefix, directory, (int)length - 1, l.name[i]);
        snprintf(prefix, capacity, "%.*s", (int)length, l.name[i]);
        found = true;
    }
    listing_free(&l);
    return good &&
           (found || fail(why, "%s: no file train-images-idx3-ubyte, also not with a word before it", directory));
}

bool idx_open(dataset *d, const char *where, const dataset_options *options, trouble *why)
{
    const int classes = options->classes;
    char directory[4096], prefix[200] = "", path[4096], name[300];
    snprintf(d->name, sizeof d->name, "idx");
    snprintf(directory, sizeof directory, "%s", where);
    d->c = 1;
    d->classes = classes;
    if (listing_is_directory(where)) {
        if (!source_find(path, sizeof path, where, "train-images-idx3-ubyte") &&
            !find_prefix(where, prefix, sizeof prefix, why))
            return false;
    } else {
        char *slash = strrchr(directory, '/');
        snprintf(prefix, sizeof prefix, "%.190s-", slash ? slash + 1 : where);
        strcpy(slash ? slash : directory, slash ? "" : ".");
    }
    snprintf(name, sizeof name, "%st10k-images-idx3-ubyte", prefix);
    const char *test = source_find(path, sizeof path, directory, name) ? "t10k" : "test";
    return read_split(d, &d->train, directory, prefix, "train", why) &&
           read_split(d, &d->test, directory, prefix, test, why) &&
           (!classes || d->classes == classes ||
            fail(why, "%s: a label is %d, and data.classes says %d classes", where, d->classes - 1, classes));
}
