/* SPDX-License-Identifier: BSD-2-Clause */
/* atomic_file.h - a file that appears complete or not at all.
 *
 * It is written under a temporary name in its directory, and takes its own name, and the permissions of the file that
 * it replaces, only when everything is on the disk. What a symbolic link points to is replaced, not the link. A path
 * that exists and is no regular file (a pipe, a device) is written directly.
 */
#ifndef COMMON_ATOMIC_FILE_H
#define COMMON_ATOMIC_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "common/trouble.h"

typedef struct atomic_file {
    FILE *file;      /* to write to; errors may be left to the stream, which commit asks */
    char *path;      /* as it was named */
    char *target;    /* what the temporary file becomes */
    char *temporary; /* its name; NULL: the file is written directly */
} atomic_file;

/* On failure nothing is open, and nothing is there that was not there before. */
bool atomic_file_open(atomic_file *f, const char *path, trouble *why);
/* After this the file is there, on the disk; or a sentence, and what was there before is as it was. */
bool atomic_file_commit(atomic_file *f, trouble *why);
void atomic_file_drop(atomic_file *f); /* gives up: nothing has happened */
/* All of these for bytes that are in memory. */
bool atomic_file_write(const char *path, const void *bytes, size_t length, trouble *why);

/* Takes away what writers of the file `name` that were killed have left in the directory. Only for who knows that
 * nobody writes it at the moment. */
void atomic_file_tidy(const char *directory, const char *name);

/* A directory for such files, and those above it, where they are not there yet. */
bool directory_make(const char *path, trouble *why);

#endif
