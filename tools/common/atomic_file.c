/* SPDX-License-Identifier: BSD-2-Clause */
/* atomic_file.c - see atomic_file.h */
#include "common/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/followed.h"
#include "common/temporary.h"

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

/* Behind what is written there already, and nothing of it is lost. */
static bool open_descriptor(atomic_file *f, int descriptor, trouble *why)
{
    const int copy = dup(descriptor);
    f->file = copy >= 0 ? fdopen(copy, "wb") : NULL;
    if (f->file == NULL) {
        fail(why, "%s: %s", f->path, strerror(errno));
        if (copy >= 0)
            close(copy);
    }
    return f->file != NULL;
}

/* Owner and permissions of the file that is replaced, as far as they can be had, or those of a new file. Where the
 * group cannot be had, another one gets no more than everybody. A file system without permissions is no error. */
static void set_permissions(int descriptor, const struct stat *replaced)
{
    struct stat now;
    mode_t mode = replaced != NULL ? replaced->st_mode & 0777 : (mode_t)temporary_permissions(0666);
    if (replaced != NULL && fstat(descriptor, &now) == 0 &&
        (now.st_uid != replaced->st_uid || now.st_gid != replaced->st_gid) &&
        fchown(descriptor, replaced->st_uid, replaced->st_gid) != 0 &&
        fchown(descriptor, (uid_t)-1, replaced->st_gid) != 0) {
        mode = (mode & ~(mode_t)070) | ((mode & 070) & ((mode & 07) << 3));
    }
    (void)!fchmod(descriptor, mode);
}

static bool open_temporary(atomic_file *f, const struct stat *replaced, trouble *why)
{
    char *directory = temporary_beside(f->target, ".");
    if (directory == NULL)
        return fail(why, "out of memory");
    temporary_tidy(f->target);
    int descriptor = temporary_unnamed(directory);
    free(directory);
    if (descriptor < 0)
        descriptor = temporary_file(f->target, &f->temporary);
    if (descriptor < 0) {
        const char *what = errno == ENOENT ? "" : "cannot create a file beside it: ";
        return fail(why, "%s: %s%s", f->path, what, strerror(errno));
    }
    set_permissions(descriptor, replaced);
    f->file = fdopen(descriptor, "wb");
    if (f->file == NULL) {
        fail(why, "%s: %s", f->path, strerror(errno));
        close(descriptor);
    }
    return f->file != NULL;
}

/* What the path leads to is the file that was found; else a name of the system's own, such as one in /proc. */
static bool leads_to(const char *target, const struct stat *found)
{
    struct stat status;
    return stat(target, &status) == 0 && status.st_ino == found->st_ino && status.st_dev == found->st_dev;
}

static bool open_somehow(atomic_file *f, trouble *why)
{
    struct stat status;
    int descriptor;
    if (followed_descriptor(f->path, &descriptor))
        return open_descriptor(f, descriptor, why);
    const bool exists = stat(f->path, &status) == 0;
    if (!exists && errno != ENOENT)
        return fail(why, "%s: %s", f->path, strerror(errno));
    if (exists && !S_ISREG(status.st_mode))
        return open_directly(f, why);
    if (exists && access(f->path, W_OK) != 0)
        return fail(why, "%s: %s", f->path, strerror(errno));
    f->target = followed(f->path);
    if (f->target == NULL)
        return fail(why, "%s: %s", f->path, strerror(errno));
    if (exists && !leads_to(f->target, &status)) {
        free(f->target);
        f->target = NULL;
        return open_directly(f, why);
    }
    return open_temporary(f, exists ? &status : NULL, why);
}

bool atomic_file_open(atomic_file *f, const char *path, trouble *why)
{
    *f = (atomic_file){.path = strdup(path)};
    if (f->path == NULL)
        return fail(why, "out of memory");
    if (*path == '\0')
        fail(why, "the name of the output is empty");
    else if (open_somehow(f, why))
        return true;
    atomic_file_drop(f);
    return false;
}

void atomic_file_drop(atomic_file *f)
{
    if (f->file != NULL)
        fclose(f->file);
    if (f->temporary != NULL)
        unlink(f->temporary);
    forget(f);
}

/* Some file systems cannot sync a directory; the file itself is safe all the same. */
static void sync_directory(const char *path)
{
    char *name = temporary_beside(path, ".");
    const int descriptor = name != NULL ? open(name, O_RDONLY) : -1;
    if (descriptor >= 0) {
        fsync(descriptor);
        close(descriptor);
    }
    free(name);
}

static bool copy_all(int from, int to)
{
    char bytes[65536];
    off_t done = 0;
    for (ssize_t got; (got = pread(from, bytes, sizeof bytes, done)) != 0;) {
        const ssize_t put = got > 0 ? pwrite(to, bytes, (size_t)got, done) : -1;
        if (put < 0 && errno != EINTR)
            return false;
        done += put > 0 ? put : 0;
    }
    return fsync(to) == 0;
}

/* For a system that has files without a name, and gives them none. */
static bool copy_to_name(atomic_file *f, int descriptor)
{
    struct stat status;
    const int copy = fstat(descriptor, &status) == 0 ? temporary_file(f->target, &f->temporary) : -1;
    if (copy < 0)
        return false;
    bool good = copy_all(descriptor, copy);
    const int error = errno;
    set_permissions(copy, &status);
    errno = error;
    good = good && rename(f->temporary, f->target) == 0;
    close(copy);
    return good;
}

/* No call replaces a file by one without a name: so it has a temporary one for a moment, in which no signal comes. */
static bool take_name(atomic_file *f, int descriptor)
{
    sigset_t all, before;
    if (f->temporary != NULL)
        return rename(f->temporary, f->target) == 0;
    if (temporary_become(descriptor, f->target))
        return true;
    if (errno != EEXIST)
        return copy_to_name(f, descriptor);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    f->temporary = temporary_link(descriptor, f->target);
    const bool good = f->temporary != NULL && rename(f->temporary, f->target) == 0;
    const int error = errno;
    if (!good && f->temporary != NULL)
        unlink(f->temporary);
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return good;
}

bool atomic_file_commit(atomic_file *f, trouble *why)
{
    const int earlier = errno; /* of the write that failed, if one did */
    errno = 0;
    bool good = fflush(f->file) == 0 && !ferror(f->file) && (f->target == NULL || fsync(fileno(f->file)) == 0);
    int error = errno != 0 || !ferror(f->file) ? errno : earlier;
    const int held = f->target != NULL ? dup(fileno(f->file)) : -1; /* and with it the lock */
    good = (f->target == NULL || held >= 0) && good;
    good = fclose(f->file) == 0 && good;
    f->file = NULL;
    error = error != 0 ? error : errno;
    if (good && f->target != NULL) {
        good = take_name(f, held);
        error = errno;
    }
    if (held >= 0)
        close(held);
    if (!good) {
        fail(why, "%s: %s", f->path, reason(error));
        atomic_file_drop(f);
        return false;
    }
    if (f->target != NULL)
        sync_directory(f->target);
    forget(f);
    return true;
}

bool atomic_file_write(const char *path, const void *bytes, size_t length, trouble *why)
{
    atomic_file f;
    if (!atomic_file_open(&f, path, why))
        return false;
    fwrite(bytes, 1, length, f.file);
    return atomic_file_commit(&f, why);
}

bool directory_make(const char *path, trouble *why)
{
    const size_t length = strlen(path);
    char *part = malloc(length + 2);
    if (part == NULL)
        return fail(why, "out of memory");
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
