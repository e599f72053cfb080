/* SPDX-License-Identifier: BSD-2-Clause */
/* outputs.c - see outputs.h */
#include "common/outputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/followed.h"

/* FOLDER/NAME for free(), of a folder that realpath gave. */
static char *below(const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s/%s", strcmp(folder, "/") != 0 ? folder : "", name);
    return path;
}

/* The one name of what a path leads to, for free(): of what is there without links, and what is missing as it is
 * written. The path is used up. */
static char *one_name(char *path)
{
    char *there = realpath(path, NULL);
    if (there != NULL)
        return there;
    for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
        path[n - 1] = '\0';
    char *slash = strrchr(path, '/'), here[] = ".";
    const char *name = slash != NULL ? slash + 1 : path;
    if (*name == '\0')
        return NULL;
    char *copy = strdup(name);
    if (slash != NULL)
        slash[slash == path] = '\0';
    char *folder = copy != NULL ? one_name(slash != NULL ? path : here) : NULL;
    char *joined = folder != NULL ? (strcmp(copy, ".") != 0 ? below(folder, copy) : strdup(folder)) : NULL;
    free(folder);
    free(copy);
    return joined;
}

static bool same_name(const char *a, const char *b)
{
    char *to[] = {followed(a), followed(b)};
    char *name[] = {to[0] != NULL ? one_name(to[0]) : NULL, to[1] != NULL ? one_name(to[1]) : NULL};
    const bool same = name[0] != NULL && name[1] != NULL && strcmp(name[0], name[1]) == 0;
    for (int i = 0; i < 2; i++) {
        free(name[i]);
        free(to[i]);
    }
    return same;
}

bool same_target(const char *a, const char *b)
{
    const char *const path[] = {a, b};
    struct stat is[2];
    bool exists[2];
    int open = 0;
    for (int i = 0; i < 2; i++) {
        int descriptor;
        const bool is_open = followed_descriptor(path[i], &descriptor);
        exists[i] = (is_open ? fstat(descriptor, &is[i]) : stat(path[i], &is[i])) == 0;
        if (exists[i] && !S_ISREG(is[i].st_mode) && !S_ISDIR(is[i].st_mode))
            return false;
        open += is_open;
    }
    if (open == 2)
        return false;
    if (exists[0] && exists[1] && is[0].st_dev == is[1].st_dev && is[0].st_ino == is[1].st_ino &&
        (is[0].st_nlink == 1 || open > 0)) {
        return true; /* also where a file system takes two spellings for one name */
    }
    return open == 0 && same_name(a, b);
}
