/* SPDX-License-Identifier: BSD-2-Clause */
/* origin.c - see origin.h. What is in a directory is told by place and name. */
#include "data/origin.h"

#include <stdlib.h>
#include <string.h>

#include "base/listing.h"
#include "common/outputs.h"
#include "data/dataset.h"

/* As the readers of IDX, CIFAR, arrays and tokens look for files in a directory; another name there, as of a plot, may
 * be that of an output of before. */
static bool is_data_name(const char *name)
{
    static const char *const parts[] = {"-ubyte", ".bin", ".npy"}, *const packed[] = {"", ".gz", ".xz"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *found = strstr(name, parts[i]);
        for (size_t k = 0; found && k < sizeof packed / sizeof *packed; k++)
            if (strcmp(found + strlen(parts[i]), packed[k]) == 0)
                return true;
    }
    return false;
}

/* All files lie in the directory itself; texts have any names. */
static bool directory_has(const char *directory, bool texts, const char *path)
{
    listing l;
    bool has = false;
    if (!listing_read(&l, directory, NULL))
        return false;
    for (size_t i = 0; i < l.count && !has; i++) {
        char *file = path_join(directory, l.name[i]);
        has = (texts || is_data_name(l.name[i])) && same_target(file, path);
        free(file);
    }
    listing_free(&l);
    return has;
}

static bool place_has(const char *where, bool texts, const char *path)
{
    if (listing_is_directory(where))
        return directory_has(where, texts, path);
    return same_target(where, path);
}

/* The whole, and each word between commas. */
static bool places_have(const char *where, bool texts, const char *path)
{
    bool has = place_has(where, texts, path);
    for (const char *at = where; strchr(where, ',') && !has; at++) {
        const size_t length = strcspn(at, ",");
        char *one = copy_text(at, length);
        has = length > 0 && place_has(one, texts, path);
        free(one);
        at += length;
        if (!*at)
            break;
    }
    return has;
}

/* idx:DIR/PREFIX: four files beside each other. */
static bool prefix_has(const char *where, const char *path)
{
    const char *slash = strrchr(where, '/');
    char *folder = need(strlen(where) + 2, 1);
    memcpy(folder, slash ? where : ".", slash ? (size_t)(slash - where) + 1 : 1);
    const bool has = directory_has(folder, false, path);
    free(folder);
    return has;
}

bool origin_has(const char *where, const char *test, const char *path)
{
    const char *from = dataset_path(where);
    const bool texts = strncmp(where, "text:", 5) == 0, prefix = strncmp(where, "idx:", 4) == 0;
    if (strcmp(where, "digits") == 0 || strcmp(where, "shapes") == 0)
        return false;
    return places_have(from, texts, path) || (test[0] && places_have(test, texts, path)) ||
           (prefix && !listing_is_directory(from) && prefix_has(from, path));
}

/* Whether one of the places, with commas between, is the directory. */
static bool places_are(const char *where, const char *directory)
{
    bool same = same_target(where, directory);
    for (size_t length; *where && !same; where += length + (where[length] == ',')) {
        length = strcspn(where, ",");
        char *one = copy_text(where, length);
        same = length > 0 && same_target(one, directory);
        free(one);
    }
    return same;
}

bool origin_reads_all_of(const char *where, const char *test, const char *directory)
{
    return strncmp(where, "text:", 5) == 0 && listing_is_directory(directory) &&
           (places_are(dataset_path(where), directory) || (test[0] && places_are(test, directory)));
}
