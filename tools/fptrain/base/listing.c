/* SPDX-License-Identifier: BSD-2-Clause */
/* listing.c - see listing.h */
#include "base/listing.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add(listing *l, size_t *room, const char *name)
{
    if (l->count == *room) {
        *room = *room ? 2 * *room : 64;
        l->name = need_more(l->name, *room, sizeof *l->name);
    }
    l->name[l->count++] = copy_text(name, strlen(name));
}

bool listing_read(listing *l, const char *directory, trouble *why)
{
    size_t room = 0;
    *l = (listing){NULL, 0};
    DIR *d = opendir(directory);
    if (!d)
        return fail(why, "%s: %s", directory, strerror(errno));
    const struct dirent *entry;
    errno = 0;
    while ((entry = readdir(d)) != NULL)
        if (entry->d_name[0] != '.')
            add(l, &room, entry->d_name);
    const int error = errno;
    closedir(d);
    if (error) {
        listing_free(l);
        return fail(why, "%s: %s", directory, strerror(error));
    }
    if (l->count)
        qsort(l->name, l->count, sizeof *l->name, by_bytes);
    return true;
}

void listing_free(listing *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->name[i]);
    free(l->name);
    *l = (listing){NULL, 0};
}

bool listing_is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}
