/* SPDX-License-Identifier: BSD-2-Clause */
/* origin.c - see origin.h. What is in a directory is told by place and name, for there may be millions of pictures. */
#include "data/origin.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/listing.h"
#include "common/outputs.h"
#include "data/dataset.h"
#include "data/raster.h"

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

/* Of a file that lies below the directory: its path from there. */
static const char *below(const char *directory, const char *file)
{
    const size_t length = strlen(directory);
    if (strncmp(directory, file, length) != 0)
        return NULL;
    return file[length] == '/' ? file + length + 1 : length > 0 && directory[length - 1] == '/' ? file + length : NULL;
}

/* The path to a file without links: to what a link leads to, or to the link itself. NULL: there is none. For free(). */
static char *real_path(const char *path, bool itself)
{
    const char *slash = strrchr(path, '/');
    char *there = realpath(path, NULL);
    if (!there || !itself)
        return there;
    free(there);
    char *folder = need(strlen(path) + 2, 1);
    memcpy(folder, slash ? path : ".", slash ? (size_t)(slash - path) + 1 : 1);
    char *real = realpath(folder, NULL), *joined = real ? path_join(real, slash ? slash + 1 : path) : NULL;
    free(real);
    free(folder);
    return joined;
}

/* Whether a link in the directory, or in a folder of it, leads to the file or to a folder around it. */
static bool links_to(const char *directory, bool texts, int depth, const char *file)
{
    bool has = false;
    const struct dirent *entry;
    DIR *d = opendir(directory);
    while (d && !has && (entry = readdir(d)) != NULL) {
        struct stat status;
        const char *name = entry->d_name;
        const bool fits = texts || is_data_name(name) || raster_kind_of(name) != RASTER_NONE;
        char *path = path_join(directory, name);
        if (name[0] != '.' && lstat(path, &status) == 0) {
            char *real = S_ISLNK(status.st_mode) ? realpath(path, NULL) : NULL;
            has = real ? (fits && strcmp(real, file) == 0) || (depth > 0 && below(real, file))
                       : depth > 0 && S_ISDIR(status.st_mode) && links_to(path, texts, depth - 1, file);
            free(real);
        }
        free(path);
    }
    if (d)
        closedir(d);
    return has;
}

/* Texts lie in the directory itself, whatever their names, pictures in folders below it. */
static bool directory_has(const char *directory, bool texts, const char *path)
{
    bool has = false;
    char *real = realpath(directory, NULL);
    for (int itself = 0; real && itself < 2 && !has; itself++) {
        char *file = real_path(path, itself);
        const char *name = file ? below(real, file) : NULL, *slash = name ? strrchr(name, '/') : NULL;
        has = name && (slash ? raster_kind_of(slash + 1) != RASTER_NONE : texts ? name[0] != '.' : is_data_name(name));
        free(file);
    }
    char *file = has ? NULL : real_path(path, false); /* what is not there, no link leads to */
    has = has || (file && real && links_to(real, texts, texts ? 0 : 1, file));
    free(file);
    free(real);
    return has;
}

static bool place_has(const char *where, bool texts, const char *path)
{
    if (listing_is_directory(where, NULL))
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
           (prefix && !listing_is_directory(from, NULL) && prefix_has(from, path));
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
    return strncmp(where, "text:", 5) == 0 && listing_is_directory(directory, NULL) &&
           (places_are(dataset_path(where), directory) || (test[0] && places_are(test, directory)));
}
