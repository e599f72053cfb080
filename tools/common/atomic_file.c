/* SPDX-License-Identifier: BSD-2-Clause */
/* atomic_file.c - see atomic_file.h */
#include "common/system.h"

#include "common/atomic_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The directory of a path, up to and with its last slash, then a name; NULL when memory runs out. */
static char *beside(const char *path, const char *name)
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

/* A temporary name tells which file it is to become: .fpemu-NAME-XXXXXX, of a long NAME the beginning. */
enum { NAME_PART = 200, LETTERS = 6 };

static char *temporary_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;
    char name[NAME_PART + 32];
    snprintf(name, sizeof name, ".fpemu-%.*s-XXXXXX", (int)NAME_PART, base);
    return beside(path, name);
}

void atomic_file_tidy(const char *directory, const char *name)
{
    char start[NAME_PART + 32];
    const int length = snprintf(start, sizeof start, ".fpemu-%.*s-", (int)NAME_PART, name);
    DIR *all = opendir(directory);
    for (const struct dirent *one; all != NULL && (one = readdir(all)) != NULL;) {
        if (strncmp(one->d_name, start, (size_t)length) == 0 && strlen(one->d_name + length) == LETTERS) {
            unlinkat(dirfd(all), one->d_name, 0);
        }
    }
    if (all != NULL) {
        closedir(all);
    }
}

/* The permissions of the file that is replaced, or those of a new file: mkstemp lets only the owner read. */
static mode_t permissions(const struct stat *replaced)
{
    if (replaced != NULL) {
        return replaced->st_mode & 0777;
    }
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static void forget(atomic_file *f)
{
    free(f->path);
    free(f->target);
    free(f->temporary);
    *f = (atomic_file){.file = NULL};
}

static const char *reason(int error)
{
    return error != 0 ? strerror(error) : "write error";
}

static bool open_directly(atomic_file *f, trouble *why)
{
    f->file = fopen(f->path, "wb"); /* a directory fails here */
    return f->file != NULL || fail(why, "%s: %s", f->path, strerror(errno));
}

static bool open_temporary(atomic_file *f, const struct stat *replaced, trouble *why)
{
    f->target = replaced != NULL ? realpath(f->path, NULL) : strdup(f->path);
    char *name = f->target != NULL ? temporary_name(f->target) : NULL;
    if (name == NULL) {
        return fail(why, "%s: %s", f->path, strerror(errno));
    }
    const int descriptor = mkstemp(name);
    if (descriptor < 0) {
        const char *what = errno == ENOENT ? "" : "cannot create a file beside it: ";
        fail(why, "%s: %s%s", f->path, what, strerror(errno));
        free(name);
        return false;
    }
    f->temporary = name;
    if (fchmod(descriptor, permissions(replaced)) != 0 || (f->file = fdopen(descriptor, "wb")) == NULL) {
        fail(why, "%s: %s", f->path, strerror(errno));
        close(descriptor);
        return false;
    }
    return true;
}

bool atomic_file_open(atomic_file *f, const char *path, trouble *why)
{
    struct stat status;
    const bool exists = stat(path, &status) == 0;
    *f = (atomic_file){.file = NULL};
    if (!exists && errno != ENOENT) {
        return fail(why, "%s: %s", path, strerror(errno));
    }
    f->path = strdup(path);
    if (f->path == NULL) {
        return fail(why, "out of memory");
    }
    const bool directly = exists && !S_ISREG(status.st_mode);
    if (directly ? open_directly(f, why) : open_temporary(f, exists ? &status : NULL, why)) {
        return true;
    }
    atomic_file_drop(f);
    return false;
}

void atomic_file_drop(atomic_file *f)
{
    if (f->file != NULL) {
        fclose(f->file);
    }
    if (f->temporary != NULL) {
        unlink(f->temporary);
    }
    forget(f);
}

/* Some file systems cannot sync a directory; the file itself is safe all the same. */
static void sync_directory(const char *path)
{
    char *name = beside(path, ".");
    const int descriptor = name != NULL ? open(name, O_RDONLY) : -1;
    if (descriptor >= 0) {
        fsync(descriptor);
        close(descriptor);
    }
    free(name);
}

bool atomic_file_commit(atomic_file *f, trouble *why)
{
    const int earlier = errno; /* of the write that failed, if one did */
    errno = 0;
    bool good = fflush(f->file) == 0 && !ferror(f->file) && (f->temporary == NULL || fsync(fileno(f->file)) == 0);
    int error = errno != 0 || !ferror(f->file) ? errno : earlier;
    good = fclose(f->file) == 0 && good;
    f->file = NULL;
    error = error != 0 ? error : errno;
    if (good && f->temporary != NULL) {
        good = rename(f->temporary, f->target) == 0;
        error = errno;
    }
    if (!good) {
        fail(why, "%s: %s", f->path, reason(error));
        atomic_file_drop(f);
        return false;
    }
    if (f->temporary != NULL) {
        sync_directory(f->target);
    }
    forget(f);
    return true;
}

bool atomic_file_write(const char *path, const void *bytes, size_t length, trouble *why)
{
    atomic_file f;
    if (!atomic_file_open(&f, path, why)) {
        return false;
    }
    fwrite(bytes, 1, length, f.file);
    return atomic_file_commit(&f, why);
}

bool directory_make(const char *path, trouble *why)
{
    const size_t length = strlen(path);
    char *part = malloc(length + 2);
    if (part == NULL) {
        return fail(why, "out of memory");
    }
    memcpy(part, path, length); /* NOLINT(bugprone-not-null-terminated-result): the slash ends it */
    strcpy(part + length, "/");
    bool good = true;
    for (char *slash = part + 1; good && (slash = strchr(slash, '/')) != NULL; *slash++ = '/') {
        *slash = '\0';
        good = mkdir(part, 0777) == 0 || errno == EEXIST || fail(why, "%s: %s", part, strerror(errno));
    }
    free(part);
    return good;
}
