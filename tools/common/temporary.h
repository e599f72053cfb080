/* SPDX-License-Identifier: BSD-2-Clause */
/* temporary.h - files and directories that are written before they take their place.
 *
 * Where the system has files without a name, a killed writer leaves nothing. Elsewhere, and for directories, the name
 * is .fpemu-NAME-XXXXXX beside NAME, of a long NAME the beginning. Who writes holds the system's lock on it, which ends
 * with the process: so the user's next writer of NAME can tell what the dead have left, and takes it away. A file
 * system without locks keeps it.
 */
#ifndef COMMON_TEMPORARY_H
#define COMMON_TEMPORARY_H

#include <stdbool.h>

/* What the system is taken not to have, for tests. */
typedef enum temporary_lack {
    TEMPORARY_ALL = 0,
    TEMPORARY_NO_UNNAMED = 1, /* files without a name, as on NFS and FAT */
    TEMPORARY_NO_LINKS = 2    /* a way to give them one */
} temporary_lack;
extern unsigned temporary_lacks;

/* The descriptor of a new file without a name in the directory, to read and to write, locked; -1: no such there. */
int temporary_unnamed(const char *directory);
/* Gives it a name beside the target, for free(); NULL and errno on failure. */
char *temporary_link(int descriptor, const char *target);
/* Makes it the target itself, which may not be there. */
bool temporary_become(int descriptor, const char *target);
/* A new file beside the target, locked, that only its owner reads; its name is for free(). -1 and errno on failure. */
int temporary_file(const char *target, char **name);
/* A new directory beside it, locked, with the permissions of any new one; *descriptor holds the lock, -1: none. NULL
 * and errno on failure. */
char *temporary_directory(const char *target, int *descriptor);
/* Takes away what dead writers of the target have left: files, and directories with files alone in them. */
void temporary_tidy(const char *target);
/* Permissions that the system gives to what is made with `all` of them. */
unsigned temporary_permissions(unsigned all);
/* The directory of a path with its last slash, then a name; for free(), NULL when memory runs out. */
char *temporary_beside(const char *path, const char *name);

#endif
