/* SPDX-License-Identifier: BSD-2-Clause */
/* followed.c - see followed.h */
#include "common/followed.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

enum { MOST_LINKS = 40 };

static bool names_descriptor(const char *path, int *descriptor)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    *descriptor = strcmp(path, "/dev/stdout") == 0 ? STDOUT_FILENO : STDERR_FILENO;
    if (strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/stderr") == 0)
        return true;
    for (unsigned i = 0; i < sizeof folders / sizeof *folders; i++) {
        const size_t length = strlen(folders[i]);
        const char *number = strncmp(path, folders[i], length) == 0 ? path + length : "";
        const size_t digits = strspn(number, "0123456789");
        if (digits > 0 && digits < 8 && number[digits] == '\0') {
            *descriptor = (int)strtol(number, NULL, 10);
            return true;
        }
    }
    return false;
}

/* The text of a link, as a path from here: it counts from the directory of the link. */
static char *next_path(const char *path, const char *text)
{
    const char *slash = strrchr(path, '/');
    const size_t directory = text[0] != '/' && slash != NULL ? (size_t)(slash - path) + 1 : 0;
    char *next = malloc(directory + strlen(text) + 1);
    if (next != NULL) {
        memcpy(next, path, directory);
        strcpy(next + directory, text);
    }
    return next;
}

/* The end of the way, or the first name of a descriptor on it. */
static char *walk(const char *path, int *descriptor, bool *found)
{
    char *now = strdup(path), text[PATH_MAX];
    *found = false;
    for (int links = 0; now != NULL && !(*found = names_descriptor(now, descriptor)); links++) {
        const ssize_t length = readlink(now, text, sizeof text - 1);
        if (length < 0)
            break; /* no link, or nothing there */
        text[length] = '\0';
        char *next = links < MOST_LINKS ? next_path(now, text) : NULL;
        if (links == MOST_LINKS)
            errno = ELOOP;
        free(now);
        now = next;
    }
    return now;
}

char *followed(const char *path)
{
    int descriptor;
    bool found;
    return walk(path, &descriptor, &found);
}

bool followed_descriptor(const char *path, int *descriptor)
{
    bool found;
    free(walk(path, descriptor, &found));
    return found;
}
