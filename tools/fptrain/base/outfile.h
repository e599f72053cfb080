/* outfile.h - a file that appears complete or not at all: a temporary name beside it, synced, then renamed.
 *
 * What a symbolic link points to is replaced, not the link. A path that exists and is no regular file (a pipe, a
 * device) is written directly.
 */
#ifndef FPTRAIN_OUTFILE_H
#define FPTRAIN_OUTFILE_H

#include <stdio.h>

#include "base/base.h"

typedef struct outfile {
    FILE *file;
    char *path, *temporary; /* temporary NULL: written directly */
} outfile;

bool outfile_open(outfile *o, const char *path, trouble *why);
/* After this the file is there, on the disk; or a sentence, and what was there before is as it was. */
bool outfile_commit(outfile *o, trouble *why);
void outfile_drop(outfile *o); /* gives up: nothing has happened */
/* All of these for bytes that are in memory. */
bool outfile_write(const char *path, const void *bytes, size_t length, trouble *why);
/* A directory for such files, and those above it, where they are not there yet. */
bool outfile_directory(const char *path, trouble *why);

#endif
