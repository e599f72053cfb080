/* SPDX-License-Identifier: BSD-2-Clause */
/* temporary.c - see temporary.h */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_TMPFILE */
#endif
#include "common/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAME_PART = 200, LETTERS = 6, NAME_SIZE = NAME_PART + 32, TRIES = 100 };

unsigned temporary_lacks;

char *temporary_beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    const size_t directory = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    char *text = malloc(directory + strlen(name) + 1);
    if (text != NULL) {
        memcpy(text, path, directory);
        strcpy(text + directory, name);
    }
    return text;
}

unsigned temporary_permissions(unsigned all)
{
    const mode_t mask = umask(0);
    umask(mask);
    return all & ~(unsigned)mask;
}

/* ".fpemu-NAME-", and its length */
static size_t start_of(const char *target, char start[NAME_SIZE])
{
    const char *slash = strrchr(target, '/'), *base = slash != NULL ? slash + 1 : target;
    return (size_t)snprintf(start, NAME_SIZE, ".fpemu-%.*s-", (int)NAME_PART, base);
}

/* With "XXXXXX" at its end. */
static char *pattern_of(const char *target)
{
    char name[NAME_SIZE];
    strcpy(name + start_of(target, name), "XXXXXX");
    return temporary_beside(target, name);
}

static bool lock(int descriptor)
{
    return flock(descriptor, LOCK_EX | LOCK_NB) == 0;
}

/* Ask this under the lock: names are removed and changed under it alone. */
static bool has_name(int descriptor, int directory, const char *name)
{
    struct stat opened, named;
    return fstat(descriptor, &opened) == 0 && fstatat(directory, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

/* False where another process saw the name before the lock was there, and removes the file. */
static bool keep(int descriptor, const char *name)
{
    return (lock(descriptor) || errno != EWOULDBLOCK) && has_name(descriptor, AT_FDCWD, name);
}

/* ------------------------------------------------------------------------------------------- without a name */

static void path_of(int descriptor, char path[32])
{
    snprintf(path, 32, "/proc/self/fd/%d", descriptor);
}

int temporary_unnamed(const char *directory)
{
#ifdef O_TMPFILE
    char path[32];
    if ((temporary_lacks & TEMPORARY_NO_UNNAMED) == 0) {
        const int descriptor = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (descriptor >= 0) {
            path_of(descriptor, path);
            if (access(path, F_OK) == 0) { /* else it could not be given a name */
                lock(descriptor);
                return descriptor;
            }
            close(descriptor);
        }
    }
#else
    (void)directory;
#endif
    return -1;
}

bool temporary_become(int descriptor, const char *target)
{
    char path[32];
    path_of(descriptor, path);
    if ((temporary_lacks & TEMPORARY_NO_LINKS) != 0) {
        errno = EPERM;
        return false;
    }
    return linkat(AT_FDCWD, path, AT_FDCWD, target, AT_SYMLINK_FOLLOW) == 0;
}

/* Other letters at each call; a name that is taken is no harm. */
static void choose_letters(char *to)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    static unsigned calls;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    unsigned long long word = (unsigned long long)now.tv_nsec + 1000000007ull * (unsigned long long)getpid();
    word = (word + 998244353ull * ++calls) * 6364136223846793005ull;
    word ^= word >> 29;
    for (int i = 0; i < LETTERS; i++, word /= 62)
        to[i] = letters[word % 62];
}

char *temporary_link(int descriptor, const char *target)
{
    char *name = pattern_of(target);
    for (int tries = 0; name != NULL && tries < TRIES; tries++) {
        choose_letters(name + strlen(name) - LETTERS);
        if (temporary_become(descriptor, name))
            return name;
        if (errno != EEXIST)
            break;
    }
    free(name);
    return NULL;
}

/* --------------------------------------------------------------------------------------------- with a name */

int temporary_file(const char *target, char **name)
{
    for (int tries = 0; tries < TRIES && (*name = pattern_of(target)) != NULL; tries++) {
        const int descriptor = mkstemp(*name);
        const int error = errno;
        if (descriptor >= 0 && keep(descriptor, *name)) {
            fcntl(descriptor, F_SETFD, FD_CLOEXEC);
            return descriptor;
        }
        free(*name);
        *name = NULL;
        if (descriptor < 0) {
            errno = error;
            break;
        }
        close(descriptor);
    }
    return -1;
}

char *temporary_directory(const char *target, int *descriptor)
{
    char *name = NULL;
    for (int tries = 0; tries < TRIES && (name = pattern_of(target)) != NULL && mkdtemp(name) != NULL; tries++) {
        *descriptor = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (*descriptor < 0 ? access(name, F_OK) == 0 : keep(*descriptor, name)) {
            chmod(name, (mode_t)temporary_permissions(0777));
            return name;
        }
        if (*descriptor >= 0)
            close(*descriptor);
        free(name);
        name = NULL;
    }
    const int error = errno;
    free(name);
    errno = error;
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- the dead */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_temporary(const char *name, const char *start, size_t length)
{
    if (strncmp(name, start, length) != 0 || strlen(name + length) != LETTERS)
        return false;
    for (int i = 0; i < LETTERS; i++)
        if (!is_letter(name[length + (size_t)i]))
            return false;
    return true;
}

/* The files of a directory that its dead writer had filled. */
static void empty(int descriptor)
{
    const int copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *all = copy >= 0 ? fdopendir(copy) : NULL;
    for (const struct dirent *one; all != NULL && (one = readdir(all)) != NULL;)
        if (strcmp(one->d_name, ".") != 0 && strcmp(one->d_name, "..") != 0)
            unlinkat(descriptor, one->d_name, 0);
    if (all != NULL)
        closedir(all);
    else if (copy >= 0)
        close(copy);
}

/* Removes only what belongs to the user and can be locked: its writer is dead, or has just given it its final name, and
 * then nothing has the temporary one. */
static void remove_dead(int directory, const char *name)
{
    struct stat status;
    const bool found = fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_uid == geteuid();
    const bool file = found && S_ISREG(status.st_mode);
    if (!file && !(found && S_ISDIR(status.st_mode)))
        return;
    const int descriptor = openat(directory, name, (file ? O_RDWR : O_RDONLY | O_DIRECTORY) | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0)
        return;
    if (lock(descriptor) && has_name(descriptor, directory, name)) {
        if (!file)
            empty(descriptor);
        unlinkat(directory, name, file ? 0 : AT_REMOVEDIR);
    }
    close(descriptor);
}

void temporary_tidy(const char *target)
{
    char start[NAME_SIZE];
    const size_t length = start_of(target, start);
    char *above = temporary_beside(target, ".");
    DIR *all = above != NULL ? opendir(above) : NULL;
    for (const struct dirent *one; all != NULL && (one = readdir(all)) != NULL;)
        if (is_temporary(one->d_name, start, length))
            remove_dead(dirfd(all), one->d_name);
    if (all != NULL)
        closedir(all);
    free(above);
}
