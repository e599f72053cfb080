/* SPDX-License-Identifier: BSD-2-Clause */
/* atomic_file.h - a file that appears complete or not at all.
 *
 * It is written in the directory where it will be, without a name where the system has such files, else under a
 * temporary one (temporary.h), and takes its own name, and owner and permissions of the file that it replaces, only
 * when everything is on the disk. Symbolic links are followed and stay, also one that leads to nothing yet; other hard
 * links to a file that is replaced keep the old one. A file that may not be written is not replaced either. A path that
 * exists and is no regular file (a pipe, a device) is written directly, and so are /dev/stdout and other names of an
 * open descriptor.
 */
#ifndef COMMON_ATOMIC_FILE_H
#define COMMON_ATOMIC_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "common/trouble.h"

typedef struct atomic_file {
    FILE *file;      /* to write to; errors may be left to the stream, which commit asks */
    char *path;      /* as it was named */
    char *target;    /* what becomes of it; NULL: it is written directly */
    char *temporary; /* its name until then; NULL: none */
} atomic_file;

/* On failure nothing is open, and nothing is there that was not there before. */
bool atomic_file_open(atomic_file *f, const char *path, trouble *why);
/* After this the file is there, on the disk; or a sentence, and what was there before is as it was. */
bool atomic_file_commit(atomic_file *f, trouble *why);
void atomic_file_drop(atomic_file *f); /* gives up: nothing has happened */
/* All of these for bytes that are in memory. */
bool atomic_file_write(const char *path, const void *bytes, size_t length, trouble *why);

/* A directory for such files, and those above it, where they are not there yet. */
bool directory_make(const char *path, trouble *why);

#endif
